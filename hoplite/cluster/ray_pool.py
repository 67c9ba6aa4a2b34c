"""Workers as Ray actors, which Ray restarts when their process ends."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from hoplite.cluster.pool import Check, Lost
from hoplite.errors import CypherError, argument_error, driver_errors
from hoplite.extras import optional
from hoplite.storage.disk.graph import Version

# Seconds between checks whether an answer is still wanted.
_PATIENCE_S = 0.02
# Seconds that a dead worker may take to come back.
_RETURN_S = 60.0
# Batches of rows that a worker computes ahead of the reader.
_AHEAD = 8


class RayPool:
    """`address` is that of a Ray cluster; without one, Ray is started on this machine, and stopped at the end."""

    def __init__(self, size: int, address: str | None) -> None:
        with driver_errors():
            if size < 1:
                raise argument_error(f"workers is a number of processes, 1 or more, not {size!r}")
        with optional("A cluster"):
            import ray
        self.size = size
        self._ray = ray
        self._is_ours = not ray.is_initialized()
        if self._is_ours:
            _init(ray, address, size)
        self._is_here = address is None
        self._actors: list[Any] = []

    def start(self, path: str, version: Version, memory: str | int | None) -> None:
        from hoplite.cluster.worker import Worker

        self._end_actors()
        # If Ray runs on this machine alone, nothing else asks for its processors.
        options = {"num_cpus": 0 if self._is_here else 1, "max_restarts": -1, "concurrency_groups": {"control": 1}}
        actor = self._ray.remote(**options)(Worker)
        self._actors = [actor.remote(path, version, memory) for _ in range(self.size)]
        self.call_each([(number, "ready", ()) for number in range(self.size)], _no_check)

    def call_each(self, calls: Sequence[tuple[int, str, tuple[Any, ...]]], check: Check) -> list[Any]:
        waiting = [getattr(self._actors[worker], method).remote(*arguments) for worker, method, arguments in calls]
        left = waiting
        while left:
            _, left = self._ray.wait(left, num_returns=len(left), timeout=_PATIENCE_S, fetch_local=False)
            check()
        return [self._get(one) for one in waiting]

    def stream(self, worker: int, method: str, arguments: tuple[Any, ...], check: Check) -> Iterator[Any]:
        options = {"num_returns": "streaming", "_generator_backpressure_num_objects": _AHEAD}
        return self._read(getattr(self._actors[worker], method).options(**options).remote(*arguments), check)

    def _read(self, coming: Any, check: Check) -> Iterator[Any]:
        while True:
            while not self._ray.wait([coming], timeout=_PATIENCE_S, fetch_local=False)[0]:
                check()
            try:
                one = next(coming)
            except StopIteration:
                return
            yield self._get(one)

    def tell(self, worker: int, method: str, *arguments: Any) -> None:
        if self._actors:  # a result may be dropped after the cluster was closed
            getattr(self._actors[worker], method).options(concurrency_group="control").remote(*arguments)

    def await_return(self, check: Check) -> None:
        deadline = time.monotonic() + _RETURN_S
        while True:
            try:
                self.call_each([(number, "ready", ()) for number in range(self.size)], check)
                return
            except Lost:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_PATIENCE_S)

    def kill(self, worker: int) -> None:
        """End a worker's process, as a failure would."""
        self._ray.kill(self._actors[worker], no_restart=False)

    def close(self) -> None:
        self._end_actors()
        if self._is_ours:
            self._ray.shutdown()

    def _end_actors(self) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []

    def _get(self, one: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(one)
        except (errors.ActorDiedError, errors.ActorUnavailableError, errors.ObjectLostError) as error:
            cause = _cause(error)
            if isinstance(cause, CypherError):  # it could not open the database
                raise cause from None
            raise Lost from error
        except errors.RayTaskError as error:
            cause = _cause(error)
            raise cause if isinstance(cause, CypherError) else error from None


def _cause(error: Any) -> Any:
    return getattr(error, "cause", None) or error.__cause__


def _init(ray: Any, address: str | None, size: int) -> None:
    settings: dict[str, Any] = {"include_dashboard": False, "num_cpus": max(size, os.cpu_count() or 1)}
    if address is not None:
        settings = {"address": address}
    with suppress(KeyError):  # workers import this package from the same place as this process
        settings["runtime_env"] = {"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}}
    ray.init(log_to_driver=False, logging_level="error", **settings)


def _no_check() -> None:
    """Workers of a cluster that is being opened are always waited for."""
