"""What a compiled expression is, and how one is evaluated on some of the rows of a batch.

An evaluator takes a batch and returns a column of as many rows. If a row fails it raises `RowError`, and promises only
this: the row does fail with that error, and nothing evaluated before the failing part fails at that row. Callers that
need the first failing row use `up_to_first_failure`, which evaluates the rows before it again: errors are rare, and the
common case stays free of bookkeeping.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.batch import UNIT, Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.guard import interruptible
from hoplite.errors import CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import (
    Booleans,
    Bools,
    Column,
    Floats,
    Int64s,
    Integers,
    Objects,
    Strings,
    concatenate,
    from_objects,
    nulls,
)

Evaluator: TypeAlias = Callable[[Batch, Execution], Column]

NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """An expression ready to run.

    `uses` are the columns it reads. `stable`: for the same inputs it has the same value throughout an execution, which
    is true neither of `rand()` nor of anything that reads the graph.
    """

    evaluate: Evaluator
    uses: frozenset[str] = NO_NAMES
    stable: bool = True

    @property
    def constant(self) -> bool:
        """Whether every row of an execution has the same value."""
        return self.stable and not self.uses

    def value(self, execution: Execution) -> Any:
        """The value of a constant."""
        return self.evaluate(UNIT, execution).objects()[0]

    def on_rows(self, batch: Batch, rows: Int64s, execution: Execution) -> Column:
        """Evaluate on only these rows (ascending); an error names the row of the whole batch."""
        if len(rows) == batch.row_count:
            return self.evaluate(batch, execution)
        try:
            return self.evaluate(narrowed(batch, self.uses).take(rows), execution)
        except RowError as failure:
            raise RowError(int(rows[failure.row]), failure.error) from None


def narrowed(batch: Batch, names: frozenset[str]) -> Batch:
    """The batch with only these columns, so that taking rows does not copy the others."""
    return Batch({name: batch.columns[name] for name in names}, batch.row_count)


def broadcast(value: Any, row_count: int) -> Column:
    """One value in every row, stored once: an array whose rows share one place in memory."""
    if value is None:
        return nulls(row_count)
    kind = type(value)
    if kind is bool:
        return Booleans(_repeated(np.array([value], np.bool_), row_count))
    if kind is int:
        return Integers(_repeated(np.array([value], np.int64), row_count))
    if kind is float:
        return Floats(_repeated(np.array([value], np.float64), row_count))
    held = np.empty(1, dtype=object)
    held[0] = value
    values = _repeated(held, row_count)
    return Strings(values) if kind is str else Objects(values)


def _repeated(held: NDArray[Any], row_count: int) -> NDArray[Any]:
    if row_count == 1:
        return held
    # The same as np.broadcast_to, at a thirtieth of the cost.
    return np.ndarray((row_count,), held.dtype, held, 0, (0,))


_numbers = count()


def once_per_execution(evaluate: Evaluator) -> Evaluator:
    """A constant: evaluated when the first row needs it, then remembered for the rest of the execution."""
    key = next(_numbers)

    def evaluate_constant(batch: Batch, execution: Execution) -> Column:
        if batch.row_count == 0:
            return nulls(0)
        if key not in execution.constants:
            execution.constants[key] = evaluate(UNIT, execution).objects()[0]
        return broadcast(execution.constants[key], batch.row_count)

    return evaluate_constant


def up_to_first_failure(evaluate: Evaluator, batch: Batch, execution: Execution) -> Column:
    """The column; a `RowError` is that of the first row that fails."""
    try:
        return evaluate(batch, execution)
    except RowError as error:
        failure = error
    while failure.row > 0:
        try:
            evaluate(batch.head(failure.row), execution)
            break
        except RowError as earlier:
            failure = earlier
    raise failure


def holding_errors(compiled: Compiled, batch: Batch, execution: Execution) -> tuple[Column, dict[int, CypherError]]:
    """The column with null where a row fails, and the errors of those rows."""
    errors: dict[int, CypherError] = {}

    def pieces(part: Batch, start: int) -> list[Column]:
        try:
            return [compiled.evaluate(part, execution)]
        except RowError as failure:
            if part.row_count == 1:
                errors[start] = failure.error
                return [nulls(1)]
        half = part.row_count // 2
        return pieces(part.head(half), start) + pieces(part.rows(half, part.row_count), start + half)

    return concatenate(pieces(narrowed(batch, compiled.uses), 0)), errors


def map_rows(function: Callable[..., Any], *columns: Column) -> Column:
    """The general path: apply a function of Python values row by row, and make the narrowest column of the results.

    The function must be free of side effects: it may be interrupted.
    """
    results: list[Any] = []
    keep = results.append
    objects = [column.objects() for column in columns]
    try:
        with interruptible():
            if len(columns) == 1:
                for value in objects[0]:
                    keep(function(value))
            else:
                for values in zip(*objects, strict=True):
                    keep(function(*values))
    except CypherError as error:
        raise RowError(len(results), error) from None
    return from_objects(results)


def scattered(pieces: Sequence[tuple[Int64s, Column]], row_count: int) -> Column:
    """Merge columns for disjoint sets of rows, which together cover all rows, into one."""
    filled = [(rows, column) for rows, column in pieces if len(rows)]
    if not filled:
        return nulls(row_count)
    if len(filled) == 1:
        return filled[0][1]
    places = np.empty(row_count, np.int64)
    places[np.concatenate([rows for rows, _ in filled])] = np.arange(row_count, dtype=np.int64)
    return concatenate([column for _, column in filled]).take(places)


def either_null(left: Bools | None, right: Bools | None) -> Bools | None:
    """The mask of rows where one of two columns is null."""
    if left is None:
        return right
    return left if right is None else left | right


def is_all_null(column: Column) -> bool:
    """Whether the column is known to be null in every row."""
    return isinstance(column, Objects) and bool(column.null_mask().all())
