"""What `db.stats.collect` collects: the texts and times of statements, until `db.stats.stop`.

A database has no collector until it is first asked to collect. A statement costs a comparison while there is none.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator

from hoplite import forks
from hoplite.engine.batch import Batch
from hoplite.lazy_dataclass import dataclass

KEPT = 8192  # statements, as on a server; older ones are forgotten
KEPT_CHARACTERS = 4_000_000


@dataclass(frozen=True, slots=True)
class Invocation:
    """A statement that ran to its end."""

    text: str
    started_ms: int
    compile_us: int
    execution_us: int


class QueryCollector:
    """The latest statements of one database. Those that failed are not recorded."""

    def __init__(self) -> None:
        self._kept: deque[Invocation] = deque()
        self._characters = 0
        self._is_on = False
        self._until: float | None = None  # of time.monotonic()
        self._latest = threading.local()  # how long the current thread's statement took to prepare
        self._lock = forks.brief_lock()

    @property
    def is_collecting(self) -> bool:
        """Whether statements are being recorded."""
        if self._until is not None and time.monotonic() >= self._until:
            self.stop()
        return self._is_on

    def start(self, seconds: int | None = None) -> None:
        """Record statements from now on, until `stop` or for some seconds."""
        self._until = None if seconds is None else time.monotonic() + seconds
        self._is_on = True

    def stop(self) -> None:
        """Record no more; what was recorded stays."""
        self._is_on, self._until = False, None

    def clear(self) -> None:
        """Forget what was recorded."""
        with self._lock:
            self._kept.clear()
            self._characters = 0

    def invocations(self) -> list[Invocation]:
        """What was recorded, the oldest first."""
        with self._lock:
            return list(self._kept)

    def prepared(self, nanoseconds: int) -> None:
        """The statement that this thread runs next took so long to prepare."""
        self._latest.nanoseconds = nanoseconds

    def watched(self, text: str, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The same batches; the statement is recorded when the last was read or the rest is not wanted."""
        if not self.is_collecting:
            return batches
        return _Watched(self, text, getattr(self._latest, "nanoseconds", 0), batches)

    def record(self, invocation: Invocation) -> None:
        """Keep it, and forget the oldest ones beyond the limits."""
        with self._lock:
            self._kept.append(invocation)
            self._characters += len(invocation.text)
            while len(self._kept) > KEPT or self._characters > KEPT_CHARACTERS:
                self._characters -= len(self._kept.popleft().text)


class _Watched:
    """Batches on their way out. An object, because a generator that nothing was read from does not learn that it is
    closed."""

    __slots__ = ("_batches", "_began", "_collector", "_compile_us", "_is_over", "_started_ms", "_text")

    def __init__(self, collector: QueryCollector, text: str, compile_ns: int, batches: Iterator[Batch]) -> None:
        self._collector = collector
        self._text = text
        self._compile_us = compile_ns // 1000
        self._batches = batches
        self._started_ms = time.time_ns() // 1_000_000
        self._began = time.perf_counter_ns()
        self._is_over = False

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        try:
            return next(self._batches)
        except StopIteration:
            self._record()
            raise
        except BaseException:
            self._is_over = True
            raise

    def close(self) -> None:
        """No more batches are wanted."""
        close = getattr(self._batches, "close", None)
        if close is not None:
            close()
        self._record()

    def _record(self) -> None:
        if not self._is_over:
            self._is_over = True
            elapsed_us = (time.perf_counter_ns() - self._began) // 1000
            self._collector.record(Invocation(self._text, self._started_ms, self._compile_us, elapsed_us))
