"""The ends of one merged frontier, each once: their number, and DISTINCT on one of their properties, which has nothing
to do if no two nodes share a value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.operators.base import Operator
from hoplite.engine.operators.expand import Reach
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.logical import ROW
from hoplite.storage.property_columns import PropertyColumn
from hoplite.values.columns import Integers


@dataclass(slots=True, eq=False)
class DistinctEnds(Operator):
    """Property `key` of the ends of one merged frontier as column `name`, each value once."""

    ends: Reach
    row_by_row: Operator  # the fallback, which looks at every value
    name: str
    key: str

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """All values as they are if the key is unique among nodes; one null for all nodes without a value."""
        graph = context.graph
        values: PropertyColumn | None = graph.kept.get(self)
        if ROW in argument.columns or (values is None and not self._may_look_up(context)):
            yield from self.row_by_row.run(context, argument)
            return
        nodes = self.ends.merged_ends(context, argument)
        column = graph.node_property_of(nodes, self.key) if values is None else values.gather(nodes, True)
        row_count = len(nodes)
        if getattr(column, "nulls", self) is not None:
            kept = np.ones(row_count, np.bool_)
            kept[np.flatnonzero(column.null_mask())[1:]] = False
            column = column.take(np.flatnonzero(kept))
            row_count = len(column)
        if row_count:
            yield Batch({self.name: column}, row_count)

    def _may_look_up(self, context: Execution) -> bool:
        """Whether the key is unique among nodes. If its values are one column, that is kept for the next run."""
        graph = context.graph
        if context.writer is not None or not graph.has_distinct_values(self.key):
            return False
        values = graph.node_column(self.key)
        if values is not None:
            graph.keep(self, values)
        return True


@dataclass(slots=True, eq=False)
class CountEnds(Operator):
    """`count(DISTINCT end)` of one merged frontier, as column `name`."""

    ends: Reach
    row_by_row: Operator  # the fallback, which looks at every end
    name: str

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """One row."""
        if ROW in argument:
            yield from self.row_by_row.run(context, argument)
            return
        count = len(self.ends.merged_ends(context, argument))
        yield Batch({self.name: Integers(np.array([count], np.int64))}, 1)
