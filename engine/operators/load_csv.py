"""LOAD CSV: a row for each line of a file in the import folder."""

from __future__ import annotations

import codecs
import io
import zlib
from collections.abc import Iterator
from gzip import GzipFile
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.csv_rows import CsvRows, Row
from hoplite.engine.imported_files import cannot_load, confined_path
from hoplite.engine.operators.base import Evaluator, Operator, column_of, evaluate
from hoplite.errors import CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.csv_place import FILE, LINE
from hoplite.values.columns import Integers, constant
from hoplite.values.map_order import header_order

_ROWS_AT_ONCE = 4096
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins the same way
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
_NOT_TEXT = (
    "class org.neo4j.values.storable.NoValue cannot be cast to class org.neo4j.values.storable.TextValue "
    "(org.neo4j.values.storable.NoValue and org.neo4j.values.storable.TextValue are in unnamed module of loader 'app')"
)


@dataclass(slots=True, eq=False)
class LoadCsv(Operator):
    """A row for each line of a CSV file."""

    source: Operator
    url: Evaluator
    variable: str
    with_headers: bool
    field_terminator: str | None

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Lists of strings, or maps keyed by the first line; an empty field is null."""
        for incoming in self.source.run(context, argument):
            batch, (urls,), error = evaluate(incoming, (self.url,), context)
            for row, url in enumerate(urls.objects()):
                lines: list[Any] = []
                number = 1 + int(self.with_headers)
                for line in self._lines(context, url):
                    lines.append(line)
                    if len(lines) == _ROWS_AT_ONCE:
                        context.check_time()
                        yield self._joined(batch, row, lines, url, number)
                        number += len(lines)
                        lines = []
                if lines:
                    yield self._joined(batch, row, lines, url, number)
            if error is not None:
                raise error

    def _joined(self, batch: Batch, row: int, lines: list[Any], url: str, number: int) -> Batch:
        """One row of the batch with some lines, the first of which has this number; empty lines are not counted."""
        count = len(lines)
        repeated = batch.take(np.full(count, row, np.int64))
        return repeated.with_columns(
            {
                self.variable: column_of(lines),
                FILE: constant(unquote(url.removeprefix("file:")), count),
                LINE: Integers(np.arange(number, number + count, dtype=np.int64)),
            }
        )

    def _lines(self, context: Execution, url: Any) -> Iterator[Any]:
        from zipfile import BadZipFile  # imports five packages that only this statement needs

        if url is None:
            raise CypherError("Neo.DatabaseError.Statement.ExecutionFailed", _NOT_TEXT)
        try:
            path = confined_path(url, context.import_folder)
            with path.open("rb") as file:
                text = _decoded(_unpacked(file, path))
                rows = iter(CsvRows(text.read, self.field_terminator or ",", str(path)))
                if not self.with_headers:
                    yield from rows
                    return
                yield from _by_header([name or "" for name in next(rows, [])], rows)
        except (OSError, EOFError, zlib.error, BadZipFile, NotImplementedError, RuntimeError):
            raise cannot_load(url, f"Couldn't load the external resource at: {url}") from None


def _by_header(header: list[str], rows: Iterator[Row]) -> Iterator[dict[str, str | None]]:
    """The rows as maps; of two columns with the same name, the last one wins."""
    place = {name: number for number, name in enumerate(header)}
    names = header_order(place)
    is_as_written = names == header
    for values in rows:
        missing = len(header) - len(values)
        padded = values + [None] * missing if missing > 0 else values
        if is_as_written:
            yield dict(zip(names, padded, strict=False))
        else:
            yield {name: padded[place[name]] for name in names}


def _unpacked(file: IO[bytes], path: Path) -> IO[bytes] | GzipFile:
    """The bytes of a file, or of the single file in an archive, recognised by its first bytes rather than its name."""
    head = file.read(4)
    file.seek(0)
    if head.startswith(_GZIP):
        return GzipFile(fileobj=file)
    if head != _ZIP:
        return file
    from zipfile import BadZipFile, ZipFile

    archive = ZipFile(file)
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
    if len(names) != 1:
        raise BadZipFile(f"{path} has {len(names)} files")
    return archive.open(names[0])


def _decoded(file: IO[bytes] | GzipFile) -> io.TextIOWrapper:
    """Text in the encoding of its byte order mark, UTF-8 without one; invalid bytes become U+FFFD."""
    buffered = io.BufferedReader(file)  # type: ignore[type-var]
    head = buffered.peek(4)[:4]
    mark, encoding = next(((mark, name) for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), (b"", "utf-8"))
    buffered.read(len(mark))
    return io.TextIOWrapper(buffered, encoding, errors=_REPLACED, newline="")


def _replace(error: UnicodeError) -> tuple[str, int]:
    """One U+FFFD for what Java's decoder takes for one character: a surrogate in UTF-8 is three bytes."""
    assert isinstance(error, UnicodeDecodeError)
    bad = error.object[error.start : error.start + 3]
    is_surrogate = error.encoding == "utf-8" and len(bad) == 3 and bad[0] == 0xED and 0xA0 <= bad[1] <= 0xBF
    if is_surrogate and 0x80 <= bad[2] <= 0xBF:
        return "\ufffd", error.start + 3
    return "\ufffd", error.end


_REPLACED = "hoplite.csv.replace"
codecs.register_error(_REPLACED, _replace)
