"""Text in, statements out: where a `;` ends one, and where it is only a character in a string, a name or a comment."""

from __future__ import annotations

import re

from hoplite.lazy import lazy_pattern

# A string, a quoted name or a comment, closed or (at the end of the text) still open; or the end of a statement.
_PIECE = lazy_pattern(
    r"""
      (?P<open>"(?:\\.|[^"\\])*\Z | '(?:\\.|[^'\\])*\Z | `[^`]*\Z | /\*(?:(?!\*/).)*\Z)
    | (?P<quoted>"(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | `[^`]*` | /\*.*?\*/ | //[^\n]*)
    | (?P<end>;)
    """,
    re.VERBOSE | re.DOTALL,
)


def split_statements(text: str) -> tuple[list[str], str]:
    """The complete statements, without their `;`, and what follows the last `;`.

    `split_statements("RETURN ';'; MATCH (n)")` is `(["RETURN ';'"], "MATCH (n)")`.
    """
    statements: list[str] = []
    begin = 0
    for piece in _PIECE.finditer(text):
        if piece["end"]:
            if statement := text[begin : piece.start()].strip():
                statements.append(statement)
            begin = piece.end()
    return statements, text[begin:].strip()


def statement_end(text: str, begin: int) -> tuple[int, int | None]:
    """Where the statement that begins there ends: at its `;`, or with the text. If it ends inside a string, a quoted
    name or a comment, also where that opens."""
    for piece in _PIECE.finditer(text, begin):
        if piece["end"]:
            return piece.start(), None
        if piece["open"]:
            return len(text), piece.start()
    return len(text), None
