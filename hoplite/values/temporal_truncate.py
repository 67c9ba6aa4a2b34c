"""Truncation: `datetime.truncate('month', moment, {day: 5})`.

The value is cut to the start of a unit, and the fields of the map are set on the result as if a map had selected it
(see `temporal_make`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hoplite.errors import execution_failed, type_error
from hoplite.gql_status import because
from hoplite.values import calendar
from hoplite.values.calendar import NANOS_PER_DAY, NANOS_PER_SECOND
from hoplite.values.temporal import Date, DateTime, Instant, LocalDateTime, LocalTime, Time
from hoplite.values.temporal_fields import clock_part, date_part, zone_part
from hoplite.values.temporal_make import (
    make_date,
    make_date_time,
    make_local_date_time,
    make_local_time,
    make_time,
    subsecond,
    time_of,
    zone_of,
)
from hoplite.values.temporal_parse import current_offset

_YEARS = {"millennium": 1000, "century": 100, "decade": 10}
_DATE_UNITS = {*_YEARS, "year", "weekYear", "quarter", "month", "week", "day"}
# Unit -> nanoseconds, and Java's name for it.
# What Java calls them.
_LARGE_UNITS = {
    "millennium": "Millennia",
    "century": "Centuries",
    "decade": "Decades",
    "year": "Years",
    "weekYear": "WeekBasedYears",
    "quarter": "QuarterYears",
    "month": "Months",
    "week": "Weeks",
}
_CLOCK_UNITS = {
    "hour": (3600 * NANOS_PER_SECOND, "Hours"),
    "minute": (60 * NANOS_PER_SECOND, "Minutes"),
    "second": (NANOS_PER_SECOND, "Seconds"),
    "millisecond": (1_000_000, "Millis"),
    "microsecond": (1000, "Micros"),
}


def check_unit(unit: str) -> None:
    """Refuse anything but a unit, spelled exactly."""
    if unit not in _DATE_UNITS and unit not in _CLOCK_UNITS:
        raise execution_failed(f"Unsupported unit: {unit}")


def truncate_date(unit: str, value: Instant, fields: Mapping[str, Any]) -> Date:
    """`truncate_date('month', 2015-07-21, {})` is 2015-07-01."""
    truncated = Date(_truncated_day(date_part(value), unit))
    if not fields:
        return truncated
    return make_date({**fields, "date": truncated})


def truncate_local_time(unit: str, value: Instant, fields: Mapping[str, Any]) -> LocalTime:
    """`truncate_local_time('hour', 12:31:14, {})` is 12:00:00."""
    clock = _truncated_clock(clock_part(value), unit)
    fields, clock = _with_subsecond(fields, unit, clock)
    if not fields:
        return LocalTime(clock)
    return make_local_time({**fields, "time": LocalTime(clock)})


def truncate_time(unit: str, value: Instant, fields: Mapping[str, Any], default_zone: int | str) -> Time:
    """Like local times; a zone in the map keeps what the clock shows."""
    time = time_of(value, default_zone)
    clock, offset = _truncated_clock(time.nanosecond_of_day, unit), time.offset_seconds
    if fields.get("timezone") is not None:
        offset = current_offset(zone_of(fields["timezone"]))
    fields, clock = _with_subsecond(fields, unit, clock)
    if not fields:
        return Time(clock, offset)
    return make_time({**fields, "time": Time(clock, offset)}, default_zone)


def truncate_local_date_time(unit: str, value: Instant, fields: Mapping[str, Any]) -> LocalDateTime:
    """A date is cut as its midnight."""
    truncated = _truncated_moment(unit, value, "local date time")
    fields, clock = _with_subsecond(fields, unit, truncated.nanosecond_of_day)
    truncated = LocalDateTime(truncated.epoch_day, clock)
    if not fields:
        return truncated
    return make_local_date_time({**fields, "datetime": truncated})


def truncate_date_time(unit: str, value: Instant, fields: Mapping[str, Any], default_zone: int | str) -> DateTime:
    """Like local moments; a zone in the map keeps what the clock shows."""
    truncated = _truncated_moment(unit, value, "date time")
    zone = zone_part(value, default_zone)
    moment = DateTime.of_local(truncated, zone)
    if fields.get("timezone") is not None:
        moment = DateTime.of_local(moment.local, zone_of(fields["timezone"]))
    local = moment.local
    fields, clock = _with_subsecond(fields, unit, local.nanosecond_of_day)
    if clock != local.nanosecond_of_day:
        adjusted = LocalDateTime(local.epoch_day, clock)
        moment = DateTime.of_local(adjusted, moment.zone, moment.offset_seconds)
    if not fields:
        return moment
    return make_date_time({**fields, "datetime": moment}, default_zone)


def _truncated_moment(unit: str, value: Instant, kind: str) -> LocalDateTime:
    if unit in _CLOCK_UNITS and not isinstance(value, DateTime | LocalDateTime):
        raise type_error(f"Cannot truncate {value} to {kind} with a time based unit.")
    day = date_part(value)
    if unit in _CLOCK_UNITS:
        return LocalDateTime(day, _truncated_clock(clock_part(value), unit))
    return LocalDateTime(_truncated_day(day, unit), 0)


def _truncated_day(day: int, unit: str) -> int:
    year, month, _ = calendar.calendar_date(day)
    if unit in _YEARS:
        size = _YEARS[unit]
        start = abs(year) // size * size
        return calendar.day_number(-start if year < 0 else start, 1, 1)
    match unit:
        case "year":
            return calendar.day_number(year, 1, 1)
        case "weekYear":
            return calendar.with_day_of_week(calendar.with_week(day, 1), 1)
        case "quarter":
            return calendar.with_day_of_quarter(day, 1)
        case "month":
            return calendar.day_number(year, month, 1)
        case "week":
            return calendar.with_day_of_week(day, 1)
        case "day":
            return day
        case _:
            raise type_error(f"Unit too small for truncation: {_CLOCK_UNITS[unit][1]}")


def _truncated_clock(nanosecond_of_day: int, unit: str) -> int:
    if unit == "day":
        return nanosecond_of_day - nanosecond_of_day % NANOS_PER_DAY
    if unit not in _CLOCK_UNITS:
        raise type_error("Unit is too large to be used for truncation", because("22N11", _LARGE_UNITS[unit]))
    return nanosecond_of_day - nanosecond_of_day % _CLOCK_UNITS[unit][0]


def _with_subsecond(fields: Mapping[str, Any], unit: str, nanosecond_of_day: int) -> tuple[Mapping[str, Any], int]:
    """Set the parts of a second below the unit, which itself stays as cut.

    Returns the remaining fields, and the nanoseconds since midnight.
    """
    finer = {
        "millisecond": ("microsecond", "nanosecond"),
        "microsecond": ("nanosecond",),
    }.get(unit, ())
    given = {field: fields[field] for field in finer if field in fields}
    if not given:
        return fields, nanosecond_of_day
    second, nanos = divmod(nanosecond_of_day, NANOS_PER_SECOND)
    kept = nanos // _CLOCK_UNITS[unit][0]
    rest = {key: value for key, value in fields.items() if key not in finer}
    return rest, second * NANOS_PER_SECOND + subsecond({unit: kept, **given})
