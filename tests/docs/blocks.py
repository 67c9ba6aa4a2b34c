"""The code blocks of the README and the pages in docs/.

A Python block runs as is, after the others of its page. A comment before the block adds what it needs, `<!-- before: db
= load_sample() -->`; one that cannot run says why, `<!-- not run: needs a live Neo4j -->`.
"""

from __future__ import annotations

import re
from pathlib import Path

from hoplite.lazy_dataclass import dataclass

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "llms.txt", *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(
    r"(?:<!-- (?P<word>before|not run): (?P<said>.*?) -->\n+)?^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.S | re.M
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code, and the line that it begins on."""

    language: str
    code: str
    line: int
    before: str
    not_run: str


def blocks(page: Path) -> list[Block]:
    """The code blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        said = {match["word"]: match["said"]} if match["word"] else {}
        line = text.count("\n", 0, match.start("code")) + 1
        found.append(Block(match["language"], match["code"], line, said.get("before", ""), said.get("not run", "")))
    return found


def name_of(page: Path) -> str:
    """A page as tests are named after it."""
    return page.relative_to(ROOT).as_posix()
