"""apoc.date.* and apoc.temporal.format: points in time as integers since 1970, and Java's patterns for dates.

A pattern is a text with runs of letters: `yyyy-MM-dd'T'HH:mm:ss.SSSXXX`. Text in quotes stands for itself.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.lazy import lazy_pattern
from hoplite.values.temporal import Date, DateTime, LocalDateTime, LocalTime, Time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DEFAULT_PATTERN = "yyyy-MM-dd HH:mm:ss"
_UNITS = {
    **dict.fromkeys(("ms", "milli", "millis", "milliseconds"), 1),
    **dict.fromkeys(("s", "second", "seconds"), 1_000),
    **dict.fromkeys(("m", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PIECE = lazy_pattern(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+")


# --- patterns ---


def _offset_text(moment: datetime, separator: str, utc: str) -> str:
    minutes = int((moment.utcoffset() or timedelta()).total_seconds()) // 60
    if minutes == 0:
        return utc
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02}{separator}{abs(minutes) % 60:02}"


def _shown(moment: datetime, letters: str) -> str:
    width = len(letters)
    match letters[0]:
        case "y" | "u":
            return f"{moment.year % 100:02}" if width == 2 else f"{moment.year:0{width}}"
        case "Y":  # of the week, which begins on Sunday and belongs to the year of its Saturday
            year = (moment + timedelta(days=(5 - moment.weekday()) % 7)).year
            return f"{year % 100:02}" if width == 2 else f"{year:0{width}}"
        case "Q":
            quarter = (moment.month + 2) // 3
            return f"Q{quarter}" if width == 3 else f"{quarter:0{width}}"
        case "M" | "L":
            name = _MONTHS[moment.month - 1]
            return f"{moment.month:0{width}}" if width < 3 else name[:3] if width == 3 else name
        case "E":
            name = _DAYS[moment.weekday()]
            return name[:3] if width < 4 else name
        case "S":
            return f"{moment.microsecond:06}000"[:width]
        case "a":
            return "AM" if moment.hour < 12 else "PM"
        case "X":
            return _offset_text(moment, "" if width < 3 else ":", "Z")
        case "Z":
            return _offset_text(moment, "", "+0000")
        case "z" | "V":
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
        "w": moment.isocalendar().week,
    }
    if letters[0] not in numbers:
        raise function_failed("apoc.date.format", "java.lang.IllegalArgumentException", f"Illegal pattern: {letters}")
    return f"{numbers[letters[0]]:0{width}}"


_NAMED = {
    "date": "yyyy-MM-dd",
    "year_month_day": "yyyy-MM-dd",
    "basic_date": "yyyyMMdd",
    "date_time": "yyyy-MM-dd'T'HH:mm:ss.SSSZ",
    "basic_date_time": "yyyyMMdd'T'HHmmss.SSSZ",
    "date_hour_minute": "yyyy-MM-dd'T'HH:mm",
    "iso_local_date": "yyyy-MM-dd",
}
"""Formats that have names, as Elasticsearch and Java call them."""
_NAMED_OF_DATES = {"iso_date": "yyyy-MM-dd", "basic_iso_date": "yyyyMMdd"}


def _named_pattern(pattern: str, is_date: bool) -> str:
    """The pattern that a name stands for, or the pattern itself."""
    name = pattern.lower()
    return _NAMED.get(name) or (_NAMED_OF_DATES.get(name) if is_date else None) or pattern


def format_moment(moment: datetime, pattern: str) -> str:
    """The moment written with a pattern."""
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
    """The moment that the text means, or None if it does not fit the pattern."""
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
        starts = [full[: max(3, len(name))].lower() for full in _MONTHS]
        if name.lower() not in starts:
            return None
        month = starts.index(name.lower()) + 1
    hour = int(fields.get("hour") or 0)
    if half := fields.get("half"):
        hour = hour % 12 + (12 if half.upper() == "PM" else 0)
    milliseconds = int((fields.get("fraction") or "0")[:3].ljust(3, "0"))
    # Dates beyond the end of a month or a day run over into the next, as Java's lenient parser has it.
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
        message = f"The timezone `{name}` is not valid"
        raise function_failed("apoc.date.format", "java.time.DateTimeException", message) from None


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
    "Writes a point in time with a pattern.",
)
def format_date(value: int | None, unit: str, pattern: str, zone: str) -> str | None:
    """`apoc.date.format(0, 's', 'yyyy')` is `'1970'`."""
    if value is None or unit is None:
        return None
    moment = _EPOCH + timedelta(milliseconds=value * _unit(unit))
    return format_moment(moment.astimezone(_zone(zone)), pattern or _DEFAULT_PATTERN)


@apoc_function(
    "apoc.date.parse(time :: STRING, unit = ms :: STRING, format = yyyy-MM-dd HH:mm:ss :: STRING, timezone =  :: "
    "STRING) :: "
    "INTEGER",
    "Reads a point in time with a pattern.",
)
def parse_date(text: str | None, unit: str, pattern: str, zone: str) -> int | None:
    """`apoc.date.parse('1970-01-02', 'd', 'yyyy-MM-dd')` is 1."""
    if not text:
        return None
    moment = parse_moment(text, pattern or _DEFAULT_PATTERN, _zone(zone))
    if moment is None:
        raise function_failed("apoc.date.parse", "java.text.ParseException", f'Unparseable date: "{text}"')
    return _truncated(_milliseconds(moment), _unit(unit))


@apoc_function(
    "apoc.date.convert(time :: INTEGER, unit :: STRING, toUnit :: STRING) :: INTEGER",
    "Converts a point in time to another unit.",
)
def convert(value: int | None, unit: str, to_unit: str) -> int | None:
    """`apoc.date.convert(86400, 's', 'd')` is 1."""
    return None if value is None else _truncated(value * _unit(unit), _unit(to_unit))


@apoc_function(
    "apoc.date.add(time :: INTEGER, unit :: STRING, addValue :: INTEGER, addUnit :: STRING) :: INTEGER",
    "Adds an amount of one unit to a point in time in another.",
)
def add(value: int | None, unit: str, amount: int, amount_unit: str) -> int | None:
    """`apoc.date.add(0, 'ms', 1, 'd')` is 86400000."""
    return None if value is None else value + _truncated(amount * _unit(amount_unit), _unit(unit))


@apoc_function(
    "apoc.date.convertFormat(temporal :: STRING, currentFormat :: STRING, convertTo = yyyy-MM-dd :: STRING) :: STRING",
    "Writes a date of one pattern with another.",
)
def convert_format(text: str | None, pattern: str, to_pattern: str) -> str | None:
    """`'2020-01-02'` may become `'02/01/2020'`."""
    if not text:
        return None
    moment = parse_moment(text, _named_pattern(pattern, is_date=True), UTC)
    if moment is None:
        message = f"Text '{text}' could not be parsed at index 0"
        raise function_failed("apoc.date.convertFormat", "java.time.format.DateTimeParseException", message)
    return format_moment(moment, _named_pattern(to_pattern, is_date=True))


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
    """Another one for every call."""
    return time.time_ns() // 1_000_000


@apoc_function("apoc.date.systemTimezone() :: STRING", "Returns the name of the time zone in force.")
def system_timezone() -> str:
    """Always UTC."""
    return "Etc/UTC"


@apoc_function(
    "apoc.date.toISO8601(time :: INTEGER, unit = ms :: STRING) :: STRING", "Writes a point in time in ISO 8601."
)
def to_iso(value: int | None, unit: str) -> str | None:
    """`apoc.date.toISO8601(0)` is `'1970-01-01T00:00:00.000Z'`."""
    return format_date(value, unit, "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "")


@apoc_function(
    "apoc.date.fromISO8601(time :: STRING) :: INTEGER", "Reads a point in time of ISO 8601, in milliseconds."
)
def from_iso(text: str | None) -> int | None:
    """The opposite of `toISO8601`."""
    return None if text is None else _milliseconds(datetime.fromisoformat(text))


@apoc_function(
    "apoc.temporal.format(temporal :: ANY, format = yyyy-MM-dd :: STRING) :: STRING",
    "Writes a temporal value with a pattern.",
)
def format_temporal(value: Any, pattern: str) -> str | None:
    """Parts that the value lacks are those of 1970-01-01T00:00Z."""
    moment = _moment_of(value)
    return None if moment is None else format_moment(moment, _named_pattern(pattern, isinstance(value, Date)))


def _moment_of(value: Any) -> datetime | None:
    match value:
        case Date():
            day = date.fromordinal(_EPOCH.toordinal() + value.epoch_day)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        case LocalTime() | Time():
            return _EPOCH + timedelta(microseconds=value.nanosecond_of_day // 1000)
        case LocalDateTime():
            return datetime.fromisoformat(str(value)[:26]).replace(tzinfo=UTC)
        case DateTime():
            moment = _EPOCH + timedelta(seconds=value.epoch_second, microseconds=value.nanosecond // 1000)
            offset = timedelta(seconds=value.offset_seconds)
            zone = ZoneInfo(value.region) if value.region else None
            return moment.astimezone(zone) if zone else (moment + offset).replace(tzinfo=timezone(offset))
        case _:
            return None
