"""Work in numbered pieces, shared among threads: compiled loops run without the interpreter lock.

Each thread takes the next free piece. The calling thread is one of them, and the only one that checks whether the
statement may continue; if not, the others stop at their next check. Threads live as long as the call.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import TypeAlias

from hoplite.engine.hops.interface import Check

Worker: TypeAlias = Callable[[int, Check], None]
"""Does one piece, and calls the check between bounded amounts of work."""

_MOST = 8  # beyond that, loops wait for memory
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


@cache
def thread_count() -> int:
    """How many threads may compute at the same time: the number of cores of the process."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):  # no quota for a control group
        quota, period = _QUOTA.read_text().split()
        usable = min(usable, max(int(quota) // int(period), 1))
    return max(min(usable, _MOST), 1)


class _Stopped(Exception):
    """Another thread has failed, or the statement has to stop."""


class _Pieces:
    """Which pieces are left."""

    def __init__(self, size: int) -> None:
        self._numbers = count()
        self._size = size
        self._stopped = False
        self.failure: BaseException | None = None

    def left(self) -> Iterator[int]:
        """The next pieces, each for one thread."""
        while (number := next(self._numbers)) < self._size:
            yield number

    def stop(self) -> None:
        self._stopped = True

    def help(self, worker: Worker) -> None:
        """What threads other than the calling one do."""
        try:
            for number in self.left():
                self._look()
                worker(number, self._look)
        except _Stopped:
            pass
        except BaseException as failure:
            self.failure = failure
            self.stop()

    def _look(self) -> None:
        if self._stopped:
            raise _Stopped


def share(size: int, new_worker: Callable[[], Worker], check: Check) -> None:
    """Do the pieces 0 .. size. Every thread has its own worker."""
    threads = min(size, thread_count())
    pieces = _Pieces(size)
    workers = [new_worker() for _ in range(threads)]
    helpers = [
        threading.Thread(target=pieces.help, args=(worker,), name="hoplite-loops", daemon=True)
        for worker in workers[1:]
    ]
    try:
        for helper in helpers:
            helper.start()
        for number in pieces.left():
            check()
            if pieces.failure is not None:
                break
            workers[0](number, check)
    except BaseException:
        pieces.stop()
        raise
    finally:
        for helper in helpers:
            if helper.ident is not None:
                helper.join()
    if pieces.failure is not None:
        raise pieces.failure
