"""Whose turn it is to write: one transaction, load or checkpoint at a time, and the others wait.

Nobody waits in vain: a thread that waits for its own transaction gets an error at once, and a transaction that was left
open and garbage-collected is rolled back by the next writer. The collector may run anywhere, even in the middle of a
change to the graph, so it only puts such a transaction on a list.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections import deque
from typing import Protocol

from hoplite.allowance import check_time
from hoplite.errors import waits_for_itself

_LOOK_AGAIN_S = 0.05
_COLLECT_AFTER = 20  # attempts: cyclic garbage is only found by a collection
_POOLS = frozenset(("concurrent.futures.thread", "multiprocessing.pool", "anyio._backends._asyncio"))


class Abandoned(Protocol):
    """A transaction that can no longer be ended."""

    def rollback(self) -> None:
        """Discard its changes, and pass the turn on."""
        ...


class WriterTurn:
    """A lock that knows who holds it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None  # the thread that used it last
        self._doing = ""
        self._since = 0.0
        self._abandoned: deque[Abandoned] = deque()

    def acquire(self, seconds: float) -> bool:
        """Whether the turn came in time. Raises if it never can, or if the waiting statement must end."""
        self._end_abandoned()
        if not self._lock.acquire(blocking=False) and not self._comes_within(seconds):
            return False
        self._since = time.monotonic()
        self.use("")
        return True

    def acquire_if_free(self) -> bool:
        """Whether it was free."""
        self._end_abandoned()
        return self._lock.acquire(blocking=False)

    def use(self, doing: str) -> None:
        """Note that this thread continues the work that the turn was taken for, and what it is doing."""
        self._thread, self._doing = threading.current_thread(), doing

    def release(self) -> None:
        """Let the next one write."""
        self._thread = None
        self._lock.release()

    def abandon(self, transaction: Abandoned) -> None:
        """Leave a transaction to the next writer; may be called at any moment, by any thread."""
        self._abandoned.append(transaction)

    def _comes_within(self, seconds: float) -> bool:
        self._refuse_to_wait_for_this_thread()
        end = time.monotonic() + seconds
        looks = 0
        while not self._lock.acquire(timeout=min(_LOOK_AGAIN_S, max(end - time.monotonic(), 0.0))):
            if time.monotonic() >= end:
                return False
            check_time()
            looks += 1
            if looks == _COLLECT_AFTER:
                gc.collect()
            self._end_abandoned()
        return True

    def _refuse_to_wait_for_this_thread(self) -> None:
        if self._thread is not threading.current_thread() or _works_for_a_pool():
            return
        gc.collect()  # it may be garbage already
        self._end_abandoned()
        if self._thread is threading.current_thread():
            raise waits_for_itself(time.monotonic() - self._since, self._doing)

    def _end_abandoned(self) -> None:
        while self._abandoned:
            try:
                transaction = self._abandoned.popleft()
            except IndexError:  # another thread was faster
                return
            transaction.rollback()


def _works_for_a_pool() -> bool:
    """Whether this thread runs work for a pool: another thread may end what it has begun."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_globals.get("__name__") in _POOLS:
            return True
    return False
