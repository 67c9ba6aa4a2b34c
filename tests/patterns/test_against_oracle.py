"""Every rule that lets a variable-length pattern run as a frontier, and what may not, against plain enumeration."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from hoplite.engine.hops.select import BackendName
from tests.hops.backends import every_backend
from tests.oracle import Graph, end_of, shortest, trails
from tests.patterns.random_graphs import Pattern, database, graphs, patterns

partition_counts = st.sampled_from((1, 3))
few = settings(max_examples=25)


@every_backend
@few
@given(graphs(), patterns(), partition_counts)
def test_distinct_ends_are_the_ends_of_trails(
    backend: BackendName, graph: Graph, pattern: Pattern, partitions: int
) -> None:
    """Every start's ends apart, all ends together, and how many there are."""
    with database(graph, backend, partitions) as db:
        pairs = {(a, end_of(a, trail)) for a in graph.nodes for trail in pattern.trails(graph, a)}
        match = f"MATCH (a:N){pattern.cypher()}(b)"
        got = [tuple(row) for row in db.run(f"{match} RETURN DISTINCT a.i, b.i").values()]
        assert len(got) == len(set(got)) and set(got) == pairs
        ends = db.run(f"{match} RETURN DISTINCT b.i").value()
        assert len(ends) == len(set(ends)) and set(ends) == {b for _, b in pairs}
        assert db.run(f"{match} RETURN count(DISTINCT b)").value() == [len(set(ends))]
        counted = {a: sum(1 for start, _ in pairs if start == a) for a, _ in pairs}
        assert dict(db.run(f"{match} RETURN a.i, count(DISTINCT b)").values()) == counted


@every_backend
@few
@given(graphs(), patterns(), partition_counts)
def test_rows_are_trails(backend: BackendName, graph: Graph, pattern: Pattern, partitions: int) -> None:
    with database(graph, backend, partitions) as db:
        want = Counter(
            (a, end_of(a, trail), trail[0], (a, *trail[1])) for a in graph.nodes for trail in pattern.trails(graph, a)
        )
        got = db.run(
            f"MATCH p = (a:N){pattern.cypher('rs')}(b) "
            "RETURN a.i, b.i, [r IN rs | r.i] AS rs, [n IN nodes(p) | n.i] AS ns"
        ).values()
        assert Counter((a, b, tuple(rs), tuple(ns)) for a, b, rs, ns in got) == want
        assert db.run(f"MATCH (a:N){pattern.cypher()}(b) RETURN count(*)").value() == [want.total()]


@few
@given(graphs(), patterns(), partition_counts)
def test_a_semi_join_asks_only_whether_there_is_a_trail(graph: Graph, pattern: Pattern, partitions: int) -> None:
    with database(graph, partitions=partitions) as db:
        want = {
            (a, b)
            for a in graph.nodes
            for b in graph.nodes
            if any(end_of(a, trail) == b for trail in pattern.trails(graph, a))
        }
        query = f"MATCH (a:N), (b:N) WHERE EXISTS {{ (a){pattern.cypher()}(b) }} RETURN a.i, b.i"
        assert {tuple(row) for row in db.run(query).values()} == want
        starts = f"MATCH (a:N) WHERE (a){pattern.cypher()}() RETURN a.i"
        assert sorted(db.run(starts).value()) == sorted({a for a, _ in want})


@every_backend
@few
@given(graphs(), patterns(), partition_counts)
def test_a_fixed_relationship_beside_it_is_not_used_again(
    backend: BackendName, graph: Graph, pattern: Pattern, partitions: int
) -> None:
    """`(x)-[f]->(a)-[*]-(b)`: the trail must not take f. In two MATCH clauses it may."""
    with database(graph, backend, partitions) as db:
        apart: set[tuple[int, int]] = set()
        again: set[tuple[int, int]] = set()
        for fixed in graph.relationships:
            for trail in pattern.trails(graph, fixed.end, used=(fixed.id,)):
                apart.add((fixed.start, end_of(fixed.end, trail)))
            for trail in pattern.trails(graph, fixed.end):
                again.add((fixed.start, end_of(fixed.end, trail)))
        one = db.run(f"MATCH (x:N)-[f]->(a){pattern.cypher()}(b) RETURN DISTINCT x.i, b.i").values()
        two = db.run(f"MATCH (x:N)-[f]->(a) MATCH (a){pattern.cypher()}(b) RETURN DISTINCT x.i, b.i").values()
        assert {tuple(row) for row in one} == apart
        assert {tuple(row) for row in two} == again


@few
@given(graphs(6), patterns(3), patterns(3))
def test_two_variable_lengths_share_no_relationship(graph: Graph, first: Pattern, second: Pattern) -> None:
    with database(graph) as db:
        want = {
            (a, end_of(end_of(a, one), two))
            for a in graph.nodes
            for one in first.trails(graph, a)
            for two in second.trails(graph, end_of(a, one), used=one[0])
        }
        query = f"MATCH (a:N){first.cypher()}(b){second.cypher()}(c) RETURN DISTINCT a.i, c.i"
        assert {tuple(row) for row in db.run(query).values()} == want


@every_backend
@few
@given(graphs(), patterns(), st.integers(0, 7))
def test_a_predicate_on_every_relationship_is_a_mask(
    backend: BackendName, graph: Graph, pattern: Pattern, least: int
) -> None:
    with database(graph, backend) as db:
        want = {
            (a, end_of(a, trail))
            for a in graph.nodes
            for trail in trails(graph, a, pattern.lower, pattern.upper, pattern.side, pattern.types,
                                lambda relationship, _from, _to: relationship >= least)
        }  # fmt: skip
        queries = (
            f"MATCH p = (a:N){pattern.cypher()}(b) WHERE all(r IN relationships(p) WHERE r.i >= $least)",
            f"MATCH (a:N){pattern.cypher('rs')}(b) WHERE all(r IN rs WHERE r.i >= $least)",
        )
        for query in queries:
            got = db.run(f"{query} RETURN DISTINCT a.i, b.i", least=least).values()
            assert {tuple(row) for row in got} == want


@few
@given(graphs(), patterns(), st.integers(0, 5))
def test_a_limit_gives_so_many_rows_of_the_right_ones(graph: Graph, pattern: Pattern, limit: int) -> None:
    with database(graph) as db:
        every = Counter((a, trail[0]) for a in graph.nodes for trail in pattern.trails(graph, a))
        query = f"MATCH (a:N){pattern.cypher('rs')}(b) RETURN a.i, [r IN rs | r.i] LIMIT {limit}"
        got = Counter((a, tuple(rs)) for a, rs in db.run(query).values())
        assert got.total() == min(limit, every.total()) and not got - every


@every_backend
@few
@given(graphs(), st.sampled_from(("->", "<-", "--")), partition_counts)
def test_shortest_paths_are_the_shortest_trails(backend: BackendName, graph: Graph, side: str, partitions: int) -> None:
    pattern = Pattern(1, None, side, None)  # type: ignore[arg-type]
    with database(graph, backend, partitions) as db:
        want_one, want_all = {}, {}
        for a in graph.nodes:
            for b in graph.nodes:
                if a != b and (found := shortest(graph, a, b, None, pattern.side)):
                    want_one[a, b], want_all[a, b] = len(found[0][0]), len(found)
        match = "MATCH (a:N), (b:N) WHERE a <> b"
        one = db.run(f"{match} MATCH p = shortestPath((a){pattern.cypher()}(b)) RETURN a.i, b.i, length(p)")
        assert {(a, b): length for a, b, length in one.values()} == want_one
        every = db.run(f"{match} MATCH p = allShortestPaths((a){pattern.cypher()}(b)) RETURN a.i, b.i, count(p)")
        assert {(a, b): count for a, b, count in every.values()} == want_all


selectors = st.sampled_from(
    ("ANY SHORTEST", "ALL SHORTEST", "ANY", "ANY 2", "SHORTEST 2", "SHORTEST 3", "SHORTEST GROUP", "SHORTEST 2 GROUPS")
)


def chosen_lengths(selector: str, lengths: list[int]) -> list[int]:
    """Of the lengths of all trails between two nodes, those that a selector chooses."""
    lengths = sorted(lengths)
    number = next((int(word) for word in selector.split() if word.isdigit()), 1)
    if "GROUP" in selector or selector == "ALL SHORTEST":
        kept = sorted(set(lengths))[:number]
        return [length for length in lengths if length in kept]
    return lengths[:number]


@every_backend
@few
@given(graphs(), patterns(), selectors, partition_counts, st.sampled_from(("both", "start", "end", "none")))
def test_selectors_choose_the_shortest_trails(
    backend: BackendName, graph: Graph, pattern: Pattern, selector: str, partitions: int, bound: str
) -> None:
    """Whichever of the ends are known beforehand, and with a predicate on what is chosen from."""
    ends = {"both": "MATCH (a:N), (b:N)", "start": "MATCH (a:N)", "end": "MATCH (b:N)", "none": ""}[bound]
    with database(graph, backend, partitions) as db:
        for without_first in (False, True):
            want: Counter[tuple[int, int, int]] = Counter()
            every: Counter[tuple[int, int, tuple[int, ...], tuple[int, ...]]] = Counter()
            for a in graph.nodes:
                found = [trail for trail in pattern.trails(graph, a) if not without_first or 0 not in trail[0]]
                every.update((a, end_of(a, trail), trail[0], (a, *trail[1])) for trail in found)
                for b in graph.nodes:
                    lengths = [len(trail[0]) for trail in found if end_of(a, trail) == b]
                    want.update((a, b, length) for length in chosen_lengths(selector, lengths))
            path = f"(a){pattern.cypher('rs')}(b)"
            if without_first:
                path = f"({path} WHERE NOT 0 IN [r IN rs | r.i])"
            rows = db.run(
                f"{ends} MATCH p = {selector} {path} WHERE a:N AND b:N "
                "RETURN a.i, b.i, [r IN rs | r.i] AS rs, [n IN nodes(p) | n.i] AS ns"
            ).values()
            got = Counter((a, b, tuple(rs), tuple(ns)) for a, b, rs, ns in rows)
            assert got <= every
            assert Counter((a, b, len(rs)) for a, b, rs, _ in got.elements()) == want


@few
@given(graphs(), st.integers(0, 4), st.sampled_from(("out", "in", "both")), partition_counts)
def test_khop_gives_the_nodes_within_and_at_k_hops(
    graph: Graph, k: int, direction: Literal["out", "in", "both"], partitions: int
) -> None:
    side = {"out": "->", "in": "<-", "both": "--"}[direction]
    with database(graph, partitions=partitions) as db:
        ids = dict(db.run("MATCH (n:N) RETURN id(n), n.i").values())
        number = {i: identity for identity, i in ids.items()}
        levels: dict[int, int] = {0: 0}
        frontier = [0]
        for level in range(1, k + 1):
            frontier = [
                end
                for node in frontier
                for trail in trails(graph, node, 1, 1, side)  # type: ignore[arg-type]
                if (end := end_of(node, trail)) not in levels and levels.setdefault(end, level) == level
            ]
        within = [ids[node] for node in db.khop([number[0]], k, direction=direction).tolist()]
        at = [ids[node] for node in db.khop([number[0]], k, direction=direction, exact=True).tolist()]
        assert sorted(within) == sorted(levels)
        assert sorted(at) == sorted(node for node, level in levels.items() if level == k)
