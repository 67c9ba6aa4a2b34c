"""The official Python driver over a socket."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import neo4j
import pytest
import pytz  # type: ignore[import-untyped]
from neo4j import AsyncGraphDatabase, Driver, GraphDatabase
from neo4j.exceptions import ClientError, CypherSyntaxError, Neo4jError
from neo4j.spatial import CartesianPoint, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time

import hoplite
from hoplite.server import Served
from tests.server.wire import Wire

LONG = "UNWIND range(1, 100000000) AS x WITH x WHERE x % 2 = 3 RETURN count(x) AS n"


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        2**63 - 1,
        -(2**63),
        1.5,
        float("inf"),
        "",
        "Gr\u00fc\u00dfe \U0001f642",
        b"\x00\xff",
        [1, "a", [None, 2.5]],
        {"a": 1, "b": {"c": [True]}},
        Date(2024, 2, 29),
        Time(12, 30, 59, 123_456_789),
        Time(12, 30, 59, 1, tzinfo=pytz.FixedOffset(60)),
        DateTime(1969, 12, 31, 23, 59, 59, 999_999_999),
        Duration(months=14, days=3, seconds=14706, nanoseconds=800),
        CartesianPoint((1.5, 2.5)),
        CartesianPoint((1.0, 2.0, 3.0)),
        WGS84Point((12.5, 55.5)),
        WGS84Point((12.5, 55.5, 3.0)),
    ],
)
def test_every_type_there_and_back(driver: Driver, value: Any) -> None:
    (record,) = driver.execute_query("RETURN $value AS value", value=value).records
    assert record["value"] == value and type(record["value"]) is type(value)
    (stored,) = driver.execute_query("RETURN [$value] AS value, {k: $value} AS map", value=value).records
    assert stored["value"] == [value] and stored["map"] == {"k": value}


def test_a_moment_in_a_zone_there_and_back(driver: Driver) -> None:
    (record,) = driver.execute_query("RETURN datetime('2024-07-01T12:00[Europe/Berlin]') AS moment").records
    (again,) = driver.execute_query(
        "RETURN $moment AS moment, toString($moment) AS text", moment=record["moment"]
    ).records
    assert again["moment"] == record["moment"]
    assert again["text"] == "2024-07-01T12:00:00+02:00[Europe/Berlin]"


def test_entities_are_those_of_the_database(driver: Driver, database: hoplite.Database) -> None:
    query = (
        "CREATE p = (a:A:B {x: 1, d: date('2024-01-01')})-[r:R {y: 2.5}]->(b:C)<-[:S]-(a) "
        "RETURN a, r, b, p, [a, r] AS list, {k: b} AS map, nodes(p) AS nodes, relationships(p) AS relationships"
    )
    (record,) = driver.execute_query(query).records
    a, r, b, p = record["a"], record["r"], record["b"], record["p"]
    assert a.labels == {"A", "B"} and dict(a) == {"x": 1, "d": Date(2024, 1, 1)}
    assert r.type == "R" and dict(r) == {"y": 2.5} and r.nodes == (a, b)
    assert p.nodes == (a, b, a) and [one.type for one in p] == ["R", "S"] and p.relationships[1].start_node == a
    assert record["list"] == [a, r] and record["map"] == {"k": b}
    assert record["nodes"] == [a, b, a] and record["relationships"] == list(p.relationships)
    (embedded,) = database.run("MATCH (a:A) RETURN a")
    assert embedded["a"].element_id == a.element_id


def test_what_was_deleted_has_nothing_left(driver: Driver) -> None:
    (record,) = driver.execute_query("CREATE (a:A {x: 1})-[r:R {y: 1}]->(b) DETACH DELETE a RETURN a, r").records
    assert dict(record["a"]) == {} and record["a"].labels == frozenset()


def test_years_beyond_python_reach_the_driver(driver: Driver) -> None:
    (record,) = driver.execute_query(
        "RETURN date('+100000-01-01') AS day, toString(date('+100000-01-01')) AS text"
    ).records
    assert record["text"] == "+100000-01-01"
    with pytest.raises(neo4j.exceptions.BrokenRecordError):
        record["day"]


def test_virtual_entities(driver: Driver) -> None:
    query = (
        "CALL apoc.create.vNode(['V'], {x: 1}) YIELD node "
        "CALL apoc.create.vRelationship(node, 'R', {y: 2}, node) YIELD rel RETURN node, rel"
    )
    (record,) = driver.execute_query(query).records
    assert dict(record["node"]) == {"x": 1} and record["rel"].type == "R" and dict(record["rel"]) == {"y": 2}


def test_virtual_paths(driver: Driver) -> None:
    driver.execute_query("CREATE (:VP {name: 'a'})-[:K {w: 1}]->(:VP {name: 'b'})<-[:L]-(:VP {name: 'c'})")
    query = "MATCH p = (:VP {name: 'a'})--()--() CALL apoc.create.clonePathToVirtual(p) YIELD path RETURN path, p"
    (record,) = driver.execute_query(query).records
    for path in (record["path"], record["p"]):
        assert [node["name"] for node in path.nodes] == ["a", "b", "c"]
        assert [(one.type, dict(one)) for one in path.relationships] == [("K", {"w": 1}), ("L", {})]
        assert path.relationships[1].start_node == path.nodes[2]
    assert record["path"].nodes[0].element_id.startswith("-")


def test_transactions(driver: Driver) -> None:
    def count() -> int:
        found: int = driver.execute_query("MATCH (n:T) RETURN count(n) AS n").records[0]["n"]
        return found

    with driver.session() as session:
        session.execute_write(lambda tx: tx.run("CREATE (:T)").consume())
        assert count() == 1
        with session.begin_transaction() as tx:
            tx.run("CREATE (:T)")
            assert tx.run("MATCH (n:T) RETURN count(n) AS n").single(strict=True)["n"] == 2
            assert count() == 1
            tx.rollback()
        assert count() == 1
        with pytest.raises(ClientError) as refused:
            session.execute_read(lambda tx: tx.run("CREATE (:T)").consume())
        assert refused.value.code == "Neo.ClientError.Statement.AccessMode"
    summary = driver.execute_query("CREATE (:T {a: 1})-[:R]->(:T)").summary
    assert summary.counters.nodes_created == 2 and summary.counters.relationships_created == 1


def test_a_connection_that_is_lost_takes_its_transaction_along(driver: Driver, served: Served) -> None:
    with Wire(served.port, (5, 8)) as wire:
        wire.log_on((5, 8))
        wire.ask("BEGIN", {})
        wire.ask("RUN", "CREATE (:Lost)", {}, {})
        wire.ask("PULL", {"n": -1})
    with driver.session() as session:  # there is one writer at a time: this one would wait for ever
        session.run("CREATE (:Kept)").consume()
    (record,) = driver.execute_query("MATCH (n) RETURN collect(labels(n)[0]) AS labels").records
    assert record["labels"] == ["Kept"]


def test_errors(driver: Driver) -> None:
    with pytest.raises(CypherSyntaxError) as syntax:
        driver.execute_query("RETURN 1 +")
    assert "line 1, column 11 (offset: 10)" in str(syntax.value.message)
    with pytest.raises(ClientError) as division:
        driver.execute_query("UNWIND [1, 0] AS x RETURN 1 / x")
    assert division.value.code == "Neo.ClientError.Statement.ArithmeticError"
    with pytest.raises(ClientError) as unknown:
        driver.execute_query("RETURN 1", database_="nope")
    assert unknown.value.code == "Neo.ClientError.Database.DatabaseNotFound"
    with driver.session(impersonated_user="joe") as session, pytest.raises(ClientError, match="Impersonation"):
        session.run("RETURN 1").consume()


def test_the_rows_before_an_error_arrive(driver: Driver) -> None:
    with driver.session() as session:
        result = session.run("UNWIND [1, 2, 0] AS x RETURN 1 / x AS y")
        assert next(result)["y"] == 1
        with pytest.raises(ClientError):
            list(result)
        assert session.run("RETURN 1 AS x").single(strict=True)["x"] == 1


def test_a_timeout_ends_a_statement(driver: Driver) -> None:
    with driver.session() as session, pytest.raises(ClientError) as stopped:
        session.run(neo4j.Query(LONG, timeout=0.3)).consume()
    assert stopped.value.code == "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"


def test_a_task_that_is_cancelled_ends_its_statement(served: Served) -> None:
    async def ask() -> Any:
        async with AsyncGraphDatabase.driver(served.uri) as driver:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(driver.execute_query(LONG), 0.5)
            return (await driver.execute_query("RETURN 1 AS x")).records[0]["x"]

    assert asyncio.run(ask()) == 1
    _wait_until_idle()


def test_a_client_that_hangs_up_ends_its_statement(served: Served) -> None:
    with Wire(served.port, (5, 8)) as wire:
        wire.log_on((5, 8))
        wire.send("RUN", LONG, {}, {})
        wire.send("PULL", {"n": -1})
    _wait_until_idle()


def _wait_until_idle() -> None:
    """Until no thread of a server works on anything."""
    import sys

    for _ in range(600):
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        working = [
            frame
            for ident, frame in sys._current_frames().items()
            if names.get(ident, "").startswith("hoplite-bolt") and frame.f_code.co_name != "_worker"
        ]
        if not working:
            return
        time.sleep(0.05)
    raise AssertionError("a statement is still running")


def test_a_result_is_read_no_further_than_it_is_followed(driver: Driver) -> None:
    with driver.session(fetch_size=10) as session:
        result = session.run("UNWIND range(1, 1000000000) AS x RETURN x")
        assert [next(result)["x"] for _ in range(25)] == list(range(1, 26))
        result.consume()


def test_large_values_cross_in_many_chunks(driver: Driver) -> None:
    text, numbers = "\u00e9" * 500_000, list(range(100_000))
    (record,) = driver.execute_query("RETURN $text AS text, $numbers AS numbers", text=text, numbers=numbers).records
    assert record["text"] == text and record["numbers"] == numbers


def test_neo4j_urls_are_routed_here(served: Served) -> None:
    with GraphDatabase.driver(served.uri.replace("bolt:", "neo4j:")) as driver:
        driver.verify_connectivity()
        assert driver.execute_query("RETURN 1 AS x", routing_="r").records[0]["x"] == 1


def test_summaries_say_what_those_of_the_driver_in_the_process_say(driver: Driver, database: hoplite.Database) -> None:
    query = "PROFILE MATCH (n:Nope) RETURN n"
    over, within = driver.execute_query(query).summary, database.run(query).consume()
    assert over.query_type == within.query_type == "r"
    assert [status.gql_status for status in over.gql_status_objects] == [
        s.gql_status for s in within.gql_status_objects
    ]
    assert over.profile is not None and within.profile is not None
    assert over.profile["operatorType"] == within.profile["operatorType"]
    assert over.server.agent == "Neo4j/5.26.12" and over.server.protocol_version == (5, 8)


def test_users_are_asked_for_their_passwords() -> None:
    with hoplite.serve(users={"alice": "secret"}) as uri:
        with GraphDatabase.driver(uri, auth=("alice", "secret")) as driver:
            driver.verify_connectivity()
            assert driver.verify_authentication(auth=("alice", "secret"))
        for auth in (("alice", "wrong"), ("bob", "secret"), None):
            with GraphDatabase.driver(uri, auth=auth) as driver, pytest.raises(Neo4jError) as refused:
                driver.verify_connectivity()
            assert refused.value.code == "Neo.ClientError.Security.Unauthorized"


def test_a_server_may_be_read_only() -> None:
    with hoplite.open() as db:
        db.run("CREATE (:A)")
        with hoplite.serve(db, read_only=True, max_rows=10) as uri, GraphDatabase.driver(uri) as driver:
            assert driver.execute_query("MATCH (n) RETURN count(n) AS n").records[0]["n"] == 1
            with pytest.raises(ClientError, match="read access mode"):
                driver.execute_query("CREATE (:B)")
            with pytest.raises(ClientError, match="more than the 10 rows"):
                driver.execute_query("UNWIND range(1, 100) AS x RETURN x")
        db.run("CREATE (:B)")


def test_a_server_that_ends_lets_transactions_finish() -> None:
    with hoplite.open() as db:
        server = hoplite.serve(db, grace=30)
        with GraphDatabase.driver(server.uri) as driver, driver.session() as session:
            tx = session.begin_transaction()
            tx.run("CREATE (:Kept)").consume()
            ending = threading.Thread(target=server.close)
            ending.start()
            time.sleep(0.2)
            tx.run("CREATE (:Kept)").consume()
            tx.commit()
            ending.join(30)
            assert not ending.is_alive()
        assert db.run("MATCH (n:Kept) RETURN count(n)").single(strict=True).value() == 2  # type: ignore[union-attr]


def test_a_server_that_ends_undoes_what_does_not_finish() -> None:
    with hoplite.open() as db:
        server = hoplite.serve(db, grace=0.2)
        with GraphDatabase.driver(server.uri) as driver, driver.session() as session:
            tx = session.begin_transaction()
            tx.run("CREATE (:Lost)").consume()
            server.close()
            with pytest.raises(neo4j.exceptions.DriverError):
                tx.commit()
        assert db.run("MATCH (n) RETURN count(n)").single(strict=True).value() == 0  # type: ignore[union-attr]


def test_procedures_for_the_console(driver: Driver) -> None:
    driver.execute_query("CREATE (:Drug {name: 'Aspirin'})-[:TREATS]->(:Disease)")
    (schema,) = driver.execute_query("CALL hoplite.schema()").records
    assert schema["labels"] == {"Drug": 1, "Disease": 1} and schema["relationshipTypes"] == {"TREATS": 1}
    assert schema["connections"] == [{"start": "Drug", "type": "TREATS", "end": "Disease", "count": 1}]
    assert (schema["labelKeys"], schema["typeKeys"]) == ({"Drug": ["name"], "Disease": []}, {"TREATS": []})
    query = "MATCH (n:Durg {name: '\U0001f642'}) RETURN n"
    (mended,) = driver.execute_query("CALL hoplite.repair($query)", query=query).records
    assert mended["query"].startswith("MATCH (n:Drug ") and mended["changes"][0]["start"] == 9
    (problem, *_) = driver.execute_query("CALL hoplite.check($query)", query=query).records
    assert (problem["start"], problem["end"], problem["suggestions"]) == (9, 13, ["Drug"])
    (server,) = driver.execute_query("CALL hoplite.server()").records
    assert server["readOnly"] is False and server["model"] is None and server["diff"] is False
    for refused in ("CALL hoplite.ask('x')", "CALL hoplite.diff('RETURN 1', 'bolt://127.0.0.1:1')"):
        with pytest.raises(ClientError, match="start"):
            driver.execute_query(refused)
