"""Hoplite, the SQLite of Cypher: open a graph in your process and run the Cypher that Neo4j runs.

    import hoplite

    db = hoplite.open()
    db.run("CREATE (:Drug {name: 'Aspirin'})-[:TREATS]->(:Disease {name: 'Headache'})")
    db.run("MATCH (d:Drug)-[:TREATS]->(x) RETURN d.name, x.name").data()

Importing this loads nothing heavy: names are resolved on first use.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from hoplite.collector import held_back

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hoplite.api.database import Database
    from hoplite.api.recovery import Recovery, recover
    from hoplite.api.result import Result
    from hoplite.api.transaction import Session, Transaction
    from hoplite.api.transfers import Progress
    from hoplite.differ.run import diff
    from hoplite.driver import AsyncGraphDatabase, GraphDatabase, install_driver, uninstall_driver
    from hoplite.engine.hops.select import BackendName
    from hoplite.sample import load_sample
    from hoplite.server import serve
    from hoplite.storage.disk.graph import Durability

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
    "serve",
    "uninstall_driver",
]

__version__ = "0.1.0"

# In a source tree the stages are next to this folder. The links to them in here only serve type checkers; a clone
# without symbolic links (git's default on Windows), a zip archive and an unpacked sdist do not have them.
if not os.path.isdir(os.path.join(__path__[0], "engine")):
    __path__.append(os.path.dirname(__path__[0]))

_HOMES = {
    "Database": "hoplite.api.database",
    "Session": "hoplite.api.transaction",
    "Transaction": "hoplite.api.transaction",
    "Result": "hoplite.api.result",
    "diff": "hoplite.differ.run",
    "load_sample": "hoplite.sample",
    "recover": "hoplite.api.recovery",
    "Recovery": "hoplite.api.recovery",
    "serve": "hoplite.server",
    "GraphDatabase": "hoplite.driver",
    "AsyncGraphDatabase": "hoplite.driver",
    "install_driver": "hoplite.driver",
    "uninstall_driver": "hoplite.driver",
}


def open(
    path: str | os.PathLike[str] | None = None,
    *,
    timeout: float | None = None,
    max_rows: int | None = None,
    read_only: bool = False,
    partitions: int | None = None,
    backend: BackendName = "auto",
    device: str | None = None,
    import_folder: str | os.PathLike[str] | None = None,
    lenient: bool = False,
    memory: str | int | None = None,
    query_memory: str | int | None = None,
    max_text_length: int = 20_000_000,
    max_tokens: int = 200_000,
    max_nesting: int = 150,
    durability: Durability | None = None,
) -> Database:
    """Open a database: in memory without a path or with ":memory:", else in that folder, which is created if it does
    not exist.

    timeout         seconds that a statement may take, parsing included
    max_rows        rows that a statement may return
    read_only       refuse statements that write
    partitions      parts that the graph is held in
    backend         the kernels that run hops: "auto", "numba", "numpy", "scipy" or "torch"
    device          where Torch runs: "cpu", "cuda", "cuda:1"
    import_folder   the folder that LOAD CSV and APOC may read from, and APOC write to; without one they may do neither
    lenient         accept the Cypher that language models write: fences, prose around it, small slips
    memory          how much of a database on disk is held at once, such as "512MB"
    query_memory    how much a statement may hold while it sorts, joins and aggregates
    max_text_length, max_tokens, max_nesting
                    bounds of the text of a statement
    durability      "full": a commit is on the disk before it is acknowledged; "relaxed" leaves that to the system

    `hoplite.Database` documents each of them.
    """
    with held_back():
        from hoplite.api.database import Database

    return Database(
        path,
        timeout=timeout,
        max_rows=max_rows,
        read_only=read_only,
        partitions=partitions,
        backend=backend,
        device=device,
        import_folder=import_folder,
        lenient=lenient,
        memory=memory,
        query_memory=query_memory,
        max_text_length=max_text_length,
        max_tokens=max_tokens,
        max_nesting=max_nesting,
        durability=durability,
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def import_neo4j(
    server: Any,
    db: Database | None = None,
    *,
    auth: Any = None,
    database: str | None = None,
    labels: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    progress: Progress | None = None,
    staging: str | os.PathLike[str] | None = None,
    batch: int = 5_000,
    patience_seconds: float = 30.0,
) -> Database:
    """A database with the graph of a live Neo4j, given as a URI or an open driver; see `Database.import_neo4j`.

    Warns if the server's graph changed while it was read, and if an interrupted import could not be resumed.
    """
    import warnings

    filled = open() if db is None else db
    done = filled.import_neo4j(
        server,
        auth=auth,
        database=database,
        labels=labels,
        types=types,
        progress=progress,
        staging=staging,
        batch=batch,
        patience_seconds=patience_seconds,
    )
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

    with held_back():
        return getattr(import_module(home), name)
