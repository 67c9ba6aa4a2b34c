"""Where the driver's sessions get their connections. A connection costs nothing, so each is created when needed.

There are never more than `max_connection_pool_size`, as with a server. For the asynchronous driver this means that a
thread is always free to continue a transaction, whatever others wait for.

A forked process has its own pool: threads, including those that hold connections, stay in the parent.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import neo4j
from neo4j import exceptions
from neo4j.exceptions import DriverError

from hoplite import forks
from hoplite.api.database import Database
from hoplite.api.summary import ADDRESS
from hoplite.driver.connection import AsyncConnection, Connection
from hoplite.driver.notifications import NotificationFilter
from hoplite.driver.target import Target

_MOST_CONNECTIONS = 1000
_LOOKED_FOR_SECONDS = 0.1  # how often a waiting thread looks for slots of dropped connections

# Up to version 5, a driver that was closed can still be used: the driver package warns, and the pool opens again.
_OPENS_AGAIN = int(neo4j.__version__.split(".")[0]) < 6


class _Place:
    """A place in the pool, held by a connection. If both are simply dropped, it is returned later: the garbage
    collector may run at any moment, even while a place is being taken."""

    __slots__ = ("_dropped", "_is_held")

    def __init__(self, dropped: deque[None]) -> None:
        self._dropped = dropped
        self._is_held = True

    def let_go(self) -> bool:
        """Release it; returns whether it was held."""
        was_held, self._is_held = self._is_held, False
        return was_held

    def __del__(self) -> None:
        if self._is_held:
            self._dropped.append(None)


class _PoolBase:
    """What both pools share, under the names that the driver looks up."""

    is_direct_pool = True
    ssr_enabled = False
    home_db_cache = None
    address = ADDRESS

    def __init__(self, target: Target, pool_config: Any, workspace_config: Any) -> None:
        self._target = target
        self._is_closed = False
        self._dropped: deque[None] = deque()  # a place of a connection for each
        self.pool_config = pool_config
        self.workspace_config = workspace_config
        self._size = int(max(1, min(pool_config.max_connection_pool_size, _MOST_CONNECTIONS)))
        self._notifications = NotificationFilter().narrowed(
            pool_config.notifications_min_severity, pool_config.notifications_disabled_classifications
        )

    @property
    def database(self) -> Database:
        """The database that the connections use."""
        return self._target.database

    def _open_again(self) -> None:
        """Called before a connection is taken: a closed driver, or its session, is being used again."""
        if not _OPENS_AGAIN or self._target.reopen is None:
            raise DriverError("Driver closed")
        self._target = self._target.reopen()
        self._is_closed = False

    _free: threading.Semaphore | asyncio.Semaphore

    def _take_back(self) -> None:
        """Free the places of connections that are no longer referenced."""
        with suppress(IndexError):
            while True:
                self._dropped.pop()
                self._free.release()

    def _let_go(self, connection: Connection | AsyncConnection) -> None:
        if connection.place.let_go():
            self._free.release()

    def before_fork(self) -> None:
        """Nothing to wait for."""

    def after_fork_in_parent(self) -> None:
        """Continue as before."""


class Pool(_PoolBase):
    """Connections for threads."""

    _free: threading.Semaphore

    def __init__(self, target: Target, pool_config: Any, workspace_config: Any) -> None:
        super().__init__(target, pool_config, workspace_config)
        self._free = threading.Semaphore(self._size)
        forks.watch(self)

    def after_fork_in_child(self) -> None:
        """Start with all connections free."""
        self._free = threading.Semaphore(self._size)
        self._dropped = deque()

    def acquire(self, access_mode: str, timeout: Any, *_: Any, **__: Any) -> Connection:
        """A connection; each transaction says who may use it, and for what."""
        if self._is_closed:
            self._open_again()
        seconds = _seconds(timeout)
        self._take_back()
        if not self._free.acquire(blocking=False):
            for wait in _waits(seconds):
                if self._free.acquire(timeout=wait):
                    break
                self._take_back()
            else:
                raise _timed_out(seconds)
        return Connection(self.database, self._notifications, _Place(self._dropped))

    def release(self, *connections: Connection) -> None:
        """Return connections."""
        for connection in connections:
            try:
                connection.close()
            finally:
                self._let_go(connection)

    def kill_and_release(self, *connections: Connection) -> None:
        """Return connections without waiting for what they do."""
        for connection in connections:
            connection.kill()
            self._let_go(connection)

    def close(self) -> None:
        """Close the pool with the driver."""
        if not self._is_closed:
            self._is_closed = True
            self._target.close()


class AsyncPool(_PoolBase):
    """Connections for tasks, each with a thread to work in."""

    _free: asyncio.Semaphore

    def __init__(self, target: Target, pool_config: Any, workspace_config: Any) -> None:
        super().__init__(target, pool_config, workspace_config)
        self._free = asyncio.Semaphore(self._size)
        self.threads = self._new_threads()
        forks.watch(self)

    def _new_threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._size, thread_name_prefix="hoplite")

    def after_fork_in_child(self) -> None:
        """Start with all connections free, and with new threads."""
        self._free = asyncio.Semaphore(self._size)
        self._dropped = deque()
        self.threads = self._new_threads()

    async def acquire(self, access_mode: str, timeout: Any, *_: Any, **__: Any) -> AsyncConnection:
        """A connection; each transaction says who may use it, and for what."""
        if self._is_closed:
            self._open_again()
            self.threads = self._new_threads()
        seconds = _seconds(timeout)
        self._take_back()
        if self._free.locked():
            for wait in _waits(seconds):
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._free.acquire(), wait)
                    break
                self._take_back()
            else:
                raise _timed_out(seconds)
        else:
            await self._free.acquire()
        return AsyncConnection(self.database, self._notifications, _Place(self._dropped), self)

    async def release(self, *connections: AsyncConnection) -> None:
        """Return connections."""
        for connection in connections:
            try:
                await connection.close()
            finally:
                self._let_go(connection)

    def kill_and_release(self, *connections: AsyncConnection) -> None:
        """Return connections without waiting for what they do."""
        for connection in connections:
            connection.kill()
            self._let_go(connection)

    async def close(self) -> None:
        """Close the pool with the driver."""
        if not self._is_closed:
            self._is_closed = True
            self.threads.shutdown(wait=False)
            self._target.close()


def _seconds(timeout: Any) -> float | None:
    """A timeout, which newer versions of the driver pass as a deadline."""
    if hasattr(timeout, "to_timeout"):
        timeout = timeout.to_timeout()
    return None if timeout is None or timeout == float("inf") else max(0.0, float(timeout))


def _waits(seconds: float | None) -> Iterator[float]:
    """How long to wait each time, until the timeout has passed."""
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or (left := end - time.monotonic()) > 0:
        yield _LOOKED_FOR_SECONDS if end is None else min(left, _LOOKED_FOR_SECONDS)


def _timed_out(seconds: float | None) -> Exception:
    """The driver's error for an exhausted pool; up to version 5 there is no class for it."""
    kind = getattr(exceptions, "ConnectionAcquisitionTimeoutError", exceptions.ClientError)
    error: Exception = kind(f"failed to obtain a connection from the pool within {seconds!r}s (timeout)")
    return error
