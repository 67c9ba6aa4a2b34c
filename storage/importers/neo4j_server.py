"""A live Neo4j: nodes, relationships, indexes and constraints are read over Bolt, one bulk load comes out.

The ids of all wanted nodes are read first, then their labels and properties a batch of ids at a time, then
relationships in the same way. A batch that fails because the server is briefly unavailable is requested again, so a
restart halfway costs nothing. If the server stays unavailable, the import ends without changing the database; but
batches are stored in a file (`fetched.py`), and the same import starts with them, as long as it would request the same
ids. Neo4j does not isolate long reads from writers: what was deleted, added or moved meanwhile is found by comparing
counts, and reported.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hoplite.errors import EXTERNAL_RESOURCE_FAILED, CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.bulk import BulkLoad
from hoplite.storage.cells import Cells
from hoplite.storage.disk.graph import DiskGraph
from hoplite.storage.graph import Graph
from hoplite.storage.importers.fetched import FetchedBatch, FetchedFile, fetched_path
from hoplite.storage.importers.lines import Progress
from hoplite.storage.importers.source_ids import SourceEntities, SourceIds
from hoplite.storage.property_values import storable
from hoplite.storage.schema import ConstraintKind, Entity, IndexKind
from hoplite.values.columns import Int64s, from_objects
from hoplite.values.driver import from_driver
from hoplite.values.temporal_parse import parse_date, parse_date_time, parse_local_date_time

T = TypeVar("T")

BATCH = 5_000
"""How many nodes or relationships are requested at once."""
_PATIENCE_SECONDS = 30.0
_FIRST_PAUSE_SECONDS = 0.2
_AUTHENTICATION_CODES = "Neo.ClientError.Security."
# Temporal values that the driver cannot read (years beyond 9999, zones it has no name for) are read as text.
_TEXT_READERS: Mapping[str, Callable[[str], Any]] = {
    "DATE": parse_date,
    "LOCAL DATETIME": parse_local_date_time,
    "ZONED DATETIME": lambda text: parse_date_time(text, 0),
}


@dataclass(frozen=True, slots=True)
class Neo4jImport:
    """What an import did. `skipped_rules` are indexes and constraints that have no counterpart here; `changes` says how
    the server's graph changed meanwhile, and is empty if it did not. `kept_batches` had been fetched by an import that
    was interrupted; `notes` say why other stored batches could not be used."""

    nodes: int
    relationships: int
    indexes: int
    constraints: int
    skipped_rules: tuple[str, ...]
    changes: tuple[str, ...]
    notes: tuple[str, ...]
    kept_batches: int
    fetched_batches: int
    source_ids: SourceIds
    seconds: float


def import_neo4j(
    graph: Graph,
    server: Any,
    *,
    auth: Any = None,
    database: str | None = None,
    labels: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    batch: int = BATCH,
    patience_seconds: float = _PATIENCE_SECONDS,
    progress: Progress | None = None,
    staging: str | os.PathLike[str] | None = None,
) -> Neo4jImport:
    """Add the graph of a server, given as a URI or an open driver: all of it, or nothing and an error.

    `labels`: only nodes with one of them, and the relationships among those. `types`: only relationships of these
    types. `staging`: the file that stores what was fetched until the import is complete. By default this is next to the
    folder of a database on disk; a database in memory has none.
    """
    began = time.perf_counter()
    is_on_disk = isinstance(graph, DiskGraph)
    place = Path(staging) if staging is not None else fetched_path(graph.root) if isinstance(graph, DiskGraph) else None
    wanted = _Wanted(labels, types)
    with _Source(server, auth, database, patience_seconds) as source, graph.bulk() as load:
        asked = _ask(source, wanted, load.snapshot.version if is_on_disk else None)
        with nullcontext() if place is None else closing(FetchedFile(place)) as fetched:
            notes = [] if fetched is None else _take_up(fetched, asked.description)
            source.fetched = fetched
            reading = _Reading(source, load, wanted, asked, batch, progress)
            nodes = reading.read_nodes()
            relationships = reading.read_relationships()
            if wanted.is_everything:
                load.name_first(*(_names(source, kind) for kind in ("labels", "relationshipTypes", "propertyKeys")))
            indexes, constraints, skipped = _read_rules(source, load, wanted)
            changes = reading.changes()
            if fetched is not None:
                notes += [] if fetched.problem is None else [fetched.problem]
                if not reading.fetched_batches:
                    _refuse_if_complete(fetched, asked)
            _commit(load, fetched)
    return Neo4jImport(
        len(nodes.ids),
        len(relationships.ids),
        indexes,
        constraints,
        skipped,
        changes,
        tuple(notes),
        reading.kept_batches,
        reading.fetched_batches,
        SourceIds(nodes, relationships),
        time.perf_counter() - began,
    )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The part of the graph to import, as patterns."""

    labels: Sequence[str] | None
    types: Sequence[str] | None

    @property
    def is_everything(self) -> bool:
        """Whether the whole graph is to be imported."""
        return self.labels is None and self.types is None

    @property
    def node(self) -> str:
        return f"(n{_any_of(self.labels)})"

    @property
    def relationship(self) -> str:
        end = f"({_any_of(self.labels)})"
        return f"{end}-[n{_any_of(self.types)}]->{end}"

    def covers(self, entity: Entity, names: Sequence[str]) -> bool:
        """Whether a schema rule about these labels or types is relevant."""
        chosen = self.labels if entity is Entity.NODE else self.types
        return chosen is None or not set(chosen).isdisjoint(names)


def _any_of(names: Sequence[str] | None) -> str:
    return "" if names is None else ":" + "|".join(_quoted(name) for name in names)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """The ids of everything wanted, and what distinguishes this import from others."""

    nodes: Int64s
    relationships: Int64s
    description: Mapping[str, Any]


def _ask(source: _Source, wanted: _Wanted, commits: int | None) -> _Asked:
    """What to fetch, for a database after `commits` commits."""
    nodes, relationships = source.numbers(wanted.node), source.numbers(wanted.relationship)
    return _Asked(
        nodes,
        relationships,
        {
            "server": source.name,
            "database": source.database,
            "labels": None if wanted.labels is None else sorted(set(wanted.labels)),
            "types": None if wanted.types is None else sorted(set(wanted.types)),
            "store": source.prefix("(n)", nodes),
            "nodes": [len(nodes), hashlib.sha256(nodes.tobytes()).hexdigest()],
            "relationships": [len(relationships), hashlib.sha256(relationships.tobytes()).hexdigest()],
            "moment": source.moment,
            "commits": commits,
        },
    )


_MUST_AGREE = ("server", "database", "labels", "types", "store", "nodes", "relationships")


def _take_up(fetched: FetchedFile, description: Mapping[str, Any]) -> list[str]:
    """Keep what is stored if it was fetched for the same import, else start over; returns the reason."""
    kept = fetched.description
    others = [key for key in _MUST_AGREE if kept.get(key) != description[key]]
    if not others:
        return []
    fetched.start_over(description)
    if not kept:
        return []

    def shown(value: Any) -> Any:
        return value[0] if others[0] in ("nodes", "relationships") and isinstance(value, list) and value else value

    then, now = shown(kept.get(others[0])), shown(description[others[0]])
    return [f"started over: {fetched.path} kept an import with another `{others[0]}` ({then} then, {now} now)"]


def _commit(load: BulkLoad, fetched: FetchedFile | None) -> None:
    """Commit the graph to the database; the stored batches are removed then, unless this fails."""
    try:
        load.commit()
    except Exception:
        if fetched is not None and not fetched.is_empty:
            fetched.forget_last()
        raise
    if fetched is not None:
        fetched.remove()


def _refuse_if_complete(fetched: FetchedFile, asked: _Asked) -> None:
    """Everything had been fetched, so the previous process may even have committed it."""
    now = asked.description["commits"]
    if now is not None and fetched.description.get("commits") != now and not fetched.is_empty:
        raise CypherError(
            EXTERNAL_RESOURCE_FAILED,
            f"{fetched.path} holds a complete import, and the database was changed since: it may have been completed.\n"
            "Nothing was imported. Remove that file if it was, or to import again from the beginning.",
        )


class _Source:
    """A server that is asked again if it is briefly unavailable, and whose failures are put into words."""

    def __init__(self, server: Any, auth: Any, database: str | None, patience_seconds: float) -> None:
        from neo4j import GraphDatabase
        from neo4j.exceptions import ConfigurationError

        self._is_own = isinstance(server, str)
        self.name: str = server if isinstance(server, str) else "the given driver's server"
        self.database = database
        self.moment = ""  # bookmarks of the latest answer, which do not change while nothing is written
        self.fetched: FetchedFile | None = None  # mentioned when an import fails
        try:
            self._driver = GraphDatabase.driver(server, auth=auth) if self._is_own else server
        except (ConfigurationError, ValueError) as error:
            message = f"{server} is not the address of a Neo4j server: {error}"
            raise CypherError(EXTERNAL_RESOURCE_FAILED, message) from error
        self._patience_seconds = patience_seconds
        self._has_answered = False

    def __enter__(self) -> _Source:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_own:
            self._driver.close()

    def rows(self, query: str, **parameters: Any) -> list[Any]:
        """All records of a reading query."""
        return self.ask(query, list, parameters)

    def numbers(self, pattern: str) -> Int64s:
        """The ids of all entities `n` of a pattern, ascending."""

        def consume(result: Any) -> Int64s:
            return np.fromiter((record[0] for record in result), np.int64)

        return np.sort(self.ask(f"MATCH {pattern} RETURN id(n)", consume, {}))

    def prefix(self, pattern: str, ids: Int64s) -> str:
        """The part of an element id before its number."""
        if not len(ids):
            return ""
        rows = self.rows(f"MATCH {pattern} WHERE id(n) = $number RETURN elementId(n)", number=int(ids[0]))
        element_id = rows[0][0] if rows else ""
        return str(element_id.removesuffix(str(ids[0])))

    def ask(self, query: str, consume: Callable[[Any], T], parameters: Mapping[str, Any]) -> T:
        """What `consume` makes of a result; it is called again if the server went away halfway."""
        from neo4j.exceptions import AuthError, DriverError, Neo4jError

        # A server that has never answered is not waited for: it is probably absent rather than restarting.
        deadline = time.monotonic() + (self._patience_seconds if self._has_answered else 0)
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                with self._session() as session:
                    answer = consume(session.run(query, dict(parameters)))
                    self.moment = " ".join(sorted(session.last_bookmarks().raw_values))
                self._has_answered = True
                return answer
            except AuthError as error:
                raise self._failure(error.code, f"refused the credentials: {error.message}") from error
            except (DriverError, Neo4jError) as error:
                if not error.is_retryable():
                    code = getattr(error, "code", None)
                    text = getattr(error, "message", None) or str(error)
                    raise self._failure(code, f"could not answer: {text}") from error
                if time.monotonic() + pause > deadline:
                    went = "went away halfway" if self._has_answered else "cannot be reached"
                    raise self._failure(None, f"{went}: {error}") from error
                time.sleep(pause)
                pause = min(2 * pause, 5.0)

    def _session(self) -> Any:
        # Nodes are requested by id(), which the server would warn about each time.
        return self._driver.session(
            database=self.database, default_access_mode="READ", notifications_min_severity="OFF"
        )

    def _failure(self, code: str | None, reason: str) -> CypherError:
        kept = code if code is not None and code.startswith(_AUTHENTICATION_CODES) else EXTERNAL_RESOURCE_FAILED
        message = f"{self.name} {reason}\nNothing was imported."
        if self.fetched is not None and not self.fetched.is_empty:
            message += (
                f" What was fetched is kept in {self.fetched.path}: repeat the same import to continue from there."
            )
        return CypherError(kept, message)


@dataclass(frozen=True, slots=True)
class _Kind:
    """Nodes or relationships: the query by id, and the columns it returns."""

    noun: str
    pattern: str
    query: str


_NODES = _Kind("nodes", "(n)", "MATCH (n) WHERE id(n) = number RETURN number, labels(n), properties(n)")
_RELATIONSHIPS = _Kind(
    "relationships",
    "()-[n]->()",
    "MATCH (a)-[n]->(b) WHERE id(n) = number RETURN number, type(n), id(a), id(b), properties(n)",
)
_Row = list[Any]
"""The columns of a `_Kind`: the id is the first, the properties are the last."""


class _Reading:
    """Reads nodes and relationships into a bulk load, in the order of their ids at the source."""

    def __init__(
        self,
        source: _Source,
        load: BulkLoad,
        wanted: _Wanted,
        asked: _Asked,
        batch: int,
        progress: Progress | None,
    ) -> None:
        self._source = source
        self._load = load
        self._wanted = wanted
        self._asked = asked
        self._batch = batch
        self._progress = progress
        self._nodes = SourceEntities(load.first_node_id, asked.nodes[:0], "")
        self._positions = asked.nodes[:0]
        self._relationship_count = 0
        self._cut_off = 0
        self._done = 0
        self.kept_batches = 0
        self.fetched_batches = 0

    def read_nodes(self) -> SourceEntities:
        """Add the nodes."""
        numbers: list[Int64s] = []
        positions: list[Int64s] = []
        row = 0
        for rows in self._batches(_NODES, self._asked.nodes):
            positions.append(self._load.add_mixed_nodes(tuple(labels) for _, labels, _ in rows))
            _add_cells(rows, row, self._load.add_node_cells)
            numbers.append(_integers(rows, 0))
            row += len(rows)
        self._positions = _joined(positions)
        ids = _joined(numbers)
        self._nodes = SourceEntities(self._load.first_node_id, ids, self._source.prefix(_NODES.pattern, ids))
        return self._nodes

    def read_relationships(self) -> SourceEntities:
        """Add the relationships whose ends were read."""
        numbers: list[Int64s] = []
        row = 0
        for rows in self._batches(_RELATIONSHIPS, self._asked.relationships):
            starts = self._positions_of(_integers(rows, 2))
            ends = self._positions_of(_integers(rows, 3))
            whole = (starts >= 0) & (ends >= 0)
            if not whole.all():
                self._cut_off += int((~whole).sum())
                rows = [whole_row for whole_row, kept in zip(rows, whole.tolist(), strict=True) if kept]
                starts, ends = starts[whole], ends[whole]
            self._load.add_mixed_relationships((type for _, type, _, _, _ in rows), starts, ends)
            _add_cells(rows, row, self._load.add_relationship_cells)
            numbers.append(_integers(rows, 0))
            row += len(rows)
        self._relationship_count = row
        ids = _joined(numbers)
        prefix = self._source.prefix(_RELATIONSHIPS.pattern, ids)
        return SourceEntities(self._load.first_relationship_id, ids, prefix)

    def changes(self) -> tuple[str, ...]:
        """How the source graph changed while it was read, as far as counts tell."""
        found: list[str] = []
        read = {"nodes": len(self._nodes.ids), "relationships": self._relationship_count}
        before = {"nodes": len(self._asked.nodes), "relationships": len(self._asked.relationships)}
        for noun, pattern in (("nodes", self._wanted.node), ("relationships", self._wanted.relationship)):
            after = self._source.rows(f"MATCH {pattern} RETURN count(n)")[0][0]
            if not before[noun] == read[noun] == after:
                found.append(f"{before[noun]} {noun} before the import, {after} after it, {read[noun]} imported")
        if self._cut_off:
            found.append(f"{self._cut_off} relationships lead to nodes that were added meanwhile, and were left out")
        fetched = self._source.fetched
        if self.kept_batches and fetched is not None and fetched.description.get("moment") != self._source.moment:
            found.append("the server was written to since the import began: what was kept may be older than the rest")
        prefix = self._source.prefix(_NODES.pattern, self._nodes.ids)
        if len(self._nodes.ids) and prefix not in ("", self._nodes.prefix):
            raise CypherError(
                EXTERNAL_RESOURCE_FAILED,
                "The server came back with another database halfway.\nNothing was imported.",
            )
        return tuple(found)

    def _batches(self, kind: _Kind, numbers: Int64s) -> Iterator[list[_Row]]:
        first = 0
        fetched = self._source.fetched
        while first < len(numbers):
            batch = None if fetched is None else fetched.take(kind.noun, first, numbers[first:])
            if batch is not None:
                self.kept_batches += 1
            else:
                batch = self._fetch(kind, first, numbers[first : first + self._batch].tolist())
                self.fetched_batches += 1
                if fetched is not None:
                    fetched.add(batch)
            first += batch.count
            self._done += batch.count
            yield batch.rows
            if self._progress is not None:
                self._progress(self._done, len(self._asked.nodes) + len(self._asked.relationships))

    def _fetch(self, kind: _Kind, first: int, numbers: list[int]) -> FetchedBatch:
        def consume(result: Any) -> list[_Row]:
            return [list(tuple.__iter__(record)) for record in result]

        rows = self._source.ask(f"UNWIND $numbers AS number {kind.query}", consume, {"numbers": numbers})
        for row in rows:
            if any(map(_is_broken, row[-1].values())):
                row[-1] = self._properties_as_text(kind.pattern, row[0])
            row[-1] = {key: from_driver(value) for key, value in row[-1].items()}
        rows.sort(key=lambda row: int(row[0]))
        return FetchedBatch(kind.noun, first, len(numbers), rows)

    def _positions_of(self, numbers: Int64s) -> Int64s:
        """The positions of the nodes with these ids; -1 for those that were not read."""
        ids = self._nodes.ids
        if not len(ids):
            return np.full(len(numbers), -1, np.int64)
        slots = np.minimum(np.searchsorted(ids, numbers), len(ids) - 1)
        return np.where(ids[slots] == numbers, self._positions[slots], -1)

    def _properties_as_text(self, pattern: str, number: int) -> dict[str, Any]:
        """The properties of an entity with a value that the driver has no type for, read as text."""
        query = (
            f"MATCH {pattern} WHERE id(n) = $number UNWIND keys(n) AS key "
            "RETURN key, n[key] AS value, valueType(n[key]) AS type, "
            "CASE WHEN valueType(n[key]) STARTS WITH 'LIST' THEN toStringList(n[key]) ELSE toStringOrNull(n[key]) END "
            "AS text"
        )
        return dict(self._source.ask(query, _values_or_texts, {"number": number}))


def _add_cells(rows: list[_Row], first: int, add: Callable[[str, Cells], None]) -> None:
    """Add the properties of rows, the first of which has this number in the load."""
    places: dict[str, list[int]] = {}
    values: dict[str, list[Any]] = {}
    for place, row in enumerate(rows, first):
        for key, value in row[-1].items():
            places.setdefault(key, []).append(place)
            values.setdefault(key, []).append(storable(value))
    for key, column in values.items():
        add(key, Cells(np.array(places[key], np.int64), from_objects(column)))


def _values_or_texts(result: Any) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for record in result:
        key, value, kind, text = tuple.__iter__(record)
        if _is_broken(value):
            read = _TEXT_READERS[kind.removesuffix(" NOT NULL").removeprefix("LIST<").removesuffix(" NOT NULL>")]
            value = [read(item) for item in text] if isinstance(text, list) else read(text)
        found.append((key, value))
    return found


def _is_broken(value: Any) -> bool:
    """Whether the driver put a marker in place of the value, or of an item of a list."""
    if type(value) is list:
        return any(map(_is_broken, value))
    return type(value).__name__ == "BrokenHydrationObject"


def _integers(rows: list[_Row], column: int) -> Int64s:
    return np.fromiter((row[column] for row in rows), np.int64, len(rows))


def _joined(parts: list[Int64s]) -> Int64s:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _names(source: _Source, kind: str) -> list[str]:
    """The server's labels, types or keys, in its own order."""
    return [row[0] for row in source.rows(f"CALL db.{kind}()")]


def _read_rules(source: _Source, load: BulkLoad, wanted: _Wanted) -> tuple[int, int, tuple[str, ...]]:
    """How many constraints and indexes were added, and which have no counterpart."""
    constraints, indexes = 0, 0
    skipped: list[str] = []
    known = {kind.value for kind in ConstraintKind}
    for rule in source.rows("SHOW CONSTRAINTS"):
        entity, labels = Entity(rule["entityType"]), rule["labelsOrTypes"]
        if not wanted.covers(entity, labels):
            continue
        if rule["type"] in known:
            constraints += load.add_constraint(rule["name"], entity, labels[0], tuple(rule["properties"]))
        else:
            skipped.append(f"{rule['type']} constraint {rule['name']}")
    for rule in source.rows("SHOW INDEXES YIELD * WHERE type <> 'LOOKUP' AND owningConstraint IS NULL"):
        entity, labels = Entity(rule["entityType"]), tuple(rule["labelsOrTypes"])
        if not wanted.covers(entity, labels):
            continue
        try:
            kind = IndexKind(rule["type"])
            indexes += load.add_index(rule["name"], kind, entity, labels, tuple(rule["properties"]), rule["options"])
        except (ValueError, CypherError) as error:
            skipped.append(f"{rule['type']} index {rule['name']}: {error}")
    return indexes, constraints, tuple(skipped)
