"""Work that is shared among threads."""

from __future__ import annotations

import threading

import pytest

from hoplite.engine.hops import threads
from hoplite.engine.hops.interface import Check, unchecked
from hoplite.engine.hops.threads import Worker, share


def test_every_piece_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: 4)
    done: list[list[int]] = []

    def new_worker() -> Worker:
        own: list[int] = []
        done.append(own)
        return lambda number, _: own.append(number)

    share(100, new_worker, unchecked)
    assert sorted(number for own in done for number in own) == list(range(100))
    assert len(done) == 4


def test_a_statement_that_may_not_go_on_stops_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    stopped = threading.Event()
    before = threading.active_count()

    def work(_: int, check: Check) -> None:
        while not stopped.is_set():
            check()
        while True:  # every thread is told at its next look
            check()

    def check() -> None:
        stopped.set()
        raise TimeoutError

    with pytest.raises(TimeoutError):
        share(10, lambda: work, check)
    assert threading.active_count() == before


def test_what_fails_in_another_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    caller = threading.get_ident()
    failed = threading.Event()

    def work(_: int, check: Check) -> None:
        if threading.get_ident() == caller:
            failed.wait(10)
            return
        failed.set()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        share(50, lambda: work, unchecked)
