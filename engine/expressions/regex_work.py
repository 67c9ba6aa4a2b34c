"""How many ways a pattern of `re` may be tried on a text before it fails, which bounds the time of a match.

`re` cannot be interrupted, so it only gets patterns with few ways for the given text. An upper bound is computed over
the parsed pattern, for a text of n characters:

    a sequence      the product of its parts
    a | b           the sum of its branches
    a*, a{2,9}      one for each number of repetitions, if what is repeated has one way and takes at least one
                    character; else its ways to the power of the repetitions
"""

from __future__ import annotations

import re
from typing import Any

_INSIDE: Any = re  # type checkers do not know its parts
codes, parser = _INSIDE._constants, _INSIDE._parser

MOST_WAYS = 10**7
"""Counting stops here: this many take a fraction of a second."""


def ways(pattern: str, length: int) -> int:
    """An upper bound on the ways, or `MOST_WAYS` if it is at least that."""
    return _of_sequence(parser.parse(pattern), length)


def _of_sequence(parts: Any, length: int) -> int:
    total = 1
    for code, argument in parts:
        total = min(total * _of_part(code, argument, length), MOST_WAYS)
    return total


def _of_part(code: Any, argument: Any, length: int) -> int:
    match code:
        case codes.BRANCH:
            return min(sum(_of_sequence(branch, length) for branch in argument[1]), MOST_WAYS)
        case codes.SUBPATTERN:
            return _of_sequence(argument[3], length)
        case codes.ATOMIC_GROUP:
            return _of_sequence(argument, length)
        case codes.ASSERT | codes.ASSERT_NOT:
            return _of_sequence(argument[1], length)
        case codes.GROUPREF_EXISTS:
            return MOST_WAYS
        case codes.MAX_REPEAT | codes.MIN_REPEAT | codes.POSSESSIVE_REPEAT:
            least, most, repeated = argument
            return _of_repeat(int(least), int(most), repeated, length)
        case _:
            return 1


def _of_repeat(least: int, most: int, repeated: Any, length: int) -> int:
    inner = _of_sequence(repeated, length)
    shortest = repeated.getwidth()[0]
    # An empty repetition still counts towards the least number of them.
    longest = min(most, max(least, length // max(shortest, 1)) if shortest else max(least, length + 1))
    if inner == 1 and shortest:
        return min(longest - min(least, longest) + 1, MOST_WAYS)
    inner = max(inner, 2)
    if longest * (inner.bit_length() - 1) >= MOST_WAYS.bit_length():
        return MOST_WAYS
    total: int = inner ** (longest + 1)
    return min(total, MOST_WAYS)
