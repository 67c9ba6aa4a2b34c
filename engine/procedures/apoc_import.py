"""apoc.import.json and apoc.import.csv: load APOC's exports and neo4j-admin's files into the graph."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_json import json_values, mismatch
from hoplite.engine.functions.spatial import point
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.exported import REPORT, Report
from hoplite.engine.procedures.files import NotReadable, decoded, read_bytes
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.errors import CypherError
from hoplite.storage.schema import Entity
from hoplite.values.temporal_parse import (
    parse_date,
    parse_date_time,
    parse_duration,
    parse_local_date_time,
    parse_local_time,
    parse_time,
)

Config = dict[str, Any] | None
_NULL = "java.lang.NullPointerException"
_NO_STREAM = (
    'Cannot invoke "apoc.export.util.CountingInputStream.asReader()" because the return value of '
    '"apoc.util.FileUtils.inputStreamFor(Object, java.util.Map, String, String, '
    'org.neo4j.graphdb.security.URLAccessChecker)" is null'
)


def text_of_file(context: Execution, procedure: str, given: Any) -> str:
    """The text of the file, or of the bytes, that an import is given."""
    return decoded(bytes_of_file(context, procedure, given))


def bytes_of_file(context: Execution, procedure: str, given: Any) -> bytes:
    """The content of the file, or the bytes, that an import is given."""
    if given is None:
        raise call_failed(procedure, _NULL, _NO_STREAM)
    try:
        return read_bytes(context, procedure, given)
    except NotReadable as problem:
        raise problem.error from None


def _reader(context: Execution, type_name: str) -> Callable[[Any], Any] | None:
    """What converts a text or a map to a value of this type; None for types that need no conversion."""
    zone = context.default_zone
    readers: dict[str, Callable[[Any], Any]] = {
        "int": int,
        "integer": int,
        "long": int,
        "short": int,
        "byte": int,
        "float": float,
        "double": float,
        "boolean": lambda text: str(text).strip().lower() == "true",
        "date": parse_date,
        "localdate": parse_date,
        "localtime": parse_local_time,
        "time": lambda text: parse_time(text, zone),
        "offsettime": lambda text: parse_time(text, zone),
        "localdatetime": parse_local_date_time,
        "datetime": lambda text: parse_date_time(text, zone),
        "zoneddatetime": lambda text: parse_date_time(text, zone),
        "duration": parse_duration,
        "point": lambda value: _point(context, value),
    }
    return readers.get(type_name.lower())


def _point(context: Execution, value: Any) -> Any:
    if isinstance(value, str):
        pairs = (entry.partition(":") for entry in value.strip().strip("{}").split(",") if ":" in entry)
        value = {key.strip(' "'): item.strip(" \"'") for key, _, item in pairs}
        value = {key: item if key == "crs" else float(item) for key, item in value.items() if item != "null"}
    return point(context, {key: item for key, item in value.items() if item is not None})


# --- JSON -----------------------------------------------------------------------------------------------------------


def _flat(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Nested objects become properties with dots in their keys."""
    if isinstance(value, dict):
        for inner, item in value.items():
            yield from _flat(f"{key}.{inner}", item)
    elif value is not None:
        yield key, value


class _JsonImport:
    """Imports nodes and relationships as apoc.export.json.* writes them."""

    def __init__(self, context: Execution, procedure: str, file: Any, config: Mapping[str, Any]) -> None:
        self.context = context
        self.procedure = procedure
        self.config = config
        self.id_key = str(config.get("importIdName") or "neo4jImportId")
        self.report = Report(file if isinstance(file, str) else None, "file", "json")
        self.nodes: dict[tuple[tuple[str, ...], str], int] = {}
        self.writer = writer_of(context)

    def add(self, entry: Any) -> None:
        """Add one object of the file."""
        self.context.check_time()
        if not isinstance(entry, dict):
            java_class = "com.fasterxml.jackson.databind.exc.MismatchedInputException"
            raise call_failed(self.procedure, java_class, mismatch(entry, dict))
        match entry.get("type"):
            case "node":
                self._add_node(entry)
            case "relationship":
                self._add_relationship(entry)
            case other:
                message = f"Current type not supported: {other}"
                raise call_failed(self.procedure, "java.lang.IllegalArgumentException", message)

    def _properties(self, given: Mapping[str, Any], mappings: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in given.items():
            read = _reader(self.context, str(mappings[key])) if key in mappings else None
            found.update([(key, read(value))] if read is not None and value is not None else _flat(key, value))
        return found

    def _mappings(self, setting: str, names: list[str]) -> dict[str, Any]:
        given = self.config.get(setting) or {}
        return {key: kind for name in names for key, kind in (given.get(name) or {}).items()}

    def _add_node(self, entry: Mapping[str, Any]) -> None:
        names, given = list(entry.get("labels") or ()), entry.get("properties") or {}
        missing = next((name for name in names if not self._is_unique(name)), None)
        if missing is not None:
            statement = f"CREATE CONSTRAINT FOR (n:{missing}) REQUIRE n.{self.id_key} IS UNIQUE;"
            message = f"Missing constraint required for import. Execute this query: \n{statement}"
            raise call_failed(self.procedure, "java.lang.RuntimeException", message)
        properties = self._properties(given, self._mappings("nodePropertyMappings", names))
        number = str(entry.get("id"))
        properties[self.id_key] = number
        self.nodes[self._place(entry)] = self.writer.create_node(names, properties)
        self.report.nodes += 1
        self.report.properties += len(given) + 1

    def _is_unique(self, label: str) -> bool:
        return any(rule.keys == (self.id_key,) for rule in self.writer.schema.unique(Entity.NODE, label))

    def _place(self, entry: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
        return tuple(sorted(entry.get("labels") or ())), str(entry.get("id"))

    def _end(self, entry: Mapping[str, Any]) -> int:
        """A node of this file, or of one imported earlier."""
        known = self.nodes.get(self._place(entry))
        if known is not None:
            return known
        for label in entry.get("labels") or ():
            _, found = self.writer.seek_nodes(label, self.id_key, [str(entry.get("id"))])
            if len(found):
                return int(found[0])
        message = f"Node with id {entry.get('id')} not found"
        raise call_failed(self.procedure, "org.neo4j.graphdb.NotFoundException", message)

    def _add_relationship(self, entry: Mapping[str, Any]) -> None:
        type_name, given = str(entry.get("label")), entry.get("properties") or {}
        properties = self._properties(given, self._mappings("relPropertyMappings", [type_name]))
        start, end = self._end(entry.get("start") or {}), self._end(entry.get("end") or {})
        self.writer.create_relationship(start, end, type_name, properties)
        self.report.relationships += 1
        self.report.properties += len(given) + 1

    def clean_up(self) -> None:
        """Remove the ids of the file."""
        for node in self.nodes.values():
            self.writer.set_node_property(node, self.id_key, None)


@cypher_procedure(
    f"apoc.import.json(urlOrBinaryFile :: ANY, config = {{}} :: MAP) {REPORT}",
    mode="WRITE",
    description="Creates the nodes and relationships in a JSON file that apoc.export.json wrote.",
    works_on_system=False,
    opens_files=True,
)
def import_json(context: Execution, file: Any, config: Config) -> Iterator[Row]:
    """One row of statistics. Each label needs a constraint on `neo4jImportId`, by which relationships find their
    ends."""
    procedure, settings = "apoc.import.json", config or {}

    def fail(java_class: str, message: str) -> CypherError:
        return call_failed(procedure, java_class, message)

    text = text_of_file(context, procedure, file)
    work = _JsonImport(context, procedure, file, settings)
    for entry in json_values(fail, text, context.check_time):
        work.add(entry)
    if settings.get("cleanup") is True:
        work.clean_up()
    yield work.report.row(None, 0)


# --- CSV ------------------------------------------------------------------------------------------------------------

_HEADER = re.compile(r"([^:]*)(?::([A-Za-z_]+)(?:\(([^)]*)\))?(\[\])?)?(?:\{.*\})?")
_CSV_ID, _CSV_TYPE = "__csv_id", "__csv_type"


@dataclass(frozen=True, slots=True)
class _Column:
    """A column, by its header: `name:type[]`, `:ID(space)`."""

    name: str
    type: str
    space: str
    is_list: bool


class _CsvImport:
    """Imports files with the headers that neo4j-admin reads."""

    def __init__(self, context: Execution, procedure: str, config: Mapping[str, Any]) -> None:
        self.context = context
        self.procedure = procedure
        self.config = config
        self.writer = writer_of(context)
        self.report = Report("progress.csv", "file", "csv")
        self.nodes: dict[tuple[str, str], int] = {}
        self.strings = config.get("stringIds") is not False

    def _rows(self, entry: Mapping[str, Any]) -> Iterator[tuple[int, list[_Column], list[str]]]:
        text = text_of_file(self.context, self.procedure, entry.get("fileName", entry.get("data")))
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=str(self.config.get("delimiter") or ","),
            quotechar=str(self.config.get("quotationCharacter") or '"'),
        )
        header = next(reader, [])
        columns = [self._column(title) for title in header]
        for _ in range(int(self.config.get("skipLines", 1)) - 1):
            next(reader, None)
        for line, fields in enumerate(reader, 1):
            self.context.check_time()
            if fields:
                yield line, columns, fields

    def _column(self, title: str) -> _Column:
        found = _HEADER.fullmatch(title.strip())
        if found is None:
            raise call_failed(self.procedure, "java.lang.IllegalStateException", f"Invalid header: {title}")
        return _Column(found[1], (found[2] or "STRING").upper(), found[3] or "", found[4] is not None)

    def _value(self, column: _Column, text: str) -> Any:
        """The value of a field; None for one that is left out."""
        if column.is_list:
            if not text and self.config.get("ignoreEmptyCellArray") is True:
                return None
            parts = text.split(str(self.config.get("arrayDelimiter") or ";"))
            return [self._single(column, part) for part in parts]
        return self._single(column, text)

    def _single(self, column: _Column, text: str) -> Any:
        read = _reader(self.context, column.type)
        if read is None:
            return None if not text.strip() and self.config.get("ignoreBlankString") is True else text
        return read(text.strip()) if text.strip() else None

    def _id(self, text: str) -> Any:
        return text if self.strings else int(text)

    def add_nodes(self, entry: Mapping[str, Any]) -> None:
        """Add the nodes in one file."""
        for line, columns, fields in self._rows(entry):
            names, properties = list(entry.get("labels") or ()), dict[str, Any]()
            place: tuple[str, str] | None = None
            for column, text in zip(columns, fields, strict=False):
                match column.type:
                    case "LABEL":
                        names += [name for name in text.split(str(self.config.get("arrayDelimiter") or ";")) if name]
                    case "ID":
                        place = (column.space, text)
                        properties[column.name or _CSV_ID] = self._id(text)
                    case "IGNORE":
                        continue
                    case _:
                        properties[column.name] = self._value(column, text)
            if place is not None and place in self.nodes:
                if self.config.get("ignoreDuplicateNodes") is True:
                    continue
                message = f"Duplicate node with id {place[1]} found on line {line}\n[{', '.join(fields)}]"
                raise call_failed(self.procedure, "java.lang.IllegalStateException", message)
            kept = {key: value for key, value in properties.items() if value is not None}
            node = self.writer.create_node(list(dict.fromkeys(names)), kept)
            if place is not None:
                self.nodes[place] = node
            self.report.nodes += 1
            self.report.properties += len(kept)

    def add_relationships(self, entry: Mapping[str, Any]) -> None:
        """Add the relationships in one file."""
        for _, columns, fields in self._rows(entry):
            type_name, properties, ends = str(entry.get("type") or ""), dict[str, Any](), dict[str, int]()
            for column, text in zip(columns, fields, strict=False):
                match column.type:
                    case "START_ID" | "END_ID":
                        ends[column.type] = self._end(column.space, text)
                    case "TYPE":
                        type_name = text or type_name
                        properties[_CSV_TYPE] = text
                    case "IGNORE":
                        continue
                    case _:
                        properties[column.name] = self._value(column, text)
            kept = {key: value for key, value in properties.items() if value is not None}
            self.writer.create_relationship(ends["START_ID"], ends["END_ID"], type_name, kept)
            self.report.relationships += 1
            self.report.properties += len(kept)

    def _end(self, space: str, text: str) -> int:
        found = self.nodes.get((space, text))
        if found is None:
            message = f"Node for id space {space or '__CSV_DEFAULT_IDSPACE'} and id {text} not found"
            raise call_failed(self.procedure, "java.lang.IllegalStateException", message)
        return found


@cypher_procedure(
    f"apoc.import.csv(nodes :: LIST<MAP>, rels :: LIST<MAP>, config :: MAP) {REPORT}",
    mode="SCHEMA",
    description="Creates the nodes and relationships in CSV files with the headers that neo4j-admin reads.",
    works_on_system=False,
    opens_files=True,
)
def import_csv(
    context: Execution, nodes: list[dict[str, Any]] | None, relationships: list[dict[str, Any]] | None, config: Config
) -> Iterator[Row]:
    """One row of statistics."""
    procedure = "apoc.import.csv"
    if nodes is None or relationships is None:
        name = "nodes" if nodes is None else "relationships"
        raise call_failed(procedure, _NULL, f'Cannot invoke "java.util.List.stream()" because "{name}" is null')
    work = _CsvImport(context, procedure, config or {})
    for entry in nodes:
        work.add_nodes(entry)
    for entry in relationships:
        work.add_relationships(entry)
    row = work.report.row(None, 0)
    yield (*row[:7], 0, *row[8:])
