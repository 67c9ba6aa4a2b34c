"""Reading temporal values from text: every ISO 8601 form that Neo4j accepts, and no other.

    2015-07-21  20150721  2015-07  2015  2015-W30-2  2015W302  2015-Q2-60  2015-202  +12015-01-01
    21:40:32.142  214032,142  21:40  21
    +01:00  +0100  +01  Z  [Europe/Paris]
    P1Y2M3W4DT5H6M7.8S  P1.5M  P2012-02-02T14:37:21.545

Any other text is a SyntaxError, and so is a field out of range; the few checks that Neo4j adds (week 53 of a year
without one, an offset that its zone never has) are ArgumentErrors.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from hoplite.errors import (
    SYNTAX_ERROR,
    CypherError,
    argument_error,
    cypher_error,
    execution_failed,
)
from hoplite.gql_status import UNCLASSIFIED, GqlStatus, because, status
from hoplite.lazy import lazy_pattern
from hoplite.values import calendar, zones
from hoplite.values.calendar import NANOS_PER_SECOND, FieldError, check_field
from hoplite.values.duration_make import approximate_duration, overflow, whole_duration
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

_DATE = r"""
    (?: (?P<short_year>\d{4}) (?:
            (?P<short_month>\d{2}) (?P<short_day>\d{2})?
          | W (?P<short_week>\d{1,2}) (?P<short_weekday>\d)?
          | Q (?P<short_quarter>\d) (?P<short_quarter_day>\d{2})?
          | (?P<short_ordinal>\d{3}) )
      | (?P<long_year>\d{4}|[+-]\d{1,9}) (?:
            -(?P<long_month>\d{1,2}) (?:-(?P<long_day>\d{1,2}))?
          | -?W(?P<long_week>\d{1,2}) (?:-(?P<long_weekday>\d))?
          | -?Q(?P<long_quarter>\d) (?:-(?P<long_quarter_day>\d{1,2}))?
          | -(?P<long_ordinal>\d{3}) )
      | (?P<year>\d{4}|[+-]\d{1,9}) )
"""
_CLOCK = r"""
    (?: (?P<long_hour>\d{1,2})
            (?: :(?P<long_minute>\d{1,2})
                (?: :(?P<long_second>\d{1,2}) (?:[.,](?P<long_fraction>\d{1,9}))? )? )?
      | (?P<short_hour>\d{2})
            (?: (?P<short_minute>\d{2})
                (?: (?P<short_second>\d{2}) (?:[.,](?P<short_fraction>\d{1,9}))? )? )? )
"""
_ZONE = r"""
    (?P<offset>Z|(?P<sign>[+-])(?P<offset_hours>\d{2})(?::?(?P<offset_minutes>\d{2}))?)?
    (?:\[(?P<region>[a-z0-9~._ /+-]+)])?
"""
_ANY_CASE = re.VERBOSE | re.IGNORECASE | re.ASCII
_DATE_TEXT = lazy_pattern(_DATE, re.VERBOSE | re.ASCII)
_LOCAL_TIME_TEXT = lazy_pattern(f"T?{_CLOCK}", re.VERBOSE | re.ASCII)
_TIME_TEXT = lazy_pattern(f"T?{_CLOCK}{_ZONE}", _ANY_CASE)
_LOCAL_DATE_TIME_TEXT = lazy_pattern(f"{_DATE}(?:T{_CLOCK})?", _ANY_CASE)
_DATE_TIME_TEXT = lazy_pattern(f"{_DATE}(?:T{_CLOCK}{_ZONE})?", _ANY_CASE)

_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
_DURATION_TEXT = lazy_pattern(
    rf"""
    (?P<sign>[+-]?)P(?:
        (?:(?P<years>{_NUMBER})Y)? (?:(?P<months>{_NUMBER})M)?
        (?:(?P<weeks>{_NUMBER})W)? (?:(?P<days>{_NUMBER})D)?
        (?P<clock>T (?:(?P<hours>{_NUMBER})H)? (?:(?P<minutes>{_NUMBER})M)?
            (?:(?P<seconds>[+-]?\d+)(?:[.,](?P<fraction>\d{{1,9}}))?S)? )?
      | (?: (?P<date_year>\d{{4}}) (?: -(?P<long_month>\d{{2}})-(?P<long_day>\d{{2}})
                                  | (?P<short_month>\d{{2}})(?P<short_day>\d{{2}}) ) )?
        (?: T (?: (?P<short_hour>\d{{2}}) (?: (?P<short_minute>\d{{2}})
                     (?: (?P<short_second>\d{{2}}) (?:[.,](?P<short_fraction>\d{{1,9}}))? )? )?
                | (?P<long_hour>\d{{2}}):(?P<long_minute>\d{{2}})
                     (?: :(?P<long_second>\d{{2}}) (?:[.,](?P<long_fraction>\d{{1,9}}))? )? ) )?
    )""",
    _ANY_CASE,
)


def _unreadable(text: str, kind: str, gql_status: GqlStatus) -> CypherError:
    message = f'Text cannot be parsed to a {kind}\n"{text.rstrip()}"\n ^'
    return cypher_error(SYNTAX_ERROR, message, gql_status)


def _match(pattern: re.Pattern[str], text: str, kind: str, gql_status: GqlStatus | None = None) -> re.Match[str]:
    match = pattern.fullmatch(text)
    if match is None:
        raise _unreadable(text, kind, gql_status or because("22N36", text, kind))
    return match


def _read_fields(read: Callable[[re.Match[str]], int], match: re.Match[str]) -> int:
    """`read(match)`; a field out of range makes the text wrong."""
    try:
        return read(match)
    except FieldError as error:
        raise cypher_error(SYNTAX_ERROR, str(error), because("22N11", match.string)) from None


def _out_of_range(name: str, least: int, most: int, found: int) -> GqlStatus:
    return status("22N03", name, "INTEGER", least, most, found).under("22007")


def _wrong_offset(local: LocalDateTime, region: str, offset: int, zone: int | str) -> GqlStatus:
    """The GQL status of an offset that the zone does not have at that time."""
    given = zones.offset_text(offset)
    shown = str(local).removesuffix(":00") if local.nanosecond_of_day % (60 * NANOS_PER_SECOND) == 0 else str(local)
    right = [f"'{zones.offset_text(one)}'" for one in zones.offsets_of(zone, local.local_second)]
    place = f"{shown}[{region}]"
    wrong = status("22N04", given, place, " or ".join(right)) if right else status("22N05", given, place)
    return wrong.under("22003", given)


def parse_date(text: str) -> Date:
    """`parse_date('2015-W30-2')` is 2015-07-21."""
    return Date(_read_fields(_read_day, _match(_DATE_TEXT, text, "Date")))


def parse_local_time(text: str) -> LocalTime:
    """`parse_local_time('214032.5')` is 21:40:32.5."""
    match = _match(_LOCAL_TIME_TEXT, text, "LocalTime")
    return LocalTime(_read_fields(_read_clock, match))


def parse_time(text: str, default_zone: int | str) -> Time:
    """A time of day; without an offset it gets that of the default zone today."""
    match = _match(_TIME_TEXT, text, "Time", UNCLASSIFIED)
    if match["region"] is not None:
        raise argument_error(
            "Using a named time zone e.g. [UTC] is not valid for a time without a date. "
            "Instead, use a specific time zone string e.g. +00:00.",
            because("22N13"),
        )
    offset = _read_offset(match)
    if offset is None:
        offset = current_offset(default_zone)
    return Time(_read_fields(_read_clock, match), offset)


def parse_local_date_time(text: str) -> LocalDateTime:
    """A date and perhaps a time of day."""
    match = _match(_LOCAL_DATE_TIME_TEXT, text, "LocalDateTime")
    return LocalDateTime(_read_fields(_read_day, match), _read_fields(_read_clock, match))


def parse_date_time(text: str, default_zone: int | str) -> DateTime:
    """A date and perhaps a time of day, an offset and the name of a zone."""
    match = _match(_DATE_TIME_TEXT, text, "DateTime", UNCLASSIFIED)
    day = _read_fields(_read_day, match)
    local = LocalDateTime(day, _read_fields(_read_clock, match))
    offset = _read_offset(match)
    region = match["region"]
    if region is None:
        return DateTime.of_local(local, default_zone if offset is None else offset)
    zone = read_zone(region)
    resolved = DateTime.of_local(local, zone, offset)
    if offset is not None and (resolved.offset_seconds != offset or resolved.local != local):
        raise argument_error(f"Timezone and offset do not match: {text}", _wrong_offset(local, region, offset, zone))
    return resolved


def read_zone(text: str) -> int | str:
    """The zone that a text names, as an offset in seconds or a region."""
    try:
        return zones.parse_zone(text)
    except zones.ZoneError as error:
        raise cypher_error(SYNTAX_ERROR, str(error), because("22N11", text)) from None


def current_offset(zone: int | str) -> int:
    """The current offset of a zone, for times of day, which have no date to look it up by."""
    if isinstance(zone, int):
        return zone
    import time

    return zones.offset_at(zone, int(time.time()))


def _read_day(match: re.Match[str]) -> int:
    """The day number of the groups of `_DATE`."""
    group = match.groupdict()
    year = int(group["short_year"] or group["long_year"] or group["year"])
    month = group["short_month"] or group["long_month"]
    week = group["short_week"] or group["long_week"]
    quarter = group["short_quarter"] or group["long_quarter"]
    ordinal = group["short_ordinal"] or group["long_ordinal"]
    if month is not None:
        day = group["short_day"] or group["long_day"]
        if day is None and len(month) == 1:
            raise cypher_error(
                SYNTAX_ERROR,
                "Text cannot be parsed to a Date. Hint, year+month needs to have two digits for "
                "month (e.g. 2015-02) and ordinal dates three digits (e.g. 2015-032).",
                because("22N35", match.string),
            )
        return calendar.day_of(year, int(month), int(day or 1))
    if week is not None:
        weekday = group["short_weekday"] or group["long_weekday"]
        return _week_date(year, int(week), int(weekday or 1))
    if quarter is not None:
        quarter_day = group["short_quarter_day"] or group["long_quarter_day"]
        return _quarter_date(year, int(quarter), int(quarter_day or 1))
    if ordinal is not None:
        return calendar.day_of_ordinal(year, int(ordinal))
    return calendar.day_of(year, 1, 1)


def _week_date(year: int, week: int, weekday: int) -> int:
    day = calendar.with_week(calendar.day_of(year, 1, 4), week)
    if week == 53 and calendar.week_year(day) != year:
        raise argument_error(
            f"Year {year} does not contain 53 weeks.", _out_of_range(f"week of year {year}", 1, 52, 53)
        )
    return calendar.with_day_of_week(day, weekday)


def _quarter_date(year: int, quarter: int, quarter_day: int) -> int:
    if quarter == 2 and quarter_day == 92:
        raise argument_error(
            "Quarter 2 only has 91 days.", _out_of_range(f"Day of Quarter 2 of year {year}", 1, 91, 92)
        )
    day = calendar.day_of_ordinal(year, quarter_day)
    first_quarter_days = 91 if calendar.is_leap_year(year) else 90
    if quarter == 1 and first_quarter_days < quarter_day <= 92:
        raise argument_error(
            f"Quarter 1 of {year} only has {first_quarter_days} days.",
            _out_of_range(f"Day of Quarter 1 of year {year}", 1, first_quarter_days, quarter_day),
        )
    return calendar.with_day_of_quarter(calendar.with_quarter(day, quarter), quarter_day)


def _read_clock(match: re.Match[str]) -> int:
    """Nanoseconds since midnight of the groups of `_CLOCK`."""
    group = match.groupdict()
    hour = check_field("HourOfDay", int(group["long_hour"] or group["short_hour"] or 0))
    minute = check_field("MinuteOfHour", int(group["long_minute"] or group["short_minute"] or 0))
    second = check_field("SecondOfMinute", int(group["long_second"] or group["short_second"] or 0))
    fraction = group["long_fraction"] or group["short_fraction"] or ""
    return LocalTime.of(hour, minute, second, int(fraction.ljust(9, "0"))).nanosecond_of_day


def _read_offset(match: re.Match[str]) -> int | None:
    """Seconds of the groups of `_ZONE`; None without an offset."""
    if match["offset"] is None:
        return None
    if match["sign"] is None:
        return 0
    hours, minutes = int(match["offset_hours"]), int(match["offset_minutes"] or 0)
    sign = -1 if match["sign"] == "-" else 1
    if hours > 18:
        raise argument_error(
            f"Zone offset hours not in valid range: value {sign * hours} is not in the range -18 to 18"
        )
    if minutes > 59:
        raise argument_error(
            f"Zone offset minutes not in valid range: value {sign * minutes} is not in the range -59 to 59"
        )
    if hours * 60 + minutes > 18 * 60:
        raise argument_error("Zone offset not in valid range: -18:00 to +18:00")
    return sign * (hours * 60 + minutes) * 60


def parse_duration(text: str) -> Duration:
    """`parse_duration('P1.5D')` is P1DT12H. Only the smallest unit may have a fraction."""
    match = _DURATION_TEXT.fullmatch(text)
    duration = None if match is None else _read_duration(match)
    if duration is None:
        raise _unreadable(text, "Duration", because("22N36", text, "Duration"))
    return duration


def _read_duration(match: re.Match[str]) -> Duration | None:
    group = match.groupdict()
    sign = -1 if group["sign"] == "-" else 1
    if group["date_year"] or group["short_hour"] or group["long_hour"]:
        return _read_date_duration(group, sign)
    clock_units = (group["hours"], group["minutes"], group["seconds"])
    units = (group["years"], group["months"], group["weeks"], group["days"], *clock_units)
    if not any(units) or (group["clock"] and not any(clock_units)):
        return None
    for position, unit in enumerate(units):
        if unit is not None and ("." in unit or "," in unit):
            if any(units[position + 1 :]):
                return None
            return _read_fractional(units[:position], position, unit, sign)
    years, months, weeks, days, hours, minutes, seconds = (_whole(unit) for unit in units)
    if not MIN_INTEGER <= years * 12 <= MAX_INTEGER:
        raise overflow(f"years={years}")
    total_seconds = hours * 3600 + minutes * 60 + seconds
    if not MIN_INTEGER <= total_seconds <= MAX_INTEGER:
        raise overflow(
            f"months={years * 12 + months}, days={weeks * 7 + days}, hours={hours}, "
            f"minutes={minutes}, seconds={seconds}, nanos=0"
        )
    nanos = int((group["fraction"] or "").ljust(9, "0"))
    if (group["seconds"] or "").startswith("-"):
        nanos = -nanos
    return whole_duration(
        sign * (years * 12 + months),
        sign * (weeks * 7 + days),
        sign * total_seconds,
        sign * nanos,
    )


def _whole(digits: str | None) -> int:
    value = int(digits or 0)
    if not MIN_INTEGER <= value <= MAX_INTEGER:
        raise execution_failed(f'For input string: "{digits}"')
    return value


# Of years, months, weeks, days, hours, minutes: the part of a duration they count in, how often.
_UNIT_SIZES = ((0, 12), (0, 1), (1, 7), (1, 1), (2, 3600), (2, 60))


def _read_fractional(whole_units: tuple[str | None, ...], position: int, last: str, sign: int) -> Duration:
    """A duration whose last unit has a fraction, which goes into the smaller parts."""
    parts = [0.0, 0.0, 0.0]
    for (part, size), unit in zip(_UNIT_SIZES, whole_units, strict=False):
        parts[part] += _whole(unit) * size
    part, size = _UNIT_SIZES[position]
    parts[part] += float(last.replace(",", ".")) * size
    return approximate_duration(parts[0], parts[1], parts[2], 0.0, sign)


def _read_date_duration(group: dict[str, str | None], sign: int) -> Duration:
    """The form that looks like a date and a time: P2012-02-02T14:37:21.545"""
    months = int(group["long_month"] or group["short_month"] or 0)
    days = int(group["long_day"] or group["short_day"] or 0)
    hours = int(group["long_hour"] or group["short_hour"] or 0)
    minutes = int(group["long_minute"] or group["short_minute"] or 0)
    seconds = int(group["long_second"] or group["short_second"] or 0)
    for words, value, highest in (
        ("months is", months, 12),  # Neo4j says `month` and `day`, and that they begin with 1, in the status
        ("days is", days, 31),
        ("hours", hours, 24),
        ("minutes", minutes, 60),
        ("seconds", seconds, 60),
    ):
        if value > highest:
            name, least = (words.removesuffix("s is"), 1) if words.endswith("is") else (words, 0)
            raise argument_error(f"{words} out of range: {value}", _out_of_range(name, least, highest, value))
    nanos = int((group["long_fraction"] or group["short_fraction"] or "").ljust(9, "0"))
    total_seconds = hours * 3600 + minutes * 60 + seconds
    return whole_duration(
        sign * (int(group["date_year"] or 0) * 12 + months),
        sign * days,
        sign * total_seconds,
        sign * (nanos % NANOS_PER_SECOND),
    )
