r"""The rows of a CSV file as Neo4j's LOAD CSV reads them: text goes in piece by piece, rows of fields come out.

    a field that begins with a quote    ends with one; in it "" is a quote, \" and \\ stand for their second character
    any other field                     is taken as it is, with the quotes and backslashes in it
    nothing between two terminators     is null, "" is the empty string
    \n, \r and both                     end a row; empty lines are skipped

Text without a quote is split. Text with quotes goes through Python's own reader as far as it agrees; what it cannot
read, or would read differently, is read field by field.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from typing import NoReturn

from hoplite.errors import CypherError
from hoplite.lazy import lazy_pattern

Row = list[str | None]

QUOTE = '"'
LONGEST_FIELD = 2 * 1024 * 1024  # the size of Neo4j's buffer
_PIECE = 1 << 18
_MARK = "\0"
_EXECUTION_FAILED = "Neo.DatabaseError.Statement.ExecutionFailed"

_LINES = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_LINE_END = lazy_pattern(r"[\r\n]+")
_QUOTED = lazy_pattern(r'"([^"\\]*+(?:(?:""|\\["\\]|\\(?!["\\]))[^"\\]*+)*+)"')
_ESCAPED = lazy_pattern(r'""|\\(["\\])')


class _Incomplete(Exception):
    """The row continues beyond the text read so far."""


class CsvRows:
    """The rows of one file. `read` returns up to a number of characters; `name` is for messages."""

    def __init__(self, read: Callable[[int], str], terminator: str, name: str) -> None:
        self._read = read
        self._terminator = terminator
        self._name = name
        self._plain = re.compile(rf"[^{re.escape(terminator)}\r\n]*+")
        between = re.escape(terminator)
        self._quoted_nothing = re.compile(rf'(?<![^{between}\r\n])""(?=[{between}\r\n]|\Z)')
        self._text = ""
        self._before = 0  # characters of the file before the text
        self._line = 0  # rows before it, and their line ends within quotes
        self._at_end = False
        self._is_ordinary = terminator not in '"\\\r\n'

    def __iter__(self) -> Iterator[Row]:
        more = _PIECE
        while not self._at_end:
            piece = self._read(more)
            self._at_end = len(piece) < more
            self._text += piece
            taken = 0
            for rows, taken in self._blocks():  # noqa: B007 - how far it came
                yield from rows
            if taken:
                self._before += taken
                self._text = self._text[taken:]
                more = _PIECE
            else:
                more *= 2

    def _blocks(self) -> Iterator[tuple[list[Row], int]]:
        """Rows, and the position in the text after them."""
        text = self._text
        end = len(text) if self._at_end else max(text.rfind("\n"), text.rfind("\r")) + 1
        if self._is_ordinary and not self._at_end and text.endswith("\r"):
            end = max(text.rfind("\n", 0, -1), text.rfind("\r", 0, -1)) + 1  # \n may follow
        if self._is_ordinary and end == 0 and len(text) <= LONGEST_FIELD:
            return
        if self._is_ordinary and text.find(QUOTE, 0, end) < 0 and 0 < end <= LONGEST_FIELD:
            rows = [_split(line, self._terminator) for line in _LINE_END.split(text[:end]) if line]
            self._line += len(rows)
            yield rows, end
            return
        at = 0
        if self._is_ordinary and '\\"' not in text and "\\\\" not in text:
            rows, at = self._read_by_csv(text[:end])
            yield rows, at
        yield from self._read_by_fields(at)

    def _read_by_csv(self, text: str) -> tuple[list[Row], int]:
        """What Python's reader reads as Neo4j does; stops before the first row where they differ.

        The reader does not tell "" from nothing, so a mark is put in its place: a mark that is a whole field was "",
        and one that is not means that the quotes were inside another field, and none of this is used.
        """
        lines = _LINES.findall(text)
        marked, marks = text, 0
        if '""' in text:
            if _MARK in text:
                return [], 0
            marked, marks = self._quoted_nothing.subn(_MARK, text)
        rows: list[Row] = []
        seen, line_ends, met = 0, 0, 0
        reader = csv.reader(_LINES.findall(marked) if marks else lines, delimiter=self._terminator, strict=True)
        try:
            for fields in reader:
                if _MARK in fields and marks:
                    met += fields.count(_MARK)
                    rows.append(["" if field == _MARK else field or None for field in fields])
                elif "" in fields:
                    rows.append([field or None for field in fields])
                elif fields:
                    rows.append(fields)  # type: ignore[arg-type]
                if reader.line_num > seen + 1:
                    line_ends += sum(line.count("\n") for line in lines[seen : reader.line_num - 1])
                seen = reader.line_num
        except csv.Error:
            marks = len(self._quoted_nothing.findall("".join(lines[:seen]))) if marks else 0
        if met != marks:
            return [], 0
        self._line += len(rows) + line_ends
        return rows, sum(map(len, lines[:seen]))

    def _read_by_fields(self, at: int) -> Iterator[tuple[list[Row], int]]:
        while at < len(self._text):
            try:
                row, end = self._row(at)
            except _Incomplete:
                return
            if row:
                self._line += 1 + self._text.count("\n", at, end - 1)
            at = end
            yield ([row] if row else []), at

    def _row(self, at: int) -> tuple[Row, int]:
        """The row that begins here, and the position after its end; an empty line is skipped."""
        text, terminator = self._text, self._terminator
        row: Row = []
        begin = at
        while True:
            is_quoted = text.startswith(QUOTE, at) and terminator != QUOTE
            field, at = self._quoted(at, begin) if is_quoted else self._unquoted(at)
            row.append(field)
            if text.startswith(terminator, at):
                at += 1
                continue
            if at == len(text) and not self._at_end:
                raise _Incomplete
            if at == begin:
                return [], at + 1
            return row, at + 1

    def _unquoted(self, at: int) -> tuple[str | None, int]:
        found = self._plain.match(self._text, at)
        assert found is not None
        if found.end() - at > LONGEST_FIELD:
            _too_long()
        if found.end() == len(self._text) and not self._at_end:
            raise _Incomplete
        return found[0] or None, found.end()

    def _quoted(self, at: int, begin: int) -> tuple[str, int]:
        found = _QUOTED.match(self._text, at)
        length = (len(self._text) if found is None else found.end()) - at
        if length > LONGEST_FIELD:
            _too_long()
        if found is None or (found.end() == len(self._text) and not self._at_end):
            if not self._at_end:
                raise _Incomplete
            if (len(self._text) - len(self._text.rstrip("\\"))) % 2:  # a final backslash ends the field too
                return _ESCAPED.sub(_unescaped, self._text[at + 1 :]), len(self._text)
            line = self._line + self._text.count("\n", begin, at)
            self._malformed(len(self._text) + 1, f'Missing end for quote (") which started on line {line}')
        content = found[1]
        end = found.end()
        if end < len(self._text) and self._text[end] not in (self._terminator, "\r", "\n"):
            raw = self._text[at + 1 : end + 1]
            moved = _ESCAPED.sub(_unescaped, content) + raw[-2:]
            read = moved + raw[len(moved) :]  # as in Neo4j's buffer, where characters have been moved up
            self._malformed(
                end + 1,
                " there's a field starting with a quote and whereas it ends that quote there seems to be characters "
                f"in that field after that ending quote. That isn't supported. This is what I read: '{read}'",
            )
        return (_ESCAPED.sub(_unescaped, content) if QUOTE in content or "\\" in content else content), end

    def _malformed(self, at: int, problem: str) -> NoReturn:
        raise CypherError(_EXECUTION_FAILED, f"At {self._name} @ position {self._before + at} - {problem}")


def _split(line: str, terminator: str) -> Row:
    return [field or None for field in line.split(terminator)]


def _unescaped(found: re.Match[str]) -> str:
    return found[1] or QUOTE


def _too_long() -> NoReturn:
    raise CypherError(
        _EXECUTION_FAILED,
        "Tried to read a field larger than the current buffer size.\n Make sure that the field doesn't have an "
        "unterminated quote,\n if it doesn't you can try increasing the buffer size via "
        "`dbms.import.csv.buffer_size`. ()",
    )
