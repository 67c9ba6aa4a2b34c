"""The official driver's API without Bolt: its sessions, transactions and results over a database in the process.

    from hoplite import GraphDatabase

    with GraphDatabase.driver("hoplite://memory") as driver:
        records, summary, keys = driver.execute_query("RETURN 1 AS one")

The driver package talks to a server through connections that it takes from a pool. Here the pool provides connections
whose other end is a `Conversation` with a `hoplite.Database`; everything above them is the driver's code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hoplite.driver.graph_database import AsyncDriver, AsyncGraphDatabase, Driver, GraphDatabase
    from hoplite.driver.install import install_driver, uninstall_driver

__all__ = ["AsyncDriver", "AsyncGraphDatabase", "Driver", "GraphDatabase", "install_driver", "uninstall_driver"]


def __getattr__(name: str) -> Any:
    """The driver package is imported when a driver is requested: a server uses conversations without it."""
    if name not in __all__:
        raise AttributeError(f"module 'hoplite.driver' has no attribute {name!r}")
    from importlib import import_module

    home = "install" if name.endswith("install_driver") else "graph_database"
    return getattr(import_module(f"hoplite.driver.{home}"), name)
