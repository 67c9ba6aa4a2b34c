"""What a URL or a database stands for:

hoplite://memory         a new database in memory, gone with the driver
hoplite://memory/name    one that is shared by the drivers of this process, as long as one of them is open
hoplite:///data/kg.hop   the folder /data/kg.hop; where there is none, the one of that name in the working directory
hoplite://kg.hop         the folder kg.hop in the working directory

Whatever else has a folder open in this process shares it.
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
    """A database, and what is to be done with it when the driver that was made for it is closed."""

    database: Database
    close: Callable[[], None]
    reopen: Callable[[], Target] | None = None  # where the database outlasts the driver


@dataclass(slots=True)
class _Shared:
    """A database in memory, and how many drivers use it."""

    database: Database
    users: int = 0


_shared: dict[str, _Shared] = {}
_sharing = forks.brief_lock()


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
        return _folder(Path(unquote(parts.netloc) + path))
    if not path.strip("/"):
        raise ConfigurationError(f"The URL {uri!r} names no database: write hoplite://memory or hoplite:///path.")
    absolute, relative = Path("/" + path.lstrip("/")), Path(path.lstrip("/"))
    return _folder(relative if relative.exists() and not absolute.exists() else absolute)


def of_database(database: Database) -> Target:
    """A database that other code has opened, and will close."""
    return Target(database, _nothing, lambda: of_database(database))


def _nothing() -> None:
    """What is done with a database that other code owns."""


def _folder(path: Path) -> Target:
    place = path.absolute()  # the working directory may change
    database = Database(path)
    return Target(database, database.close, lambda: _folder(place))


def _in_memory(name: str) -> Target:
    return _alone(Database()) if not name else _joined(name, _Shared(Database()))


def _alone(database: Database) -> Target:
    """A database that is its driver's alone. Whoever goes on with a closed driver finds it as it was: libraries close
    drivers that they go on to use."""
    return Target(database, database._rest, lambda: _alone(database))


def _joined(name: str, own: _Shared) -> Target:
    """The database of a name, or this one where there is none of that name."""
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
