"""Statements whose values are far larger written out than in memory: stopped in time, and within their memory."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from neo4j.exceptions import ClientError, Neo4jError, TransientError

import hoplite
from hoplite.engine import guard
from hoplite.engine.context import Execution, Setting
from hoplite.engine.hops.interface import unchecked
from hoplite.engine.memory import Memory, refuse_text
from hoplite.errors import CypherError, transaction_timed_out
from hoplite.storage.graph import Graph

_MAPS = "reduce(m = {a: 1}, i IN range(1, 40) | {l: m, r: m})"
_TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"


@pytest.mark.parametrize(
    "use",
    [
        "RETURN {0} AS x",
        "WITH {0} AS x, {0} AS y RETURN x = y AS same",
        "UNWIND [1, 2] AS i RETURN count(DISTINCT {0}) AS n",
        "UNWIND [1, 2] AS i WITH {0} AS x ORDER BY x RETURN 1 AS one",
        "UNWIND [1, 2] AS i RETURN max({0}) AS x",
        "RETURN apoc.coll.toSet([{0}, {0}]) AS x",
        "RETURN apoc.convert.toJson({0}) AS x",
        "RETURN apoc.text.format('%s', [{0}]) AS x",
    ],
)
def test_a_value_whose_parts_are_shared_is_left_at_the_deadline(use: str) -> None:
    with hoplite.open() as db, pytest.raises(ClientError) as raised:
        db.session(timeout=0.5).run(use.format(_MAPS)).data()
    assert raised.value.code == _TIMED_OUT


def test_a_value_in_a_message_is_cut_off() -> None:
    with hoplite.open() as db, pytest.raises(ClientError, match=r"Property values can only be .*\.\.\.") as raised:
        db.run(f"CREATE (n {{x: {_MAPS}}})")
    assert len(str(raised.value)) < 1_000_000


def test_a_statement_that_takes_more_memory_than_it_may_is_stopped() -> None:
    with hoplite.open(query_memory="64MB") as db:
        with pytest.raises(TransientError) as raised:
            db.run(f"RETURN {_MAPS} AS x").data()
        assert raised.value.code == "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
        assert db.run("RETURN 1 AS x").values() == [[1]]


def test_a_value_is_left_when_the_statement_is_cancelled() -> None:
    with hoplite.open() as db:
        result = db.run(f"WITH {_MAPS} AS x, {_MAPS} AS y RETURN x = y AS same")
        threading.Timer(0.2, result.cancel).start()
        with pytest.raises(Neo4jError) as raised:
            result.values()
        assert raised.value.code == "Neo.ClientError.Transaction.TransactionTerminated"


def test_functions_of_the_user_are_not_interrupted() -> None:
    begun: list[int] = []
    done: list[int] = []

    def slow(number: int) -> int:
        begun.append(number)
        end = time.monotonic() + 0.8
        while time.monotonic() < end:
            pass
        done.append(number)
        return number

    with hoplite.open() as db:
        db.register_function("user.slow(number :: INTEGER) :: INTEGER", slow)
        with pytest.raises(ClientError):
            db.session(timeout=0.5).run("UNWIND [1, 2, 3] AS i WITH user.slow(i) AS x RETURN count(x) AS n").values()
    assert done == begun


class _Late:
    """A statement past its deadline."""

    def __init__(self) -> None:
        from hoplite.engine.memory import Memory

        self.memory = Memory(None)

    def stops(self, now: float) -> object:
        return transaction_timed_out()


def test_an_interruption_never_comes_up_behind_its_block() -> None:
    interrupted = 0
    for length in range(60):
        try:
            with guard.Guarded(_Late()):  # type: ignore[arg-type]
                with guard.interruptible():
                    end = time.monotonic() + length / 1000
                    while time.monotonic() < end:
                        unchecked()
                end = time.monotonic() + 0.005
                try:
                    while time.monotonic() < end:
                        unchecked()
                except guard.Stopped:
                    pytest.fail("it came up outside of the block")
        except Exception as error:
            assert getattr(error, "code", None) == _TIMED_OUT
            interrupted += 1
    assert 0 < interrupted < 60


class _InTime(_Late):
    """A statement that has all the time it needs."""

    def stops(self, now: float) -> object:
        return None


def test_an_interruption_never_reaches_the_next_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watching thread may be held up between its look at a statement and the exception."""
    is_looked_at, may_go_on = threading.Event(), threading.Event()
    is_held_back = guard._collector.is_held_back

    def hold_up() -> bool:
        is_looked_at.set()
        may_go_on.wait(30)
        return is_held_back()

    monkeypatch.setattr(guard._collector, "is_held_back", hold_up)
    with pytest.raises(CypherError), guard.Guarded(_Late()):  # type: ignore[arg-type]
        assert is_looked_at.wait(30)
        raise guard.Stopped
    with guard.Guarded(_InTime()), guard.interruptible():  # type: ignore[arg-type]
        may_go_on.set()
        end = time.monotonic() + 0.1
        while time.monotonic() < end:
            unchecked()


def test_a_statement_in_a_statement_is_guarded_by_its_own_limits() -> None:
    with hoplite.open() as db:
        inner = db.session(timeout=0.5)

        def ask(number: int) -> int:
            with pytest.raises(ClientError):
                inner.run(f"WITH {_MAPS} AS x, {_MAPS} AS y RETURN x = y AS same").values()
            return number

        db.register_function("user.ask(number :: INTEGER) :: INTEGER", ask)
        assert db.run("UNWIND [1, 2] AS i RETURN user.ask(i) AS x").values() == [[1], [2]]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not say what a process holds")
def test_a_large_value_is_refused_by_what_the_process_holds_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watching thread may be late: on a busy machine it looks seldom."""
    monkeypatch.setattr(guard._watch, "is_awake", True)  # nothing wakes it
    monkeypatch.setattr(guard, "_running", {})
    execution = Execution(Graph().snapshot(), {}, Setting({}, lambda *_: iter(())), 0, Memory(64 << 20))
    with guard.Guarded(execution):
        refuse_text(40 << 20)
        taken = bytearray(b"x") * (40 << 20)
        with pytest.raises(CypherError, match="would use more than the limit"):
            refuse_text(40 << 20)
        del taken
