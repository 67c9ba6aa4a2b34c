"""Where the next page of an answer begins, as a text that can be given to an untrusted client.

A cursor says how many rows were returned, of which statement, of which version of the graph, and what the last page
was: the next page runs the statement again and continues after the same rows, or reports that they differ. It is signed
with a key that only this process knows.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from dataclasses import astuple, dataclass

_KEY = secrets.token_bytes(32)
_SIGNATURE = 16  # bytes


class CursorRefused(Exception):
    """The cursor does not belong to the request; the message says why."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The page that it was returned with: rows `first` to `offset` of the answer, their digest, and how many bytes they
    were allowed. `statement` is a digest too."""

    statement: str
    version: int
    first: int
    offset: int
    rows_digest: str
    most_bytes: int

    def text(self) -> str:
        """The text that is given to the client."""
        payload = json.dumps(astuple(self), separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(_signature(payload) + payload).decode().rstrip("=")

    @staticmethod
    def of(text: str) -> Cursor:
        """The cursor that a text stands for."""
        try:
            signed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            signed = b""
        signature, payload = signed[:_SIGNATURE], signed[_SIGNATURE:]
        if not hmac.compare_digest(signature, _signature(payload)):
            raise CursorRefused("The cursor was not issued here. Run the statement without a cursor.")
        return Cursor(*json.loads(payload))


def _signature(payload: bytes) -> bytes:
    return hmac.digest(_KEY, payload, "sha256")[:_SIGNATURE]


def statement_digest(*parts: str) -> str:
    """A digest of a statement: its text, its parameters, its database."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class RowsDigest:
    """A digest of rows, one after the other."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, row: bytes) -> None:
        """The next row, as JSON."""
        self._hash.update(row + b"\n")

    def text(self) -> str:
        """The digest of all rows so far."""
        return self._hash.hexdigest()[:32]
