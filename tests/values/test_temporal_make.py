"""Maps to temporal values, truncation, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from hoplite.errors import CypherError
from hoplite.values.duration_make import make_duration
from hoplite.values.temporal import Instant
from hoplite.values.temporal_make import (
    make_date,
    make_date_time,
    make_local_date_time,
    make_local_time,
    make_time,
)
from hoplite.values.temporal_parse import (
    parse_date,
    parse_date_time,
    parse_local_date_time,
    parse_local_time,
    parse_time,
)
from hoplite.values.temporal_truncate import (
    check_unit,
    truncate_date,
    truncate_date_time,
    truncate_local_date_time,
    truncate_time,
)

_PARIS = parse_date_time("2020-06-01T12:30[Europe/Paris]", 0)


def _error(raised: pytest.ExceptionInfo[CypherError]) -> tuple[str, str]:
    return raised.value.code.rpartition(".")[2], raised.value.message


@pytest.mark.parametrize(
    ("fields", "date"),
    [
        ({"year": 2015}, "2015-01-01"),
        ({"year": 2015, "month": 7, "day": 21}, "2015-07-21"),
        ({"year": 2015, "week": 30, "dayOfWeek": 2}, "2015-07-21"),
        ({"year": 2015, "week": 1}, "2014-12-29"),
        ({"year": 2014, "week": 53}, "2014-12-29"),
        ({"year": 2015, "quarter": 2, "dayOfQuarter": 60}, "2015-05-30"),
        ({"year": 2015, "ordinalDay": 202}, "2015-07-21"),
        ({"date": parse_date("2020-02-29"), "year": 2021}, "2021-02-28"),
        ({"date": parse_date("2020-12-31"), "week": 1}, "2020-01-02"),
        ({"date": _PARIS, "day": 5}, "2020-06-05"),
        ({"Year": 2015, "MONTH": 2}, "2015-02-01"),
    ],
)
def test_dates(fields: dict[str, Any], date: str) -> None:
    assert str(make_date(fields)) == date


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, ("ArgumentError", "At least one temporal unit must be specified.")),
        ({"month": 1}, ("ArgumentError", "year must be specified")),
        ({"year": 2015, "day": 1}, ("ArgumentError", "day cannot be specified without month")),
        ({"year": 2015, "month": 13}, ("ArgumentError", "Invalid value for MonthOfYear (valid values 1 - 12): 13")),
        ({"year": 2015, "hour": 1}, ("TypeError", "Not supported: hour")),
        ({"year": 2015, "nope": 1}, ("ArgumentError", "No such field: nope")),
        ({"year": 2015, "quarter": 2, "month": 5}, ("TypeError", "Cannot assign quarter to calendar date.")),
        ({"year": 2015, "week": 2, "month": 5}, ("TypeError", "Cannot assign month to week date.")),
        ({"year": 2015.5}, ("ExecutionFailed", "year must be an integer value, but was a DoubleValue")),
        ({"date": "2020-01-01"}, ("ArgumentError", 'Cannot construct date from: String("2020-01-01")')),
        ({"date": parse_local_time("12:00")}, ("TypeError", "Cannot get the date of: 12:00:00")),
        ({"year": 1, "Year": 2}, ("ArgumentError", "cannot re-assign year")),
    ],
)
def test_dates_that_are_refused(fields: dict[str, Any], error: tuple[str, str]) -> None:
    with pytest.raises(CypherError) as raised:
        make_date(fields)
    assert _error(raised) == error


def test_parts_of_a_second_add_up() -> None:
    assert str(make_local_time({"hour": 1, "minute": 2, "second": 3, "millisecond": 4, "nanosecond": 5})) == (
        "01:02:03.004000005"
    )
    with pytest.raises(CypherError, match="Invalid value for Nanosecond: 1000000"):
        make_local_time({"hour": 1, "minute": 2, "second": 3, "millisecond": 4, "nanosecond": 1_000_000})


def test_a_selected_moment_keeps_its_instant_in_another_zone() -> None:
    moved = make_date_time({"datetime": _PARIS, "timezone": "America/New_York"}, 0)
    assert str(moved) == "2020-06-01T06:30:00-04:00[America/New_York]"
    assert str(make_time({"time": parse_time("12:00+01:00", 0), "timezone": "+02:00"}, 0)) == "13:00:00+02:00"


def test_a_selected_local_moment_keeps_its_clock_in_another_zone() -> None:
    local = parse_local_date_time("2020-06-01T12:30")
    moved = make_date_time({"datetime": local, "timezone": "America/New_York"}, 0)
    assert str(moved) == "2020-06-01T12:30:00-04:00[America/New_York]"


def test_a_moment_is_selected_whole_or_in_parts() -> None:
    assert str(make_local_date_time({"date": _PARIS, "time": parse_local_time("01:02")})) == "2020-06-01T01:02:00"
    with pytest.raises(CypherError) as raised:
        make_date_time({"date": _PARIS, "datetime": _PARIS}, 0)
    assert _error(raised) == ("ArgumentError", "datetime cannot be selected together with date or time.")


def test_moments_since_the_epoch() -> None:
    assert str(make_date_time({"epochSeconds": 1, "timezone": "+01:00"}, 0)) == "1970-01-01T01:00:01+01:00"
    assert str(make_date_time({"epochMillis": -1}, 0)) == "1969-12-31T23:59:59.999Z"


@pytest.mark.parametrize(
    ("fields", "duration"),
    [
        ({"days": 1.5}, "P1DT12H"),
        ({"months": 0.5}, "P15DT5H14M33S"),
        ({"years": 1, "weeks": 2, "milliseconds": 1500}, "P1Y14DT1.5S"),
        ({"seconds": -1, "nanoseconds": 1}, "PT-0.999999999S"),
        # The last digit is where double precision leaves it.
        ({"years": 1.5, "months": 0.3}, "P1Y6M9DT3H8M43.800000001S"),
    ],
)
def test_durations(fields: dict[str, Any], duration: str) -> None:
    assert str(make_duration(fields)) == duration


def test_durations_that_are_refused() -> None:
    with pytest.raises(CypherError, match="Unknown field: day"):
        make_duration({"day": 1})
    with pytest.raises(CypherError, match="days must be a number value, but was a UTF8StringValue"):
        make_duration({"days": "a"})
    with pytest.raises(CypherError, match="will cause overflow"):
        make_duration({"seconds": 2**63 - 1, "nanoseconds": 10**9})


@pytest.mark.parametrize(
    ("unit", "date"),
    [
        ("millennium", "2000-01-01"),
        ("century", "2000-01-01"),
        ("decade", "2010-01-01"),
        ("year", "2017-01-01"),
        ("weekYear", "2017-01-02"),
        ("quarter", "2017-10-01"),
        ("month", "2017-11-01"),
        ("week", "2017-11-06"),
        ("day", "2017-11-11"),
    ],
)
def test_dates_are_cut(unit: str, date: str) -> None:
    assert str(truncate_date(unit, parse_date("2017-11-11"), {})) == date


def test_fields_are_set_on_what_is_left() -> None:
    moment = parse_local_date_time("2017-11-11T12:31:14.645876123")
    assert str(truncate_local_date_time("month", moment, {"day": 5, "hour": 6})) == "2017-11-05T06:00:00"
    assert str(truncate_local_date_time("millisecond", moment, {"nanosecond": 7})) == "2017-11-11T12:31:14.645000007"
    assert str(truncate_date_time("day", moment, {"timezone": "Europe/Paris"}, 0)) == (
        "2017-11-11T00:00:00+01:00[Europe/Paris]"
    )
    assert str(truncate_time("minute", moment, {"timezone": "+02:00"}, 0)) == "12:31:00+02:00"


@pytest.mark.parametrize(
    ("unit", "value", "error"),
    [
        ("hour", parse_date("2017-11-11"), ("TypeError", "Unit too small for truncation: Hours")),
        ("day", parse_local_time("12:00"), ("TypeError", "Cannot get the date of: 12:00:00")),
    ],
)
def test_what_cannot_be_cut(unit: str, value: Instant, error: tuple[str, str]) -> None:
    with pytest.raises(CypherError) as raised:
        truncate_date(unit, value, {})
    assert _error(raised) == error


def test_units_are_spelt_in_one_way() -> None:
    check_unit("weekYear")
    with pytest.raises(CypherError, match="Unsupported unit: weekyear"):
        check_unit("weekyear")
