"""CSV files in the format of `neo4j-admin database import`, and plain CSV files with a mapping.

    import_csv(graph, nodes=[CsvFiles(["header.csv", "people-1.csv.gz", "people-2.csv"], labels=("Person",))],
               relationships=[CsvFiles(["acted.csv"], type="ACTED_IN")])

The first line of the first file of a group is the header; headers are described in `csv_fields`. Ids connect the rows
of one import; those whose column has a name also become properties. Nodes are read before relationships.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from hoplite.errors import CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.graph import Graph
from hoplite.storage.importers.bad_rows import BadRows
from hoplite.storage.importers.csv_fields import Field, read_column, read_header
from hoplite.storage.importers.csv_lines import UnclosedQuote, csv_rows
from hoplite.storage.importers.growing_load import GrowingLoad
from hoplite.storage.importers.lines import Progress, numbered_lines
from hoplite.storage.importers.problem import bad_file, bad_line
from hoplite.storage.property_values import storable

Row: TypeAlias = list[str | None]
Path: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class CsvFiles:
    """Files with one header. `labels` and `type` are added to those from columns; `header`, if a mapping made one,
    replaces the first line's: it has the columns of the first line, by name."""

    paths: Sequence[Path]
    labels: tuple[str, ...] = ()
    type: str | None = None
    header: Mapping[str, Field] | None = None


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """The format of the files."""

    delimiter: str = ","
    array_delimiter: str = ";"
    quote: str = '"'

    def __post_init__(self) -> None:
        signs = {"delimiter": self.delimiter, "array delimiter": self.array_delimiter, "quote": self.quote}
        for name, sign in signs.items():
            if len(sign) != 1 or sign in "\r\n":
                raise ValueError(f"The {name} of CSV files is one character, not {sign!r}")
        if self.quote in (self.delimiter, self.array_delimiter):
            raise ValueError(f"The quote of CSV files cannot be a delimiter as well: {self.quote!r}")


def import_csv(
    graph: Graph,
    nodes: Sequence[CsvFiles] = (),
    relationships: Sequence[CsvFiles] = (),
    *,
    format: CsvFormat = CsvFormat(),  # noqa: B008 - immutable
    bad_rows: BadRows | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Add the nodes and relationships of CSV files; returns how many there were."""
    bad_rows = bad_rows or BadRows()
    with graph.bulk() as load:
        reading = _Reading(GrowingLoad(load), format, bad_rows, progress)
        for files in nodes:
            reading.read_nodes(files)
        for files in relationships:
            reading.read_relationships(files)
        reading.load.finish()
        load.commit()
    return bad_rows.summary(reading.load.node_count, reading.load.relationship_count)


class _Reading:
    """Reads groups of files; knows the row of the load for each id."""

    def __init__(self, load: GrowingLoad, format: CsvFormat, bad_rows: BadRows, progress: Progress | None) -> None:
        self.load = load
        self._format = format
        self._bad_rows = bad_rows
        self._progress = progress
        self._row_of_id: dict[tuple[str, str], int] = {}

    def read_nodes(self, files: CsvFiles) -> None:
        def take(row: _Record) -> None:
            key = None if row.id is None else (row.id_group, row.id)
            if key is not None and key in self._row_of_id:
                raise ValueError(f"a second node with id {row.id}{_in_group(row.id_group)}")
            node = self.load.add_node((*files.labels, *row.labels), row.properties)
            if key is not None:
                self._row_of_id[key] = node

        self._read(files, take, required=())

    def read_relationships(self, files: CsvFiles) -> None:
        def take(row: _Record) -> None:
            type = row.type or files.type
            if type is None:
                raise ValueError("no relationship type: the :TYPE column is empty, and none was given for the file")
            self.load.add_relationship(type, self._node(*row.start), self._node(*row.end), row.properties)

        self._read(files, take, required=("START_ID", "END_ID"))

    def _node(self, group: str, id: str | None) -> int:
        if id is None:
            raise ValueError("the id of an end is empty")
        row = self._row_of_id.get((group, id))
        if row is None:
            raise ValueError(f"there is no node with id {id}{_in_group(group)}")
        return row

    def _read(self, files: CsvFiles, take: Callable[[_Record], None], required: tuple[str, ...]) -> None:
        columns: _Columns | None = None
        for name in files.paths:
            path = os.fspath(name)
            rows = self._rows(path)
            for number, row in rows:
                if columns is None:
                    columns = self._columns(path, number, row, files.header, required)
                    continue
                try:
                    take(columns.read(row))
                except (ValueError, OverflowError, CypherError) as error:
                    self._bad_rows.take(path, number, getattr(error, "message", None) or str(error), error)
        if columns is None:
            raise bad_file(os.fspath(files.paths[0]), "there is no header line")

    def _rows(self, path: str) -> Iterator[tuple[int, Row]]:
        try:
            yield from csv_rows(path, self._format.delimiter, self._format.quote, self._progress)
        except UnclosedQuote as error:  # nothing after it can be parsed
            raise bad_file(path, str(error)) from error

    def _columns(
        self, path: str, number: int, row: Row, header: Mapping[str, Field] | None, required: tuple[str, ...]
    ) -> _Columns:
        try:
            if header is None:
                fields = read_header(row)
            else:
                fields = [header.get((name or "").strip(), Field("IGNORE")) for name in row]
                named = {(name or "").strip() for name in row}
                missing = [name for name in header if name not in named]
                if missing:
                    raise ValueError(f"there is no column {missing[0]!r}; the columns are {', '.join(sorted(named))}")
        except ValueError as error:
            raise bad_line(path, number, str(error)) from error
        for role in required:
            if sum(field.role == role for field in fields) != 1:
                raise bad_line(path, number, f"the header must have one column :{role}")
        return _Columns(fields, self._format.array_delimiter)


@dataclass(frozen=True, slots=True)
class _Record:
    """One parsed row."""

    properties: dict[str, Any]
    labels: tuple[str, ...] = ()
    type: str | None = None
    id_group: str = ""
    id: str | None = None
    start: tuple[str, str | None] = ("", None)
    end: tuple[str, str | None] = ("", None)


class _Columns:
    """The columns of a header, which parse a row."""

    def __init__(self, fields: Sequence[Field], array_delimiter: str) -> None:
        self._count = len(fields)
        self._array_delimiter = array_delimiter
        self._properties = [
            (number, field.name, field.reader(array_delimiter))
            for number, field in enumerate(fields)
            if field.role == "PROPERTY" or (field.role == "ID" and field.name)
        ]
        self._labels = [number for number, field in enumerate(fields) if field.role == "LABEL"]
        self._ids = [number for number, field in enumerate(fields) if field.role == "ID"]
        self._type = self._one(fields, "TYPE")
        self._start = self._one(fields, "START_ID")
        self._end = self._one(fields, "END_ID")
        self._fields = fields

    @staticmethod
    def _one(fields: Sequence[Field], role: str) -> int | None:
        return next((number for number, field in enumerate(fields) if field.role == role), None)

    def read(self, row: Row) -> _Record:
        """A row by roles; raises ValueError if it does not fit the header."""
        if len(row) != self._count:
            raise ValueError(f"expected {self._count} columns, found {len(row)}")
        properties: dict[str, Any] = {}
        for number, name, read in self._properties:
            text = row[number]
            if text is not None:
                properties[name] = storable(read(text))
        return _Record(
            properties,
            self._labels_of(row),
            None if self._type is None else row[self._type],
            self._fields[self._ids[0]].group if self._ids else "",
            self._id_of(row),
            self._end_of(row, self._start),
            self._end_of(row, self._end),
        )

    def _labels_of(self, row: Row) -> tuple[str, ...]:
        found = [
            self._fields[number].options["label"] for number in self._ids if "label" in self._fields[number].options
        ]
        for number in self._labels:
            found += (row[number] or "").split(self._array_delimiter)
        return tuple(dict.fromkeys(label for label in found if label))

    def _id_of(self, row: Row) -> str | None:
        if not self._ids:
            return None
        parts = [row[number] for number in self._ids]
        if any(part is None for part in parts):
            return None  # neo4j-admin accepts such nodes too: nothing can refer to them
        return "\0".join(part for part in parts if part is not None)

    def _end_of(self, row: Row, number: int | None) -> tuple[str, str | None]:
        return ("", None) if number is None else (self._fields[number].group, row[number])


def _in_group(group: str) -> str:
    return f" in group {group}" if group else ""


# --- plain CSV --------------------------------------------------------------------------------------------------


def read_mapping(path: Path) -> tuple[list[CsvFiles], list[CsvFiles]]:
    """A mapping file, whose file names are relative to it.

    {"nodes": [{"file": "drugs.csv", "label": "Drug", "id": "drug_id", "properties": {"name": "title:string"}}],
     "relationships": [{"file": "treats.csv", "type": "TREATS", "start": "drug", "start_label": "Drug",
                        "end": "disease", "end_label": "Disease", "properties": {"year": "year:int"}}]}

    `properties` says what each column becomes, as a header would; without it every other column is a text property.
    `label` may be a list; it is also the group of the ids.
    """
    name = os.fspath(path)
    try:
        with open(name, encoding="utf-8") as stream:
            mapping = json.load(stream)
        folder = os.path.dirname(name)
        nodes = [_mapped_nodes(entry, folder) for entry in mapping.get("nodes", ())]
        relationships = [_mapped_relationships(entry, folder) for entry in mapping.get("relationships", ())]
    except OSError as error:
        raise bad_file(name, error.strerror or str(error)) from error
    except KeyError as error:
        raise bad_file(name, f"an entry has no {error}") from error
    except (ValueError, AttributeError, TypeError) as error:
        raise bad_file(name, str(error)) from error
    return nodes, relationships


def _mapped_nodes(entry: Mapping[str, Any], folder: str) -> CsvFiles:
    labels = _labels(entry["label"])
    id_column = entry["id"]
    given = _properties(entry, folder, (id_column,))
    id_field = read_column(given.pop(id_column, id_column))
    header = {column: read_column(text) for column, text in given.items()}
    header[id_column] = Field("ID", id_field.name, id_field.kind, False, labels[0])
    return CsvFiles(_files(entry, folder), labels, None, header)


def _mapped_relationships(entry: Mapping[str, Any], folder: str) -> CsvFiles:
    header = {}
    for role, column, label in (("START_ID", "start", "start_label"), ("END_ID", "end", "end_label")):
        header[entry[column]] = Field(role, "", "string", False, entry[label])
    given = _properties(entry, folder, (entry["start"], entry["end"]))
    header |= {column: read_column(text) for column, text in given.items() if column not in header}
    return CsvFiles(_files(entry, folder), (), entry["type"], header)


def _labels(label: str | list[str]) -> tuple[str, ...]:
    return (label,) if isinstance(label, str) else tuple(label)


def _files(entry: Mapping[str, Any], folder: str) -> list[str]:
    files = entry["file"]
    return [os.path.join(folder, file) for file in ([files] if isinstance(files, str) else files)]


def _properties(entry: Mapping[str, Any], folder: str, special: tuple[str, ...]) -> dict[str, str]:
    """What each column becomes, as a header would say it."""
    if "properties" in entry:
        return dict(entry["properties"])
    first = next(iter(csv_rows(_files(entry, folder)[0])), (0, []))[1]
    return {name: name for name in first if name and name not in special}


# --- arguments of neo4j-admin -----------------------------------------------------------------------------------

ARGUMENTS_FILE = "import.args"


def read_arguments(folder: Path) -> tuple[list[CsvFiles], list[CsvFiles], CsvFormat]:
    """A folder with a file of arguments for `neo4j-admin database import full @import.args`, one per line."""
    place = os.fspath(folder)
    path = os.path.join(place, ARGUMENTS_FILE)
    nodes: list[CsvFiles] = []
    relationships: list[CsvFiles] = []
    signs: dict[str, str] = {}
    for number, text in numbered_lines(path, None):
        name, equals, value = text.strip().partition("=")
        match name:
            case "--nodes" | "--relationships" if equals:
                names, _, files = value.rpartition("=")
                paths = [os.path.join(place, file) for file in files.split(",")]
                if name == "--nodes":
                    nodes.append(CsvFiles(paths, tuple(names.split(":")) if names else ()))
                else:
                    relationships.append(CsvFiles(paths, (), names or None))
            case "--delimiter" | "--array-delimiter" | "--quote" if equals:
                signs[name.removeprefix("--").replace("-", "_")] = read_sign(value)
            case "--multiline-fields":
                continue
            case _:
                raise bad_line(path, number, f"{text.strip()!r} is not a known argument")
    return nodes, relationships, CsvFormat(**signs)


def read_sign(text: str) -> str:
    """`;`, `\\t`, `TAB` or `U+001F` as a character."""
    if text.upper().startswith("U+"):
        try:
            return chr(int(text[2:], 16))
        except (ValueError, OverflowError):
            raise ValueError(f"{text!r} is not a character: write its number in hexadecimal, as in U+0009") from None
    return {"\\t": "\t", "TAB": "\t"}.get(text, text)
