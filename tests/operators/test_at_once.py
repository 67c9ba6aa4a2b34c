"""Writes of all rows at once give what row by row gives: the same graph, ids, counters and errors."""

from __future__ import annotations

import random
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError

import hoplite
from hoplite.engine.operators import merging, setting, writes

ROWS = 40
STATEMENTS = (
    "UNWIND $rows AS r CREATE (n:A {k: r.k, v: r.v, w: r.w})",
    "UNWIND $rows AS r CREATE (n:A) SET n = r",
    "UNWIND $rows AS r CREATE (n:B) SET n += r, n.x = r.k + 1",
    "UNWIND $rows AS r MATCH (n:A {k: r.k}) SET n.v = r.v",
    "UNWIND $rows AS r MATCH (n:A {k: r.k}) SET n.v = r.v, n.w = n.v",
    "UNWIND $rows AS r MATCH (n:A {k: r.k}) SET n = r",
    "UNWIND $rows AS r MATCH (n:A {k: r.k}) SET n += {v: r.v, u: null}",
    "UNWIND $rows AS r MATCH (n {k: r.k}) SET n.k = r.w",
    "UNWIND $rows AS r MATCH (n:A {k: r.k}) REMOVE n.v, n.w",
    "UNWIND $rows AS r MATCH (n:B {k: r.k}) SET n.k = n.k + 1",
    "UNWIND $rows AS r OPTIONAL MATCH (n:A {k: r.k, v: r.v}) SET n.seen = r.k",
    "UNWIND $rows AS r WITH r WHERE r.k >= 0 MERGE (n:A {k: r.k}) ON CREATE SET n.made = r.v ON MATCH SET n.v = r.v",
    "UNWIND $rows AS r MERGE (n:A {k: r.k}) ON CREATE SET n += r ON MATCH SET n.hits = r.w",
    "UNWIND $rows AS r WITH r WHERE r.k IS NOT NULL MERGE (n:B {k: r.k, v: 1}) SET n.w = r.w",
    "UNWIND $rows AS r MATCH (a:A {k: r.k}), (b:B {k: r.w}) MERGE (a)-[t:R {q: r.k}]->(b) ON MATCH SET t.v = r.v",
    "UNWIND $rows AS r MATCH (a:A {k: r.k}), (b:A {k: r.w}) CREATE (a)-[t:R {q: r.v}]->(b)",
    "UNWIND $rows AS r MATCH (:A {k: r.k})-[t:R]->() SET t = r",
    "UNWIND $rows AS r MATCH (:A {k: r.k})-[t:R]-() SET t.q = r.w, t.z = r.v",
    "UNWIND $rows AS r MATCH (:A {k: r.k})-[t:R]->() DELETE t",
    "UNWIND $rows AS r MATCH (n:A {k: r.k}) WHERE r.w = 3 DELETE n",
    "UNWIND $rows AS r MATCH (n {k: r.k}) WHERE r.w < 3 DETACH DELETE n",
    "MATCH (n:A) WHERE n.v IS NULL DETACH DELETE n",
    "MATCH (n) SET n.all = n.k",
    "MATCH (n:A) WITH n LIMIT 3 UNWIND $rows AS r WITH n, r WHERE r.v IS NOT NULL AND r.k >= 0 SET n = r",
)
VALUES: tuple[Any, ...] = (None, 1, 2.5, "text", "ä", True, [1, 2], [1, 2.5], ["a"], [], 7, 7, 7)
WRONG: tuple[Any, ...] = ({"a": 1}, [1, "a"], [[1]], [None])


def rows(source: random.Random) -> list[dict[str, Any]]:
    """Rows to write: keys repeat, are null or missing; once in a while a value cannot be stored."""
    values = VALUES + WRONG if source.random() < 0.15 else VALUES
    few = source.choice((5, 30, 200))
    made = []
    for _ in range(ROWS):
        row = {"k": source.randrange(few), "v": source.choice(values), "w": source.randrange(6)}
        if source.random() < 0.1:
            del row[source.choice(("v", "w"))]
        if source.random() < 0.01:
            row["k"] = None
        made.append(row)
    return made


def outcome(db: hoplite.Database, statement: str, given: list[dict[str, Any]]) -> Any:
    """The counters of a statement, or its error."""
    try:
        return repr(db.run(statement, rows=given).consume().counters)
    except Neo4jError as error:
        return error.code, error.message


def content(db: hoplite.Database) -> list[list[str]]:
    """Everything in the graph, with types."""
    nodes = db.run("MATCH (n) RETURN id(n), labels(n), properties(n)").values()
    ends = "MATCH (a)-[r]->(b) RETURN id(r), type(r), id(a), id(b), properties(r)"
    return [
        sorted(repr([*row[:-1], sorted(row[-1].items())]) for row in entities)
        for entities in (nodes, db.run(ends).values())
    ]


@pytest.mark.parametrize("seed", range(24))
def test_all_rows_at_once_are_as_row_by_row(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(seed)
    fast, slow = hoplite.open(), hoplite.open()
    if seed % 3 == 0:
        for db in (fast, slow):
            db.run("CREATE CONSTRAINT FOR (n:A) REQUIRE n.k IS UNIQUE").consume()
    if seed % 3 == 1:
        for db in (fast, slow):
            db.run("CREATE INDEX FOR (n:A) ON (n.k)").consume()
            db.run("CREATE CONSTRAINT FOR ()-[r:R]-() REQUIRE r.q IS UNIQUE").consume()
    for _ in range(14):
        statement, given = source.choice(STATEMENTS), rows(source)
        results = [outcome(fast, statement, given)]
        with monkeypatch.context() as patched:
            for module in (merging, setting, writes):
                patched.setattr(module, "WORTH_DOING_AT_ONCE", 1 << 62)
            patched.setattr(merging, "_WORTH_TOGETHER", 1 << 62)
            results.append(outcome(slow, statement, given))
        assert results[0] == results[1], (statement, given)
        assert content(fast) == content(slow), (statement, given)


@pytest.mark.parametrize(
    ("labels", "added"),
    [
        (":X:X:Y", 2),
        (":$('X'):$('X')", 1),
        (":X:$('X')", 2),
        (":$(['X', 'Y', 'X'])", 3),
        (":X:$(['X', 'X']):X", 3),
        (":$(['X', 'X'])&$('X')", 3),
    ],
)
def test_labels_that_are_computed_count_one_by_one(labels: str, added: int) -> None:
    db = hoplite.open()
    for rows_given in (1, 20):
        counters = db.run(f"UNWIND range(1, {rows_given}) AS i CREATE (n{labels})").consume().counters
        assert counters.labels_added == added * rows_given
    assert db.run(f"MERGE (n{labels} {{k: 1}})").consume().counters.labels_added == added
