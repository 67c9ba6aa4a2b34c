"""Sessions and transactions: access modes, bookmarks, retries, timeouts, several results at once."""

from __future__ import annotations

import gc
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import ClientError, Neo4jError, ResultConsumedError, ResultFailedError, TransactionError

import hoplite
from hoplite import GraphDatabase


def test_auto_commit(driver: neo4j.Driver) -> None:
    with driver.session(database="neo4j", fetch_size=2) as session:
        session.run("UNWIND range(1, 5) AS x CREATE (:N {x: x})")
        assert session.run("MATCH (n:N) RETURN n.x AS x ORDER BY x").value() == [1, 2, 3, 4, 5]


def test_a_read_session_does_not_write(driver: neo4j.Driver) -> None:
    with driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
        for query in (
            "CREATE (:N) RETURN 1",
            "CREATE (:N)",
            "CREATE INDEX FOR (n:N) ON (n.x)",
            "MATCH (n) SET n.x = 1",
        ):
            with pytest.raises(ClientError) as raised:
                session.run(query)
            assert raised.value.code == "Neo.ClientError.Statement.AccessMode"
        assert session.run("EXPLAIN CREATE (:N)").consume().query_type == "w"
        transaction = session.begin_transaction()
        with pytest.raises(ClientError, match="read access mode"):
            transaction.run("CREATE (:N)")
        transaction.close()


def test_an_error_while_running_is_raised_with_the_rows(driver: neo4j.Driver) -> None:
    with driver.session() as session:
        result = session.run("CREATE (:N) WITH [1, 0] AS xs UNWIND xs AS x RETURN 1 / x")
        with pytest.raises(ClientError, match="/ by zero"):
            result.consume()
        result = session.run("UNWIND [1, 0] AS x RETURN 1 / x AS y")
        assert next(result)["y"] == 1
        with pytest.raises(ClientError, match="/ by zero"):
            next(result)
        with pytest.raises(ClientError, match="/ by zero"):
            session.run("CREATE (:N {x: 1 / 0})")
        assert session.run("MATCH (n) RETURN count(n)").single(strict=True)[0] == 0


def test_bookmarks_are_given_and_taken(driver: neo4j.Driver) -> None:
    with driver.session() as session:
        session.run("CREATE (:N)").consume()
        first = session.last_bookmarks()
        session.run("CREATE (:N)").consume()
        assert first.raw_values != session.last_bookmarks().raw_values
    with driver.session(bookmarks=first) as session:
        assert session.last_bookmarks().raw_values == first.raw_values
        with session.begin_transaction() as transaction:
            transaction.run("MATCH (n) RETURN n")
        assert len(session.last_bookmarks().raw_values) == 1
    manager = neo4j.GraphDatabase.bookmark_manager()
    with driver.session(bookmark_manager=manager) as session:
        session.run("CREATE (:N)").consume()
    assert manager.get_bookmarks()


def test_explicit_transactions(driver: neo4j.Driver) -> None:
    with driver.session() as session:
        with session.begin_transaction() as transaction:
            transaction.run("CREATE (:N)")
        transaction = session.begin_transaction()
        transaction.run("CREATE (:N)")
        assert transaction.run("MATCH (n) RETURN count(n)").single(strict=True)[0] == 2
        transaction.rollback()
        assert transaction.closed()
        with pytest.raises(TransactionError):
            transaction.run("RETURN 1")
        with pytest.raises(RuntimeError), session.begin_transaction() as transaction:
            transaction.run("CREATE (:N)")
            raise RuntimeError
        assert session.run("MATCH (n) RETURN count(n)").single(strict=True)[0] == 1


def test_several_results_of_a_transaction(driver: neo4j.Driver) -> None:
    with driver.session(fetch_size=10) as session, session.begin_transaction() as transaction:
        first = transaction.run("UNWIND range(1, 1000) AS x RETURN x")
        assert next(first)["x"] == 1
        second = transaction.run("UNWIND range(1, 25) AS x RETURN x")
        transaction.run("CREATE (:N)")
        assert len(list(second)) == 25
        assert len(list(first)) == 999


def test_an_error_ends_a_transaction(driver: neo4j.Driver) -> None:
    with driver.session() as session:
        transaction = session.begin_transaction()
        transaction.run("CREATE (:N)").consume()
        before = transaction.run("RETURN 1 AS x")
        with pytest.raises(Neo4jError):
            transaction.run("NONSENSE")
        with pytest.raises(TransactionError):
            transaction.run("RETURN 1")
        with pytest.raises(TransactionError):
            transaction.commit()
        with pytest.raises(ResultFailedError):
            list(before)
        transaction.close()
        assert session.run("MATCH (n) RETURN count(n)").single(strict=True)[0] == 0


def test_results_end_with_their_transaction(driver: neo4j.Driver) -> None:
    with driver.session() as session:
        transaction = session.begin_transaction()
        result = transaction.run("RETURN 1 AS x")
        transaction.commit()
        with pytest.raises(ResultConsumedError):
            result.single()
        result = session.run("RETURN 1 AS x")
        result.consume()
        assert result.closed()
        with pytest.raises(ResultConsumedError):
            result.data()


def test_managed_transactions(driver: neo4j.Driver) -> None:
    @neo4j.unit_of_work(timeout=10, metadata={"app": "test"})
    def metadata(transaction: neo4j.ManagedTransaction) -> Any:
        return transaction.run("CALL tx.getMetaData()").single(strict=True)["metadata"]

    def write(transaction: neo4j.ManagedTransaction, name: str) -> Any:
        return transaction.run("CREATE (n:N {name: $name}) RETURN n.name AS name", name=name).single(strict=True)[
            "name"
        ]

    def failing(transaction: neo4j.ManagedTransaction) -> None:
        transaction.run("CREATE (:N)")
        raise KeyError("mine")

    with driver.session() as session:
        assert session.execute_read(metadata) == {"app": "test"}
        assert session.execute_write(write, "a") == "a"
        with pytest.raises(ClientError, match="read access mode"):
            session.execute_read(write, "b")
        with pytest.raises(KeyError, match="mine"):
            session.execute_write(failing)
        assert session.run("MATCH (n) RETURN n.name").value() == ["a"]


def test_transient_errors_are_tried_again() -> None:
    with GraphDatabase.driver("hoplite://memory", initial_retry_delay=0.001) as driver, driver.session() as session:
        attempts = 0

        def work(transaction: neo4j.ManagedTransaction) -> Any:
            nonlocal attempts
            attempts += 1
            transaction.run("CREATE (:N)")
            if attempts < 3:
                raise neo4j.exceptions.TransientError
            return transaction.run("MATCH (n) RETURN count(n)").single(strict=True)[0]

        assert session.execute_write(work) == 1
        assert attempts == 3


def test_waiting_for_another_writer_is_a_transient_error() -> None:
    with GraphDatabase.driver("hoplite://memory", max_transaction_retry_time=0) as driver:
        driver.embedded._graph.lock_timeout_s = 0.02  # type: ignore[attr-defined]
        with driver.session() as one, driver.session() as other, one.begin_transaction() as transaction:
            transaction.run("CREATE (:N)")

            def write() -> None:
                with pytest.raises(neo4j.exceptions.TransientError, match="Another transaction is writing"):
                    other.run("CREATE (:N)")

            with ThreadPoolExecutor() as threads:
                threads.submit(write).result()


def test_a_transaction_has_one_timeout_for_all_its_statements(driver: neo4j.Driver) -> None:
    code = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"
    driver.execute_query("CREATE (n:N) DELETE n")  # the first statement of all takes longer
    with driver.session() as session:
        transaction = session.begin_transaction(timeout=0.3)
        transaction.run("CREATE (:N)")
        threading.Event().wait(0.35)
        with pytest.raises(ClientError) as raised:
            transaction.run("RETURN 1")
        assert raised.value.code == code
        transaction.close()
        transaction = session.begin_transaction(timeout=0.3)
        transaction.run("CREATE (:N)")
        threading.Event().wait(0.35)
        with pytest.raises(ClientError) as raised:
            transaction.commit()
        assert raised.value.code == code
        assert session.run("MATCH (n) RETURN count(n)").single(strict=True)[0] == 0
        with pytest.raises(ValueError, match="positive"):
            session.run(neo4j.Query("RETURN 1", timeout=-1))
        assert session.run(neo4j.Query("RETURN 1 AS x", timeout=0)).value() == [1]


def test_a_new_statement_buffers_the_last_result(driver: neo4j.Driver) -> None:
    with driver.session() as session:
        first = session.run("UNWIND range(1, 3000) AS x RETURN x")
        second = session.run("RETURN 1 AS x")
        assert len(first.fetch(5000)) == 3000
        assert second.value() == [1]


def test_a_session_that_is_closed_rolls_back(driver: neo4j.Driver) -> None:
    session = driver.session()
    session.begin_transaction().run("CREATE (:N)")
    session.close()
    with driver.session() as other:
        assert other.run("MATCH (n) RETURN count(n)").single(strict=True)[0] == 0


def test_threads_share_a_driver(driver: neo4j.Driver) -> None:
    def write() -> None:
        for _ in range(10):
            driver.execute_query("CREATE (:N)")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert driver.execute_query("MATCH (n:N) RETURN count(n)").records[0][0] == 40


def test_the_pool_has_a_size() -> None:
    settings: dict[str, Any] = {"max_connection_pool_size": 1, "connection_acquisition_timeout": 0.02}
    with GraphDatabase.driver("hoplite://memory", **settings) as driver, driver.session() as one:
        result = one.run("UNWIND range(1, 10000) AS x RETURN x")
        with pytest.raises(Exception, match="failed to obtain a connection"), driver.session() as other:
            other.run("RETURN 1")
        result.consume()
        driver.execute_query("RETURN 1")


def test_an_interrupted_program_can_go_on(driver: neo4j.Driver) -> None:
    def interrupted() -> Iterator[dict[str, Any]]:
        yield {"x": 1}
        raise KeyboardInterrupt

    driver.embedded.register_procedure("test.interrupted() :: (x :: INTEGER)", interrupted)  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt), driver.session() as session:
        session.run("CREATE (:N) WITH 1 AS one CALL test.interrupted() YIELD x RETURN x").consume()
    with pytest.raises(KeyboardInterrupt), driver.session() as session, session.begin_transaction() as transaction:
        transaction.run("CREATE (:N)")
        transaction.run("CALL test.interrupted()").consume()
    driver.execute_query("CREATE (:N)")
    assert driver.execute_query("MATCH (n) RETURN count(n)").records[0][0] == 1


def test_an_error_of_a_users_procedure_is_an_error_of_the_database(driver: neo4j.Driver) -> None:
    def broken() -> Iterator[dict[str, Any]]:
        raise LookupError("not here")
        yield

    driver.embedded.register_procedure("test.broken() :: (x :: INTEGER)", broken)  # type: ignore[attr-defined]
    with pytest.raises(Neo4jError, match="not here") as raised:
        driver.execute_query("CALL test.broken()")
    assert isinstance(raised.value, neo4j.exceptions.DatabaseError | ClientError)


def test_sessions_that_are_dropped_give_their_connections_back() -> None:
    with hoplite.open() as db, GraphDatabase.driver(database=db, max_connection_pool_size=1) as driver:
        for number in range(3):
            session = driver.session()
            assert next(iter(session.run("UNWIND range($n, 10000) AS i RETURN i", n=number)))["i"] == number
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)  # the driver's word about a session left open
                del session
                gc.collect()


def test_a_dropped_session_is_taken_back_while_others_wait() -> None:
    with hoplite.open() as db, GraphDatabase.driver(database=db, max_connection_pool_size=1) as driver:
        held = [driver.session()]
        held[0].run("UNWIND range(1, 10000) AS i RETURN i")
        found: list[int] = []

        def ask() -> None:
            with driver.session() as session:
                found.extend(record["x"] for record in session.run("RETURN 1 AS x"))

        waiting = threading.Thread(target=ask)
        waiting.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            held.clear()
            gc.collect()
        waiting.join(30)
        assert found == [1]
