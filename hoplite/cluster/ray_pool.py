"""Workers as Ray actors, which Ray restarts when their process ends."""

from __future__ import annotations

import os
import pickle
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from hoplite.cluster.pool import Check, Lost, cluster_closed
from hoplite.errors import CypherError, argument_error, driver_errors
from hoplite.extras import optional
from hoplite.storage.disk.graph import Version

# Seconds between checks whether an answer is still wanted.
_PATIENCE_S = 0.02
# Messages up to this size go directly from process to process, larger ones through the object store: twice as fast at
# 340 kB, slower from about 2 MB.
_DIRECT_BYTES = 1 << 20
# Seconds after which a start is slow enough to say why.
_SLOW_START_S = 20.0
# Seconds that a dead worker may take to come back.
_RETURN_S = 60.0


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
        self._end_actors()
        # If Ray runs on this machine alone, nothing else asks for its processors.
        options = {"num_cpus": 0 if self._is_here else 1, "max_restarts": -1, "concurrency_groups": {"control": 1}}
        actor = self._ray.remote(**options)(_Actor)
        self._actors = [actor.remote(path, version, memory) for _ in range(self.size)]
        self._await_all(self._slow_start())

    @property
    def members(self) -> Any:
        return self._actors

    def submit(self, worker: int, method: str, arguments: tuple[Any, ...], members: Any = None) -> Any:
        actors = self._actors if members is None else members  # earlier ones were killed
        if not self._actors:
            raise cluster_closed()
        return actors[worker].call.remote(pickle.dumps((method, arguments), protocol=5))

    def collect(self, calls: Sequence[Any], check: Check) -> list[Any]:
        errors = self._ray.exceptions
        while True:
            check()
            try:
                return [pickle.loads(answer) for answer in self._ray.get(list(calls), timeout=_PATIENCE_S)]
            except errors.GetTimeoutError:
                continue
            except (errors.ActorDiedError, errors.ActorUnavailableError, errors.ObjectLostError) as error:
                cause = _cause(error)
                if isinstance(cause, CypherError):  # it could not open the database
                    raise cause from None
                if not self._actors:
                    raise cluster_closed() from None
                raise Lost from error
            except errors.RayTaskError as error:
                cause = _cause(error)
                raise cause if isinstance(cause, CypherError) else error from None

    def await_any(self, calls: Sequence[Any], check: Check) -> int:
        while True:
            check()
            ended, _ = self._ray.wait(list(calls), num_returns=1, timeout=_PATIENCE_S, fetch_local=False)
            if ended:
                return calls.index(ended[0])

    def tell(self, worker: int, method: str, *arguments: Any) -> None:
        if self._actors:  # a result may be dropped after the cluster was closed
            request = pickle.dumps((method, arguments), protocol=5)
            self._actors[worker].call.options(concurrency_group="control").remote(request)

    def await_return(self, check: Check) -> None:
        deadline = time.monotonic() + _RETURN_S
        while True:
            try:
                self._await_all(check)
                return
            except Lost:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_PATIENCE_S)

    def _slow_start(self) -> Check:
        """Says once that there are too few processors: Ray waits for them without a word."""
        begin, is_told = time.monotonic(), False

        def check() -> None:
            nonlocal is_told
            if not (is_told or self._is_here) and time.monotonic() - begin > _SLOW_START_S:
                is_told = True
                processors = self._ray.cluster_resources().get("CPU", 0)
                if processors < self.size:
                    warnings.warn(
                        f"Waiting for {self.size} workers: each takes a processor; the Ray cluster has {processors:g}.",
                        stacklevel=2,
                    )

        return check

    def _await_all(self, check: Check) -> None:
        self.collect([self.submit(number, "ready", ()) for number in range(self.size)], check)

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


class _Actor:
    """A worker that is called with bytes, which Ray sends as they are: its own serialisation of arguments takes about
    as long as a round trip."""

    def __init__(self, path: str, version: Version, memory: str | int | None) -> None:
        from hoplite.cluster.worker import Worker

        self._worker = Worker(path, version, memory)

    def call(self, request: bytes) -> bytes:
        """Call a method; the name and the arguments are in the request."""
        method, arguments = pickle.loads(request)
        return pickle.dumps(getattr(self._worker, method)(*arguments), protocol=5)


def _cause(error: Any) -> Any:
    return getattr(error, "cause", None) or error.__cause__


def _init(ray: Any, address: str | None, size: int) -> None:
    settings: dict[str, Any] = {
        "include_dashboard": False,
        "num_cpus": max(size, os.cpu_count() or 1),
        "_system_config": {"max_direct_call_object_size": _DIRECT_BYTES},
    }
    if address is not None:
        settings = {"address": address}
    with suppress(KeyError):  # workers import this package from the same place as this process
        settings["runtime_env"] = {"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}}
    ray.init(log_to_driver=False, logging_level="error", **settings)
