"""A database on disk, in a process that was forked from the one that opened it."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hoplite
from hoplite.storage.disk.graph import DiskGraph
from tests.disk.faults import QuickFiles
from tests.forks.child import Child, in_child, value_of

COUNT = "MATCH (n) RETURN count(n) AS n"
REFUSED = "was forked. Here it can only be read"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kg.hop"


@pytest.fixture
def db(path: Path) -> Iterator[hoplite.Database]:
    with hoplite.open(path, durability="relaxed") as db:
        db.run("UNWIND range(1, 10) AS i CREATE (:N {i: i})-[:R {w: i}]->(:M {s: 'text ' + i})")
        yield db


def check(db: hoplite.Database, path: Path, expected: int) -> None:
    """Everything acknowledged is there, now and after reopening."""
    assert value_of(db) == expected
    assert db.verify() == []
    db.close()
    with hoplite.open(path) as again:
        assert value_of(again) == expected
        assert again.verify() == []


WRITES: dict[str, Callable[[hoplite.Database], Any]] = {
    "create": lambda db: db.run("CREATE (:Child)"),
    "set": lambda db: db.run("MATCH (n:N) SET n.i = 0"),
    "delete": lambda db: db.run("MATCH (n) DETACH DELETE n"),
    "index": lambda db: db.run("CREATE INDEX FOR (n:N) ON (n.i)"),
    "in a session": lambda db: db.session().run("MERGE (:Child)").consume(),
    "in transactions": lambda db: db.run("UNWIND [1, 2] AS x CALL (x) { CREATE (:Child) } IN TRANSACTIONS OF 1 ROW"),
    "in a transaction": lambda db: db.begin().run("CREATE (:Child)"),
    "checkpoint": lambda db: db.checkpoint(),
    "load": lambda db: db.load(nodes={"Child": {"id": [1, 2]}}),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_child_is_told_that_it_cannot_write(db: hoplite.Database, path: Path, write: str) -> None:
    files = sorted(path.rglob("*"))
    told = in_child(lambda: WRITES[write](db))
    assert REFUSED in told
    assert f"opened by process {os.getpid()}" in told
    assert "AccessMode" in told
    assert sorted(path.rglob("*")) == files
    db.run("CREATE (:Parent)")
    check(db, path, 21)


def test_a_child_reads_the_version_of_the_fork(db: hoplite.Database, path: Path) -> None:
    result = db.run("MATCH (n:N) RETURN n.i AS i ORDER BY i")
    first = next(iter(result))["i"]
    transaction = db.begin()
    transaction.run(COUNT).consume()

    def read() -> Any:
        rest = [record["i"] for record in result]
        return value_of(db), rest, value_of(transaction), len(db.explain(COUNT)) > 0, db.stats()

    child = Child(read)
    db.run("CREATE (:Parent)")
    found, rest, in_transaction, explained, stats = child.ask()
    assert (found, rest, in_transaction, explained) == (20, list(range(first + 1, 11)), 20, True)
    assert (stats["nodes"], stats["commits"]) == (20, 1)
    transaction.close()
    check(db, path, 21)


def end_of(db: hoplite.Database, how: str) -> None:
    match how:
        case "close":
            db.close()
            db.close()
        case "with":
            db.__exit__(None, None, None)
        case "collect":
            db.__dict__.clear()
            gc.collect()


@pytest.mark.parametrize("end", ["close", "with", "collect"])
def test_the_end_of_a_child_takes_nothing_from_the_parent(db: hoplite.Database, path: Path, end: str) -> None:
    db.checkpoint()
    db.run("CREATE (:Before)")
    assert in_child(lambda: end_of(db, end)) is None
    assert "open for writing by process" in in_child(lambda: hoplite.open(path))
    db.run("CREATE (:Parent)")
    db.checkpoint()
    assert in_child(lambda: end_of(db, end)) is None
    db.run("CREATE (:Parent)")
    check(db, path, 23)


def test_a_child_reads_files_that_the_parent_no_longer_needs(tmp_path: Path) -> None:
    path = tmp_path / "kg.hop"
    with hoplite.open(path, partitions=4, durability="relaxed") as db:
        db.run("UNWIND range(1, 50) AS i CREATE (:N {i: i, s: 't' + i})-[:R {w: i}]->(:M {l: [i]})")
        db.checkpoint()
    with hoplite.open(path, partitions=4, durability="relaxed") as db:
        query = "MATCH (n:N)-[r:R]->(m) RETURN n.i AS i, n.s AS s, r.w AS w, m.l AS l ORDER BY i"
        child = Child(lambda: [record.values() for record in db.run(query)])  # nothing is loaded yet
        for _ in range(3):
            db.run("MATCH (n:N) SET n.i = n.i + 1000")
            db.checkpoint()
        db.run("MATCH (n:N) DETACH DELETE n")
        db.checkpoint()
        folders = sorted(inside.name for inside in path.iterdir() if inside.name.startswith("snapshot"))
        assert len(folders) == 2  # the child's and the current one
        assert child.ask() == [[i, f"t{i}", i, [i]] for i in range(1, 51)]
        db.run("CREATE (:X)")
        db.checkpoint()
        assert len([inside for inside in path.iterdir() if inside.name.startswith("snapshot")]) == 1
        assert db.verify() == []


def test_a_database_can_be_opened_again_while_a_child_lives(db: hoplite.Database, path: Path) -> None:
    child = Child(lambda: value_of(db))
    db.close()
    with hoplite.open(path) as again:
        again.run("CREATE (:Again)")
        again.checkpoint()
        assert child.ask() == 20
        assert again.verify() == []


def test_the_lock_of_a_parent_that_was_killed_is_free_although_a_child_lives(path: Path) -> None:
    ready, tell = os.pipe()
    end, live_on = os.pipe()

    def parent() -> None:
        os.close(live_on)
        db = hoplite.open(path)
        db.run("CREATE (:N)")
        if os.fork() == 0:
            os.write(tell, b"x")
            os.read(end, 1)  # until the test is over
            os._exit(0)
        os._exit(0)

    number = os.fork()
    if number == 0:
        parent()
    os.waitpid(number, 0)
    assert os.read(ready, 1) == b"x"
    try:
        with hoplite.open(path) as db:
            assert value_of(db) == 1
    finally:
        for file in (ready, tell, end, live_on):
            os.close(file)


def test_a_child_opens_the_folder_as_any_other_process(db: hoplite.Database, path: Path) -> None:
    def open_all() -> Any:
        try:
            hoplite.open(path)
        except Exception as error:
            told = str(error)
        with hoplite.open(path, read_only=True) as reader:
            return told, value_of(reader), reader.verify()

    told, found, problems = in_child(open_all)
    assert f"the database is open for writing by process {os.getpid()}" in told
    assert (found, problems) == (20, [])
    db.close()

    def write() -> Any:
        with hoplite.open(path) as own:
            own.run("CREATE (:Child)")
            return value_of(own)

    assert in_child(write) == 21
    with hoplite.open(path) as again:
        assert value_of(again) == 21


def test_transactions_that_are_open_stay_with_the_parent(db: hoplite.Database, path: Path) -> None:
    transaction = db.begin()
    transaction.run("CREATE (:Open), (:Open)")

    def go_on() -> list[Any]:
        found: list[Any] = [value_of(db)]
        for use in (lambda: transaction.run("CREATE (:Child)"), transaction.commit, lambda: transaction.run(COUNT)):
            try:
                found.append(use())
            except Exception as error:
                found.append(str(error))
        transaction.rollback()
        transaction.close()
        db.close()
        return found

    found = in_child(go_on)
    assert found[0] == 20
    assert all("belongs to the parent process" in told for told in found[1:])
    transaction.run("CREATE (:Open)")
    transaction.commit()
    check(db, path, 23)


def test_a_block_that_a_child_leaves_does_not_commit(db: hoplite.Database, path: Path) -> None:
    def leave() -> None:
        with db.begin() as transaction:
            transaction.run("CREATE (:Open)")
            assert "belongs to the parent process" in in_child(lambda: transaction.__exit__(None, None, None))

    leave()
    check(db, path, 21)


def test_a_load_that_is_under_way_stays_with_the_parent(path: Path) -> None:
    graph = DiskGraph(path, durability="relaxed", spill_bytes=1000)
    with graph.bulk() as load:
        for _ in range(20):
            nodes = load.add_nodes(("N",), 100, {})
            load.add_relationships("R", nodes, nodes[::-1].copy(), {})
        assert list(path.glob("scratch-*/*"))
        assert "belongs to the parent process" in in_child(load.commit)
        in_child(load.close)
        assert list(path.glob("scratch-*/*"))
        load.commit()
    assert (graph.snapshot().node_count, graph.snapshot().relationship_count) == (2000, 2000)
    assert not list(path.glob("scratch-*"))
    graph.close()
    with hoplite.open(path) as db:
        assert value_of(db) == 2000
        assert db.verify() == []


class SlowFiles(QuickFiles):
    """Waits in the middle of writing a snapshot until it may continue."""

    def __init__(self) -> None:
        self.reached, self.may_go_on, self.is_slow = threading.Event(), threading.Event(), False

    def create(self, path: Path) -> int:
        if self.is_slow and path.name == "relationships.bin":
            self.reached.set()
            assert self.may_go_on.wait(60)
        return super().create(path)


def test_a_checkpoint_in_the_background_stays_with_the_parent(path: Path) -> None:
    files = SlowFiles()
    graph = DiskGraph(path, files=files, log_limit_bytes=1)
    files.is_slow = True
    with graph.begin() as transaction:
        transaction.create_node(("N",), {"i": 1})
    assert files.reached.wait(60)

    def use() -> Any:
        found = graph.snapshot().node_count, graph.verify()
        graph.close()
        return found

    assert in_child(use) == (1, [])
    with graph.begin() as transaction:
        transaction.create_node(("N",), {"i": 2})
    files.may_go_on.set()
    graph.close()
    assert graph.verify() == []
    with hoplite.open(path) as db:
        assert value_of(db) == 2


def test_children_of_children_read_too(db: hoplite.Database, path: Path) -> None:
    def grandchild() -> Any:
        return value_of(db), in_child(lambda: value_of(db)), in_child(lambda: str(db.run("CREATE (:X)")))

    found = in_child(grandchild)
    assert found[:2] == (20, 20)
    assert REFUSED in found[2]
    check(db, path, 20)


def test_a_read_only_database_is_read_in_a_child(db: hoplite.Database, path: Path) -> None:
    db.close()
    reader = hoplite.open(path, read_only=True)

    def read() -> int:
        found: int = value_of(reader)
        reader.close()
        return found

    child = Child(read)
    reader.close()
    with hoplite.open(path) as writer:
        writer.run("MATCH (n) DETACH DELETE n")
        writer.checkpoint()
        assert child.ask() == 20


def test_threads_that_write_while_the_process_forks_lose_nothing(path: Path) -> None:
    db = hoplite.open(path, durability="relaxed")
    written = [0] * 3
    stop = threading.Event()

    def write(number: int) -> None:
        while not stop.is_set():
            db.run("CREATE (:N {thread: $t, i: $i})-[:R]->(:M)", t=number, i=written[number])
            written[number] += 1

    def look() -> bool:
        rows = db.run("MATCH (n:N) RETURN n.thread AS t, max(n.i) AS last, count(*) AS n ORDER BY t").data()
        pairs = value_of(db, "MATCH (:N)-[r:R]->(:M) RETURN count(r) AS n")
        return all(row["last"] == row["n"] - 1 for row in rows) and pairs == sum(row["n"] for row in rows)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        for number in range(25):
            assert in_child(look) is True
            assert in_child(db.close) is None
            if number % 8 == 7:
                db.checkpoint()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert sum(written) > 0
    check(db, path, 2 * sum(written))
