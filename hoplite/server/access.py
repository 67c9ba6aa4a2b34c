"""Who may connect: users and passwords, from the environment or a file.

Without any, everyone may, as with a Neo4j whose authentication is off. After several wrong passwords, a user has to
wait before the next is checked, which prevents guessing.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hoplite.errors import cypher_error, to_driver_error

_UNAUTHORIZED = "Neo.ClientError.Security.Unauthorized"
_RATE_LIMITED = "Neo.ClientError.Security.AuthenticationRateLimit"
_ATTEMPTS, _WAIT_S = 3, 5.0
ANONYMOUS = ""
VARIABLE = "HOPLITE_AUTH"


class Access:
    """Users with their passwords, stored as digests."""

    def __init__(self, users: Mapping[str, str] | None = None) -> None:
        self._salt = os.urandom(16)
        self._users = {name: self._digest(password) for name, password in (users or {}).items()}
        self._nobody = self._digest(os.urandom(16).hex())
        self._failures: dict[str, tuple[int, float]] = {}  # by user: how often, and when the last time
        self._lock = threading.Lock()

    @property
    def is_required(self) -> bool:
        """Whether clients must authenticate."""
        return bool(self._users)

    def user(self, auth: Mapping[str, Any]) -> str:
        """The user that a client claims to be. Raises the driver's error for a wrong one."""
        if not self._users:
            name = auth.get("principal")
            return name if isinstance(name, str) else ANONYMOUS
        scheme, name, password = auth.get("scheme"), auth.get("principal"), auth.get("credentials")
        if scheme != "basic" or not isinstance(name, str) or not isinstance(password, str):
            raise _refused("Unsupported authentication token, scheme 'basic' with a user and a password is expected.")
        known = name if name in self._users else ""  # all unknown users count as one
        with self._lock:
            count, latest = self._failures.get(known, (0, 0.0))
            if count >= _ATTEMPTS and time.monotonic() - latest < _WAIT_S:
                raise to_driver_error(
                    cypher_error(
                        _RATE_LIMITED,
                        "The client has provided incorrect authentication details too many times in a row.",
                    )
                )
        if not hmac.compare_digest(self._users.get(name, self._nobody), self._digest(password)) or not known:
            with self._lock:  # counted anew: others may have tried meanwhile
                self._failures[known] = self._failures.get(known, (0, 0.0))[0] + 1, time.monotonic()
            raise _refused("The client is unauthorized due to authentication failure.")
        with self._lock:
            self._failures.pop(known, None)
        return name

    def _digest(self, password: str) -> bytes:
        encoded = password.encode("utf-8", "replace")
        return hashlib.scrypt(encoded, salt=self._salt, n=1 << 12, r=8, p=1)


def _refused(message: str) -> Exception:
    return to_driver_error(cypher_error(_UNAUTHORIZED, message))


def users_from_environment() -> dict[str, str]:
    """`HOPLITE_AUTH=user/password`, as in Neo4j's images; no users if it is not set, or `none`."""
    text = os.environ.get(VARIABLE, "")
    if not text or text == "none":
        return {}
    name, slash, password = text.partition("/")
    if not slash or not name or not password:
        raise ValueError(f"{VARIABLE} is of the form user/password.")
    return {name: password}


def users_from_file(path: Path) -> dict[str, str]:
    """A file with a line `user:password` for each user; empty lines and those starting with # are ignored."""
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise ValueError(f"{path} can be read by other users of this machine: chmod 600 it.")
    users = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, password = line.partition(":")
        if not colon or not name or not password:
            raise ValueError(f"Line {number} of {path} is not of the form user:password.")
        users[name] = password
    if not users:
        raise ValueError(f"There is no user in {path}.")
    return users
