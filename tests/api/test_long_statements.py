"""Long statements within the limits are answered; the ends of types give an answer or an error of Cypher."""

from __future__ import annotations

import time
from typing import Any

import pytest
from neo4j.exceptions import ClientError, CypherSyntaxError, Neo4jError

import hoplite


@pytest.fixture
def db() -> hoplite.Database:
    return hoplite.open()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("RETURN " + " + ".join(["1"] * 3_000) + " AS x", 3_000),
        ("WITH 'a' AS s RETURN size(" + " + ".join(["s"] * 2_000) + ") AS x", 2_000),
        ("WITH 7 AS i RETURN " + " - ".join(["i"] * 200) + " AS x", 7 - 199 * 7),
        ("RETURN " + " XOR ".join(["true"] * 1_001) + " AS x", True),
        ("WITH 3 AS i RETURN " + " OR ".join(f"i = {n}" for n in range(2_000)) + " AS x", True),
        ("WITH 1 AS x " * 300 + "RETURN x", 1),
        ("UNWIND [1] AS x " + " ".join(f"UNWIND [x] AS x{n}" for n in range(300)) + " RETURN x299 AS x", 1),
        (" UNION ALL ".join(["RETURN 1 AS x"] * 500) + " UNION RETURN 1 AS x", None),
        ("RETURN CASE " + "WHEN false THEN 0 " * 2_000 + "ELSE 5 END AS x", 5),
    ],
)
def test_long_statements_are_answered(db: hoplite.Database, text: str, answer: Any) -> None:
    if answer is None:
        with pytest.raises(CypherSyntaxError, match="UNION"):
            db.run(text).values()
    else:
        assert db.run(text).values() == [[answer]]


def test_many_merges_and_patterns_are_planned(db: hoplite.Database) -> None:
    db.run(" ".join(f"MERGE (a{n}:A {{i: {n}}})" for n in range(300)))
    assert db.run("MATCH (a:A) RETURN count(a)").values() == [[300]]
    few = ", ".join(f"(a{n}:A {{i: {n}}})" for n in range(120))
    assert db.run(f"MATCH {few} RETURN count(*)").values() == [[1]]


def test_the_timeout_begins_with_the_text(db: hoplite.Database) -> None:
    with db.session(timeout=0.0) as session, pytest.raises(ClientError) as caught:
        session.run("RETURN " + "a, " * 10_000 + "a")
    assert caught.value.code == "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"


def test_a_parameter_that_holds_itself_many_times_ends_with_the_timeout(db: hoplite.Database) -> None:
    shared: Any = {"a": 1}
    for _ in range(60):
        shared = {"l": shared, "r": shared}
    began = time.process_time()
    with db.session(timeout=0.05) as session, pytest.raises(ClientError) as caught:
        session.run("RETURN $p AS p", p=shared)
    assert caught.value.code == "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"
    assert time.process_time() - began < 60  # without a deadline it takes centuries


def test_limits_of_the_text_are_settings() -> None:
    db = hoplite.open(max_nesting=20, max_tokens=5_000, max_text_length=30_000)
    for text in ("RETURN " + "[" * 30 + "]" * 30, "RETURN " + "a, " * 9_000 + "a", "RETURN 1" + " " * 30_000):
        with pytest.raises(CypherSyntaxError, match="`max_"):
            db.run(text)


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("apoc.coll.sumLongs([9223372036854775807, 9223372036854775807])", -2),
        ("point.distance(point({x: 1e300, y: 0}), point({x: -1e300, y: 0}))", float("inf")),
        ("labels(apoc.create.vNode(['a', null], {}))", ["a"]),
    ],
)
def test_ends_of_types(db: hoplite.Database, call: str, answer: Any) -> None:
    assert db.run(f"RETURN {call} AS x").values() == [[answer]]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("WITH [1, 'a'] AS l RETURN apoc.create.vNode(l, {}) AS x", "Statement.TypeError"),
        ("WITH [{a: 1}] AS l CALL apoc.refactor.mergeNodes(l) YIELD node RETURN node", "Statement.TypeError"),
        ("CALL apoc.periodic.commit(null)", "Procedure.ProcedureCallFailed"),
        ("RETURN reduce(m = {a: 1}, i IN range(1, 5000) | {a: m}) AS x", "Statement.SyntaxError"),
        ("RETURN " + "9" * 5_000, "Statement.SyntaxError"),
    ],
)
def test_only_cypher_errors_come_out(db: hoplite.Database, query: str, code: str) -> None:
    with pytest.raises(Neo4jError) as caught:
        db.run(query).values()
    assert caught.value.code == f"Neo.ClientError.{code}"
