"""A plain CSV file as a table: the types of its columns are inferred from all of their values (`csv_kinds.py`), unless
they are given, or known because the column refers to nodes that exist. Empty fields are null."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, Literal, cast

import numpy as np

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.importers.bad_rows import BadRows
from hoplite.storage.importers.csv_kinds import KINDS, converted, inferred, unreadable, with_article
from hoplite.storage.importers.csv_text import CsvText, read_csv_text
from hoplite.storage.importers.problem import bad_file
from hoplite.values.columns import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["KINDS", "CsvColumns", "CsvTable", "read_csv_table"]
_BLOCK_BYTES = 1 << 20
_LARGEST_BLOCK_BYTES = (1 << 31) - 1  # Arrow's limit, and so that of a row


@dataclass(frozen=True, slots=True)
class CsvColumns:
    """What is known about columns: `told` has types that were given, `stored` those of existing values that a column
    refers to, each with the place of these values (`:Movie.id`). `key` is the column that identifies new nodes."""

    told: Mapping[str, str]
    stored: Mapping[str, tuple[str, str]]
    key: str | None = None

    def refuse_unknown(self, file: str, names: tuple[str, ...]) -> None:
        """Raise for a type that does not exist, or is that of no column."""
        for name, kind in self.told.items():
            if name not in names:
                raise bad_file(file, f"there is no column {name!r}; the columns are {', '.join(names)}")
            if kind not in KINDS:
                raise bad_file(file, f"{name}: a column is of one of these kinds: {', '.join(KINDS)}; not {kind!r}")


class Lines:
    """The lines on which the rows of a table begin, found when the first is asked for: the file is read again then."""

    def __init__(self, path: str | os.PathLike[str], text: CsvText, rows: Int64s) -> None:
        self._path = path
        self._delimiter = text.delimiter
        self._text = None if os.path.isfile(path) else text  # a pipe cannot be read again
        self._rows = rows

    @cached_property
    def _numbers(self) -> Int64s:
        return (self._text or read_csv_text(self._path, self._delimiter)).line_numbers()

    def of(self, row: int) -> int:
        """The line of a row of the table."""
        return int(self._numbers[self._rows[row]])

    def leave_out(self, is_bad: Bools) -> None:
        """These rows are no longer in the table."""
        self._rows = self._rows[~is_bad]


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A file that was read: its columns, their types and where these are from."""

    file: str
    table: pa.Table
    kinds: Mapping[str, str]
    columns: CsvColumns

    def describe(self) -> str:
        """`movies.csv: 38 rows; id integer (as stored in :Movie.id), title text, released integer (2 empty)`"""
        told = []
        for name, kind in self.kinds.items():
            notes = []
            if name in self.columns.stored and name not in self.columns.told:
                notes.append(f"as stored in {self.columns.stored[name][1]}")
            if empty := self.table.column(name).null_count:
                notes.append(f"{empty:,} empty")
            told.append(f"{name} {kind}" + (f" ({', '.join(notes)})" if notes else ""))
        rows = "1 row" if self.table.num_rows == 1 else f"{self.table.num_rows:,} rows"
        return f"{self.file}: {rows}; {', '.join(told)}"


def read_csv_table(
    path: str | os.PathLike[str],
    columns: CsvColumns,
    delimiter: str = ",",
    bad_rows: BadRows | None = None,
) -> CsvTable:
    """Read a file, compressed or not, whose first line names its columns."""
    import pyarrow as pa

    bad_rows = bad_rows or BadRows()
    text = read_csv_text(path, delimiter)
    _refuse_names(text)
    columns.refuse_unknown(text.file, text.names)
    texts, rows = _read_texts(text, bad_rows)
    file, lines = text.file, Lines(path, text, rows)
    del text  # its bytes are no longer needed
    bad_rows.rows_are_of(file, lines.of)
    kinds: dict[str, str] = {}
    made: dict[str, Any] = {}
    is_bad = np.zeros(texts.num_rows, np.bool_)
    for name in texts.column_names:
        values = _with_nulls(texts.column(name))
        if name in columns.told or name in columns.stored:
            kinds[name], made[name] = _as_known(name, values, columns, bad_rows, is_bad)
        else:
            kinds[name], made[name] = inferred(values, is_key=name == columns.key)
    table = pa.table(made)
    if is_bad.any():
        table = table.filter(pa.array(~is_bad))
        lines.leave_out(is_bad)
    return CsvTable(file, table, kinds, columns)


def _as_known(
    name: str, texts: pa.ChunkedArray[Any], columns: CsvColumns, bad_rows: BadRows, is_bad: Bools
) -> tuple[str, Any]:
    """A column whose type is known; rows with a value of another type are bad."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name in columns.told:
        kind, because = columns.told[name], ""
    else:
        kind, place = columns.stored[name]
        because = f", but all stored values of {place} are"
        if kind == "integer":  # pandas writes integers like this if one of them is missing
            texts = pc.replace_substring_regex(texts, r"^(-?\d+)\.0+$", r"\1")
    wrong = np.zeros(len(texts), np.bool_)
    for row in unreadable(texts, kind):
        wrong[row] = True
        if not is_bad[row]:
            bad_rows.take_row("", row, f"{name}: {texts[row].as_py()!r} is not {with_article(kind)}{because}")
    if wrong.any():
        is_bad |= wrong
        texts = pc.if_else(pa.array(wrong), pa.scalar(None, pa.large_string()), texts)
    return kind, converted(texts, kind)


def _refuse_names(text: CsvText) -> None:
    if len(set(text.names)) < len(text.names):
        raise bad_file(text.file, f"a name occurs twice in the first line: {', '.join(text.names)}")
    if "" in text.names:
        place = text.names.index("") + 1
        raise bad_file(
            text.file,
            f"column {place} has no name: give it one in the first line, or leave the column out of the file"
            " (pandas writes its index like this, unless told to_csv(..., index=False))",
        )


def _read_texts(text: CsvText, bad_rows: BadRows) -> tuple[pa.Table, Int64s]:
    """All fields as texts, and the numbers of the rows that they are from."""
    import pyarrow as pa

    body = pa.py_buffer(text.data).slice(text.body)
    if not body.size:
        return pa.table({name: pa.array([], pa.large_string()) for name in text.names}), np.zeros(0, np.int64)
    block_bytes = _BLOCK_BYTES
    while True:
        try:
            table, ragged = _parsed(text, body, block_bytes)
            break
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error) or block_bytes >= min(body.size, _LARGEST_BLOCK_BYTES):
                raise bad_file(text.file, str(error)) from None
            block_bytes = min(block_bytes * 16, _LARGEST_BLOCK_BYTES)  # a row is longer than a block
    rows = np.arange(table.num_rows + len(ragged))
    if ragged:
        lines = text.line_numbers()
        for row, fields in ragged.items():
            noun = "field" if fields == 1 else "fields"
            bad_rows.take(text.file, int(lines[row]), f"{fields} {noun}, where the first line has {len(text.names)}")
        rows = np.delete(rows, list(ragged))
    return table, rows


def _parsed(text: CsvText, body: Any, block_bytes: int) -> tuple[pa.Table, dict[int, int]]:
    """The rows that have as many fields as there are names; and how many fields each of the others has."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    ragged: list[tuple[int, int]] = []

    def handle(row: Any) -> Literal["skip"]:
        ragged.append(((row.number or 0) - 1, row.actual_columns))
        return "skip"

    def parse(use_threads: bool) -> pa.Table:
        ragged.clear()
        return arrow_csv.read_csv(
            cast(IO[Any], pa.BufferReader(body)),
            read_options=arrow_csv.ReadOptions(
                use_threads=use_threads, block_size=block_bytes, column_names=list(text.names)
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=text.delimiter, newlines_in_values=True, invalid_row_handler=handle
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(text.names, pa.large_string()), strings_can_be_null=False
            ),
        )

    table = parse(use_threads=True)
    if ragged:
        table = parse(use_threads=False)  # only then do rows have numbers
    return table, dict(ragged)


def _with_nulls(texts: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    nothing = pa.scalar(None, pa.large_string())
    filled: pa.ChunkedArray[Any] = pc.if_else(pc.equal(texts, pa.scalar("", pa.large_string())), nothing, texts)
    return filled
