"""Transactions: all of it or nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from neo4j.exceptions import Forbidden, Neo4jError

import hoplite


@pytest.fixture(params=[1, 3])
def db(request: pytest.FixtureRequest) -> Iterator[hoplite.Database]:
    with hoplite.open(partitions=request.param) as db:
        db.run("CREATE (:A {n: 1})-[:R]->(:B {n: 2})").consume()
        yield db


def everything(db: hoplite.Database) -> list[list[object]]:
    nodes = db.run("MATCH (n) RETURN labels(n), properties(n) ORDER BY n.n").values()
    return nodes + db.run("MATCH (a)-[r]->(b) RETURN a.n, type(r), b.n ORDER BY a.n, b.n").values()


def test_a_transaction_commits_at_the_end(db: hoplite.Database) -> None:
    with db.begin() as tx:
        tx.run("CREATE (:C {n: 3})")
        assert tx.run("MATCH (n) RETURN count(n)").value() == [3]
        assert db.run("MATCH (n) RETURN count(n)").value() == [2], "nobody else sees it yet"
    assert db.run("MATCH (n) RETURN count(n)").value() == [3]


def test_an_exception_rolls_back(db: hoplite.Database) -> None:
    before = everything(db)
    with pytest.raises(ZeroDivisionError), db.begin() as tx:
        tx.run("MATCH (a:A) SET a.n = 10, a:X")
        tx.run("MATCH (b:B) DETACH DELETE b")
        tx.run("CREATE (:C)-[:R]->(:D)")
        raise ZeroDivisionError
    assert everything(db) == before


def test_a_failing_statement_fails_the_transaction(db: hoplite.Database) -> None:
    before = everything(db)
    with pytest.raises(Neo4jError), db.begin() as tx:
        tx.run("CREATE (:C)")
        tx.run("RETURN 1 / 0").values()
    assert everything(db) == before


def test_a_statement_that_fails_half_way_changes_nothing(db: hoplite.Database) -> None:
    before = everything(db)
    with pytest.raises(Neo4jError):
        db.run("UNWIND [2, 1, 0] AS x CREATE (:C {n: 10 / x})")
    assert everything(db) == before


def test_rollback_and_commit_by_hand(db: hoplite.Database) -> None:
    tx = db.begin()
    tx.run("CREATE (:C {n: 3})")
    tx.rollback()
    assert db.run("MATCH (n) RETURN count(n)").value() == [2]
    tx = db.begin()
    tx.run("CREATE (:C {n: 3})")
    tx.commit()
    assert db.run("MATCH (n) RETURN count(n)").value() == [3]


def test_a_closed_database_refuses() -> None:
    db = hoplite.open()
    db.close()
    with pytest.raises(RuntimeError):
        db.run("RETURN 1")


DATA, SCHEMA = "CREATE (:A {x: 1})", "CREATE INDEX i FOR (n:A) ON (n.x)"


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (DATA, SCHEMA, "Tried to execute Schema modification after executing Write query"),
        ("MATCH (n:Nobody) SET n.x = 1", "DROP INDEX i IF EXISTS", "Tried to execute Schema modification after"),
        (SCHEMA, DATA, "Tried to execute Write query after executing Schema modification"),
        (f"EXPLAIN {SCHEMA}", "MERGE (n:A) RETURN n", "Tried to execute Write query after executing Schema"),
    ],
)
def test_a_transaction_changes_either_data_or_the_schema(first: str, second: str, told: str) -> None:
    with hoplite.open() as db:
        tx = db.begin()
        tx.run(first)
        with pytest.raises(Forbidden) as raised:
            tx.run(second)
        assert raised.value.code == "Neo.ClientError.Transaction.ForbiddenDueToTransactionType"
        assert (raised.value.message or "").startswith(told)
        assert raised.value.gql_status == "25N01"
        tx.rollback()
        assert db.run("MATCH (n) RETURN count(n)").values() == [[0]]


def test_a_transaction_may_read_between_changes_of_the_schema() -> None:
    with hoplite.open() as db:
        with db.begin() as tx:
            tx.run(SCHEMA)
            assert tx.run("MATCH (n) RETURN count(n)").values() == [[0]]
            tx.run("CREATE INDEX j FOR (n:B) ON (n.x)")
        names = {record["name"] for record in db.run("SHOW INDEXES YIELD name RETURN name")}
        assert names >= {"i", "j"}


def test_the_clock_of_a_transaction_stands_still_between_its_statements() -> None:
    asked = "RETURN datetime.transaction(), datetime.statement()"
    with hoplite.open() as db, db.begin() as transaction:
        [[began, now]] = transaction.run(asked).values()
        time.sleep(0.002)  # clocks show milliseconds
        [[began_again, later]] = transaction.run(asked).values()
        assert began == began_again <= now < later
        time.sleep(0.002)
        [[alone, latest]] = db.run(asked).values()
        assert alone == latest > later
