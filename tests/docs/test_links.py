"""Links between pages lead somewhere, also to headings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import PAGES, ROOT, name_of

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PROGRAMS = sorted((ROOT / "examples").glob("*/README.md"))
EVERY = [*PAGES, *PROGRAMS, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]


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
        # Pages that only the built site has (docs/hooks.py) are not there for a reader of the repository.
        assert leads.exists(), f"{name_of(page)}: {target}"
        if anchor:
            assert anchor in _anchors(leads), f"{name_of(page)}: {target}"


def test_every_page_is_in_the_navigation_once() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    listed = re.findall(r": (\S+\.md)$", navigation, re.M)
    assert sorted(listed) == sorted(set(listed))
    for page in (ROOT / "docs").rglob("*.md"):
        assert page.relative_to(ROOT / "docs").as_posix() in listed, page


@pytest.mark.parametrize("page", EVERY, ids=name_of)
def test_quotations_are_marked_on_every_line(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for paragraph in re.split(r"\n\s*\n", text):
        lines = paragraph.strip().splitlines()
        assert not lines or not lines[0].startswith(">") or all(line.startswith(">") for line in lines), paragraph
