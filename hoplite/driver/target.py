"""What a URL or a database stands for:

hoplite://memory         a new database in memory, gone when the driver is closed
hoplite://memory/name    one that is shared by the drivers of this process, as long as one of them is open
hoplite:///data/kg.hop   the folder /data/kg.hop; where there is none, the one of that name in the working directory
hoplite://kg.hop         the folder kg.hop in the working directory
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit
from weakref import WeakValueDictionary

from neo4j.exceptions import ConfigurationError

from hoplite.database import Database

SCHEME = "hoplite"
_MEMORY = "memory"

_shared: WeakValueDictionary[str, Database] = WeakValueDictionary()
_sharing = threading.Lock()


@dataclass(frozen=True, slots=True)
class Target:
    """A database, and whether the driver that was made for it closes it."""

    database: Database
    owned: bool


def is_ours(uri: object) -> bool:
    """Whether a URL names a database of this engine."""
    return isinstance(uri, str) and uri.partition(":")[0].lower() == SCHEME


def open_target(uri: str) -> Target:
    """Open what a URL names."""
    parts = urlsplit(uri)
    if parts.query or parts.fragment:
        raise ConfigurationError(f"Settings are not part of the URL {uri!r}: give the driver a Database instead.")
    path = unquote(parts.path)
    if parts.netloc == _MEMORY:
        return _in_memory(path.strip("/"))
    if parts.netloc:
        return Target(Database(Path(unquote(parts.netloc) + path)), owned=True)
    if not path.strip("/"):
        raise ConfigurationError(f"The URL {uri!r} names no database: write hoplite://memory or hoplite:///path.")
    absolute, relative = Path("/" + path.lstrip("/")), Path(path.lstrip("/"))
    return Target(Database(relative if relative.exists() and not absolute.exists() else absolute), owned=True)


def _in_memory(name: str) -> Target:
    if not name:
        return Target(Database(), owned=True)
    with _sharing:
        database = _shared.get(name)
        if database is None or database._closed:
            database = _shared[name] = Database()
        return Target(database, owned=False)
