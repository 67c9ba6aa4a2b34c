"""MERGE and SET over many rows are what a statement for each row would do, and items what one for each would."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import hoplite

STATEMENTS = (
    "MERGE (n:N {k: r.k})",
    "MERGE (n:N {k: r.k}) ON CREATE SET n.made = r.v ON MATCH SET n.seen = coalesce(n.seen, 0) + 1",
    "MERGE (n:N {k: r.k, v: r.v})",
    "MERGE (n:N:M {k: r.k}) ON CREATE SET n.v = r.v, n:Fresh",
    "MERGE (n:N {k: r.k}) ON CREATE SET n += {v: r.v, k: r.k}",
    "MERGE (n:N {k: r.k}) ON MATCH SET n = {v: r.v, k: r.k}",
    # What is set decides what later rows find.
    "MERGE (n:N {k: r.k}) ON CREATE SET n.k = r.v",
    "MERGE (n:N {k: r.k}) ON MATCH SET n += {k: r.v}",
    "MERGE (n:N {k: r.k}) ON MATCH SET n = {v: r.v}",
    "MERGE (n:N {k: r.k}) ON CREATE SET n:M ON MATCH SET n:M",
    "MERGE (n:N) ON CREATE SET n.v = r.v ON MATCH SET n.v = n.v + 1",
    "MATCH (a:A {i: r.i}), (b:A {i: r.j}) MERGE (a)-[n:R]->(b) ON MATCH SET n.seen = coalesce(n.seen, 0) + 1",
    "MATCH (a:A {i: r.i}), (b:A {i: r.j}) MERGE (a)-[n:R]-(b) ON CREATE SET n.v = r.v",
    "MATCH (a:A {i: r.i}), (b:A {i: r.j}) MERGE (a)-[n:R {k: r.k}]->(b) SET n.v = r.v",
    "MATCH (a:A {i: r.i}), (b:A {i: r.j}) MERGE (a)-[n:R]->(b) ON CREATE SET a.v = r.v, b:Fresh",
    "MATCH (a:A {i: r.i}) MERGE (n:N {k: a.i}) ON CREATE SET n.v = r.j",
    "MERGE (x:N {k: r.k})-[n:R]->(y:N {k: r.v})",
    "MATCH (n:A {i: r.i}) SET n.c = coalesce(n.c, 0) + 1",
    "MATCH (n:A {i: r.i}) SET n.c = coalesce(n.c, 0) + r.j, n.d = n.c",
    "MATCH (n:A {i: r.i}) SET n.c = coalesce(n.c, 0) + r.j SET n.d = n.c",
    "MATCH (n:A {i: r.i}), (b:A {i: r.j}) SET n.c = coalesce(b.c, 0) + 1",
    "MATCH (n:A {i: r.i}) SET n += {c: coalesce(n.c, 0) + 1}",
)
ITEMS = (
    ("n.c = coalesce(b.d, 0) + 1", "b.d = 2"),
    ("n.c = properties(b).d", "b.d = coalesce(b.d, 0) + 1"),
    ("n.c = size(labels(n))", "n:Fresh"),
    ("n:Fresh", "b.c = COUNT { MATCH (:Fresh) }"),
    ("n.c = b.d", "b.d = coalesce(n.c, 0) + r.i", "n += {e: b.d}"),
)
values = st.sampled_from([0, 1, 1.0, 2, "a", "b", True, 2**53, 2**53 + 1])
rows = st.lists(
    st.fixed_dictionaries({"k": values, "v": values, "i": st.integers(0, 2), "j": st.integers(0, 2)}), max_size=9
)


def _database(index: bool) -> hoplite.Database:
    db = hoplite.open()
    if index:
        db.run("CREATE INDEX FOR (n:N) ON (n.k)").consume()
    db.run("CREATE (:N {k: 1, v: 1}), (:N {k: 'a'}), (:N {k: 'a', v: 'b'})").consume()
    db.run("CREATE (:A {i: 0}), (:A {i: 1}), (:A {i: 2})").consume()
    db.run("MATCH (a:A {i: 0}), (b:A {i: 1}) CREATE (a)-[:R {k: 1}]->(b), (a)-[:R]->(b)").consume()
    return db


def _content(db: hoplite.Database) -> tuple[Counter[str], Counter[str]]:
    nodes = db.run("MATCH (n) RETURN labels(n) AS l, properties(n) AS p").data()
    ends = "MATCH (a)-[r]->(b) RETURN properties(a) AS a, type(r) AS t, properties(r) AS p, properties(b) AS b"
    return Counter(map(_shown, nodes)), Counter(map(_shown, db.run(ends).data()))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_shown(value[key])}" for key in sorted(value)) + "}"
    return repr(sorted(value) if isinstance(value, list) else value)


@settings(max_examples=40)
@given(rows, st.sampled_from(STATEMENTS), st.booleans())
def test_rows_together_are_rows_one_by_one(given_rows: list[dict[str, Any]], merge: str, index: bool) -> None:
    returned = " RETURN properties(n) AS p" if "SET" not in merge else " RETURN 1 AS p"
    with _database(index) as together, _database(index) as apart:
        answers: list[str] = []
        summary = together.run(f"UNWIND $rows AS r {merge}{returned}", rows=given_rows)
        found = [_shown(record["p"]) for record in summary]
        counters = summary.consume().counters
        total = Counter[str]()
        for row in given_rows:
            result = apart.run(f"WITH $row AS r {merge}{returned}", row=row)
            answers += [_shown(record["p"]) for record in result]
            done = result.consume().counters
            total.update({name: getattr(done, name) for name in ("nodes_created", "relationships_created")})
        assert _content(together) == _content(apart)
        assert Counter(found) == Counter(answers)
        assert (counters.nodes_created, counters.relationships_created) == (
            total["nodes_created"],
            total["relationships_created"],
        )


@settings(max_examples=40)
@given(rows, st.sampled_from(ITEMS))
def test_items_together_are_items_one_by_one(given_rows: list[dict[str, Any]], items: tuple[str, ...]) -> None:
    match = "UNWIND $rows AS r MATCH (n:A {i: r.i}), (b:A {i: r.j}) SET "
    with _database(index=False) as together, _database(index=False) as apart:
        together.run(match + ", ".join(items), rows=given_rows).consume()
        for item in items:
            apart.run(match + item, rows=given_rows).consume()
        assert _content(together) == _content(apart)
