"""What operators share: how they run, the size of batches, and the handling of expressions that fail.

An operator is built once for a plan and keeps no state between runs: `run` returns a lazy iterator of batches. The
argument is the batch that the plan is run over; for the right side of an `Apply` it has a column `ROW` that numbers its
rows, and such a plan groups, orders and limits separately for each row of the argument.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.errors import CypherError, type_error
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.logical import ROW
from hoplite.planner.physical import Shown
from hoplite.values.columns import Column, Int64s, Integers, Nodes, Objects, Relationships, from_objects
from hoplite.values.entities import NodeRef, RelationshipRef
from hoplite.values.render import describe

FIRST_BATCH, SMALL_BATCH, LARGEST_BATCH = 256, 2048, 65_536
# Rows; batches grow, so that both LIMIT and long scans are cheap.

Evaluator = Callable[[Batch, Execution], Column]


@dataclass(slots=True, eq=False)
class Operator(ABC):
    """A step of a plan, ready to run.

    `plan` is the node it was built for; an operator inside another one, which no plan shows, has none.
    """

    plan: Shown | None = field(default=None, init=False, repr=False)

    def run(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The rows it produces for this argument, counted if there is a profile."""
        batches = self.batches(context, argument)
        if context.profile is None or self.plan is None:
            return batches
        return context.profile.watched(self.plan, batches, context)

    @abstractmethod
    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The batches that `run` yields."""

    def nodes(self, context: Execution, argument: Batch, name: str) -> Int64s | None:
        """All nodes of a column, none of them null, from an operator that finds them in one look-up; else None. Saves a
        short query the way through batches."""
        return None


def evaluate(
    batch: Batch, evaluators: Sequence[Evaluator], context: Execution
) -> tuple[Batch, list[Column], CypherError | None]:
    """The values of several expressions; if one fails, the values of the rows before it, and the error.

    Row by row, those rows would have been yielded before the error; a LIMIT may need only them.
    """
    error: CypherError | None = None
    while True:
        try:
            return batch, [evaluator(batch, context) for evaluator in evaluators], error
        except RowError as failure:
            batch, error = batch.head(failure.row), failure.error


def batch_limit(context: Execution) -> int:
    """How many rows a batch may have. Every operator of a plan holds one, so they are small where memory is short."""
    return SMALL_BATCH if context.memory.is_short() else LARGEST_BATCH


def pairs(context: Execution, rows: int, items: int, size: int = FIRST_BATCH) -> Iterator[tuple[Int64s, Int64s]]:
    """Every pair of a row and an item as two index arrays, ordered by row, in pieces of growing but bounded size."""
    row = 0
    while row < rows:
        context.check_time()
        size = min(size, batch_limit(context))
        if items <= size:
            count = min(rows - row, max(1, size // max(items, 1)))
            yield (
                np.repeat(np.arange(row, row + count, dtype=np.int64), items),
                np.tile(np.arange(items, dtype=np.int64), count),
            )
            row += count
        else:
            start = 0
            while start < items:
                stop = min(items, start + size)
                yield np.full(stop - start, row, np.int64), np.arange(start, stop, dtype=np.int64)
                context.check_time()
                start, size = stop, min(size * 4, batch_limit(context))
            row += 1
        size *= 4


def node_positions(batch: Batch, name: str) -> Int64s:
    """The nodes of a column, -1 for null."""
    column = batch.columns[name]
    if isinstance(column, Nodes):
        return column.positions
    ids = _positions(column, NodeRef)
    for value in column.objects()[ids < 0]:
        if value is not None and not isinstance(value, NodeRef):  # a virtual node matches nothing
            raise type_error(f"Expected to find a node at ref slot 0 but found {describe(value)} instead")
    return ids


def relationship_positions(batch: Batch, name: str) -> Int64s:
    """The relationships of a column; -1, which matches nothing, for null and anything else."""
    column = batch[name]
    return column.positions if isinstance(column, Relationships) else _positions(column, RelationshipRef)


def _positions(column: Column, kind: type[NodeRef] | type[RelationshipRef]) -> Int64s:
    """Entities computed by an expression, in a column of any values; -1 for anything else."""
    values = column.objects()
    return np.fromiter((value.position if isinstance(value, kind) else -1 for value in values), np.int64, len(values))


def argument_rows(batch: Batch) -> Int64s | None:
    """The row of the argument that each row belongs to; None for a plan that runs once."""
    if ROW not in batch:
        return None
    column = batch[ROW]
    assert isinstance(column, Integers)
    return column.values


def with_row(batch: Batch, names: Sequence[str]) -> Batch:
    """The batch with only these columns, and `ROW` if it has one."""
    return batch.only([*names, ROW] if ROW in batch and ROW not in names else names)


def null_column(count: int) -> Objects:
    """A column of nulls."""
    return Objects(np.full(count, None, dtype=object))


def column_of(values: list[object]) -> Column:
    """The narrowest column for these values."""
    return from_objects(values)
