"""Rows from outside the graph: procedures and CSV files."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.operators.base import Evaluator, Operator, column_of, evaluate, null_column
from hoplite.engine.procedures.registry import Procedure
from hoplite.errors import CypherError
from hoplite.planner.csv_place import FILE, LINE
from hoplite.values.columns import Integers, constant

_ROWS_AT_ONCE = 4096


@dataclass(slots=True, eq=False)
class CallProcedure:
    """Call a procedure for each row; one that yields nothing hands the row on."""

    source: Operator
    procedure: str
    arguments: tuple[Evaluator, ...]
    outputs: tuple[tuple[str, str], ...]
    yields: bool
    optional: bool

    def run(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """A row for each row that the procedure yields."""
        procedure = context.procedures[self.procedure]
        for incoming in self.source.run(context, argument):
            batch, columns, error = evaluate(incoming, self.arguments, context)
            values = [column.objects() for column in columns]
            for row in range(batch.row_count):
                context.check()
                yield from self._called(context, procedure, batch, row, [v[row] for v in values])
            if error is not None:
                raise error

    def _called(
        self, context: Execution, procedure: Procedure, batch: Batch, row: int, arguments: list[Any]
    ) -> Iterator[Batch]:
        """What one call yields, some rows at a time: a procedure may never come to its end."""
        anything = False
        records: list[Mapping[str, Any]] = []
        for record in procedure.call(context, arguments):
            context.check()
            anything = anything or not isinstance(record, Batch) or record.row_count > 0
            if self.yields and isinstance(record, Batch):
                if records:
                    yield self._joined(batch, row, records)
                    records = []
                repeated = batch.take(np.full(record.row_count, row, np.int64))
                yield repeated.with_columns({column: record[name] for name, column in self.outputs})
            elif self.yields and isinstance(record, Mapping):
                records.append(record)
                if len(records) == _ROWS_AT_ONCE:
                    yield self._joined(batch, row, records)
                    records = []
        if records:
            yield self._joined(batch, row, records)
        if not self.yields:
            yield batch.rows(row, row + 1)
        elif self.optional and not anything:
            alone = batch.rows(row, row + 1)
            yield alone.with_columns({column: null_column(1) for _, column in self.outputs})

    def _joined(self, batch: Batch, row: int, records: list[Mapping[str, Any]]) -> Batch:
        repeated = batch.take(np.full(len(records), row, np.int64))
        new = {column: column_of([record.get(name) for record in records]) for name, column in self.outputs}
        return repeated.with_columns(new)


@dataclass(slots=True, eq=False)
class LoadCsv:
    """A row for each line of a CSV file in the folder that the database may import from."""

    source: Operator
    url: Evaluator
    variable: str
    with_headers: bool
    field_terminator: str | None

    def run(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Lists of strings, or maps by the names of the first line; an empty field is null."""
        for incoming in self.source.run(context, argument):
            batch, (urls,), error = evaluate(incoming, (self.url,), context)
            for row, url in enumerate(urls.objects()):
                lines: list[Any] = []
                number = 1 + int(self.with_headers)
                for line in self._lines(context, url):
                    lines.append(line)
                    if len(lines) == _ROWS_AT_ONCE:
                        context.check()
                        yield self._joined(batch, row, lines, url, number)
                        number += len(lines)
                        lines = []
                if lines:
                    yield self._joined(batch, row, lines, url, number)
            if error is not None:
                raise error

    def _joined(self, batch: Batch, row: int, lines: list[Any], url: str, number: int) -> Batch:
        """One row of the batch beside some lines, of which the first has this number: empty ones do not count."""
        count = len(lines)
        repeated = batch.take(np.full(count, row, np.int64))
        return repeated.with_columns(
            {
                self.variable: column_of(lines),
                FILE: constant(url.removeprefix("file:"), count),
                LINE: Integers(np.arange(number, number + count, dtype=np.int64)),
            }
        )

    def _lines(self, context: Execution, url: Any) -> Iterator[Any]:
        try:
            path = confined_path(url, context.import_folder)
            with _opened(path) as file:
                reader = csv.reader(file, delimiter=self.field_terminator or ",", escapechar="\\")
                header: list[str] | None = None
                for fields in reader:
                    if not fields:
                        continue
                    if self.with_headers and header is None:
                        header = fields
                        continue
                    values = [field if field != "" else None for field in fields]
                    if header is None:
                        yield values
                    else:
                        padded = values + [None] * (len(header) - len(values))
                        yield dict(zip(header, padded, strict=False))
        except (OSError, EOFError, ValueError, TypeError, csv.Error, zlib.error) as problem:
            raise _cannot_load(str(url), str(problem)) from None


def _opened(path: Path) -> io.TextIOBase:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _cannot_load(url: str, reason: str) -> CypherError:
    return CypherError("Neo.ClientError.Statement.ExternalResourceFailed", f"Cannot load from URL '{url}': {reason}")


def confined_path(url: Any, folder: str | None) -> Path:
    """The file a `file:///` URL names, which must lie in the import folder."""
    if not isinstance(url, str):
        raise _cannot_load(str(url), "the URL is not a string")
    parts = urlparse(url)
    if parts.scheme not in ("", "file") or parts.netloc:
        raise _cannot_load(url, "only file:/// URLs are read, from the folder given as import_folder")
    if folder is None:
        raise _cannot_load(url, "no import_folder was given to hoplite.open()")
    root = Path(folder).resolve()
    path = (root / unquote(parts.path).lstrip("/")).resolve()
    if not path.is_relative_to(root):
        raise _cannot_load(url, "the file lies outside the import folder")
    if not path.is_file():
        raise _cannot_load(url, f"Couldn't load the external resource at: {url}")
    return path
