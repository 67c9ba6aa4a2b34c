"""The driver object: how it is made, what it says about its server, `execute_query`."""

from __future__ import annotations

import asyncio
import gc
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import (
    ClientError,
    ConfigurationError,
    ConstraintError,
    CypherSyntaxError,
    CypherTypeError,
    DriverError,
    Neo4jError,
)

import hoplite
from hoplite import AsyncGraphDatabase, GraphDatabase
from hoplite.driver.target import open_target


def test_it_is_a_driver_of_the_driver_package(driver: neo4j.Driver) -> None:
    assert isinstance(driver, neo4j.Driver)
    assert weakref.ref(driver)() is driver
    assert {driver: 1}[driver] == 1
    driver._pool.pool_config.user_agent = "library/1.0"
    assert driver._pool.pool_config.user_agent == "library/1.0"
    assert driver.encrypted is False


def test_settings_are_checked_as_the_driver_does() -> None:
    GraphDatabase.driver("hoplite://memory", auth=("neo4j", "secret"), max_connection_lifetime=5, fetch_size=7).close()
    with pytest.raises(ConfigurationError, match="Unexpected config"):
        GraphDatabase.driver("hoplite://memory", no_such_setting=1)


def test_a_server_of_its_own_is_still_reached() -> None:
    with GraphDatabase.driver("bolt://127.0.0.1:1") as driver:
        assert type(driver) is neo4j.BoltDriver


def test_what_the_server_says(driver: neo4j.Driver) -> None:
    driver.verify_connectivity()
    server = driver.get_server_info()
    assert server.agent == "Neo4j/5.26.12"
    assert server.protocol_version == (5, 8)
    assert driver.verify_authentication(auth=("any", "body"))
    assert driver.supports_multi_db()
    assert driver.supports_session_auth()


def test_each_driver_in_memory_is_empty_and_a_name_is_shared() -> None:
    with GraphDatabase.driver("hoplite://memory") as one, GraphDatabase.driver("hoplite://memory") as other:
        one.execute_query("CREATE (:A)")
        assert _count(one) == 1
        assert _count(other) == 0
    with (
        GraphDatabase.driver("hoplite://memory/shared") as one,
        GraphDatabase.driver("hoplite://memory/shared") as other,
    ):
        one.execute_query("CREATE (:A)")
        assert _count(other) == 1
    with GraphDatabase.driver("hoplite://memory/shared") as later:
        assert _count(later) == 0


def test_a_database_that_is_open_stays_open() -> None:
    db = hoplite.open()
    with GraphDatabase.driver(database=db) as driver:
        driver.execute_query("CREATE (:A)")
        assert driver.embedded is db  # type: ignore[attr-defined]
    assert db.run("MATCH (n) RETURN count(n) AS n").data() == [{"n": 1}]
    with pytest.raises(ConfigurationError):
        GraphDatabase.driver("bolt://localhost", database=db)


def test_limits_of_the_database_hold_for_its_driver() -> None:
    with hoplite.open(read_only=True, max_rows=3) as db, GraphDatabase.driver(database=db) as driver:
        with pytest.raises(ClientError, match="read access mode"):
            driver.execute_query("CREATE (:A)")
        with pytest.raises(ClientError, match="max_rows"):
            driver.execute_query("UNWIND range(1, 4) AS x RETURN x")


@pytest.mark.parametrize("uri", ["hoplite://", "hoplite:///", "hoplite://memory?timeout=5"])
def test_urls_that_name_nothing(uri: str) -> None:
    with pytest.raises(ConfigurationError):
        open_target(uri)


def test_a_path_goes_to_the_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[Any] = []

    class Recorded:
        def __init__(self, path: Path) -> None:
            opened.append(path)

        def close(self) -> None:
            """Nothing to close."""

    monkeypatch.setattr("hoplite.driver.target.Database", Recorded)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.hop").mkdir()
    for uri in (f"hoplite://{tmp_path}/kg.hop", "hoplite:///here.hop", "hoplite://with%20space.hop"):
        open_target(uri)
    assert opened == [tmp_path / "kg.hop", Path("here.hop"), Path("with space.hop")]


def test_a_folder_keeps_what_was_written(tmp_path: Path) -> None:
    for expected in (0, 1):
        with GraphDatabase.driver(f"hoplite://{tmp_path}/kg.hop") as driver:
            assert _count(driver) == expected
            driver.execute_query("CREATE (:A)")


# --- execute_query ---


def test_execute_query_returns_records_summary_and_keys(driver: neo4j.Driver) -> None:
    result = driver.execute_query("UNWIND $xs AS x RETURN x, x * $by AS y", {"xs": [1, 2]}, by=10)
    assert isinstance(result, neo4j.EagerResult)
    records, summary, keys = result
    assert [record.data() for record in records] == [{"x": 1, "y": 10}, {"x": 2, "y": 20}]
    assert all(isinstance(record, neo4j.Record) for record in records)
    assert list(keys) == ["x", "y"]
    assert summary.query_type == "r"
    assert summary.parameters == {"xs": [1, 2], "by": 10}


def test_execute_query_takes_a_transformer(driver: neo4j.Driver) -> None:
    single = driver.execute_query("RETURN 1 AS x", result_transformer_=neo4j.Result.single)
    assert single is not None
    assert single["x"] == 1
    frame = driver.execute_query("RETURN 1 AS x", result_transformer_=neo4j.Result.to_df)
    assert frame["x"].tolist() == [1]


def test_execute_query_routes_reads(driver: neo4j.Driver) -> None:
    driver.execute_query("CREATE (:A)", routing_=neo4j.RoutingControl.WRITE)
    assert driver.execute_query("MATCH (n) RETURN n", routing_="r").records
    with pytest.raises(ClientError) as raised:
        driver.execute_query("CREATE (:A)", routing_=neo4j.RoutingControl.READ)
    assert raised.value.code == "Neo.ClientError.Statement.AccessMode"
    assert raised.value.message == "Writing in read access mode not allowed. Attempted write to neo4j"
    assert _count(driver) == 1


def test_execute_query_takes_a_query_object(driver: neo4j.Driver) -> None:
    query = neo4j.Query("CALL tx.getMetaData()", metadata={"app": "test"}, timeout=10)
    assert driver.execute_query(query).records[0]["metadata"] == {"app": "test"}
    slow = "UNWIND range(1, 5000) AS x UNWIND range(1, 50000) AS y WITH x WHERE x % 7 = 3 RETURN count(*)"
    with pytest.raises(ClientError) as raised:
        driver.execute_query(neo4j.Query(slow, timeout=0.05))
    assert raised.value.code == "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"


def test_databases_by_name(driver: neo4j.Driver) -> None:
    assert driver.execute_query("RETURN 1", database_="NEO4J").summary.database == "neo4j"
    with pytest.raises(ClientError, match="Graph not found: nope") as raised:
        driver.execute_query("RETURN 1", database_="nope")
    assert raised.value.code == "Neo.ClientError.Database.DatabaseNotFound"
    names = driver.execute_query("SHOW DATABASES YIELD name", database_="system").records
    assert [record["name"] for record in names] == ["neo4j", "system"]
    assert driver.execute_query("CALL dbms.components()", database_="system").records[0]["versions"] == ["5.26.12"]
    with pytest.raises(ClientError, match="unsupported clauses were used: CREATE"):
        driver.execute_query("CREATE (:A)", database_="system")
    with pytest.raises(CypherSyntaxError):
        driver.execute_query("NONSENSE", database_="system")


def test_nobody_is_impersonated(driver: neo4j.Driver) -> None:
    with pytest.raises(ClientError, match="Impersonation is not supported with auth disabled"):
        driver.execute_query("RETURN 1", impersonated_user_="somebody")


@pytest.mark.parametrize(
    ("query", "kind", "code"),
    [
        ("RETRN 1", CypherSyntaxError, "Neo.ClientError.Statement.SyntaxError"),
        ("WITH {a: 1} AS m RETURN m.a.b", CypherTypeError, "Neo.ClientError.Statement.TypeError"),
        ("RETURN 1 / 0", ClientError, "Neo.ClientError.Statement.ArithmeticError"),
        ("RETURN $nothing", ClientError, "Neo.ClientError.Statement.ParameterMissing"),
        ("CALL no.such()", ClientError, "Neo.ClientError.Procedure.ProcedureNotFound"),
        (
            "CREATE (a)-[:R]->() WITH a LIMIT 1 DELETE a",
            ConstraintError,
            "Neo.ClientError.Schema.ConstraintValidationFailed",
        ),
    ],
)
def test_errors_are_the_drivers_own(driver: neo4j.Driver, query: str, kind: type[Neo4jError], code: str) -> None:
    with pytest.raises(kind) as raised:
        driver.execute_query(query)
    assert raised.value.code == code
    assert raised.value.message
    assert _count(driver) == 0


def test_values_that_cannot_be_parameters(driver: neo4j.Driver) -> None:
    for value, kind in ((object(), ValueError), ({1: 2}, TypeError), (2**63, OverflowError)):
        with pytest.raises(kind):
            driver.execute_query("RETURN $x", x=value)


def test_a_closed_driver(tmp_path: Path) -> None:
    """Like the driver package: since version 6 it cannot be used, before that it warns and continues."""
    for url in ("hoplite://memory", f"hoplite://{tmp_path}/kg.hop"):
        driver = GraphDatabase.driver(url)
        session = driver.session()
        driver.close()
        driver.close()
        uses: list[Callable[[], object]] = [
            lambda: driver.execute_query("CREATE (:N)"),  # noqa: B023
            lambda: driver.verify_connectivity(),  # noqa: B023
            lambda: driver.session(),  # noqa: B023
        ]
        if neo4j.__version__ >= "6":
            uses.append(lambda: session.run("RETURN 1"))  # noqa: B023
            uses.append(lambda: session.execute_write(lambda tx: None))  # noqa: B023
            for use in uses:
                with pytest.raises(DriverError, match="Driver closed"):
                    use()
        elif url != "hoplite://memory":
            with pytest.warns(DeprecationWarning, match="closed"):
                uses[0]()
            driver.close()
        session.close()
    with hoplite.open(tmp_path / "kg.hop") as db:  # nothing holds it
        assert db.run("MATCH (n) RETURN count(n)").value() == [0 if neo4j.__version__ >= "6" else 1]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_driver_that_opens_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_async: bool) -> None:
    """What the pool does for versions of the driver that can be used after they were closed."""
    monkeypatch.setattr("hoplite.driver.pool._OPENS_AGAIN", True)
    url = f"hoplite://{tmp_path}/kg.hop"

    async def use_async() -> None:
        driver = AsyncGraphDatabase.driver(url)
        async with driver.session() as session:
            await driver.close()
            await (await session.run("CREATE (:N)")).consume()
        await driver._pool.close()

    if is_async:
        asyncio.run(use_async())
    else:
        driver = GraphDatabase.driver(url)
        with driver.session() as session:
            driver.close()
            session.run("CREATE (:N)").consume()
        driver._pool.close()
    with hoplite.open(tmp_path / "kg.hop", durability="relaxed") as db:
        assert db.run("MATCH (n) RETURN count(n)").value() == [1]
    for name in ("hoplite://memory", "hoplite://memory/again"):
        with GraphDatabase.driver(name) as driver, driver.session() as session:
            session.run("CREATE (:N)").consume()
            driver.close()
            assert session.run("MATCH (n) RETURN count(n)").single(strict=True).value() == 1
            if name.endswith("again"):
                with GraphDatabase.driver(name) as other:
                    assert other.execute_query("MATCH (n) RETURN count(n) AS n").records[0]["n"] == 1
            driver._pool.close()
    with GraphDatabase.driver("hoplite://memory/again") as driver:
        assert driver.execute_query("MATCH (n) RETURN count(n) AS n").records[0]["n"] == 0


def test_a_folder_whose_driver_was_dropped_without_being_closed(tmp_path: Path) -> None:
    url = f"hoplite://{tmp_path}/kg.hop"

    def drop() -> object:
        dropped = GraphDatabase.driver(url)
        dropped.execute_query("CREATE (:N)")
        return dropped._pool.database._graph

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        held = drop()  # as somebody's transaction may hold it
        gc.collect()
    with GraphDatabase.driver(url) as driver:
        assert driver.execute_query("MATCH (n) RETURN count(n) AS n").records[0]["n"] == 1
    assert held is not None


def test_a_closed_asynchronous_driver(tmp_path: Path) -> None:
    async def use() -> None:
        driver = AsyncGraphDatabase.driver(f"hoplite://{tmp_path}/kg.hop")
        session = driver.session()
        await driver.close()
        await driver.close()
        if neo4j.__version__ >= "6":
            for work in (driver.execute_query("RETURN 1"), driver.verify_connectivity(), session.run("RETURN 1")):
                with pytest.raises(DriverError, match="Driver closed"):
                    await work
        await session.close()

    asyncio.run(use())
    hoplite.open(tmp_path / "kg.hop", durability="relaxed").close()


def test_a_database_that_was_closed_is_unavailable() -> None:
    db = hoplite.open()
    with GraphDatabase.driver(database=db) as driver:
        db.close()
        with pytest.raises(neo4j.exceptions.ServiceUnavailable, match="closed"), driver.session() as session:
            session.run("RETURN 1")
        tries: list[int] = []
        with (
            pytest.raises(neo4j.exceptions.ServiceUnavailable, match="closed") as raised,
            driver.session() as session,
        ):
            session.execute_read(lambda tx: tries.append(len(tx.run("RETURN 1").data())))
        assert not raised.value.is_retryable()
        assert not tries


def _count(driver: neo4j.Driver) -> int:
    count: int = driver.execute_query("MATCH (n) RETURN count(n) AS n").records[0]["n"]
    return count
