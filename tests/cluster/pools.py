"""Workers without Ray: in threads of this process, with faults on request. From the first call, they behave like
actors."""

from __future__ import annotations

import pickle
import random
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from hoplite.cluster.pool import Check, Lost, cluster_closed
from hoplite.cluster.worker import Worker
from hoplite.storage.disk.graph import Version


class ThreadPool:
    """Everything that goes to a worker and comes back is pickled on its way. `faults` is how often a worker is killed,
    for each call."""

    def __init__(self, size: int, faults: float = 0.0, seed: int = 1) -> None:
        self.size = size
        self.killed = 0
        self._faults = faults
        self._random = random.Random(seed)
        self._workers: list[Worker | None] = []
        self._threads = [ThreadPoolExecutor(1) for _ in range(size)]  # an actor runs one call at a time
        self._returning = threading.Lock()
        self._opened: tuple[str, Version, str | int | None] | None = None

    def start(self, path: str, version: Version, memory: str | int | None) -> None:
        self._opened = pickle.loads(pickle.dumps((path, version, memory)))
        self._end()
        self._workers = [self._new() for _ in range(self.size)]

    def kill(self, worker: int) -> None:
        """It is gone until something waits for its return."""
        dead = self._workers[worker]
        self._workers[worker] = None
        self.killed += 1
        if dead is not None:
            dead.close()

    @property
    def members(self) -> Any:
        return self._workers

    def submit(self, worker: int, method: str, arguments: tuple[Any, ...], members: Any = None) -> Future[Any]:
        if not self._workers:
            raise cluster_closed()
        asked = self._workers if members is None else members
        return self._threads[worker].submit(self._call, asked, worker, method, pickle.dumps(arguments))

    def collect(self, calls: Sequence[Future[Any]], check: Check) -> list[Any]:
        while wait(calls, timeout=0.01).not_done:
            check()
        check()
        return [pickle.loads(one.result()) for one in calls]

    def await_any(self, calls: Sequence[Future[Any]], check: Check) -> int:
        while not (ended := wait(calls, timeout=0.01, return_when=FIRST_COMPLETED).done):
            check()
        return next(place for place, one in enumerate(calls) if one in ended)

    def tell(self, worker: int, method: str, *arguments: Any) -> None:
        one = self._workers[worker] if self._workers else None
        if one is not None:
            getattr(one, method)(*arguments)

    def await_return(self, check: Check) -> None:
        with self._returning:
            for number, one in enumerate(self._workers):
                if one is None:
                    self._workers[number] = self._new()

    def close(self) -> None:
        for worker in filter(None, self._workers):
            for call in list(worker._stops):
                worker.stop(call)
        self._end()
        for one in self._threads:
            one.shutdown()

    def _end(self) -> None:
        for worker in self._workers:
            if worker is not None:
                worker.close()
        self._workers = []

    def _new(self) -> Worker:
        assert self._opened is not None
        return Worker(*self._opened)

    def _call(self, asked: list[Worker | None], worker: int, method: str, arguments: bytes) -> bytes:
        if self._random.random() < self._faults:
            self.kill(worker)
        one = self._workers[worker] if self._workers else None
        if one is None or asked is not self._workers:
            raise Lost
        answer = pickle.dumps(getattr(one, method)(*pickle.loads(arguments)))
        if self._random.random() < self._faults:
            self.kill(worker)
            raise Lost
        return answer
