"""Predicates on text: STARTS WITH, ENDS WITH, CONTAINS and =~, over columns.

The first three are null for anything but two strings. `=~` is null if the left side is not a string, and an error if
only the right side is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.expressions.evaluator import Evaluator, map_rows
from hoplite.engine.expressions.java import TEXT_VALUE, expected
from hoplite.engine.expressions.regex import matcher
from hoplite.engine.guard import Stopped
from hoplite.errors import transaction_timed_out
from hoplite.values.columns import Booleans, Bools, Column, Strings
from hoplite.values.texts import EDGE

_SPREAD = 4  # the most texts of a pool that may be searched for each text in a column


def starts_with(left: Column, right: Column) -> Column:
    """`left STARTS WITH right`"""
    return _test(str.startswith, left, right, before=EDGE)


def ends_with(left: Column, right: Column) -> Column:
    """`left ENDS WITH right`"""
    return _test(str.endswith, left, right, after=EDGE)


def contains_text(left: Column, right: Column) -> Column:
    """`left CONTAINS right`"""
    return _test(str.__contains__, left, right)


def matching(left: Evaluator, right: Evaluator) -> Evaluator:
    """`left =~ right`, within the statement's time limit."""

    def evaluate(batch: Batch, execution: Execution) -> Column:
        def by_value(text: Any, pattern: Any) -> bool | None:
            if not isinstance(text, str) or pattern is None:
                return None
            if not isinstance(pattern, str):
                raise expected(TEXT_VALUE, pattern, wanted=TEXT_VALUE)
            try:
                return matcher(pattern)(text, execution.seconds_left())
            except TimeoutError:
                raise Stopped.by(transaction_timed_out()) from None

        return map_rows(by_value, left(batch, execution), right(batch, execution))

    return evaluate


def _test(test: Callable[[str, str], bool], left: Column, right: Column, before: str = "", after: str = "") -> Column:
    part = only_text(right)
    if part is not None and isinstance(left, Strings):
        found = find_text(left, before, part, after)
        if found is not None:
            return found
        texts = left.values
        count = len(texts)
        if None in texts:
            empty = left.null_mask()
            values = np.fromiter((v is not None and test(v, part) for v in texts), np.bool_, count)
            return Booleans(values, empty)
        return Booleans(np.fromiter((test(v, part) for v in texts), np.bool_, count))

    def by_value(text: Any, other: Any) -> bool | None:
        return test(text, other) if isinstance(text, str) and isinstance(other, str) else None

    return map_rows(by_value, left, right)


def find_text(column: Strings, before: str, part: str, after: str) -> Booleans | None:
    """The rows whose text contains the part, found by one search of the column's whole pool of texts.

    `before` and `after` as in `TextPool.find`. None if there is no pool, or if looking at each text is faster.
    """
    pool, slots = column.pool, column.slots
    if pool is None or slots is None or not len(slots) or not pool.pays("search", len(slots)):
        return None
    first, last = max(int(slots.min()), 0), int(slots.max()) + 1
    if last <= first or last - first > _SPREAD * len(slots):
        return None
    hit = pool.find(before, part, after, first, last)
    if hit is None:
        return None
    values: Bools = hit[slots - first]
    empty = column.null_mask()
    if not empty.any():
        return Booleans(values)
    return Booleans(values & ~empty, empty)


def only_text(column: Column) -> str | None:
    """The text that a constant column holds in every row."""
    if isinstance(column, Strings) and len(column) and column.slots is None:
        values = column.values
        if len(values) == 1 or values.strides == (0,):
            text: str | None = values[0]
            return text
    return None
