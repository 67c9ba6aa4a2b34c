r"""Long lists of constants in a query: text in, value out, without a token or a tree for each of the many parts.

    UNWIND [{id: 1, name: 'Ann'}, {id: 2, name: 'Bob'}, ...] AS row

Rows that programs write this way are nearly JSON. One regular expression matches the brackets, keys, strings and words
are rewritten to JSON's, and Python's JSON reader makes the value. Anything that may not be a constant with the same
meaning in Cypher (a variable, a call, a comment, a number in a form that JSON lacks) is left to the parser.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from hoplite.allowance import check_memory, check_time
from hoplite.grammar.hidden import HIDDEN
from hoplite.lazy import lazy_pattern

FEWEST_CHARACTERS = 512  # the shortest list read here; for shorter ones the parser is as fast and gives better errors
_FEWEST_ITEMS = 2  # `xs[1]` looks like a list of one item
_LONG = 100_000  # characters of a string
_DEEPEST = 6  # brackets in brackets
_BYTES_FOR_CHARACTER = 32  # upper bound for the value: `[[1], [2]], ` is three lists

_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"', "`": "`"}
_ESCAPE = lazy_pattern(r"\\([bfnrt\\'\"`])")
_STRING = r"'(?:[^'\\]++|\\(?s:.))*+' | \"(?:[^\"\\]++|\\(?s:.))*+\""
_NAME = r"`(?:[^`]|``)*+`"


def _nested(depth: int) -> str:
    """What a bracket may contain: no parentheses, comments or parameters."""
    plain = rf"[^\[\]{{}}()'\"`/$]++ | {_STRING} | {_NAME}"
    if depth == 0:
        return rf"(?: {plain} )*+"
    inner = _nested(depth - 1)
    return rf"(?: {plain} | \[ {inner} \] | \{{ {inner} \}} )*+"


_LIST = lazy_pattern(rf"\[ {_nested(_DEEPEST - 1)} \]", re.VERBOSE)
_PART = lazy_pattern(rf"(?: {_STRING} | {_NAME} | (?<![\w.])[^\W\d]\w*+ ) (?: [ \t\r\n]*+ : )?+", re.VERBOSE)
_WORDS = {"TRUE": "true", "FALSE": "false", "NULL": "null", "NAN": "NaN", "INF": "Infinity", "INFINITY": "Infinity"}
_NUMBERS = lazy_pattern(r"[\d\s,.\[\]-]*+", re.ASCII)
_LARGE_INTEGER, _LARGE_EXPONENT = lazy_pattern(r"\d{19}"), lazy_pattern(r"[eE]\+?\d{3}")


class _NoConstant(Exception):
    """The list contains something else."""


def constant_list(text: str, start: int) -> tuple[list[Any], int] | None:
    """The value of the long list of constants at `start`, and where it ends; None if there is none."""
    found = _LIST.match(text, start)
    if found is None or found.end() - start < FEWEST_CHARACTERS:
        return None
    literal = found.group()
    if HIDDEN in literal:
        return None
    check_memory(len(literal) * _BYTES_FOR_CHARACTER)
    try:
        as_json = literal if _NUMBERS.fullmatch(literal) else _PART.sub(_Rewriting(), literal)
        check_time()
        is_large = _LARGE_INTEGER.search(as_json) or _LARGE_EXPONENT.search(as_json)
        check_time()
        value = (_CHECKED_READER if is_large else _READER).decode(as_json)
    except (_NoConstant, ValueError):  # ValueError: not JSON after all
        return None
    return (value, found.end()) if len(value) >= _FEWEST_ITEMS else None


def string_value(quoted: str) -> str:
    """What a string literal stands for."""
    text = quoted[1:-1]
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_Unescaping(), text) if len(text) > _LONG else _ESCAPE.sub(_unescaped, text)


def _unescaped(escape: re.Match[str]) -> str:
    return _ESCAPES[escape[1]]


class _Unescaping:
    """The same for long texts, checking the time limit."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, escape: re.Match[str]) -> str:
        self._count += 1
        if not self._count & 0xFFF:
            check_time()
        return _ESCAPES[escape[1]]


class _Rewriting:
    """Keys, strings and words in JSON's spelling. The same few keys recur, so they are remembered."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._count = 0

    def __call__(self, found: re.Match[str]) -> str:
        self._count += 1
        if not self._count & 0xFFF:
            check_time()
        text = found.group()
        if text[0] in "'\"":
            if text[-1] == ":":
                raise _NoConstant  # a string is not a key
            if "\\" not in text and '"' not in text[1:-1]:
                return f'"{text[1:-1]}"'
            return json.dumps(string_value(text))
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._name_or_word(text)
        return known

    def _name_or_word(self, text: str) -> str:
        if text[-1] == ":":
            name = text[:-1].rstrip()
            return json.dumps(name[1:-1].replace("``", "`") if name[0] == "`" else name) + ":"
        word = _WORDS.get(text.upper())
        if word is None:
            raise _NoConstant  # a variable
        return word


def _integer(digits: str) -> int:
    value = int(digits)
    if not -(2**63) <= value < 2**63:
        raise _NoConstant  # the parser reports what is wrong with it
    return value


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _NoConstant
    return value


_READER = json.JSONDecoder(strict=False)
_CHECKED_READER = json.JSONDecoder(strict=False, parse_int=_integer, parse_float=_float)
