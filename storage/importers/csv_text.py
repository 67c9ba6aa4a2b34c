"""The bytes of a plain CSV file: checked before Arrow parses them, and the line of each of its rows.

Arrow's rules are used here too: a quote is special only at the start of a field, where it opens a part that ends with
the next quote that is not doubled; a row ends with \\n, \\r\\n or \\r outside of such a part; blank lines are no rows.
Arrow reads a quoted part that is never closed up to the end of the file without a word, and knows rows only by number.
"""

from __future__ import annotations

import gzip
import os
import re

import numpy as np

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.importers.lines import GZIP_MAGIC
from hoplite.storage.importers.problem import bad_file, bad_line
from hoplite.values.columns import Int64s

_BOM = b"\xef\xbb\xbf"
_BLANK_LINES = re.compile(rb"[\r\n]*+")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_QUOTED = re.compile(rb'"(?:[^"]++|"")*+"')
_LF, _CR = 10, 13


@dataclass(frozen=True, slots=True)
class CsvText:
    """A file: its bytes without a byte order mark, the names in its first row, and where the rows below it begin."""

    file: str
    data: bytes
    delimiter: str
    names: tuple[str, ...]
    body: int

    def line_numbers(self) -> Int64s:
        """The line, counted from 1, on which each row below the names begins."""
        codes = np.frombuffer(self.data, np.uint8)
        is_end = codes == _LF
        is_return = codes == _CR
        is_return[:-1] &= ~is_end[1:]
        starts = np.concatenate([[0], np.flatnonzero(is_end | is_return) + 1])
        is_row = (starts >= self.body) & (starts < len(codes))
        is_row[is_row] = ~np.isin(codes[starts[is_row]], (_LF, _CR))
        opened, closed = self._quoted_line_ends()
        if len(opened):
            before = np.searchsorted(opened, starts) - 1
            is_row &= (before < 0) | (starts > closed[before])
        return np.flatnonzero(is_row) + 1

    def _quoted_line_ends(self) -> tuple[Int64s, Int64s]:
        """Where quoted parts of several lines begin and end. Everything between them is passed over in one step."""
        others = _passing_over(self.delimiter, rb'[^"\r\n]')
        spans: list[tuple[int, int]] = []
        position = self.body
        while (position := _end(others, self.data, position)) < len(self.data):
            end = _end(_QUOTED, self.data, position)
            spans.append((position, end - 1))
            position = end
        opened, closed = np.array(spans, np.int64).reshape(-1, 2).T
        return opened, closed


def read_csv_text(path: str | os.PathLike[str], delimiter: str) -> CsvText:
    """Read a file, compressed or not; raises unless it is UTF-8, has names and closes all of its quotes."""
    file = os.path.basename(os.fspath(path))
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise bad_file(
            file, f"the delimiter is one ASCII character, such as a comma or a tab, and not a quote; not {delimiter!r}"
        )
    data = _read(path)
    _refuse_other_encodings(file, data)
    first = _end(_BLANK_LINES, data, 0)
    field = _field(delimiter)
    row = re.compile(b"%b(?:%b%b)*+" % (field, re.escape(delimiter.encode()), field))
    names_end = _end(row, data, first)
    _refuse_open_quote(file, data, delimiter, first)
    if first == names_end:
        raise bad_file(file, "the file is empty: its first line should name the columns")
    names = _names(data[first:names_end], delimiter)
    found = _LINE_END.match(data, names_end)
    return CsvText(file, data, delimiter, names, names_end if found is None else found.end())


def _read(path: str | os.PathLike[str]) -> bytes:
    import pyarrow as pa

    place = os.fspath(path)
    if os.path.isdir(place):
        raise bad_file(place, "this is a folder, not a file")
    try:
        if os.path.isfile(place):
            with pa.input_stream(place, compression="detect") as stream:
                data: bytes = stream.read()
        else:  # a pipe, in which Arrow would try to move
            with open(place, "rb") as pipe:
                data = pipe.read()
        if data.startswith(GZIP_MAGIC):  # whatever its name
            data = gzip.decompress(data)
    except (OSError, EOFError) as error:
        code = getattr(error, "errno", None)
        reason = os.strerror(code) if code else f"cannot be read: {error}"  # Arrow's own texts repeat the path
        raise bad_file(place, reason) from error
    return data.removeprefix(_BOM)


def _refuse_other_encodings(file: str, data: bytes) -> None:
    """Raise at the first byte that is not UTF-8: Arrow says neither where it is nor, for some rows, that there is."""
    import pyarrow as pa

    ends = pa.py_buffer(np.array([0, len(data)], np.int64).tobytes())
    whole = pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(data)])
    try:
        whole.cast(pa.large_string())
    except pa.ArrowInvalid:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            reason = f"the byte 0x{data[error.start]:02x} is not UTF-8; convert the file to UTF-8 first"
            raise bad_line(file, _line_at(data, error.start), reason) from None


def _refuse_open_quote(file: str, data: bytes, delimiter: str, start: int) -> None:
    """One step of a compiled pattern goes through the whole file, and stops at a quote that is never closed."""
    if b'"' in data:
        position = _end(_passing_over(delimiter, rb'[^"]'), data, start)
        if position < len(data):
            raise bad_line(file, _line_at(data, position), "a quote that is never closed opens a field here")


def _passing_over(delimiter: str, quoted: bytes) -> re.Pattern[bytes]:
    """A pattern for any number of whole fields, as long as their quoted parts consist of these characters."""
    end = b"%b\r\n" % re.escape(delimiter.encode())
    inside = rb'(?<=[^%b])"' % end
    opened = rb'(?<![^%b])"(?:%b++|"")*+"' % (end, quoted)
    return re.compile(rb'(?:[^"]++|%b|%b)*+' % (inside, opened))


def _field(delimiter: str) -> bytes:
    return rb'(?:"((?:[^"]++|"")*+)"?+)?+([^%b\r\n]*+)' % re.escape(delimiter.encode())


def _names(row: bytes, delimiter: str) -> tuple[str, ...]:
    field = re.compile(rb"(?:\A|%b)%b" % (re.escape(delimiter.encode()), _field(delimiter)))
    found = [(quoted or b"").replace(b'""', b'"') + rest for quoted, rest in field.findall(row)]
    return tuple(name.decode("utf-8") for name in found)


def _end(pattern: re.Pattern[bytes], data: bytes, start: int) -> int:
    found = pattern.match(data, start)
    assert found is not None  # these patterns match nothing, too
    return found.end()


def _line_at(data: bytes, position: int) -> int:
    return 1 + len(_LINE_END.findall(data, 0, position))
