"""apoc.text.* and apoc.util.*: string functions that Cypher itself lacks. Those that change case are in
`apoc_text_case.py`, those with regular expressions in `apoc_text_patterns.py`."""

from __future__ import annotations

import base64
import codecs
import random
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import groupby
from typing import Any
from urllib.parse import quote_plus, unquote_plus

from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.functions.apoc_numbers import separators
from hoplite.engine.functions.double_metaphone import double_metaphone
from hoplite.engine.functions.java_format import FormatError, java_format
from hoplite.engine.functions.registry import over_columns
from hoplite.engine.functions.strings import string_of
from hoplite.engine.functions.text_distances import (
    jaro_winkler_distance,
    jaro_winkler_of_all,
    levenshtein,
    levenshtein_of_all,
    levenshtein_similarity,
    levenshtein_similarity_of_all,
    of_columns,
)
from hoplite.engine.memory import refuse_list, refuse_text

Text = str | None

_COPIES = 4  # of a text that are made on the way to another one: encoded, with letters of two bytes
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


def _of_text(signature: str, description: str, function: Callable[[str], Any]) -> None:
    """Register a function of one string; null gives null."""

    def call(text: Text) -> Any:
        if text is None:
            return None
        refuse_text(_COPIES * len(text))
        return function(text)

    apoc_function(signature, description)(call)


def _units(text: str) -> str:
    """One character for each UTF-16 unit: Java counts positions and distances in them."""
    if text.isascii() or max(text) < "\U00010000":
        return text
    return "".join(map(chr, array("H", text.encode("utf-16", "surrogatepass")[2:])))


def _of_two_texts(name: str, returns: str, description: str, function: Callable[[str, str], Any]) -> None:
    """Register a function of two strings; null gives null."""
    apoc_function(f"apoc.text.{name}(text1 :: STRING, text2 :: STRING) :: {returns}", description)(
        lambda first, second: None if first is None or second is None else function(_units(first), _units(second))
    )


# --- pieces ---


@apoc_function(
    "apoc.text.join(texts :: LIST<STRING>, delimiter :: STRING) :: STRING", "Joins strings with a delimiter."
)
def join(texts: list[Any] | None, delimiter: Text) -> Text:
    """A null among them becomes `null`."""
    if texts is None or delimiter is None:
        return None
    return delimiter.join("null" if text is None else str(string_of(text)) for text in texts)


@apoc_function(
    "apoc.text.indexOf(text :: STRING, lookup :: STRING, from = 0 :: INTEGER, to = -1 :: INTEGER) :: INTEGER",
    "Returns the first index of a string in another, between two indexes, or -1.",
)
def index_of(text: Text, lookup: Text, start: int, end: int) -> int | None:
    """The end is exclusive; -1 is the end of the string."""
    if start is None or end is None:
        raise TypeError("the places are numbers")
    if text is None:
        return None
    text, start = _units(text), max(start, 0)
    return -1 if lookup is None else text.find(_units(lookup), start, len(text) if end == -1 else end)


@apoc_function(
    "apoc.text.indexesOf(text :: STRING, lookup :: STRING, from = 0 :: INTEGER, to = -1 :: INTEGER) :: LIST<ANY>",
    "Returns all indexes of a string in another, between two indexes.",
)
def indexes_of(text: Text, lookup: Text, start: int, end: int) -> list[int] | None:
    """Matches may overlap."""
    if start is None or end is None:
        raise TypeError("the places are numbers")
    if text is None:
        return None
    if lookup is None:
        return []
    text, lookup = _units(text), _units(lookup)
    last = len(text) if end == -1 else min(end, len(text) + 1)
    return [place for place in range(max(start, 0), last) if text.startswith(lookup, place)]


@apoc_function("apoc.text.repeat(item :: STRING, count :: INTEGER) :: STRING", "Returns a text, repeated.")
def repeat(item: Text, count: int) -> Text:
    """`repeat('ab', 2)` is `'abab'`."""
    if item is None:
        return None
    count = (count + 2**31) % 2**32 - 2**31 if count < 0 else count  # cut to 32 bits
    if count < 0 and item:
        raise function_failed("apoc.text.repeat", "java.lang.NegativeArraySizeException", str(len(item) * count))
    refuse_text(len(item) * count)
    return item * count


@apoc_function(
    "apoc.text.lpad(text :: STRING, count :: INTEGER, delimiter =   :: STRING) :: STRING",
    "Pads a string on the left.",
)
def left_pad(text: Text, count: int, filler: str) -> Text:
    """With the first character of the filler, or with spaces."""
    return None if text is None else _filling(text, count, filler) + text


@apoc_function(
    "apoc.text.rpad(text :: STRING, count :: INTEGER, delimiter =   :: STRING) :: STRING",
    "Pads a string on the right.",
)
def right_pad(text: Text, count: int, filler: str) -> Text:
    """With the first character of the filler, or with spaces."""
    return None if text is None else text + _filling(text, count, filler)


def _filling(text: str, count: int, filler: str) -> str:
    missing = max(count - len(_units(text)), 0)
    refuse_text(missing)
    return (filler[:1] or " ") * missing if missing else ""


@apoc_function(
    "apoc.text.slug(text :: STRING, delimiter = - :: STRING) :: STRING", "Replaces white space with a delimiter."
)
def slug(text: Text, delimiter: str) -> Text:
    """`slug('a b')` is `'a-b'`; letters, ASCII digits and underscores stay."""
    if text is None or delimiter is None:
        return None
    runs = groupby(text.strip(), lambda c: unicodedata.category(c)[0] == "L" or c in "0123456789_")
    return "".join("".join(run) if stays else delimiter for stays, run in runs)


@apoc_function(
    "apoc.text.format(text :: STRING, params :: LIST<ANY>, language = en :: STRING) :: STRING",
    "Formats values into a string with the placeholders of Java's String.format.",
)
def format_text(text: Text, params: list[Any] | None, language: str) -> Text:
    """`%s`, `%d`, `%.2f` and the like, with the separators of a language."""
    if text is None or params is None:
        return text
    try:
        return java_format(text, params, *separators(language))
    except FormatError as problem:
        raise function_failed("apoc.text.format", problem.java_class, problem.message) from None


# --- comparing ---


def _cleaned(text: str) -> str:
    plain = unicodedata.normalize("NFD", text.translate(_GERMAN))
    return "".join(character for character in plain if character.isalnum()).lower()


def _pairs_of(text: str) -> Counter[str]:
    return Counter(word[place : place + 2] for word in text.lower().split() for place in range(len(word) - 1))


def _sorensen_dice(first: str, second: str) -> float:
    left, right = _pairs_of(first), _pairs_of(second)
    size = left.total() + right.total()
    if not size:  # without a pair of letters, strings are equal or cannot be compared
        return 1.0 if first == second else float("nan")
    return 2 * (left & right).total() / size


_of_text(
    "apoc.text.clean(text :: STRING) :: STRING",
    "Removes all but letters and digits from a string and turns it to lower case.",
    _cleaned,
)


@apoc_function(
    "apoc.text.compareCleaned(text1 :: STRING, text2 :: STRING) :: BOOLEAN",
    "Returns whether two strings are equal once cleaned.",
)
def compare_cleaned(first: Text, second: Text) -> bool:
    """False if one is null."""
    return first is not None and second is not None and _cleaned(first) == _cleaned(second)


_of_two_texts("levenshteinDistance", "INTEGER", "Returns the Levenshtein distance.", levenshtein)
_of_two_texts("distance", "INTEGER", "Returns the Levenshtein distance.", levenshtein)
_of_two_texts(
    "levenshteinSimilarity",
    "FLOAT",
    "Returns 1 for equal strings, and less the larger their Levenshtein distance is.",
    levenshtein_similarity,
)
_of_two_texts("jaroWinklerDistance", "FLOAT", "Returns the Jaro-Winkler distance.", jaro_winkler_distance)


def _hamming(first: str, second: str) -> int:
    if len(first) != len(second):
        what = "CharSequences must have the same length"
        raise function_failed("apoc.text.hammingDistance", "java.lang.IllegalArgumentException", what)
    return sum(one != other for one, other in zip(first, second, strict=True))


for _name, _measure in (
    ("levenshteinDistance", levenshtein_of_all),
    ("distance", levenshtein_of_all),
    ("levenshteinSimilarity", levenshtein_similarity_of_all),
    ("jaroWinklerDistance", jaro_winkler_of_all),
):
    over_columns(f"apoc.text.{_name}")(partial(of_columns, _measure))
_of_two_texts(
    "hammingDistance",
    "INTEGER",
    "Returns at how many positions two strings of the same length differ.",
    _hamming,
)


@apoc_function(
    "apoc.text.sorensenDiceSimilarity(text1 :: STRING, text2 :: STRING, languageTag = en :: STRING) :: FLOAT",
    "Returns the Sørensen-Dice coefficient of the pairs of letters.",
)
def sorensen_dice(first: Text, second: Text, language: Text) -> float | None:
    """Null for null."""
    return None if first is None or second is None or language is None else _sorensen_dice(first, second)


# --- codes ---


def _url_decoded(text: str) -> str:
    if re.search("%(?![0-9a-fA-F]{2})", text):
        raise ValueError("Illegal hex characters in escape (%) pattern")
    return unquote_plus(text)


def _base64_decoded(text: str, alphabet: bytes) -> str:
    """Padding is optional; invalid UTF-8 becomes replacement characters."""
    if "=" not in text:
        text += "=" * (-len(text) % 4)
    if len(text) % 4 or (alphabet == b"-_" and not {"+", "/"}.isdisjoint(text)):
        raise ValueError("Illegal base64 character")
    return base64.b64decode(text, alphabet, validate=True).decode(errors="replace")


_of_text(
    "apoc.text.urlencode(text :: STRING) :: STRING",
    "Encodes a string for a URL.",
    lambda text: quote_plus(text, safe="*").replace("~", "%7E"),
)
_of_text("apoc.text.urldecode(text :: STRING) :: STRING", "Decodes a URL-encoded string.", _url_decoded)
_of_text(
    "apoc.text.base64Encode(text :: STRING) :: STRING",
    "Encodes a string with Base64.",
    lambda text: base64.b64encode(text.encode()).decode(),
)
_of_text(
    "apoc.text.base64Decode(text :: STRING) :: STRING",
    "Decodes a Base64 string.",
    lambda text: _base64_decoded(text, b"+/"),
)


# --- characters ---


_of_text(
    "apoc.text.base64UrlEncode(url :: STRING) :: STRING",
    "Encodes a string with URL-safe Base64.",
    lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
)
_of_text(
    "apoc.text.base64UrlDecode(url :: STRING) :: STRING",
    "Decodes a URL-safe Base64 string.",
    lambda text: _base64_decoded(text, b"-_"),
)


@apoc_function(
    "apoc.text.byteCount(text :: STRING, charset = UTF-8 :: STRING) :: INTEGER",
    "Returns the number of bytes of a string.",
)
def byte_count(text: Text, charset: str) -> int | None:
    """Null for null."""
    return None if text is None else len(_encoded(text, charset))


@apoc_function(
    "apoc.text.bytes(text :: STRING, charset = UTF-8 :: STRING) :: LIST<ANY>", "Returns the bytes of a string."
)
def text_bytes(text: Text, charset: str) -> list[int] | None:
    """From 0 to 255."""
    if text is None:
        return None
    refuse_list(len(text) // 4)  # of small integers, which Python shares
    return list(_encoded(text, charset))


def _encoded(text: str, charset: str) -> bytes:
    """Characters that the charset lacks become question marks."""
    if charset.upper() == "UTF-16":
        return b"\xfe\xff" + text.encode("utf-16-be") if text else b""
    codecs.lookup(charset)
    return text.encode(charset, "replace")


@apoc_function("apoc.text.charAt(text :: STRING, index :: INTEGER) :: INTEGER", "Returns the code of a character.")
def char_at(text: Text, index: int | None) -> int | None:
    """Null outside the string."""
    units = "" if text is None else _units(text)
    return ord(units[index]) if index is not None and 0 <= index < len(units) else None


@apoc_function("apoc.text.hexCharAt(text :: STRING, index :: INTEGER) :: STRING", "Returns a character's code in hex.")
def hex_char_at(text: Text, index: int | None) -> Text:
    """Null outside the string."""
    return hex_value(char_at(text, index))


@apoc_function("apoc.text.hexValue(value :: INTEGER) :: STRING", "Returns a number in hex.")
def hex_value(value: int | None) -> Text:
    """At least four digits."""
    if value is None:
        return None
    return f"{value:016X}" if value >= 2**32 else f"{value:08X}" if value >= 2**16 else f"{value % 2**32:04X}"


@apoc_function("apoc.text.code(codepoint :: INTEGER) :: STRING", "Returns the character with a code.")
def character(code: int | None) -> Text:
    """Null for anything but a code point."""
    return chr(code) if code is not None and 0 <= code < 0x10000 else None


@apoc_function(
    "apoc.text.random(length :: INTEGER, valid = A-Za-z0-9 :: STRING) :: STRING",
    "Returns a string of random characters.",
    deterministic=False,
)
def random_text(length: int, valid: str) -> str:
    """Drawn from ranges such as `A-Z`, and single characters."""
    letters = re.sub(
        "(.)-(.)", lambda found: "".join(map(chr, range(ord(found[1]), ord(found[2]) + 1))), valid or "A-Za-z0-9"
    )
    return "".join(random.choices(letters, k=length))


@apoc_function(
    "apoc.text.fuzzyMatch(text1 :: STRING, text2 :: STRING) :: BOOLEAN", "Returns whether two strings are nearly equal."
)
def fuzzy_match(first: Text, second: Text) -> bool | None:
    """By Levenshtein distance: 0 below three letters, 1 below five, else up to 2."""
    if first is None or second is None:
        return None
    allowed = 0 if len(first) < 3 else 1 if len(first) < 5 else 2
    return levenshtein(first, second) <= allowed


_SOUNDEX = {
    letter: str(code) for code, group in enumerate(("BFPV", "CGJKQSXZ", "DT", "L", "MN", "R"), 1) for letter in group
}


def soundex(word: str) -> str:
    """The first letter, and digits for how the next ones sound: `H400`."""
    letters = [letter for letter in word.upper() if "A" <= letter <= "Z"]
    if not letters:
        return ""
    codes, last = [letters[0]], _SOUNDEX.get(letters[0])
    for letter in letters[1:]:
        code = _SOUNDEX.get(letter)
        if code is not None and code != last:
            codes.append(code)
        if letter not in "HW":
            last = code
    return "".join(codes)[:4].ljust(4, "0")


@apoc_function(
    "apoc.text.doubleMetaphone(value :: STRING) :: STRING",
    "Returns the Double Metaphone codes of the words in a string.",
)
def double_metaphones(text: Text) -> Text:
    """The codes of all words, concatenated; what stands before a text that begins with another sign counts as null."""
    if text is None or not text.strip():
        return text
    words = re.split(r"(?a:\W+)", text)
    while words and not words[-1]:
        words.pop()
    return "".join(double_metaphone(word) if word else "null" for word in words)


@apoc_function("apoc.text.phonetic(text :: STRING) :: STRING", "Returns the Soundex codes of the words in a string.")
def phonetic(text: Text) -> Text:
    """The codes of all words, concatenated."""
    return None if text is None else "".join(soundex(word[0]) for word in re.finditer(r"(?a:\w+)", text))
