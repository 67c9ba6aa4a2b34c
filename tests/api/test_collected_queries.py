"""Statements are collected while `db.stats.collect` is on."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j.exceptions import ClientError

import hoplite
from hoplite import Database
from hoplite.engine import collected_queries


@pytest.fixture
def db() -> Database:
    found = hoplite.open()
    found.run("CREATE (:Person {name: 'Ann', born: 1990})-[:KNOWS]->(:Person {name: 'Bob'})").consume()
    found.run("CALL db.stats.collect('QUERIES')").consume()
    return found


def _collected(db: Database, config: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    return [row["data"] for row in db.run("CALL db.stats.retrieve('QUERIES', $c)", c=config or {})]


def _texts(db: Database) -> list[str]:
    return [data["query"] for data in _collected(db)]


def _anonymous(db: Database) -> list[str]:
    rows = db.run(
        "CALL db.stats.retrieveAllAnonymized('mine') YIELD section, data WHERE section = 'QUERIES' RETURN data"
    )
    return [row["data"]["query"] for row in rows]


def test_a_collection_is_started_once_and_cleared_when_it_is_stopped(db: Database) -> None:
    def told(call: str) -> tuple[bool, str]:
        (row,) = db.run(f"CALL {call}")
        return row["success"], row["message"]

    assert told("db.stats.collect('QUERIES', {durationSeconds: 'x'})") == (True, "Collection is already ongoing.")
    assert told("db.stats.clear('QUERIES')") == (False, "Collected data cannot be cleared while collecting.")
    assert told("db.stats.stop('QUERIES')") == (True, "Collection stopped.")
    assert told("db.stats.clear('QUERIES')") == (True, "Data cleared.")
    assert told("db.stats.collect('QUERIES', {durationSeconds: 0})") == (True, "Collection started.")
    assert told("db.stats.stop('QUERIES')") == (True, "Collection stopped.")


def test_a_statement_has_a_plan_and_times(db: Database) -> None:
    for _ in range(3):
        list(db.run("MATCH (n:Person) WHERE n.born > 1 RETURN n.name AS name"))
    (data,) = _collected(db, {"maxInvocations": 2})
    assert data["query"] == "MATCH (n:Person) WHERE n.born > 1 RETURN n.name AS name"
    scan = {"id": 3, "operator": "NodeByLabelScan"}
    filtered = {"id": 2, "operator": "Filter", "lhs": scan}
    projected = {"id": 1, "operator": "Projection", "lhs": filtered}
    assert data["queryExecutionPlan"] == {"id": 0, "operator": "ProduceResults", "lhs": projected}
    assert len(data["estimatedRows"]) == 4
    assert [set(one) for one in data["invocations"]] == [
        {"elapsedCompileTimeInUs", "elapsedExecutionTimeInUs", "startTimestampMillis"}
    ] * 2
    summary = data["invocationSummary"]
    assert summary["invocationCount"] == 3
    assert summary["compileTimeInUs"]["max"] > summary["compileTimeInUs"]["min"]  # the first was planned
    assert set(summary["executionTimeInUs"]) == {"min", "max", "avg"}


def test_both_sides_of_a_plan_are_numbered(db: Database) -> None:
    list(db.run("RETURN 1 AS a UNION ALL RETURN 2 AS a"))
    (data,) = _collected(db)
    union = data["queryExecutionPlan"]["lhs"]
    assert (union["operator"], union["lhs"]["id"], union["rhs"]["id"]) == ("Union", 2, 3)


def test_what_is_collected(db: Database) -> None:
    list(db.run("RETURN 1 AS read"))
    db.run("RETURN 2 AS unread").consume()
    result = db.run("UNWIND [1, 2] AS begun RETURN begun")
    result.peek()
    result.close()
    db.run("CREATE (:Town)")
    db.run("CREATE INDEX FOR (n:Town) ON (n.zip)")
    db.run("EXPLAIN MATCH (n) RETURN n").consume()
    db.run("PROFILE RETURN 3 AS x").consume()
    with db.begin() as transaction:
        list(transaction.run("RETURN 4 AS inside"))
    assert _texts(db) == [
        "RETURN 1 AS read",
        "RETURN 2 AS unread",
        "UNWIND [1, 2] AS begun RETURN begun",
        "CREATE (:Town)",
        "CREATE INDEX FOR (n:Town) ON (n.zip)",
        "EXPLAIN MATCH (n) RETURN n",
        "PROFILE RETURN 3 AS x",
        "RETURN 4 AS inside",
    ]


def test_what_is_not_collected(db: Database) -> None:
    with pytest.raises(ClientError):
        list(db.run("UNWIND [1, 0] AS x RETURN 1 / x"))
    with pytest.raises(ClientError):
        db.run("RETURN x")
    db.run("CALL dbms.components()").consume()
    db.run("MATCH (n) CALL db.stats.status() YIELD status RETURN status").consume()
    assert _texts(db) == []


def test_nothing_is_collected_after_the_end(db: Database) -> None:
    list(db.run("RETURN 1 AS x"))
    db.run("CALL db.stats.stop('QUERIES')").consume()
    list(db.run("RETURN 2 AS x"))
    assert _texts(db) == ["RETURN 1 AS x"]


def test_a_collection_ends_when_its_time_is_up(db: Database) -> None:
    db.run("CALL db.stats.stop('QUERIES')").consume()
    db.run("CALL db.stats.collect('QUERIES', {durationSeconds: 1})").consume()
    list(db.run("RETURN 1 AS x"))
    assert db._collector is not None
    db._collector._until = 0.0  # of a clock that never goes back
    list(db.run("RETURN 2 AS x"))
    assert _texts(db) == ["RETURN 1 AS x"]
    assert [row["status"] for row in db.run("CALL db.stats.status()")] == ["idle"]


def test_the_oldest_statements_are_forgotten(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collected_queries, "KEPT", 2)
    for number in range(4):
        list(db.run(f"RETURN {number} AS x"))
    assert _texts(db) == ["RETURN 2 AS x", "RETURN 3 AS x"]
    monkeypatch.setattr(collected_queries, "KEPT_CHARACTERS", 20)
    list(db.run("RETURN 4 AS x"))
    assert _texts(db) == ["RETURN 4 AS x"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("MATCH (n:Person {name: 'Ann'}) RETURN n", 'MATCH (var0:L0 {p1: "string[3]"}) RETURN var0'),
        (
            "MATCH ()-[r:KNOWS|LIKES]->(m:Town) RETURN m.zip",
            "MATCH ()-[var0:R0|UNKNOWN0]->(var1:UNKNOWN1) RETURN var1.UNKNOWN2",
        ),
        ("MATCH (n) // a secret\nRETURN  count(*) AS secret", "MATCH (var0) RETURN count(*) AS var1"),
        ("RETURN $secret, toLower('ABC') AS `a secret`", 'RETURN $param0, toLower("string[3]") AS var0'),
        ("MATCH (n) RETURN n {.name, order: 1} AS match", "MATCH (var0) RETURN var0 {.p1, UNKNOWN0: 1} AS var1"),
        ("CALL db.labels() YIELD label RETURN label", "CALL db.labels() YIELD var0 RETURN var0"),
        ("CREATE INDEX secret FOR (n:Person) ON (n.name)", "CREATE INDEX var0 FOR (var1:L0) ON (var1.p1)"),
    ],
)
def test_names_and_strings_are_hidden(db: Database, text: str, shown: str) -> None:
    db.run(text, secret=1).consume()
    assert _anonymous(db) == [shown]


def test_a_statement_that_means_nothing_any_more_is_left_out(db: Database) -> None:
    db.register_function("my.own() :: INTEGER", lambda: 1)
    list(db.run("RETURN my.own() AS x"))
    list(db.run("RETURN 1 AS x"))
    del db._functions["my.own"]
    db._forget_statements()
    assert _texts(db) == ["RETURN 1 AS x"]
