"""A plain CSV file as a table: the types of its columns are inferred from all of their values, unless given.

A column has a type if every value can be read as that type without loss: 00123 stays text, and so does a number beyond
64 bits. Empty fields are null.

    true, FALSE           boolean         2024-05-01               date
    -12                   integer         2024-05-01T10:00:00      local datetime (or with a space)
    1.5, 2e9              float           2024-05-01T10:00:00Z     datetime
    anything else         text            10:30:00                 local time
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import time
from typing import IO, TYPE_CHECKING, Any, Literal, cast

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.importers.bad_rows import BadRows
from hoplite.storage.importers.problem import bad_file

if TYPE_CHECKING:
    import pyarrow as pa

_DATE = r"\d{4}-\d{2}-\d{2}"
_TIME = r"\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?"
# What every value of a column has to look like, in the order in which types are tried.
_PATTERNS = {
    "boolean": r"(?i:true|false)",
    "integer": r"0|-?[1-9]\d{0,18}",
    "float": r"-?((0|[1-9]\d{0,14})|(0|[1-9]\d*)(\.\d+([eE][+-]?\d+)?|[eE][+-]?\d+))",
    "date": _DATE,
    "local datetime": f"{_DATE}[T ]{_TIME}",
    "datetime": f"{_DATE}[T ]{_TIME}Z",
    "local time": r"\d{2}:\d{2}:\d{2}(\.\d{1,6})?",
}
KINDS = (*_PATTERNS, "text")


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A file that was read: its columns, and the types inferred."""

    file: str
    table: pa.Table
    kinds: Mapping[str, str]

    def describe(self) -> str:
        """`movies.csv: 38 rows; title text, released integer (2 empty)`"""
        told = []
        for name, kind in self.kinds.items():
            empty = self.table.column(name).null_count
            told.append(f"{name} {kind}" + (f" ({empty:,} empty)" if empty else ""))
        return f"{self.file}: {self.table.num_rows:,} rows; {', '.join(told)}"


def read_csv_table(
    path: str | os.PathLike[str],
    kinds: Mapping[str, str] | None = None,
    delimiter: str = ",",
    bad_rows: BadRows | None = None,
) -> CsvTable:
    """Read a file, gzipped or not, whose first line names its columns. `kinds` are the types already known."""
    file = os.path.basename(os.fspath(path))
    table = _read_texts(path, file, delimiter, bad_rows or BadRows())
    kinds = kinds or {}
    for name, kind in kinds.items():
        if name not in table.column_names:
            raise bad_file(file, f"there is no column {name!r}; the columns are {', '.join(table.column_names)}")
        if kind not in KINDS:
            raise bad_file(file, f"{name}: a column is of one of these kinds: {', '.join(KINDS)}; not {kind!r}")
    import pyarrow as pa

    columns, found = [], {}
    for name in table.column_names:
        texts = _with_nulls(table.column(name))
        if name in kinds:
            found[name] = kinds[name]
            columns.append(_converted_as_told(file, name, texts, kinds[name]))
        else:
            found[name], column = _inferred(texts)
            columns.append(column)
    return CsvTable(file, pa.table(dict(zip(table.column_names, columns, strict=True))), found)


def _read_texts(path: str | os.PathLike[str], file: str, delimiter: str, bad_rows: BadRows) -> pa.Table:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    def handle(row: Any) -> Literal["skip", "error"]:
        if not bad_rows.skips:
            return "error"
        reason = f"{row.actual_columns} fields, where the first line has {row.expected_columns}"
        bad_rows.take(file, row.number or 0, reason)
        return "skip"

    with pa.input_stream(os.fspath(path), compression="detect") as stream:
        header = stream.read(1 << 20)
    names = _header(header, delimiter)
    if len(set(names)) < len(names):
        raise bad_file(file, f"a name occurs twice in the first line: {', '.join(names)}")
    try:
        with pa.input_stream(os.fspath(path), compression="detect") as stream:
            return arrow_csv.read_csv(
                cast(IO[Any], stream),
                read_options=arrow_csv.ReadOptions(use_threads=bad_rows.skips is False),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=delimiter, newlines_in_values=True, invalid_row_handler=handle
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=False
                ),
            )
    except pa.ArrowInvalid as error:
        raise bad_file(file, str(error)) from None


def _header(start: bytes, delimiter: str) -> list[str]:
    import csv

    text = start.decode("utf-8-sig", errors="replace")
    return next(csv.reader(text.splitlines(keepends=True), delimiter=delimiter), [])


def _with_nulls(texts: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    nothing = pa.scalar(None, pa.large_string())
    filled: pa.ChunkedArray[Any] = pc.if_else(pc.equal(texts, pa.scalar("", pa.large_string())), nothing, texts)
    return filled


def _inferred(texts: pa.ChunkedArray[Any]) -> tuple[str, Any]:
    """The first type that fits all values."""
    import pyarrow.compute as pc

    if texts.null_count == len(texts):
        return "text", texts
    for kind, pattern in _PATTERNS.items():
        if pc.all(pc.match_substring_regex(texts, f"^({pattern})$")).as_py():
            try:
                return kind, _converted(texts, kind)
            except ValueError:  # a number beyond 64 bits, the 30th of February
                continue
    return "text", texts


def _converted_as_told(file: str, name: str, texts: pa.ChunkedArray[Any], kind: str) -> Any:

    try:
        return _converted(texts, kind)
    except ValueError as error:
        raise bad_file(file, f"column {name}: {error}") from None


def _converted(texts: pa.ChunkedArray[Any], kind: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    match kind:
        case "boolean":
            return pc.utf8_lower(texts).cast(pa.bool_())
        case "integer":
            return texts.cast(pa.int64())
        case "float":
            return texts.cast(pa.float64())
        case "date":
            return texts.cast(pa.date32())
        case "local datetime":
            return _moments(texts, None)
        case "datetime":
            return _moments(texts, "UTC")
        case "local time":
            read = [None if text is None else time.fromisoformat(text) for text in texts.to_pylist()]
            return pa.array(read, pa.time64("us"))
        case _:
            return texts


def _moments(texts: pa.ChunkedArray[Any], zone: str | None) -> Any:
    """Nanoseconds only if there are any: they limit the range to the years from 1677 to 2262."""
    import pyarrow as pa

    try:
        return texts.cast(pa.timestamp("us", zone))
    except pa.ArrowInvalid:
        return texts.cast(pa.timestamp("ns", zone))
