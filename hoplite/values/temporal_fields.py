"""The fields of temporal values: `date.year`, `datetime.epochMillis`, `duration.minutesOfHour`.

A value and the case-insensitive name of a field go in; an integer or a text comes out. The parts that select other
values (`date_part`, `time_part`, ...) are here too.
"""

from __future__ import annotations

from collections.abc import Callable

from hoplite.errors import CypherError, execution_failed, type_error
from hoplite.gql_status import because
from hoplite.values import calendar, zones
from hoplite.values.calendar import NANOS_PER_DAY, NANOS_PER_SECOND
from hoplite.values.temporal import (
    MAX_INTEGER,
    MIN_INTEGER,
    Date,
    DateTime,
    Duration,
    Instant,
    LocalDateTime,
    LocalTime,
    Temporal,
    Time,
)

# Field in lower case -> Java's name for it, and its value for a day number.
_DATE_FIELDS: dict[str, tuple[str, Callable[[int], int]]] = {
    "year": ("Year", lambda day: calendar.calendar_date(day)[0]),
    "quarter": ("QuarterOfYear", calendar.quarter),
    "month": ("MonthOfYear", lambda day: calendar.calendar_date(day)[1]),
    "weekyear": ("WeekBasedYear", calendar.week_year),
    "week": ("WeekOfWeekBasedYear", calendar.week),
    "ordinalday": ("DayOfYear", calendar.day_of_year),
    "quarterday": ("DayOfQuarter", calendar.day_of_quarter),
    "dayofquarter": ("DayOfQuarter", calendar.day_of_quarter),
    "weekday": ("DayOfWeek", calendar.day_of_week),
    "dayofweek": ("DayOfWeek", calendar.day_of_week),
    "day": ("DayOfMonth", lambda day: calendar.calendar_date(day)[2]),
}
# Field in lower case -> Java's name for it, and its value for nanoseconds since midnight.
_CLOCK_FIELDS: dict[str, tuple[str, Callable[[int], int]]] = {
    "hour": ("HourOfDay", lambda nanos: nanos // (3600 * NANOS_PER_SECOND)),
    "minute": ("MinuteOfHour", lambda nanos: nanos // (60 * NANOS_PER_SECOND) % 60),
    "second": ("SecondOfMinute", lambda nanos: nanos // NANOS_PER_SECOND % 60),
    "millisecond": ("MilliOfSecond", lambda nanos: nanos % NANOS_PER_SECOND // 1_000_000),
    "microsecond": ("MicroOfSecond", lambda nanos: nanos % NANOS_PER_SECOND // 1000),
    "nanosecond": ("NanoOfSecond", lambda nanos: nanos % NANOS_PER_SECOND),
}


def component(value: Temporal, name: str) -> int | str:
    """`component(date, 'quarter')`; a field that the value does not have is a TypeError."""
    if isinstance(value, Duration):
        return _duration_component(value, name)
    key = name.lower()
    if key in _DATE_FIELDS:
        java_name, of_day = _DATE_FIELDS[key]
        if isinstance(value, DateTime):
            return of_day(value.local.epoch_day)
        if isinstance(value, Date | LocalDateTime):
            return of_day(value.epoch_day)
        raise type_error(f"Unsupported field: {java_name}", because("22N11", java_name))
    if key in _CLOCK_FIELDS:
        java_name, of_clock = _CLOCK_FIELDS[key]
        if isinstance(value, DateTime):
            return of_clock(value.local.nanosecond_of_day)
        if isinstance(value, LocalTime | Time | LocalDateTime):
            return of_clock(value.nanosecond_of_day)
        raise type_error(f"Unsupported field: {java_name}", because("22N11", java_name))
    if key in _ZONE_FIELDS:
        return _ZONE_FIELDS[key](value)
    raise type_error(f"No such field: {name}")


def _epoch_millis(value: Instant) -> int:
    if not isinstance(value, DateTime):
        raise type_error("Epoch not supported.")
    millis = value.epoch_second * 1000 + value.nanosecond // 1_000_000
    if not MIN_INTEGER <= millis <= MAX_INTEGER:
        raise execution_failed("long overflow")
    return millis


def _epoch_seconds(value: Instant) -> int:
    return _epoch_millis(value) // 1000


def _timezone(value: Instant) -> str:
    if isinstance(value, Date):
        raise type_error(f"Cannot get the time zone of: {value}")
    if isinstance(value, DateTime) and value.region is not None:
        return value.region
    return zones.offset_text(_offset(value))


def _offset(value: Instant) -> int:
    if isinstance(value, Time | DateTime):
        return value.offset_seconds
    raise type_error(f"Cannot get the offset of: {value}")


def _offset_minutes(value: Instant) -> int:
    seconds = _offset(value)
    return -(-seconds // 60) if seconds < 0 else seconds // 60


_ZONE_FIELDS: dict[str, Callable[[Instant], int | str]] = {
    "epochseconds": _epoch_seconds,
    "epochmillis": _epoch_millis,
    "timezone": _timezone,
    "offset": lambda value: zones.offset_text(_offset(value)),
    "offsetminutes": _offset_minutes,
    "offsetseconds": _offset,
}


def _truncated(value: int, divisor: int) -> int:
    """Java's `/`, which rounds toward zero."""
    return -(-value // divisor) if value < 0 else value // divisor


def _remainder(value: int, divisor: int) -> int:
    """Java's `%`, which has the sign of `value`."""
    return value - _truncated(value, divisor) * divisor


def wrapped(value: int) -> int:
    """Java's long arithmetic, which wraps around where Cypher's operators would raise."""
    return (value - MIN_INTEGER) % 2**64 + MIN_INTEGER


_DURATION_FIELDS: dict[str, Callable[[Duration], int]] = {
    "years": lambda d: _truncated(d.months, 12),
    "quarters": lambda d: _truncated(d.months, 3),
    "months": lambda d: d.months,
    "weeks": lambda d: _truncated(d.days, 7),
    "days": lambda d: d.days,
    "hours": lambda d: _truncated(d.seconds, 3600),
    "minutes": lambda d: _truncated(d.seconds, 60),
    "seconds": lambda d: d.seconds,
    "milliseconds": lambda d: wrapped(d.seconds * 1000 + d.nanoseconds // 1_000_000),
    "microseconds": lambda d: wrapped(d.seconds * 1_000_000 + d.nanoseconds // 1000),
    "nanoseconds": lambda d: wrapped(d.seconds * NANOS_PER_SECOND + d.nanoseconds),
    "quartersofyear": lambda d: _remainder(_truncated(d.months, 3), 4),
    "monthsofyear": lambda d: _remainder(d.months, 12),
    "monthsofquarter": lambda d: _remainder(d.months, 3),
    "daysofweek": lambda d: _remainder(d.days, 7),
    "minutesofhour": lambda d: _remainder(_truncated(d.seconds, 60), 60),
    "secondsofminute": lambda d: _remainder(d.seconds, 60),
    "millisecondsofsecond": lambda d: d.nanoseconds // 1_000_000,
    "microsecondsofsecond": lambda d: d.nanoseconds // 1000,
    "nanosecondsofsecond": lambda d: d.nanoseconds,
}


def _duration_component(value: Duration, name: str) -> int:
    field = _DURATION_FIELDS.get(name.lower())
    if field is None:
        raise type_error(f"No such field: {name}")
    return field(value)


# --- the parts that another value is made of ----------------------------------------------------


def _missing(part: str, value: Instant) -> CypherError:
    return type_error(f"Cannot get the {part} of: {value}")


def date_part(value: Instant) -> int:
    """The day number of a value that has a date."""
    if isinstance(value, Date | LocalDateTime):
        return value.epoch_day
    if isinstance(value, DateTime):
        return value.local.epoch_day
    raise _missing("date", value)


def clock_part(value: Instant) -> int:
    """Nanoseconds since midnight of a value that has a time of day."""
    if isinstance(value, LocalTime | Time | LocalDateTime):
        return value.nanosecond_of_day
    if isinstance(value, DateTime):
        return (value.epoch_second + value.offset_seconds) * NANOS_PER_SECOND % NANOS_PER_DAY + (value.nanosecond)
    raise _missing("time", value)


def has_zone(value: Instant) -> bool:
    """Whether the value has an offset from UTC."""
    return isinstance(value, Time | DateTime)


def zone_part(value: Instant, default: int | str) -> int | str:
    """The zone of a value, or the default one."""
    if isinstance(value, DateTime):
        return value.zone
    return value.offset_seconds if isinstance(value, Time) else default
