"""DISTINCT on a property of nodes that come once each: nothing to do where no two nodes have the same value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.operators.base import Operator, argument_rows, node_positions


@dataclass(slots=True, eq=False)
class DistinctEnds:
    """Property `key` of the ends of one merged frontier as column `name`, each value once."""

    ends: Operator
    apart: Operator  # does the same by looking at every value
    node: str
    name: str
    key: str

    def run(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """All values as they are, where those of the key tell nodes apart; of the nodes without a value, the first."""
        graph = context.graph
        if context.writer is not None or argument_rows(argument) is not None or not graph.has_distinct_values(self.key):
            yield from self.apart.run(context, argument)
            return
        has_null = False
        for batch in self.ends.run(context, argument):
            column = graph.node_property(node_positions(batch, self.node), self.key)
            if getattr(column, "nulls", self) is not None:
                nulls = np.flatnonzero(column.null_mask())
                kept = np.ones(len(column), np.bool_)
                kept[nulls if has_null else nulls[1:]] = False
                has_null = has_null or len(nulls) > 0
                column = column.take(np.flatnonzero(kept))
            if len(column):
                yield Batch({self.name: column}, len(column))
