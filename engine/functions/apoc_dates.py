"""apoc.date.* and apoc.temporal.*: points in time as integers since 1970, and Java's patterns for dates.

There are two kinds of patterns: those of `SimpleDateFormat`, which is lenient, for integers (here), and those of
`DateTimeFormatter` (`java_dates.py`) for temporal values and for converting text to text.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.functions.java_dates import (
    DAYS,
    BadPattern,
    Missing,
    Unreadable,
    fields_of,
    offset_text,
    write,
    write_duration,
    write_named,
)
from hoplite.engine.functions.java_dates_read import read, resolved
from hoplite.engine.functions.java_format import java_text
from hoplite.lazy import lazy_pattern
from hoplite.values.calendar import MONTH_NAMES, NANOS_PER_SECOND, SECONDS_PER_DAY, FieldError, day_of_week
from hoplite.values.render import describe
from hoplite.values.temporal import INSTANT_TYPES, DateTime, Duration

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DEFAULT_PATTERN = "yyyy-MM-dd HH:mm:ss"
_UNITS = {
    **dict.fromkeys(("ms", "milli", "millis", "milliseconds"), 1),
    **dict.fromkeys(("s", "second", "seconds"), 1_000),
    **dict.fromkeys(("m", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
}
_PIECE = lazy_pattern(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+")


# --- patterns ---


def _offset(moment: datetime) -> int:
    return int((moment.utcoffset() or timedelta()).total_seconds())


def _shown(moment: datetime, letters: str) -> str:
    width = len(letters)
    match letters[0]:
        case "y":
            return f"{moment.year % 100:02}" if width == 2 else f"{moment.year:0{width}}"
        case "G":
            return "AD"
        case "Y":  # the week's year: weeks begin on Sunday and belong to the year of their Saturday
            year = (moment + timedelta(days=(5 - moment.weekday()) % 7)).year
            return f"{year % 100:02}" if width == 2 else f"{year:0{width}}"
        case "M" | "L":
            name = MONTH_NAMES[moment.month - 1]
            return f"{moment.month:0{width}}" if width < 3 else name[:3] if width == 3 else name
        case "E":
            name = DAYS[moment.weekday()]
            return name[:3] if width < 4 else name
        case "a":
            return "AM" if moment.hour < 12 else "PM"
        case "X":
            return offset_text(_offset(moment), "" if width < 3 else ":", "Z", short=width == 1)
        case "Z":
            return offset_text(_offset(moment), "", None)
        case "z":
            return moment.tzname() or "UTC"
    numbers = {
        "d": moment.day,
        "D": moment.timetuple().tm_yday,
        "H": moment.hour,
        "k": moment.hour or 24,
        "K": moment.hour % 12,
        "h": moment.hour % 12 or 12,
        "m": moment.minute,
        "s": moment.second,
        "w": (moment.timetuple().tm_yday + date(moment.year, 1, 1).isoweekday() % 7 - 1) // 7 + 1,
        "W": (moment.day + date(moment.year, moment.month, 1).isoweekday() % 7 - 1) // 7 + 1,
        "F": (moment.day - 1) // 7 + 1,
        "u": moment.isoweekday(),
        "S": moment.microsecond // 1000,
    }
    return f"{numbers[letters[0]]:0{width}}"


_LETTERS = "GyYMLwWDdFEuaHkKhmsSzZX"
_QUOTED = lazy_pattern(r"'(?:[^']|'')*'")


def _check_pattern(pattern: str) -> None:
    """Raise an error for a pattern that `SimpleDateFormat` rejects."""
    unquoted = _QUOTED.sub("", pattern)
    if "'" in unquoted or any(sign.isascii() and sign.isalpha() and sign not in _LETTERS for sign in unquoted):
        message = f"The pattern: {pattern} is not correct"
        raise function_failed("apoc.date.format", "java.lang.IllegalArgumentException", message)


def format_moment(moment: datetime, pattern: str) -> str:
    """The moment formatted with a pattern."""
    parts = []
    for piece in _PIECE.finditer(pattern):
        text = piece.group(0)
        if text[0] == "'":
            parts.append("'" if text == "''" else text[1:-1].replace("''", "'"))
        else:
            parts.append(_shown(moment, text) if piece.group(1) else text)
    return "".join(parts)


_READ = {
    "y": r"(?P<year>\d{1,4})",
    "M": r"(?P<month>\d{1,2})",
    "d": r"(?P<day>\d{1,2})",
    "H": r"(?P<hour>\d{1,2})",
    "h": r"(?P<hour>\d{1,2})",
    "m": r"(?P<minute>\d{1,2})",
    "s": r"(?P<second>\d{1,2})",
    "S": r"(?P<fraction>\d{1,9})",
    "a": r"(?P<half>[AaPp][Mm])",
    "X": r"(?P<offset>Z|[+-]\d\d:?\d\d|[+-]\d\d)",
    "Z": r"(?P<offset>Z|[+-]\d\d:?\d\d)",
    "z": r"(?P<zone>[A-Za-z/_]+)",
    "E": r"[A-Za-z]+",
}
_NAMED_MONTH = r"(?P<month_name>[A-Za-z]+)"


def parse_moment(text: str, pattern: str, zone: tzinfo) -> datetime | None:
    """The moment that the text denotes, or None if it does not fit the pattern."""
    expression = ""
    for piece in _PIECE.finditer(pattern):
        part = piece.group(0)
        if part[0] == "'":
            expression += re.escape("'" if part == "''" else part[1:-1].replace("''", "'"))
        elif piece.group(1):
            known = _NAMED_MONTH if part.startswith("MMM") else _READ.get(part[0])
            if known is None:
                return None
            name = re.match(r"\(\?P<(\w+)>", known)
            repeated = name is not None and f"(?P<{name.group(1)}>" in expression
            expression += "(?:" + known[known.index(">") + 1 :] if repeated else known
        else:
            expression += re.escape(part)
    found = re.match(expression, text)
    return None if found is None else _moment(found.groupdict(), zone)


def _moment(fields: dict[str, str | None], zone: tzinfo) -> datetime | None:
    month = int(fields.get("month") or 1)
    if name := fields.get("month_name"):
        starts = [full[: max(3, len(name))].lower() for full in MONTH_NAMES]
        if name.lower() not in starts:
            return None
        month = starts.index(name.lower()) + 1
    hour = int(fields.get("hour") or 0)
    if half := fields.get("half"):
        hour = hour % 12 + (12 if half.upper() == "PM" else 0)
    milliseconds = int((fields.get("fraction") or "0")[:3].ljust(3, "0"))
    # Days beyond the end of a month and hours beyond a day overflow into the next, as in Java's lenient parser.
    start = datetime(int(fields.get("year") or 1970) + (month - 1) // 12, (month - 1) % 12 + 1, 1)
    clock = timedelta(
        days=int(fields.get("day") or 1) - 1,
        hours=hour,
        minutes=int(fields.get("minute") or 0),
        seconds=int(fields.get("second") or 0),
        milliseconds=milliseconds,
    )
    moment = start + clock
    offset = fields.get("offset")
    if offset is None:
        return moment.replace(tzinfo=_zone(fields.get("zone")) if fields.get("zone") else zone)
    if offset == "Z":
        return moment.replace(tzinfo=UTC)
    sign = -1 if offset[0] == "-" else 1
    digits = offset[1:].replace(":", "").ljust(4, "0")
    return moment.replace(tzinfo=UTC) - sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))


def _zone(name: str | None) -> tzinfo:
    if not name or name in ("UTC", "Z", "GMT"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        message = f"Unknown time-zone ID: {name}"
        raise function_failed("apoc.date.format", "java.time.zone.ZoneRulesException", message) from None


def _unit(name: str | None) -> int:
    """Milliseconds in a unit."""
    found = _UNITS.get((name or "ms").lower())
    if found is None:
        message = f"The unit: {name} is not correct"
        raise function_failed("apoc.date.convert", "java.lang.IllegalArgumentException", message)
    return found


def _truncated(value: int, divisor: int) -> int:
    return value // divisor if value >= 0 else -(-value // divisor)


def _milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


# --- functions ---


@apoc_function(
    "apoc.date.format(time :: INTEGER, unit = ms :: STRING, format = yyyy-MM-dd HH:mm:ss :: STRING, timezone =  :: "
    "STRING) "
    ":: STRING",
    "Formats a point in time with a pattern.",
)
def format_date(value: int | None, unit: str | None, pattern: str, zone: str) -> str | None:
    """`apoc.date.format(0, 's', 'yyyy')` is `'1970'`."""
    if value is None:
        return None
    unit = "ms" if unit is None else unit
    moment = _EPOCH + timedelta(milliseconds=value * _unit(unit))
    _check_pattern(pattern := pattern or _DEFAULT_PATTERN)
    return format_moment(moment.astimezone(_zone(zone)), pattern)


@apoc_function(
    "apoc.date.parse(time :: STRING, unit = ms :: STRING, format = yyyy-MM-dd HH:mm:ss :: STRING, timezone =  :: "
    "STRING) :: "
    "INTEGER",
    "Parses a point in time with a pattern.",
)
def parse_date(text: str | None, unit: str, pattern: str, zone: str) -> int | None:
    """`apoc.date.parse('1970-01-02', 'd', 'yyyy-MM-dd')` is 1."""
    if not text:
        return None
    return _truncated(_milliseconds(_parsed(text, pattern, zone)), _unit(unit))


def _parsed(text: str, pattern: str | None, zone: str) -> datetime:
    """The moment that a text denotes, or an error."""
    _check_pattern(pattern := pattern or _DEFAULT_PATTERN)
    moment = parse_moment(text, pattern, _zone(zone))
    if moment is None:
        raise function_failed("apoc.date.parse", "java.text.ParseException", f'Unparseable date: "{text}"')
    return moment


@apoc_function(
    "apoc.date.convert(time :: INTEGER, unit :: STRING, toUnit :: STRING) :: INTEGER",
    "Converts a point in time to another unit.",
)
def convert(value: int | None, unit: str, to_unit: str) -> int | None:
    """`apoc.date.convert(86400, 's', 'd')` is 1."""
    if value is None:
        return None
    to = _unit(to_unit)  # checked first, as in APOC
    return _truncated(value * _unit(unit), to)


@apoc_function(
    "apoc.date.add(time :: INTEGER, unit :: STRING, addValue :: INTEGER, addUnit :: STRING) :: INTEGER",
    "Adds an amount of one unit to a point in time in another.",
)
def add(value: int | None, unit: str, amount: int, amount_unit: str) -> int | None:
    """`apoc.date.add(0, 'ms', 1, 'd')` is 86400000."""
    if value is None:
        return None
    divisor = _unit(unit)
    return value + _truncated(amount * _unit(amount_unit), divisor)


@apoc_function(
    "apoc.date.convertFormat(temporal :: STRING, currentFormat :: STRING, convertTo = yyyy-MM-dd :: STRING) :: STRING",
    "Converts a date from one pattern to another.",
)
def convert_format(text: str | None, pattern: str, to_pattern: str) -> str | None:
    """`'2020-01-02'` may become `'02/01/2020'`."""
    if not text:
        return None
    name = "apoc.date.convertFormat"
    for format in (pattern, to_pattern):
        if format is None:
            message = 'Cannot invoke "String.toLowerCase()" because "format" is null'
            raise function_failed(name, "java.lang.NullPointerException", message)
    with _java_errors(name):
        return write_named(resolved(read(text, pattern)), to_pattern)


@contextmanager
def _java_errors(function: str) -> Iterator[None]:
    """Turn what parsing and formatting raise into Java's errors."""
    try:
        yield
    except BadPattern as problem:
        raise function_failed(function, "java.lang.IllegalArgumentException", str(problem)) from None
    except Missing as problem:
        kind = "java.time.temporal.UnsupportedTemporalTypeException"
        raise function_failed(function, kind, f"Unsupported field: {problem}") from None
    except Unreadable as problem:
        raise function_failed(function, "java.time.format.DateTimeParseException", str(problem)) from None
    except FieldError as problem:
        raise function_failed(function, "java.time.DateTimeException", str(problem)) from None


_FIELD_NAMES = {"u": "years", "y": "years", "M": "months", "d": "days", "H": "hours", "m": "minutes", "s": "seconds"}


@apoc_function(
    "apoc.date.fields(date :: STRING, pattern = yyyy-MM-dd HH:mm:ss :: STRING) :: MAP",
    "Parses a date with a pattern into a map of its fields.",
)
def date_fields(text: str | None, pattern: str) -> dict[str, Any]:
    """`apoc.date.fields('2020-11-04', 'yyyy-MM-dd')` has years, months, days, weekdays and a zone."""
    if text is None:
        return {}
    with _java_errors("apoc.date.fields"):
        found = read(text, pattern or _DEFAULT_PATTERN)
        fields = resolved(found)
        zone = "UTC" if fields.zone is None else write(fields, "z")
    shown: dict[str, Any] = {
        name: value for letter, value in found.items() if (name := _FIELD_NAMES.get(letter)) and isinstance(value, int)
    }
    if fields.day is not None:
        shown["weekdays"] = day_of_week(fields.day)
    if fields.nano is not None:
        second = fields.nano // NANOS_PER_SECOND
        shown |= {"hours": second // 3600, "minutes": second // 60 % 60, "seconds": second % 60}
    return {**shown, "zoneid": zone}


_YEAR = 365 * 86_400_000


@apoc_function(
    "apoc.date.toYears(value :: ANY, format = yyyy-MM-dd HH:mm:ss :: STRING) :: FLOAT",
    "Converts milliseconds, or a date parsed with a pattern, into years of 365 days.",
)
def to_years(value: Any, pattern: str) -> float:
    """Milliseconds count from 1970; text gives calendar years, approximately."""
    if value is None:
        message = 'Cannot invoke "Object.toString()" because "value" is null'
        raise function_failed("apoc.date.toYears", "java.lang.NullPointerException", message)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) / _YEAR
    return 1970 + _milliseconds(_parsed(java_text(value), pattern, "")) / _YEAR


@apoc_function(
    "apoc.date.field(time :: INTEGER, unit = d :: STRING, timezone = UTC :: STRING) :: INTEGER",
    "Returns one field of a point in time in milliseconds.",
)
def field(value: int | None, unit: str, zone: str) -> int | None:
    """`apoc.date.field(0, 'year')` is 1970."""
    if value is None:
        return None
    moment = (_EPOCH + timedelta(milliseconds=value)).astimezone(_zone(zone))
    fields: dict[str, Callable[[], int]] = {
        "ms": lambda: moment.microsecond // 1000,
        "s": lambda: moment.second,
        "m": lambda: moment.minute,
        "h": lambda: moment.hour,
        "d": lambda: moment.day,
        "w": lambda: moment.isoweekday(),
        "month": lambda: moment.month,
        "year": lambda: moment.year,
    }
    long_names = {
        "millis": "ms",
        "second": "s",
        "minute": "m",
        "hour": "h",
        "day": "d",
        "weekday": "w",
        "years": "year",
    }
    name = unit.lower()
    singular = name if name in fields else name.removesuffix("s")
    found = fields.get(long_names.get(name, long_names.get(singular, singular)))
    if found is None:
        message = f"The unit: {unit} is not correct"
        raise function_failed("apoc.date.field", "java.lang.IllegalArgumentException", message)
    return found()


@apoc_function("apoc.date.currentTimestamp() :: INTEGER", "Returns the milliseconds since 1970.", deterministic=False)
def current_timestamp() -> int:
    """A new one for every call."""
    return time.time_ns() // 1_000_000


@apoc_function("apoc.date.systemTimezone() :: STRING", "Returns the name of the system's time zone.")
def system_timezone() -> str:
    """Always UTC."""
    return "Etc/UTC"


@apoc_function(
    "apoc.date.toISO8601(time :: INTEGER, unit = ms :: STRING) :: STRING", "Formats a point in time in ISO 8601."
)
def to_iso(value: int | None, unit: str | None) -> str | None:
    """`apoc.date.toISO8601(0)` is `'1970-01-01T00:00:00.000Z'`."""
    return format_date(value, unit, "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "")


@apoc_function(
    "apoc.date.fromISO8601(time :: STRING) :: INTEGER", "Parses a point in time in ISO 8601, into milliseconds."
)
def from_iso(text: str | None) -> int | None:
    """The inverse of `toISO8601`."""
    if text is None:
        return None
    with _java_errors("apoc.date.fromISO8601"):
        fields = resolved(read(text, "iso_offset_date_time"))
    assert fields.day is not None and fields.nano is not None and fields.offset is not None
    return (fields.day * SECONDS_PER_DAY - fields.offset) * 1000 + fields.nano // 1_000_000


_AVAILABLE = (
    "Available formats are:\niso_local_date_time\niso_date_time\niso_offset_date\niso_time\niso_week_date\n"
    "iso_zoned_date_time\niso_instant\niso_offset_date_time\niso_date\niso_offset_time\niso_local_time\n"
    "basic_iso_date\niso_ordinal_date\niso_local_date\nrfc_1123_date_time\nSee also: "
    "https://www.elastic.co/guide/en/elasticsearch/reference/5.5/mapping-date-format.html#built-in-date-formats and "
    "https://docs.oracle.com/javase/8/docs/api/java/time/format/DateTimeFormatter.html"
)


@apoc_function(
    "apoc.temporal.format(temporal :: ANY, format = yyyy-MM-dd :: STRING) :: STRING",
    "Formats a temporal value with a pattern.",
)
def format_temporal(value: Any, pattern: str | None) -> str:
    """A pattern that asks for a field the value lacks is an error; a value of another type gives its text."""
    if value is None:
        message = 'Cannot invoke "Object.toString()" because "input" is null'
        raise function_failed("apoc.temporal.format", "java.lang.NullPointerException", message)
    try:
        if isinstance(value, Duration):
            return write_duration(value, _given(pattern), checked=True)
        if isinstance(value, INSTANT_TYPES):
            fields = fields_of(value)
            assert fields is not None
            return write_named(fields, _given(pattern))
    except (BadPattern, Missing):
        raise function_failed("apoc.temporal.format", "java.lang.RuntimeException", _AVAILABLE) from None
    return java_text(value)


def _given(pattern: str | None) -> str:
    if pattern is None:
        raise BadPattern
    return pattern


@apoc_function(
    "apoc.temporal.formatDuration(input :: ANY, format :: STRING) :: STRING", "Formats a duration with a pattern."
)
def format_duration(value: Any, pattern: str | None) -> str:
    """`apoc.temporal.formatDuration(duration('PT4H5M'), 'HH:mm')` is `'04:05'`."""
    name = "apoc.temporal.formatDuration"
    if value is not None and not isinstance(value, Duration):
        raise function_failed(name, "java.lang.ClassCastException", f"{describe(value)} is not a duration")
    try:
        if value is None:
            raise BadPattern
        return write_duration(value, _given(pattern), checked=False)
    except BadPattern:
        raise function_failed(name, "java.lang.RuntimeException", _AVAILABLE) from None


@apoc_function(
    "apoc.temporal.toZonedTemporal(time :: STRING, format = yyyy-MM-dd HH:mm:ss :: STRING, timezone = UTC :: STRING) "
    ":: ZONED DATETIME",
    "Parses a moment with a pattern, in a time zone.",
)
def to_zoned_temporal(text: str | None, pattern: str | None, zone: str | None) -> DateTime | None:
    """`apoc.temporal.toZonedTemporal('2020', 'yyyy')` is `2020-01-01T00:00Z[UTC]`."""
    if text is None:
        return None
    milliseconds = _milliseconds(_parsed(text, pattern, zone or "UTC"))
    return DateTime.of_instant(milliseconds // 1000, milliseconds % 1000 * 1_000_000, zone or "UTC")
