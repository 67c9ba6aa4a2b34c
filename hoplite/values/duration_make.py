"""Durations from their parts, as numbers or in a map: whole ones, and fractions that cascade.

A month is 2629746 seconds on average (30.436875 days): this converts fractions of a month to smaller parts, and orders
durations by length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hoplite.errors import CypherError, argument_error, arithmetic_error, execution_failed
from hoplite.gql_status import because
from hoplite.values.calendar import NANOS_PER_DAY, NANOS_PER_SECOND, SECONDS_PER_DAY
from hoplite.values.map_order import visiting_order
from hoplite.values.render import class_name
from hoplite.values.temporal import MAX_INTEGER, MIN_INTEGER, Duration
from hoplite.values.temporal_fields import wrapped

SECONDS_PER_MONTH = 2_629_746
_NANOS_PER_MONTH = SECONDS_PER_MONTH * NANOS_PER_SECOND


def overflow(parts: str) -> CypherError:
    """The error for a duration of more than 2^63 seconds."""
    return argument_error(
        f"Invalid value for duration, will cause overflow. Value was {parts}", because("22N28", "duration()")
    )


def average_seconds(duration: Duration) -> int:
    """The length of a duration, with months of average length."""
    return duration.months * SECONDS_PER_MONTH + duration.days * SECONDS_PER_DAY + duration.seconds


def whole_duration(months: int, days: int, seconds: int, nanoseconds: int) -> Duration:
    """A duration of whole parts; nanoseconds beyond a second are carried over."""
    carried, nanos = divmod(nanoseconds, NANOS_PER_SECOND)
    duration = Duration(months, days, seconds + carried, nanos)
    fits = all(
        MIN_INTEGER <= part <= MAX_INTEGER for part in (months, days, duration.seconds, average_seconds(duration))
    )
    if not fits:
        raise overflow(f"months={months}, days={days}, seconds={seconds}, nanos={nanoseconds}")
    return duration


def approximate_duration(months: float, days: float, seconds: float, nanoseconds: float, sign: int = 1) -> Duration:
    """A duration whose fractions go into the next smaller part, in double precision like Neo4j."""
    whole_months = _to_integer(months)
    days += _NANOS_PER_MONTH * (months - whole_months) / NANOS_PER_DAY
    whole_days = _to_integer(days)
    seconds += NANOS_PER_DAY * (days - whole_days) / NANOS_PER_SECOND
    whole_seconds = _to_integer(seconds)
    nanoseconds += NANOS_PER_SECOND * (seconds - whole_seconds)
    return whole_duration(sign * whole_months, sign * whole_days, sign * whole_seconds, sign * _to_integer(nanoseconds))


def _to_integer(value: float) -> int:
    """Java's cast to long, which drops the fraction and turns NaN into 0, but not beyond 64 bits."""
    if value != value:
        return 0
    if not float(MIN_INTEGER) <= value <= float(MAX_INTEGER):
        raise arithmetic_error("long overflow")
    return max(MIN_INTEGER, min(MAX_INTEGER, int(value)))


# Field in lower case -> the part of a duration it counts in, and how often.
_DURATION_FIELDS = {
    "years": (0, 12),
    "months": (0, 1),
    "weeks": (1, 7),
    "days": (1, 1),
    "hours": (2, 3600),
    "minutes": (2, 60),
    "seconds": (2, 1),
    "milliseconds": (3, 1_000_000),
    "microseconds": (3, 1000),
    "nanoseconds": (3, 1),
}


def make_duration(fields: Mapping[str, Any]) -> Duration:
    """`make_duration({'days': 1.5})` is P1DT12H."""
    if not fields:
        raise argument_error("At least one temporal unit must be specified.")
    whole = [0, 0, 0, 0]
    exact = True
    numbers: list[tuple[int, int, int | float]] = []
    for key in visiting_order(fields):
        if key.lower() not in _DURATION_FIELDS:
            raise execution_failed(f"Unknown field: {key}")
    order = list(_DURATION_FIELDS)
    for key, value in sorted(fields.items(), key=lambda field: order.index(field[0].lower())):
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise execution_failed(f"{key} must be a number value, but was a {class_name(value)}")
        exact = exact and isinstance(value, int)
        numbers.append((*_DURATION_FIELDS[key.lower()], value))
    if exact:
        for part, size, value in numbers:
            whole[part] = wrapped(whole[part] + size * int(value))
        return whole_duration(*whole)
    parts = [0.0, 0.0, 0.0, 0.0]
    for part, size, value in sorted(numbers, key=lambda number: -number[1]):
        parts[part] += size * float(value)
    return approximate_duration(parts[0], parts[1], parts[2], parts[3])
