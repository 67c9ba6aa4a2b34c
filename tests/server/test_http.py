"""HTTP and WebSocket on the port of Bolt: the console's files, and who may connect."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path
from typing import Any

import pytest

from hoplite.server import Served, http
from hoplite.server.framing import MAGIC, framed
from hoplite.server.http import Neighbours
from hoplite.server.packstream import Structure, packed, unpacked
from hoplite.server.websocket import accept_key


def _ask(port: int, *lines: str) -> tuple[str, dict[str, str], bytes]:
    """Send a request; the status, headers and body of the answer."""
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall("\r\n".join((*lines, "", "")).encode())
        data = b""
        while some := connection.recv(1 << 16):
            data += some
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    return first.split(" ", 1)[1], dict(line.split(": ", 1) for line in rest), body


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "console"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text('<meta name="nonce" content="__NONCE__">')
    (folder / "assets" / "main-abc.js").write_text("1")
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.setattr(http, "CONSOLE", folder)
    return folder


def test_the_console_is_served_under_a_strict_policy(served: Served, console: Path) -> None:
    host = f"127.0.0.1:{served.port}"
    status, headers, body = _ask(served.port, "GET / HTTP/1.1", f"Host: {host}")
    assert status == "200 OK" and headers["Content-Type"].startswith("text/html")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and f"connect-src 'self' ws://{host}" in policy
    assert "unsafe" not in policy and "*" not in policy
    nonce = policy.partition("'nonce-")[2].partition("'")[0]
    assert body == f'<meta name="nonce" content="{nonce}">'.encode()
    again = _ask(served.port, "GET / HTTP/1.1", f"Host: {host}")[1]["Content-Security-Policy"]
    assert again != policy
    status, headers, body = _ask(served.port, "GET /assets/main-abc.js HTTP/1.1", f"Host: {host}")
    assert body == b"1" and "immutable" in headers["Cache-Control"]
    status, headers, body = _ask(served.port, "HEAD / HTTP/1.1", f"Host: {host}")
    assert status == "200 OK" and body == b""


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/assets/../../secret.txt",
        "//secret.txt",
        "/..%5csecret.txt",
        "/.git",
        "/x",
    ],
)
def test_nothing_else_is_served(served: Served, console: Path, target: str) -> None:
    status, _, body = _ask(served.port, f"GET {target} HTTP/1.1", "Host: localhost")
    assert status == "404 Not Found" and b"secret" not in body


def test_a_build_without_the_console_says_so(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "CONSOLE", tmp_path / "nothing")
    status, _, body = _ask(served.port, "GET / HTTP/1.1", "Host: localhost")
    assert status == "404 Not Found" and b"not part of this build" in body


@pytest.mark.parametrize("request_line", ["POST / HTTP/1.1", "PUT /x HTTP/1.1", "OPTIONS / HTTP/1.1"])
def test_other_methods_are_not_allowed(served: Served, request_line: str) -> None:
    assert _ask(served.port, request_line, "Host: localhost")[0] == "405 Method Not Allowed"


@pytest.mark.parametrize(
    "lines",
    [
        ("GET / SPDY/9", "Host: localhost"),
        ("GET /", "Host: localhost"),
        ("GET / HTTP/1.1", "Host: localhost", "Host: evil.example"),
        ("GET / HTTP/1.1", "Host: localhost", "X: " + "x" * 70_000),
    ],
)
def test_what_is_not_a_request_is_refused(served: Served, lines: tuple[str, ...]) -> None:
    assert _ask(served.port, *lines)[0] == "400 Bad Request"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:7687", "localhost.evil.example", "", "[::1", "a@localhost@b"]
)
def test_a_foreign_name_that_leads_here_is_refused(served: Served, host: str) -> None:
    assert _ask(served.port, "GET / HTTP/1.1", f"Host: {host}")[0] == "403 Forbidden"


def test_names_and_origins_that_are_known() -> None:
    neighbours = Neighbours(frozenset({"graphs.example"}), frozenset({"https://tool.example"}))
    for host in ("localhost", "LOCALHOST:7687", "127.0.0.1:1", "[::1]:7687", "192.168.1.4", "graphs.example:80"):
        assert neighbours.knows_host(host), host
    assert neighbours.knows_origin(None, "localhost:1", False)
    assert neighbours.knows_origin("http://localhost:1", "localhost:1", False)
    assert neighbours.knows_origin("https://localhost:1", "localhost:1", True)
    assert neighbours.knows_origin("https://tool.example", "localhost:1", False)
    for origin in (
        "null",
        "http://localhost:2",
        "https://localhost:1",
        "http://evil.example",
        "http://localhost:1.evil",
    ):
        assert not neighbours.knows_origin(origin, "localhost:1", False), origin


class _WebSocket:
    """A client that frames as it is told."""

    def __init__(self, port: int, origin: str | None = None, key: str = "dGhlIHNhbXBsZSBub25jZQ==") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        lines = ["GET / HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        lines += [] if origin is None else [f"Origin: {origin}"]
        self.socket.sendall("\r\n".join((*lines, "", "")).encode())
        self.head = b""
        while b"\r\n\r\n" not in self.head:
            some = self.socket.recv(1)
            if not some:
                break
            self.head += some

    def send(self, payload: bytes, first: int = 0x82, masked: bool = True) -> None:
        mask = os.urandom(4)
        size = len(payload)
        length = bytes((0x80 | size,)) if size < 126 else b"\xfe" + struct.pack(">H", size)
        if not masked:
            self.socket.sendall(bytes((first, size)) + payload)
            return
        data = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
        self.socket.sendall(bytes((first,)) + length + mask + data)

    def read(self) -> tuple[int, bytes]:
        first, size = self._exactly(2)
        if size == 126:
            (size,) = struct.unpack(">H", self._exactly(2))
        return first, self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            some = self.socket.recv(size - len(data))
            if not some:
                raise EOFError
            data += some
        return data

    def log_on(self) -> None:
        self.send(MAGIC + b"\x00\x00\x08\x05".ljust(16, b"\0"))
        assert self.read() == (0x82, b"\x00\x00\x08\x05")
        hello = packed(Structure(0x01, ({"user_agent": "t", "bolt_agent": {"product": "t"}},)))
        self.send(framed(hello) + framed(packed(Structure(0x6A, ({"scheme": "none"},)))))


@pytest.fixture
def websocket(served: Served) -> Any:
    client = _WebSocket(served.port)
    assert client.head.startswith(b"HTTP/1.1 101 ")
    yield client
    client.socket.close()


def test_the_key_is_answered_as_in_the_standard() -> None:
    assert accept_key("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def test_messages_may_be_cut_anywhere(websocket: _WebSocket) -> None:
    websocket.log_on()
    websocket.read()
    run = framed(packed(Structure(0x10, ("RETURN 1 AS x", {}, {})))) + framed(packed(Structure(0x3F, ({"n": -1},))))
    websocket.send(run[:7], first=0x02)  # a message in three fragments, with a ping between them
    websocket.send(b"are you there", first=0x89)
    websocket.send(run[7:8], first=0x00)
    websocket.send(run[8:], first=0x80)
    data = b""
    pongs = []
    while b"bookmark" not in data:
        kind, payload = websocket.read()
        if kind == 0x82:
            data += payload
        else:
            pongs.append((kind, payload))
    assert pongs == [(0x8A, b"are you there")]
    assert unpacked(b"\xb1\x71\x91\x01") == Structure(0x71, ([1],)) and b"\xb1\x71\x91\x01" in data


def test_a_close_is_answered(websocket: _WebSocket) -> None:
    websocket.log_on()
    websocket.read()
    websocket.send(b"\x03\xe8", first=0x88)
    assert websocket.read() == (0x88, b"\x03\xe8")
    with pytest.raises(EOFError):
        websocket.read()


@pytest.mark.parametrize(
    ("first", "masked"),
    [(0x82, False), (0xC2, True), (0x81, True), (0x83, True)],
    ids=["bare", "extended", "text", "odd"],
)
def test_frames_that_may_not_be_end_the_connection(websocket: _WebSocket, first: int, masked: bool) -> None:
    websocket.send(b"x", first=first, masked=masked)
    with pytest.raises(EOFError):
        websocket.read()


def test_pages_of_others_may_not_connect(served: Served) -> None:
    for origin in (
        "http://evil.example",
        "null",
        f"http://127.0.0.1:{served.port + 1}",
        f"https://127.0.0.1:{served.port}",
    ):
        assert _status(served.port, origin) == 403, origin
    assert _status(served.port, f"http://127.0.0.1:{served.port}") == 101


def _status(port: int, origin: str) -> int:
    client = _WebSocket(port, origin)
    client.socket.close()
    return int(client.head.split()[1])
