"""CSV files row by row: fields between quotes may hold delimiters, quotes (written twice) and line ends.

An empty field is None, a field that is only a pair of quotes is the empty text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hoplite.storage.importers.lines import Progress, numbered_lines

_MAX_LINES_OF_A_ROW = 10_000


class UnclosedQuote(ValueError):
    """A row whose quote is never closed."""


def csv_rows(
    path: str, delimiter: str = ",", quote: str = '"', progress: Progress | None = None
) -> Iterator[tuple[int, list[str | None]]]:
    """(line number, fields) of every row that is not blank; a row of several lines has the number of its first."""
    field = _field_pattern(delimiter, quote)
    pending: list[str] = []
    first = 0
    for number, whole_line in numbered_lines(path, progress, keep_blank=True, keep_return=True):
        line = whole_line.removesuffix("\r")
        if not pending and quote not in line:
            if line.strip():
                yield number, [text or None for text in line.split(delimiter)]
            continue
        if not pending:
            first = number
        pending.append(whole_line)  # a return before a line end may be part of a field
        whole = "\n".join(pending).removesuffix("\r")
        if whole.count(quote) % 2:
            if len(pending) > _MAX_LINES_OF_A_ROW:
                raise UnclosedQuote(f"line {first}: a quote that is not closed within {_MAX_LINES_OF_A_ROW} lines")
            continue
        yield first, _quoted_fields(whole, field, quote)
        pending = []
    if pending:
        raise UnclosedQuote(f"line {first}: a quote that is never closed")


def _field_pattern(delimiter: str, quote: str) -> re.Pattern[str]:
    d, q = re.escape(delimiter), re.escape(quote)
    return re.compile(rf"(?:{q}((?:[^{q}]|{q}{q})*){q}[ ]*|([^{d}]*))({d}|\Z)", re.DOTALL)


def _quoted_fields(row: str, field: re.Pattern[str], quote: str) -> list[str | None]:
    fields: list[str | None] = []
    position = 0
    while True:
        found = field.match(row, position)
        assert found is not None  # the pattern matches anything up to a delimiter
        quoted, plain, end = found.groups()
        fields.append(quoted.replace(quote * 2, quote) if quoted is not None else plain or None)
        if not end:
            return fields
        position = found.end()
