"""The safety net beneath a statement's checks: it stops Python code that cannot check its time.

Whatever may take long calls `Execution.check_time` between bounded amounts of work. Code over values cannot always do
so: how long a comparison, a hash, a sort key or the driver's form of a value takes depends on the size of the value,
and a value built in thirty steps may have a billion parts, because they are shared. Such code runs inside
`interruptible()`. A thread of this module looks at all running statements every few milliseconds; if one is past its
deadline, cancelled, or over its memory limit, the thread records that for the next check, and if the statement is
inside such a block, it raises an exception in the statement's thread.

The block must be free of side effects: the exception may surface at any of its bytecodes. Nothing that takes a lock,
borrows arrays, fills a cache or writes to the graph belongs in it. The garbage collector could run other code inside
it, destructors that do any of this; so it is held back before the exception is raised, after waiting for a collection
in progress. None of this stops one long call into C (a regular expression, a repeated text): its size is bounded before
it begins.

Memory is what the process holds beyond what it held when the statement began (anonymous pages, not those of mapped
files). Concurrent statements cannot be told apart: together they may hold the sum of their limits.
"""

from __future__ import annotations

import ctypes
import gc
import os
import threading
import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

from hoplite import collector
from hoplite.engine.memory import current, process_memory
from hoplite.errors import CypherError, memory_limit_reached

if TYPE_CHECKING:
    from hoplite.engine.context import Execution

_TICK_SECONDS = 0.01
_IDLE_TICKS = 100  # without a statement, before the thread sleeps until woken
# Libraries loaded while a statement runs take memory that is not the statement's.
_LEAST_LIMIT = 192 << 20


_LARGE_LIMIT = 1 << 30  # bytes within which the process's memory is not read again for each statement


class Stopped(BaseException):
    """Ends a statement; no error handler on the way may take it for the failure of a row or a function."""

    error: CypherError | None = None

    @classmethod
    def by(cls, error: CypherError) -> Stopped:
        """The exception that leaves the statement as this error."""
        stopped = cls()
        stopped.error = error
        return stopped


class _Thread:
    """What a thread runs: the statement, and a lock that it holds inside an interruptible block.

    The lock is implemented in C: taking and releasing it runs no bytecode, so an exception sent while it is held
    surfaces inside the block, or at the latest when the `with` statement has released it.
    """

    __slots__ = ("block", "execution", "ident")

    def __init__(self) -> None:
        self.ident = threading.get_ident()
        self.block = threading.RLock()
        self.execution: Execution | None = None

    def has_to_stop(self, now: float, allowed: int) -> Execution | None:
        """The statement, if it has to stop; called by the watching thread."""
        execution = self.execution
        if execution is None:
            return None
        over = execution.memory.look()
        if over > allowed:
            execution.memory.exceeded = memory_limit_reached(over - allowed, execution.memory.limit, allowed)
        return execution if execution.stops(now) is not None else None

    def leave(self, execution: Execution) -> None:
        """Raise an exception in the thread, if it is inside a block of this statement.

        Between looking at the lock and sending the exception, the thread must not continue. A thread that has just got
        the interpreter's lock keeps it for a switch interval, thousands of times as long as that takes. If the machine
        stops us in between all the same, looking again notices that, and the exception is withdrawn.

        The thread may meanwhile have ended the statement and run another one. That is checked last: from there to the
        exception, no bytecode releases the interpreter's lock.
        """
        ident, stopped = ctypes.c_ulong(self.ident), ctypes.py_object(Stopped)
        time.sleep(0)
        if self._is_outside():
            return
        if self.execution is execution:
            _raise_in(ident, stopped)
        if self._is_outside():
            _raise_in(ident, None)  # withdraws an exception that has not surfaced yet

    def _is_outside(self) -> bool:
        if self.block.acquire(blocking=False):
            self.block.release()
            return True
        return False


_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc


class _Local(threading.local):
    def __init__(self) -> None:
        self.thread = _Thread()


_local = _Local()
_running: dict[int, _Thread] = {}


def _allowed(thread: _Thread) -> int:
    """What a statement may hold before it is stopped: a little less than its limit, because stopping takes a moment."""
    execution = thread.execution
    return 0 if execution is None else max(execution.memory.limit // 8 * 7, _LEAST_LIMIT)


class Guarded:
    """`with Guarded(execution):` run the statement in this thread, watched. May be nested. Where there is no
    statement, nothing is."""

    _previous: Execution | None = None
    _depth = 0

    def __init__(self, execution: Execution | None) -> None:
        self._execution = execution

    def __enter__(self) -> None:
        execution = self._execution
        if execution is None:
            return
        thread = _local.thread
        previous = thread.execution
        if previous is execution:
            self._depth += 1
            return
        self._previous = previous
        thread.execution = execution
        current.memory = memory = execution.memory
        if previous is not None:
            memory.began = previous.memory.began
        else:
            _running[thread.ident] = thread  # before asking: the watch checks this before it goes to sleep
            if not _watch.is_awake:
                _watch.wake()
            memory.began = process_memory() if memory.limit < _LARGE_LIMIT else _watch.seen

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        execution, is_inner = self._execution, self._depth > 0
        if is_inner:
            self._depth -= 1
        elif execution is not None:
            thread, previous = _local.thread, self._previous
            thread.execution = previous
            if previous is None:
                current.memory = None
                _running.pop(thread.ident, None)
            else:
                current.memory = previous.memory
        if error is not None:
            reason = None
            if isinstance(error, Stopped) and execution is not None and not is_inner:
                reason = error.error or execution.stops(time.monotonic())
            self._fail(error, reason)

    def _fail(self, error: BaseException, reason: CypherError | None) -> None:
        """An error leaves the block: raise what replaces it, if anything does. The reason is why it was stopped."""
        if reason is not None:
            raise reason from None


def check_running() -> None:
    """Raise if the statement in this thread has to stop: for code that does not have its `Execution`."""
    execution = _local.thread.execution
    if execution is not None:
        execution.check_time()


def interruptible() -> AbstractContextManager[object]:
    """`with interruptible():` a block without side effects that may be interrupted at any point. May be nested."""
    return _local.thread.block


class _Collector:
    """Python's garbage collector, held back while exceptions are raised in other threads."""

    def is_held_back(self) -> bool:
        """Hold it back; False while a collection that had already begun is running."""
        collector.hold_back(self)
        heard: list[str] = []

        def hear(phase: str, _: object) -> None:
            heard.append(phase)

        # A collection inside another one does nothing, and reports nothing.
        gc.callbacks.append(hear)
        gc.collect(0)
        gc.callbacks.remove(hear)
        return bool(heard)

    def resume(self) -> None:
        collector.let_go(self)


_collector = _Collector()


class _Watch:
    """The thread that watches running statements; started with the first one, asleep while none runs."""

    def __init__(self) -> None:
        self.is_awake = False
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self.seen = b""  # the process's memory statistics, a tick ago

    def wake(self) -> None:
        with self._lock:
            self.is_awake = True
            self.seen = process_memory()
            if self._thread is None:
                self._thread = threading.Thread(target=self._look_on, name="hoplite-guard", daemon=True)
                self._thread.start()
            self._woken.set()

    def _look_on(self) -> None:
        idle = 0
        while True:
            self.seen = process_memory()
            threads = list(_running.values())
            if threads:
                idle = 0
                now = time.monotonic()
                allowed = sum(_allowed(thread) for thread in threads)
                stopping = [
                    (thread, execution)
                    for thread in threads
                    if (execution := thread.has_to_stop(now, allowed)) is not None
                ]
                if not stopping:
                    _collector.resume()
                elif _collector.is_held_back():
                    for thread, execution in stopping:
                        thread.leave(execution)
            else:
                _collector.resume()
                idle += 1
                if idle > _IDLE_TICKS:
                    self._woken.clear()
                    self.is_awake = False
                    if not _running:  # no statement began in between
                        self._woken.wait()
                    self.is_awake = True
                    idle = 0
                    continue
            time.sleep(_TICK_SECONDS)

    def forget(self) -> None:
        """In a child process: the thread was not copied."""
        self.__init__()  # type: ignore[misc]
        _collector.resume()
        _running.clear()
        _local.thread = _Thread()


_watch = _Watch()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _watch.forget())
