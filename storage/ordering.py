"""Sorting arrays of small integers: keys are packed into 64-bit words, which are sorted.

Sorting words is several times faster than sorting their indexes, so the index is packed into the word as well, if it
fits together with the key.

    order_of((rows, 1000), (types, 7))   the stable order by row, then type; None if it is that already
    sorted_columns((rows, 1000), ...)    the columns themselves in that order
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.values.columns import Int64s

Key = tuple[NDArray[Any], int]
"""Non-negative integers, and a number greater than all of them."""

_WORD = 63


def _bits(bound: int) -> int:
    return max(bound - 1, 0).bit_length()


def order_of(*keys: Key) -> Int64s | None:
    """The stable order by the first key, then the second and so on; None if they are in that order already."""
    count = len(keys[0][0])
    if count < 2 or _is_ordered(keys):
        return None
    index_bits = _bits(count)
    order: Int64s | None = None
    for group in _groups(keys, _WORD - index_bits):
        packed = _packed(group) if order is None else _packed(group)[order]
        packed <<= index_bits
        packed |= np.arange(count, dtype=np.int64)
        packed.sort()
        packed &= (1 << index_bits) - 1
        order = packed if order is None else order[packed]
    assert order is not None
    return order


def sorted_columns(*keys: Key) -> list[NDArray[Any]] | None:
    """The sorted keys, in their own types; None if they do not fit into a word together."""
    if sum(_bits(bound) for _, bound in keys) > _WORD:
        return None
    packed = _packed(keys)
    if not bool((packed[1:] >= packed[:-1]).all()):
        packed.sort()
    columns = []
    for values, bound in reversed(keys):
        bits = _bits(bound)
        columns.append((packed & ((1 << bits) - 1)).astype(values.dtype))
        packed >>= bits
    return columns[::-1]


def _is_ordered(keys: tuple[Key, ...]) -> bool:
    if sum(_bits(bound) for _, bound in keys) > _WORD:
        return False
    packed = _packed(keys)
    return bool((packed[1:] >= packed[:-1]).all())


def _groups(keys: tuple[Key, ...], room: int) -> list[tuple[Key, ...]]:
    """Neighbouring keys that fit into a word together, the least significant first; a key too wide for the room is
    cut."""
    groups: list[list[Key]] = [[]]
    left = room
    for values, bound in reversed(keys):
        while True:
            bits = _bits(bound)
            if bits <= left:
                groups[-1].insert(0, (values, bound))
                left -= bits
                break
            if groups[-1]:
                groups.append([])
                left = room
                continue
            groups[-1] = [(values.astype(np.int64) & ((1 << room) - 1), 1 << room)]
            values, bound = values.astype(np.int64) >> room, ((bound - 1) >> room) + 1
            groups.append([])
            left = room
    return [tuple(group) for group in groups if group]


def _packed(keys: tuple[Key, ...]) -> Int64s:
    packed = keys[0][0].astype(np.int64)
    for values, bound in keys[1:]:
        packed <<= _bits(bound)
        packed |= values
    return packed
