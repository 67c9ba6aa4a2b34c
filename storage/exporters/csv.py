"""CSV files for `neo4j-admin database import` in a folder, with the arguments that import them.

One file for each set of labels or relationship type; if a property has several types, one file for each. The file
`import.args` holds the arguments: `neo4j-admin database import full @import.args`, or `hoplite import csv FOLDER`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any

from hoplite.lazy import lazy_pattern
from hoplite.storage.exporters.files import whole_file
from hoplite.storage.exporters.rows import node_rows, relationship_rows
from hoplite.storage.importers.csv import ARGUMENTS_FILE
from hoplite.storage.importers.lines import Progress
from hoplite.storage.snapshot import Snapshot
from hoplite.values.floats import float_text
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

_ARRAY_DELIMITERS = (";", "|", "\x1f")
_KINDS: Mapping[type, str] = {
    bool: "boolean",
    int: "long",
    float: "double",
    str: "string",
    bytes: "byte[]",
    Date: "date",
    LocalTime: "localtime",
    Time: "time",
    LocalDateTime: "localdatetime",
    DateTime: "datetime",
    Duration: "duration",
    Point: "point",
}
_SAFE = lazy_pattern(r"[^\w-]+")


def export_csv(
    snapshot: Snapshot, folder: str | os.PathLike[str], *, compress: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the graph; returns its size, and under `notes` what CSV cannot express."""
    place = os.fspath(folder)
    os.makedirs(place, exist_ok=True)
    layout = _layout(snapshot)
    total = snapshot.node_count + snapshot.relationship_count
    done = 0
    with ExitStack() as stack:
        writing = _Writing(place, layout, ".csv.gz" if compress else ".csv", stack)
        for node in node_rows(snapshot):
            writing.node(node.id, node.labels, node.properties)
            done += 1
            if progress is not None and done % 10_000 == 0:
                progress(done, total)
        for row in relationship_rows(snapshot):
            writing.relationship(row.type, row.start, row.end, row.properties)
            done += 1
            if progress is not None and done % 10_000 == 0:
                progress(done, total)
        with whole_file(os.path.join(place, ARGUMENTS_FILE)) as stream:
            stream.writelines(f"{argument}\n" for argument in writing.arguments())
    counts = {"nodes": snapshot.node_count, "relationships": snapshot.relationship_count}
    return {**counts, "notes": sorted(layout.notes)}


class _Layout:
    """The files to write, determined in a first pass: the columns of each, by the kinds of their values."""

    def __init__(self) -> None:
        self.columns: dict[tuple[Any, ...], dict[str, str]] = {}
        self.texts: set[str] = set()
        self.notes: set[str] = set()
        self.mixed: dict[tuple[Any, ...], set[str]] = {}

    def see(self, group: tuple[Any, ...], properties: Mapping[str, Any]) -> None:
        """Take one row into account."""
        kinds = self.columns.setdefault(group, {})
        for key, value in properties.items():
            kind = kind_of(value)
            if kinds.setdefault(key, kind) != kind:
                self.mixed.setdefault(group, set()).add(key)
            if isinstance(value, list) and value and isinstance(value[0], str):
                self.texts.update(delimiter for delimiter in _ARRAY_DELIMITERS for text in value if delimiter in text)
            if value == [""]:
                self.notes.add(f"{key}: a list of one empty text is read back as an empty list")

    @property
    def array_delimiter(self) -> str:
        free = [delimiter for delimiter in _ARRAY_DELIMITERS if delimiter not in self.texts]
        if not free:
            self.notes.add("texts in lists hold every delimiter that lists are written with")
        return free[0] if free else _ARRAY_DELIMITERS[-1]


def _layout(snapshot: Snapshot) -> _Layout:
    layout = _Layout()
    for node in node_rows(snapshot):
        layout.see(("nodes", node.labels), node.properties)
    for row in relationship_rows(snapshot):
        layout.see(("relationships", row.type), row.properties)
    return layout


def kind_of(value: Any) -> str:
    """The type of a column that holds the value."""
    if isinstance(value, list):
        return f"{_KINDS[type(value[0])] if value else 'string'}[]"
    return _KINDS[type(value)]


class _Writing:
    """Opens a file for each group of rows, and writes rows to it."""

    def __init__(self, folder: str, layout: _Layout, suffix: str, stack: ExitStack) -> None:
        self._folder = folder
        self._layout = layout
        self._suffix = suffix
        self._stack = stack
        self._array_delimiter = layout.array_delimiter
        self._files: dict[tuple[Any, ...], tuple[IO[str], dict[str, str]]] = {}
        self._names: dict[str, str] = {}

    def node(self, id: int, labels: tuple[str, ...], properties: Mapping[str, Any]) -> None:
        stream, columns = self._file(("nodes", labels), properties, [":ID"])
        self._write(stream, columns, [str(id)], properties)

    def relationship(self, type: str, start: int, end: int, properties: Mapping[str, Any]) -> None:
        stream, columns = self._file(("relationships", type), properties, [":START_ID", ":END_ID"])
        self._write(stream, columns, [str(start), str(end)], properties)

    def arguments(self) -> Iterable[str]:
        """An argument for each file, and for how lists are written."""
        for file, argument in self._names.items():
            yield f"{argument}{file}"
        yield f"--array-delimiter={'U+001F' if self._array_delimiter == chr(31) else self._array_delimiter}"
        yield "--multiline-fields=true"

    def _file(
        self, group: tuple[Any, ...], properties: Mapping[str, Any], special: Sequence[str]
    ) -> tuple[IO[str], dict[str, str]]:
        mixed = self._layout.mixed.get(group, set())
        variant = tuple(sorted((key, kind_of(properties[key])) for key in mixed if key in properties))
        known = self._files.get((*group, variant))
        if known is not None:
            return known
        columns = {key: kind for key, kind in self._layout.columns[group].items() if key not in mixed}
        columns |= dict(variant)
        noun, what = group
        parts = what if noun == "nodes" else (what,)
        name = f"{noun}-{len(self._files):03d}-{_SAFE.sub('_', '-'.join(parts)) or 'unlabelled'}{self._suffix}"
        stream = self._stack.enter_context(whole_file(os.path.join(self._folder, name)))
        titles = [*special, *(f"{key}:{kind}" for key, kind in columns.items())]
        stream.write(",".join(_quoted(title) for title in titles) + "\n")
        colons = ":".join(parts)
        self._names[name] = f"--{noun}={colons}=" if colons else f"--{noun}="
        self._files[(*group, variant)] = (stream, columns)
        return stream, columns

    def _write(
        self, stream: IO[str], columns: Mapping[str, str], special: list[str], properties: Mapping[str, Any]
    ) -> None:
        fields = special + [self._field(properties.get(key)) for key in columns]
        stream.write(",".join(fields) + "\n")

    def _field(self, value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, bytes):
            value = [byte - 256 if byte > 127 else byte for byte in value]
        if isinstance(value, list):
            return _quoted(self._array_delimiter.join(_text(item) for item in value), always=True)
        return _quoted(_text(value), always=value == "")


def _text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return float_text(value)
        case Point():
            axes = ("longitude", "latitude", "height") if value.is_geographic else ("x", "y", "z")
            parts = [f"{axis}: {number!r}" for axis, number in zip(axes, value.coordinates, strict=False)]
            return "{" + ", ".join(parts) + f", crs: {value.crs}" + "}"
    return str(value)


def _quoted(text: str, always: bool = False) -> str:
    if always or any(sign in text for sign in ',"\n\r') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text
