"""The number of ways to follow trees of relationships from the nodes of a row, without making them.

For a branch B from v, with A its hop and B1, B2 ... the branches of the node it leads to:

    ways(B, v) = sum over v -> u of ways(B1, u) * ways(B2, u) * ...

Each level has every node once, however many rows or ways reach it. Sums and products are exact: they fit 64 bits or
raise an error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hoplite.engine import hops
from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.hops.exact_sums import LARGEST, Sums, product, total
from hoplite.engine.hops.scratch import borrowed
from hoplite.engine.memory import has_room
from hoplite.engine.operators.base import Operator, node_positions
from hoplite.engine.operators.chains import ChainHop
from hoplite.engine.operators.degrees import labels_are_certain
from hoplite.engine.operators.expand import make_hop, used_columns
from hoplite.engine.operators.walks import PIECE
from hoplite.errors import arithmetic_error
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.parts import Presence
from hoplite.values.columns import Column, Int64s, Integers

_FEW_NODES = 256  # up to this many nodes, only their own entries are read
_QUICKER = 16  # times cheaper per entry, if all are read in order
_NODE_BYTES = 32  # weights, sums and intermediate results, while ways from all nodes are counted


@dataclass(slots=True, eq=False)
class Branch:
    """A hop, conditions on the node it leads to, and the branches that continue from there."""

    from_node: str
    hop: ChainHop
    labels: tuple[str, ...]
    branches: tuple[Branch, ...]
    optional: bool


@dataclass(slots=True, eq=False)
class CountBranches(Operator):
    """The number of ways for each row, as a column."""

    source: Operator
    branches: tuple[Branch, ...]
    name: str
    present: tuple[Presence, ...]
    keep: frozenset[str] | None

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The rows that have at least one way."""
        so_far = 0
        counting = Ways(context)
        present = {column.name: Ways(context, frozenset(column.needed)) for column in self.present}
        for batch in self.source.run(context, argument):
            context.check_time()
            rows = np.arange(batch.row_count, dtype=np.int64)
            ways = np.ones(batch.row_count, np.int64)
            for branch in self.branches:
                found = counting.from_rows(branch, node_positions(batch, branch.from_node)[rows])
                rows, ways = rows[found > 0], product(ways[found > 0], found[found > 0])
            if len(rows):
                # They may all be summed above, where a sum that does not fit would no longer be an integer.
                so_far += total(ways)
                if so_far >= LARGEST:
                    raise arithmetic_error("long overflow")
                columns: dict[str, Column] = {self.name: Integers(ways)}
                columns |= {name: Integers(self._ways(batch, rows, those)) for name, those in present.items()}
                yield used_columns(batch, self.keep).take(rows).with_columns(columns)

    def _ways(self, batch: Batch, rows: Int64s, counting: Ways) -> Int64s:
        """The number of ways from each of some rows, which may be none."""
        ways = np.ones(len(rows), np.int64)
        for branch in self.branches:
            ways = product(ways, counting.from_rows(branch, node_positions(batch, branch.from_node)[rows]))
        return ways


class Ways:
    """Counts ways for one run; optional branches to the nodes `needed` have to be there. If the given nodes have a good
    part of all entries of a hop, its ways are counted for all nodes of the graph at once, and once per run."""

    def __init__(self, context: Execution, needed: frozenset[str] = frozenset()) -> None:
        self._context = context
        self._needed = needed
        self._for_all: dict[int, Int64s | None] = {}  # by the identity of branches; None: not possible

    def from_rows(self, branch: Branch, nodes: Int64s) -> Int64s:
        """The number of ways along a branch from each of some nodes, which may repeat or be null."""
        different, place = np.unique(nodes, return_inverse=True)
        ways = np.zeros(len(different), np.int64)
        there = different >= 0
        ways[there] = self.along(branch, different[there])
        if self.is_optional(branch):
            ways = np.maximum(ways, 1)
        return ways[place.reshape(-1)]

    def is_optional(self, branch: Branch) -> bool:
        """Whether a branch that leads nowhere counts as one way."""
        return branch.optional and branch.hop.node not in self._needed

    def along(self, branch: Branch, nodes: Int64s) -> Int64s:
        """The number of ways along a branch from each of some distinct nodes."""
        if id(branch) not in self._for_all and self._is_wide(branch, nodes):
            self._for_all[id(branch)] = self._along_from_all(branch)
        for_all = self._for_all.get(id(branch))
        return self._along_from(branch, nodes) if for_all is None else for_all[nodes]

    def _labels(self, branch: Branch) -> tuple[str, ...]:
        """The labels that have to be checked."""
        certain = labels_are_certain(self._context, branch.hop.traversal, branch.labels)
        return () if certain else branch.labels

    def _is_wide(self, branch: Branch, nodes: Int64s) -> bool:
        """Whether reading the entries of just these nodes takes longer than reading all, which is much faster per
        entry."""
        if len(nodes) < _FEW_NODES:
            return False
        hop = make_hop(self._context, branch.hop.traversal, both_adjacencies=True)
        return hops.is_wide(hop, nodes, _QUICKER)

    def _along_from_all(self, branch: Branch) -> Int64s | None:
        """The number of ways along a branch from every node of the graph; None if predicates would be evaluated on
        nodes in no match, if numbers do not fit, or if there is no fast path."""
        context = self._context
        hop = make_hop(context, branch.hop.traversal, both_adjacencies=True)
        if branch.hop.predicates or not has_room(_NODE_BYTES * hop.node_count):
            return None
        onwards: Int64s | None = None
        for below in branch.branches:
            ways = self._along_from_all(below)
            if ways is None:
                return None
            if self.is_optional(below):
                np.maximum(ways, 1, out=ways)
            if onwards is not None:
                if int(onwards.max(initial=0)) * int(ways.max(initial=0)) >= LARGEST:
                    return None
                ways *= onwards
            onwards = ways
        for label in self._labels(branch):
            having = context.graph.has_label(np.arange(hop.node_count), label)
            onwards = having.astype(np.int64) if onwards is None else onwards * having
        return hops.sums_for_all(hop, onwards, check=context.check_time, backend=context.backend)

    def _along_from(self, branch: Branch, nodes: Int64s) -> Int64s:
        context, step = self._context, branch.hop
        hop, labels = make_hop(context, step.traversal), self._labels(branch)
        if not labels and not step.predicates and not branch.branches:
            return hops.degrees(hop, nodes, check=context.check_time, backend=context.backend)
        found = hops.neighbours_of_all(hop, nodes, check=context.check_time, backend=context.backend)
        every = reached = found.astype(np.int64, copy=False)
        for label in labels:
            reached = reached[context.graph.has_label(reached, label)]
        if step.predicates:
            reached = reached[step.allowed(context, reached)]
        onwards = np.ones(len(reached), np.int64)
        for below in branch.branches:
            ways, is_optional = self.along(below, reached), self.is_optional(below)
            onwards = product(onwards, np.maximum(ways, 1) if is_optional else ways)
            if not is_optional:
                reached, onwards = reached[ways > 0], onwards[ways > 0]
        sums = Sums(len(nodes))
        with borrowed(hop.node_count) as scratch:
            scratch.owner[every] = 0
            scratch.owner[reached] = onwards
            for steps in hops.expand_chunks(hop, nodes, PIECE, relationships=False, backend=context.backend):
                context.check_time()
                sums.add(steps.row, scratch.owner[steps.neighbours])
        return sums.totals()
