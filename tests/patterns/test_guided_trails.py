"""Trails that are led to the ends a filter lets through, against plain enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neo4j.exceptions import ClientError

from hoplite.engine.operators import expand
from tests.oracle import Graph, end_of
from tests.patterns.random_graphs import Pattern, database, graphs, patterns

partition_counts = st.sampled_from((1, 3))
long_patterns = patterns(4).map(lambda p: Pattern(min(p.lower, 1), None if p.upper is None else 4, p.side, p.types))


@pytest.fixture(autouse=True)
def always_lead() -> Iterator[None]:
    """Graphs are too small for one end in four to be few."""
    before, expand._WORTH_LEADING = expand._WORTH_LEADING, 1
    yield
    expand._WORTH_LEADING = before


@settings(max_examples=60)
@given(graphs(8), long_patterns, partition_counts, st.integers(-1, 4))
def test_the_trails_that_pass_are_all_there(graph: Graph, pattern: Pattern, partitions: int, wanted: int) -> None:
    with database(graph, partitions=partitions) as db:
        match = f"MATCH p = (a:N){pattern.cypher('rs')}(b) WHERE b.i = $wanted"
        if pattern.upper is None or pattern.upper >= 3:
            assert "guided to ends" in db.explain(f"MATCH (a:N) WITH a {match.replace('(a:N)', '(a)')} RETURN p")
        want = Counter(
            (a, trail[0]) for a in graph.nodes for trail in pattern.trails(graph, a) if end_of(a, trail) == wanted
        )
        for before in ("", "MATCH (a:N) WITH a "):
            text = f"{before}{match.replace('(a:N)', '(a)') if before else match} RETURN a.i, [r IN rs | r.i] AS rs"
            got = Counter((a, tuple(rs)) for a, rs in db.run(text, wanted=wanted).values())
            assert got == want


def test_a_filter_fails_for_an_end_and_not_before() -> None:
    graph = Graph([0, 1, 2], [])
    with database(graph) as db:
        db.run("MATCH (a {i: 0}), (b {i: 1}), (c {i: 2}) CREATE (a)-[:R]->(b)-[:R]->(c)").consume()
        text = "MATCH (a:N {i: $start}) WITH a MATCH (a)-[:R*1..5]->(b) WHERE 1 / (b.i - $not) <> 0 RETURN b.i"
        assert "guided to ends" in db.explain(text)
        assert db.run(text, {"start": 0, "not": 0}).value() == [1]  # 1 / 2 is 0
        assert db.run(text, {"start": 1, "not": 1}).value() == [2]
        with pytest.raises(ClientError, match="by zero"):
            db.run(text, {"start": 0, "not": 2}).value()
