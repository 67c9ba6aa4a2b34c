"""The net beneath the checks of a statement: it stops Python code that does not ask when its time is up.

Whatever may take long calls `Execution.check_time` between bounded amounts of work. Code over values cannot always: how
long a comparison, a hash, a sort key or the driver's form of a value takes depends on how large the value is, and a
value of thirty steps may be a billion large, because its parts are shared. Such code runs inside `interruptible()`. A
thread of this module looks at all statements that run, every few milliseconds; where one is past its deadline,
cancelled, or holds more memory than it may, it says so for the next `check`, and where the statement is inside such a
block, an exception is raised in its thread.

The block must be free of side effects: the exception may come up at any bytecode of it. Nothing that takes a lock,
borrows arrays, fills a cache or writes to the graph belongs into it. The garbage collector could run foreign code
inside it, destructors that do all of this; it is held back before the exception is raised, and a collection under way
is waited for. One long call into C (a regular expression, a product of a text) is not stopped by any of this: its size
is bounded before it begins.

Memory is what the process holds beyond what it held when the statement began to run (anonymous pages, not those of
mapped files). Statements that run at the same time cannot be told apart: together they may hold as much as the sum of
their limits.
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

from hoplite.engine.memory import current, process_memory
from hoplite.errors import CypherError, memory_limit_reached

if TYPE_CHECKING:
    from hoplite.engine.context import Execution

_TICK_SECONDS = 0.01
_IDLE_TICKS = 100  # without a statement, after which the thread waits to be woken
# Libraries that are loaded while a statement runs take memory that is not the statement's own.
_LEAST_LIMIT = 192 << 20


_LARGE_LIMIT = 1 << 30  # of so many bytes, what the process holds is not asked anew for each statement


class Stopped(BaseException):
    """Ends a statement; no handler of errors on the way may take it for the failure of a row or a function."""

    error: CypherError | None = None

    @classmethod
    def by(cls, error: CypherError) -> Stopped:
        """What leaves the statement as this error."""
        stopped = cls()
        stopped.error = error
        return stopped


class _Thread:
    """What a thread runs: the statement, and a lock that it holds inside of a block that may be interrupted.

    The lock is C's own: taking it and giving it back runs no bytecode, so an exception that is sent while it is held
    comes up inside of the block, or at the latest when the `with` statement has given it back.
    """

    __slots__ = ("block", "execution", "ident")

    def __init__(self) -> None:
        self.ident = threading.get_ident()
        self.block = threading.RLock()
        self.execution: Execution | None = None

    def has_to_stop(self, now: float, allowed: int) -> Execution | None:
        """The statement, if it has to stop; asked by the watching thread."""
        execution = self.execution
        if execution is None:
            return None
        over = execution.memory.look()
        if over > allowed:
            execution.memory.exceeded = memory_limit_reached(over - allowed, execution.memory.limit, allowed)
        return execution if execution.stops(now) is not None else None

    def leave(self, execution: Execution) -> None:
        """Raise an exception in the thread, if it is inside of a block of this statement.

        Between the look at the lock and the exception the thread must not go on. A thread that has just got the
        interpreter's lock keeps it for a switch interval, thousands of times as long as that takes. A machine that
        stops us in between all the same is noticed by looking again, and the exception is taken back.

        The thread may have ended the statement since it was looked at, and run another one. That is asked last: from
        there to the exception no bytecode gives the interpreter's lock away.
        """
        ident, stopped = ctypes.c_ulong(self.ident), ctypes.py_object(Stopped)
        time.sleep(0)
        if self._is_outside():
            return
        if self.execution is execution:
            _raise_in(ident, stopped)
        if self._is_outside():
            _raise_in(ident, None)  # takes back what has not come up yet

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
    """What a statement may take before it is stopped: a little less than its limit, because that takes a moment."""
    execution = thread.execution
    return 0 if execution is None else max(execution.memory.limit // 8 * 7, _LEAST_LIMIT)


class Guarded:
    """`with Guarded(execution):` the statement runs in this thread, and is watched; may be nested. Where there is no
    statement, nothing is."""

    __slots__ = ("_depth", "_execution", "_previous")

    def __init__(self, execution: Execution | None) -> None:
        self._execution = execution
        self._previous: Execution | None = None
        self._depth = 0

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
            _running[thread.ident] = thread  # before the question: the watch looks for it before it goes to sleep
            if not _watch.is_awake:
                _watch.wake()
            memory.began = process_memory() if memory.limit < _LARGE_LIMIT else _watch.seen

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._execution is None:
            return
        if self._depth:
            self._depth -= 1
            return
        thread, previous = _local.thread, self._previous
        thread.execution = previous
        if previous is None:
            current.memory = None
            _running.pop(thread.ident, None)
        else:
            current.memory = previous.memory
        if error is not None and isinstance(error, Stopped):
            found = error.error or self._execution.stops(time.monotonic())
            if found is None:
                raise error
            raise found from None


def check_running() -> None:
    """Raise if the statement that this thread runs has to stop: for code that is not handed its `Execution`."""
    execution = _local.thread.execution
    if execution is not None:
        execution.check_time()


def interruptible() -> AbstractContextManager[object]:
    """`with interruptible():` a block without side effects, which may be left at any point. May be nested."""
    return _local.thread.block


class _Collector:
    """Python's garbage collector, held back while exceptions are raised in other threads."""

    def __init__(self) -> None:
        self._is_ours = False  # it is we who have disabled it

    def is_held_back(self) -> bool:
        """Hold it back; False while a collection that had begun before is under way."""
        if gc.isenabled():
            gc.disable()
            self._is_ours = True
        heard: list[str] = []

        def hear(phase: str, _: object) -> None:
            heard.append(phase)

        # A collection inside another one does nothing, and says nothing.
        gc.callbacks.append(hear)
        gc.collect(0)
        gc.callbacks.remove(hear)
        return bool(heard)

    def resume(self) -> None:
        if self._is_ours:
            self._is_ours = False
            gc.enable()


_collector = _Collector()


class _Watch:
    """The thread that looks at what runs; started with the first statement, asleep while none runs."""

    def __init__(self) -> None:
        self.is_awake = False
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self.seen = b""  # what the system said of the memory of the process, a tick ago

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
                    if not _running:  # nobody came between
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
