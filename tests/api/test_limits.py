"""Limits of databases, sessions and transactions; they never truncate silently."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from neo4j.exceptions import ClientError, Neo4jError

import hoplite
from hoplite.errors import OUT_OF_MEMORY

ENDLESS = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a * b AS c WHERE c < 0 RETURN count(*)"
MANY_TRAILS = "MATCH p = (a:N)-[*1..30]-(b) RETURN count(p)"
PRODUCT = "MATCH (a:N), (b:N), (c:N), (d:N), (e:N), (f:N) WHERE a.i + b.i + c.i + d.i + e.i + f.i < 0 RETURN count(*)"


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as db:
        db.run("UNWIND range(0, 29) AS i CREATE (:N {i: i})").consume()
        db.run("MATCH (a:N), (b:N) WHERE a.i < b.i AND b.i < a.i + 4 CREATE (a)-[:R]->(b)").consume()
        yield db


@pytest.mark.parametrize("query", [ENDLESS, MANY_TRAILS, PRODUCT], ids=["unwind", "trails", "product"])
def test_a_query_stops_at_its_deadline(db: hoplite.Database, query: str) -> None:
    began = time.monotonic()
    with db.session(timeout=0.3) as session, pytest.raises(Neo4jError) as raised:
        session.run(query).values()
    assert "TransactionTimedOut" in (raised.value.code or "")
    assert time.monotonic() - began < 20  # without a deadline it would be hours


@pytest.mark.parametrize(
    "expression",
    [
        "size([x IN range(1, 3000) | [y IN range(1, 30000) | x * y]])",
        "any(x IN range(1, 300000000) WHERE toString(x) = 'b')",
        "reduce(a = 0, x IN range(1, 300000000) | a + x)",
        "size(reduce(s = 'a', i IN range(1, 100000) | s + toString(size(split(s, 'a')))))",
    ],
)
def test_one_expression_stops_at_its_deadline(expression: str) -> None:
    with hoplite.open(timeout=0.3) as db, pytest.raises(Neo4jError) as raised:
        db.run(f"RETURN {expression}").values()
    assert "TransactionTimedOut" in (raised.value.code or "")


@pytest.mark.parametrize(
    "expression",
    [
        "range(0, 9223372036854775806) + [1]",
        "reduce(s = 'a', i IN range(1, 60) | s + s)",
        "reduce(s = [1], i IN range(1, 60) | s || s)",
        "apoc.text.repeat('abc', 2000000000)",
        "apoc.coll.combinations(range(1, 60), 1, 20)",
    ],
)
def test_a_value_that_cannot_be_held_is_not_begun(expression: str) -> None:
    with hoplite.open(timeout=60) as db, pytest.raises(Neo4jError) as raised:
        db.run(f"RETURN size({expression})").values()
    assert raised.value.code == OUT_OF_MEMORY


@pytest.mark.parametrize(
    "query",
    [
        "UNWIND range(1, 300000) AS x RETURN size(collect(x))",
        "UNWIND range(1, 300000) AS x WITH x ORDER BY -x RETURN count(x)",
        "UNWIND range(1, 300000) AS x RETURN x, count(*) LIMIT 1",
        "UNWIND range(1, 300000) AS x WITH DISTINCT x RETURN count(*)",
        "UNWIND range(1, 300000) AS x RETURN count(DISTINCT toString(x))",
        "MATCH p = SHORTEST 10000000 (a:N)((x)-[:R]->(y)-[:R]->(z))+(b:N) RETURN count(p)",
    ],
)
def test_what_operators_hold_is_limited(query: str) -> None:
    with hoplite.open(query_memory="1MB") as db:
        db.run("UNWIND range(0, 29) AS i CREATE (:N {i: i})").consume()
        db.run("MATCH (a:N), (b:N) WHERE a.i < b.i CREATE (a)-[:R]->(b)").consume()
        with pytest.raises(Neo4jError) as raised:
            db.run(query).values()
        assert raised.value.code == OUT_OF_MEMORY
        # What is released can be held again.
        few = "UNWIND range(1, 5000) AS x WITH collect(x) AS xs UNWIND xs AS x WITH x ORDER BY -x RETURN count(x)"
        assert db.run(few).value() == [5_000]


def test_waiting_for_the_writer_is_part_of_the_time() -> None:
    def write(db: hoplite.Database) -> str | None:
        with db.session(timeout=0.2) as session, pytest.raises(Neo4jError) as raised:
            session.run("CREATE (:N)").consume()
        return raised.value.code

    with hoplite.open() as db, db.begin() as transaction, ThreadPoolExecutor(1) as other:
        transaction.run("CREATE (:N)").consume()
        assert "TransactionTimedOut" in (other.submit(write, db).result(timeout=20) or "")


def test_too_many_rows_are_an_error_and_not_cut_off(db: hoplite.Database) -> None:
    with db.session(max_rows=10) as session:
        assert len(session.run("MATCH (n:N) RETURN n LIMIT 10").values()) == 10
        with pytest.raises(Neo4jError):
            session.run("MATCH (n:N) RETURN n").values()


@pytest.mark.parametrize(
    "query",
    [
        "CREATE (:X)",
        "MATCH (n:N) SET n.x = 1",
        "MATCH (n) DETACH DELETE n",
        "MERGE (:X)",
        "CREATE INDEX FOR (n:N) ON (n.i)",
    ],
)
def test_a_read_only_session_refuses_writes(db: hoplite.Database, query: str) -> None:
    with db.session(read_only=True) as session, pytest.raises(ClientError) as raised:
        session.run(query)
    assert raised.value.code == "Neo.ClientError.Statement.AccessMode"
    assert db.run("MATCH (n) RETURN count(n), count(n.x)").values() == [[30, 0]]


def test_a_read_only_database_stays_so() -> None:
    with hoplite.open(read_only=True) as db:
        with pytest.raises(ClientError):
            db.run("CREATE (:X)")
        with db.session(read_only=False) as session, pytest.raises(ClientError):
            session.run("CREATE (:X)")
        with pytest.raises(ClientError):
            db.load(nodes={"X": {"id": [1]}})


def test_limits_are_no_parameters(db: hoplite.Database) -> None:
    """A parameter may have the name of a limit, and changes nothing."""
    assert db.run("RETURN $timeout + $max_rows AS n", timeout=0, max_rows=0).value() == [0]
