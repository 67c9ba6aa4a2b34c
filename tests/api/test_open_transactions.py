"""Transactions that are left open: what waits for them, and what happens when they are no longer referenced."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from neo4j.exceptions import ClientError, TransientError

import hoplite
from hoplite.driver import GraphDatabase

BUSY = "Neo.ClientError.Transaction.TransactionAccessedConcurrently"


@pytest.fixture(params=["memory", "disk"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[hoplite.Database]:
    with hoplite.open(None if request.param == "memory" else tmp_path / "graph") as db:
        yield db


def _names(db: hoplite.Database) -> list[str]:
    return db.run("MATCH (n) RETURN n.name AS name ORDER BY name").value()


# --- waiting for oneself ---


def test_a_thread_that_would_wait_for_itself_is_told_at_once(db: hoplite.Database) -> None:
    with db.begin() as transaction:
        transaction.run("CREATE (:A {name: 'first'})")
        for write in (lambda: db.run("CREATE (:B)"), lambda: db.begin().run("CREATE (:B)"), db.checkpoint):
            with pytest.raises(ClientError, match=r"CREATE \(:A {name: 'first'}\)") as error:
                write()
            assert error.value.code == BUSY
        assert _names(db) == []
        transaction.run("CREATE (:A {name: 'second'})")
    db.run("CREATE (:A {name: 'third'})")
    assert _names(db) == ["first", "second", "third"]


def test_a_driver_does_not_try_it_again_either(db: hoplite.Database) -> None:
    with GraphDatabase.driver(database=db) as driver, driver.session() as one, driver.session() as other:
        transaction = one.begin_transaction()
        transaction.run("CREATE (:A {name: 'a'})").consume()
        with pytest.raises(ClientError, match="Only one can write") as error:
            other.execute_write(lambda inner: inner.run("CREATE (:B)").consume())
        assert error.value.code == BUSY
        transaction.commit()
    assert _names(db) == ["a"]


def test_a_function_that_writes_while_its_statement_does_is_refused(db: hoplite.Database) -> None:
    db.register_function("my.write(x :: INTEGER) :: INTEGER", lambda x: len(db.run("CREATE (:B) RETURN 1").values()))
    with pytest.raises(ClientError, match="Only one can write"):
        db.run("CREATE (:A {x: my.write(1)})")
    db.run("CREATE (:A {name: 'a'})")
    assert _names(db) == ["a"]


def test_another_thread_waits_for_its_turn(db: hoplite.Database) -> None:
    transaction = db.begin()
    transaction.run("CREATE (:A {name: 'first'})")
    waiting = threading.Thread(target=lambda: db.run("CREATE (:A {name: 'second'})"))
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    transaction.commit()
    waiting.join(30)
    assert not waiting.is_alive() and _names(db) == ["first", "second"]


def test_a_transaction_may_be_handed_to_another_thread(db: hoplite.Database) -> None:
    transaction = db.begin()
    transaction.run("CREATE (:A {name: 'first'})")
    done = threading.Event()

    def go_on() -> None:
        transaction.run("CREATE (:A {name: 'second'})")
        done.set()
        threading.Event().wait(0.2)
        transaction.commit()

    other = threading.Thread(target=go_on)
    other.start()
    done.wait()
    db.run("CREATE (:A {name: 'third'})")  # waits for the other thread
    other.join()
    assert _names(db) == ["first", "second", "third"]


def test_a_thread_of_a_pool_waits_for_what_another_one_may_end(db: hoplite.Database) -> None:
    with ThreadPoolExecutor(1) as only, ThreadPoolExecutor(1) as another:
        transaction = only.submit(db.begin).result()
        only.submit(transaction.run, "CREATE (:A {name: 'first'})").result()
        waiting = only.submit(db.run, "CREATE (:A {name: 'second'})")
        another.submit(transaction.commit).result()
        waiting.result()
    assert _names(db) == ["first", "second"]


# --- left open ---


def test_a_transaction_that_was_collected_is_rolled_back(db: hoplite.Database) -> None:
    for _ in range(3):
        db.begin().run("CREATE (:A {name: 'lost'})")
    db.run("CREATE (:A {name: 'kept'})")
    assert _names(db) == ["kept"]


def test_one_that_refers_to_itself_is_found_too(db: hoplite.Database) -> None:
    gc.collect()
    gc.disable()  # the collector has not run yet
    try:
        transaction = db.begin()
        transaction.run("CREATE (:A {name: 'lost'})")
        transaction.itself = transaction  # type: ignore[attr-defined]
        del transaction
        db.run("CREATE (:A {name: 'kept'})")
    finally:
        gc.enable()
    assert _names(db) == ["kept"]


def test_one_that_another_thread_left_open_is_found_while_waiting(db: hoplite.Database) -> None:
    left = [db.begin()]
    left[0].run("CREATE (:A {name: 'lost'})")
    waiting = threading.Thread(target=lambda: db.run("CREATE (:A {name: 'kept'})"))
    waiting.start()
    waiting.join(0.1)
    left.clear()
    waiting.join(30)
    assert not waiting.is_alive() and _names(db) == ["kept"]


def test_a_session_that_was_left_open_keeps_nobody_out(db: hoplite.Database) -> None:
    with GraphDatabase.driver(database=db) as driver:
        transaction = driver.session().begin_transaction()
        transaction.run("CREATE (:A {name: 'lost'})").consume()
        with pytest.warns(ResourceWarning):  # the driver's own
            del transaction
            gc.collect()
        driver.execute_query("CREATE (:A {name: 'kept'})")
    assert _names(db) == ["kept"]


def test_a_result_that_is_being_read_keeps_its_transaction(db: hoplite.Database) -> None:
    db.run("UNWIND range(1, 200) AS i CREATE (:A {name: 'a' + i})")
    transaction = db.begin()
    transaction.run("MATCH (n) SET n.name = 'changed'")
    result = transaction.run("MATCH (n) RETURN n.name AS name")
    del transaction
    gc.collect()
    assert set(result.value()) == {"changed"}
    del result
    db.run("CREATE (:B {name: 'kept'})")
    assert "changed" not in _names(db)


def test_who_gives_up_waiting_is_told_what_for(db: hoplite.Database) -> None:
    db._graph.lock_timeout_s = 0.1
    transaction = db.begin()
    transaction.run("CREATE (:A)")
    errors: list[Exception] = []

    def write() -> None:
        try:
            db.run("CREATE (:B)")
        except TransientError as error:
            errors.append(error)

    other = threading.Thread(target=write)
    other.start()
    other.join()
    assert "Another transaction is writing" in str(errors[0])
    transaction.rollback()


def test_one_that_is_left_open_at_the_end_of_the_process_is_no_trouble(tmp_path: Path) -> None:
    import subprocess
    import sys

    program = (
        "import hoplite, sys\n"
        "db = hoplite.open(sys.argv[1])\n"
        "db.run('CREATE (:A)')\n"
        "tx = db.begin()\n"
        "tx.run('CREATE (:B)')\n"
        "sys.modules['keeps'] = tx\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "g")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    with hoplite.open(tmp_path / "g") as db:
        assert db.run("MATCH (n) RETURN labels(n)").value() == [["A"]]
