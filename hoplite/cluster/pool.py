"""Workers from the leader's point of view: calls are made, and waited for together. `ray_pool.py` implements them on
Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from hoplite.errors import CypherError
from hoplite.storage.disk.graph import Version

WORKER_LOST = "Neo.TransientError.Cluster.ReplicationFailure"

# Called between waits; raises when the answer is no longer wanted.
Check = Callable[[], None]


class Lost(Exception):
    """A worker died during a call."""


class Pool(Protocol):
    """Some workers, by number."""

    size: int

    def start(self, path: str, version: Version, memory: str | int | None) -> None:
        """Have every worker open a version of a database, replacing the previous one."""
        ...

    def call_each(self, calls: Sequence[tuple[int, str, tuple[Any, ...]]], check: Check) -> list[Any]:
        """Call methods of workers at the same time; returns their results in order. Raises `Lost`."""
        ...

    def stream(self, worker: int, method: str, arguments: tuple[Any, ...], check: Check) -> Iterator[Any]:
        """Call a method that yields, at once; yields what it yields, as it comes. Reading it raises `Lost`."""
        ...

    def tell(self, worker: int, method: str, *arguments: Any) -> None:
        """Call a method without waiting for it, in parallel with what the worker is doing."""
        ...

    def await_return(self, check: Check) -> None:
        """Wait until all workers are available again after one has died; raises `Lost` if one does not return."""
        ...

    def close(self) -> None:
        """Stop the workers."""
        ...


def worker_lost() -> CypherError:
    """A worker died repeatedly, or in the middle of an answer."""
    return CypherError(
        WORKER_LOST, "A worker of the cluster ended while it ran this statement. It is being started again: retry."
    )
