"""Hoplite, the SQLite of Cypher: open a graph in the process and run the Cypher that Neo4j runs.

    import hoplite

    db = hoplite.open()
    db.run("CREATE (:Drug {name: 'Aspirin'})-[:TREATS]->(:Disease {name: 'Headache'})")
    db.run("MATCH (d:Drug)-[:TREATS]->(x) RETURN d.name, x.name").data()

Importing this loads nothing heavy: names are resolved when they are first used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hoplite.api.database import Database, Session, Transaction
    from hoplite.api.recovery import Recovery, recover
    from hoplite.api.result import Result
    from hoplite.differ.run import diff
    from hoplite.driver import AsyncGraphDatabase, GraphDatabase, install_driver, uninstall_driver
    from hoplite.sample import load_sample

__all__ = [
    "AsyncGraphDatabase",
    "Database",
    "GraphDatabase",
    "Recovery",
    "Result",
    "Session",
    "Transaction",
    "__version__",
    "diff",
    "import_neo4j",
    "install_driver",
    "load_sample",
    "open",
    "recover",
    "uninstall_driver",
]

__version__ = "0.1.0"

# In a source tree the stages lie beside this folder. The links to them in here serve type checkers, and a clone without
# symbolic links (git's default on Windows), a zip archive and an unpacked sdist come without them.
if not os.path.isdir(os.path.join(__path__[0], "engine")):
    __path__.append(os.path.dirname(__path__[0]))

_HOMES = {
    "Database": "hoplite.api.database",
    "Session": "hoplite.api.database",
    "Transaction": "hoplite.api.database",
    "Result": "hoplite.api.result",
    "diff": "hoplite.differ.run",
    "load_sample": "hoplite.sample",
    "recover": "hoplite.api.recovery",
    "Recovery": "hoplite.api.recovery",
    "GraphDatabase": "hoplite.driver",
    "AsyncGraphDatabase": "hoplite.driver",
    "install_driver": "hoplite.driver",
    "uninstall_driver": "hoplite.driver",
}


def open(path: Any = None, **settings: Any) -> Database:
    """Open a database: in memory without a path. Settings are those of `hoplite.Database`."""
    from hoplite.api.database import Database

    return Database(path, **settings)


def import_neo4j(server: Any, db: Database | None = None, **settings: Any) -> Database:
    """A database with the graph of a live Neo4j, given as a URI or an open driver; see `Database.import_neo4j`.

    Warns where the server's graph changed while it was read, and where an import that was interrupted could not be
    taken up again.
    """
    import warnings

    filled = open() if db is None else db
    done = filled.import_neo4j(server, **settings)
    for change in done.changes:
        warnings.warn(f"The graph changed while it was imported: {change}", stacklevel=2)
    for note in done.notes:
        warnings.warn(note, stacklevel=2)
    return filled


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'hoplite' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)
