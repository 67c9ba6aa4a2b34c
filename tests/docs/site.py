"""Check the site that was built: `python -m tests.docs.site build/site`.

Links and images lead to existing files, and nothing is fetched from another host.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FETCHED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}


class _Page(HTMLParser):
    """The links of a page, what it fetches, and the names of its places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Gather what an element names."""
        given = {name: value or "" for name, value in attrs}
        self.names |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") in ("canonical", "next", "prev", "alternate"):
            return
        self.fetched += [given[name] for name in given if (tag, name) in _FETCHED]


def problems(site: Path) -> list[str]:
    """What is wrong with a site."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    found = []
    for path, page in pages.items():
        shown = path.relative_to(site)
        found += [f"{shown} fetches {target}" for target in page.fetched if urlsplit(target).netloc]
        for target in (*page.links, *page.fetched):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            leads = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            leads = leads / "index.html" if leads.is_dir() else leads
            if not leads.exists():
                found.append(f"{shown} leads to {target}, which is not there")
            elif parts.fragment and leads in pages and unquote(parts.fragment) not in pages[leads].names:
                found.append(f"{shown} leads to {target}, and there is no such heading")
    return found


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    found = problems(site)
    print("\n".join(found) or f"{len(list(site.rglob('*.html')))} pages, all links lead somewhere")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
