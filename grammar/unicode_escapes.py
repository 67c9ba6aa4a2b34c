r"""Replaces `\uXXXX` anywhere in a text, as Neo4j does before it looks at tokens.

A backslash that is itself escaped starts no escape: `'\\u0041'` is six characters.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hoplite.errors import SYNTAX_ERROR, CypherError, position_of, with_position

_BACKSLASH = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(u)|.)", re.DOTALL)


def replace_escapes(text: str) -> tuple[str, list[int] | None]:
    """The text without Unicode escapes, and for each of its characters (and the end) the offset in the original.

    Without any escape the offsets are None: nothing has moved.
    """
    if "\\u" not in text:
        return text, None
    characters: list[str] = []
    offsets: list[int] = []
    position = 0
    for match in _BACKSLASH.finditer(text):
        if match.group(2):
            raise _not_hexadecimal(text, match.start())
        if match.group(1):
            _copy(text, position, match.start(), characters, offsets)
            unit = int(match.group(1), 16)
            if 0xDC00 <= unit <= 0xDFFF and position == match.start() and characters and _is_high(characters[-1]):
                pair = 0x10000 + ((ord(characters.pop()) - 0xD800) << 10) + (unit - 0xDC00)
                characters.append(chr(pair))  # two escapes for one character, as UTF-16 writes it
            else:
                characters.append(chr(unit))
                offsets.append(match.start())
            position = match.end()
    _copy(text, position, len(text), characters, offsets)
    offsets.append(len(text))
    return "".join(characters), offsets


def _is_high(character: str) -> bool:
    return "\ud800" <= character <= "\udbff"


def _copy(text: str, start: int, end: int, characters: list[str], offsets: list[int]) -> None:
    characters.extend(text[start:end])
    offsets.extend(range(start, end))


def _not_hexadecimal(text: str, offset: int) -> CypherError:
    digits = text[offset + 2 : offset + 6]
    message = f"Invalid input '{digits}': expected four hexadecimal digits specifying a unicode character"
    position = position_of(text, offset)
    # Neo4j counts the column behind the escape's first two characters, but not the offset
    shown = with_position(message, text, offset).replace(
        f"column {position.column} ", f"column {position.column + 2} ", 1
    )
    return CypherError(SYNTAX_ERROR, shown, position=replace(position, column=position.column + 2))
