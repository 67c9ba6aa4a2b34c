"""Links between pages lead somewhere, also to headings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import PAGES, ROOT, name_of

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PROGRAMS = sorted((ROOT / "examples").glob("*/README.md"))
EVERY = [*PAGES, *PROGRAMS, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]
MADE = {"guide/suites.md", "index.md", "contributing.md", "security.md", "changes.md"}  # by docs/hooks.py


MADE |= {f"examples/{page.parent.name}.md" for page in PROGRAMS}


def _anchors(page: Path) -> set[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip()) for title in titles}


@pytest.mark.parametrize("page", EVERY, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for target in _LINK.findall(re.sub(r"`[^`]*`", "", text)):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        leads = (page.parent / path).resolve() if path else page
        if not leads.exists():
            assert leads.relative_to(ROOT / "docs").as_posix() in MADE, f"{name_of(page)}: {target}"
        elif anchor:
            assert anchor in _anchors(leads), f"{name_of(page)}: {target}"


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        assert page.relative_to(ROOT / "docs").as_posix() in navigation, page
