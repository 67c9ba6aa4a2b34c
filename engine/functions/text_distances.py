"""Distances between texts: Levenshtein and Jaro-Winkler, as in Apache Commons Text.

Both are bit-parallel. Position p of a text is bit p of an integer; the positions of each character are found once, and
each step over the other text takes a few operations on integers, however long they are. For many pairs of short texts,
the integers of all pairs form one array:

    codes     uint32[rows, 64]   the characters, 0 after the end
    lengths   int64[rows]
    masks     uint64[rows]       the bits of a row
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.values.columns import Column, Floats, Int64s, Integers, Strings

Codes = NDArray[np.uint32]
Masks = NDArray[np.uint64]

_BITS = 64
_ROWS_AT_ONCE = 1 << 14
_LARGEST_UNIT = 0xFFFF  # UTF-16 units: Java counts positions and distances in them
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


# --- one pair ---


def _places(text: str) -> dict[str, int]:
    """The positions of each character, as bits."""
    found: dict[str, int] = {}
    for place, character in enumerate(text):
        found[character] = found.get(character, 0) | 1 << place
    return found


def levenshtein(first: str, second: str) -> int:
    """The least number of insertions, deletions and substitutions (Hyyrö 2003)."""
    if not first or not second:
        return len(first) + len(second)
    places = _places(first)
    every, last = (1 << len(first)) - 1, 1 << (len(first) - 1)
    up, down, distance = every, 0, len(first)  # where the column of the table rises and falls
    for character in second:
        same = places.get(character, 0)
        diagonal = (((same & up) + up) ^ up) | same | down
        right_up = down | ~(diagonal | up) & every
        right_down = diagonal & up
        distance += (right_up & last != 0) - (right_down & last != 0)
        right_up = (right_up << 1 | 1) & every
        up = (right_down << 1 | ~(diagonal | right_up)) & every
        down = right_up & diagonal & every
    return distance


def levenshtein_similarity(first: str, second: str) -> float:
    """1 for equal texts."""
    longest = max(len(first), len(second))
    return 1.0 if longest == 0 else (longest - levenshtein(first, second)) / longest


def jaro_winkler_distance(first: str, second: str) -> float:
    """0 for equal texts, 1 for texts with nothing in common."""
    if not first and not second:
        return 0.0
    window = max(max(len(first), len(second)) // 2 - 1, 0)
    places, free = _places(second), (1 << len(second)) - 1
    matches: list[str] = []
    for place, character in enumerate(first):
        low = max(0, place - window)
        near = (places.get(character, 0) & free) >> low & ((1 << (place + window + 1 - low)) - 1)
        if near:
            free ^= (near & -near) << low
            matches.append(character)
    if not matches:
        return 1.0
    bits = reversed(f"{free:0{len(second)}b}")
    in_second = [character for character, is_free in zip(second, bits, strict=True) if is_free == "0"]
    swaps = sum(a != b for a, b in zip(matches, in_second, strict=True)) / 2
    count = len(matches)
    jaro = (count / len(first) + count / len(second) + (count - swaps) / count) / 3
    prefix = 0
    for a, b in zip(first[:4], second[:4], strict=False):
        if a != b:
            break
        prefix += 1
    return 1.0 - (jaro + prefix * 0.1 * (1 - jaro) if jaro >= 0.7 else jaro)


# --- many pairs ---


def of_columns(
    measure: Callable[[Codes, Int64s, Codes, Int64s], NDArray[Any]], left: Column, right: Column
) -> Column | None:
    """A measure of each pair; None if a value is not text or is longer than 64 characters, or if there are too few
    pairs."""
    if not isinstance(left, Strings) or not isinstance(right, Strings) or len(left) < _BITS:
        return None
    missing = left.null_mask() | right.null_mask()
    rows = np.flatnonzero(~missing)
    parts = []
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        some = rows[first : first + _ROWS_AT_ONCE]
        one, other = _codes(left.values[some]), _codes(right.values[some])
        if one is None or other is None:
            return None
        parts.append(measure(*one, *other))
    if not parts:
        return None
    found = np.concatenate(parts)
    values = np.zeros(len(left), found.dtype)
    values[rows] = found
    nulls = missing if missing.any() else None
    return Integers(values, nulls) if values.dtype == np.int64 else Floats(values, nulls)


def _codes(texts: NDArray[np.object_]) -> tuple[Codes, Int64s] | None:
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    if int(lengths.max()) > _BITS:
        return None
    codes = np.array(texts, dtype=f"U{_BITS}").view(np.uint32).reshape(len(texts), _BITS)
    return None if int(codes.max()) > _LARGEST_UNIT else (codes, lengths)


def _below(counts: Int64s) -> Masks:
    """Masks with this many low bits set."""
    bits = counts.astype(np.uint64)
    return np.where(counts >= _BITS, _ALL, (_ONE << (bits & np.uint64(_BITS - 1))) - _ONE)


def _equal(codes: Codes, characters: Codes) -> Masks:
    """Which positions of each row hold its character."""
    same = codes == characters[:, None]
    found: Masks = np.packbits(same, axis=1, bitorder="little").view(np.uint64).reshape(len(codes))
    return found


def levenshtein_of_all(first: Codes, first_lengths: Int64s, second: Codes, second_lengths: Int64s) -> Int64s:
    """`levenshtein` of each row."""
    every = _below(first_lengths)
    last = every ^ (every >> _ONE)
    up, down, distance = every.copy(), np.zeros(len(first), np.uint64), first_lengths.copy()
    for place in range(int(second_lengths.max())):
        same = _equal(first, second[:, place]) & every
        diagonal = (((same & up) + up) ^ up) | same | down
        right_up = down | ~(diagonal | up)
        right_down = diagonal & up
        change = ((right_up & last) != 0).astype(np.int64) - ((right_down & last) != 0)
        distance += np.where(place < second_lengths, change, 0)
        right_up = right_up << _ONE | _ONE
        up = right_down << _ONE | ~(diagonal | right_up)
        down = right_up & diagonal
    return np.where(first_lengths == 0, second_lengths, distance)


def levenshtein_similarity_of_all(
    first: Codes, first_lengths: Int64s, second: Codes, second_lengths: Int64s
) -> NDArray[np.float64]:
    """`levenshtein_similarity` of each row."""
    longest = np.maximum(first_lengths, second_lengths)
    distance = levenshtein_of_all(first, first_lengths, second, second_lengths)
    return np.where(longest == 0, 1.0, (longest - distance) / np.maximum(longest, 1))


def jaro_winkler_of_all(
    first: Codes, first_lengths: Int64s, second: Codes, second_lengths: Int64s
) -> NDArray[np.float64]:
    """`jaro_winkler_distance` of each row."""
    window = np.maximum(np.maximum(first_lengths, second_lengths) // 2 - 1, 0)
    free = _below(second_lengths)
    taken = np.zeros(first.shape, np.bool_)
    for place in range(int(first_lengths.max())):
        near = _below(place + window + 1) & ~_below(np.maximum(place - window, 0))
        found = _equal(second, first[:, place]) & free & near
        lowest = np.where(place < first_lengths, found & (~found + _ONE), np.uint64(0))
        free ^= lowest
        taken[:, place] = lowest != 0
    held = (free ^ _below(second_lengths)).view(np.uint8).reshape(len(first), _BITS // 8)
    is_held = np.unpackbits(held, axis=1, bitorder="little").astype(np.bool_)
    count = taken.sum(axis=1)
    differs = first[taken] != second[is_held]
    swaps = np.bincount(np.nonzero(taken)[0], differs, len(first)) / 2
    with np.errstate(all="ignore"):
        jaro = (count / first_lengths + count / second_lengths + (count - swaps) / count) / 3
    shorter = np.minimum(first_lengths, second_lengths)
    prefix = np.zeros(len(first), np.int64)
    for place in range(4):
        prefix += (prefix == place) & (place < shorter) & (first[:, place] == second[:, place])
    distance = 1.0 - np.where(jaro >= 0.7, jaro + prefix * 0.1 * (1 - jaro), jaro)
    distance = np.where(count == 0, 1.0, distance)
    return np.where((first_lengths == 0) & (second_lengths == 0), 0.0, distance)
