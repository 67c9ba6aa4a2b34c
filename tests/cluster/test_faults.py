"""What workers do when they die, when they are told to stop, and when nobody reads what they have computed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError, Neo4jError, TransientError

import hoplite
from hoplite.cluster.database import Cluster
from hoplite.cluster.placing import Split
from hoplite.cluster.pool import WORKER_LOST
from tests.cluster.graphs import random_folder
from tests.cluster.pools import ThreadPool

SPLITS: tuple[Split, ...] = ("never", "always")
ENDLESS = "MATCH p = (a:N)-[*1..40]->(b) RETURN count(p) AS c"
SEARCH = "MATCH (a:N {id: $i})-[*1..3]->(b) RETURN count(DISTINCT b) AS c"
MANY = "UNWIND range(1, $n) AS i RETURN i"


def _is_free(several: Cluster) -> bool:
    """Whether every worker answers."""
    found = [several.run("MATCH (n:N {id: $i}) RETURN n.id AS id", i=i).data() for i in range(8)]
    return [rows[0]["id"] for rows in found if rows] == [i for i in range(8) if i != 3]


def _retried(run: Callable[[], Any]) -> Any:
    while True:
        try:
            return run()
        except TransientError as error:
            assert error.code == WORKER_LOST


@pytest.mark.parametrize("split", SPLITS)
def test_workers_that_die_under_load_change_no_answer(tmp_path: Path, split: Split) -> None:
    path = random_folder(tmp_path, seed=31)
    pool = ThreadPool(3, faults=0.05)
    with hoplite.open(path, read_only=True) as plain, Cluster(path, pool, split=split) as several:
        wanted = [plain.run(SEARCH, i=i).data() for i in range(20)]
        found: dict[int, Any] = {}

        def ask(number: int) -> None:
            found[number] = [_retried(lambda i=i: several.run(SEARCH, i=i).data()) for i in range(20)]  # type: ignore[misc]

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == dict.fromkeys(range(4), wanted)
        assert pool.killed > 0


def test_a_batch_survives_workers_that_die(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=32)
    sets = [{"i": i % 60} for i in range(200)]
    pool = ThreadPool(3, faults=0.1)
    with hoplite.open(path, read_only=True) as plain, Cluster(path, pool) as several:
        wanted = [plain.run(SEARCH, one).data() for one in sets]
        assert [result.data() for result in _retried(lambda: several.run_many(SEARCH, sets))] == wanted
        assert pool.killed > 0


def test_a_batch_has_results_of_any_size_and_types(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=33)
    with Cluster(path, ThreadPool(2)) as several:
        sizes = [3, 100_000, 0, 40_000, 1]
        found = several.run_many(MANY, [{"n": n} for n in sizes])
        assert [len(result.values()) for result in found] == sizes
        given = [1, "one", 2.5, None, [1], "two"]
        echoed = several.run_many("RETURN $x AS x", [{"x": x} for x in given])
        assert [result.single()["x"] for result in echoed] == given  # type: ignore[index]
        assert several.run_many(MANY, []) == []


def test_an_error_ends_a_batch(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=34)
    with Cluster(path, ThreadPool(2)) as several:
        with pytest.raises(ClientError) as raised:
            several.run_many("RETURN 1 / $x AS y", [{"x": x} for x in (1, 2, 0, 4) * 30])
        assert raised.value.code == "Neo.ClientError.Statement.ArithmeticError"
        with pytest.raises(ClientError) as raised:
            several.run_many("RETURN $x AS x", [{"x": 1}, {}])
        assert raised.value.code == "Neo.ClientError.Statement.ParameterMissing"
        assert _is_free(several)


def test_an_unread_result_leaves_its_worker_free(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=35)
    with Cluster(path, pool := ThreadPool(1), split="never") as several:
        unread = several.run(MANY, n=300_000)
        first = next(unread)["i"]
        assert _is_free(several)
        assert first + sum(record["i"] for record in unread) == 300_000 * 300_001 // 2
        dropped = several.run(MANY, n=300_000)
        next(dropped)
        del dropped
        assert _is_free(several)
        worker = pool._workers[0]
        assert worker is not None
        assert not worker._open, "the rest of a dropped result is forgotten"


def test_a_worker_that_dies_between_pieces_is_an_error_to_retry(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=36)
    with Cluster(path, pool := ThreadPool(1), split="never") as several:
        result = several.run(MANY, n=300_000)
        next(result)
        pool.kill(0)
        pool.await_return(lambda: None)
        with pytest.raises(TransientError, match="retry"):
            list(result)
        assert _is_free(several)


@pytest.mark.parametrize("split", SPLITS)
def test_a_statement_is_cancelled_in_its_workers(tmp_path: Path, split: Split) -> None:
    path = random_folder(tmp_path, seed=37, nodes=200, relationships=1_500)
    with Cluster(path, ThreadPool(2), split=split) as several:
        stop = threading.Event()
        threading.Timer(0.3, stop.set).start()
        with pytest.raises(Neo4jError, match="terminated"):
            several._run_alone(ENDLESS, {}, replace(several._limits, stop=stop)).data()
        assert _is_free(several)


@pytest.mark.parametrize("split", SPLITS)
def test_memory_limits_hold_however_a_statement_runs(tmp_path: Path, split: Split) -> None:
    path = random_folder(tmp_path, seed=38)
    query = "MATCH (a:N)-[*1..2]->(b), (c:N), (d:N) RETURN collect([a.name, b.name, c.name, d.name]) AS all"
    with Cluster(path, ThreadPool(2), query_memory="8MB", split=split) as several:
        with pytest.raises(TransientError) as raised:
            several.run(query).data()
        assert raised.value.code == "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
        with pytest.raises(TransientError):
            several.run_many(query + ", $x AS x", [{"x": 1}, {"x": 2}])
        assert _is_free(several)


def test_closing_ends_a_statement_that_runs(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=39, nodes=200, relationships=1_500)
    several = Cluster(path, ThreadPool(2), split="never")
    raised: list[BaseException] = []

    def ask() -> None:
        try:
            several.run(ENDLESS).data()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.3)
    several.close()
    thread.join(30)
    assert not thread.is_alive()
    assert isinstance(raised[0], Neo4jError | RuntimeError)
