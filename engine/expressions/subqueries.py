"""Subqueries as values: the plan runs once for all rows of a batch, and its results are assigned back to the rows.

The argument of the plan has the imported columns and a column that numbers its rows; every result carries that number.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.evaluator import Evaluator
from hoplite.engine.expressions.lists import lists_from
from hoplite.errors import CypherError
from hoplite.planner.logical import ROW
from hoplite.planner.parts import PlannedSubquery
from hoplite.values.columns import (
    Booleans,
    Bools,
    Column,
    Int64s,
    Integers,
    Objects,
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


def _of_batch(node: PlannedSubquery, batch: Batch, execution: Execution) -> Column:
    count = batch.row_count
    if count == 0:
        return nulls(0)
    numbers = Integers(np.arange(count, dtype=np.int64))
    argument = Batch({name: batch[name] for name in node.imports} | {ROW: numbers}, count)
    found = execution.run_plan(node.plan, argument, execution)
    match node.kind:
        case "exists":
            return Booleans(_exists(found, count))
        case "collect":
            return _collect(found, node, count)
        case _:
            return _single(found, node, count)


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


def _collect(found: Iterator[Batch], node: PlannedSubquery, count: int) -> Column:
    rows, values = _values(found, node)
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
