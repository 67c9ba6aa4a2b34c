"""Predicates on text: STARTS WITH, ENDS WITH, CONTAINS and =~, over columns.

The first three are null on anything but two strings. `=~` is null where the left side is not a string, and an error
where only the right side is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoplite.engine.expressions.evaluator import map_rows
from hoplite.engine.expressions.java import TEXT_VALUE, expected
from hoplite.engine.expressions.regex import matcher
from hoplite.values.columns import Booleans, Column, Strings


def starts_with(left: Column, right: Column) -> Column:
    """`left STARTS WITH right`"""
    return _test(str.startswith, left, right)


def ends_with(left: Column, right: Column) -> Column:
    """`left ENDS WITH right`"""
    return _test(str.endswith, left, right)


def contains_text(left: Column, right: Column) -> Column:
    """`left CONTAINS right`"""
    return _test(str.__contains__, left, right)


def matches(left: Column, right: Column) -> Column:
    """`left =~ right`"""
    return map_rows(_matches, left, right)


def _matches(text: Any, pattern: Any) -> bool | None:
    if not isinstance(text, str) or pattern is None:
        return None
    if not isinstance(pattern, str):
        raise expected(TEXT_VALUE, pattern)
    return matcher(pattern)(text)


def _test(test: Callable[[str, str], bool], left: Column, right: Column) -> Column:
    part = _only_text(right)
    if part is not None and isinstance(left, Strings):
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


def _only_text(column: Column) -> str | None:
    """The text that a constant column holds in every row."""
    if isinstance(column, Strings) and len(column) and (len(column) == 1 or column.values.strides == (0,)):
        text: str | None = column.values[0]
        return text
    return None
