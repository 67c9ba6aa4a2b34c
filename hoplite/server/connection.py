"""One connection: the event loop reads and writes bytes here, and threads process the messages.

Reading continues while a statement runs, so that a RESET, or the end of the connection, is seen at once. Writing waits
for the client: a result is read no further than the client has followed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from typing import Protocol

from hoplite.server.exchange import Exchange, StopExchange
from hoplite.server.framing import (
    HANDSHAKE_SIZE,
    MAGIC,
    MANIFEST,
    Unframer,
    Version,
    asks_for_manifest,
    chosen_version,
    version_bytes,
    version_of,
)
from hoplite.server.packstream import PackStreamError
from hoplite.server.settings import Settings
from hoplite.server.websocket import WebSocketError

LOG = logging.getLogger("hoplite.server")

_GREETING_BYTES = 1 << 16  # the longest message of a client that is not authenticated yet
_AT_ONCE = 1 << 18  # bytes produced before they are sent
_MOST_WAITING = 1_000  # messages read ahead of processing; and no more bytes than one message may have
_RESET = b"\xb0\x0f"


class Stream(Protocol):
    """Bytes to and from a client."""

    async def read(self) -> bytes:
        """Some more bytes; none at the end."""
        ...

    def write(self, data: bytes) -> None:
        """Send bytes."""
        ...

    def close(self) -> None:
        """Signal the end."""
        ...


class Connection:
    """A client that speaks Bolt."""

    def __init__(
        self,
        stream: Stream,
        writer: asyncio.StreamWriter,
        settings: Settings,
        threads: Executor,
        begin: Callable[[Version], Exchange],
    ) -> None:
        """`begin` makes an exchange when the version is known."""
        self._stream = stream
        self._writer = writer
        self._settings = settings
        self._threads = threads
        self._begin = begin
        self._exchange: Exchange | None = None
        self._rest = b""  # read with the handshake, but belongs after it
        self._messages: deque[bytes] = deque()
        self._received = self._begun_bytes = 0  # bytes of messages that arrived, and of those no longer waiting
        self._begun: Iterator[bytes] | None = None  # replies to the message being processed
        self._changed = asyncio.Event()
        self._taken = asyncio.Event()
        self._ended = False  # no further message will come
        self._closing = False
        self.is_working = False  # in a thread

    # --- the whole of it ---------------------------------------------------------------------------------------

    async def talk(self, begun: bytes) -> None:
        """Talk until either side hangs up; `begun` has already been read."""
        async with asyncio.timeout(self._settings.greeting):
            version = await self._shake_hands(begun)
        if version is None:
            return
        exchange = self._exchange = self._begin(version)
        reading = asyncio.create_task(self._read(exchange))
        try:
            await self._work(exchange)
        finally:
            exchange.stop()
            reading.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await reading
            self._stream.close()

    @property
    def has_begun(self) -> bool:
        """Whether the handshake is over."""
        return self._exchange is not None

    def close_when_idle(self) -> None:
        """The server stops: hang up as soon as nothing is lost by it."""
        self._closing = True
        self._changed.set()

    def cut_off(self) -> None:
        """The server stops now: what is running is undone."""
        if self._exchange is not None:
            self._exchange.stop()
        self._ended = True
        self._changed.set()

    # --- the handshake -----------------------------------------------------------------------------------------

    async def _shake_hands(self, data: bytes) -> Version | None:
        data = await self._fill(data, HANDSHAKE_SIZE)
        offers, self._rest = data[len(MAGIC) : HANDSHAKE_SIZE], data[HANDSHAKE_SIZE:]
        if data[: len(MAGIC)] != MAGIC:
            return None
        if asks_for_manifest(offers):
            self._stream.write(MANIFEST)
            await self._writer.drain()
            data = await self._fill(self._rest, 5)
            end = 5
            while data[end - 1] & 0x80:  # capabilities, of which there are none: a number of any length
                end += 1
                data = await self._fill(data, end)
                if end > 16:
                    return None
            self._rest = data[end:]
            return version_of(data[:4])
        version = chosen_version(offers)
        self._stream.write(version_bytes(version))
        await self._writer.drain()
        return version

    async def _fill(self, data: bytes, size: int) -> bytes:
        """At least `count` bytes."""
        while len(data) < size:
            some = await self._stream.read()
            if not some:
                raise asyncio.IncompleteReadError(data, size)
            data += some
        return data

    # --- reading -----------------------------------------------------------------------------------------------

    async def _read(self, exchange: Exchange) -> None:
        """Queue messages as they arrive."""
        unframer = Unframer(_GREETING_BYTES)
        try:
            data, self._rest = self._rest, b""
            while True:
                if exchange.is_authenticated:
                    unframer.limit = self._settings.message_bytes
                for message in unframer.feed(data):
                    if message == _RESET:
                        exchange.interrupt()
                    self._messages.append(message)
                    self._received += len(message)
                    self._changed.set()
                while self._has_many_waiting():
                    self._taken.clear()
                    if self._has_many_waiting():
                        await self._taken.wait()
                data = await self._next_bytes(exchange)
                if not data:
                    return
        except PackStreamError as error:
            LOG.warning("%s", error)
        except (OSError, EOFError, TimeoutError, WebSocketError) as error:
            LOG.info("connection lost: %s", error or type(error).__name__)
        finally:
            exchange.stop()
            self._ended = True
            self._changed.set()

    def _has_many_waiting(self) -> bool:
        waiting = len(self._messages)
        return waiting > _MOST_WAITING or (
            waiting > 1 and self._received - self._begun_bytes > self._settings.message_bytes
        )

    async def _next_bytes(self, exchange: Exchange) -> bytes:
        if not exchange.is_authenticated:
            async with asyncio.timeout(self._settings.greeting):
                return await self._stream.read()
        while True:
            try:
                async with asyncio.timeout(self._settings.idle):
                    return await self._stream.read()
            except TimeoutError:
                if self._begun is None and not self._messages:
                    raise

    # --- working -----------------------------------------------------------------------------------------------

    async def _work(self, exchange: Exchange) -> None:
        loop = asyncio.get_running_loop()
        while not self._ended:
            if not self._messages and self._begun is None:
                if self._closing and exchange.is_idle:
                    return
                self._changed.clear()
                await self._changed.wait()
                continue
            self.is_working = True
            data, goes_on = await loop.run_in_executor(self._threads, self._some_replies, exchange)
            self.is_working = False
            self._taken.set()
            if data:
                self._stream.write(data)
                async with asyncio.timeout(self._settings.idle):
                    await self._writer.drain()
            if not goes_on:
                return

    def _some_replies(self, exchange: Exchange) -> tuple[bytes, bool]:
        """Process messages until they have produced some bytes, or none is left; returns whether to keep listening."""
        parts: list[bytes] = []
        size = 0
        try:
            while size < _AT_ONCE:
                if self._begun is None:
                    if not self._messages:
                        break
                    message = self._messages.popleft()
                    self._begun_bytes += len(message)
                    self._begun = exchange.replies(message)
                piece = next(self._begun, None)
                if piece is None:
                    self._begun = None
                else:
                    parts.append(piece)
                    size += len(piece)
        except StopExchange:
            return b"".join(parts), False
        return b"".join(parts), True
