"""A live Neo4j: nodes, relationships, indexes and constraints come over Bolt, one bulk load comes out.

The numbers of all wanted nodes are read first, then their labels and properties a batch of numbers at a time, then
relationships in the same way. A batch that fails because the server is away for a moment is asked for again, so a
restart half way costs nothing; a server that stays away ends the import, and nothing of it remains. Neo4j isolates
no long reading from writers: what was deleted, added or moved meanwhile is found by comparing counts, and reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from hoplite.errors import EXTERNAL_RESOURCE_FAILED, CypherError
from hoplite.storage.bulk import BulkLoad
from hoplite.storage.cells import Cells
from hoplite.storage.graph import Graph
from hoplite.storage.importers.lines import Progress
from hoplite.storage.importers.source_ids import SourceEntities, SourceIds
from hoplite.storage.property_values import storable
from hoplite.storage.schema import ConstraintKind, Entity, IndexKind
from hoplite.values.columns import Int64s, from_objects
from hoplite.values.driver import from_driver
from hoplite.values.temporal_parse import parse_date, parse_date_time, parse_local_date_time

T = TypeVar("T")

BATCH = 5_000
"""How many nodes or relationships are asked for at once."""
_PATIENCE_SECONDS = 30.0
_FIRST_PAUSE_SECONDS = 0.2
_AUTHENTICATION_CODES = "Neo.ClientError.Security."
# Temporal values that the driver cannot read (years beyond 9999, zones it has no name for) come as text.
_TEXT_READERS: Mapping[str, Callable[[str], Any]] = {
    "DATE": parse_date,
    "LOCAL DATETIME": parse_local_date_time,
    "ZONED DATETIME": lambda text: parse_date_time(text, 0),
}


@dataclass(frozen=True, slots=True)
class Neo4jImport:
    """What an import did. `skipped_rules` are indexes and constraints that there is no counterpart for; `changes`
    says how the server's graph changed meanwhile, and is empty where it did not."""

    nodes: int
    relationships: int
    indexes: int
    constraints: int
    skipped_rules: tuple[str, ...]
    changes: tuple[str, ...]
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
) -> Neo4jImport:
    """Add the graph of a server, given as a URI or an open driver; all of it, or nothing and an error.

    `labels`: only nodes with one of them, and the relationships among those. `types`: only relationships of these.
    """
    began = time.perf_counter()
    with _Source(server, auth, database, patience_seconds) as source:
        wanted = _Wanted(labels, types)
        with graph.bulk() as load:
            reading = _Reading(source, load, wanted, batch, progress)
            nodes = reading.read_nodes()
            relationships = reading.read_relationships()
            indexes, constraints, skipped = _read_rules(source, load, wanted)
            changes = reading.changes()
            load.commit()
    return Neo4jImport(
        len(nodes.ids),
        len(relationships.ids),
        indexes,
        constraints,
        skipped,
        changes,
        SourceIds(nodes, relationships),
        time.perf_counter() - began,
    )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which part of the graph is asked for, as patterns."""

    labels: Sequence[str] | None
    types: Sequence[str] | None

    @property
    def node(self) -> str:
        return f"(n{_any_of(self.labels)})"

    @property
    def relationship(self) -> str:
        end = f"({_any_of(self.labels)})"
        return f"{end}-[n{_any_of(self.types)}]->{end}"

    def covers(self, entity: Entity, names: Sequence[str]) -> bool:
        """Whether a rule about these labels or types matters."""
        chosen = self.labels if entity is Entity.NODE else self.types
        return chosen is None or not set(chosen).isdisjoint(names)


def _any_of(names: Sequence[str] | None) -> str:
    return "" if names is None else ":" + "|".join(_quoted(name) for name in names)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


class _Source:
    """A server that is asked again while it is away for a moment, and whose failures are told in words."""

    def __init__(self, server: Any, auth: Any, database: str | None, patience_seconds: float) -> None:
        from neo4j import GraphDatabase
        from neo4j.exceptions import ConfigurationError

        self._is_own = isinstance(server, str)
        self._name = server if isinstance(server, str) else "the given driver's server"
        try:
            self._driver = GraphDatabase.driver(server, auth=auth) if self._is_own else server
        except (ConfigurationError, ValueError) as error:
            raise CypherError(EXTERNAL_RESOURCE_FAILED, f"{server} is no address of a Neo4j: {error}") from error
        self._database = database
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

    def ask(self, query: str, consume: Callable[[Any], T], parameters: Mapping[str, Any]) -> T:
        """What `consume` makes of a result; it is called again if the server went away half way."""
        from neo4j.exceptions import AuthError, DriverError, Neo4jError

        # A server that never answered is not waited for: it is more likely not there than just restarting.
        deadline = time.monotonic() + (self._patience_seconds if self._has_answered else 0)
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                with self._session() as session:
                    answer = consume(session.run(query, dict(parameters)))
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
                    went = "went away half way" if self._has_answered else "cannot be reached"
                    raise self._failure(None, f"{went}: {error}") from error
                time.sleep(pause)
                pause = min(2 * pause, 5.0)

    def _session(self) -> Any:
        # Numbers of nodes are asked for with id(), which the server would warn about each time.
        return self._driver.session(
            database=self._database, default_access_mode="READ", notifications_min_severity="OFF"
        )

    def _failure(self, code: str | None, reason: str) -> CypherError:
        kept = code if code is not None and code.startswith(_AUTHENTICATION_CODES) else EXTERNAL_RESOURCE_FAILED
        return CypherError(kept, f"{self._name} {reason}\nNothing was imported.")


class _Reading:
    """Reads nodes and relationships into a bulk load, in the order of their numbers at the source."""

    def __init__(self, source: _Source, load: BulkLoad, wanted: _Wanted, batch: int, progress: Progress | None) -> None:
        self._source = source
        self._load = load
        self._wanted = wanted
        self._batch = batch
        self._progress = progress
        self._node_numbers = self._numbers(wanted.node)
        self._relationship_numbers = self._numbers(wanted.relationship)
        self._nodes = SourceEntities(load.first_node_id, self._node_numbers[:0], "")
        self._positions = self._node_numbers[:0]
        self._relationship_count = 0
        self._cut_off = 0
        self._done = 0

    def _numbers(self, pattern: str) -> Int64s:
        def consume(result: Any) -> Int64s:
            return np.fromiter((record[0] for record in result), np.int64)

        return np.sort(self._source.ask(f"MATCH {pattern} RETURN id(n)", consume, {}))

    def read_nodes(self) -> SourceEntities:
        """Add the nodes."""
        query = "MATCH (n) WHERE id(n) = number RETURN number, labels(n) AS labels, properties(n) AS properties"
        numbers: list[Int64s] = []
        positions: list[Int64s] = []
        row = 0
        for records in self._batches(query, self._node_numbers):
            positions.append(self._load.add_mixed_nodes(tuple(record["labels"]) for record in records))
            self._add_cells("(n)", records, row, self._load.add_node_cells)
            numbers.append(_integers(records, "number"))
            row += len(records)
        self._positions = _joined(positions)
        ids = _joined(numbers)
        self._nodes = SourceEntities(self._load.first_node_id, ids, self._prefix("(n)", ids))
        return self._nodes

    def read_relationships(self) -> SourceEntities:
        """Add the relationships whose ends were read."""
        query = (
            "MATCH (a)-[n]->(b) WHERE id(n) = number "
            "RETURN number, type(n) AS type, id(a) AS start, id(b) AS end, properties(n) AS properties"
        )
        numbers: list[Int64s] = []
        row = 0
        for records in self._batches(query, self._relationship_numbers):
            starts = self._positions_of(_integers(records, "start"))
            ends = self._positions_of(_integers(records, "end"))
            whole = (starts >= 0) & (ends >= 0)
            if not whole.all():
                self._cut_off += int((~whole).sum())
                records = [record for record, kept in zip(records, whole.tolist(), strict=True) if kept]
                starts, ends = starts[whole], ends[whole]
            self._load.add_mixed_relationships((record["type"] for record in records), starts, ends)
            self._add_cells("()-[n]->()", records, row, self._load.add_relationship_cells)
            numbers.append(_integers(records, "number"))
            row += len(records)
        self._relationship_count = row
        ids = _joined(numbers)
        return SourceEntities(self._load.first_relationship_id, ids, self._prefix("()-[n]->()", ids))

    def changes(self) -> tuple[str, ...]:
        """How the graph of the source changed while it was read, as far as counts tell."""
        found: list[str] = []
        read = {"nodes": len(self._nodes.ids), "relationships": self._relationship_count}
        before = {"nodes": len(self._node_numbers), "relationships": len(self._relationship_numbers)}
        for noun, pattern in (("nodes", self._wanted.node), ("relationships", self._wanted.relationship)):
            after = self._source.rows(f"MATCH {pattern} RETURN count(n)")[0][0]
            if not before[noun] == read[noun] == after:
                found.append(f"{before[noun]} {noun} before the import, {after} after it, {read[noun]} imported")
        if self._cut_off:
            found.append(f"{self._cut_off} relationships lead to nodes that were added meanwhile, and were left out")
        if len(self._nodes.ids) and self._prefix("(n)", self._nodes.ids) not in ("", self._nodes.prefix):
            raise CypherError(
                EXTERNAL_RESOURCE_FAILED,
                "The server came back with another database half way.\nNothing was imported.",
            )
        return tuple(found)

    def _batches(self, query: str, numbers: Int64s) -> Iterator[list[_Row]]:
        for first in range(0, len(numbers), self._batch):
            asked = numbers[first : first + self._batch].tolist()
            yield self._source.ask(f"UNWIND $numbers AS number {query}", _rows, {"numbers": asked})
            self._done += len(asked)
            if self._progress is not None:
                self._progress(self._done, len(self._node_numbers) + len(self._relationship_numbers))

    def _positions_of(self, numbers: Int64s) -> Int64s:
        """Where the nodes with these numbers are; -1 for those that were not read."""
        ids = self._nodes.ids
        if not len(ids):
            return np.full(len(numbers), -1, np.int64)
        slots = np.minimum(np.searchsorted(ids, numbers), len(ids) - 1)
        return np.where(ids[slots] == numbers, self._positions[slots], -1)

    def _prefix(self, pattern: str, ids: Int64s) -> str:
        """What an element id has before its number."""
        if not len(ids):
            return ""
        rows = self._source.rows(f"MATCH {pattern} WHERE id(n) = $number RETURN elementId(n)", number=int(ids[0]))
        element_id = rows[0][0] if rows else ""
        return str(element_id.removesuffix(str(ids[0])))

    def _add_cells(self, pattern: str, records: list[_Row], first: int, add: Callable[[str, Cells], None]) -> None:
        rows: dict[str, list[int]] = {}
        values: dict[str, list[Any]] = {}
        for row, record in enumerate(records, first):
            properties = record["properties"]
            if properties is None:
                properties = self._properties_as_text(pattern, record["number"])
            for key, value in properties.items():
                rows.setdefault(key, []).append(row)
                values.setdefault(key, []).append(storable(from_driver(value)))
        for key, column in values.items():
            add(key, Cells(np.array(rows[key], np.int64), from_objects(column)))

    def _properties_as_text(self, pattern: str, number: int) -> dict[str, Any]:
        """The properties of an entity with a value that the driver has no type for."""
        query = (
            f"MATCH {pattern} WHERE id(n) = $number UNWIND keys(n) AS key "
            "RETURN key, n[key] AS value, valueType(n[key]) AS type, "
            "CASE WHEN valueType(n[key]) STARTS WITH 'LIST' THEN toStringList(n[key]) ELSE toStringOrNull(n[key]) END "
            "AS text"
        )
        return dict(self._source.ask(query, _values_or_texts, {"number": number}))


_Row = dict[str, Any]


def _rows(result: Any) -> list[_Row]:
    """Records as dicts, by number; the properties are None where the driver cannot read one of them."""
    rows = [dict(record.items()) for record in result]
    for row in rows:
        if any(map(_is_broken, row["properties"].values())):
            row["properties"] = None
    rows.sort(key=lambda row: int(row["number"]))
    return rows


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
    """Whether the driver put a marker in place of a value, or of one in a list."""
    if type(value) is list:
        return any(map(_is_broken, value))
    return type(value).__name__ == "BrokenHydrationObject"


def _integers(records: list[_Row], name: str) -> Int64s:
    return np.fromiter((record[name] for record in records), np.int64, len(records))


def _joined(parts: list[Int64s]) -> Int64s:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


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
