"""Counting and asking without taking the last step, against plain enumeration."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import Graph, Trail, end_of
from tests.patterns.random_graphs import Pattern, database, graphs, patterns

partition_counts = st.sampled_from((1, 3))
few = settings(max_examples=40)
one_step = patterns().map(lambda p: Pattern(1, 1, p.side, p.types))
bounded = patterns(3).map(lambda p: Pattern(p.lower, p.upper if p.upper is not None else p.lower + 1, p.side, p.types))


def _hop(pattern: Pattern, name: str = "") -> str:
    """A single relationship, written without a length."""
    return pattern.cypher(name).replace("*1..1", "")


def _ways(graph: Graph, start: int, steps: list[Pattern], used: tuple[int, ...] = ()) -> list[Trail]:
    """The matches of a chain of patterns: no relationship twice in any of them."""
    if not steps:
        return [((), ())]
    return [
        (first[0] + rest[0], first[1] + rest[1])
        for first in steps[0].trails(graph, start, used)
        for rest in _ways(graph, end_of(start, first), steps[1:], used + first[0])
    ]


@few
@given(graphs(), st.lists(one_step, min_size=1, max_size=3), partition_counts, st.integers(0, 2))
def test_chains_are_counted_by_degrees(graph: Graph, steps: list[Pattern], partitions: int, marked: int) -> None:
    """In all, for each start, and for each node before the last; with and without a label on the end."""
    with database(graph, partitions=partitions) as db:
        db.run("MATCH (n:N) WHERE n.i % 3 = $m SET n:M", m=marked).consume()
        chain = "".join(f"{_hop(step)}(n{number})" for number, step in enumerate(steps))
        end = f"(n{len(steps) - 1}"
        ways = [(a, end_of(a, way)) for a in graph.nodes for way in _ways(graph, a, steps)]
        text = f"MATCH (a:N){chain} RETURN count(*)"
        explained = db.explain(text)  # where relationships are fewer than nodes, they are scanned
        counts = ("GetDegree", "CountWalks", "CountBranches", "CountMatches", "RelationshipTypeScan")
        assert any(name in explained for name in counts)
        assert db.run(text).value() == [len(ways)]
        by_start = Counter(a for a, _ in ways)
        assert dict(db.run(f"MATCH (a:N){chain} RETURN a.i, count(*)").values()) == by_start
        assert set(db.run(f"MATCH (a:N){chain} RETURN DISTINCT a.i").value()) == set(by_start)
        labelled = chain.replace(f"{end})", f"{end}:M)")
        by_start = Counter(a for a, b in ways if b % 3 == marked)
        assert dict(db.run(f"MATCH (a:N){labelled} WITH a, count(*) AS c RETURN a.i, c").values()) == by_start
        counted = db.run(f"MATCH (a:N) RETURN a.i, COUNT {{ (a){labelled} }}, EXISTS {{ (a){labelled} }}").values()
        assert counted == [[a, by_start[a], by_start[a] > 0] for a in graph.nodes]


@few
@given(graphs(), bounded, one_step, partition_counts)
def test_trails_are_counted_without_their_last_step(
    graph: Graph, pattern: Pattern, before: Pattern, partitions: int
) -> None:
    """Alone, and beside a relationship that it may not use."""
    with database(graph, partitions=partitions) as db:
        alone = Counter({a: len(pattern.trails(graph, a)) for a in graph.nodes})
        text = f"MATCH p = (a:N){pattern.cypher()}(b) RETURN a.i, count(p)"
        assert dict(db.run(text).values()) == {a: count for a, count in alone.items() if count}
        assert db.run(f"MATCH (a:N){pattern.cypher()}(b:N) RETURN count(*)").value() == [alone.total()]
        beside = sum(len(_ways(graph, a, [before, pattern])) for a in graph.nodes)
        assert db.run(f"MATCH (a:N){_hop(before)}(b){pattern.cypher()}(c) RETURN count(*)").value() == [beside]
        sizes = db.run(f"MATCH (a:N) RETURN a.i, size([(a){pattern.cypher()}(b) | b.i])").values()
        assert sizes == [[a, alone[a]] for a in graph.nodes]


@few
@given(graphs(), one_step, st.data())
def test_counts_see_what_a_transaction_has_written(graph: Graph, step: Pattern, data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.sampled_from([r.id for r in graph.relationships]))) if graph.relationships else set()
    left = Graph(graph.nodes, [r for r in graph.relationships if r.id not in gone])
    with database(graph) as db, db.begin() as tx:
        tx.run("MATCH ()-[r]->() WHERE r.i IN $gone DELETE r", gone=sorted(gone)).consume()
        wanted = [[a, len(step.trails(left, a))] for a in graph.nodes]
        assert tx.run(f"MATCH (a:N) RETURN a.i, COUNT {{ (a){_hop(step)}() }}").values() == wanted
        total = sum(count for _, count in wanted)
        assert tx.run(f"MATCH (a:N){_hop(step)}(b:N) RETURN count(b)").value() == [total]
