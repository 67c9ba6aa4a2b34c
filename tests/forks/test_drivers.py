"""Drivers that were opened before a fork."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import neo4j
from neo4j.exceptions import Neo4jError

import hoplite
from hoplite import AsyncGraphDatabase, GraphDatabase
from tests.forks.child import in_child, value_of

COUNT = "MATCH (n) RETURN count(n) AS n"
REFUSED = "Here it can only be read"


def told(use: Any) -> Any:
    try:
        return use()
    except Neo4jError as error:
        return error.message


def test_a_driver_reads_in_a_child_and_is_told_that_it_cannot_write(tmp_path: Path) -> None:
    path = tmp_path / "kg.hop"
    with GraphDatabase.driver(f"hoplite://{path}", max_connection_pool_size=2) as driver:
        driver.execute_query("UNWIND range(1, 5) AS i CREATE (:N {i: i})")
        with driver.session() as session, driver.session() as other:
            result = session.run("MATCH (n:N) RETURN n.i AS i ORDER BY i")
            transaction = other.begin_transaction()
            transaction.run("CREATE (:Open)").consume()  # both connections are taken

            def use() -> Any:
                rest = [record["i"] for record in result]
                writing = [
                    told(lambda: transaction.run("CREATE (:Child)").consume()),
                    told(lambda: driver.execute_query("CREATE (:Child)")),
                    told(lambda: session.execute_write(lambda tx: tx.run("CREATE (:Child)").consume())),
                ]
                found = driver.execute_query(COUNT).records[0]["n"]
                driver.close()
                return rest, writing, found

            rest, writing, found = in_child(use)
            assert (rest, found) == ([1, 2, 3, 4, 5], 5)
            assert "belongs to the parent process" in writing[0]
            assert REFUSED in writing[1]
            assert REFUSED in writing[2]
            transaction.commit()
        driver.execute_query("CREATE (:Parent)")
    with hoplite.open(path) as db:
        assert value_of(db) == 7
        assert db.verify() == []


def test_a_driver_in_memory_writes_to_the_copy_of_the_child() -> None:
    stop = threading.Event()
    with GraphDatabase.driver("hoplite://memory", max_connection_pool_size=3) as driver:

        def work() -> None:
            while not stop.is_set():
                driver.execute_query("MERGE (n:N {i: 1}) SET n.x = 1")

        def use() -> Any:
            for _ in range(5):
                driver.execute_query("CREATE (:Child)")
            return driver.execute_query("MATCH (n:Child) RETURN count(n) AS n").records[0]["n"]

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            assert [in_child(use) for _ in range(10)] == [5] * 10
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert driver.execute_query("MATCH (n:Child) RETURN count(n) AS n").records[0]["n"] == 0


async def _count(driver: neo4j.AsyncDriver) -> int:
    found = await driver.execute_query(COUNT)
    number: int = found.records[0]["n"]
    return number


def test_an_asynchronous_driver_reads_in_a_child(tmp_path: Path) -> None:
    path = tmp_path / "kg.hop"

    async def parent() -> None:
        async with AsyncGraphDatabase.driver(f"hoplite://{path}") as driver:
            await asyncio.gather(*(driver.execute_query("CREATE (:N)") for _ in range(10)))

            async def child() -> Any:
                found = await asyncio.gather(*(_count(driver) for _ in range(5)))
                try:
                    await driver.execute_query("CREATE (:Child)")
                except Neo4jError as error:
                    refused = error.message
                await driver.close()
                return found, refused

            busy = asyncio.gather(*(driver.execute_query("CREATE (:N)") for _ in range(10)))
            await asyncio.sleep(0)
            found, refused = in_child(lambda: _in_new_loop(child()))
            assert len(set(found)) == 1
            assert 10 <= found[0] <= 20
            assert REFUSED in refused
            await busy
            await driver.execute_query("CREATE (:Parent)")

    asyncio.run(parent())
    with hoplite.open(path) as db:
        assert value_of(db) == 21
        assert db.verify() == []


def _in_new_loop(work: Any) -> Any:
    asyncio.set_event_loop(None)
    return asyncio.run(work)
