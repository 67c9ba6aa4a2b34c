"""Cypher scripts: a graph written as statements that create it, and scripts run as one transaction.

An exported script also runs on Neo4j (`cypher-shell -f graph.cypher`). Nodes carry a temporary label and number while
relationships are created, and lose them at the end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hoplite.grammar.statements import split_statements
from hoplite.storage.exporters.files import Target, whole_file
from hoplite.storage.exporters.rows import NodeRow, RelationshipRow, node_rows, relationship_rows
from hoplite.storage.importers.lines import Progress, numbered_lines
from hoplite.storage.schema import Constraint, Entity, Index, IndexKind
from hoplite.storage.snapshot import Snapshot
from hoplite.values.floats import float_text
from hoplite.values.spatial import Point
from hoplite.values.temporal import TEMPORAL_FUNCTIONS, Date, DateTime, Duration, LocalDateTime, LocalTime, Time

if TYPE_CHECKING:
    from hoplite.api.result import Result

_BATCH_ROWS = 1000
_BATCH_CHARACTERS = 500_000  # of texts and items of lists
_LABEL, _ID, _RULE = "`UNIQUE IMPORT LABEL`", "`UNIQUE IMPORT ID`", "`UNIQUE IMPORT NAME`"
_FUNCTIONS: Mapping[type, str] = {**TEMPORAL_FUNCTIONS, Point: "point"}
Row = TypeVar("Row", NodeRow, RelationshipRow)


class RunsStatements(Protocol):
    """A transaction, as far as a script needs one."""

    def run(self, query: str, parameters: Mapping[str, Any] | None = None, /) -> Result:
        """Run a statement; it sees what the statements before it wrote."""
        ...


def import_cypher(
    transaction: RunsStatements, path: str | os.PathLike[str], progress: Progress | None = None
) -> dict[str, int]:
    """Run the statements of a file (plain or gzip).

    Commands of cypher-shell (`:begin`, `:param`) are skipped. Returns how many nodes and relationships were created.
    """
    lines = (text for _, text in numbered_lines(os.fspath(path), progress, keep_blank=True))
    made = {"nodes": 0, "relationships": 0}
    for statement in _statements(lines):
        result = transaction.run(statement)
        for _ in result:  # a statement's rows are not wanted, but its errors are
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
        # A statement may end where a line ends in a semicolon; only then is the text searched. Looking at every
        # semicolon of a long statement, whose texts may be full of them, would read it over and over.
        if line.rstrip().endswith(";"):
            statements, pending = split_statements(pending)
            yield from statements
    statements, pending = split_statements(pending)
    yield from statements
    if pending.strip():
        yield pending.strip()


def export_cypher(snapshot: Snapshot, path: Target, progress: Progress | None = None) -> dict[str, Any]:
    """Write a script (gzip if its name ends in .gz); returns its size, and under `notes` what was left out."""
    total, done = snapshot.node_count + snapshot.relationship_count, 0
    notes: set[str] = set()
    with whole_file(path) as stream:
        stream.write(f"CREATE CONSTRAINT {_RULE} FOR (n:{_LABEL}) REQUIRE n.{_ID} IS UNIQUE;\n")
        rules: tuple[Constraint | Index, ...] = (*snapshot.schema.constraints, *snapshot.schema.indexes)
        for rule in rules:
            if made := _rule(rule):
                stream.write(f"{made};\n")
        written = chain(
            ((len(rows), _nodes(rows, notes)) for rows in _batches(node_rows(snapshot), lambda row: row.labels)),
            (
                (len(rows), _relationships(rows, notes))
                for rows in _batches(relationship_rows(snapshot), lambda row: row.type)
            ),
        )
        for count, statement in written:
            stream.write(f"{statement};\n")
            done += count
            if progress is not None:
                progress(done, total)
        stream.write(f"MATCH (n:{_LABEL}) REMOVE n:{_LABEL} REMOVE n.{_ID};\n")
        stream.write(f"DROP CONSTRAINT {_RULE};\n")
    counts = {"nodes": snapshot.node_count, "relationships": snapshot.relationship_count}
    return {**counts, "notes": sorted(notes)}


def _batches(rows: Iterable[Row], kind: Callable[[Row], Hashable]) -> Iterator[list[Row]]:
    """Rows of one kind grouped together, in whatever order they come: a full batch is emitted at once, the rest at the
    end.

    Values of one key that need different functions are of different kinds.
    """
    waiting: dict[Hashable, list[Row]] = {}
    sizes: dict[Hashable, int] = {}
    for row in rows:
        functions = tuple(
            sorted((key, made) for key, value in row.properties.items() if (made := _function(value)) is not None)
        )
        group = (kind(row), functions)
        batch = waiting.setdefault(group, [])
        batch.append(row)
        sizes[group] = sizes.get(group, 0) + sum(
            len(value) for value in row.properties.values() if isinstance(value, str | list)
        )
        if len(batch) == _BATCH_ROWS or sizes[group] > _BATCH_CHARACTERS:
            del sizes[group]
            yield waiting.pop(group)
    yield from waiting.values()


def _nodes(rows: list[NodeRow], notes: set[str]) -> str:
    labels = "".join(f":{_name(label)}" for label in rows[0].labels)
    items, entries = _rows([(row.id,) for row in rows], [row.properties for row in rows], notes)
    properties = ", ".join([f"{_ID}: row[0]", *entries])
    return f"UNWIND [\n{items}\n] AS row\nCREATE (:{_LABEL}{labels} {{{properties}}})"


def _relationships(rows: list[RelationshipRow], notes: set[str]) -> str:
    items, entries = _rows([(row.start, row.end) for row in rows], [row.properties for row in rows], notes)
    properties = f" {{{', '.join(entries)}}}" if entries else ""
    return (
        f"UNWIND [\n{items}\n] AS row\nMATCH (a:{_LABEL} {{{_ID}: row[0]}})\n"
        f"MATCH (b:{_LABEL} {{{_ID}: row[1]}})\nCREATE (a)-[:{_name(rows[0].type)}{properties}]->(b)"
    )


def _rows(ids: list[tuple[int, ...]], maps: list[dict[str, Any]], notes: set[str]) -> tuple[str, list[str]]:
    """Rows of constants, and the map that makes properties of them: a list of constants parses faster than
    expressions."""
    functions: dict[str, str | None] = {}
    for held in maps:
        for key, value in held.items():
            if isinstance(value, bytes):
                notes.add(f"{key}: Cypher has no literal for bytes")
            else:
                functions.setdefault(key, _function(value))
    lines = []
    for numbers, held in zip(ids, maps, strict=True):
        values = [_constant(held[key]) if key in held else "null" for key in functions]
        lines.append(f"  [{', '.join([*map(str, numbers), *values])}]")
    first = len(ids[0])
    entries = [
        f"{_name(key)}: {_applied(function, f'row[{column}]')}"
        for column, (key, function) in enumerate(functions.items(), first)
    ]
    return ",\n".join(lines), entries


def _function(value: Any) -> str | None:
    """The function that makes the value from a constant: `date`, or `[date]` for a list; None for constants."""
    if isinstance(value, list):
        function = _FUNCTIONS.get(type(value[0])) if value else None
        return None if function is None else f"[{function}]"
    return _FUNCTIONS.get(type(value))


def _applied(function: str | None, argument: str) -> str:
    if function is None:
        return argument
    if function.startswith("["):
        return f"[item IN {argument} | {function[1:-1]}(item)]"
    return f"{function}({argument})"


def _constant(value: Any) -> str:
    """A value as a literal without functions, which its function turns back into the value."""
    match value:
        case list():
            return f"[{', '.join(map(_constant, value))}]"
        case Duration():
            return literal(
                {
                    "months": value.months,
                    "days": value.days,
                    "seconds": value.seconds,
                    "nanoseconds": value.nanoseconds,
                }
            )
        case Point():
            return literal({**dict(zip("xyz", value.coordinates, strict=False)), "srid": value.srid})
        case Date() | LocalTime() | Time() | LocalDateTime() | DateTime():
            return _string(str(value))
    return literal(value)


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
    return f"{_FUNCTIONS[type(value)]}({_constant(value)})"


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _rule(rule: Constraint | Index) -> str | None:
    """The statement that creates an index or a constraint; None for those that always exist."""
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
