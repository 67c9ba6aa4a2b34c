"""Chains followed to their distinct ends, against plain enumeration, and with the rule against without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neo4j.exceptions import ClientError

import hoplite
from hoplite.engine.hops.select import BackendName
from hoplite.planner import optimise
from hoplite.planner.rules.distinct_chains import chains_to_distinct_ends
from tests.oracle import Graph, Side, end_of
from tests.patterns.random_graphs import Pattern, database, graphs, patterns
from tests.patterns.test_counts import _hop, _ways

few = settings(max_examples=40)
one_step = patterns().map(lambda p: Pattern(1, 1, p.side, p.types))
steps_of_any_types = st.lists(one_step, min_size=1, max_size=3)
sides: tuple[Side, ...] = ("->", "<-", "--")
steps_of_own_types = st.permutations([0, 1, 2]).flatmap(
    lambda types: st.lists(st.sampled_from(sides), min_size=1, max_size=3).map(
        lambda chosen: [Pattern(1, 1, side, (types[number],)) for number, side in enumerate(chosen)]
    )
)
chains = st.one_of(steps_of_own_types, steps_of_any_types)
values = st.lists(st.sampled_from([None, 1, 1.0, 2, "x", "y", True, [1], [1.0]]), min_size=5, max_size=5)
texts = st.lists(st.sampled_from([None, "x", "y", "z"]), min_size=5, max_size=5)
backends: Any = st.sampled_from(("numpy", "numba"))
partition_counts = st.sampled_from((1, 3))


def same_in_groups(value: Any) -> Any:
    """A value as grouping tells it from others."""
    if isinstance(value, list):
        return tuple(map(same_in_groups, value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number", float(value)
    return type(value).__name__, value


def rows_of(db: hoplite.Database, text: str) -> list[Any]:
    """The rows of an answer in any order, lists too."""
    rows = [
        [
            same_in_groups(sorted(map(same_in_groups, v)) if key.startswith("list") else v)
            for key, v in record.data().items()
        ]
        for record in db.run(text)
    ]
    return sorted(rows, key=repr)


@contextmanager
def without_the_rule() -> Iterator[None]:
    """Plans that are made meanwhile follow every path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimise, "RULES", tuple(rule for rule in optimise.RULES if rule is not chains_to_distinct_ends))
        yield


def valued(graph: Graph, properties: list[Any], backend: BackendName, partitions: int) -> hoplite.Database:
    """A database whose nodes have a property `p`, and every third one a label M."""
    db = database(graph, backend, partitions)
    for node, value in zip(graph.nodes, properties, strict=False):
        db.run("MATCH (n:N {i: $i}) SET n.p = $p", i=node, p=value).consume()
    db.run("MATCH (n:N) WHERE n.i % 3 <> 1 SET n:M").consume()
    return db


def written(steps: list[Pattern], middle: str, end: str) -> str:
    """The chain behind `(a)`: nodes on the way, and one that is called z."""
    nodes = [f"(n{number}{middle})" for number in range(len(steps) - 1)] + [f"(z{end})"]
    return "".join(_hop(step) + node for step, node in zip(steps, nodes, strict=True))


@few
@given(graphs(), chains, st.one_of(values, texts), backends, partition_counts, st.booleans(), st.booleans())
def test_pairs_of_ends_are_those_of_all_paths(
    graph: Graph,
    steps: list[Pattern],
    properties: list[Any],
    backend: BackendName,
    partitions: int,
    labelled_middle: bool,
    labelled_end: bool,
) -> None:
    chain = written(steps, ":M" if labelled_middle else "", ":M" if labelled_end else "")
    pairs: set[tuple[int, int]] = set()
    for a in graph.nodes:
        for way in _ways(graph, a, steps):
            if labelled_middle and any(node % 3 == 1 for node in way[1][:-1]):
                continue
            if not labelled_end or end_of(a, way) % 3 != 1:
                pairs.add((a, end_of(a, way)))
    by_start, by_end = defaultdict[Any, set[Any]](set), defaultdict[Any, set[Any]](set)
    known = [same_in_groups(value) for value in properties]
    null = same_in_groups(None)
    for a, z in pairs:
        by_start[known[a]] |= {known[z]}
        by_end[known[z]] |= {known[a]}
    with valued(graph, properties, backend, partitions) as db:
        found = rows_of(db, f"MATCH (a:N){chain} RETURN DISTINCT a.i, z.i")
        assert found == sorted([[same_in_groups(a), same_in_groups(z)] for a, z in pairs], key=repr)
        assert set(db.run(f"MATCH (a:N){chain} RETURN DISTINCT z.i").value()) == {z for _, z in pairs}
        for text, groups in (
            (f"MATCH (a:N){chain} RETURN a.p, count(DISTINCT z.p)", by_start),
            (f"MATCH (a:N){chain} RETURN z.p, count(DISTINCT a.p)", by_end),
        ):
            expected = [[key, same_in_groups(len(seen - {null}))] for key, seen in groups.items()]
            assert rows_of(db, text) == sorted(expected, key=repr)


QUERIES = (
    "MATCH (a:N)CHAIN RETURN a.p, a.i, count(DISTINCT z), count(DISTINCT z.p)",
    "MATCH (a:N)CHAIN RETURN z.p, z.i, count(DISTINCT a.p), count(DISTINCT a)",
    "MATCH (a:N)CHAIN RETURN a.i, min(z.i), max(z.p), sum(DISTINCT z.i), collect(DISTINCT z.i) AS list",
    "MATCH (a:N)CHAIN RETURN a.i, count(*), count(DISTINCT z.p)",
    "MATCH (a:N)CHAIN RETURN count(DISTINCT z.p), count(DISTINCT a.p)",
    "MATCH (a:N)CHAIN WHERE z.p = a.p OR z.i > 1 RETURN a.p, count(DISTINCT z.p)",
    "MATCH (a:N)CHAIN WHERE z.i > 0 RETURN DISTINCT z.p",
    "MATCH (a:N) OPTIONAL MATCH (a)CHAIN RETURN a.i, count(DISTINCT z.p)",
    "MATCH (a:N) OPTIONAL MATCH (a)CHAIN RETURN z.p, count(DISTINCT a.p)",
    "MATCH (a:N) OPTIONAL MATCH (a)CHAIN RETURN DISTINCT z.i",
    "OPTIONAL MATCH (a:N)CHAIN RETURN DISTINCT z.i",
    "MATCH (a:N) CALL (a) { MATCH (a)CHAIN RETURN count(DISTINCT z.p) AS c } RETURN a.i, c",
    "MATCH (a:N) CALL (a) { MATCH (a)CHAIN RETURN z.p AS k, count(DISTINCT a.p) AS c } RETURN a.i, k, c",
    "MATCH (a:N) CALL (a) { MATCH (a)CHAIN RETURN DISTINCT z } RETURN a.i, z.i",
    "MATCH (a:N) RETURN a.i, EXISTS { (a)CHAIN }, COUNT { MATCH (a)CHAIN RETURN DISTINCT z }",
    "MATCH (a:N)CHAIN WITH DISTINCT a, z MATCH (z)-[]->(y) RETURN a.i, count(DISTINCT y.p), count(*)",
    "MATCH (a:N)CHAIN, (b:M) RETURN b.i, z.i, count(DISTINCT a.i)",
    "MATCH p = (a:N)CHAIN RETURN DISTINCT a.i, z.i, length(p)",
    "UNWIND [0, 1, 1, null] AS i MATCH (a:N {i: i})CHAIN RETURN i, count(DISTINCT z.p)",
    "MATCH (a:N)CHAIN WITH a, z ORDER BY a.i, z.i RETURN DISTINCT z.i",
    "MATCH (a:N)CHAIN RETURN DISTINCT a.i, z.i UNION MATCH (a:M)CHAIN RETURN DISTINCT a.i, z.i",
)


@few
@given(graphs(), chains, values, backends, partition_counts, st.sampled_from(("", ":M", ":M {p: 1}")), st.data())
def test_answers_are_the_same_without_the_rule(
    graph: Graph,
    steps: list[Pattern],
    properties: list[Any],
    backend: BackendName,
    partitions: int,
    middle: str,
    data: st.DataObject,
) -> None:
    chain = written(steps, middle, data.draw(st.sampled_from(("", ":M", ":M|X"))))
    texts_asked = [text.replace("CHAIN", chain) for text in data.draw(st.permutations(QUERIES))[:7]]
    with valued(graph, properties, backend, partitions) as db:
        answers = [rows_of(db, text) for text in texts_asked]
    with without_the_rule(), valued(graph, properties, backend, partitions) as db:
        for text, answer in zip(texts_asked, answers, strict=True):
            assert "Expand(Pruning)" not in db.explain(text)
            assert answer == rows_of(db, text), text


@few
@given(graphs(), chains, st.data())
def test_chains_see_what_a_transaction_has_written(graph: Graph, steps: list[Pattern], data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.sampled_from([r.id for r in graph.relationships]))) if graph.relationships else set()
    left = Graph(graph.nodes, [r for r in graph.relationships if r.id not in gone])
    pairs = {(a, end_of(a, way)) for a in graph.nodes for way in _ways(left, a, steps)}
    chain = written(steps, "", "")
    with database(graph) as db, db.begin() as tx:
        tx.run("MATCH ()-[r]->() WHERE r.i IN $gone DELETE r", gone=sorted(gone)).consume()
        found = tx.run(f"MATCH (a:N){chain} RETURN DISTINCT a.i, z.i").values()
        assert sorted(map(tuple, found)) == sorted(pairs)
        counted = tx.run(f"MATCH (a:N){chain} RETURN a.i, count(DISTINCT z.i)").values()
        assert dict(counted) == {a: len({z for b, z in pairs if b == a}) for a, _ in pairs}


def test_a_predicate_fails_as_it_does_on_every_path() -> None:
    with hoplite.open() as db:
        db.run("CREATE (:A {v: 1})-[:R]->(:B {v: 0})-[:S]->(:C {v: 2})").consume()
        for text in (
            "MATCH (a:A)-[:R]->(b:B)-[:S]->(c:C) WHERE 1 / b.v > 0 RETURN a.v, count(DISTINCT c.v)",
            "MATCH (a:A)-[:R]->(b:B)-[:S]->(c:C) WHERE b.v RETURN DISTINCT a.v, c.v",
        ):
            with pytest.raises(ClientError) as failure:
                db.run(text).values()
            with without_the_rule(), hoplite.open() as other, pytest.raises(ClientError) as expected:
                other.run("CREATE (:A {v: 1})-[:R]->(:B {v: 0})-[:S]->(:C {v: 2})").consume()
                other.run(text).values()
            assert str(failure.value) == str(expected.value)


def test_keys_of_starts_without_an_end_are_not_asked_for() -> None:
    with hoplite.open() as db:
        db.run("CREATE (:A {v: 1})-[:R]->(:B {v: 3}), (:A {v: 0})").consume()
        assert db.run("MATCH (a:A)-[:R]->(b:B) RETURN 6 / a.v, count(DISTINCT b.v)").values() == [[6, 1]]


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_more_pairs_than_are_counted_at_once_are_counted_in_batches(
    monkeypatch: pytest.MonkeyPatch, backend: BackendName
) -> None:
    monkeypatch.setattr("hoplite.engine.operators.chains._MOST_PAIRS", 3)
    with hoplite.open(backend=backend) as db:
        db.run("UNWIND range(1, 4) AS i CREATE (a:A {i: i})-[:R]->(:B)-[:S]->(:C {i: i % 2})").consume()
        text = "MATCH (a:A)-[:R]->(:B)-[:S]->(c:C) RETURN c.i, count(DISTINCT a.i) AS n ORDER BY c.i"
        assert db.run(text).values() == [[0, 2], [1, 2]]
        assert db.run(f"CREATE (:Once) WITH 1 AS one {text}").values() == [[0, 2], [1, 2]]
        assert db.run("MATCH (n:Once) RETURN count(*)").value() == [1]
