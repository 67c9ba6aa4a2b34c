"""WebSocket, as far as Bolt needs it (RFC 6455): binary messages of any length, without extensions."""

from __future__ import annotations

import asyncio
import base64
import hashlib

_ACCEPT = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUED, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
_LARGEST_CONTROL = 125


class WebSocketError(Exception):
    """An invalid frame."""


def accept_key(key: str) -> str:
    """The server's answer to the key of a client."""
    return base64.b64encode(hashlib.sha1(key.encode("ascii", "replace") + _ACCEPT).digest()).decode()


def frame(kind: int, payload: bytes) -> bytes:
    """A frame as a server sends it: whole, and not masked."""
    size = len(payload)
    if size < 126:
        header = bytes((0x80 | kind, size))
    elif size < 0x10000:
        header = bytes((0x80 | kind, 126)) + size.to_bytes(2, "big")
    else:
        header = bytes((0x80 | kind, 127)) + size.to_bytes(8, "big")
    return header + payload


class WebSocketStream:
    """The bytes of a WebSocket as one stream: message boundaries mean nothing to Bolt."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int) -> None:
        self._reader = reader
        self._writer = writer
        self._limit = limit  # of a frame, in bytes
        self._closed = False

    async def read(self) -> bytes:
        """Some more bytes; none at the end."""
        while True:
            first, second = await self._reader.readexactly(2)
            kind, size = first & 0x0F, second & 0x7F
            if first & 0x70:
                raise WebSocketError("extensions were not agreed on")
            if not second & 0x80:
                raise WebSocketError("frames of a client are masked")
            if size == 126:
                size = int.from_bytes(await self._reader.readexactly(2), "big")
            elif size == 127:
                size = int.from_bytes(await self._reader.readexactly(8), "big")
            if size > (self._limit if kind <= _BINARY else _LARGEST_CONTROL):
                raise WebSocketError("the frame is too long")
            mask = await self._reader.readexactly(4)
            payload = _unmasked(await self._reader.readexactly(size), mask)
            if kind in (_CONTINUED, _BINARY):
                if payload:
                    return payload
            elif kind == _PING:
                self._writer.write(frame(_PONG, payload))
                await self._writer.drain()
            elif kind == _CLOSE:
                self._say_goodbye(payload[:2])
                return b""
            elif kind != _PONG:
                raise WebSocketError("Bolt is sent in binary frames")

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self._writer.write(frame(_BINARY, data))

    def close(self) -> None:
        """Signal the end."""
        self._say_goodbye((1000).to_bytes(2, "big"))

    def _say_goodbye(self, code: bytes) -> None:
        if not self._closed:
            self._closed = True
            self._writer.write(frame(_CLOSE, code))


def _unmasked(payload: bytes, mask: bytes) -> bytes:
    size = len(payload)
    if not size:
        return b""
    pad = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(pad, "big")).to_bytes(size, "big")


class PlainStream:
    """The bytes of a TCP connection."""

    _AT_ONCE = 1 << 16

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        """Some more bytes; none at the end."""
        return await self._reader.read(self._AT_ONCE)

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self._writer.write(data)

    def close(self) -> None:
        """Nothing to signal."""
