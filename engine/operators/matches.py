"""The number of matches of a pattern from the nodes of a row, without making them: steps become a pattern of hops, and
branches that hang from a single node become its weight.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from hoplite.engine import hops
from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.hops.exact_sums import LARGEST, product, total
from hoplite.engine.hops.pattern import Compare, Differ, EndCounts, Follow, Look, MatchStep, Pattern
from hoplite.engine.operators.base import LARGEST_BATCH, Operator, node_positions, relationship_positions
from hoplite.engine.operators.branches import Branch, Ways
from hoplite.engine.operators.chains import ChainHop
from hoplite.engine.operators.degrees import labels_are_certain
from hoplite.engine.operators.expand import make_hop, used_columns
from hoplite.errors import arithmetic_error
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.parts import MatchCheck, Traversal
from hoplite.values.columns import Bools, Column, Int64s, Integers, Nodes

_LONG_WAY = 3  # hops to few nodes, from which nodes that do not lead there are left out
_FEW_NODES = 64  # if no more than these are on the way, it does not pay


@dataclass(slots=True, eq=False)
class MatchHop:
    """A relationship from a bound node to a new one, or `into` a bound one."""

    from_node: str
    relationship: str
    hop: ChainHop
    into: bool
    labels: tuple[str, ...]
    distinct_from: tuple[str, ...]
    to_few: bool

    @property
    def to_node(self) -> str:
        return self.hop.node


@dataclass(slots=True, eq=False)
class CountMatches(Operator):
    """The number of matches for each row, or for each row and node at the `end`, as a column."""

    source: Operator
    steps: tuple[MatchHop | MatchCheck, ...]
    branches: tuple[Branch, ...]
    name: str
    end: str | None
    keep: frozenset[str] | None

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The rows that have a match."""
        counter: _Counter | None = None
        so_far = 0
        for batch in self.source.run(context, argument):
            context.check_time()
            counter = counter or _Counter(context, self.steps, self.branches, self.end)
            for found in counter.counts(batch):
                # They may all be summed above, where a sum that does not fit would no longer be an integer.
                so_far += total(found.counts)
                if so_far >= LARGEST:
                    raise arithmetic_error("long overflow")
                columns: dict[str, Column] = {self.name: Integers(found.counts)}
                if self.end is not None:
                    columns[self.end] = Nodes(found.ends)
                yield used_columns(batch, self.keep).take(found.rows).with_columns(columns)


class _Counter:
    """Counts matches during one run, batch by batch."""

    def __init__(
        self,
        context: Execution,
        steps: tuple[MatchHop | MatchCheck, ...],
        branches: tuple[Branch, ...],
        end: str | None,
    ) -> None:
        self._context = context
        self._registers: dict[str, int] = {}
        self._relationships: set[str] = set()  # relationships that are compared with others
        for step in steps:
            if isinstance(step, MatchHop) and step.distinct_from:
                self._relationships |= {step.relationship, *step.distinct_from}
        self._ways = Ways(context)
        self._weighing = _Weighing(context, self._ways, steps, branches)
        made = [made for step in steps for made in self._written(step)]
        self._given_nodes = self._weighing.given | {
            name for name in self._registers if name not in self._weighing.made | self._relationships
        }
        bound = {step.relationship for step in steps if isinstance(step, MatchHop)}
        self._given_relationships = self._relationships - bound
        self._before = [branch for branch in branches if branch.from_node not in self._weighing.made]
        weighted = {self._registers[name]: number for name, number in self._weighing.numbers.items()}
        matched = -1 if end is None else self._registers[end]
        self._pattern = Pattern(tuple(made), len(self._registers), weighted, self._weighing.weights, matched)

    def counts(self, batch: Batch) -> Iterator[EndCounts]:
        """The rows of a batch that have a match, with their ends if there are any, and how many."""
        context = self._context
        rows, ways = np.arange(batch.row_count, dtype=np.int64), np.ones(batch.row_count, np.int64)
        for branch in self._before:
            found = self._ways.from_rows(branch, node_positions(batch, branch.from_node)[rows])
            rows, ways = rows[found > 0], product(ways[found > 0], found[found > 0])
        if not len(rows):
            return
        nodes = {name: node_positions(batch, name)[rows] for name in self._given_nodes}
        self._weighing.weigh(nodes)
        given = {self._registers[name]: values for name, values in nodes.items() if name in self._registers}
        for name in self._given_relationships:
            given[self._registers[name]] = relationship_positions(batch, name)[rows]
        check, backend, pattern = context.check_time, context.backend, self._pattern
        if pattern.end >= 0:
            for pairs in hops.count_matches_by_end(pattern, given, len(rows), check=check, backend=backend):
                for first in range(0, len(pairs.rows), LARGEST_BATCH):
                    piece = slice(first, first + LARGEST_BATCH)
                    row = pairs.rows[piece]
                    yield EndCounts(rows[row], pairs.ends[piece], product(ways[row], pairs.counts[piece]))
            return
        counts = hops.count_matches(pattern, given, len(rows), check=check, backend=backend)
        kept = np.flatnonzero(counts > 0)
        if len(kept):
            yield EndCounts(rows[kept], kept[:0], product(ways[kept], counts[kept]))

    def _register(self, name: str) -> int:
        return self._registers.setdefault(name, len(self._registers))

    def _written(self, step: MatchHop | MatchCheck) -> Iterator[MatchStep]:
        """A step over registers."""
        match step:
            case MatchHop(from_node=from_node, hop=hop, into=into):
                relationship = self._register(step.relationship) if step.relationship in self._relationships else -1
                follows = make_hop(self._context, hop.traversal, both_adjacencies=True)
                yield Follow(follows, self._register(from_node), self._register(step.to_node), relationship, into)
                for other in step.distinct_from:
                    yield Differ(relationship, self._register(other))
            case MatchCheck(kind=kind, left=left, right=right, traversal=Traversal() as traversal):
                between = make_hop(self._context, traversal, both_adjacencies=True)
                yield Look(between, self._register(left), self._register(right), kind == "there")
            case MatchCheck(kind=kind, left=left, right=right):
                yield Compare(self._register(left), self._register(right), kind == "=")


class _Weighing:
    """The weights of nodes: the number of ways to continue from a node along the branches of its variable, 0 if labels
    or predicates do not allow it. Each node is weighed once, when a batch first reaches it.
    """

    def __init__(
        self, context: Execution, ways: Ways, steps: tuple[MatchHop | MatchCheck, ...], branches: tuple[Branch, ...]
    ) -> None:
        self._context = context
        self._ways = ways
        self._hops = {step.to_node: step for step in steps if isinstance(step, MatchHop) and not step.into}
        self._branches: dict[str, list[Branch]] = {}
        for branch in branches:
            self._branches.setdefault(branch.from_node, []).append(branch)
        self.made = set(self._hops)
        self.numbers: dict[str, int] = {}  # rows of weights, by variable
        for name, step in self._hops.items():
            if name in self._branches or step.hop.predicates or self._labels(step):
                self._number(name)
        self._few = [name for name, step in self._hops.items() if step.to_few and len(self._way(name)) >= _LONG_WAY]
        for name in self._few:
            for before in self._way(name):
                self._number(before)
        self.given = {self._start(name) for name in self.numbers}
        node_count = 0
        if self.numbers:
            step = next(iter(self._hops.values()))
            node_count = make_hop(context, step.hop.traversal, both_adjacencies=True).node_count
        self.weights = np.zeros((len(self.numbers), node_count), np.int64)
        self._known = np.zeros((len(self.numbers), node_count), np.bool_)

    def weigh(self, given: dict[str, Int64s]) -> None:
        """Weigh whatever can be reached from the nodes of a batch."""
        reached = {name: np.unique(nodes[nodes >= 0]) for name, nodes in given.items() if name in self.given}
        for name in self.numbers:
            self._reach(name, reached)
        for name in self._few:
            self._leave_out(name, reached)

    def _number(self, name: str) -> None:
        self.numbers.setdefault(name, len(self.numbers))

    def _way(self, name: str) -> list[str]:
        """The variables on the way to one, from its end on."""
        way = []
        while name in self._hops:
            way.append(name)
            name = self._hops[name].from_node
        return way

    def _leave_out(self, name: str, reached: dict[str, Int64s]) -> None:
        """A node that leads to none of the few nodes of a variable has no weight."""
        way = self._way(name)
        if max(len(reached[before]) for before in way[1:]) <= _FEW_NODES:
            return
        for node, before in itertools.pairwise(way):
            traversal = self._hops[node].hop.traversal
            hop = make_hop(self._context, traversal, both_adjacencies=True).turned()
            check, backend = self._context.check_time, self._context.backend
            leading = hops.neighbours_of_all(hop, reached[node], check=check, backend=backend)
            is_left = ~np.isin(reached[before], leading, assume_unique=True)
            self.weights[self.numbers[before], reached[before][is_left]] = 0
            reached[before] = reached[before][~is_left]

    def _start(self, name: str) -> str:
        while name in self._hops:
            name = self._hops[name].from_node
        return name

    def _labels(self, step: MatchHop) -> tuple[str, ...]:
        """The labels that have to be checked."""
        certain = labels_are_certain(self._context, step.hop.traversal, step.labels)
        return () if certain else step.labels

    def _reach(self, name: str, reached: dict[str, Int64s]) -> None:
        """Add the nodes that a variable may be bound to, and those of variables on the way, to `reached`."""
        way = []
        while name not in reached:
            way.append(name)
            name = self._hops[name].from_node
        for node in reversed(way):
            step = self._hops[node]
            hop = make_hop(self._context, step.hop.traversal, both_adjacencies=True)
            check, backend = self._context.check_time, self._context.backend
            found = hops.neighbours_of_all(hop, reached[step.from_node], check=check, backend=backend)
            nodes = found.astype(np.int64, copy=False)
            number = self.numbers.get(node)
            if number is not None:
                known = self._known[number]
                new = nodes[~known[nodes]]
                known[new] = True
                kept, ways = self._weighed(node, step, new)
                self.weights[number, kept] = ways
                nodes = nodes[self.weights[number, nodes] > 0]
            reached[node] = nodes

    def _weighed(self, name: str, step: MatchHop, nodes: Int64s) -> tuple[Int64s, Int64s]:
        """The allowed nodes among some distinct ones, and their weights."""
        for label in self._labels(step):
            having: Bools = self._context.graph.has_label(nodes, label)
            nodes = nodes[having]
        if step.hop.predicates:
            nodes = nodes[step.hop.allowed(self._context, nodes)]
        ways = np.ones(len(nodes), np.int64)
        for branch in self._branches.get(name, ()):
            found = self._ways.along(branch, nodes)
            if self._ways.is_optional(branch):
                found = np.maximum(found, 1)
            nodes, ways = nodes[found > 0], product(ways[found > 0], found[found > 0])
        return nodes, ways
