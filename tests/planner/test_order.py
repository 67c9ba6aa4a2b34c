"""The order that is searched for is as cheap as the cheapest of all orders, which are few in small patterns."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import hoplite
from hoplite.grammar.ast import Direction
from hoplite.planner.cost import Estimates
from hoplite.planner.order import Node, OrderSearch
from hoplite.planner.parts import Traversal
from hoplite.planner.patterns import One


class _Counts:
    """Counts of labels and types that differ much."""

    node_count, relationship_count = 500, 3000

    def label_count(self, label: str) -> int:
        return {"A": 40, "B": 300}[label]

    def pattern_count(self, start: str | None, type: str | None, end: str | None) -> int:
        sizes = {None: 7, "A": 1, "B": 3, "R": 2, "S": 11}
        return sizes[start] * sizes[type] * sizes[end]


ESTIMATES = Estimates(_Counts())  # type: ignore[arg-type]


@st.composite
def searches(draw: DrawFn) -> OrderSearch:
    names = [f"n{number}" for number in range(draw(st.integers(2, 5)))]
    size = st.sampled_from((1.0, 3.0, 40.0, 120.0))
    nodes = {}
    for name in names:
        labels = draw(st.sampled_from(((), ("A",), ("B",))))
        share, bound = draw(st.sampled_from((1.0, 0.3, 0.01))), draw(st.booleans()) and name == "n0"
        nodes[name] = Node(labels, draw(size), share, draw(size), draw(size), bound)
    connections = [
        One(
            f"r{number}",
            draw(st.sampled_from(names[: number + 1])),
            draw(st.sampled_from(names)),
            Traversal(draw(st.sampled_from((None, ("R",), ("R", "S")))), draw(st.sampled_from(Direction))),
        )
        for number in range(draw(st.integers(3, 4)))
    ]
    return OrderSearch(nodes, connections, [(frozenset(names[:2]), 0.1)], 2.0, ESTIMATES)


def _cost(search: OrderSearch, connections: tuple[One, ...]) -> float | None:
    """What an order costs; None where a connection does not go on from those before it."""
    numbers = [search.connections.index(connection) for connection in connections]
    first = dict(search._first_steps()).get(1 << numbers[0])
    if first is None:
        return None
    cost, followed = first.cost, 1 << numbers[0]
    for number in numbers[1:]:
        steps = {step: reached for step, _, reached in search._next_steps(followed)}
        if number not in steps:
            return None
        cost += search._cost(followed, number, steps[number])
        followed |= 1 << number
    return cost


@given(searches())
def test_no_order_is_cheaper(search: OrderSearch) -> None:
    costs = [cost for order in permutations(search.connections) if (cost := _cost(search, order)) is not None]
    best = search.best()
    assert (best is None) == (not costs)
    if best is not None:
        assert Counter(best.connections) == Counter(search.connections)
        assert _cost(search, best.connections) == min(costs)


def test_pairs_around_a_node_are_expected_to_be_more_than_on_average() -> None:
    """2,000 pairs of persons would be in the same place if places were of one size, and 3,000 know each other. Places
    are rarely of one size, so friends come first."""
    with hoplite.open() as db:
        db.run("UNWIND range(0, 19) AS i CREATE (:Place {i: i})").consume()
        db.run("UNWIND range(0, 199) AS i MATCH (l:Place {i: i % 20}) CREATE (:Person {i: i})-[:IN]->(l)").consume()
        pairs = (
            "UNWIND range(0, 1499) AS n MATCH (p:Person {i: n % 200}), (q:Person {i: (n % 200 + n / 200 + 1) % 200})"
        )
        db.run(f"{pairs} CREATE (p)-[:KNOWS]->(q)").consume()
        plan = db.explain("MATCH (l:Place)<-[:IN]-(p:Person)-[:KNOWS]-(q:Person)-[:IN]->(l) RETURN p.i, q.i")
    assert "(p)-[:KNOWS]-(q) WHERE q:Person, (q)-[:IN]->(l)" in plan
