"""The code blocks of the README and the pages in docs/.

Every block names its language. Python blocks (`python`, and `pycon` with prompts and output) run as they stand, one
after the other in the order of their page: nothing is set up that the reader does not see. One that cannot run says
why in a comment before it, `<!-- not run: needs a live Neo4j -->`.
"""

from __future__ import annotations

import re
from pathlib import Path

from hoplite.lazy_dataclass import dataclass

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "llms.txt", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
LANGUAGES = {"python", "pycon", "sh", "console", "cypher", "json", "text"}
_BLOCK = re.compile(r"(?:<!-- not run: (?P<reason>.*?) -->\n+)?^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.S | re.M)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code, and the line that it begins on."""

    language: str
    code: str
    line: int
    not_run: str


def blocks(page: Path) -> list[Block]:
    """The code blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(match["language"], match["code"], text.count("\n", 0, match.start("code")) + 1, match["reason"] or "")
        for match in _BLOCK.finditer(text)
    ]


def name_of(page: Path) -> str:
    """A page as tests are named after it."""
    return page.relative_to(ROOT).as_posix()
