"""`hoplite.diff`: a database, a server and queries go in; a report comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neo4j import Driver, GraphDatabase

from hoplite.differ.answers import HopliteSide, Limits, Neo4jSide
from hoplite.differ.compare import TOLERANCE, Comparison, compare
from hoplite.differ.queries import NamedQuery, as_queries, read_queries
from hoplite.differ.report import Report

if TYPE_CHECKING:
    from hoplite.api.database import Database


def diff(
    db: Database,
    server: Driver | str,
    queries: Iterable[NamedQuery | str | Mapping[str, Any]] | PathLike[str],
    *,
    auth: Any = None,
    database: str | None = None,
    tolerance: float = TOLERANCE,
    notifications: bool = False,
    timeout: float | None = 60.0,
    max_rows: int = 200_000,
    progress: Callable[[int, int | None], None] | None = None,
) -> Report:
    """Run each query on a Hoplite database and on a live Neo4j, and compare. All writes are undone.

    Nodes and relationships are matched through the map that `db.import_neo4j` made; without one, by labels or type and
    properties.
    """
    given = read_queries(Path(queries)) if isinstance(queries, PathLike) else as_queries(queries)
    limits = Limits(timeout, max_rows)
    comparisons: list[Comparison] = []
    opened = GraphDatabase.driver(server, auth=auth) if isinstance(server, str) else nullcontext(server)
    with opened as driver:
        driver.verify_connectivity()
        ours, theirs = HopliteSide(db), Neo4jSide(driver, database, db)
        for number, query in enumerate(given, 1):
            comparisons.append(
                compare(ours, theirs, query.name, query.text, query.parameters, limits, tolerance, notifications)
            )
            if progress is not None:
                progress(number, len(given))
    return Report(tuple(comparisons))
