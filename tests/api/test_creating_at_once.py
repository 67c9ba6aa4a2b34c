"""CREATE for many rows at once makes the same graph, with the same ids, counters and errors, as row by row."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j.exceptions import Neo4jError

import hoplite
from hoplite.engine.operators import writes

SETUP = (
    "CREATE CONSTRAINT FOR (n:Key) REQUIRE n.k IS UNIQUE",
    "CREATE CONSTRAINT FOR (n:Pair) REQUIRE (n.a, n.b) IS UNIQUE",
    "CREATE CONSTRAINT FOR ()-[r:ONCE]-() REQUIRE r.k IS UNIQUE",
    "UNWIND range(0, 19) AS i CREATE (:Old {i: i}), (:Key {k: 100 + i})",
)
STATEMENTS = (
    "UNWIND range(0, 19) AS i CREATE (n:New:Other {i: i, half: i / 2.0, text: 'x' + i, none: null, list: [i]})",
    "UNWIND range(0, 19) AS i CREATE (n) RETURN id(n) AS id",
    "UNWIND range(0, 19) AS i CREATE (n:New:New {i: CASE WHEN i % 2 = 0 THEN i ELSE 'odd' END}) RETURN n.i AS i",
    "UNWIND range(0, 19) AS i CREATE (a:A {i: i})-[:R {i: i}]->(a)",
    "UNWIND range(0, 19) AS i CREATE (a:A {i: i})-[:R]->(b:B {i: a.i + 1}) RETURN id(a) AS a, id(b) AS b",
    "MATCH (o:Old) CREATE (o)-[r:R {i: o.i}]->(n:New {i: o.i}) RETURN id(r) AS r, id(n) AS n",
    "MATCH (a:Old), (b:Old) WHERE a.i < b.i CREATE (a)-[:R {sum: a.i + b.i}]->(b)",
    "MATCH (a:Old) OPTIONAL MATCH (a)-->(b) CREATE (a)-[:R]->(b)",
    "MATCH (a:Old) WITH collect(a) AS all UNWIND all AS a CREATE (a)-[:R]->(a)",
    "MATCH (a:Old) WITH collect(a) AS all UNWIND all AS a DELETE a CREATE (a)-[:R]->(a)",
    "MATCH (a:Old) DELETE a WITH a WHERE a.i = 1 CREATE (a)-[:R]->(:New)",
    "UNWIND range(0, 19) AS i CREATE (:Key {k: i})",
    "UNWIND range(0, 19) AS i CREATE (:Key {k: i % 10})",
    "UNWIND range(90, 109) AS i CREATE (:Key {k: i})",
    "UNWIND range(0, 19) AS i CREATE (:Key {k: i % 10 / 1.0}) CREATE (:Key {k: i})",
    "UNWIND range(0, 19) AS i CREATE (:Key {k: CASE i WHEN 3 THEN 0.0 / 0 ELSE i END})",
    "UNWIND range(0, 19) AS i CREATE (:Key {other: i})",
    "UNWIND range(0, 19) AS i CREATE (:Pair {a: i % 5, b: i})",
    "UNWIND range(0, 19) AS i CREATE (:Pair {a: i % 5, b: i % 7 % 3})",
    "MATCH (a:Old) CREATE (a)-[:ONCE {k: a.i}]->(a)",
    "MATCH (a:Old) CREATE (a)-[:ONCE {k: a.i % 7}]->(a)",
    "UNWIND range(0, 19) AS i CREATE (:New {i: CASE i WHEN 7 THEN {a: 1} ELSE i END})",
    "UNWIND range(0, 19) AS i CREATE (:New {i: 10 / (i - 7)})",
    "UNWIND range(0, 19) AS i CREATE (:Key {k: CASE i WHEN 3 THEN 1 ELSE i END, x: 10 / (i - 7)})",
    "UNWIND range(0, 19) AS i CREATE (:New $map)",
    "UNWIND range(0, 19) AS i CREATE (:New {i: COUNT { (:New) }})",
    "UNWIND range(0, 19) AS i CREATE (:$('L' + i % 3) {i: i})",
    "MATCH (a:Old) CREATE (a)-[:$('R' + a.i % 3)]->(a)",
    "UNWIND range(0, 19) AS i CREATE (:Key {k: i}) WITH i MERGE (n:Key {k: i}) RETURN count(n) AS n",
    "UNWIND range(0, 19) AS i CREATE (n:Key {k: i}) WITH n MATCH (m:Key {k: n.k}) SET m.k = -m.k RETURN m.k AS k",
)


def outcome(statement: str) -> list[Any]:
    """Rows and counters, or the error, and then the graph."""
    db = hoplite.open()
    for made in SETUP:
        db.run(made).consume()
    try:
        result = db.run(statement, map={"a": 1, "b": [1, 2]})
        found: list[Any] = [result.data()]
        found.append(repr(result.consume().counters))
    except Neo4jError as error:
        found = [error.code, str(error.message).replace(str(db._graph.uuid), "...")]
    for query in (
        "MATCH (n) RETURN id(n) AS id, apoc.coll.sort(labels(n)) AS labels, properties(n) AS held ORDER BY id",
        "MATCH (a)-[r]->(b) RETURN id(r) AS id, [id(a), type(r), id(b)] AS triple, properties(r) AS held ORDER BY id",
        "MATCH (n:Key) WHERE n.k = 5 RETURN count(n) AS n",
        "MATCH (n:New) RETURN count(n) AS n",
    ):
        found.append(repr(db.run(query).data()))
    return found


@pytest.mark.parametrize("statement", STATEMENTS)
def test_at_once_and_row_by_row_are_the_same(statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = outcome(statement)
    monkeypatch.setattr(writes, "WORTH_DOING_AT_ONCE", 10**9)
    assert at_once == outcome(statement)
