"""What an index finds is what the predicate says of each node: with an index and without, the same rows."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import hoplite

numbers = st.sampled_from(
    [0, -0.0, 0.0, 1, 1.0, 1.5, 2, 2**53, 2**53 + 1, float(2**53), -(2**63), float("inf"), float("nan")]
)
texts = st.text(st.sampled_from("abAB\U0001f600é"), max_size=3)
values = st.one_of(st.none(), numbers, texts, st.booleans(), st.lists(st.integers(0, 2), max_size=2))
columns = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-3, 3)), max_size=12),
    st.lists(st.one_of(st.none(), st.floats(-2, 2)), max_size=12),
    st.lists(st.one_of(st.none(), texts), max_size=12),
    st.lists(values, max_size=12),
)
PREDICATES = (
    "n.k > $a",
    "n.k >= $a",
    "n.k < $a",
    "$a <= n.k",
    "n.k > $a AND n.k <= $b",
    "$a < n.k < $b",
    "$a <= n.k <= $b AND n.k >= $b",
    "n.k STARTS WITH $a",
    "n.k CONTAINS $a",
    "n.k ENDS WITH $a",
    "n.k IS NOT NULL",
    "n.k = $a",
    "n.k IN [$a, $b, $a]",
    "n.k > $a AND n.k CONTAINS $b",
)


@settings(max_examples=60)
@given(columns, values, values, st.integers(0, 12), st.booleans())
def test_an_index_finds_what_the_predicate_says(held: list[Any], a: Any, b: Any, later: int, fold: bool) -> None:
    """Some of the values are written after the index was made, some nodes lose their label or their value."""
    found: list[list[Any]] = []
    for with_index in (False, True):
        with hoplite.open() as db:
            create = "UNWIND $rows AS row CREATE (:N {i: row.i, k: row.k})"
            rows = [{"i": i, "k": k} for i, k in enumerate(held)]
            if with_index:
                db.run("CREATE INDEX FOR (n:N) ON (n.k)").consume()
            db.run(create, rows=rows[:later]).consume()
            if fold:
                db.checkpoint()
            db.run(create, rows=rows[later:]).consume()
            db.run("MATCH (n:N) WHERE n.i % 5 = 3 SET n.k = $a", a=a).consume()
            db.run("MATCH (n:N) WHERE n.i % 7 = 4 REMOVE n:N").consume()
            answers = []
            for predicate in PREDICATES:
                text = f"MATCH (n:N) WHERE {predicate} RETURN n.i ORDER BY n.i"
                assert ("Index" in db.explain(text)) is with_index
                answers.append(db.run(text, a=a, b=b).value())
            found.append(answers)
    assert dict(zip(PREDICATES, found[0], strict=True)) == dict(zip(PREDICATES, found[1], strict=True))


def test_bounds_may_come_from_the_row() -> None:
    with hoplite.open() as db:
        db.run("CREATE INDEX FOR (n:N) ON (n.k)").consume()
        db.run("UNWIND range(0, 9) AS k CREATE (:N {k: k})").consume()
        text = "UNWIND [[7, 'x'], [2, 4], [null, 3], [8, 9]] AS b MATCH (n:N) WHERE b[0] < n.k <= b[1] RETURN b[0], n.k"
        assert "NodeIndexSeekByRange" in db.explain(text)
        assert sorted(db.run(text).values()) == [[2, 3], [2, 4], [8, 9]]


def test_temporal_bounds() -> None:
    with hoplite.open() as db:
        db.run("CREATE INDEX FOR (n:N) ON (n.k)").consume()
        held = "[date('2020-01-01'), date('2021-01-01'), datetime('2020-06-01T00:00Z'), 5, null]"
        db.run(f"UNWIND {held} AS k CREATE (:N {{k: k}})").consume()
        asked = "MATCH (n:N) WHERE n.k > date('2020-05-01') RETURN toString(n.k)"
        assert db.run(asked).value() == ["2021-01-01"]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), values), max_size=8), values, values)
def test_an_index_finds_relationships_by_value(triples: list[tuple[int, int, Any]], a: Any, b: Any) -> None:
    """Either way round, both ways, beside another pattern; loops and parallel relationships among them."""
    patterns = (
        "(x)-[r:T {k: $a}]->(y)",
        "(x)<-[r:T {k: $a}]-(y)",
        "(x)-[r:T {k: $a}]-(y)",
        "(x)-[r:T]->(y) WHERE r.k IN [$a, $b, $a]",
        "(x)-[r:T {k: $a}]->(y)-[s:T]-(z)",
        "(x:N {i: 1})-[r:T {k: $a}]-(y)",
        "(x)-[r:T {k: $a}]->(x)",
    )
    found: list[list[Any]] = []
    for with_index in (False, True):
        with hoplite.open() as db:
            if with_index:
                db.run("CREATE INDEX FOR ()-[r:T]-() ON (r.k)").consume()
            db.run("UNWIND range(0, 2) AS i CREATE (:N {i: i})").consume()
            make = "MATCH (a:N {i: $s}), (b:N {i: $e}) CREATE (a)-[:T {k: $k, i: $i}]->(b)"
            for number, (start, end, value) in enumerate(triples):
                db.run(make, s=start, e=end, k=value, i=number).consume()
            answers = []
            for pattern in patterns:
                text = f"MATCH {pattern} RETURN x.i, r.i" + (", y.i" if "(y)" in pattern else "")
                if with_index and pattern == patterns[2] and len(triples) > 1:
                    assert "RelationshipIndexSeek" in db.explain(text)
                answers.append(sorted(db.run(text, a=a, b=b).values()))
            found.append(answers)
    assert found[0] == found[1]
