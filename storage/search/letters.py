"""Letters of words, changed one by one."""

from __future__ import annotations

import unicodedata

from hoplite.lazy import lazy_pattern


def lower(word: str) -> str:
    """In lower case, character by character, as in Java."""
    if word.isascii():
        return word.lower()
    return "".join(small if len(small := letter.lower()) == 1 else small[0] for letter in word)


_WIDE = lazy_pattern("[\uff01-\uff5e]|[\uff65-\uff9f]+")


def narrow(word: str) -> str:
    """Full-width forms of ASCII as ASCII, half-width katakana as katakana."""
    if word.isascii():
        return word
    return _WIDE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), word)
