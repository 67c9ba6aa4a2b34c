"""What the shell does with a line or a script: run it, wait for more, or leave."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hoplite.grammar.statements import split_statements, statement_end
from hoplite.lazy import lazy_pattern

_BETWEEN = lazy_pattern(r"(?:[\s;]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NEVER_CLOSED = {"'": "string", '"': "string", "`": "quoted name", "/": "comment"}


def is_finished(text: str) -> bool:
    """Whether Enter should run the text: it ends with a real `;`, is empty, or is a shell command."""
    stripped = text.strip()
    return not stripped or stripped.startswith(":") or is_exit(stripped) or split_statements(stripped)[1] == ""


def is_exit(text: str) -> bool:
    """Whether the text asks to leave the shell, in one of the usual ways."""
    return text.strip().rstrip(";").lower() in (":quit", ":exit", ":q", "exit", "quit")


class Entry(NamedTuple):
    """A statement or a shell command of a script."""

    text: str
    line: int
    unclosed: str = ""
    """What opens in it and is not closed before the script ends, in words."""


def script_entries(text: str) -> Iterator[Entry]:
    """The statements and commands of a script, found in one pass. A command takes up the rest of its line."""
    position, line, counted = 0, 1, 0
    while True:
        between = _BETWEEN.match(text, position)
        position = between.end() if between else position
        if position == len(text):
            return
        line, counted = line + text.count("\n", counted, position), position
        line_end = text.find("\n", position)
        first = text[position : line_end if line_end >= 0 else len(text)]
        if first.startswith(":") or is_exit(first):
            yield Entry(first.strip(), line)
            position += len(first)
            continue
        end, opening = statement_end(text, position)
        if opening is not None:
            opened_in = line + text.count("\n", position, opening)
            yield Entry(text[position:], line, f"the {_NEVER_CLOSED[text[opening]]} that opens in line {opened_in}")
            return
        yield Entry(text[position:end].strip(), line)
        position = end
