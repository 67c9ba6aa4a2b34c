"""Jobs in the background: apoc.periodic.submit and its kin, and how they end."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable

import pytest
from neo4j.exceptions import ClientError

import hoplite
from hoplite import Database

ENOUGH_SECONDS = 60.0


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + ENOUGH_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.01)


def count(db: Database, label: str) -> int:
    return int(db.run(f"MATCH (n:{label}) RETURN count(n)").value()[0])


def job_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("hoplite-job-")]


def test_a_statement_runs_once_with_its_parameters() -> None:
    with hoplite.open() as db:
        call = "CALL apoc.periodic.submit('one', 'CREATE (:J {x: $x})', {params: {x: 5}})"
        assert db.run(call).values() == [["one", 0, 0, False, False]]
        wait_until(lambda: count(db, "J") == 1)
        assert db.run("MATCH (n:J) RETURN n.x").value() == [5]
        wait_until(lambda: db.run("CALL apoc.periodic.list()").values() == [["one", 0, 0, True, False]])


def test_a_job_begins_with_the_end_of_the_transaction_that_holds_the_graph() -> None:
    with hoplite.open() as db:
        with db.begin() as transaction:
            transaction.run("CREATE (:First)")
            transaction.run("CALL apoc.periodic.submit('j', 'MATCH (n:First) CREATE (:Second)')").consume()
        wait_until(lambda: count(db, "Second") == 1)


def test_a_statement_is_run_again_until_it_is_cancelled() -> None:
    with hoplite.open() as db:
        assert db.run("CALL apoc.periodic.repeat('r', 'CREATE (:R)', 1)").values() == [["r", 0, 1, False, False]]
        wait_until(lambda: count(db, "R") >= 2)
        assert db.run("CALL apoc.periodic.cancel('r')").values() == [["r", 0, 0, True, True]]
        wait_until(lambda: not job_threads())
        assert db.run("CALL apoc.periodic.cancel('r')").values() == []
        assert db.run("CALL apoc.periodic.list()").values() == []


def test_a_countdown_ends_with_0() -> None:
    with hoplite.open() as db:
        db.run("UNWIND range(1, 5) AS x CREATE (:C)")
        statement = "MATCH (n:C) WITH n LIMIT 2 DELETE n RETURN count(*)"
        call = "CALL apoc.periodic.countdown('c', $statement, 0)"
        assert db.run(call, statement=statement).values() == [["c", 0, 0, False, False]]
        wait_until(lambda: db.run("CALL apoc.periodic.list() YIELD done").value() == [True])
        assert count(db, "C") == 0


def test_a_job_that_is_cancelled_takes_back_what_it_wrote() -> None:
    with hoplite.open() as db:
        db.run("CALL apoc.periodic.submit('s', 'CREATE (:S) WITH 1 AS x CALL apoc.util.sleep(600000) RETURN x')")
        wait_until(lambda: len(job_threads()) == 1)
        db.run("CALL apoc.periodic.cancel('s')").values()
        wait_until(lambda: not job_threads())
        assert count(db, "S") == 0


def test_closing_the_database_ends_its_jobs() -> None:
    db = hoplite.open()
    db.run("CALL apoc.periodic.submit('s', 'CALL apoc.util.sleep(600000)')")
    db.run("CALL apoc.periodic.repeat('r', 'CREATE (:R)', 600)")
    db.close()
    assert not job_threads()


def test_a_database_that_nobody_holds_ends_its_jobs() -> None:
    held = [hoplite.open()]
    held[0].run("CALL apoc.periodic.repeat('r', 'CREATE (:R)', 1)")
    wait_until(lambda: count(held[0], "R") >= 1)
    held.clear()

    def is_over() -> bool:
        gc.collect()
        return not job_threads()

    wait_until(is_over)


def test_a_job_that_fails_is_done() -> None:
    with hoplite.open() as db:
        db.run("CALL apoc.periodic.submit('f', 'UNWIND [1, 0] AS x CREATE (:F {x: 1 / x})')")
        wait_until(lambda: db.run("CALL apoc.periodic.list() YIELD done").value() == [True])
        assert count(db, "F") == 0


@pytest.mark.parametrize("call", ["submit('j', $s)", "repeat('j', $s, 1)", "countdown('j', $s, 1)"])
def test_a_statement_is_checked_before_it_becomes_a_job(call: str) -> None:
    with hoplite.open() as db:
        with pytest.raises(ClientError, match="Variable `x` not defined"):
            db.run(f"CALL apoc.periodic.{call}", s="RETURN x")
        with pytest.raises(ClientError, match="Supported query types for the operation are"):
            db.run(f"CALL apoc.periodic.{call}", s="CREATE INDEX FOR (n:A) ON (n.x)")
        assert db.run("CALL apoc.periodic.list()").values() == []
        with db.session(read_only=True) as session, pytest.raises(ClientError, match="AccessMode"):
            session.run(f"CALL apoc.periodic.{call}", s="CREATE (:A)").values()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_child_has_no_jobs() -> None:
    with hoplite.open() as db:
        db.run("CALL apoc.periodic.repeat('r', 'CREATE (:R)', 1)")
        wait_until(lambda: count(db, "R") >= 1)
        child = os.fork()
        if child == 0:
            os._exit(len(db.run("CALL apoc.periodic.list()").values()))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        wait_until(lambda: count(db, "R") >= 2)
