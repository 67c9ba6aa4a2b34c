"""Worker processes: a task's hang, crash or exception fails that task only."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Literal, Protocol

START_SECONDS = 120.0
MEMORY_BYTES = 12 << 30

Outcome = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Task:
    """`name` is unique in a suite: lists of known failures go by it."""

    name: str
    family: str
    group: str
    payload: Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """`kind`: in two or three words how it failed or why it was skipped; `remarks`: differences that do not decide."""

    outcome: Outcome
    kind: str = ""
    detail: str = ""
    remarks: tuple[str, ...] = ()


PASSED = Verdict("passed")


class Runner(Protocol):
    """What lives in a worker. An exception in either method fails the task."""

    def prepare(self, task: Task) -> None:
        """Set up what the task needs (a graph); not under the task's deadline."""

    def run(self, task: Task) -> Verdict: ...


def run_tasks(
    make_runner: Callable[[], Runner], tasks: Sequence[Task], jobs: int, deadline_seconds: float
) -> Iterator[tuple[Task, Verdict]]:
    """Verdicts as they come. What ran out of time is tried once more at the end, alone."""
    late: list[Task] = []
    for task, verdict in _run_once(make_runner, tasks, jobs, deadline_seconds):
        if verdict.kind == "timeout":
            late.append(task)
        else:
            yield task, verdict
    yield from _run_once(make_runner, late, 1, deadline_seconds)


def _run_once(
    make_runner: Callable[[], Runner], tasks: Sequence[Task], jobs: int, deadline_seconds: float
) -> Iterator[tuple[Task, Verdict]]:
    groups: dict[str, deque[Task]] = {}
    for task in tasks:
        groups.setdefault(task.group, deque()).append(task)

    def next_task(group: str | None) -> Task | None:
        if group is None or group not in groups:
            group = max(groups, key=lambda name: len(groups[name]), default=None)
        if group is None:
            return None
        task = groups[group].popleft()
        if not groups[group]:
            del groups[group]
        return task

    workers = [_Worker(make_runner) for _ in range(min(jobs, len(tasks)))]
    try:
        while busy := [worker for worker in workers if not worker.idle]:
            until = min(worker.deadline for worker in busy)
            wait([worker.pipe for worker in busy], max(0.0, until - time.monotonic()))
            for worker in busy:
                verdict = worker.take(deadline_seconds)
                if verdict is not None:
                    assert worker.task is not None
                    yield worker.task, verdict
                    worker.task = None
                if worker.idle and (following := next_task(worker.group)):
                    worker.give(following)
    finally:
        for worker in workers:
            worker.stop()


@dataclass(slots=True)
class _Worker:
    make_runner: Callable[[], Runner]
    task: Task | None = None
    group: str | None = None
    ready: bool = False
    running: bool = False
    deadline: float = 0.0
    pipe: Connection = field(init=False)
    process: SpawnProcess = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    @property
    def idle(self) -> bool:
        return self.ready and self.task is None

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.make_runner), daemon=True)
        self.process.start()
        theirs.close()
        self.task, self.group, self.ready, self.running = None, None, False, False
        self.deadline = time.monotonic() + START_SECONDS

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def give(self, task: Task) -> None:
        self.task, self.group, self.running = task, task.group, False
        self.deadline = time.monotonic() + START_SECONDS
        self.pipe.send(task)

    def take(self, deadline_seconds: float) -> Verdict | None:
        """The verdict on the task at hand, if there is one by now."""
        if self.pipe.poll(0):
            try:
                message = self.pipe.recv()
            except (EOFError, OSError):
                self.process.join()
                return self._lost("crash", f"the process ended with exit code {self.process.exitcode}")
            if message == "ready":
                self.ready = True
            elif message == "prepared":
                self.running, self.deadline = True, time.monotonic() + deadline_seconds
            elif isinstance(message, Verdict):
                return message
            else:
                raise SystemExit(f"A worker did not start:\n{message}")
        elif time.monotonic() > self.deadline:
            if self.running:
                return self._lost("timeout", f"no answer within {deadline_seconds:g} s")
            return self._lost("not prepared", f"not prepared within {START_SECONDS:g} s")
        return None

    def _lost(self, kind: str, detail: str) -> Verdict:
        if self.task is None:
            raise SystemExit(f"A worker did not start: {detail}")
        task = self.task
        self.stop()
        self.start()
        self.task = task
        return Verdict("failed", kind, detail)


def _serve(pipe: Connection, make_runner: Callable[[], Runner]) -> None:
    _limit_memory()
    try:
        runner = make_runner()
    except BaseException:
        pipe.send(traceback.format_exc())
        return
    pipe.send("ready")
    while True:
        try:
            task: Task = pipe.recv()
        except EOFError:
            return
        pipe.send(_verdict(runner, task, pipe))


def _verdict(runner: Runner, task: Task, pipe: Connection) -> Verdict:
    try:
        runner.prepare(task)
    except Exception as error:
        return Verdict("failed", "not prepared", internal_error(error).detail)
    pipe.send("prepared")
    try:
        return runner.run(task)
    except Exception as error:
        return internal_error(error)


def internal_error(error: BaseException) -> Verdict:
    """Anything but a Neo4jError that comes out of an engine."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "tests/" not in frame.filename]
    where = f" ({'/'.join(frames[-1].filename.split('/')[-2:])}:{frames[-1].lineno})" if frames else ""
    return Verdict("failed", "internal error", f"{type(error).__name__}: {error}{where}"[:600])


def _limit_memory() -> None:
    """A runaway query should meet a MemoryError in its worker, not take the machine down."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
