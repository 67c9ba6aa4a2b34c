"""Results and transactions that are kept hold their rows, but no version of the graph."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError

import hoplite
from hoplite.api.result import Result
from hoplite.driver import GraphDatabase
from hoplite.storage.delta import Delta


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as db:
        db.run("UNWIND range(1, 300) AS i CREATE (:A {i: i})")
        yield db


def _versions(db: hoplite.Database) -> int:
    """How many versions of the graph are in memory."""
    gc.collect()
    tokens = db._graph._delta.base.tokens
    # By type alone: isinstance asks a weak proxy of something that is gone, and libraries leave such proxies.
    deltas = [found for found in gc.get_objects() if issubclass(type(found), Delta)]
    return sum(delta.base.tokens is tokens for delta in deltas)


def test_results_of_writes_hold_no_version(db: hoplite.Database) -> None:
    kept: list[Any] = [db.run("MATCH (a:A) WHERE a.i <= 20 SET a.x = $i RETURN a", i=i) for i in range(5)]
    kept += [
        db.run("MATCH (a:A) SET a.x = 0"),
        db.run("CREATE (:B)").consume(),
        db.run("CREATE INDEX FOR (n:B) ON n.i"),
    ]
    assert _versions(db) == 1
    for number, result in enumerate(kept[:5]):
        assert {node["x"] for (node,) in result} == {number}
        assert result.consume().counters.properties_set == 20
        assert len(result.graph().nodes) == 20


def test_results_that_were_read_hold_no_version(db: hoplite.Database) -> None:
    kept: list[Any] = []
    for number in range(5):
        for read in (
            list,
            Result.single,
            Result.values,
            Result.to_arrow,
            Result.consume,
        ):
            result = db.run("MATCH (a:A {i: 1}) RETURN a.x AS x, a.i")
            kept += [result, read(result)]
        db.run("MATCH (a:A) SET a.x = $i", i=number)
    assert _versions(db) == 1
    assert kept[-9][0]["x"] == 3


def test_failed_statements_hold_no_version(db: hoplite.Database) -> None:
    kept = []
    for number in range(5):
        result = db.run("MATCH (a:A) RETURN 1 / (a.i - 1) AS x")
        with pytest.raises(Neo4jError):
            result.values()
        kept.append(result)
        db.run("MATCH (a:A) SET a.x = $i", i=number)
    assert _versions(db) == 1


def test_transactions_that_have_ended_hold_no_version(db: hoplite.Database) -> None:
    kept: list[Any] = []
    for number in range(6):
        transaction = db.begin()
        kept += [transaction, transaction.run("MATCH (a:A) SET a.x = $i", i=number)]
        kept.append(transaction.run("MATCH (a:A) RETURN a"))
        if number % 2:
            transaction.commit()
        else:
            transaction.rollback()
    assert _versions(db) == 1
    assert {node["x"] for (node,) in kept[-1]} == {5}


def test_rows_are_made_as_they_are_read(db: hoplite.Database) -> None:
    db.run("UNWIND range(301, 5000) AS i CREATE (:A {i: i})")
    result = db.run("MATCH (a:A) RETURN a ORDER BY a.i")
    first = result.peek()
    assert first is not None and first["a"]["i"] == 1
    assert len(result.entities.nodes) < 100
    assert [record["a"]["i"] for record in result.fetch(1000)] == [*range(1, 1001)]
    assert len(result.entities.nodes) < 3000
    assert result.value("a")[0]["i"] == 1001 and len(result.entities.nodes) == 5000


@pytest.mark.parametrize("read", [0, 1, 70, 4999, 5000])
def test_what_is_left_can_be_read_in_every_form(db: hoplite.Database, read: int) -> None:
    db.run("UNWIND range(301, 5000) AS i CREATE (:A {i: i})")
    wanted = [*range(read + 1, 5001)]

    def begun() -> Result:
        result = db.run("MATCH (a:A) RETURN a.i AS i ORDER BY i")
        for _ in range(read):
            next(result)
        return result

    assert [i for (i,) in begun()] == wanted
    assert begun().value() == wanted
    assert begun().values() == [[i] for i in wanted]
    assert begun().to_arrow().to_pydict()["i"] == wanted
    assert [record["i"] for record in begun().fetch(10_000)] == wanted
    assert [row for rows in iter(begun().next_rows, None) for row in rows] == [(i,) for i in wanted]


def test_the_driver_is_sent_no_more_rows_than_it_asks_for(db: hoplite.Database) -> None:
    db.run("UNWIND range(301, 5000) AS i CREATE (:A {i: i})")
    with GraphDatabase.driver(database=db) as driver, driver.session(fetch_size=10) as session:
        result = session.run("MATCH (a:A) RETURN a ORDER BY a.i")
        assert result.peek() is not None
        assert len(result._hydration_scope.get_graph().nodes) < 100
        assert [record["a"]["i"] for record in result] == [*range(1, 5001)]
