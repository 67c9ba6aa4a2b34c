"""The order in which to follow the connections of a pattern: the cheapest of all if they are few.

Rows are estimated from exact counts of (label, type, label). A set of connections is expected to have

    product of the nodes' sizes * product of count(connection) / (size of its start * size of its end)

rows, in whatever order they are followed, and more where two of them are alike and begin at the same node: those with
many relationships are in more of these pairs than those with few. So the best order for a set is the best order for the
set without its last connection, followed by that connection; connected sets are few. The cost of an order is the rows
it makes on the way, including those that a label drops again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hoplite.grammar import ast
from hoplite.planner.cost import Estimates
from hoplite.planner.patterns import One

FEWEST, MOST = 3, 16  # connections; below, the greedy choice is the best one, and above, it has to do
_SKEW = 2.0  # times as many pairs of relationships have a node in common as if all nodes had the same degree
_WIDEST = 20  # sets of one size that are extended, cheapest first: all of them in a small pattern


class Node(NamedTuple):
    """What is known about a node of the pattern before anything is matched.

    `size`: nodes with its labels. `share`: the fraction of them that its predicates let through. `found`: how many a
    scan or seek returns, and `looked_at` the cost of finding them; both are zero for a node that is `bound`.
    """

    labels: tuple[str, ...]
    size: float
    share: float
    found: float
    looked_at: float
    bound: bool


class Order(NamedTuple):
    """Where to begin (None: with what is bound), and the order in which to follow the connections."""

    start: str | None
    connections: tuple[One, ...]


class _Best(NamedTuple):
    cost: float
    order: Order


@dataclass(slots=True)
class OrderSearch:
    """Finds the cheapest order for connected connections."""

    nodes: Mapping[str, Node]
    connections: Sequence[One]
    pairs: Sequence[tuple[frozenset[str], float]]  # nodes that a predicate compares, and the fraction of rows it keeps
    rows: float  # rows that bind these nodes already
    estimates: Estimates
    _row_counts: dict[int, float] = field(default_factory=dict)
    _shares: dict[int, float] = field(default_factory=dict)  # by connection: the chance that two end nodes have it
    _twins: list[int] | None = None

    def best(self) -> Order | None:
        """The cheapest order; None if the connections are not connected with each other."""
        level = dict(self._first_steps())
        for _ in range(len(self.connections) - 1):
            following: dict[int, _Best] = {}
            for followed, so_far in level.items():
                for number, connection, reached in self._next_steps(followed):
                    cost = so_far.cost + self._cost(followed, number, reached)
                    known = following.get(followed | 1 << number)
                    if known is None or cost < known.cost:
                        start, connections = so_far.order
                        following[followed | 1 << number] = _Best(cost, Order(start, (*connections, connection)))
            level = dict(sorted(following.items(), key=lambda item: item[1].cost)[:_WIDEST])
        best = level.get((1 << len(self.connections)) - 1)
        return None if best is None else best.order

    def _first_steps(self) -> Iterator[tuple[int, _Best]]:
        """The first connections, each from its better end."""
        bound = frozenset(name for name, node in self.nodes.items() if node.bound)
        for number, connection in enumerate(self.connections):
            ways: list[_Best] = []
            for start in (connection.start, connection.end):
                node = self.nodes[start]
                if bound and not node.bound:
                    continue
                found = self.rows * (1.0 if node.bound else node.found)
                reached = bound | {start}
                rows = max(found * self._degree(connection, reached), self._rows(1 << number))
                cost = self.rows * node.looked_at + found + rows
                ways.append(_Best(cost, Order(None if node.bound else start, (connection,))))
            if ways:
                yield 1 << number, min(ways, key=lambda way: way.cost)

    def _next_steps(self, followed: int) -> Iterator[tuple[int, One, frozenset[str]]]:
        """The connections that continue from those followed, and the nodes bound before each."""
        reached = self._reached(followed)
        for number, connection in enumerate(self.connections):
            if not followed >> number & 1 and (connection.start in reached or connection.end in reached):
                yield number, connection, reached

    def _reached(self, followed: int) -> frozenset[str]:
        ends = (end for number, c in enumerate(self.connections) if followed >> number & 1 for end in (c.start, c.end))
        return frozenset(ends) | {name for name, node in self.nodes.items() if node.bound}

    def _cost(self, followed: int, number: int, reached: frozenset[str]) -> float:
        """The rows that following one more connection makes."""
        connection, before = self.connections[number], self._rows(followed)
        after = self._rows(followed | 1 << number)
        if connection.start in reached and connection.end in reached:
            return before + after
        return max(before * self._degree(connection, reached), after)

    def _degree(self, connection: One, reached: frozenset[str]) -> float:
        forward = connection.start in reached
        name = connection.start if forward else connection.end
        traversal = connection.traversal if forward else connection.traversal.reversed
        return self.estimates.degree(self.nodes[name].labels, traversal)

    def _rows(self, followed: int) -> float:
        """How many rows a set of connections has."""
        known = self._row_counts.get(followed)
        if known is None:
            known = self._row_counts[followed] = self._expected_rows(followed)
        return known

    def _expected_rows(self, followed: int) -> float:
        rows, reached = self.rows, self._reached(followed)
        for name in reached:
            node = self.nodes[name]
            rows *= 1.0 if node.bound else node.size * node.share
        for number, connection in enumerate(self.connections):
            if followed >> number & 1:
                share = self._shares.get(number)
                if share is None:
                    start, end = self.nodes[connection.start], self.nodes[connection.end]
                    share = self._shares[number] = self._count(connection) / (start.size * end.size)
                rows *= share
        for names, share in self.pairs:
            if names <= reached:
                rows *= share
        for twins in self._all_twins():
            rows *= _SKEW ** max((followed & twins).bit_count() - 1, 0)
        return rows

    def _all_twins(self) -> list[int]:
        """Sets of connections of the same kind from the same node, which usually has more than one of them."""
        if self._twins is None:
            kinds: dict[tuple[object, ...], int] = {}
            for number, connection in enumerate(self.connections):
                for name, traversal in (
                    (connection.start, connection.traversal),
                    (connection.end, connection.traversal.reversed),
                ):
                    if self.estimates.degree(self.nodes[name].labels, traversal) > 1:
                        kind = name, traversal.types, traversal.direction
                        kinds[kind] = kinds.get(kind, 0) | 1 << number
            self._twins = [twins for twins in kinds.values() if twins.bit_count() > 1]
        return self._twins

    def _count(self, connection: One) -> float:
        """How many relationships there are between nodes with the labels of both ends."""
        start, end = self.nodes[connection.start].labels, self.nodes[connection.end].labels
        counts = []
        for left in start or (None,):
            for right in end or (None,):
                counts.append(self._between(left, connection, right))
        return float(max(0.5, min(counts)))

    def _between(self, left: str | None, connection: One, right: str | None) -> int:
        total = 0
        for name in connection.traversal.types or (None,):
            if connection.traversal.direction is not ast.Direction.INCOMING:
                total += self.estimates.catalogue.pattern_count(left, name, right)
            if connection.traversal.direction is not ast.Direction.OUTGOING:
                total += self.estimates.catalogue.pattern_count(right, name, left)
        return total
