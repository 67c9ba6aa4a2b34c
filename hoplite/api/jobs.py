"""Statements that run in the background, once or repeatedly: what apoc.periodic.submit and its kin start.

Each job has a thread. It holds the database weakly, so jobs end with a database that is no longer used; closing the
database cancels them and waits for them; a forked child has none. An error of a job's statement ends the job and is
reported nowhere.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hoplite import forks
from hoplite.lazy_dataclass import dataclass

_KEPT_SECONDS = 10.0  # a finished job stays listed this long, as in APOC

Run = Callable[[threading.Event], Any]
"""Runs the statement once, until the event is set; returns the first value of its answer."""


@dataclass(slots=True, eq=False)
class Job:
    """A statement, the time between two runs, and its state."""

    name: str
    delay: int  # seconds before each run of a countdown
    rate: int  # seconds from one run to the next
    counts_down: bool
    stop: threading.Event
    ended: float | None = None
    thread: threading.Thread | None = None

    @property
    def is_done(self) -> bool:
        return self.ended is not None


class Jobs:
    """The jobs of one database, by name."""

    def __init__(self) -> None:
        self._lock = forks.brief_lock()
        self._jobs: dict[str, Job] = {}
        self._is_closed = False
        forks.watch(self)

    def start(self, name: str, run: Run, *, delay: int = 0, rate: int = 0, counts_down: bool = False) -> Job:
        """Start a job; an earlier one of that name is not started again."""
        job = Job(name, delay, rate, counts_down, threading.Event())
        self.cancel(name)
        thread = threading.Thread(target=_work, args=(job, run), name=f"hoplite-job-{name}", daemon=True)
        job.thread = thread
        with self._lock:
            if self._is_closed:
                return job
            self._jobs[name] = job
        thread.start()
        return job

    def cancel(self, name: str) -> Job | None:
        """Stop a job, and forget it."""
        with self._lock:
            job = self._jobs.pop(name, None)
        if job is not None:
            job.stop.set()
        return job

    def known(self) -> list[Job]:
        """Jobs that run or wait, and those that finished a moment ago."""
        with self._lock:
            now = time.monotonic()
            for name, job in list(self._jobs.items()):
                if job.ended is not None and now - job.ended > _KEPT_SECONDS:
                    del self._jobs[name]
            return list(self._jobs.values())

    def stop(self, for_good: bool = True) -> list[Job]:
        """Stop all jobs; if `for_good`, start no others."""
        with self._lock:
            self._is_closed = self._is_closed or for_good
            jobs = list(self._jobs.values())
            self._jobs.clear()
        for job in jobs:
            job.stop.set()
        return jobs

    def before_fork(self) -> None:
        """The lock is brief: the fork waits for it."""

    def after_fork_in_parent(self) -> None:
        """Jobs continue."""

    def after_fork_in_child(self) -> None:
        """Their threads were not copied."""
        self._jobs.clear()


def join(jobs: list[Job]) -> None:
    """Wait for jobs that were stopped; a job does not wait for itself."""
    for job in jobs:
        if job.thread is not None and job.thread is not threading.current_thread() and job.thread.ident is not None:
            job.thread.join()


def held_weakly(owner: Any, run: Callable[[Any, threading.Event], Any]) -> Run:
    """Run with the owner, which ends its jobs when it is garbage-collected."""
    reference = weakref.ref(owner)

    def run_if_there(stop: threading.Event) -> Any:
        found = reference()
        if found is None:
            stop.set()
            return None
        return run(found, stop)

    return run_if_there


def _work(job: Job, run: Run) -> None:
    try:
        if job.counts_down and job.stop.wait(job.delay):
            return
        while not job.stop.is_set():
            began, value = time.monotonic(), None
            with suppress(Exception):
                value = run(job.stop)
            if job.counts_down:
                if not isinstance(value, int) or value <= 0:
                    return
                pause = float(job.delay)
            elif job.rate:
                pause = max(0.0, began + job.rate - time.monotonic())
            else:
                return
            job.stop.wait(pause)
    finally:
        job.ended = time.monotonic()
