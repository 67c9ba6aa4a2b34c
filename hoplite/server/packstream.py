"""PackStream: values as bytes, as Bolt sends them.

`packed` writes the engine's values, `unpacked` reads them: dates, times, durations and points are the engine's on both
sides, so that values that a driver could not hold are not lost. Any other structure is read as a `Structure`; nodes,
relationships and paths are written by `hoplite/server/entities.py`. Input is untrusted: a length is believed only as
far as there are bytes after it, and nesting is limited to what the interpreter's stack has room for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from struct import Struct
from typing import Any

from hoplite.lazy_dataclass import dataclass
from hoplite.values.calendar import checked_day
from hoplite.values.spatial import Point, checked_point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time
from hoplite.values.zones import parse_zone

MAX_DEPTH = 300

_U8, _U16, _U32 = Struct(">B"), Struct(">H"), Struct(">I")
_I8, _I16, _I32, _I64, _DOUBLE = Struct(">b"), Struct(">h"), Struct(">i"), Struct(">q"), Struct(">d")

_TINY = {value: _I8.pack(value) for value in range(-16, 128)}
NULL, _TRUE, _FALSE = b"\xc0", b"\xc3", b"\xc2"


class PackStreamError(ValueError):
    """Bytes that are not a value."""


@dataclass(frozen=True, slots=True)
class Structure:
    """A message, or a value of an unknown kind: a tag and fields."""

    tag: int
    fields: tuple[Any, ...]


# --- writing ----------------------------------------------------------------------------------------------------


def packed_integer(value: int) -> bytes:
    """In as few bytes as possible."""
    if -16 <= value < 128:
        return _TINY[value]
    if -0x80 <= value < 0x80:
        return b"\xc8" + _I8.pack(value)
    if -0x8000 <= value < 0x8000:
        return b"\xc9" + _I16.pack(value)
    if -0x80000000 <= value < 0x80000000:
        return b"\xca" + _I32.pack(value)
    return b"\xcb" + _I64.pack(value)


def packed_float(value: float) -> bytes:
    """Always eight bytes."""
    return b"\xc1" + _DOUBLE.pack(value)


def packed_text(value: str) -> bytes:
    """Half of a surrogate pair is sent as a question mark, as Java does."""
    encoded = value.encode("utf-8", "replace")
    return _header(len(encoded), 0x80, b"\xd0", b"\xd1", b"\xd2") + encoded


def packed_bytes(value: bytes) -> bytes:
    """A byte array."""
    return _header(len(value), None, b"\xcc", b"\xcd", b"\xce") + value


def list_header(size: int) -> bytes:
    """The header of a list of values."""
    return _header(size, 0x90, b"\xd4", b"\xd5", b"\xd6")


def map_header(size: int) -> bytes:
    """The header of a map."""
    return _header(size, 0xA0, b"\xd8", b"\xd9", b"\xda")


def structure_header(tag: int, size: int) -> bytes:
    """What comes before the fields of a structure."""
    return bytes((0xB0 | size, tag))


def _header(size: int, tiny: int | None, short: bytes, middle: bytes, long: bytes) -> bytes:
    if tiny is not None and size < 0x10:
        return _U8.pack(tiny | size)
    if size < 0x100:
        return short + _U8.pack(size)
    if size < 0x10000:
        return middle + _U16.pack(size)
    return long + _U32.pack(size)


def packed(value: Any, other: Callable[[Any], bytes] | None = None) -> bytes:
    """The bytes of a value; `other` packs values that are not known here."""
    parts: list[bytes] = []
    _pack(value, parts.append, other)
    return b"".join(parts)


def _pack(value: Any, write: Callable[[bytes], None], other: Callable[[Any], bytes] | None) -> None:
    kind = type(value)
    plain = _PLAIN.get(kind)
    if plain is not None:
        write(plain(value))
    elif kind is list or kind is tuple:
        write(list_header(len(value)))
        for item in value:
            _pack(item, write, other)
    elif kind is dict:
        write(map_header(len(value)))
        for key, item in value.items():
            write(packed_text(key))
            _pack(item, write, other)
    elif kind is Structure:
        write(structure_header(value.tag, len(value.fields)))
        for item in value.fields:
            _pack(item, write, other)
    elif other is not None:
        write(other(value))
    elif isinstance(value, Mapping):
        _pack(dict(value), write, other)
    else:
        raise TypeError(f"Values of type {kind.__name__} cannot be sent.")


def _fields(tag: bytes, *values: bytes) -> bytes:
    return _U8.pack(0xB0 | len(values)) + tag + b"".join(values)


def _packed_date_time(value: DateTime) -> bytes:
    moment = packed_integer(value.epoch_second), packed_integer(value.nanosecond)
    if value.region is None:
        return _fields(b"I", *moment, packed_integer(value.offset_seconds))
    return _fields(b"i", *moment, packed_text(value.region))


def _packed_local_date_time(value: LocalDateTime) -> bytes:
    return _fields(b"d", packed_integer(value.local_second), packed_integer(value.nanosecond))


def _packed_duration(value: Duration) -> bytes:
    return _fields(b"E", *map(packed_integer, (value.months, value.days, value.seconds, value.nanoseconds)))


def _packed_point(value: Point) -> bytes:
    tag = b"X" if len(value.coordinates) == 2 else b"Y"
    return _fields(tag, packed_integer(value.srid), *map(packed_float, value.coordinates))


_PLAIN: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: NULL,
    bool: lambda value: _TRUE if value else _FALSE,
    int: packed_integer,
    float: packed_float,
    str: packed_text,
    bytes: packed_bytes,
    Date: lambda value: _fields(b"D", packed_integer(value.epoch_day)),
    LocalTime: lambda value: _fields(b"t", packed_integer(value.nanosecond_of_day)),
    Time: lambda value: _fields(b"T", packed_integer(value.nanosecond_of_day), packed_integer(value.offset_seconds)),
    LocalDateTime: _packed_local_date_time,
    DateTime: _packed_date_time,
    Duration: _packed_duration,
    Point: _packed_point,
}


def packed_all(values: Iterable[Any], other: Callable[[Any], bytes] | None = None) -> list[bytes]:
    """The bytes of each of some values."""
    found = []
    for value in values:
        plain = _PLAIN.get(type(value))
        found.append(packed(value, other) if plain is None else plain(value))
    return found


# --- reading ----------------------------------------------------------------------------------------------------


def unpacked(data: bytes) -> Any:
    """The one value in some bytes. Raises `PackStreamError` if they are not exactly one."""
    reader = _Reader(data)
    try:
        value = reader.value(0)
    except IndexError:
        raise PackStreamError("The message ends in the middle of a value.") from None
    if reader.place != len(data):
        raise PackStreamError(f"{len(data) - reader.place} bytes are left after the end of the message.")
    return value


class _Reader:
    """A position in some bytes, and what can be read from there."""

    __slots__ = ("data", "place")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def value(self, depth: int) -> Any:
        marker = self.data[self.place]
        self.place += 1
        if marker < 0x80:
            return marker
        if marker >= 0xF0:
            return marker - 0x100
        if marker < 0xC0:
            kind, size = marker >> 4, marker & 0x0F
        else:
            fixed = _FIXED.get(marker)
            if fixed is not None:
                return self._number(fixed)
            if marker in _CONSTANTS:
                return _CONSTANTS[marker]
            kind, length = _SIZED.get(marker, (0, _U8))
            if not kind:
                raise PackStreamError(f"No value begins with the byte 0x{marker:02X}.")
            size = self._number(length)
        if kind == _TEXT:
            try:
                return str(self._take(size), "utf-8")
            except UnicodeDecodeError:
                raise PackStreamError("A text is not UTF-8.") from None
        if kind == _BYTES:
            return bytes(self._take(size))
        if depth >= MAX_DEPTH:
            raise PackStreamError(f"Values are nested more than {MAX_DEPTH} deep.")
        if kind == _LIST:
            self._expect(size)
            return [self.value(depth + 1) for _ in range(size)]
        if kind == _MAP:
            return self._map(size, depth)
        return self._structure(size, depth)

    def _number(self, form: Struct) -> Any:
        try:
            (number,) = form.unpack_from(self.data, self.place)
        except Exception:
            raise IndexError from None
        self.place += form.size
        return number

    def _expect(self, size: int) -> None:
        """Values take at least a byte each."""
        if size > len(self.data) - self.place:
            raise IndexError

    def _take(self, size: int) -> memoryview:
        self._expect(size)
        first = self.place
        self.place += size
        return memoryview(self.data)[first : self.place]

    def _map(self, size: int, depth: int) -> dict[str, Any]:
        self._expect(2 * size)
        entries: dict[str, Any] = {}
        for _ in range(size):
            key = self.value(depth + 1)
            if type(key) is not str:
                raise PackStreamError("A map key is not a text.")
            if key in entries:
                raise PackStreamError(f"The key {key!r} occurs twice in a map.")
            entries[key] = self.value(depth + 1)
        return entries

    def _structure(self, size: int, depth: int) -> Any:
        tag = self.data[self.place]
        self.place += 1
        fields = tuple([self.value(depth + 1) for _ in range(size)])
        known = None if depth == 0 else _STRUCTURES.get((tag, size))  # the outermost one is a message
        if known is None:
            return Structure(tag, fields)
        kinds, make = known
        for field, kind in zip(fields, kinds, strict=True):
            if type(field) is not kind:
                raise PackStreamError(f"A value of the kind {chr(tag)!r} holds a {type(field).__name__}.")
        try:
            return make(*fields)
        except PackStreamError:
            raise
        except Exception as error:  # invalid dates, times or coordinates
            raise PackStreamError(str(error) or f"A value of the kind {chr(tag)!r} is out of range.") from None


_TEXT, _BYTES, _LIST, _MAP, _STRUCTURE = 0x8, 0x1, 0x9, 0xA, 0xB
_FIXED = {0xC1: _DOUBLE, 0xC8: _I8, 0xC9: _I16, 0xCA: _I32, 0xCB: _I64}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_SIZED = {
    0xCC: (_BYTES, _U8), 0xCD: (_BYTES, _U16), 0xCE: (_BYTES, _U32),
    0xD0: (_TEXT, _U8), 0xD1: (_TEXT, _U16), 0xD2: (_TEXT, _U32),
    0xD4: (_LIST, _U8), 0xD5: (_LIST, _U16), 0xD6: (_LIST, _U32),
    0xD8: (_MAP, _U8), 0xD9: (_MAP, _U16), 0xDA: (_MAP, _U32),
}  # fmt: skip

_NANOSECONDS, _DAY = 1_000_000_000, 86_400 * 1_000_000_000


def _within(value: int, least: int, most: int, what: str) -> int:
    if not least <= value <= most:
        raise PackStreamError(f"{value} is out of range for {what}.")
    return value


def _date(day: int) -> Date:
    return Date(checked_day(day))


def _local_time(nanosecond: int) -> LocalTime:
    return LocalTime(_within(nanosecond, 0, _DAY - 1, "a time of day"))


def _offset(seconds: int) -> int:
    return _within(seconds, -18 * 3600, 18 * 3600, "the offset of a time zone")


def _time(nanosecond: int, offset: int) -> Time:
    return Time(_local_time(nanosecond).nanosecond_of_day, _offset(offset))


def _fraction(nanosecond: int) -> int:
    return _within(nanosecond, 0, _NANOSECONDS - 1, "the nanoseconds of a second")


def _local_date_time(second: int, nanosecond: int) -> LocalDateTime:
    return LocalDateTime.of_second(second, _fraction(nanosecond))


def _date_time(second: int, nanosecond: int, offset: int) -> DateTime:
    return DateTime.of_instant(second, _fraction(nanosecond), _offset(offset))


def _date_time_in_zone(second: int, nanosecond: int, zone: str) -> DateTime:
    return DateTime.of_instant(second, _fraction(nanosecond), parse_zone(zone))


def _duration(months: int, days: int, seconds: int, nanoseconds: int) -> Duration:
    more, rest = divmod(nanoseconds, _NANOSECONDS)
    return Duration(months, days, _within(seconds + more, -(2**63), 2**63 - 1, "a duration"), rest)


def _point(srid: int, *coordinates: float) -> Point:
    if srid not in _SRIDS[len(coordinates)]:
        raise PackStreamError(f"{srid} is not the number of a coordinate system with {len(coordinates)} dimensions.")
    return checked_point(srid, coordinates)


_SRIDS = {2: (4326, 7203), 3: (4979, 9157)}  # by dimensions

_STRUCTURES: dict[tuple[int, int], tuple[tuple[type, ...], Callable[..., Any]]] = {
    (ord("D"), 1): ((int,), _date),
    (ord("t"), 1): ((int,), _local_time),
    (ord("T"), 2): ((int, int), _time),
    (ord("d"), 2): ((int, int), _local_date_time),
    (ord("I"), 3): ((int, int, int), _date_time),
    (ord("i"), 3): ((int, int, str), _date_time_in_zone),
    (ord("E"), 4): ((int, int, int, int), _duration),
    (ord("X"), 3): ((int, float, float), _point),
    (ord("Y"), 4): ((int, float, float, float), _point),
}
