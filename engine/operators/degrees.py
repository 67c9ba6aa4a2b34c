"""Count trails from a node without taking their last step.

A trail of k - 1 relationships that ends in v can be continued by each relationship at v that it has not taken: the
degree of v, less those of its own relationships that are steps from v. Relationships that the same MATCH has bound
elsewhere are subtracted likewise.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hoplite.engine import hops
from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.hops import Excluded, Hop
from hoplite.engine.operators.base import LARGEST_BATCH, Operator, node_positions, relationship_positions
from hoplite.engine.operators.expand import make_hop, used_columns
from hoplite.grammar.ast import Direction
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.parts import Traversal
from hoplite.values.columns import Bools, Int64s, Integers


@dataclass(slots=True, eq=False)
class CountSteps(Operator):
    """The number of trails from a bound node, as a column; rows without any are dropped."""

    source: Operator
    from_node: str
    name: str
    traversal: Traversal
    labels: tuple[str, ...]  # required of the node they end in
    distinct_from: tuple[str, ...]  # columns of relationships they may not use
    keep: frozenset[str] | None

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The rows that have at least one trail."""
        hop: Hop | None = None
        for batch in self.source.run(context, argument):
            context.check_time()
            hop = hop or make_hop(context, self.traversal)
            nodes = node_positions(batch, self.from_node)
            used = [relationship_positions(batch, name) for name in self.distinct_from]
            counts = self._counts(context, hop, nodes, used)
            kept = np.flatnonzero(counts)
            if len(kept):
                rows = used_columns(batch, self.keep).take(kept)
                yield rows.with_columns({self.name: Integers(counts[kept])})

    def _counts(self, context: Execution, hop: Hop, nodes: Int64s, used: list[Int64s]) -> Int64s:
        lower, upper = self.traversal.lower, self.traversal.upper
        assert upper is not None, "trails without a limit are not counted by degrees"
        if upper == 1:
            counts = self._steps(context, hop, nodes) if lower <= 1 else np.zeros(len(nodes), np.int64)
            for relationships in used:
                counts = counts - self._are_steps(context, nodes, relationships)
        else:
            counts = np.zeros(len(nodes), np.int64)
            excluded = Excluded.of_columns(*used) if used else None
            shorter = hops.trails(
                hop,
                nodes,
                max(lower, 1) - 1,
                upper - 1,
                excluded=excluded,
                chunk=LARGEST_BATCH,
                check=context.check_time,
                backend=context.backend,
            )
            for trails in shorter:
                np.add.at(counts, trails.row, self._continued(context, hop, nodes, used, trails))
        if lower == 0:
            counts = counts + ((nodes >= 0) & self._have_labels(context, nodes))
        return counts

    def _continued(
        self, context: Execution, hop: Hop, nodes: Int64s, used: list[Int64s], trails: hops.TrailBatch
    ) -> Int64s:
        """The number of relationships by which each trail can be continued."""
        row, offsets, relationships, after = trails
        ends = nodes[row]
        some = np.flatnonzero(offsets[1:] > offsets[:-1])
        ends[some] = after[offsets[1:][some] - 1]
        counts = self._steps(context, hop, ends)
        trail = np.repeat(np.arange(len(row), dtype=np.int64), np.diff(offsets))
        again = self._are_steps(context, ends[trail], relationships)
        counts = counts - np.bincount(trail[again], minlength=len(row))
        for taken in used:
            counts = counts - self._are_steps(context, ends, taken[row])
        return counts

    def _steps(self, context: Execution, hop: Hop, nodes: Int64s) -> Int64s:
        """The number of relationships from each node to one with the labels."""
        if labels_are_certain(context, self.traversal, self.labels):
            return hops.degrees(hop, nodes, check=context.check_time, backend=context.backend)
        different, place = np.unique(nodes, return_inverse=True)
        counts = np.zeros(len(different), np.int64)
        for steps in hops.expand_chunks(hop, different, LARGEST_BATCH, relationships=False, backend=context.backend):
            context.check_time()
            kept = self._have_labels(context, steps.neighbours)
            counts += np.bincount(steps.row[kept], minlength=len(different))
        return counts[place]

    def _are_steps(self, context: Execution, nodes: Int64s, relationships: Int64s) -> Bools:
        """Whether each relationship is a possible step from its node."""
        starts, ends = context.graph.endpoints(relationships)
        forwards, backwards = starts == nodes, ends == nodes
        possible: Bools = (relationships >= 0) & (nodes >= 0)
        direction = self.traversal.direction
        match direction:
            case Direction.OUTGOING:
                possible &= forwards
            case Direction.INCOMING:
                possible &= backwards
            case Direction.BOTH:
                possible &= forwards | backwards
        codes = hops.type_codes(context.graph, self.traversal.types)
        if codes is not None:
            possible &= np.isin(context.graph.relationship_types(relationships), codes)
        if self.labels:
            outgoing = (
                forwards
                if self.traversal.direction is Direction.BOTH
                else self.traversal.direction is Direction.OUTGOING
            )
            possible &= self._have_labels(context, np.where(outgoing, ends, starts))
        return possible

    def _have_labels(self, context: Execution, nodes: Int64s) -> Bools:
        having: Bools = np.ones(len(nodes), np.bool_)
        for label in self.labels:
            having &= context.graph.has_label(nodes, label)
        return having


def labels_are_certain(context: Execution, traversal: Traversal, labels: tuple[str, ...]) -> bool:
    """Whether every step is known to lead to a node with the labels."""
    types, direction = traversal.types, traversal.direction
    sides = (True, False) if direction is Direction.BOTH else (direction is Direction.OUTGOING,)
    return all(
        context.graph.always_leads_to(type_name, label, outgoing)
        for type_name in ((None,) if types is None else types)
        for label in labels
        for outgoing in sides
    )
