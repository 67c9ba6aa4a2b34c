"""Equality, order and membership over columns: = <> < <= > >= and IN.

Columns of one scalar class are compared in NumPy; everything else goes value by value through `order.equals` and
`order.compare`, which define the result. An integer and a float compare as floats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.evaluator import Compiled, Evaluator, either_null, is_all_null, map_rows, scattered
from hoplite.engine.expressions.text import find_text, only_text
from hoplite.values.columns import (
    Booleans,
    Bools,
    Column,
    EntityLists,
    Floats,
    Int64s,
    Integers,
    Nodes,
    Objects,
    Relationships,
    Strings,
    nulls,
)
from hoplite.values.entities import NodeRef, RelationshipRef
from hoplite.values.order import SAME, compare, equals, signed_bytes
from hoplite.values.texts import EDGE

Comparator = Callable[[Column, Column], Column]
_ArrayTest = Callable[[Any, Any], Any]


def equal(left: Column, right: Column) -> Column:
    """`left = right`"""
    return _typed(np.equal, left, right) or _different(left, right) or _by_value(equals, left, right)


def not_equal(left: Column, right: Column) -> Column:
    """`left <> right`"""
    same = equal(left, right)
    return Booleans(~same.values, same.nulls) if isinstance(same, Booleans) else same


def less(left: Column, right: Column) -> Column:
    """`left < right`"""
    return _ordered(np.less, (-1,), left, right)


def less_or_equal(left: Column, right: Column) -> Column:
    """`left <= right`"""
    return _ordered(np.less_equal, (-1, 0), left, right)


def greater(left: Column, right: Column) -> Column:
    """`left > right`"""
    return _ordered(np.greater, (1,), left, right)


def greater_or_equal(left: Column, right: Column) -> Column:
    """`left >= right`"""
    return _ordered(np.greater_equal, (0, 1), left, right)


COMPARATORS: dict[str, Comparator] = {
    "=": equal,
    "<>": not_equal,
    "<": less,
    "<=": less_or_equal,
    ">": greater,
    ">=": greater_or_equal,
}


def _ordered(test: _ArrayTest, accepted: tuple[int, ...], left: Column, right: Column) -> Column:
    """Compare in NumPy, or else by `compare`, whose accepted results are true."""
    typed = _typed(test, left, right)
    if typed is not None:
        return typed

    def by_value(first: Any, second: Any) -> bool | None:
        order = compare(first, second)
        if order == SAME:
            return True if 0 in accepted else None
        return None if order is None else order in accepted

    return _by_value(by_value, left, right)


def _typed(test: _ArrayTest, left: Column, right: Column) -> Booleans | None:
    """The comparison in NumPy if both columns are of one scalar class, else None."""
    match left:
        case Integers() | Floats() if isinstance(right, Integers | Floats):
            values, others = left.values, right.values
            if type(left) is not type(right):
                values, others = values.astype(np.float64), others.astype(np.float64)
            return Booleans(_numbers(test, values, others), either_null(left.nulls, right.nulls))
        case Booleans() if isinstance(right, Booleans):
            return Booleans(test(left.values, right.values), either_null(left.nulls, right.nulls))
        case Strings() if isinstance(right, Strings):
            return _texts(test, left, right)
        case Nodes() | Relationships() if isinstance(right, Nodes | Relationships) and type(left) is type(right):
            return _with_nulls(test(left.positions, right.positions), left, right)
        case _:
            return None


def _numbers(test: _ArrayTest, left: NDArray[Any], right: NDArray[Any]) -> Bools:
    """Compare numbers; -0.0 and 0.0 are equal, yet one is less than the other, as in Java's `compare`."""
    values: Bools = test(left, right)
    if left.dtype == np.float64 and test is not np.equal:
        zeros = np.flatnonzero((left == 0) & (right == 0))
        if len(zeros):
            values[zeros] = test(~np.signbit(left[zeros]), ~np.signbit(right[zeros]))
    return values


def _texts(test: _ArrayTest, left: Strings, right: Strings) -> Booleans:
    """Compare texts by code point, as Python does; None has no order and must be excluded."""
    if test is np.equal:
        column, part = (left, only_text(right)) if left.pool is not None else (right, only_text(left))
        found = None if part is None else find_text(column, EDGE, part, EDGE)
        if found is not None:
            return found
    empty = _missing(left) | _missing(right)
    if not empty.any():
        return Booleans(test(left.values, right.values))
    values: Bools = np.zeros(len(left), np.bool_)
    rows = np.flatnonzero(~empty)
    values[rows] = test(left.values[rows], right.values[rows])
    return Booleans(values, empty)


def _missing(column: Strings) -> Bools:
    """Where the column is null; a constant, whose rows share one place in memory, is checked only once."""
    if len(column) and column.slots is None and column.values.strides == (0,):
        return Strings(column.values[:1]).null_mask()
    return column.null_mask()


_KINDS = {
    Integers: "number",
    Floats: "number",
    Booleans: "boolean",
    Strings: "text",
    Nodes: "node",
    Relationships: "rel",
}


def _different(left: Column, right: Column) -> Booleans | None:
    """Values of different kinds are never equal."""
    first, second = _KINDS.get(type(left)), _KINDS.get(type(right))
    if first is None or second is None or first == second:
        return None
    return _with_nulls(np.zeros(len(left), np.bool_), left, right)


def _with_nulls(values: Bools, left: Column, right: Column) -> Booleans:
    empty = left.null_mask() | right.null_mask()
    return Booleans(values, empty if empty.any() else None)


def _by_value(function: Callable[[Any, Any], bool | None], left: Column, right: Column) -> Column:
    if is_all_null(left) or is_all_null(right):
        return nulls(len(left))
    return map_rows(function, left, right)


# --- membership ----------------------------------------------------------------------------------------------------


def as_list(value: Any) -> list[Any] | None:
    """What is iterated over: a list itself, null for null, and a list of one element for anything else."""
    if value is None or isinstance(value, list):
        return value
    return signed_bytes(value) if isinstance(value, bytes) else [value]


def contains(item: Any, container: Any) -> bool | None:
    """`item IN container`: null if no element is equal and some comparison is unknown."""
    items = as_list(container)
    if items is None:
        return None
    unknown = False
    for other in items:
        same = equals(item, other)
        if same:
            return True
        unknown = unknown or same is None
    return None if unknown else False


def is_in(left: Column, right: Column) -> Column:
    """`left IN right`"""
    if isinstance(right, EntityLists) and isinstance(left, Nodes if right.of_nodes else Relationships):
        return _in_entity_lists(left, right)
    if isinstance(right, Objects):
        shared = _rows_by_list(right)
        if shared is not None:
            pieces = [(rows, _Elements(items).membership(left.take(rows))) for items, rows in shared]
            return scattered(pieces, len(left))
    return map_rows(contains, left, right)


def is_in_lists(left: Compiled, right: Compiled) -> Evaluator:
    """`left IN right`: lists are evaluated first, and the left side only where there is a list that is not empty."""

    def evaluate(batch: Batch, execution: Execution) -> Column:
        lists = right.evaluate(batch, execution)
        try:
            wanted = left.evaluate(batch, execution)
        except RowError:
            looked_into = [number for number, items in enumerate(lists.objects()) if items is not None and items != []]
            rows = np.array(looked_into, np.int64)
            others = np.delete(np.arange(batch.row_count), rows)
            pieces = [(rows, left.on_rows(batch, rows, execution)), (others, nulls(len(others)))]
            wanted = scattered([piece for piece in pieces if len(piece[0])], batch.row_count)
        return is_in(wanted, lists)

    return evaluate


def _rows_by_list(column: Objects) -> list[tuple[list[Any], Int64s]] | None:
    """Each list with the rows that share it, if many rows share few lists (a `collect` carried along)."""
    identities = np.fromiter(map(id, column.values), np.int64, len(column))
    distinct, first, group = np.unique(identities, return_index=True, return_inverse=True)
    if len(distinct) * _FEW > len(column) or not all(isinstance(column.values[row], list) for row in first):
        return None
    return [(column.values[row], np.flatnonzero(group == number)) for number, row in enumerate(first)]


def _in_entity_lists(left: Nodes | Relationships, right: EntityLists) -> Booleans:
    lengths = np.diff(right.offsets)
    rows = np.repeat(np.arange(len(left)), lengths)
    same = right.positions[right.offsets[0] : right.offsets[-1]] == left.positions[rows]
    found = np.bincount(rows[same], minlength=len(left)) > 0
    empty = right.null_mask() | ((left.positions < 0) & (lengths > 0))
    return Booleans(found & ~empty, empty if empty.any() else None)


def is_in_constant(left: Compiled, right: Compiled) -> Evaluator:
    """`left IN right` with the same right side in every row: its elements are indexed once."""
    remembered: tuple[Any, _Elements] | None = None

    def evaluate(batch: Batch, execution: Execution) -> Column:
        nonlocal remembered
        if not batch.row_count:
            return nulls(0)
        items = as_list(right.value(execution))
        if items is None:
            return nulls(batch.row_count)
        if not items:  # the left side is not evaluated
            return Booleans(np.zeros(batch.row_count, np.bool_))
        known = remembered  # set at the end: another thread may run the same plan
        if known is None or known[0] is not items:
            known = remembered = items, _Elements(items)
        return known[1].membership(left.evaluate(batch, execution))

    return evaluate


_FEW = 64  # up to this many rows, looking into a set is faster than sorting arrays


class _Elements:
    """The elements of a list by kind, for look-ups that follow Cypher's equality."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        integers = [i for i in items if type(i) is int]
        floats = [i for i in items if type(i) is float]
        self.integers = np.array(integers, np.int64)
        self.floats: NDArray[np.float64] = np.array(floats, np.float64)
        self.as_floats: NDArray[np.float64] = np.array(floats + integers, np.float64)
        self.integer_set = frozenset(integers)
        self.float_set = frozenset(floats)
        self.as_float_set = frozenset(self.as_floats.tolist())
        self.texts = frozenset(i for i in items if type(i) is str)
        self.nodes = np.array([i.position for i in items if isinstance(i, NodeRef)], np.int64)
        self.relationships = np.array([i.position for i in items if isinstance(i, RelationshipRef)], np.int64)
        self.has_null = any(i is None for i in items)

    def membership(self, column: Column) -> Column:
        match column:
            case Integers():
                found = self._has_integers(column)
            case Floats(values=values) if len(column) <= _FEW:
                found = np.array([v == v and v in self.as_float_set for v in values.tolist()], np.bool_)
            case Floats(values=values):
                found = np.isin(values, self.as_floats)
            case Strings():
                texts = self.texts
                found = np.fromiter((v in texts for v in column.values), np.bool_, len(column))
            case Nodes():
                found = np.isin(column.positions, self.nodes)
            case Relationships():
                found = np.isin(column.positions, self.relationships)
            case _:
                return map_rows(lambda item: contains(item, self.items), column)
        empty = column.null_mask()
        if not self.items:
            return Booleans(np.zeros(len(column), np.bool_))
        if self.has_null:
            empty = empty | ~found
        return Booleans(found & ~empty, empty if empty.any() else None)

    def _has_integers(self, column: Integers) -> Bools:
        """An integer equals a float if it does as a float."""
        if len(column) <= _FEW:
            whole, broken = self.integer_set, self.float_set
            return np.array([v in whole or float(v) in broken for v in column.values.tolist()], np.bool_)
        found = np.isin(column.values, self.integers)
        return found | np.isin(column.values.astype(np.float64), self.floats) if len(self.floats) else found
