"""The server: one port that speaks Bolt over TCP and over WebSocket, and HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import count

from hoplite.api.database import Database
from hoplite.api.limits import Limits
from hoplite.driver.conversation import Conversation
from hoplite.server.connection import Connection, Stream
from hoplite.server.entities import PackedValues
from hoplite.server.exchange import Exchange
from hoplite.server.framing import MAGIC, Version
from hoplite.server.http import METHODS, Request, answer, read_request
from hoplite.server.settings import Settings
from hoplite.server.websocket import PlainStream, WebSocketError, WebSocketStream

LOG = logging.getLogger("hoplite.server")
_SHORTEST_WAIT_S = 0.1
_LOST = (OSError, EOFError, TimeoutError, WebSocketError)


class Server:
    """Serves a database that other code owns: it is not closed here."""

    def __init__(self, database: Database, settings: Settings, limits: Limits | None = None) -> None:
        """`limits` apply to each statement; by default they are the database's."""
        self._database = database
        self._settings = settings
        self._limits = replace(limits or database._limits, hydrator=PackedValues)
        self._numbers = count(1)
        self._connections: dict[asyncio.Task[None], Connection] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        # As many threads as connections: one that waits for its turn to write never blocks another.
        self._threads = ThreadPoolExecutor(settings.most_connections, thread_name_prefix="hoplite-bolt")
        self._listening: asyncio.Server | None = None

    # --- its life ----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen."""
        settings = self._settings
        self._listening = await asyncio.start_server(
            self._accept, settings.host, settings.port, limit=1 << 16, ssl=settings.tls, backlog=1024
        )

    @property
    def port(self) -> int:
        """The port it listens on."""
        assert self._listening is not None
        port: int = self._listening.sockets[0].getsockname()[1]
        return port

    @property
    def uri(self) -> str:
        """The URI for a driver."""
        host = self._settings.host
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
        return f"{self._settings.scheme}://{shown}:{self.port}"

    async def stop(self) -> None:
        """Accept no new connections, give transactions time to finish, undo the others, and let every thread finish."""
        assert self._listening is not None
        self._listening.close()
        for task in self._tasks:
            connection = self._connections.get(task)
            if connection is None or not connection.has_begun:
                task.cancel()  # nothing was said that could be lost
            else:
                connection.close_when_idle()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._settings.grace)
        for connection in self._connections.values():
            connection.cut_off()
        while self._tasks:
            _, left = await asyncio.wait(self._tasks, timeout=max(self._settings.grace, _SHORTEST_WAIT_S))
            for task in left:
                connection = self._connections.get(task)
                # What runs has been told to end; a commit does not, and its client must learn of it.
                if connection is None or not connection.is_working:
                    task.cancel()  # a client that does not read what is sent
        await asyncio.to_thread(self._threads.shutdown)

    # --- connections -------------------------------------------------------------------------------------------

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        peer = writer.get_extra_info("peername")
        try:
            if len(self._tasks) > self._settings.most_connections:
                LOG.warning("%s turned away: there are %d connections", peer, self._settings.most_connections)
                return
            await self._talk(reader, writer)
        except _LOST as error:
            LOG.info("%s lost: %s", peer, str(error) or type(error).__name__)
        except asyncio.CancelledError:
            pass  # at the end of the server
        except Exception:
            LOG.exception("%s: the connection has failed", peer)
        finally:
            self._tasks.discard(task)
            await _hang_up(writer)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        settings = self._settings
        async with asyncio.timeout(settings.greeting):
            begun = await reader.readexactly(len(MAGIC))
            request = await read_request(reader, begun) if begun in METHODS else None
        if begun == MAGIC:
            await self._speak_bolt(PlainStream(reader, writer), writer, begun)
        elif begun in METHODS:
            reply = answer(request, settings.neighbours, settings.tls is not None)
            writer.write(reply.to_bytes(with_body=request is None or request.method != "HEAD"))
            async with asyncio.timeout(settings.greeting):
                await writer.drain()
            if reply.status == 101:
                await self._speak_bolt(WebSocketStream(reader, writer, settings.message_bytes), writer, b"", request)
        else:
            LOG.info("%s speaks neither Bolt nor HTTP", writer.get_extra_info("peername"))

    async def _speak_bolt(
        self, stream: Stream, writer: asyncio.StreamWriter, begun: bytes, request: Request | None = None
    ) -> None:
        address = self._address(writer, request)
        connection = Connection(stream, writer, self._settings, self._threads, self._exchanges(address))
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = connection
        try:
            await connection.talk(begun)
        finally:
            del self._connections[task]

    def _exchanges(self, address: str) -> Callable[[Version], Exchange]:
        def begin(version: Version) -> Exchange:
            name = f"bolt-{next(self._numbers)}"
            return Exchange(Conversation(self._database, self._limits), version, name, self._settings.access, address)

        return begin

    def _address(self, writer: asyncio.StreamWriter, request: Request | None) -> str:
        """The address that the client used for the server."""
        if request is not None:
            return request.headers.get("host", "")
        host, port, *_ = writer.get_extra_info("sockname")
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError, TimeoutError, asyncio.CancelledError):
        async with asyncio.timeout(1):
            await writer.wait_closed()
