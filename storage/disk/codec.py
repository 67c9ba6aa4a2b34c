"""Values as bytes: what a property may hold, and maps and lists of it.

A value is one tag byte and its content. Integers are zigzag-coded in groups of seven bits, lowest first; lengths are
the same without the zigzag. Text is UTF-8 in which a lone surrogate is coded like any other character, since Cypher's
strings may hold one. Input is never trusted: every length is checked against the bytes that are left.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

NULL, FALSE, TRUE, INTEGER, FLOAT, STRING, BYTES, LIST, MAP = range(9)
DATE, LOCAL_TIME, TIME, LOCAL_DATE_TIME, DATE_TIME, DURATION, POINT = range(16, 23)

MAXIMUM_DEPTH = 16
_FLOAT = struct.Struct("<d")


class BadEncoding(Exception):
    """Bytes that do not encode a value."""


def encode(value: Any) -> bytes:
    """A value as bytes."""
    out = bytearray()
    encode_into(value, out)
    return bytes(out)


def encode_into(value: Any, out: bytearray) -> None:
    """Append a value."""
    writer = _WRITERS.get(type(value))
    if writer is None:
        raise TypeError(f"{type(value).__name__} is not a value that can be stored")
    writer(value, out)


def decode(data: bytes | memoryview) -> Any:
    """The value that all of the bytes encode."""
    reader = _Reader(data)
    value = reader.value(0)
    if reader.at != reader.end:
        raise BadEncoding("bytes are left over")
    return value


# --- writing ---


def _length(number: int, out: bytearray) -> None:
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _integers(numbers: Iterable[int], out: bytearray) -> None:
    for number in numbers:
        _length(number << 1 if number >= 0 else ~number << 1 | 1, out)


def _write_integer(value: int, out: bytearray) -> None:
    out.append(INTEGER)
    _length(value << 1 if value >= 0 else ~value << 1 | 1, out)


def _write_text(value: str, out: bytearray) -> None:
    out.append(STRING)
    _text(value, out)


def _text(value: str, out: bytearray) -> None:
    data = value.encode("utf-8", "surrogatepass")
    _length(len(data), out)
    out += data


def _write_bytes(value: bytes | bytearray, out: bytearray) -> None:
    out.append(BYTES)
    _length(len(value), out)
    out += value


def _write_list(value: list[Any] | tuple[Any, ...], out: bytearray) -> None:
    out.append(LIST)
    _length(len(value), out)
    for item in value:
        encode_into(item, out)


def _write_map(value: dict[str, Any], out: bytearray) -> None:
    out.append(MAP)
    _length(len(value), out)
    for key, item in value.items():
        _text(key, out)
        encode_into(item, out)


def _write_float(value: float, out: bytearray) -> None:
    out.append(FLOAT)
    out += _FLOAT.pack(value)


def _write_date_time(value: DateTime, out: bytearray) -> None:
    out.append(DATE_TIME)
    _integers((value.epoch_second, value.nanosecond, value.offset_seconds), out)
    _text(value.region or "", out)


def _write_point(value: Point, out: bytearray) -> None:
    out.append(POINT)
    _length(value.srid, out)
    _length(len(value.coordinates), out)
    for coordinate in value.coordinates:
        out += _FLOAT.pack(coordinate)


def _tagged(tag: int, fields: Callable[[Any], Iterable[int]]) -> Callable[[Any, bytearray], None]:
    def write(value: Any, out: bytearray) -> None:
        out.append(tag)
        _integers(fields(value), out)

    return write


_WRITERS: dict[type, Callable[[Any, bytearray], None]] = {
    type(None): lambda _, out: out.append(NULL),
    bool: lambda value, out: out.append(TRUE if value else FALSE),
    int: _write_integer,
    float: _write_float,
    str: _write_text,
    bytes: _write_bytes,
    bytearray: _write_bytes,
    list: _write_list,
    tuple: _write_list,
    dict: _write_map,
    Date: _tagged(DATE, lambda value: (value.epoch_day,)),
    LocalTime: _tagged(LOCAL_TIME, lambda value: (value.nanosecond_of_day,)),
    Time: _tagged(TIME, lambda value: (value.nanosecond_of_day, value.offset_seconds)),
    LocalDateTime: _tagged(LOCAL_DATE_TIME, lambda value: (value.epoch_day, value.nanosecond_of_day)),
    DateTime: _write_date_time,
    Duration: _tagged(DURATION, lambda value: (value.months, value.days, value.seconds, value.nanoseconds)),
    Point: _write_point,
}


# --- reading ---


class _Reader:
    """Reads values from the front of bytes."""

    __slots__ = ("at", "data", "end")

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = bytes(data)
        self.at = 0
        self.end = len(self.data)

    def value(self, depth: int) -> Any:
        """The next value."""
        if depth > MAXIMUM_DEPTH:
            raise BadEncoding("values are nested too deeply")
        tag = self.take(1)[0]
        read = _READERS.get(tag)
        if read is None:
            raise BadEncoding(f"unknown tag {tag}")
        return read(self, depth)

    def take(self, count: int) -> bytes:
        """The next bytes."""
        last = self.at + count
        if last > self.end:
            raise BadEncoding("it ends in the middle of a value")
        taken = self.data[self.at : last]
        self.at = last
        return taken

    def length(self) -> int:
        """The next non-negative number."""
        number, shift = 0, 0
        while True:
            if self.at >= self.end or shift > 63:
                raise BadEncoding("a number does not end")
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                if number >> 64:
                    raise BadEncoding("a number is too large")
                return number
            shift += 7

    def count(self) -> int:
        """A number of items, each of at least one byte."""
        count = self.length()
        if count > self.end - self.at:
            raise BadEncoding("it ends in the middle of a list")
        return count

    def integer(self) -> int:
        """The next integer."""
        number = self.length()
        return ~(number >> 1) if number & 1 else number >> 1

    def text(self) -> str:
        """The next text."""
        try:
            return self.take(self.length()).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise BadEncoding("text that is not UTF-8") from error

    def float(self) -> float:
        """The next floating-point number."""
        value: float = _FLOAT.unpack(self.take(8))[0]
        return value

    def point(self) -> Point:
        """The next point."""
        srid, dimensions = self.length(), self.length()
        if dimensions not in (2, 3):
            raise BadEncoding(f"a point with {dimensions} coordinates")
        return Point(srid, tuple(self.float() for _ in range(dimensions)))


_READERS: dict[int, Callable[[_Reader, int], Any]] = {
    NULL: lambda _, depth: None,
    FALSE: lambda _, depth: False,
    TRUE: lambda _, depth: True,
    INTEGER: lambda reader, depth: reader.integer(),
    FLOAT: lambda reader, depth: reader.float(),
    STRING: lambda reader, depth: reader.text(),
    BYTES: lambda reader, depth: reader.take(reader.length()),
    LIST: lambda reader, depth: [reader.value(depth + 1) for _ in range(reader.count())],
    MAP: lambda reader, depth: {reader.text(): reader.value(depth + 1) for _ in range(reader.count())},
    DATE: lambda reader, depth: Date(reader.integer()),
    LOCAL_TIME: lambda reader, depth: LocalTime(reader.integer()),
    TIME: lambda reader, depth: Time(reader.integer(), reader.integer()),
    LOCAL_DATE_TIME: lambda reader, depth: LocalDateTime(reader.integer(), reader.integer()),
    DATE_TIME: lambda reader, depth: DateTime(
        reader.integer(), reader.integer(), reader.integer(), reader.text() or None
    ),
    DURATION: lambda reader, depth: Duration(reader.integer(), reader.integer(), reader.integer(), reader.integer()),
    POINT: lambda reader, depth: reader.point(),
}
