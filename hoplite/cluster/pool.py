"""Workers as whoever leads them sees them: calls are made, and waited for together. `ray_pool.py` has them on Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from hoplite.errors import CypherError
from hoplite.storage.disk.graph import Version

WORKER_LOST = "Neo.TransientError.Cluster.ReplicationFailure"

# Made between waits; raises when nobody wants the answer any more.
Check = Callable[[], None]


class Lost(Exception):
    """A worker died during a call."""


class Pool(Protocol):
    """Some workers, by number."""

    size: int

    def start(self, path: str, version: Version, memory: str | int | None) -> None:
        """Have every worker open a version of a database, in place of the one that it had."""
        ...

    def call_each(self, calls: Sequence[tuple[int, str, tuple[Any, ...]]], check: Check) -> list[Any]:
        """Call methods of workers at the same time; their results, in that order. Raises `Lost`."""
        ...

    def stream(self, worker: int, method: str, arguments: tuple[Any, ...], check: Check) -> Iterator[Any]:
        """Call a method that yields, at once; what it yields, as it comes. Reading it raises `Lost`."""
        ...

    def tell(self, worker: int, method: str, *arguments: Any) -> None:
        """Call a method without waiting for it, beside what the worker is doing."""
        ...

    def await_return(self, check: Check) -> None:
        """Come back when all workers can be asked again after one has died; raises `Lost` if one does not return."""
        ...

    def close(self) -> None:
        """End the workers."""
        ...


def worker_lost() -> CypherError:
    """A worker died again and again, or in the middle of an answer."""
    return CypherError(
        WORKER_LOST, "A worker of the cluster ended while it ran this statement. It is being started again: retry."
    )
