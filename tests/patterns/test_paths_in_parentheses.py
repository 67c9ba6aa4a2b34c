"""`SHORTEST k (p = (a)-[*]->(b) WHERE ...)`: what the parentheses hold is chosen from, against plain enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hoplite.engine.hops.select import BackendName
from tests.hops.backends import every_backend
from tests.oracle import Graph, Trail, end_of, trails
from tests.patterns.random_graphs import Pattern, database, graphs, patterns
from tests.patterns.test_against_oracle import chosen_lengths, selectors

few = settings(max_examples=25)

# (first node, trail) -> is the path one to choose from?
Test = Callable[[int, Trail], bool]

PREDICATES: dict[str, Test] = {
    "true": lambda a, trail: True,
    "length(p) > 1": lambda a, trail: len(trail[0]) > 1,
    "length(p) % 2 = 0 AND a.i <= b.i": lambda a, trail: len(trail[0]) % 2 == 0 and a <= end_of(a, trail),
    "any(r IN relationships(p) WHERE r.i = 1)": lambda a, trail: 1 in trail[0],
    "all(r IN relationships(p) WHERE r.i <> 0)": lambda a, trail: 0 not in trail[0],
    "single(n IN nodes(p) WHERE n.i = 0)": lambda a, trail: (a, *trail[1]).count(0) == 1,
    "none(n IN nodes(p) WHERE n.i = 2)": lambda a, trail: 2 not in (a, *trail[1]),
    "EXISTS { MATCH (x:N {i: 1}) WHERE x IN nodes(p) }": lambda a, trail: 1 in (a, *trail[1]),
}
Found = tuple[int, int, tuple[int, ...], tuple[int, ...]]


def assert_chosen(selector: str, every: list[Found], rows: list[list[Any]]) -> None:
    """Rows are paths to choose from, none of them twice, and as many of each length as the selector chooses."""
    got: Counter[Found] = Counter((a, b, tuple(rs), tuple(ns)) for a, b, rs, ns in rows)
    assert got <= Counter(every)
    want: Counter[tuple[int, int, int]] = Counter()
    for a, b in {(a, b) for a, b, _, _ in every}:
        lengths = [len(rs) for start, end, rs, _ in every if (start, end) == (a, b)]
        want.update((a, b, length) for length in chosen_lengths(selector, lengths))
    assert Counter((a, b, len(rs)) for a, b, rs, _ in got.elements()) == want


_RETURN = "RETURN a.i, b.i, [r IN relationships(p) | r.i] AS rs, [n IN nodes(p) | n.i] AS ns"


@every_backend
@few
@given(
    graphs(),
    patterns(),
    selectors,
    st.sampled_from(list(PREDICATES)),
    st.sampled_from(("both", "start", "end", "none")),
)
def test_a_repeated_relationship(
    backend: BackendName, graph: Graph, pattern: Pattern, selector: str, predicate: str, bound: str
) -> None:
    ends = {"both": "MATCH (a:N), (b:N)", "start": "MATCH (a:N)", "end": "MATCH (b:N)", "none": ""}[bound]
    every = [
        (a, end_of(a, trail), trail[0], (a, *trail[1]))
        for a in graph.nodes
        for trail in pattern.trails(graph, a)
        if PREDICATES[predicate](a, trail)
    ]
    with database(graph, backend) as db:
        query = f"{ends} MATCH q = {selector} (p = (a){pattern.cypher()}(b) WHERE {predicate})"
        assert_chosen(selector, every, db.run(f"{query} WHERE q = p {_RETURN}").values())


@few
@given(graphs(6), patterns(3), selectors, st.sampled_from(list(PREDICATES)))
def test_a_chain(graph: Graph, pattern: Pattern, selector: str, predicate: str) -> None:
    """A relationship more, the name of which may be bound already."""
    every = []
    by_last: dict[int, list[Found]] = {r.id: [] for r in graph.relationships}
    for a in graph.nodes:
        for trail in pattern.trails(graph, a):
            for last, (node,) in trails(graph, end_of(a, trail), 1, 1, "->", used=trail[0]):
                whole = ((*trail[0], *last), (*trail[1], node))
                if PREDICATES[predicate](a, whole):
                    every.append((a, node, whole[0], (a, *whole[1])))
                    by_last[last[0]].append(every[-1])
    path = f"{selector} (p = (a){pattern.cypher()}(c)-[f]->(b) WHERE {predicate})"
    with database(graph) as db:
        assert_chosen(selector, every, db.run(f"MATCH {path} {_RETURN}").values())
        for last_one, found in by_last.items():
            rows = db.run(f"MATCH ()-[f {{i: $last}}]->() MATCH {path} {_RETURN}", last=last_one).values()
            assert_chosen(selector, found, rows)


@few
@given(graphs(), patterns(), selectors, st.sampled_from(list(PREDICATES)))
def test_a_way_back(graph: Graph, pattern: Pattern, selector: str, predicate: str) -> None:
    """Both ends are one variable."""
    every = [
        (a, a, trail[0], (a, *trail[1]))
        for a in graph.nodes
        for trail in pattern.trails(graph, a)
        if end_of(a, trail) == a and PREDICATES[predicate](a, trail)
    ]
    with database(graph) as db:
        query = f"MATCH {selector} (p = (a){pattern.cypher()}(a) WHERE {predicate.replace('b.i', 'a.i')})"
        assert_chosen(selector, every, db.run(f"{query} WITH p, a, a AS b {_RETURN}").values())
