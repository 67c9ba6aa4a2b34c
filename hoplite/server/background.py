"""A server in its own thread: `with hoplite.serve(db) as uri:`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from types import TracebackType

from hoplite.api.database import Database
from hoplite.server.access import Access
from hoplite.server.procedures import Offer, add_procedures
from hoplite.server.server import Server
from hoplite.server.settings import LOOPBACK, Settings
from hoplite.storage.disk.cache import byte_count


class Served:
    """A running server. As a context manager it gives its URI, and stops with the block."""

    def __init__(self, server: Server, opened: Database | None) -> None:
        """`opened` is closed with the server."""
        self._server = server
        self._opened = opened
        self._ended: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        started: Future[str] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="hoplite-server", daemon=True)
        self._thread.start()
        try:
            self.uri = started.result()
        except BaseException:
            self._thread.join()
            raise

    def _run(self, started: Future[str]) -> None:
        asyncio.run(self._serve(started))

    async def _serve(self, started: Future[str]) -> None:
        try:
            await self._server.start()
        except BaseException as error:
            started.set_exception(error)
            return
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        started.set_result(self._server.uri)
        await self._ended.wait()
        await self._server.stop()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._server.port

    def close(self) -> None:
        """Let transactions finish, and stop."""
        if self._thread.is_alive() and self._loop is not None and self._ended is not None:
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join()
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> str:
        return self.uri

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()


def serve(
    database: Database | None = None,
    *,
    port: int = 0,
    host: str = LOOPBACK,
    users: Mapping[str, str] | None = None,
    read_only: bool = False,
    timeout: float | None = None,
    max_rows: int | None = None,
    query_memory: str | int | None = None,
    idle: float | None = None,
    max_connections: int = 400,
    grace: float = 10.0,
) -> Served:
    """Serve a database by Bolt, by default an empty one in memory: `with hoplite.serve(db) as uri:`.

    Any driver in any language can connect to the URI. `users` are names with their passwords; without them, clients
    need not authenticate. `read_only`, `timeout`, `max_rows` and `query_memory` are as in `hoplite.open`, for
    statements from clients. A connection that is silent for `idle` seconds is closed. At the end, transactions have
    `grace` seconds to finish.
    """
    opened = Database() if database is None else None
    served = opened if database is None else database
    assert served is not None
    limits = served._limits.within(timeout, max_rows, read_only)
    if query_memory is not None:
        limits = replace(limits, memory_bytes=byte_count(query_memory, "query_memory"))
    add_procedures(served, Offer(limits.read_only))
    settings = Settings(
        host=host, port=port, access=Access(users), most_connections=max_connections, idle=idle, grace=grace
    )
    return Served(Server(served, settings, limits), opened)
