"""Sums and differences of temporal values: instants with durations, durations with numbers,
and the duration between two instants.

Durations are added in the order months, days, seconds. Months and days move the clock of a zone,
seconds the instant: a day over a change of clocks may last 23 hours, 24 hours always last 24.
"""

from __future__ import annotations

from hoplite.errors import CypherError, argument_error, arithmetic_error, type_error
from hoplite.gql_status import UNCLASSIFIED, GqlStatus, because, status
from hoplite.values import calendar
from hoplite.values.calendar import (
    NANOS_PER_DAY,
    NANOS_PER_SECOND,
    SECONDS_PER_DAY,
    FieldError,
    calendar_date,
)
from hoplite.values.duration_make import approximate_duration, whole_duration
from hoplite.values.render import describe
from hoplite.values.temporal import (
    MAX_INTEGER,
    MIN_INTEGER,
    Date,
    DateTime,
    Duration,
    Instant,
    LocalDateTime,
    LocalTime,
    Time,
)


def add_duration(instant: Instant, duration: Duration) -> Instant:
    """`date('2020-01-31') + duration('P1M')` is 2020-02-29."""
    return _shifted(instant, duration, 1)


def subtract_duration(instant: Instant, duration: Duration) -> Instant:
    """`date('2020-03-31') - duration('P1M')` is 2020-02-29."""
    return _shifted(instant, duration, -1)


def _shifted(instant: Instant, duration: Duration, sign: int) -> Instant:
    months, days = sign * duration.months, sign * duration.days
    seconds, nanos = sign * duration.seconds, sign * duration.nanoseconds
    if isinstance(instant, LocalTime):
        clock = instant.nanosecond_of_day + seconds * NANOS_PER_SECOND + nanos
        return LocalTime(clock % NANOS_PER_DAY)
    if isinstance(instant, Time):
        clock = instant.nanosecond_of_day + seconds * NANOS_PER_SECOND + nanos
        return Time(clock % NANOS_PER_DAY, instant.offset_seconds)
    try:
        if isinstance(instant, Date):
            # A date takes the whole days of the time part, and leaves the rest.
            whole_days = abs(seconds) // SECONDS_PER_DAY * (1 if seconds > 0 else -1)
            return Date(_shifted_day(instant.epoch_day, months, days + whole_days))
        if isinstance(instant, LocalDateTime):
            day = _shifted_day(instant.epoch_day, months, days)
            carried, clock = divmod(instant.nanosecond_of_day + seconds * NANOS_PER_SECOND + nanos, NANOS_PER_DAY)
            return LocalDateTime(calendar.plus_days(day, carried), clock)
        return _shifted_moment(instant, months, days, seconds, nanos)
    except FieldError as error:
        raise arithmetic_error(str(error)) from None


def _shifted_day(day: int, months: int, days: int) -> int:
    return calendar.plus_days(calendar.plus_months(day, months), days)


def _shifted_moment(moment: DateTime, months: int, days: int, seconds: int, nanos: int) -> DateTime:
    for step_months, step_days in ((months, 0), (0, days)):
        if step_months or step_days:
            local = moment.local
            day = _shifted_day(local.epoch_day, step_months, step_days)
            shifted = LocalDateTime(day, local.nanosecond_of_day)
            moment = DateTime.of_local(shifted, moment.zone, moment.offset_seconds)
    carried, nanosecond = divmod(moment.nanosecond + nanos, NANOS_PER_SECOND)
    second = moment.epoch_second + seconds + carried
    # Java checks the day on the clock before it looks up the offset again.
    local_day = (moment.epoch_second + moment.offset_seconds) // SECONDS_PER_DAY
    shifted_day = (second + moment.offset_seconds) // SECONDS_PER_DAY
    calendar.plus_days(local_day, shifted_day - local_day)
    return DateTime.of_instant(second, nanosecond, moment.zone)


# --- durations and numbers ----------------------------------------------------------------------


_OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}


def _overflow(words: str, *, inner: GqlStatus | None = None) -> CypherError:
    cause = status("22N28", _OPERATORS[words.split()[0]], cause=inner).under("22015")
    return argument_error(f"Can not {words} without causing overflow.", cause)


def _fits(*parts: int) -> bool:
    return all(MIN_INTEGER <= part <= MAX_INTEGER for part in parts)


def add_durations(left: Duration, right: Duration) -> Duration:
    """The sum, part by part."""
    return _combined(left, right, 1, "add")


def subtract_durations(left: Duration, right: Duration) -> Duration:
    """The difference, part by part."""
    return _combined(left, right, -1, "subtract")


def _combined(left: Duration, right: Duration, sign: int, verb: str) -> Duration:
    parts = (
        left.months + sign * right.months,
        left.days + sign * right.days,
        left.seconds + sign * right.seconds,
        left.nanoseconds + sign * right.nanoseconds,
    )
    if not _fits(*parts):
        raise _overflow(f"{verb} duration {left} and {right}")
    return whole_duration(*parts)


def multiply_duration(duration: Duration, factor: int | float) -> Duration:
    """Part by part; a fraction of a part goes into the smaller ones."""
    words = f"multiply duration {duration} with {describe(factor)}"
    if isinstance(factor, int):
        parts = (
            duration.months * factor,
            duration.days * factor,
            duration.seconds * factor,
            duration.nanoseconds * factor,
        )
        if not _fits(*parts):
            raise _overflow(words)
        return whole_duration(*parts)
    return _approximate(
        words,
        duration.months * factor,
        duration.days * factor,
        duration.seconds * factor,
        duration.nanoseconds * factor,
    )


def divide_duration(duration: Duration, divisor: int | float) -> Duration:
    """Part by part, in double precision."""
    words = f"divide duration {duration} with {describe(divisor)}"
    if isinstance(divisor, int) and divisor == 0:
        raise arithmetic_error("/ by zero")
    return _approximate(
        words,
        _quotient(duration.months, divisor),
        _quotient(duration.days, divisor),
        _quotient(duration.seconds, divisor),
        _quotient(duration.nanoseconds, divisor),
    )


def _quotient(dividend: int, divisor: int | float) -> float:
    """Java's division of doubles, which is defined for zero."""
    top, bottom = float(dividend), float(divisor)
    if bottom == 0:
        infinite = float("inf") if (top > 0) == (str(bottom)[0] != "-") else float("-inf")
        return infinite if top else float("nan")
    return top / bottom


def _approximate(words: str, months: float, days: float, seconds: float, nanoseconds: float) -> Duration:
    try:
        return approximate_duration(months, days, seconds, nanoseconds)
    except CypherError:
        raise _overflow(words, inner=UNCLASSIFIED) from None


# --- between two instants -----------------------------------------------------------------------


def duration_between(start: Instant, end: Instant) -> Duration:
    """Months, then days, then seconds from `start` to `end`."""
    months = days = 0
    if _has_date(start) and _has_date(end):
        months = _whole_units(start, end, "Months")
        start = _moved(start, months, 0)
        days = _whole_units(start, end, "Days")
        start = _moved(start, 0, days)
    seconds, nanos = _seconds_between(start, end)
    return whole_duration(months, days, seconds, nanos)


def months_between(start: Instant, end: Instant) -> Duration:
    """Whole months only."""
    return whole_duration(_whole_units(start, end, "Months"), 0, 0, 0)


def days_between(start: Instant, end: Instant) -> Duration:
    """Whole days only."""
    return whole_duration(0, _whole_units(start, end, "Days"), 0, 0)


def seconds_between(start: Instant, end: Instant) -> Duration:
    """The exact time."""
    return whole_duration(0, 0, *_seconds_between(start, end))


def _has_date(instant: Instant) -> bool:
    return isinstance(instant, Date | LocalDateTime | DateTime)


def _moved(instant: Instant, months: int, days: int) -> Instant:
    return _shifted(instant, Duration(months, days), 1)


def _comparable(
    start: Instant, end: Instant
) -> (
    tuple[LocalTime, LocalTime] | tuple[Time, Time] | tuple[LocalDateTime, LocalDateTime] | (tuple[DateTime, DateTime])
):
    """Both instants with the same parts: midnight, or the other's date or zone, is added."""
    start_day, start_clock, start_zone = _parts(start)
    end_day, end_clock, end_zone = _parts(end)
    if start_day is None:
        start_day = end_day
    elif end_day is None:
        end_day = start_day
    if start_day is None or end_day is None:
        if start_zone is None and end_zone is None:
            return LocalTime(start_clock), LocalTime(end_clock)
        return _time(start_clock, start_zone, end_zone), _time(end_clock, end_zone, start_zone)
    local_start = LocalDateTime(start_day, start_clock)
    local_end = LocalDateTime(end_day, end_clock)
    if start_zone is None and end_zone is None:
        return local_start, local_end
    return (
        _moment(start, local_start, start_zone, end_zone),
        _moment(end, local_end, end_zone, start_zone),
    )


def _parts(instant: Instant) -> tuple[int | None, int, int | str | None]:
    """Day, nanoseconds since midnight and zone, if it has them."""
    match instant:
        case Date(day):
            return day, 0, None
        case LocalTime(clock):
            return None, clock, None
        case Time(clock, offset):
            return None, clock, offset
        case LocalDateTime(day, clock):
            return day, clock, None
        case DateTime():
            local = instant.local
            return local.epoch_day, local.nanosecond_of_day, instant.zone


def _time(clock: int, zone: int | str | None, other: int | str | None) -> Time:
    offset = other if zone is None else zone
    assert isinstance(offset, int)  # times of day have offsets only
    return Time(clock, offset)


def _moment(instant: Instant, local: LocalDateTime, zone: int | str | None, other: int | str | None) -> DateTime:
    if isinstance(instant, DateTime):
        return instant
    found = other if zone is None else zone
    assert found is not None
    return DateTime.of_local(local, found)


def _whole_units(start: Instant, end: Instant, unit: str) -> int:
    """How many whole months or days are in between, rounded toward zero."""
    pair = _comparable(start, end)
    if isinstance(pair[0], DateTime):
        first, second = pair[0].local, _same_zone(pair[1], pair[0]).local
    elif isinstance(pair[0], LocalDateTime):
        first, second = pair[0], pair[1]
    else:
        raise type_error(f"Unsupported unit: {unit}", because("22N11", unit))
    days = second.epoch_day
    # A day that is not over on the clock does not count.
    if second.epoch_day > first.epoch_day and second.nanosecond_of_day < first.nanosecond_of_day:
        days -= 1
    elif second.epoch_day < first.epoch_day and second.nanosecond_of_day > first.nanosecond_of_day:
        days += 1
    if unit == "Days":
        return days - first.epoch_day
    return _months_until(first.epoch_day, days)


def _same_zone(moment: DateTime | object, other: DateTime) -> DateTime:
    assert isinstance(moment, DateTime)
    return DateTime.of_instant(moment.epoch_second, moment.nanosecond, other.zone)


def _months_until(start: int, end: int) -> int:
    """Whole months between two days, rounded toward zero."""
    start_year, start_month, start_day = calendar_date(start)
    end_year, end_month, end_day = calendar_date(end)
    packed_start = (start_year * 12 + start_month - 1) * 32 + start_day
    packed_end = (end_year * 12 + end_month - 1) * 32 + end_day
    difference = packed_end - packed_start
    return -(-difference // 32) if difference < 0 else difference // 32


def _seconds_between(start: Instant, end: Instant) -> tuple[int, int]:
    pair = _comparable(start, end)
    nanos = _nanoseconds(pair[1]) - _nanoseconds(pair[0])
    return divmod(nanos, NANOS_PER_SECOND)


def _nanoseconds(instant: LocalTime | Time | LocalDateTime | DateTime) -> int:
    """On a time line shared by all instants of one type."""
    match instant:
        case LocalTime(clock):
            return clock
        case Time():
            return instant.utc_nanosecond
        case LocalDateTime(day, clock):
            return day * NANOS_PER_DAY + clock
        case DateTime():
            return instant.epoch_second * NANOS_PER_SECOND + instant.nanosecond
