"""Upper and lower case as Java has them: text in, text out.

Python and Java follow the same standard but differ in two points. Java 17 has Unicode 13: letters added later keep
their case. And a capital sigma at the end of a word becomes ς; where words end, Java decides with BreakIterator, Python
by the letters around it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from hoplite.engine.memory import refuse_text
from hoplite.lazy import lazy_pattern

# Letters new in Unicode 14 and 15, and their other case.
_LATER_CAPITALS = lazy_pattern("[\u2c2f\ua7c0\ua7d0\ua7d6\ua7d8\U00010570-\U00010595]")
_LATER_SMALL = lazy_pattern("[\u2c5f\ua7c1\ua7d1\ua7d7\ua7d9\U00010597-\U000105bc]")
_SIGMA, _FINAL, _MEDIAL = "\u03a3", "\u03c2", "\u03c3"
_JOINS_WORDS = ".'-_"  # a single one between two letters is part of the word
_ACCENTS = "".join(map(chr, range(0x300, 0x370)))
_PIECE = 1 << 20  # characters: some 20 ms of work
_IDEOGRAPHS = "\u2e80"  # from here on, letters without case are words by themselves


def lower_case(text: str) -> str:
    """`'ΟΔΟΣ'` is `'οδος'`."""
    if text.isascii():
        return text.lower()
    refuse_text(4 * len(text))
    return _in_pieces(_lower, text) if _SIGMA not in text else _lower(text)


def _lower(text: str) -> str:
    if _SIGMA in text:
        return "".join(
            (_FINAL if _ends_word(text, place) else _MEDIAL) if character == _SIGMA else lower_case(character)
            for place, character in enumerate(text)
        )
    if _LATER_CAPITALS.search(text):
        return "".join(c if _LATER_CAPITALS.match(c) else c.lower() for c in text)
    return text.lower()


def upper_case(text: str) -> str:
    """`'straße'` is `'STRASSE'`."""
    if text.isascii():
        return text.upper()
    refuse_text(4 * len(text))
    return _in_pieces(_upper, text)


def _upper(text: str) -> str:
    if _LATER_SMALL.search(text):
        return "".join(c if _LATER_SMALL.match(c) else c.upper() for c in text)
    return text.upper()


def _in_pieces(change: Callable[[str], str], text: str) -> str:
    """Change a text whose letters do not depend on each other, in pieces: a single call could not be interrupted."""
    if len(text) <= _PIECE:
        return change(text)
    return "".join([change(text[start : start + _PIECE]) for start in range(0, len(text), _PIECE)])


def simple_upper(character: str) -> str:
    """The single character that is its upper case: `'ß'` stays."""
    upper = upper_case(character)
    return upper if len(upper) <= 1 else simple_title(character)


def simple_lower(character: str) -> str:
    """The single character that is its lower case: `'İ'` is `'i'`."""
    return lower_case(character)[:1]


def simple_title(character: str) -> str:
    """The single character that is its title case: `'ǆ'` is `'ǅ'`, and `'ß'` stays."""
    title = character.title()
    return title if len(title) <= 1 and not _LATER_SMALL.match(character) else character


def _ends_word(text: str, place: int) -> bool:
    """Whether a letter with case comes before this place in its word, and none after it."""
    first = place
    while first > 0 and _within_word(text, first - 1):
        first -= 1
    last = place + 1
    while last < len(text) and _within_word(text, last):
        last += 1
    return any(map(_has_case, text[first:place])) and not any(map(_has_case, text[place + 1 : last]))


def _within_word(text: str, place: int) -> bool:
    character = text[place]
    if character in _JOINS_WORDS:
        before = text[:place].rstrip(_ACCENTS)
        return _is_letter(before[-1:]) and _is_letter(text[place + 1 : place + 2])
    return _is_part(character)


def _is_part(character: str) -> bool:
    return _is_letter(character) or unicodedata.category(character) in ("Nd", "Mn", "Mc", "Me", "Cf")


def _is_letter(character: str) -> bool:
    return _has_case(character) or (character.isalpha() and character < _IDEOGRAPHS)


def _has_case(character: str) -> bool:
    return character.islower() or character.isupper() or character.istitle()
