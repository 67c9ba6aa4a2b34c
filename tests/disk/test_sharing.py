"""One graph for everyone who opens the same folder in a process."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError, TransactionError

import hoplite
from hoplite import GraphDatabase
from tests.forks.child import value_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kg.hop"


def opens_elsewhere(path: Path) -> bool:
    """Whether another process can open it for writing."""
    program = f"import hoplite; hoplite.open({str(path)!r}).close()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 or "open for writing by process" in done.stderr, done.stderr
    return done.returncode == 0


def test_two_who_open_a_folder_share_it_until_the_last_one_closes_it(path: Path) -> None:
    first, second = hoplite.open(path), hoplite.open(str(path))
    first.run("CREATE (:N)")
    assert value_of(second) == 1
    second.run("CREATE (:N)")
    assert value_of(first) == 2
    first.close()
    first.close()
    with pytest.raises(RuntimeError, match="The database is closed"):
        first.run("RETURN 1")
    with pytest.raises(RuntimeError, match="The database is closed"):
        first.begin()
    second.run("CREATE (:N)")
    assert not opens_elsewhere(path)
    second.close()
    assert opens_elsewhere(path)
    with hoplite.open(path) as again:
        assert value_of(again) == 3
        assert again.verify() == []


def test_a_folder_is_the_same_by_every_path(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = path.parent / "link.hop"
    with hoplite.open(path) as db:
        db.run("CREATE (:N)")
        link.symlink_to(path)
        monkeypatch.chdir(path.parent)
        for other in ("kg.hop", "./x/../kg.hop", link, Path("link.hop"), path / "." / "", os.path.relpath(path)):
            (path.parent / "x").mkdir(exist_ok=True)
            with hoplite.open(other) as same:
                same.run("CREATE (:N)")
        assert value_of(db) == 7
    assert opens_elsewhere(path)


def test_limits_are_those_of_whoever_opened_it(path: Path) -> None:
    with (
        hoplite.open(path) as db,
        hoplite.open(path, max_rows=2) as short,
        hoplite.open(path, timeout=0.05, backend="numpy", lenient=True) as hurried,
        hoplite.open(path, read_only=True) as reader,
    ):
        db.run("UNWIND range(1, 5) AS i CREATE (:N {i: i})")
        assert len(db.run("MATCH (n) RETURN n").data()) == 5
        with pytest.raises(ClientError, match="2 rows"):
            short.run("MATCH (n) RETURN n").data()
        with pytest.raises(ClientError, match="timeout"):
            hurried.run("UNWIND range(1, 10000000) AS i RETURN max(i)").data()
        db.register_function("own.twice(x :: INTEGER) :: INTEGER", lambda x: 2 * x)
        assert db.run("RETURN own.twice(2) AS x").value() == [4]
        with pytest.raises(ClientError, match="Unknown function"):
            reader.run("RETURN own.twice(2) AS x")


def test_who_opens_it_to_read_sees_commits_and_cannot_write(path: Path) -> None:
    with hoplite.open(path) as db, hoplite.open(path, read_only=True) as reader:
        for number in range(3):
            assert value_of(reader) == number
            db.run("CREATE (:N)")
        for write in (
            lambda: reader.run("CREATE (:N)"),
            lambda: reader.session(read_only=False).run("CREATE (:N)"),
            lambda: reader.begin(read_only=False).run("CREATE (:N)"),
            lambda: reader.run("CREATE INDEX FOR (n:N) ON (n.i)"),
            lambda: reader.load(nodes={"N": {"id": [1]}}),
            reader.checkpoint,
        ):
            with pytest.raises(ClientError, match="read access mode"):
                write()
        with GraphDatabase.driver(database=reader) as driver, pytest.raises(ClientError, match="read access mode"):
            driver.execute_query("CREATE (:N)")
        assert value_of(db) == 3


def test_readers_who_are_left_keep_nobody_from_writing(path: Path) -> None:
    db = hoplite.open(path)
    db.run("CREATE (:N {i: 1})")
    reader, other = hoplite.open(path, read_only=True), hoplite.open(path, read_only=True)
    db.run("CREATE (:N {i: 2})")
    db.close()
    assert value_of(reader) == value_of(other) == 2
    assert opens_elsewhere(path)
    with hoplite.open(path) as writer:
        writer.run("MATCH (n) DELETE n")
        writer.checkpoint()
        assert reader.run("MATCH (n:N) RETURN n.i ORDER BY n.i").value() == [1, 2]
        with hoplite.open(path, read_only=True) as late:
            assert value_of(late) == 0
    with pytest.raises(ClientError, match="read access mode"):
        reader.run("CREATE (:N)")
    reader.close()
    assert value_of(other) == 2
    other.close()
    hoplite.open(path).close()
    assert len(list(path.glob("snapshot-*"))) == 1


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        ({"memory": "1GB"}, {"memory": "2GB"}, "memory=2000000000: .* is already open .* with memory=1000000000"),
        ({}, {"memory": 12345}, "memory=12345: .* is already open"),
        ({"partitions": 2}, {"partitions": 3}, "partitions=3: .* with partitions=2"),
        ({}, {"partitions": 3}, "partitions=3: .* with partitions=None"),
        ({"durability": "relaxed"}, {"durability": "full"}, "durability='full': .* with durability='relaxed'"),
        ({}, {"durability": "relaxed"}, "durability='relaxed': .* with durability='full'"),
    ],
)
def test_settings_that_do_not_agree(path: Path, first: dict[str, Any], second: dict[str, Any], named: str) -> None:
    with hoplite.open(path, **first) as db:
        with pytest.raises(ValueError, match=named):
            hoplite.open(path, **second)
        with hoplite.open(path, **first) as same, hoplite.open(path) as unsaid:
            same.run("CREATE (:N)")
            unsaid.run("CREATE (:N)")
        assert value_of(db) == 2
    with hoplite.open(path, **second) as later:
        assert value_of(later) == 2


def test_a_transaction_that_was_left_open_ends_with_whoever_opened_it(path: Path) -> None:
    with hoplite.open(path) as db:
        other = hoplite.open(path)
        transaction = other.begin()
        transaction.run("CREATE (:N)")
        other.close()
        db.run("CREATE (:M)")  # does not wait for it
        assert db.run("MATCH (n) RETURN labels(n)").value() == [["M"]]


def test_a_block_whose_database_was_closed_does_not_end_as_if_it_were_committed(path: Path) -> None:
    db = hoplite.open(path)
    with pytest.raises(TransactionError, match="rolled back"), db.begin() as transaction:
        transaction.run("CREATE (:N)")
        db.close()
    with hoplite.open(path) as again:
        with again.begin() as transaction:
            transaction.run("CREATE (:N)")
            transaction.commit()
        assert value_of(again) == 1


def test_who_is_collected_has_left(path: Path) -> None:
    hoplite.open(path).run("CREATE (:N)").consume()
    gc.collect()
    db = hoplite.open(path)
    abandoned = hoplite.open(path)
    del abandoned
    gc.collect()
    assert value_of(db) == 1
    db.close()
    assert opens_elsewhere(path)


def test_another_folder_at_the_same_path_is_another_database(path: Path) -> None:
    old = hoplite.open(path)
    old.run("CREATE (:N)")
    shutil.rmtree(path)
    with hoplite.open(path) as new:
        assert value_of(new) == 0
        new.run("CREATE (:N), (:N)")
    with hoplite.open(path) as again:
        assert value_of(again) == 2


def test_threads_that_open_and_close_it_at_once(path: Path) -> None:
    errors: list[BaseException] = []

    def use() -> None:
        try:
            for _ in range(8):
                with hoplite.open(path, durability="relaxed") as db:
                    db.run("CREATE (:N)")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=use) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    with hoplite.open(path) as db:
        assert value_of(db) == 48
        assert db.verify() == []


def test_drivers_and_databases_share_a_folder(path: Path) -> None:
    with (
        GraphDatabase.driver(f"hoplite://{path}") as first,
        GraphDatabase.driver(f"hoplite://{path}") as second,
        hoplite.open(path) as db,
    ):
        first.execute_query("CREATE (:N)")
        second.execute_query("CREATE (:N)")
        db.run("CREATE (:N)")
        first.close()
        assert second.execute_query("MATCH (n) RETURN count(n) AS n").records[0]["n"] == 3
        db.close()
        second.execute_query("CREATE (:N)")
    assert opens_elsewhere(path)
