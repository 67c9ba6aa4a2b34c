"""The bytes of plain CSV files: unclosed quotes and lines of rows, as Arrow understands the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.errors import CypherError
from hoplite.storage.importers.csv_text import CsvText, read_csv_text

LAST = b"\r\nlast,last"
PIECES = st.lists(st.sampled_from(["a", ",", '"', '""', "\n", "\r", "\r\n", "é", ',"', '"\n']), max_size=30)


def arrow_rows(data: bytes) -> list[list[str]]:
    """What Arrow reads, with rows of all lengths: missing fields are made up by asking for every width."""
    found: dict[int, list[str]] = {}

    def read(width: int) -> int:
        others: list[int] = []

        def handle(row: Any) -> str:
            others.append(row.number)
            return "skip"

        table = arrow_csv.read_csv(
            cast(IO[Any], pa.BufferReader(data)),
            read_options=arrow_csv.ReadOptions(use_threads=False, column_names=[str(name) for name in range(width)]),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=cast(Any, handle)),
            convert_options=arrow_csv.ConvertOptions(
                column_types={str(name): pa.string() for name in range(width)}, strings_can_be_null=False
            ),
        )
        rows = [number for number in range(1, table.num_rows + len(others) + 1) if number not in others]
        for number, fields in zip(rows, zip(*table.to_pydict().values(), strict=True), strict=True):
            found[number] = list(fields)
        return table.num_rows + len(others)

    count = read(1)
    for width in range(2, data.count(b",") + 2):
        read(width)
    assert len(found) == count
    return [found[number] for number in sorted(found)]


@given(PIECES)
def test_rows_and_open_quotes_are_those_of_arrow(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]) -> None:
    body = "".join(pieces).encode()
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_bytes(b"a,b\n" + body)
    rows = arrow_rows(body + LAST)
    if rows[-1] != ["last", "last"]:
        with pytest.raises(CypherError, match=r"x\.csv, line \d+: a quote that is never closed"):
            read_csv_text(path, ",")
        return
    lines = read_csv_text(path, ",").line_numbers().tolist()
    assert len(lines) == len(rows) - 1
    # every row read by itself, from the start of its line to that of the next one, is that row
    starts = line_starts(b"a,b\n" + body)
    for place, line in enumerate(lines):
        end = starts[lines[place + 1] - 1] if place + 1 < len(lines) else None
        assert arrow_rows((b"a,b\n" + body)[starts[line - 1] : end]) == [rows[place]]


def line_starts(data: bytes) -> list[int]:
    starts = [0]
    for line in data.splitlines(keepends=True):  # of bytes: only \n, \r and \r\n end a line
        starts.append(starts[-1] + len(line))
    return starts


@pytest.mark.parametrize(
    ("data", "names", "rest"),
    [
        ("a,b\n1,2\n", ("a", "b"), "1,2\n"),
        ("\ufeff\r\na,b", ("a", "b"), ""),
        ('"a,""b""\nc" d,\u2028\r\n1,2', ('a,"b"\nc d', "\u2028"), "1,2"),
        (",a,\r1,2,3", ("", "a", ""), "1,2,3"),
    ],
)
def test_the_first_row_names_the_columns(tmp_path: Path, data: str, names: tuple[str, ...], rest: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(data.encode())
    text: CsvText = read_csv_text(path, ",")
    assert text.names == names
    assert text.data[text.body :].decode() == rest
