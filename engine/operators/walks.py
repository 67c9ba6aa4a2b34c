"""The number of walks along a chain of hops to each end; the cost is the number of relationships followed.

With w_k(v) walks to node v of level k, w_{k+1}(u) is the sum of w_k(v) over v -> u. Each level has every node once,
however many rows or walks reach it. Sums are exact: they fit 64 bits or raise an error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hoplite.engine import hops
from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.hops import Hop, Steps
from hoplite.engine.hops.exact_sums import LARGEST, Sums, total
from hoplite.engine.hops.scratch import borrowed
from hoplite.engine.operators.base import LARGEST_BATCH, Operator, argument_rows, node_positions
from hoplite.engine.operators.chains import ChainHop
from hoplite.engine.operators.expand import make_hop
from hoplite.errors import arithmetic_error
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.logical import ROW
from hoplite.values.columns import Column, Int64s, Integers, Nodes

PIECE = 1 << 19  # relationships followed at once


@dataclass(slots=True, eq=False)
class CountWalks(Operator):
    """The number of walks to each distinct end, as a column."""

    source: Operator
    from_node: str
    hops: tuple[ChainHop, ...]
    to_node: str
    name: str

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The ends that a walk leads to."""
        so_far = 0
        for batch, ways in self._to_ends(context, argument):
            # They may all be summed above, where a sum that does not fit would no longer be an integer.
            so_far += total(ways)
            if so_far >= LARGEST:
                raise arithmetic_error("long overflow")
            yield batch.with_columns({self.name: Integers(ways)})

    def _next_level(self, context: Execution, hop: Hop, step: ChainHop, nodes: Int64s) -> tuple[Int64s, Int64s]:
        """The distinct nodes one hop further, and the indexes of those that the chain may pass through."""
        found = hops.neighbours_of_all(hop, nodes, check=context.check_time, backend=context.backend)
        reached = found.astype(np.int64, copy=False)
        if not step.predicates:
            return reached, np.arange(len(reached))
        return reached, np.flatnonzero(step.allowed(context, reached))

    def _steps(self, context: Execution, hop: Hop, nodes: Int64s) -> Iterator[Steps]:
        for steps in hops.expand_chunks(hop, nodes, PIECE, relationships=False, backend=context.backend):
            context.check_time()
            yield steps

    def _to_ends(self, context: Execution, argument: Batch) -> Iterator[tuple[Batch, Int64s]]:
        """The ends and the number of walks to them, separately for each row of the argument."""
        starts, rows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for batch in self.source.run(context, argument):
            starts.append(node_positions(batch, self.from_node))
            of_batch = argument_rows(batch)
            rows.append(np.zeros(batch.row_count, np.int64) if of_batch is None else of_batch)
        nodes, groups = np.concatenate(starts), np.concatenate(rows)
        nodes, groups = nodes[nodes >= 0], groups[nodes >= 0]
        if not len(nodes):
            return
        if int(groups.min()) == int(groups.max()):
            nodes, ways = self._ways_to(context, *np.unique(nodes, return_counts=True))
            groups = np.full(len(nodes), groups[0], np.int64)
        else:
            groups, nodes, ways = self._ways_by_group(context, groups, nodes)
        has_rows = argument_rows(argument) is not None
        for first in range(0, len(nodes), LARGEST_BATCH):
            piece = slice(first, first + LARGEST_BATCH)
            columns: dict[str, Column] = {self.to_node: Nodes(nodes[piece])}
            if has_rows:
                columns[ROW] = Integers(groups[piece])
            yield Batch(columns, len(nodes[piece])), ways[piece]

    def _ways_to(self, context: Execution, nodes: Int64s, ways: Int64s) -> tuple[Int64s, Int64s]:
        """The ends of the chains from some distinct nodes, and the number of walks to them; `ways` walks lead to each
        node."""
        for step in self.hops:
            hop = make_hop(context, step.traversal)
            reached, allowed = self._next_level(context, hop, step, nodes)
            sums = Sums(len(reached))
            with borrowed(hop.node_count) as scratch:
                scratch.owner[reached] = np.arange(len(reached))
                for steps in self._steps(context, hop, nodes):
                    sums.add(scratch.owner[steps.neighbours], ways[steps.row])
            nodes, ways = reached[allowed], sums.totals()[allowed]
        return nodes, ways

    def _ways_by_group(self, context: Execution, groups: Int64s, nodes: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """The same for nodes in groups: the groups of ends, the ends, and the walks. A group and a node form one
        key."""
        count = make_hop(context, self.hops[0].traversal).node_count
        keys, ways = _summed(groups * count + nodes, np.ones(len(nodes), np.int64))
        for step in self.hops:
            hop = make_hop(context, step.traversal)
            groups, nodes = keys // count, keys % count
            pieces = [
                _summed(groups[steps.row] * count + steps.neighbours, ways[steps.row])
                for steps in self._steps(context, hop, nodes)
            ]
            keys = np.concatenate([keys[:0], *(piece[0] for piece in pieces)])
            keys, ways = _summed(keys, np.concatenate([ways[:0], *(piece[1] for piece in pieces)]))
            if step.predicates:
                reached, place = np.unique(keys % count, return_inverse=True)
                allowed = step.allowed(context, reached)[place.reshape(-1)]
                keys, ways = keys[allowed], ways[allowed]
        return keys // count, keys % count, ways


def _summed(keys: Int64s, values: Int64s) -> tuple[Int64s, Int64s]:
    """The distinct keys, and the sum of the values of each."""
    different, place = np.unique(keys, return_inverse=True)
    sums = Sums(len(different))
    sums.add(place.reshape(-1), values)
    return different, sums.totals()
