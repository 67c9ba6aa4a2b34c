"""Hoplite, the SQLite of Cypher: open a graph in the process and run the Cypher that Neo4j runs.

    import hoplite

    db = hoplite.open()
    db.run("CREATE (:Drug {name: 'Aspirin'})-[:TREATS]->(:Disease {name: 'Headache'})")
    db.run("MATCH (d:Drug)-[:TREATS]->(x) RETURN d.name, x.name").data()

Importing this loads nothing heavy: names are resolved when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hoplite.database import Database, Session, Transaction
    from hoplite.engine.result import Result
    from hoplite.sample import load_sample

__all__ = ["Database", "Result", "Session", "Transaction", "__version__", "load_sample", "open"]

__version__ = "0.1.0"

_HOMES = {
    "Database": "hoplite.database",
    "Session": "hoplite.database",
    "Transaction": "hoplite.database",
    "Result": "hoplite.engine.result",
    "load_sample": "hoplite.sample",
}


def open(path: Any = None, **settings: Any) -> Database:
    """Open a database: in memory without a path. Settings are those of `hoplite.Database`."""
    from hoplite.database import Database

    return Database(path, **settings)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'hoplite' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)
