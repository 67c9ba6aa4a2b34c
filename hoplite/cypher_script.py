"""Cypher scripts: a graph written down as statements that make it, and scripts run as one transaction.

An exported script runs on Neo4j, too (`cypher-shell -f graph.cypher`). Nodes carry a label and a number of the script's
own while relationships are made, and lose them at the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from hoplite.cli.statements import split_statements
from hoplite.storage.exporters.files import whole_file
from hoplite.storage.exporters.rows import NodeRow, RelationshipRow, node_rows, relationship_rows
from hoplite.storage.importers.lines import Progress, numbered_lines
from hoplite.storage.schema import Constraint, Entity, Index, IndexKind
from hoplite.storage.snapshot import Snapshot
from hoplite.values.floats import float_text
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

if TYPE_CHECKING:
    from hoplite.database import Database

_BATCH_ROWS = 200
_LABEL, _ID, _RULE = "`UNIQUE IMPORT LABEL`", "`UNIQUE IMPORT ID`", "`UNIQUE IMPORT NAME`"
_FUNCTIONS: Mapping[type, str] = {
    Date: "date",
    LocalTime: "localtime",
    Time: "time",
    LocalDateTime: "localdatetime",
    DateTime: "datetime",
}


def import_cypher(db: Database, path: str | os.PathLike[str], progress: Progress | None = None) -> dict[str, int]:
    """Run the statements of a file (plain or gzip) in one transaction: all of them, or none.

    Lines of cypher-shell's own (`:begin`, `:param`) are passed over. How many nodes and relationships were created.
    """
    lines = (text for _, text in numbered_lines(os.fspath(path), progress, keep_blank=True))
    made = {"nodes": 0, "relationships": 0}
    with db.begin() as transaction:
        for statement in _statements(lines):
            result = transaction.run(statement)
            for _ in result:  # what a statement returns is not wanted, but its errors are
                pass
            counters = result.consume().counters
            made["nodes"] += counters.nodes_created
            made["relationships"] += counters.relationships_created
    return made


def _statements(lines: Iterable[str]) -> Iterator[str]:
    pending = ""
    for line in lines:
        if line.startswith(":"):
            statements, pending = split_statements(pending)
            yield from statements
            if not pending:
                continue
        pending += line + "\n"
        # Where a line ends in a semicolon a statement may end; those inside of it are looked at then. Looking at every
        # one of a long statement, whose texts may be full of them, would read it over and over.
        if line.rstrip().endswith(";"):
            statements, pending = split_statements(pending)
            yield from statements
    statements, pending = split_statements(pending)
    yield from statements
    if pending.strip():
        yield pending.strip()


def export_cypher(snapshot: Snapshot, path: str | os.PathLike[str], progress: Progress | None = None) -> dict[str, Any]:
    """Write a script (gzip where its name ends in .gz); how much there was, and under `notes` what was left out."""
    total, done = snapshot.node_count + snapshot.relationship_count, 0
    notes: set[str] = set()
    with whole_file(path) as stream:
        stream.write(f"CREATE CONSTRAINT {_RULE} FOR (n:{_LABEL}) REQUIRE n.{_ID} IS UNIQUE;\n")
        rules: tuple[Constraint | Index, ...] = (*snapshot.schema.constraints, *snapshot.schema.indexes)
        for rule in rules:
            if statement := _rule(rule):
                stream.write(f"{statement};\n")
        batches = chain(
            _batches(node_rows(snapshot), lambda row: row.labels, _nodes),
            _batches(relationship_rows(snapshot), lambda row: row.type, _relationships),
        )
        for count, make, rows in batches:
            stream.write(f"{make(rows, notes)};\n")
            done += count
            if progress is not None:
                progress(done, total)
        stream.write(f"MATCH (n:{_LABEL}) REMOVE n:{_LABEL} REMOVE n.{_ID};\n")
        stream.write(f"DROP CONSTRAINT {_RULE};\n")
    counts = {"nodes": snapshot.node_count, "relationships": snapshot.relationship_count}
    return {**counts, "notes": sorted(notes)}


def _batches(rows: Iterable[Any], kind: Any, make: Any) -> Iterator[tuple[int, Any, list[Any]]]:
    """Rows of one kind together, however they come: a batch is handed over when it is full, the rest at the end."""
    waiting: dict[Any, list[Any]] = {}
    for row in rows:
        batch = waiting.setdefault(kind(row), [])
        batch.append(row)
        if len(batch) == _BATCH_ROWS:
            yield len(batch), make, waiting.pop(kind(row))
    for batch in waiting.values():
        yield len(batch), make, batch


def _nodes(rows: list[NodeRow], notes: set[str]) -> str:
    labels = "".join(f":{_name(label)}" for label in rows[0].labels)
    items = ",\n  ".join(f"{{id: {row.id}, properties: {_map(row.properties, notes)}}}" for row in rows)
    given = f" SET n{labels}" if labels else ""
    return f"UNWIND [\n  {items}\n] AS row\nCREATE (n:{_LABEL} {{{_ID}: row.id}}) SET n += row.properties{given}"


def _relationships(rows: list[RelationshipRow], notes: set[str]) -> str:
    items = ",\n  ".join(
        f"{{start: {row.start}, end: {row.end}, properties: {_map(row.properties, notes)}}}" for row in rows
    )
    return (
        f"UNWIND [\n  {items}\n] AS row\nMATCH (a:{_LABEL} {{{_ID}: row.start}})\n"
        f"MATCH (b:{_LABEL} {{{_ID}: row.end}})\n"
        f"CREATE (a)-[r:{_name(rows[0].type)}]->(b) SET r += row.properties"
    )


def _map(properties: Mapping[str, Any], notes: set[str]) -> str:
    entries = []
    for key, value in properties.items():
        if isinstance(value, bytes):
            notes.add(f"{key}: Cypher has no literal for bytes")
        else:
            entries.append(f"{_name(key)}: {literal(value)}")
    return "{" + ", ".join(entries) + "}"


def literal(value: Any) -> str:
    """A value as a Cypher expression."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return float_text(value)
        case str():
            return _string(value)
        case list():
            return "[" + ", ".join(map(literal, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{_name(key)}: {literal(item)}" for key, item in value.items()) + "}"
        case Duration():
            parts = {
                "months": value.months,
                "days": value.days,
                "seconds": value.seconds,
                "nanoseconds": value.nanoseconds,
            }
            return f"duration({literal(parts)})"
        case Point():
            axes = dict(zip("xyz", value.coordinates, strict=False))
            return f"point({literal({**axes, 'srid': value.srid})})"
    return f"{_FUNCTIONS[type(value)]}({_string(str(value))})"


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _rule(rule: Constraint | Index) -> str | None:
    """The statement that makes an index or a constraint; None for what is there without one."""
    is_node = rule.entity is Entity.NODE
    labels = "|".join(map(_name, rule.labels))
    pattern = f"(n:{labels})" if is_node else f"()-[n:{labels}]-()"
    keys = ", ".join(f"n.{_name(key)}" for key in rule.keys)
    if isinstance(rule, Constraint):
        return f"CREATE CONSTRAINT {_name(rule.name)} FOR {pattern} REQUIRE ({keys}) IS UNIQUE"
    if rule.kind is IndexKind.LOOKUP or rule.owning_constraint is not None:
        return None
    on = f"EACH [{keys}]" if rule.kind is IndexKind.FULLTEXT else f"({keys})"
    config = f" OPTIONS {{indexConfig: {literal(dict(rule.config))}}}" if rule.config else ""
    return f"CREATE {rule.kind.value} INDEX {_name(rule.name)} FOR {pattern} ON {on}{config}"
