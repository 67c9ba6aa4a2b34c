"""Workers from the leader's point of view: calls are begun, and waited for together. `ray_pool.py` implements them on
Ray."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    @property
    def members(self) -> Any:
        """The workers that were started last, for `submit`."""
        ...

    def submit(self, worker: int, method: str, arguments: tuple[Any, ...], members: Any = None) -> Any:
        """Begin a call of a worker's method; returns what `collect` and `await_any` take. If they are not those of the
        last start any more, which have another version, the call is lost."""
        ...

    def collect(self, calls: Sequence[Any], check: Check) -> list[Any]:
        """Wait for all of these calls; returns their results in order. Raises `Lost`."""
        ...

    def await_any(self, calls: Sequence[Any], check: Check) -> int:
        """Wait for any of these calls to end, and return its place among them."""
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


def cluster_closed() -> CypherError:
    """The cluster was closed while a statement ran."""
    return CypherError(
        "Neo.TransientError.General.DatabaseUnavailable", "The cluster was closed while it ran this statement."
    )
