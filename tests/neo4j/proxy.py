"""A TCP proxy on the loopback interface that can cut its connections: a server that goes away at a given moment."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from urllib.parse import urlsplit


class Proxy:
    """Passes bytes to a server and back; after `cut_after_bytes` of answers the connection is cut, once.
    It listens on any port that is free, unless one is given."""

    def __init__(self, uri: str, cut_after_bytes: int | None = None, stay_away: bool = False, port: int = 0) -> None:
        parts = urlsplit(uri)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 7687)
        self._left = cut_after_bytes
        self._stay_away = stay_away
        self._listener = socket.create_server(("127.0.0.1", port))
        self._sockets: list[socket.socket] = [self._listener]
        self.uri = f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"
        self.cuts = 0

    def __enter__(self) -> Proxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for held in self._sockets:
            _close(held)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
            except OSError:
                return
            self._sockets += [client, server]
            for source, target, count in ((client, server, _ignore), (server, client, self._count)):
                threading.Thread(target=_pass_on, args=(source, target, count), daemon=True).start()

    def _count(self, received: int) -> None:
        if self._left is None:
            return
        self._left -= received
        if self._left < 0:
            self._left = None
            self.cuts += 1
            if self._stay_away:
                _close(self._listener)
            raise ConnectionAbortedError


def _ignore(received: int) -> None:
    """What a client sends is not counted."""


def _pass_on(source: socket.socket, target: socket.socket, count: Callable[[int], None]) -> None:
    with suppress(OSError):
        while piece := source.recv(4096):
            count(len(piece))
            target.sendall(piece)
    _close(source)
    _close(target)


def _close(held: socket.socket) -> None:
    with suppress(OSError):
        held.shutdown(socket.SHUT_RDWR)
    held.close()
