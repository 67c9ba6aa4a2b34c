"""HTTP on the port of Bolt: the files of the console, and the way into a WebSocket.

A foreign page must not reach a server on this machine through a user's browser. A WebSocket is opened only for pages
from this server or from an allowed origin; and requests are answered only if they name the server by an address or one
of its names, so that no foreign name can be made to point here.
"""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from hoplite.lazy_dataclass import dataclass
from hoplite.server.websocket import accept_key

CONSOLE = Path(__file__).parent / "console"
METHODS = (b"GET ", b"HEAD", b"POST", b"PUT ", b"OPTI", b"DELE", b"PATC", b"TRAC", b"CONN")
LARGEST_HEAD = 1 << 14
NONCE = "__NONCE__"  # in index.html, replaced by a new one in each answer

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
    ".txt": "text/plain; charset=utf-8",
}
_REASONS = {
    101: "Switching Protocols", 200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 426: "Upgrade Required",
}  # fmt: skip
_NOT_BUILT = "This is a Bolt server. The console is not part of this build.\n"


@dataclass(frozen=True, slots=True)
class Request:
    """The head of a request."""

    method: str
    target: str
    headers: Mapping[str, str]

    @property
    def is_upgrade(self) -> bool:
        """The client wants a WebSocket."""
        return self.headers.get("upgrade", "").lower() == "websocket"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    def to_bytes(self, with_body: bool = True) -> bytes:
        """As it is sent."""
        lines = [f"HTTP/1.1 {self.status} {_REASONS[self.status]}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join((*lines, "", "")).encode("latin-1") + (self.body if with_body else b"")


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Which names lead here, and whose pages may open a WebSocket."""

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()

    def knows_host(self, host: str) -> bool:
        """`localhost`, an address, or one of this server's names. A foreign name could be made to point here."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower().rstrip(".")
        except ValueError:
            return False
        if name == "localhost" or name.endswith(".localhost") or name in self.hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def knows_origin(self, origin: str | None, host: str, encrypted: bool) -> bool:
        """A page from here, an allowed one, or a program other than a browser, which sends no origin."""
        scheme = "https" if encrypted else "http"
        return origin is None or origin == f"{scheme}://{host}" or origin.lower() in self.origins


async def read_request(reader: asyncio.StreamReader, begun: bytes) -> Request | None:
    """The head of a request; None if it is not one."""
    try:
        head = begun + await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    if len(head) > LARGEST_HEAD:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        return None
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        key = name.strip().lower()
        if colon:
            if key in headers and key in ("host", "origin", "sec-websocket-key"):
                return None
            headers[key] = value.strip()
    return Request(parts[0], parts[1], headers)


def answer(request: Request | None, neighbours: Neighbours, encrypted: bool) -> Answer:
    """The answer to an HTTP client. After status 101 it speaks WebSocket."""
    if request is None:
        return _text(400, "Bad request.\n")
    host = request.headers.get("host", "")
    if not neighbours.knows_host(host):
        return _text(403, "This server does not have that name. `--host-name` gives it one.\n")
    if request.is_upgrade:
        return _upgraded(request, neighbours, host, encrypted)
    if request.method not in ("GET", "HEAD"):
        return _text(405, "Only GET is answered here.\n", Allow="GET, HEAD")
    return _file(request.target, host, encrypted)


def _upgraded(request: Request, neighbours: Neighbours, host: str, encrypted: bool) -> Answer:
    if not neighbours.knows_origin(request.headers.get("origin"), host, encrypted):
        return _text(403, "Pages of that origin may not connect. `--allow-origin` allows it.\n")
    key = request.headers.get("sec-websocket-key", "")
    if request.method != "GET" or not key:
        return _text(400, "Bad request.\n")
    if request.headers.get("sec-websocket-version") != "13":
        return _text(426, "WebSocket version 13 is spoken here.\n", **{"Sec-WebSocket-Version": "13"})
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": accept_key(key)}
    return Answer(101, b"", headers)


def _file(target: str, host: str, encrypted: bool) -> Answer:
    path = unquote(target.partition("?")[0].partition("#")[0])
    name = "index.html" if path == "/" else path.lstrip("/")
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part or part.startswith(".") for part in parts):
        return _text(404, "Not found.\n")
    file = CONSOLE.joinpath(*parts)
    kind = _TYPES.get(file.suffix)
    if kind is None or not file.is_file():
        return _text(404, "Not found.\n" if (CONSOLE / "index.html").is_file() else _NOT_BUILT)
    body = file.read_bytes()
    nonce = secrets.token_urlsafe(16)
    if file.suffix == ".html":
        body = body.replace(NONCE.encode(), nonce.encode())
    lasting = parts[0] == "assets"  # whose names contain a digest of their content
    caching = "public, max-age=31536000, immutable" if lasting else "no-cache"
    return Answer(200, body, _headers(body, kind, policy(host, encrypted, nonce)) | {"Cache-Control": caching})


def policy(host: str, encrypted: bool, nonce: str) -> str:
    """What a page may do: nothing that leaves this server."""
    socket = f"{'wss' if encrypted else 'ws'}://{host}"
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            f"style-src 'self' 'nonce-{nonce}'",
            "img-src 'self' data: blob:",
            "font-src 'self'",
            "worker-src 'self'",
            f"connect-src 'self' {socket}",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


def _headers(body: bytes, kind: str, rules: str) -> dict[str, str]:
    return {
        "Content-Type": kind,
        "Content-Length": str(len(body)),
        "Content-Security-Policy": rules,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Connection": "close",
    }


def _text(status: int, text: str, **headers: str) -> Answer:
    body = text.encode()
    return Answer(status, body, _headers(body, _TYPES[".txt"], "default-src 'none'") | headers)
