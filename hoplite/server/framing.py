"""Bolt's framing: a handshake that negotiates the version, and then chunks.

A message is sent as chunks, each after its length in two bytes, and ends with an empty one. Empty chunks between
messages mean nothing and keep connections alive.
"""

from __future__ import annotations

from hoplite.server.packstream import PackStreamError

MAGIC = b"\x60\x60\xb0\x17"
Version = tuple[int, int]
NEWEST: Version = (5, 8)
OLDEST: Version = (5, 0)

_OFFERS = 4
_MANIFEST = b"\x00\x00\x01\xff"
_NONE = b"\x00\x00\x00\x00"
HANDSHAKE_SIZE = len(MAGIC) + 4 * _OFFERS
MANIFEST = _MANIFEST + b"\x01" + bytes((0, NEWEST[1] - OLDEST[1], NEWEST[1], NEWEST[0])) + b"\x00"
"""The answer to clients that ask for all versions: one range, and no capabilities."""


def chosen_version(offers: bytes) -> Version | None:
    """The first offer that can be met, each a version and how many minor versions before it; None if there is none."""
    for place in range(0, 4 * _OFFERS, 4):
        _, reach, minor, major = offers[place : place + 4]
        if major == NEWEST[0]:
            best = min(minor, NEWEST[1])
            if best >= max(minor - reach, OLDEST[1]):
                return major, best
    return None


def asks_for_manifest(offers: bytes) -> bool:
    """Whether the client wants to see all versions before it chooses one."""
    return any(offers[place : place + 4] == _MANIFEST for place in range(0, 4 * _OFFERS, 4))


def version_bytes(version: Version | None) -> bytes:
    """The choice of version as the server sends it."""
    return _NONE if version is None else bytes((0, 0, version[1], version[0]))


def version_of(choice: bytes) -> Version | None:
    """The version that a client has chosen from the manifest; None if it is not there."""
    version = choice[3], choice[2]
    return version if OLDEST <= version <= NEWEST and choice[:2] == b"\x00\x00" else None


def framed(message: bytes) -> bytes:
    """A message in chunks."""
    size = len(message)
    if size <= 0xFFFF:
        return size.to_bytes(2, "big") + message + b"\x00\x00"
    parts: list[bytes] = []
    for first in range(0, size, 0xFFFF):
        piece = message[first : first + 0xFFFF]
        parts += (len(piece).to_bytes(2, "big"), piece)
    parts.append(b"\x00\x00")
    return b"".join(parts)


class Unframer:
    """Collects bytes as they come, and yields the messages in them."""

    __slots__ = ("_data", "_pieces", "_size", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit  # of a message, in bytes
        self._data = bytearray()
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The messages completed by these bytes."""
        held = self._data
        held += data
        messages = []
        place = 0
        while len(held) - place >= 2:
            size = held[place] << 8 | held[place + 1]
            if not size:
                place += 2
                if self._pieces:
                    messages.append(b"".join(self._pieces))
                    self._pieces, self._size = [], 0
                continue
            if self._size + size > self.limit:
                raise PackStreamError(f"A message is longer than the {self.limit} bytes allowed.")
            if len(held) - place < 2 + size:
                break
            self._pieces.append(bytes(held[place + 2 : place + 2 + size]))
            self._size += size
            place += 2 + size
        del held[:place]
        return messages
