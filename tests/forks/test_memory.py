"""A database in memory, in a process that was forked: a copy that goes its own way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import hoplite
from hoplite.engine.hops.select import AutoBackend
from tests.forks.child import in_child, value_of


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as db:
        db.run("UNWIND range(1, 10) AS i CREATE (:N {i: i})-[:R]->(:M)")
        yield db


def test_a_child_writes_to_its_own_copy(db: hoplite.Database) -> None:
    def write() -> Any:
        db.run("CREATE (:Child)")
        with db.begin() as transaction:
            transaction.run("CREATE (:Child)")
        db.load(nodes={"Child": {"id": [1, 2]}})
        db.checkpoint()
        return value_of(db)

    assert in_child(write) == 24
    assert value_of(db) == 20
    db.run("CREATE (:Parent)")
    assert value_of(db) == 21


def test_a_transaction_of_another_thread_is_not_in_the_copy(db: hoplite.Database) -> None:
    began, end = threading.Event(), threading.Event()

    def hold() -> None:
        with db.begin() as transaction:
            transaction.run("MATCH (n:N) SET n.i = -n.i CREATE (:Open)")
            began.set()
            assert end.wait(120)

    thread = threading.Thread(target=hold)
    thread.start()
    assert began.wait(60)

    def write() -> Any:
        db.run("CREATE (:Child)")
        return value_of(db), value_of(db, "MATCH (n:N) RETURN sum(n.i) AS s")

    try:
        assert in_child(write) == (21, 55)
    finally:
        end.set()
        thread.join()
    assert value_of(db, "MATCH (n:N) RETURN sum(n.i) AS s") == -55


def test_a_transaction_that_is_open_is_of_no_use_in_the_copy(db: hoplite.Database) -> None:
    transaction = db.begin()
    transaction.run("CREATE (:Open)")

    def go_on() -> Any:
        found: list[Any] = []
        for use in (lambda: transaction.run("CREATE (:Child)"), transaction.commit):
            try:
                found.append(use())
            except Exception as error:
                found.append("belongs to the parent process" in str(error))
        transaction.close()
        db.run("CREATE (:Child)")
        return found, value_of(db)

    assert in_child(go_on) == ([True, True], 21)
    transaction.commit()
    assert value_of(db) == 21


def test_a_load_that_is_under_way_is_of_no_use_in_the_copy(db: hoplite.Database) -> None:
    with db._graph.bulk() as load:
        load.add_nodes(("N",), 5, {})

        def go_on() -> Any:
            load.close()
            db.run("CREATE (:Child)")
            return value_of(db)

        assert in_child(go_on) == 21
        load.commit()
    assert value_of(db) == 25


def test_a_child_computes_what_a_thread_was_computing(db: hoplite.Database) -> None:
    """Nothing waits for a thread that stayed in the parent."""
    db.run("CREATE INDEX FOR (n:N) ON (n.i)")
    db.checkpoint()
    reached, end = threading.Event(), threading.Event()
    base = db._graph.snapshot()._delta.base
    compute = type(base).__dict__["label_set_counts"]

    class Slow(type(base)):  # type: ignore[misc]
        pass

    def slow(self: Any) -> Any:
        reached.set()
        assert end.wait(120)
        return compute.__get__(self)

    property_of = type(compute)(slow)
    property_of.__set_name__(Slow, "label_set_counts")
    Slow.label_set_counts = property_of
    twins = [Slow.__new__(Slow) for _ in range(2)]
    for twin in twins:
        twin.__dict__.update(base.__dict__)
        twin.__dict__.pop("label_set_counts", None)
    thread = threading.Thread(target=lambda: twins[0].label_set_counts)
    thread.start()
    assert reached.wait(60)

    def look() -> Any:
        end.set()
        return twins[1].label_set_counts.sum().item()

    try:
        assert in_child(look) == 20
    finally:
        end.set()
        thread.join()


@pytest.mark.parametrize("backend", ["numpy", "scipy", "numba", "auto"])
def test_every_backend_runs_in_a_child(backend: Any) -> None:
    with hoplite.open(backend=backend) as db:
        db.run("UNWIND range(0, 199) AS i CREATE (:N {i: i})")
        db.run("MATCH (a:N), (b:N) WHERE b.i = (a.i * 7 + 1) % 200 OR b.i = (a.i + 1) % 200 CREATE (a)-[:R]->(b)")
        query = "MATCH (a:N {i: 3})-[:R*1..4]->(b) RETURN count(DISTINCT b) AS n"
        expected = db.run(query).data()
        assert in_child(lambda: db.run(query).data()) == expected
        assert in_child(lambda: db.run("MATCH p = (a:N {i: 3})-[:R*1..3]->() RETURN count(p) AS n").data()) == (
            db.run("MATCH p = (a:N {i: 3})-[:R*1..3]->() RETURN count(p) AS n").data()
        )


def test_kernels_that_are_being_loaded_do_not_hold_up_a_child() -> None:
    with hoplite.open() as db:
        db.run("UNWIND range(0, 99) AS i CREATE (:N {i: i})")
        db.run("MATCH (a:N), (b:N) WHERE b.i = (a.i + 1) % 100 CREATE (a)-[:R]->(b)")
        query = "MATCH (a:N {i: 3})-[:R*1..4]->(b) RETURN count(DISTINCT b) AS n"
        backend = AutoBackend()
        backend.start_loading()

        def use() -> Any:
            backend.start_loading()
            with hoplite.open(backend="numba") as own:
                own.run("CREATE (:A)-[:R]->(:B)")
                found = own.run("MATCH (:A)-[:R*1..2]->(b) RETURN count(b) AS n").data()
            backend.stop_loading()
            return db.run(query).data(), found

        for _ in range(3):
            assert in_child(use) == ([{"n": 4}], [{"n": 1}])
        backend.stop_loading()


def test_threads_that_use_a_database_while_the_process_forks(db: hoplite.Database) -> None:
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            db.run("CREATE (:T)-[:R]->(:T)")
            db.run("MATCH (:T)-[r:R]->(:T) RETURN count(r)").consume()

    def use() -> Any:
        before = value_of(db)
        db.run("CREATE (:Child)")
        pairs = value_of(db, "MATCH (t:T) RETURN count(t) % 2 AS odd")
        return value_of(db) == before + 1 and pairs == 0

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        assert all(in_child(use) is True for _ in range(25))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
