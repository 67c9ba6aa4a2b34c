"""Settings of a server: where it listens, whom it lets in, and what a client may use."""

from __future__ import annotations

import ssl
from dataclasses import field

from hoplite.lazy_dataclass import dataclass
from hoplite.server.access import Access
from hoplite.server.http import Neighbours

DEFAULT_PORT = 7687
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits apply to each connection, times are in seconds; None means no limit."""

    host: str = LOOPBACK
    port: int = DEFAULT_PORT  # 0: any that is free
    access: Access = field(default_factory=Access)
    neighbours: Neighbours = field(default_factory=Neighbours)
    tls: ssl.SSLContext | None = None
    most_connections: int = 400
    message_bytes: int = 64 << 20
    idle: float | None = None  # between two messages of a client, or while it does not read what is sent
    greeting: float = 30.0  # until a client has authenticated
    grace: float = 10.0  # at the end, for what is still running

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16:
            raise ValueError(f"A port is a number from 0 to 65535, not {self.port}")

    @property
    def scheme(self) -> str:
        """The scheme of the address for drivers."""
        return "bolt" if self.tls is None else "bolt+ssc"
