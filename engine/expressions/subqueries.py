"""Subqueries as values: the plan runs once for all rows of a batch, and its results are assigned back to the rows.

The argument of the plan has the imported columns and a column that numbers its rows; every result carries that number.
Consecutive rows with the same imported nodes and relationships, such as a hop makes of one row, are one row of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.comparison import is_in, is_in_lists
from hoplite.engine.expressions.evaluator import Compiled, Evaluator
from hoplite.engine.expressions.lists import lists_from
from hoplite.engine.grouping import ColumnEncoder
from hoplite.errors import CypherError
from hoplite.planner.logical import ROW
from hoplite.planner.parts import PlannedSubquery
from hoplite.values.columns import (
    Booleans,
    Bools,
    Column,
    Int64s,
    Integers,
    Nodes,
    Objects,
    Relationships,
    Strings,
    concatenate,
    null_like,
    nulls,
    object_array,
)


def subquery(node: PlannedSubquery) -> Evaluator:
    """The value of the subquery for each row."""

    def evaluate(batch: Batch, execution: Execution) -> Column:
        try:
            return _of_batch(node, batch, execution)
        except CypherError as error:
            if error.code.startswith("Neo.ClientError.Transaction."):
                raise  # cancelled, or out of time
            if batch.row_count == 1:
                raise RowError(0, error) from None
        # Some row fails; only going row by row tells which.
        columns = []
        for row in range(batch.row_count):
            try:
                columns.append(_of_batch(node, batch.rows(row, row + 1), execution))
            except CypherError as error:
                raise RowError(row, error) from None
        return concatenate(columns)

    return evaluate


def is_in_collected(left: Compiled, node: PlannedSubquery) -> Evaluator:
    """`left IN COLLECT {...}`: pairs of a row and a value are looked up, and no lists are made."""
    lists = Compiled(subquery(node), frozenset(node.imports), stable=False)
    by_lists = is_in_lists(left, lists)

    def evaluate(batch: Batch, execution: Execution) -> Column:
        try:
            runs = _Runs(node, batch)
            rows, values = _values(runs.results(node, batch, execution), node)
            wanted = left.evaluate(batch, execution)
        except RowError:
            return by_lists(batch, execution)  # the left side is only evaluated where a list is not empty
        except CypherError as error:
            if error.code.startswith("Neo.ClientError.Transaction."):
                raise
            return by_lists(batch, execution)  # an error names its row
        if values is None:
            return Booleans(np.zeros(batch.row_count, np.bool_))
        if type(values) is not type(wanted) or not isinstance(values, Integers | Strings | Nodes | Relationships):
            return is_in(wanted, runs.spread(_lists(rows, values, runs.count)))
        return _looked_up(wanted, runs, rows, values)

    return evaluate


def _looked_up(wanted: Column, runs: _Runs, rows: Int64s, values: Column) -> Booleans:
    """Which values are among those of their row; both are of one type, whose values are equal or not."""
    numbers = ColumnEncoder()
    missing, sought = values.null_mask(), wanted.null_mask()
    there, asked = np.flatnonzero(~missing), np.flatnonzero(~sought)
    known = rows[there] << 32 | numbers.assign(values.take(there))
    found: Bools = np.zeros(len(wanted), np.bool_)
    found[asked] = np.isin(runs.of_rows(asked) << 32 | numbers.assign(wanted.take(asked)), known)
    is_empty = np.bincount(rows, minlength=runs.count) == 0
    has_null = np.bincount(rows[missing], minlength=runs.count) > 0
    every = runs.of_rows(np.arange(len(wanted)))
    unknown = ~found & ((sought & ~is_empty[every]) | has_null[every])
    return Booleans(found, unknown if unknown.any() else None)


class _Runs:
    """Consecutive rows of a batch for which a subquery has the same results."""

    def __init__(self, node: PlannedSubquery, batch: Batch) -> None:
        self.count = batch.row_count
        self._first: Int64s | None = None
        imported = [batch[name] for name in node.imports]
        if not node.repeatable or not all(isinstance(column, Nodes | Relationships) for column in imported):
            return
        changes: Bools = np.zeros(max(batch.row_count - 1, 0), np.bool_)
        for column in imported:
            assert isinstance(column, Nodes | Relationships)
            changes |= column.positions[1:] != column.positions[:-1]
        if 2 * np.count_nonzero(changes) < len(changes):
            self._first = np.concatenate((np.zeros(1, np.int64), np.flatnonzero(changes) + 1))
            self.count = len(self._first)
            self._place = np.repeat(np.arange(self.count), np.diff(self._first, append=batch.row_count))

    def of_rows(self, rows: Int64s) -> Int64s:
        """The runs that some rows belong to."""
        return rows if self._first is None else self._place[rows]

    def results(self, node: PlannedSubquery, batch: Batch, execution: Execution) -> Iterator[Batch]:
        """What the subquery gives for each run."""
        numbers = Integers(np.arange(self.count, dtype=np.int64))
        given = Batch({name: batch[name] for name in node.imports}, batch.row_count)
        if self._first is not None:
            given = given.take(self._first)
        return execution.run_plan(node.plan, given.with_columns({ROW: numbers}), execution)

    def spread(self, values: Column) -> Column:
        """The value of its run for each row."""
        return values if self._first is None else values.take(self._place)


def _of_batch(node: PlannedSubquery, batch: Batch, execution: Execution) -> Column:
    if batch.row_count == 0:
        return nulls(0)
    runs = _Runs(node, batch)
    found = runs.results(node, batch, execution)
    match node.kind:
        case "exists":
            return runs.spread(Booleans(_exists(found, runs.count)))
        case "collect":
            return runs.spread(_lists(*_values(found, node), runs.count))
        case _:
            return runs.spread(_single(found, node, runs.count))


def _rows(batch: Batch) -> Int64s:
    numbers = batch[ROW]
    assert isinstance(numbers, Integers)
    return numbers.values


def _exists(found: Iterator[Batch], count: int) -> Bools:
    seen: Bools = np.zeros(count, np.bool_)
    for batch in found:
        seen[_rows(batch)] = True
        if seen.all():
            break
    return seen


def _lists(rows: Int64s, values: Column | None, count: int) -> Column:
    if values is None:
        return Objects(object_array(([] for _ in range(count)), count))
    order = np.argsort(rows, kind="stable")
    offsets = np.searchsorted(rows[order], np.arange(count + 1)).astype(np.int64)
    return lists_from(values.take(order), offsets, None)


def _single(found: Iterator[Batch], node: PlannedSubquery, count: int) -> Column:
    rows, values = _values(found, node)
    if values is None:
        return nulls(count)
    places = np.full(count, len(rows), np.int64)  # the index past the end is the appended null
    places[rows[::-1]] = np.arange(len(rows))[::-1]
    return concatenate([values, null_like(values, 1)]).take(places)


def _values(found: Iterator[Batch], node: PlannedSubquery) -> tuple[Int64s, Column | None]:
    """The row of each result, and the values; None if there is no result."""
    assert node.value is not None
    batches = [batch for batch in found if batch.row_count]
    if not batches:
        return np.zeros(0, np.int64), None
    rows = np.concatenate([_rows(batch) for batch in batches])
    return rows, concatenate([batch[node.value] for batch in batches])
