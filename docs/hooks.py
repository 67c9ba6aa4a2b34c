"""What the site has beyond the files in docs/: the README as its home, the pages of the root and of the programs in
examples/, lists of known failures.

Links to sources are shown as what they are, names of files: the site does not hold them.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
_PAGES["CHANGELOG.md"] = "changes.md"
_PAGES |= {
    f"examples/{one.parent.name}/README.md": f"examples/{one.parent.name}.md"
    for one in ROOT.glob("examples/*/README.md")
}
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
_PICTURE = re.compile(r"(!\[[^\]]*\])\(([^)\s]+)\)")
_SUITES = {
    "openCypher TCK": "tests/tck/known_failures.txt",
    "small statements": "tests/golden/known_failures/cases.txt",
    "pattern queries on random multigraphs": "tests/golden/known_failures/patterns.txt",
    "machine-written queries": "tests/golden/known_failures/llm.txt",
}


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add the pages that are made of files outside docs/."""
    for source, page in _PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_moved(text, source, page)))
    files.append(File.generated(config, "guide/suites.md", content=_suites()))
    files.append(File.generated(config, "llms.txt", content=(ROOT / "llms.txt").read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links that lead out of docs/ become links to the site's own pages, or names of files."""
    depth = page.file.src_uri.count("/")

    def inside(match: re.Match[str]) -> str:
        text, target = match.groups()
        path, _, anchor = target.partition("#")
        name = path.removeprefix("../" * (depth + 1)) if path.startswith("../" * (depth + 1)) else None
        if name is None:
            return match[0]
        if name in _PAGES:
            return f"[{text}]({'../' * depth}{_PAGES[name]}{'#' + anchor if anchor else ''})"
        return text if text.startswith("`") else f"`{text}`"

    return _LINK.sub(inside, markdown)


def _moved(text: str, source: str, page: str) -> str:
    """A file from outside docs/ as a page of docs/."""
    folder = posixpath.dirname(page) or "."

    def moved(match: re.Match[str]) -> str:
        shown, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match[0]
        path, _, anchor = target.partition("#")
        name = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        leads = _PAGES.get(name) or (name.removeprefix("docs/") if name.startswith("docs/") else None)
        return (
            shown if leads is None else f"[{shown}]({posixpath.relpath(leads, folder)}{'#' + anchor if anchor else ''})"
        )

    def shown_there(match: re.Match[str]) -> str:
        name = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        return f"{match[1]}({posixpath.relpath(name.removeprefix('docs/'), folder)})"

    return _PICTURE.sub(shown_there, _LINK.sub(moved, text))


def _suites() -> str:
    """The results of the suites: the table of the README, and every case that is known to fail."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = re.search(r"\| suite \|.*?(?=\n\n)", readme, re.S)
    assert table is not None, "the README has a table of suites"
    parts = ["# Results of the suites", "What `make tck`, `make golden` and `make corpus` find.", table[0]]
    parts.append(
        "## Known failures\n\nA run fails where a case fails that is not in these lists, or one of them passes."
    )
    for title, path in _SUITES.items():
        lines = [line for line in (ROOT / path).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        parts.append(f"### {title}: {len(lines)}\n\n" + "\n".join(f"- `{line}`" for line in lines))
    return "\n\n".join(parts) + "\n"
