"""A client that sends exactly what it is told to, message by message, including what a driver would never send."""

from __future__ import annotations

import socket
import struct
from types import TracebackType
from typing import Any

from hoplite.server.packstream import Structure, packed, unpacked

MAGIC = b"\x60\x60\xb0\x17"
TAGS = {
    "HELLO": 0x01, "GOODBYE": 0x02, "RESET": 0x0F, "RUN": 0x10, "BEGIN": 0x11, "COMMIT": 0x12, "ROLLBACK": 0x13,
    "DISCARD": 0x2F, "PULL": 0x3F, "TELEMETRY": 0x54, "ROUTE": 0x66, "LOGON": 0x6A, "LOGOFF": 0x6B,
}  # fmt: skip
REPLIES = {0x70: "SUCCESS", 0x71: "RECORD", 0x7E: "IGNORED", 0x7F: "FAILURE"}


class Wire:
    """One connection over TCP."""

    def __init__(self, port: int, version: tuple[int, int] | None = None, timeout: float = 30.0) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        if version is not None:
            self.shake_hands(bytes((0, 0, version[1], version[0])))

    def shake_hands(self, *offers: bytes) -> bytes:
        """Offer up to four versions; what the server chose."""
        self.socket.sendall(MAGIC + b"".join(offers).ljust(16, b"\0"))
        return self.read(4)

    def log_on(self, version: tuple[int, int], auth: dict[str, Any] | None = None, **extra: Any) -> list[Any]:
        """Say hello as that version does; the replies."""
        auth = auth or {"scheme": "none"}
        hello: dict[str, Any] = {"user_agent": "test/1.0", **extra}
        if version >= (5, 3):
            hello["bolt_agent"] = {"product": "test/1.0"}
        if version < (5, 1):
            return [self.ask("HELLO", {**hello, **auth})]
        return [self.ask("HELLO", hello), self.ask("LOGON", auth)]

    def send(self, name: str | int, *fields: Any) -> None:
        """One message, in one chunk or more."""
        tag = TAGS[name] if isinstance(name, str) else name
        self.send_bytes(packed(Structure(tag, fields)))

    def send_bytes(self, message: bytes, chunk: int = 0xFFFF) -> None:
        """A message of any bytes."""
        pieces = [message[first : first + chunk] for first in range(0, len(message), chunk)]
        self.socket.sendall(b"".join(struct.pack(">H", len(piece)) + piece for piece in pieces) + b"\0\0")

    def ask(self, name: str | int, *fields: Any) -> tuple[str, Any]:
        """One message, and the next reply."""
        self.send(name, *fields)
        return self.reply()

    def reply(self) -> tuple[str, Any]:
        """The next reply: its name, and what it holds."""
        parts = []
        while True:
            (size,) = struct.unpack(">H", self.read(2))
            if size:
                parts.append(self.read(size))
            elif parts:
                break
        reply = unpacked(b"".join(parts))
        return REPLIES[reply.tag], reply.fields[0] if reply.fields else None

    def replies(self) -> list[tuple[str, Any]]:
        """Records, and the reply that ends them."""
        found = [self.reply()]
        while found[-1][0] == "RECORD":
            found.append(self.reply())
        return found

    def read(self, size: int) -> bytes:
        """Exactly this many bytes; `EOFError` if the server hangs up."""
        data = b""
        while len(data) < size:
            some = self.socket.recv(size - len(data))
            if not some:
                raise EOFError("The server has closed the connection.")
            data += some
        return data

    def close(self) -> None:
        """Hang up."""
        self.socket.close()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()
