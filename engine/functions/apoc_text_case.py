"""apoc.text.*: changes of case, with Java's notion of letters.

Java's strings consist of UTF-16 units. A function that cuts between them splits characters beyond the first 65,536 in
two, and each half arrives as a question mark.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from hoplite.engine.functions.apoc import apoc_function
from hoplite.engine.functions.letter_case import lower_case, simple_lower, simple_title, simple_upper, upper_case

_WHITE_SPACE = "".join(map(chr, range(33)))  # what Java's String.trim removes
_FIRST_OF_TWO_UNITS = "\U00010000"


def _of_text(name: str, description: str, function: Callable[[str], str]) -> None:
    """Register a function of one string; null gives null, unless APOC fails on it."""
    apoc_function(f"apoc.text.{name}(text :: STRING) :: STRING", description)(
        lambda text: None if text is None else function(text)
    )


def _capitalised(word: str) -> str:
    return simple_title(word[:1]) + word[1:]


def _decapitalised(word: str) -> str:
    return simple_lower(word[:1]) + word[1:]


def _with_first_unit(text: str, change: Callable[[str], str]) -> str:
    """The text with its first character changed, unless that takes two units. An empty text is rejected."""
    return text if text[0] >= _FIRST_OF_TWO_UNITS else change(text[0]) + text[1:]


def _each_word(text: str, change: Callable[[str], str]) -> str:
    return " ".join(map(change, text.split(" "))).strip(_WHITE_SPACE)


def _swapped(character: str) -> str:
    if character.isupper() or character.istitle():
        return simple_lower(character)
    return simple_upper(character) if character.islower() else character


def _camel(text: str) -> str:
    """Words consist of letters and ASCII digits."""
    spaced = "".join(c if unicodedata.category(c)[0] == "L" or c in "0123456789" else " " for c in text)
    return _with_first_unit("".join(_capitalised(lower_case(word)) for word in spaced.split()), lower_case)


def _snake(text: str) -> str:
    """A text of capitals and underscores is a constant. Otherwise, everything but lower-case letters and digits begins
    a word."""
    if text and all(c in "0123456789_" or unicodedata.category(c) == "Lu" for c in text):
        text = lower_case(text).replace("_", " ")
    words: list[str] = []
    for character in text:
        goes_on = character in "0123456789" or unicodedata.category(character) == "Ll"
        if goes_on and words:
            words[-1] += character
        elif goes_on or character < _FIRST_OF_TWO_UNITS:
            words.append(character)
        else:
            words += "??"
    stripped = filter(None, (word.strip(_WHITE_SPACE) for word in words))
    return "-".join(map(lower_case, stripped)).replace("--", "-")


def _constant(text: str) -> str:
    """Everything but lower-case ASCII letters and digits begins a word; only ASCII is kept in words."""
    words = re.findall(r"(?s)[^a-z0-9]?[a-z0-9]*", text)
    return "_".join(filter(None, (re.sub("[^A-Z0-9]", "", upper_case(word)) for word in words)))


_of_text("capitalize", "Converts the first letter to upper case.", lambda text: _with_first_unit(text, upper_case))
_of_text(
    "capitalizeAll",
    "Converts the first letter of every word to upper case.",
    lambda text: _each_word(text, _capitalised),
)
_of_text("decapitalize", "Converts the first letter to lower case.", _decapitalised)
_of_text(
    "decapitalizeAll",
    "Converts the first letter of every word to lower case.",
    lambda text: _each_word(text, _decapitalised),
)
_of_text("camelCase", "Converts a string to camelCase.", _camel)
_of_text(
    "upperCamelCase", "Converts a string to UpperCamelCase.", lambda text: _with_first_unit(_camel(text), upper_case)
)
_of_text("snakeCase", "Converts a string to snake-case, with hyphens.", _snake)
_of_text("toUpperCase", "Converts a string to UPPER_CASE.", _constant)
_of_text("swapCase", "Swaps upper and lower case.", lambda text: "".join(map(_swapped, text)))
