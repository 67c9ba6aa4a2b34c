"""A hook for libraries that create their own driver: `neo4j.GraphDatabase.driver("hoplite://...")` works."""

from __future__ import annotations

from typing import Any

import neo4j

from hoplite.driver.graph_database import AsyncGraphDatabase, GraphDatabase
from hoplite.driver.target import is_ours

_before: dict[type, Any] = {}  # the driver package's functions while ours replace them


def install_driver() -> None:
    """Let the driver package's entry points open `hoplite://` URLs. Other URLs work as before."""
    _install(neo4j.GraphDatabase, GraphDatabase)
    _install(neo4j.AsyncGraphDatabase, AsyncGraphDatabase)


def uninstall_driver() -> None:
    """Restore the driver package's functions."""
    for entry, function in _before.items():
        entry.driver = function  # type: ignore[attr-defined]
    _before.clear()


def _install(entry: Any, ours: Any) -> None:
    if entry in _before:
        return
    original = _before[entry] = entry.__dict__["driver"]

    def driver(cls: Any, /, uri: Any, **config: Any) -> Any:
        if is_ours(uri):
            return ours.driver(uri, **config)
        return original.__func__(cls, uri, **config)

    driver.__doc__ = original.__func__.__doc__
    entry.driver = classmethod(driver)
