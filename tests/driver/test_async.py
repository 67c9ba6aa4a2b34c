"""The asynchronous driver: the same over threads, and a task that is cancelled ends its query."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import ClientError, CypherSyntaxError

from hoplite import AsyncGraphDatabase

LONG = "UNWIND range(1, 3000000) AS x UNWIND range(1, 1000) AS y WITH x WHERE x % 7 = 3 RETURN count(*)"


def in_a_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        asyncio.run(test())

    del run.__wrapped__
    return run


@asynccontextmanager
async def opened(**settings: Any) -> AsyncIterator[neo4j.AsyncDriver]:
    async with AsyncGraphDatabase.driver("hoplite://memory", **settings) as driver:
        yield driver


@in_a_loop
async def test_queries() -> None:
    async with opened() as driver:
        assert isinstance(driver, neo4j.AsyncDriver)
        await driver.verify_connectivity()
        assert (await driver.get_server_info()).agent == "Neo4j/5.26.12"
        assert await driver.supports_multi_db()
        records, summary, keys = await driver.execute_query(
            "UNWIND $xs AS x CREATE (n:N {x: x}) RETURN n.x AS x", xs=[1, 2]
        )
        assert ([record["x"] for record in records], list(keys)) == ([1, 2], ["x"])
        assert summary.counters.nodes_created == 2
        with pytest.raises(CypherSyntaxError):
            await driver.execute_query("NONSENSE")
        with pytest.raises(ClientError, match="read access mode"):
            await driver.execute_query("CREATE (:N)", routing_="r")


@in_a_loop
async def test_sessions() -> None:
    async with opened() as driver, driver.session(fetch_size=10) as session:
        result = await session.run("UNWIND range(1, 100) AS x RETURN x")
        assert [record["x"] async for record in result] == list(range(1, 101))
        async with await session.begin_transaction() as transaction:
            first = await transaction.run("UNWIND range(1, 30) AS x RETURN x")
            second = await transaction.run("CREATE (n:N) RETURN n")
            assert len(await first.values()) == 30
            record = await second.single(strict=True)
            assert set(record["n"].labels) == {"N"}

        async def work(transaction: neo4j.AsyncManagedTransaction, x: int) -> Any:
            result = await transaction.run("CREATE (n:N {x: $x}) RETURN n.x AS x", x=x)
            return await result.value()

        assert await session.execute_write(work, 5) == [5]
        with pytest.raises(ClientError, match="read access mode"):
            await session.execute_read(work, 6)
        result = await session.run("UNWIND [1, 0] AS x RETURN 1 / x AS y")
        assert (await anext(result))["y"] == 1
        with pytest.raises(ClientError, match="/ by zero"):
            await anext(result)
        result = await session.run("MATCH (n:N) RETURN count(n) AS n")
        assert await result.value() == [2]


@in_a_loop
async def test_the_loop_goes_on_while_a_query_runs() -> None:
    async with opened() as driver:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        ticking = asyncio.create_task(tick())
        with pytest.raises(ClientError):
            await driver.execute_query(neo4j.Query(LONG, timeout=0.6))
        ticking.cancel()
        assert ticks >= 3


@in_a_loop
async def test_a_cancelled_task_ends_its_query() -> None:
    async with opened() as driver:
        query = "UNWIND range(1, 3000000) AS x UNWIND range(1, 1000) AS y CREATE (n:N) RETURN count(*)"
        for kind in ("auto-commit", "managed", "explicit"):
            task = asyncio.create_task(_run(driver, kind, query))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            began = time.monotonic()
            await driver.execute_query("CREATE (:Other)")  # waits until the writer is gone
            assert time.monotonic() - began < 10
        records, _, _ = await driver.execute_query("MATCH (n) RETURN labels(n)[0] AS l, count(*) AS n")
        assert [record.values() for record in records] == [["Other", 3]]


async def _run(driver: neo4j.AsyncDriver, kind: str, query: Any) -> None:
    async with driver.session() as session:
        if kind == "auto-commit":
            await (await session.run(query)).consume()
        elif kind == "explicit":
            async with await session.begin_transaction() as transaction:
                await (await transaction.run(query)).consume()
        else:

            async def work(transaction: neo4j.AsyncManagedTransaction) -> None:
                await (await transaction.run(query)).consume()

            await session.execute_write(work)


@in_a_loop
async def test_many_tasks_share_a_driver() -> None:
    async with opened(max_connection_pool_size=5) as driver:

        async def work(number: int) -> None:
            async with driver.session() as session, await session.begin_transaction() as transaction:
                await transaction.run("CREATE (:N {x: $x})", x=number)
                await asyncio.sleep(0.001)
                await transaction.run("CREATE (:N {x: $x})", x=number)

        await asyncio.gather(*(work(number) for number in range(20)))
        records, _, _ = await driver.execute_query("MATCH (n:N) RETURN count(n), count(DISTINCT n.x)")
        assert records[0].values() == [40, 20]


@in_a_loop
async def test_the_pool_has_a_size() -> None:
    async with (
        opened(max_connection_pool_size=1, connection_acquisition_timeout=0.02) as driver,
        driver.session() as one,
    ):
        result = await one.run("UNWIND range(1, 10000) AS x RETURN x")
        with pytest.raises(Exception, match="failed to obtain a connection"):
            async with driver.session() as other:
                await other.run("RETURN 1")
        await result.consume()
        await driver.execute_query("RETURN 1")
