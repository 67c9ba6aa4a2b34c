"""Character classes for Python's `re`: unions, intersections and complements of sets, and Java's named sets."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from functools import cache

from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CharacterClass:
    """The characters of `content` (as inside brackets) and of nested classes, or the intersection of all factors."""

    content: str
    nested: tuple[CharacterClass, ...] = ()
    factors: tuple[CharacterClass, ...] = ()
    negated: bool = False

    def pattern(self) -> str:
        """A pattern that matches one character of the class."""
        if self.factors:
            *ahead, last = (factor.pattern() for factor in self.factors)
            inner = "".join(f"(?={side})" for side in ahead) + last
        elif not self.nested:
            if not self.content:
                return r"[\s\S]" if self.negated else "(?!)"
            return f"[{'^' if self.negated else ''}{self.content}]"
        else:
            sides = [side.pattern() for side in self.nested]
            inner = "|".join([f"[{self.content}]", *sides] if self.content else sides)
        return rf"(?:(?!{inner})[\s\S])" if self.negated else f"(?:{inner})"


_ASCII_CLASSES = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": r" \t\n\x0b\f\r",
}

_SUBCATEGORIES = {"L": "ultmo", "M": "nce", "N": "dlo", "P": "cdseifo", "S": "mcko", "Z": "slp", "C": "cfson"}


def _is_circled_letter(character: str) -> bool:
    return any(first <= character <= last for first, last in _CIRCLED_LETTERS)


# Symbols that Unicode calls alphabetic: letters in circles and squares.
_CIRCLED_LETTERS = (
    ("Ⓐ", "ⓩ"),
    ("\U0001f130", "\U0001f149"),
    ("\U0001f150", "\U0001f169"),
    ("\U0001f170", "\U0001f189"),
)

_BINARY: dict[str, Callable[[str], bool]] = {
    "alphabetic": lambda c: c.isalpha() or unicodedata.category(c) == "Nl" or _is_circled_letter(c),
    "ideographic": lambda c: unicodedata.name(c, "").startswith("CJK UNIFIED IDEOGRAPH"),
    "letter": lambda c: unicodedata.category(c)[0] == "L",
    "lowercase": lambda c: unicodedata.category(c) == "Ll" or c in "ªº",
    "uppercase": lambda c: unicodedata.category(c) == "Lu",
    "titlecase": lambda c: unicodedata.category(c) == "Lt",
    "punctuation": lambda c: unicodedata.category(c)[0] == "P",
    "control": lambda c: unicodedata.category(c) == "Cc",
    "white_space": lambda c: c.isspace() and not "\x1c" <= c <= "\x1f",
    "digit": lambda c: unicodedata.category(c) == "Nd",
    "hex_digit": lambda c: c.isascii() and c in "0123456789abcdefABCDEF",
    "assigned": lambda c: unicodedata.category(c) != "Cn",
    "noncharacter_code_point": lambda c: (ord(c) & 0xFFFE) == 0xFFFE or 0xFDD0 <= ord(c) <= 0xFDEF,
}
_BINARY |= {name.replace("_", ""): test for name, test in _BINARY.items()}

_JAVA: dict[str, Callable[[str], bool]] = {
    "javaLowerCase": _BINARY["lowercase"],
    "javaUpperCase": _BINARY["uppercase"],
    "javaAlphabetic": _BINARY["alphabetic"],
    "javaIdeographic": _BINARY["ideographic"],
    "javaTitleCase": _BINARY["titlecase"],
    "javaDigit": _BINARY["digit"],
    "javaDefined": _BINARY["assigned"],
    "javaLetter": _BINARY["letter"],
    "javaLetterOrDigit": lambda c: unicodedata.category(c)[0] == "L" or unicodedata.category(c) == "Nd",
    "javaSpaceChar": lambda c: unicodedata.category(c)[0] == "Z",
    "javaWhitespace": lambda c: (
        c in "\t\n\x0b\f\r\x1c\x1d\x1e\x1f" or (unicodedata.category(c)[0] == "Z" and c not in "\u00a0\u2007\u202f")
    ),
    "javaISOControl": lambda c: unicodedata.category(c) == "Cc",
    "javaMirrored": lambda c: bool(unicodedata.mirrored(c)),
}

# Scripts by the first words of their letters' names.
_SCRIPTS = {
    "latin": "LATIN ",
    "greek": "GREEK ",
    "cyrillic": "CYRILLIC ",
    "hebrew": "HEBREW ",
    "arabic": "ARABIC ",
    "armenian": "ARMENIAN ",
    "georgian": "GEORGIAN ",
    "devanagari": "DEVANAGARI ",
    "thai": "THAI ",
    "hangul": "HANGUL ",
    "hiragana": "HIRAGANA ",
    "katakana": "KATAKANA ",
    "han": "CJK ",
}

_BLOCKS = {
    "basiclatin": r"\x00-\x7f",
    "latin1supplement": r"\u0080-\u00ff",
    "latinextendeda": r"\u0100-\u017f",
    "latinextendedb": r"\u0180-\u024f",
    "greek": r"\u0370-\u03ff",
    "greekandcoptic": r"\u0370-\u03ff",
    "cyrillic": r"\u0400-\u04ff",
    "hebrew": r"\u0590-\u05ff",
    "arabic": r"\u0600-\u06ff",
    "thai": r"\u0e00-\u0e7f",
    "generalpunctuation": r"\u2000-\u206f",
    "currencysymbols": r"\u20a0-\u20cf",
    "arrows": r"\u2190-\u21ff",
    "mathematicaloperators": r"\u2200-\u22ff",
    "hiragana": r"\u3040-\u309f",
    "katakana": r"\u30a0-\u30ff",
    "cjkunifiedideographs": r"\u4e00-\u9fff",
    "hangulsyllables": r"\uac00-\ud7af",
    "emoticons": r"\U0001f600-\U0001f64f",
}


@cache
def unicode_class(letter: str) -> str:
    """The content of a class for `\\d`, `\\w` or `\\s` under the flag `(?U)`."""
    match letter:
        case "w":
            return _ranges(_is_of_word)
        case "s":
            return _ranges(_BINARY["white_space"])
        case _:
            return r"\d"


def _is_of_word(character: str) -> bool:
    category = unicodedata.category(character)
    return _BINARY["alphabetic"](character) or category in ("Mn", "Me", "Mc", "Nd", "Pc") or character in "\u200c\u200d"


@cache
def property_class(name: str, unicode_aware: bool = False) -> str | None:
    """The content of a class for `\\p{name}`; None if Java knows no such name."""
    if name in _JAVA:
        return _ranges(_JAVA[name])
    key, _, value = name.partition("=")
    if value:
        return _keyed(key.lower(), value)
    if name.startswith("In"):
        return _BLOCKS.get(_plain(name[2:]))
    if name.startswith("Is"):
        plain = name[2:]
        test = _BINARY.get(plain.lower())
        if test is not None:
            return _ranges(test)
        return _script(plain) or _category(plain)
    if name in _ASCII_CLASSES and not unicode_aware:
        return _ASCII_CLASSES[name]
    if name in _ASCII_CLASSES:
        aware = {"Lower": "lowercase", "Upper": "uppercase", "Alpha": "alphabetic", "Digit": "digit"}
        aware |= {"Punct": "punctuation", "Cntrl": "control", "Space": "white_space"}
        return _ranges(_BINARY[aware[name]]) if name in aware else _ASCII_CLASSES[name]
    return _category(name)


def _keyed(key: str, value: str) -> str | None:
    if key in ("sc", "script"):
        return _script(value)
    if key in ("blk", "block"):
        return _BLOCKS.get(_plain(value))
    if key in ("gc", "general_category"):
        return _category(value)
    return None


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace(" ", "").replace("-", "")


def _script(name: str) -> str | None:
    start = _SCRIPTS.get(name.lower())
    return None if start is None else _ranges(lambda c: c.isalpha() and unicodedata.name(c, "").startswith(start))


def _category(name: str) -> str | None:
    if name == "LC":
        return _ranges(lambda c: unicodedata.category(c) in ("Lu", "Ll", "Lt"))
    if name in _SUBCATEGORIES:
        return _ranges(lambda c: unicodedata.category(c)[0] == name)
    if len(name) == 2 and name[1] in _SUBCATEGORIES.get(name[0], ""):
        return _ranges(lambda c: unicodedata.category(c) == name)
    return None


def _ranges(test: Callable[[str], bool]) -> str:
    """The characters that pass a test, as ranges inside brackets."""
    parts: list[str] = []
    start: int | None = None
    for code in range(sys.maxunicode + 2):
        passes = code <= sys.maxunicode and test(chr(code))
        if passes and start is None:
            start = code
        elif not passes and start is not None:
            parts.append(f"\\U{start:08x}" if start == code - 1 else f"\\U{start:08x}-\\U{code - 1:08x}")
            start = None
    return "".join(parts)
