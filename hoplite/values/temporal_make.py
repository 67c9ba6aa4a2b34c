"""Temporal values from maps: `date({year: 2015, week: 30})`, `datetime({date: d, hour: 12})`.

A map is processed in three steps. Its fields are collected, and contradictions are refused. Then a base is chosen: what
is selected from other values (`date`, `time`, `datetime`, `epochSeconds`, `epochMillis`), or the first moment of the
calendar. Finally the other fields are set on the base, largest first, each as Java's `with` would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from hoplite.errors import CypherError, argument_error, execution_failed, type_error
from hoplite.gql_status import because, status
from hoplite.lazy_dataclass import dataclass
from hoplite.values import calendar
from hoplite.values.calendar import NANOS_PER_SECOND, FieldError, check_field
from hoplite.values.map_order import visiting_order
from hoplite.values.render import class_name, describe
from hoplite.values.temporal import (
    INSTANT_TYPES,
    Date,
    DateTime,
    Instant,
    LocalDateTime,
    LocalTime,
    Time,
)
from hoplite.values.temporal_fields import clock_part, date_part, has_zone, wrapped, zone_part
from hoplite.values.temporal_parse import current_offset, read_zone
from hoplite.values.value_types import status_text

_Made = TypeVar("_Made")

_FIRST_DAY = calendar.day_number(0, 1, 1)

# Every field that a map may name, in lower case, with the name in messages.
_NAMES = {
    name.lower(): name
    for name in (
        *("year", "quarter", "month", "weekYear", "week", "ordinalDay", "dayOfQuarter"),
        *("dayOfWeek", "day", "hour", "minute", "second"),
        *("millisecond", "microsecond", "nanosecond"),
        *("date", "time", "datetime", "epochSeconds", "epochMillis"),
        *("timezone", "offset", "offsetMinutes", "offsetSeconds"),
    )
}
_NAMES["quarterday"] = "dayOfQuarter"
_NAMES["weekday"] = "dayOfWeek"

# Fields of a date -> the form of date that they belong to; the year belongs to all.
_FORMS = {
    "quarter": "quarter",
    "dayOfQuarter": "quarter",
    "month": "calendar",
    "day": "calendar",
    "week": "week",
    "dayOfWeek": "week",
    "ordinalDay": "ordinal",
}
# The fields of a form, largest first: none may be given without those before it.
_FORM_FIELDS = {
    "calendar": ("year", "month", "day"),
    "quarter": ("year", "quarter", "dayOfQuarter"),
    "week": ("year", "week", "dayOfWeek"),
    "ordinal": ("year", "ordinalDay"),
}
_SUBSECONDS = ("millisecond", "microsecond", "nanosecond")
_CLOCK_FIELDS = ("hour", "minute", "second", *_SUBSECONDS)
_SELECTORS = ("datetime", "epochSeconds", "epochMillis")
_UNSETTABLE = ("weekYear", "offset", "offsetMinutes", "offsetSeconds")

# In the order in which they are set: larger fields first.
_DATE_SETTERS: dict[str, Callable[[int, int], int]] = {
    "year": calendar.with_year,
    "quarter": calendar.with_quarter,
    "month": calendar.with_month,
    "week": calendar.with_week,
    "ordinalDay": calendar.with_day_of_year,
    "dayOfQuarter": calendar.with_day_of_quarter,
    "dayOfWeek": calendar.with_day_of_week,
    "day": calendar.with_day_of_month,
}
# Field -> Java's name, its unit in seconds, how many there are in the next larger unit.
_CLOCK_SETTERS = {
    "hour": ("HourOfDay", 3600, 24),
    "minute": ("MinuteOfHour", 60, 60),
    "second": ("SecondOfMinute", 1, 60),
}


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a temporal type is made of."""

    name: str
    dates: bool
    clocks: bool
    zones: bool


_DATE = _Kind("date", True, False, False)
_LOCAL_TIME = _Kind("local time", False, True, False)
_TIME = _Kind("time", False, True, True)
_LOCAL_DATE_TIME = _Kind("local date time", True, True, False)
_DATE_TIME = _Kind("date time", True, True, True)


def make_date(fields: Mapping[str, Any]) -> Date:
    """`make_date({'year': 2015, 'quarter': 2})` is 2015-04-01."""
    given = _taken(fields, _DATE)
    return Date(_checked(lambda: _set_date(_base_day(given), given)))


def make_local_time(fields: Mapping[str, Any]) -> LocalTime:
    """`make_local_time({'hour': 12, 'minute': 31})` is 12:31:00."""
    given = _taken(fields, _LOCAL_TIME)
    base = clock_part(_selected(given, "time", _LOCAL_TIME.name)) if "time" in given else 0
    return LocalTime(_checked(lambda: _set_clock(base, given)))


def make_time(fields: Mapping[str, Any], default_zone: int | str) -> Time:
    """A selected time keeps its moment when it gets another zone."""
    given = _taken(fields, _TIME)
    zone = _zone(given)
    if "time" not in given:
        base = Time(0, current_offset(default_zone if zone is None else zone))
        return Time(_checked(lambda: _set_clock(0, given)), base.offset_seconds)
    selected = _selected(given, "time", _TIME.name)
    base = time_of(selected, default_zone)
    time = Time(
        _checked(lambda: _set_clock(base.nanosecond_of_day, given)),
        base.offset_seconds,
    )
    if zone is None:
        return time
    offset = current_offset(zone)
    if has_zone(selected):
        return time.with_offset_same_instant(offset)
    return Time(time.nanosecond_of_day, offset)


def make_local_date_time(fields: Mapping[str, Any]) -> LocalDateTime:
    """`make_local_date_time({'date': d, 'hour': 12})` is d at noon."""
    given = _taken(fields, _LOCAL_DATE_TIME)
    if "datetime" in given:
        selected = _selected(given, "datetime", _LOCAL_DATE_TIME.name)
        base = LocalDateTime(date_part(selected), clock_part(selected))
    else:
        clock = clock_part(_selected(given, "time", "time")) if "time" in given else 0
        base = LocalDateTime(_base_day(given), clock)
    return LocalDateTime(
        _checked(lambda: _set_date(base.epoch_day, given)),
        _checked(lambda: _set_clock(base.nanosecond_of_day, given)),
    )


def make_date_time(fields: Mapping[str, Any], default_zone: int | str) -> DateTime:
    """A selected moment keeps its instant when it gets another zone; a selected local time keeps what its clock
    shows."""
    given = _taken(fields, _DATE_TIME)
    zone = _zone(given)
    keeps_instant = False
    if "datetime" in given:
        selected = _selected(given, "datetime", _DATE_TIME.name)
        keeps_instant = has_zone(selected)
        base = _moment_of(selected, default_zone)
    elif "epochSeconds" in given or "epochMillis" in given:
        keeps_instant = True
        base = _of_epoch(given, default_zone if zone is None else zone)
    else:
        clock, base_zone = 0, default_zone if zone is None else zone
        if "time" in given:
            selected = _selected(given, "time", "time")
            keeps_instant = has_zone(selected)
            clock, base_zone = clock_part(selected), zone_part(selected, default_zone)
        base = _checked(lambda: DateTime.of_local(LocalDateTime(_base_day(given), clock), base_zone))
    moment = _checked(lambda: _set_moment(base, given))
    if zone is None:
        return moment
    if keeps_instant:
        return _checked(lambda: DateTime.of_instant(moment.epoch_second, moment.nanosecond, zone))
    return DateTime.of_local(moment.local, zone, moment.offset_seconds)


def time_of(value: Instant, default_zone: int | str) -> Time:
    """The time of day of a value with its offset, or with that of the default zone."""
    clock = clock_part(value)
    if isinstance(value, Time | DateTime):
        return Time(clock, value.offset_seconds)
    return Time(clock, current_offset(default_zone))


def _moment_of(value: Instant, default_zone: int | str) -> DateTime:
    # What the clock shows is looked up in the zone again: in an overlap the earlier offset wins.
    local = LocalDateTime(date_part(value), clock_part(value))
    return DateTime.of_local(local, zone_part(value, default_zone))


def _checked(compute: Callable[[], _Made]) -> _Made:
    """The result; a field out of range is a wrong argument."""
    try:
        return compute()
    except FieldError as error:
        raise argument_error(str(error)) from None


# --- taking fields in ---------------------------------------------------------------------------


def _refused(message: str, value: object) -> CypherError:
    return argument_error(message, because("22N12", value))


def _both(one: str, other: str) -> CypherError:
    return argument_error(f"{one} cannot be selected together with {other}.", because("22N14", one, other))


_STATUS_NAMES = {
    "date": "DATE",
    "time": "ZONED TIME",
    "local time": "LOCAL TIME",
    "date time": "ZONED DATETIME",
    "local date time": "LOCAL DATETIME",
}


def _unusable(kind: str, value: Any) -> CypherError:
    cause = because("22N25", _STATUS_NAMES[kind], status_text(value))
    return argument_error(f"Cannot construct {kind} from: {describe(value)}", cause)


def _taken(fields: Mapping[str, Any], kind: _Kind) -> dict[str, Any]:
    """The fields by their proper names, once they are known not to contradict each other."""
    if not fields:
        raise argument_error("At least one temporal unit must be specified.")
    given: dict[str, Any] = {}
    form: str | None = None
    for key in visiting_order(fields):
        name = _NAMES.get(key.lower())
        if name is None:
            raise _refused(f"No such field: {key}", key)
        _check_supported(name, kind, given)
        _check_selectors(name, given)
        if name in _FORMS:
            if form is not None and form != _FORMS[name]:
                raise type_error(f"Cannot assign {name} to {form} date.")
            form = _FORMS[name]
        if name in given:
            raise _refused(f"cannot re-assign {name}", given[name])
        given[name] = fields[key]
    _check_complete(given, form, kind)
    return given


def _check_supported(name: str, kind: _Kind, given: Mapping[str, Any]) -> None:
    if name == "timezone":
        if not kind.zones:
            raise type_error("Cannot assign time zone if also assigning other fields.")
        return
    if name in _FORMS or name in ("year", "date"):
        supported = kind.dates
    elif name in _CLOCK_FIELDS or name == "time":
        supported = kind.clocks
    elif name == "datetime":
        supported = kind.dates and kind.clocks
    elif name in _SELECTORS:
        supported = kind.dates and kind.zones
    else:
        supported = name not in _UNSETTABLE
    if not supported:
        raise type_error(f"Not supported: {name}")


def _check_selectors(name: str, given: Mapping[str, Any]) -> None:
    """A moment is selected as a whole or by its parts, and only once."""
    if name in _SELECTORS:
        if "date" in given or "time" in given:
            raise _both(name, "date or time")
        for other in _SELECTORS:
            if other in given and other != name:
                raise _both(name, other)
    elif name in ("date", "time") and any(other in given for other in _SELECTORS):
        raise _both(name, "datetime or epochSeconds or epochMillis")


def _check_complete(given: Mapping[str, Any], form: str | None, kind: _Kind) -> None:
    """No field without the larger ones, unless a selected value provides them."""
    if any(selector in given for selector in _SELECTORS):
        return
    has_clock = "time" in given or any(field in given for field in _CLOCK_FIELDS)
    if kind.dates and "date" not in given:
        fields = _FORM_FIELDS[form or "calendar"]
        if form != "ordinal":  # Neo4j does not require the year of an ordinal date
            _check_in_order([(field in given, field) for field in fields])
        if has_clock:
            for field in fields:
                if field not in given:
                    raise _refused(f"{field} must be specified", field)
    if has_clock and "time" not in given:
        subsecond = any(field in given for field in _SUBSECONDS)
        clock = [(field in given, field) for field in ("hour", "minute", "second")]
        _check_in_order([*clock, (subsecond, "subsecond")])


def _check_in_order(fields: list[tuple[bool, str]]) -> None:
    if not fields[0][0]:
        raise _refused(f"{fields[0][1]} must be specified", fields[0][1])
    missing: str | None = None
    for present, field in fields:
        if not present:
            missing = missing or field
        elif missing is not None:
            raise _refused(f"{field} cannot be specified without {missing}", field)


# --- the base -----------------------------------------------------------------------------------


def _selected(given: Mapping[str, Any], field: str, kind: str) -> Instant:
    value = given[field]
    if not isinstance(value, INSTANT_TYPES):
        raise _unusable(kind, value)
    return value


def _base_day(given: Mapping[str, Any]) -> int:
    if "date" in given:
        return date_part(_selected(given, "date", "date"))
    if "week" in given:
        # The week-based year may begin after the first of January.
        return calendar.with_day_of_week(
            calendar.with_week(calendar.with_week_year(_FIRST_DAY, _integer(given, "year", 0)), 1),
            1,
        )
    return _FIRST_DAY


def _of_epoch(given: Mapping[str, Any], zone: int | str) -> DateTime:
    field = "epochSeconds" if "epochSeconds" in given else "epochMillis"
    value = given[field]
    if not isinstance(value, int) or isinstance(value, bool):
        raise _unusable("date time", value)
    # Neo4j counts in milliseconds, which wrap around.
    millis = wrapped(value * 1000) if field == "epochSeconds" else value
    seconds, millisecond = divmod(millis, 1000)
    return _checked(lambda: DateTime.of_instant(seconds, millisecond * 1_000_000, zone))


def _zone(given: Mapping[str, Any]) -> int | str | None:
    return zone_of(given["timezone"]) if "timezone" in given else None


def zone_of(value: Any) -> int | str:
    """The zone that the value of `timezone` names."""
    if not isinstance(value, str):
        raise execution_failed(f"Cannot convert to ZoneId: {describe(value)}")
    return read_zone(value)


# --- setting fields -----------------------------------------------------------------------------


def _integer(given: Mapping[str, Any], field: str, default: int) -> int:
    value = given.get(field)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise execution_failed(f"{field} must be an integer value, but was a {class_name(value)}")
    return value


def _set_date(day: int, given: Mapping[str, Any]) -> int:
    for field, setter in _DATE_SETTERS.items():
        if field in given:
            day = _date_setter(field, setter, given)(day)
    return day


def _date_setter(field: str, setter: Callable[[int, int], int], given: Mapping[str, Any]) -> Callable[[int], int]:
    if field == "year":
        value = _integer(given, field, 0)
        if "week" in given:
            return lambda day: calendar.with_week_year(day, value)
        return lambda day: setter(day, value)
    value = _integer(given, field, 1)
    return lambda day: setter(day, value)


def _set_clock(nanosecond_of_day: int, given: Mapping[str, Any]) -> int:
    for field in _CLOCK_SETTERS:
        if field in given:
            nanosecond_of_day = _with_clock_field(nanosecond_of_day, field, given)
    if any(field in given for field in _SUBSECONDS):
        second = nanosecond_of_day - nanosecond_of_day % NANOS_PER_SECOND
        nanosecond_of_day = second + subsecond(given)
    return nanosecond_of_day


def _with_clock_field(nanosecond_of_day: int, field: str, given: Mapping[str, Any]) -> int:
    java_name, seconds, count = _CLOCK_SETTERS[field]
    value = check_field(java_name, _integer(given, field, 0))
    unit = seconds * NANOS_PER_SECOND
    return nanosecond_of_day + (value - nanosecond_of_day // unit % count) * unit


def _set_moment(moment: DateTime, given: Mapping[str, Any]) -> DateTime:
    """Every step is looked up in the zone again, as in Java, because a step may end in a gap."""
    for field, setter in _DATE_SETTERS.items():
        if field in given:
            local = moment.local
            day = _date_setter(field, setter, given)(local.epoch_day)
            moment = _at(moment, LocalDateTime(day, local.nanosecond_of_day))
    for field in (*_CLOCK_SETTERS, "nanosecond"):
        local = moment.local
        if field in _CLOCK_SETTERS and field in given:
            clock = _with_clock_field(local.nanosecond_of_day, field, given)
        elif field == "nanosecond" and any(name in given for name in _SUBSECONDS):
            clock = local.nanosecond_of_day - local.nanosecond + subsecond(given)
        else:
            continue
        moment = _at(moment, LocalDateTime(local.epoch_day, clock))
    return moment


def _at(moment: DateTime, local: LocalDateTime) -> DateTime:
    return DateTime.of_local(local, moment.zone, moment.offset_seconds)


def subsecond(given: Mapping[str, Any]) -> int:
    """Nanoseconds from milli-, micro- and nanoseconds; the smaller ones count within the larger."""
    total = 0
    limit = NANOS_PER_SECOND
    for field, unit in (("millisecond", 1_000_000), ("microsecond", 1000), ("nanosecond", 1)):
        if field in given:
            value = _integer(given, field, 0)
            if not 0 <= value < limit // unit:
                name = field.capitalize()
                cause = status("22N03", name, "INTEGER", 0, limit // unit - 1, value).under("22007")
                raise argument_error(f"Invalid value for {name}: {value}", cause)
            total += value * unit
            limit = unit
    return total
