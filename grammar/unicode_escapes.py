r"""Replaces `\uXXXX` anywhere in a text, as Neo4j does before it looks at tokens.

An escaped backslash does not start an escape: `'\\u0041'` is six characters. Half of a pair of surrogates is `?`, as
Java encodes it.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import replace

from hoplite.allowance import check_time
from hoplite.errors import SYNTAX_ERROR, CypherError, position_of, with_position
from hoplite.lazy import lazy_pattern

_SURROGATE = lazy_pattern("[\ud800-\udfff]")
_BACKSLASH = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|(u)|.)", re.DOTALL)


class Offsets:
    """For each character of a text without escapes, and for its end, the offset in the original text.

    Between two escapes both offsets advance together, so only the start of each piece is stored.
    """

    def __init__(self) -> None:
        self._here, self._there = array("q"), array("q")

    def begin(self, here: int, there: int) -> None:
        """A piece begins at `here` that began at `there` in the original."""
        self._here.append(here)
        self._there.append(there)

    def __getitem__(self, offset: int) -> int:
        piece = bisect_right(self._here, offset) - 1
        return self._there[piece] + offset - self._here[piece]


def replace_escapes(text: str) -> tuple[str, Offsets | None]:
    """The text without Unicode escapes, and the original offsets of its characters.

    Without any escape the offsets are None: nothing has moved.
    """
    if "\\u" not in text:
        return text, None
    pieces: list[str] = []
    offsets = Offsets()
    length = position = 0
    for count, match in enumerate(_BACKSLASH.finditer(text)):
        if not count & 0xFFF:
            check_time()
        if match.group(2):
            raise _not_hexadecimal(text, match.start())
        if match.group(1):
            if position < match.start():
                offsets.begin(length, position)
                pieces.append(text[position : match.start()])
                length += match.start() - position
            unit = int(match.group(1), 16)
            if 0xDC00 <= unit <= 0xDFFF and position == match.start() and pieces and _is_high(pieces[-1]):
                pair = 0x10000 + ((ord(pieces.pop()) - 0xD800) << 10) + (unit - 0xDC00)
                pieces.append(chr(pair))  # two escapes for one character, as UTF-16 writes it
            else:
                offsets.begin(length, match.start())
                pieces.append(chr(unit))
                length += 1
            position = match.end()
    offsets.begin(length, position)
    pieces.append(text[position:])
    return _SURROGATE.sub("?", "".join(pieces)), offsets


def _is_high(piece: str) -> bool:
    return len(piece) == 1 and "\ud800" <= piece <= "\udbff"


def _not_hexadecimal(text: str, offset: int) -> CypherError:
    digits = text[offset + 2 : offset + 6]
    message = f"Invalid input '{digits}': expected four hexadecimal digits specifying a unicode character"
    position = position_of(text, offset)
    # Neo4j counts the column after the escape's first two characters, but not the offset
    shown = with_position(message, text, offset).replace(
        f"column {position.column} ", f"column {position.column + 2} ", 1
    )
    return CypherError(SYNTAX_ERROR, shown, position=replace(position, column=position.column + 2))
