"""Aggregations over rows that stand for several equal ones: the last column says how many.

A sum adds the product, in which integers become a float where adding them one by one would, and durations are
multiplied field by field. `count` adds up the weights of the values that are not null.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hoplite.engine.functions.aggregates import Average, Sum
from hoplite.engine.functions.group_states import Aggregation
from hoplite.values.columns import Column, Floats, Int64s, Integers, Objects, object_array
from hoplite.values.temporal import Duration

_INTEGER_LIMIT = 2**63
_NANOS_PER_SECOND = 1_000_000_000
_ARGUMENT = "ReferenceFromSlot(0)"  # what Neo4j's messages call the argument


def make_weighted(name: str) -> Aggregation:
    """A fresh state for one weighted call."""
    match name:
        case "count":
            return _WeightedCount()
        case "sum":
            return _WeightedSum()
        case "avg":
            return Average(_ARGUMENT)
        case _:
            raise AssertionError(f"{name} has no weights")


class _WeightedSum:
    def __init__(self) -> None:
        self._sum = Sum(_ARGUMENT)

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        column, weights = columns
        assert isinstance(weights, Integers)
        self._sum.update(groups, group_count, (_times(column, weights.values),))

    def finish(self, group_count: int) -> Column:
        return self._sum.finish(group_count)


class _WeightedCount:
    def __init__(self) -> None:
        self._sum = Sum(_ARGUMENT)

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        column, weights = columns
        assert isinstance(weights, Integers)
        self._sum.update(groups, group_count, (Integers(weights.values, column.null_mask()),))

    def finish(self, group_count: int) -> Column:
        return self._sum.finish(group_count)


def _times(column: Column, weights: Int64s) -> Column:
    """Each value times its weight; what has no sum is left for the sum to refuse."""
    if not len(column):
        return column
    match column:
        case Floats(values=values, nulls=nulls):
            with np.errstate(all="ignore"):  # infinity and NaN need no warning
                return Floats(values * weights, nulls)
        case Integers(values=values, nulls=nulls):
            largest = max(abs(int(values.max())), abs(int(values.min())))
            if largest * int(weights.max()) < _INTEGER_LIMIT:
                return Integers(values * weights, nulls)
    products = (_product(value, weight) for value, weight in zip(column.objects(), weights.tolist(), strict=True))
    return Objects(object_array(products, len(column)))  # not narrower: integers may have more than 64 bits


def _product(value: Any, weight: int) -> Any:
    match value:
        case bool():
            return value
        case int() | float():
            return value * weight
        case Duration():
            carry, nanoseconds = divmod(value.nanoseconds * weight, _NANOS_PER_SECOND)
            return Duration(value.months * weight, value.days * weight, value.seconds * weight + carry, nanoseconds)
        case _:
            return value
