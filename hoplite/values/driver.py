"""Between the engine's values and those of the official driver and of Python.

`to_driver` gives `neo4j.time` and `neo4j.spatial` values. The driver only knows the years 1 to 9999 and the zones of
pytz: for others it puts a marker in the record, which raises when the value is read, and so does this module.
`from_driver` accepts what the driver accepts as parameters: Python's and the driver's values, NumPy's and pandas'
scalars and arrays. Anything else raises ValueError, TypeError or OverflowError in the driver's words, before anything
runs.

The driver is imported on first use.
"""

from __future__ import annotations

import datetime as python_time
from collections.abc import Callable, Mapping
from typing import Any

from hoplite.allowance import Allowance, allowing, check_time
from hoplite.values.calendar import NANOS_PER_SECOND, calendar_date, day_number
from hoplite.values.columns import INT64_MAX, INT64_MIN
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.spatial import Point, checked_point
from hoplite.values.temporal import (
    MAX_INTEGER,
    MIN_INTEGER,
    Date,
    DateTime,
    Duration,
    LocalDateTime,
    LocalTime,
    Time,
)
from hoplite.values.value import Value
from hoplite.values.zones import parse_zone

_UNCHANGED = (type(None), bool, int, float, str, bytes)


# --- out ----------------------------------------------------------------------------------------


def to_driver(value: Value) -> Any:
    """The driver's value for a value without nodes, relationships and paths."""
    if isinstance(value, _UNCHANGED):
        return value
    if isinstance(value, list):
        items = [to_driver(item) for item in value]
        return _broken_by(items, items) or items
    if isinstance(value, dict):
        entries = {key: to_driver(item) for key, item in value.items()}
        return _broken_by(list(entries.values()), entries) or entries
    assert not isinstance(value, NodeRef | RelationshipRef | PathValue)
    return _to_scalar(value)


def _to_scalar(value: Any) -> Any:
    try:
        return _TO_DRIVER[type(value)](value)
    except (ValueError, KeyError) as error:  # KeyError: a zone that the driver has no name for
        from neo4j._codec.hydration import BrokenHydrationObject

        return BrokenHydrationObject(error, str(value))  # type: ignore[no-untyped-call]


def _broken_by(items: list[Any], whole: Any) -> Any:
    """A marker for a list or map that contains a marker; None if it contains none."""
    for item in items:
        if type(item).__name__ == "BrokenHydrationObject":
            return type(item)(item.error, whole)
    return None


def _clock_numbers(nanosecond_of_day: int) -> tuple[int, int, int, int]:
    seconds, nanosecond = divmod(nanosecond_of_day, NANOS_PER_SECOND)
    minutes, second = divmod(seconds, 60)
    return *divmod(minutes, 60), second, nanosecond


def _date_to_driver(value: Date) -> Any:
    from neo4j.time import Date as DriverDate

    return DriverDate(*calendar_date(value.epoch_day))


def _local_time_to_driver(value: LocalTime) -> Any:
    from neo4j.time import Time as DriverTime

    return DriverTime(*_clock_numbers(value.nanosecond_of_day))


def _time_to_driver(value: Time) -> Any:
    from neo4j.time import Time as DriverTime

    zone = _fixed_zone(value.offset_seconds)
    return DriverTime(*_clock_numbers(value.nanosecond_of_day)).replace(tzinfo=zone)


def _fixed_zone(offset_seconds: int) -> Any:
    """The driver's class of zone, which counts in minutes, unless that would lose seconds."""
    from pytz import FixedOffset  # type: ignore[import-untyped]

    if offset_seconds % 60:
        return python_time.timezone(python_time.timedelta(seconds=offset_seconds))
    return FixedOffset(offset_seconds // 60)


def _local_date_time_to_driver(value: LocalDateTime) -> Any:
    from neo4j.time import DateTime as DriverDateTime

    return DriverDateTime(*calendar_date(value.epoch_day), *_clock_numbers(value.nanosecond_of_day))


def _date_time_to_driver(value: DateTime) -> Any:
    import pytz

    utc = _local_date_time_to_driver(LocalDateTime.of_second(value.epoch_second, value.nanosecond))
    fixed = value.region is None
    zone = _fixed_zone(value.offset_seconds) if fixed else pytz.timezone(value.region)
    moment = utc.replace(tzinfo=pytz.UTC).as_timezone(zone)
    if fixed or moment.utcoffset().total_seconds() == value.offset_seconds:
        return moment
    # pytz rounds local mean times to minutes and knows no summer time after 2037.
    local = _local_date_time_to_driver(value.local)
    return local.replace(tzinfo=_RegionAt(value.offset_seconds, value.region))


class _RegionAt(python_time.tzinfo):
    """A region at one moment, with the offset in force to the second."""

    def __init__(self, offset_seconds: int, zone: str | None) -> None:
        self.zone = zone  # the attribute that programs read the name from, as in pytz
        self._offset = python_time.timedelta(seconds=offset_seconds)

    def utcoffset(self, moment: python_time.datetime | None) -> python_time.timedelta:
        return self._offset

    def dst(self, moment: python_time.datetime | None) -> None:
        return None

    def tzname(self, moment: python_time.datetime | None) -> str | None:
        return self.zone

    def __repr__(self) -> str:
        return f"<{self.zone} at {self._offset}>"


def _duration_to_driver(value: Duration) -> Any:
    from neo4j.time import Duration as DriverDuration

    return DriverDuration(
        months=value.months,
        days=value.days,
        seconds=value.seconds,
        nanoseconds=value.nanoseconds,
    )


def _point_to_driver(value: Point) -> Any:
    from neo4j.spatial import CartesianPoint, WGS84Point

    return (WGS84Point if value.is_geographic else CartesianPoint)(value.coordinates)


_TO_DRIVER: dict[type, Callable[[Any], Any]] = {
    Date: _date_to_driver,
    LocalTime: _local_time_to_driver,
    Time: _time_to_driver,
    LocalDateTime: _local_date_time_to_driver,
    DateTime: _date_time_to_driver,
    Duration: _duration_to_driver,
    Point: _point_to_driver,
}


# --- in -----------------------------------------------------------------------------------------

_ONLY_TEXTS, _ONLY_INTEGERS, _ONLY_FLOATS = {str}, {int}, {float}  # made once: every list of a parameter is compared


def _list_from_driver(values: list[Any] | tuple[Any, ...]) -> list[Value]:
    check_time()  # a list that contains another many times is sent that often
    alike = _copied(values)
    return [from_driver(item) for item in values] if alike is None else alike


def _copied(values: list[Any] | tuple[Any, ...]) -> list[Value] | None:
    """A list of only texts, only floats or only integers, copied; None for any other."""
    kinds = set(map(type, values))
    if kinds == _ONLY_INTEGERS:
        return list(values) if min(values) >= INT64_MIN and max(values) <= INT64_MAX else None
    if kinds == _ONLY_TEXTS:
        return list(values) if all(map(str.isascii, values)) else [_checked_text(text) for text in values]
    return list(values) if kinds == _ONLY_FLOATS else None


def _checked_text(text: str) -> str:
    """A text that can be sent: half of a surrogate pair cannot. For subclasses, what they contain, not what they
    show."""
    plain = text if type(text) is str else str.__str__(text)
    if not plain.isascii():
        plain.encode("utf-8")
    return plain


def from_driver(value: Any) -> Value:
    """The engine's value for a parameter."""
    kind = type(value)
    if kind is int and MIN_INTEGER <= value <= MAX_INTEGER:
        return value  # type: ignore[no-any-return]
    if kind is dict:
        return _map_from_driver(value)
    if kind is list:
        return _list_from_driver(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _checked_text(value)
    if isinstance(value, int):
        return _checked_integer(int(value))
    if isinstance(value, float):
        return float.__pos__(value)
    package = type(value).__module__.partition(".")[0]
    if package == "neo4j":  # before tuples, for durations and points are tuples there
        return _from_driver_value(value)
    if isinstance(value, list) or type(value) is tuple:
        return _list_from_driver(value)
    if isinstance(value, Mapping):
        return _map_from_driver(value)
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if type(value).__name__ == "NaTType":  # pandas' missing time, which is also a datetime
        return None
    if isinstance(value, python_time.datetime):  # pandas.Timestamp is one
        return _date_time_from(value, getattr(value, "nanosecond", 0) + value.microsecond * 1000)
    if isinstance(value, python_time.timedelta):
        nanoseconds: int | None = getattr(value, "value", None)
        if nanoseconds is not None:  # of pandas, whose days are counted in seconds
            return Duration(0, 0, *divmod(nanoseconds, NANOS_PER_SECOND))
        return Duration(0, value.days, value.seconds, value.microseconds * 1000)
    if isinstance(value, python_time.date):
        return Date(day_number(value.year, value.month, value.day))
    if isinstance(value, python_time.time):
        return _time_from(value, value.microsecond * 1000)
    if package == "hoplite" and type(value) in _TO_DRIVER:
        return value  # type: ignore[no-any-return]
    if package == "numpy":
        return _from_numpy(value)
    if package == "pandas":
        return _from_pandas(value)
    raise _unsupported(value)


def _unsupported(value: Any) -> ValueError:
    return ValueError(f"Values of type {type(value)} are not supported")


def _checked_integer(value: int) -> int:
    if not MIN_INTEGER <= value <= MAX_INTEGER:
        raise OverflowError(f"Integer {value} out of range")
    return value


def _map_from_driver(entries: Mapping[Any, Any]) -> dict[str, Value]:
    check_time()
    taken: dict[str, Value] = {}
    for key, item in entries.items():
        if type(key) is not str or not key.isascii():
            if not isinstance(key, str):
                raise TypeError(f"Map keys must be strings, not {type(key)}")
            key = _checked_text(key)
        kind = type(item)  # rows to write are maps of plain values: most are taken without a call for each
        if kind is str:
            taken[key] = item if item.isascii() else _checked_text(item)
        elif kind is float or kind is bool or item is None:
            taken[key] = item
        else:
            taken[key] = from_driver(item)
    return taken


def _clock(value: Any, nanosecond: int) -> int:
    return LocalTime.of(value.hour, value.minute, int(value.second), nanosecond).nanosecond_of_day


def _offset(value: Any) -> int:
    """Seconds from UTC of a value with a zone."""
    try:
        offset = value.utcoffset()
    except ValueError:  # the driver's classes refuse offsets with seconds, which its zones may have
        offset = value.tzinfo.utcoffset(None)
    if offset is None:
        raise ValueError(f"The time zone of {value} has no offset without a date")
    if offset.microseconds:
        raise ValueError("Sub-second UTC offsets are not supported")
    return int(offset.total_seconds())


def _time_from(value: Any, nanosecond: int) -> LocalTime | Time:
    clock = _clock(value, nanosecond)
    return LocalTime(clock) if value.tzinfo is None else Time(clock, _offset(value))


def _date_time_from(value: Any, nanosecond: int) -> LocalDateTime | DateTime:
    local = LocalDateTime(day_number(value.year, value.month, value.day), _clock(value, nanosecond))
    if value.tzinfo is None:
        return local
    offset = _offset(value)
    name = getattr(value.tzinfo, "zone", None) or getattr(value.tzinfo, "key", None)
    second = local.local_second - offset
    if isinstance(name, str):
        zone = parse_zone(name)
        return DateTime.of_instant(second, local.nanosecond, zone)
    return DateTime(second, local.nanosecond, offset)


def _from_driver_value(value: Any) -> Value:
    from neo4j import spatial, time

    if isinstance(value, time.Duration):
        seconds, nanos = divmod(value.seconds * NANOS_PER_SECOND + value.nanoseconds, NANOS_PER_SECOND)
        return Duration(value.months, value.days, seconds, nanos)
    if isinstance(value, time.DateTime):
        return _date_time_from(value, value.nanosecond)
    if isinstance(value, time.Date):
        return Date(day_number(*value.year_month_day))
    if isinstance(value, time.Time):
        return _time_from(value, value.nanosecond)
    if isinstance(value, spatial.Point):
        if not 2 <= len(value) <= 3:
            raise ValueError(f"Cannot dehydrate Point with {len(value)} dimensions")
        if value.srid is None:
            raise ValueError(f"Cannot take {value!r} as a parameter: it has no SRID")
        return checked_point(value.srid, tuple(float(coordinate) for coordinate in value))
    raise _unsupported(value)


def _from_numpy(value: Any) -> Value:
    import numpy

    if isinstance(value, numpy.ndarray | numpy.generic) and value.dtype.kind in "cV":
        raise ValueError(f"Values of type {value.dtype.type} are not supported")
    if isinstance(value, numpy.ndarray):
        if value.ndim == 0:
            raise TypeError("len() of unsized object")
        if value.dtype.kind in "mM" or isinstance(value, numpy.ma.MaskedArray):  # an element that is masked is refused
            return [_from_numpy(item) for item in value]
        return from_driver(value.tolist())
    if isinstance(value, numpy.datetime64):
        if numpy.isnat(value):
            return None
        seconds, nanosecond = divmod(int(value.astype("datetime64[ns]").astype(numpy.int64)), NANOS_PER_SECOND)
        return LocalDateTime.of_second(seconds, nanosecond)
    if isinstance(value, numpy.timedelta64):  # the driver treats it as a number, which only some units are
        return int(value.item())
    if isinstance(value, numpy.floating):
        return float(value)
    if isinstance(value, numpy.generic):
        return from_driver(value.item())
    raise _unsupported(value)


def _from_pandas(value: Any) -> Value:
    import pandas

    if value is pandas.NA:
        return None
    if isinstance(value, pandas.Series | pandas.api.extensions.ExtensionArray):
        return [from_driver(item) for item in value]
    if isinstance(value, pandas.DataFrame):
        return {str(name): from_driver(column) for name, column in value.items()}
    raise _unsupported(value)


def from_parameters(given: Mapping[str, Any], allowance: Allowance) -> dict[str, Any]:
    """Parameters as the engine's values."""
    taken: dict[str, Any] = {}
    for name, value in given.items():
        kind = type(value)
        if kind is list and (alike := _copied(value)) is not None:
            taken[name] = alike
        elif (kind is str and value.isascii()) or (kind is int and INT64_MIN <= value <= INT64_MAX):
            taken[name] = value
        else:
            with allowing(allowance):
                taken[name] = from_driver(value)
    return taken
