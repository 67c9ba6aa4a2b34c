"""What a URL or a database stands for:

hoplite://memory         a new database in memory, gone with the driver
hoplite://memory/name    one that the drivers of this process share while any of them is open
hoplite:///data/kg.hop   the folder /data/kg.hop; if it does not exist, the one of that name in the working directory
hoplite://kg.hop         the folder kg.hop in the working directory

Everything in this process that opens the same folder shares it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from neo4j.exceptions import ConfigurationError

from hoplite import forks
from hoplite.api.database import Database
from hoplite.lazy_dataclass import dataclass

SCHEME = "hoplite"
_MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Target:
    """A database, and what to do with it when its driver is closed."""

    database: Database
    close: Callable[[], None]
    reopen: Callable[[], Target] | None = None  # if the database outlives the driver


@dataclass(slots=True)
class _Shared:
    """A database in memory, and how many drivers use it."""

    database: Database
    users: int = 0


_shared: dict[str, _Shared] = {}
_sharing = forks.brief_lock()


def is_ours(uri: object) -> bool:
    """Whether a URL names a Hoplite database."""
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
        return _folder(Path(unquote(parts.netloc) + path))
    if not path.strip("/"):
        raise ConfigurationError(f"The URL {uri!r} names no database: write hoplite://memory or hoplite:///path.")
    absolute, relative = Path("/" + path.lstrip("/")), Path(path.lstrip("/"))
    return _folder(relative if relative.exists() and not absolute.exists() else absolute)


def of_database(database: Database) -> Target:
    """A database that other code has opened, and will close."""
    return Target(database, _nothing, lambda: of_database(database))


def _nothing() -> None:
    """Do nothing: other code owns the database."""


def _folder(path: Path) -> Target:
    place = path.absolute()  # the working directory may change
    database = Database(path)
    return Target(database, database.close, lambda: _folder(place))


def _in_memory(name: str) -> Target:
    return _alone(Database()) if not name else _joined(name, _Shared(Database()))


def _alone(database: Database) -> Target:
    """A database that belongs to one driver. If a closed driver is used again, as some libraries do, the database is as
    before."""
    return Target(database, database._rest, lambda: _alone(database))


def _joined(name: str, own: _Shared) -> Target:
    """The shared database of a name, or this one if there is none yet."""
    with _sharing:
        shared = _shared.setdefault(name, own)
        shared.users += 1

    def leave() -> None:
        with _sharing:
            shared.users -= 1
            if not shared.users:
                del _shared[name]
                shared.database._rest()

    return Target(shared.database, leave, lambda: _joined(name, shared))
