"""Ordering: key columns in, the rows in Cypher's total order out (ORDER BY, Top).

Every key column is turned into one or two numeric rank arrays whose ascending order is the wanted order, and NumPy
sorts those. Null is the largest value and NaN the largest number: last when ascending, first when descending. Equal
rows keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.guard import interruptible
from hoplite.values.columns import Booleans, Column, Floats, Int64s, Integers, Nodes, Relationships, Strings
from hoplite.values.order import sort_key

_ALL_BUT_SIGN = 2**63 - 1


def sort_rows(columns: Sequence[Column], descending: Sequence[bool]) -> Int64s:
    """The row numbers in order of these keys, the first key being the most significant."""
    ranks = [rank for column, down in zip(columns, descending, strict=True) for rank in _ranks(column, down)]
    if len(ranks) == 1:
        return np.argsort(ranks[0], kind="stable")
    order: Int64s = np.lexsort(ranks[::-1])
    return order


def top_rows(columns: Sequence[Column], descending: Sequence[bool], count: int) -> Int64s:
    """The first `count` rows of `sort_rows`, without sorting the rest if the first key is numeric."""
    total = len(columns[0])
    if count >= total:
        return sort_rows(columns, descending)
    if count <= 0:
        return np.zeros(0, np.int64)
    first = _ranks(columns[0], descending[0])
    if len(first) == 1 and count * 4 < total:
        threshold = np.partition(first[0], count - 1)[count - 1]
        candidates = np.flatnonzero(first[0] <= threshold)
        order = sort_rows([column.take(candidates) for column in columns], descending)
        return candidates[order[:count]]
    return sort_rows(columns, descending)[:count]


def float_order(values: NDArray[np.float64]) -> Int64s:
    """Integers in the order of the floats: -Infinity ... -0.0, 0.0 ... Infinity, NaN.

    The bits of a positive double, read as an integer, are in its order; those of a negative one in the reverse order.
    """
    bits = np.where(np.isnan(values), np.nan, values).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(_ALL_BUT_SIGN))


def float_from_order(ranks: Int64s) -> NDArray[np.float64]:
    """The inverse of `float_order`."""
    return (ranks ^ ((ranks >> 63) & np.int64(_ALL_BUT_SIGN))).view(np.float64)


def _ranks(column: Column, descending: bool) -> list[NDArray[Any]]:
    """Arrays, most significant first, whose ascending order is the order of this key."""
    match column:
        case Integers():
            values: NDArray[Any] = ~column.values if descending else column.values  # ~x is -x - 1: no overflow
            return _after_flag(column.nulls, values, descending)
        case Booleans():
            return _after_flag(column.nulls, column.values ^ descending, descending)
        case Floats():
            values = float_order(column.values)
            return _after_flag(column.nulls, ~values if descending else values, descending)
        case Nodes() | Relationships():
            nulls = column.positions < 0
            values = ~column.positions if descending else column.positions
            return _after_flag(nulls if nulls.any() else None, values, descending)
        case Strings(pool=pool, slots=slots):
            if pool is not None and slots is not None and pool.pays("order", len(slots)):
                ranks = pool.ranks()[slots]
                return [~ranks if descending else ranks]
            return [_dense_ranks(column.values.tolist(), descending)]
        case _:
            return [_general_ranks(column, descending)]


def _after_flag(flags: NDArray[np.bool_] | None, values: NDArray[Any], descending: bool) -> list[NDArray[Any]]:
    """The values, with flagged rows after all others (before them when descending) whatever their values are."""
    if flags is None:
        return [values]
    return [flags ^ descending, np.where(flags, values.dtype.type(0), values)]


def _dense_ranks(values: list[str | None], descending: bool) -> Int64s:
    """Text by code point: Python compares strings that way."""
    distinct = set(values)
    distinct.discard(None)
    ordered: list[str | None] = [*sorted(text for text in distinct if text is not None), None]
    rank_of = {text: rank for rank, text in enumerate(ordered)}
    ranks = np.fromiter((rank_of[text] for text in values), np.int64, len(values))
    return ~ranks if descending else ranks


def _general_ranks(column: Column, descending: bool) -> Int64s:
    values = column.objects()
    with interruptible():
        keys = [sort_key(value) for value in values]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    ranks = np.zeros(len(keys), np.int64)
    rank, previous = 0, None
    for row in order:
        if previous is not None and keys[previous] < keys[row]:
            rank += 1
        ranks[row] = rank
        previous = row
    return ~ranks if descending else ranks
