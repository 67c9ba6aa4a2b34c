"""Ways along chains counted hop by hop, against plain enumeration."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from neo4j.exceptions import ClientError

import hoplite
from hoplite.engine.hops.select import BackendName
from tests.oracle import Graph, Side, end_of, trails
from tests.patterns.random_graphs import TYPES, database, graphs

partition_counts = st.sampled_from((1, 3))
few = settings(max_examples=60)
Step = tuple[int, Side]


@st.composite
def chains(draw: DrawFn) -> list[Step]:
    """Two or three hops of types that differ."""
    types = draw(st.permutations(range(3)))[: draw(st.integers(2, 3))]
    return [(code, draw(st.sampled_from(("->", "<-", "--")))) for code in types]


def chain_of(steps: list[Step]) -> str:
    """`-[:R]->(n0)<-[:S]-(n1)`."""
    sides = {"->": ("-", "->"), "<-": ("<-", "-"), "--": ("-", "-")}
    return "".join(
        f"{sides[side][0]}[:{TYPES[code]}]{sides[side][1]}(n{number})" for number, (code, side) in enumerate(steps)
    )


def ways(graph: Graph, steps: list[Step]) -> list[tuple[int, ...]]:
    """The nodes of every way: the start, and the node after each hop."""
    found: list[tuple[int, ...]] = [(node,) for node in graph.nodes]
    for code, side in steps:
        found = [
            (*way, end_of(way[-1], trail)) for way in found for trail in trails(graph, way[-1], 1, 1, side, (code,))
        ]
    return found


@pytest.mark.parametrize("backend", ["auto", "numba"])
@few
@given(graph=graphs(12), steps=chains(), partitions=partition_counts, least=st.integers(0, 3))
def test_walks_are_counted_for_rows_and_ends(
    backend: BackendName, graph: Graph, steps: list[Step], partitions: int, least: int
) -> None:
    with database(graph, backend, partitions) as db:
        db.run("MATCH (n:N) WHERE n.i % 2 = 0 SET n:M").consume()
        every, chain = ways(graph, steps), chain_of(steps)
        end = f"n{len(steps) - 1}"
        # WITH keeps the order: the chain begins at `a`.
        match = f"MATCH (a:N) WITH a MATCH (a){chain}"
        for text, want in (
            (f"{match} RETURN count(*)", [[len(every)]]),
            (f"{match} RETURN count({end})", [[len(every)]]),
            (f"{match} WHERE n0:M RETURN count(*)", [[sum(way[1] % 2 == 0 for way in every)]]),
            (f"{match} WHERE {end}.i >= {least} RETURN count(*)", [[sum(way[-1] >= least for way in every)]]),
        ):
            assert "CountBranches" in db.explain(text) or len(steps) == 2  # of two hops the last is a degree
            assert db.run(text).values() == want
        by_start, by_end = Counter(way[0] for way in every), Counter(way[-1] for way in every)
        for text, counts in (
            (f"{match} RETURN a.i, count(*)", by_start),
            (f"{match} RETURN {end}.i, count(*)", by_end),
            (f"{match} WHERE {end}:M RETURN {end}.i, count(*)", {b: n for b, n in by_end.items() if b % 2 == 0}),
        ):
            wanted = "CountBranches" if counts is by_start else "CountWalks"
            assert wanted in db.explain(text) or (len(steps) == 2 and counts is by_start)
            assert dict(db.run(text).values()) == counts
        text = f"MATCH (a:N) CALL (a) {{ MATCH (a){chain} RETURN {end} AS b, count(*) AS n }} RETURN a.i, b.i, n"
        assert "CountWalks" in db.explain(text)
        pairs = Counter((way[0], way[-1]) for way in every)
        assert {(a, b): n for a, b, n in db.run(text).values()} == pairs
        counted = db.run(f"MATCH (a:N) RETURN a.i, COUNT {{ (a){chain} }}").values()
        assert counted == [[a, by_start[a]] for a in graph.nodes]
        both = db.run(f"{match} RETURN a.i, {end}.i, count(*)").values()
        assert {(a, b): n for a, b, n in both} == pairs


@few
@given(
    graph=graphs(10),
    code=st.integers(0, 2),
    sides=st.lists(st.sampled_from(("->", "<-", "--")), min_size=2, max_size=3),
)
def test_hops_that_could_share_a_relationship_are_no_walks(graph: Graph, code: int, sides: list[Side]) -> None:
    """Of one type: what walks would count too often is not counted."""

    def matches(node: int, left: list[Side], used: tuple[int, ...]) -> int:
        if not left:
            return 1
        return sum(
            matches(end_of(node, trail), left[1:], used + trail[0])
            for trail in trails(graph, node, 1, 1, left[0], (code,), used=used)
        )

    with database(graph) as db:
        text = f"MATCH (a:N) WITH a MATCH (a){chain_of([(code, side) for side in sides])} RETURN count(*)"
        assert db.run(text).value() == [sum(matches(node, sides, ()) for node in graph.nodes)]


def test_more_ways_than_fit_are_an_error_and_none_are_lost_before() -> None:
    """Each of 15 layers multiplies the ways by 16, the last one by 4 to make 2 ** 62, and then by 8."""
    layers = 15
    with hoplite.open() as db:
        db.run("CREATE (:L0 {i: 0})").consume()
        for layer in range(layers):
            db.run(
                f"MATCH (a:L{layer}) CREATE (b:L{layer + 1}) "
                f"WITH a, b UNWIND range(1, 16) AS i CREATE (a)-[:T{layer}]->(b)"
            ).consume()
        db.run("MATCH (a:L15) UNWIND range(1, 4) AS i CREATE (a)-[:LAST]->(:End)").consume()
        chain = "".join(f"-[:T{layer}]->()" for layer in range(layers)) + "-[:LAST]->(e:End)"
        assert db.run(f"MATCH (a:L0) WITH a MATCH (a){chain} RETURN a.i, count(*) AS n").values() == [[0, 2**62]]
        db.run("MATCH (a:L15) UNWIND range(1, 4) AS i CREATE (a)-[:LAST]->(:End)").consume()
        for keys in ("a.i, ", "e, ", ""):
            with pytest.raises(ClientError, match="long overflow"):
                db.run(f"MATCH (a:L0) WITH a MATCH (a){chain} RETURN {keys}count(*) AS n").values()
