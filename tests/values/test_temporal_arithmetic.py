"""Instants and durations: sums, differences, what lies between."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.errors import CypherError
from hoplite.values.calendar import NANOS_PER_DAY
from hoplite.values.duration_make import whole_duration
from hoplite.values.temporal import DateTime, Duration, Instant, LocalDateTime
from hoplite.values.temporal_arithmetic import (
    add_duration,
    add_durations,
    days_between,
    divide_duration,
    duration_between,
    months_between,
    multiply_duration,
    seconds_between,
    subtract_duration,
)
from hoplite.values.temporal_fields import component
from hoplite.values.temporal_parse import (
    parse_date,
    parse_date_time,
    parse_duration,
    parse_local_date_time,
    parse_local_time,
    parse_time,
)

_LOCAL_MOMENTS = st.builds(LocalDateTime, st.integers(-(10**6), 10**6), st.integers(0, NANOS_PER_DAY - 1))
_MOMENTS = st.builds(
    lambda second, zone: DateTime.of_instant(second, 0, zone),
    st.integers(0, 2 * 10**9),
    st.sampled_from(["Europe/Paris", "America/New_York", 3600]),
)


@pytest.mark.parametrize(
    ("start", "duration", "end"),
    [
        (parse_date("2020-01-31"), "P1M", "2020-02-29"),
        (parse_date("2020-01-31"), "P1M1D", "2020-03-01"),
        (parse_date("2020-01-01"), "PT25H", "2020-01-02"),
        (parse_date("2020-01-01"), "PT-1H", "2020-01-01"),
        (parse_local_time("12:00"), "P1DT25H", "13:00:00"),
        (parse_time("12:00+01:00", 0), "PT-13H", "23:00:00+01:00"),
        (parse_local_date_time("2020-01-31T12:00"), "P1MT12H", "2020-03-01T00:00:00"),
        (parse_date_time("2021-03-27T02:30[Europe/Paris]", 0), "P1D", "2021-03-28T03:30:00+02:00[Europe/Paris]"),
        (parse_date_time("2021-03-27T02:30[Europe/Paris]", 0), "PT48H", "2021-03-29T03:30:00+02:00[Europe/Paris]"),
        (parse_date_time("2021-10-31T02:30[Europe/Paris]", 0), "PT1H", "2021-10-31T02:30:00+01:00[Europe/Paris]"),
    ],
)
def test_sums(start: Instant, duration: str, end: str) -> None:
    assert str(add_duration(start, parse_duration(duration))) == end


def test_sums_end_with_the_calendar() -> None:
    with pytest.raises(CypherError, match="Invalid value for Year") as raised:
        add_duration(parse_date("+999999999-12-31"), Duration(days=1))
    assert raised.value.code.endswith("ArithmeticError")
    with pytest.raises(CypherError, match="Invalid value for EpochDay"):
        add_duration(parse_date("+999999999-12-31"), Duration(days=100))


@given(_LOCAL_MOMENTS, st.integers(-(10**6), 10**6), st.integers(-(10**9), 10**9))
def test_days_and_seconds_can_be_taken_back(moment: LocalDateTime, days: int, seconds: int) -> None:
    duration = Duration(0, days, seconds)
    assert subtract_duration(add_duration(moment, duration), duration) == moment


@given(_LOCAL_MOMENTS, _LOCAL_MOMENTS)
def test_what_lies_between_leads_from_one_to_the_other(start: LocalDateTime, end: LocalDateTime) -> None:
    assert add_duration(start, seconds_between(start, end)) == end
    assert add_duration(start, duration_between(start, end)) == end


@given(_MOMENTS, _MOMENTS)
def test_seconds_between_moments_are_exact(start: DateTime, end: DateTime) -> None:
    between = seconds_between(start, end)
    assert between.seconds == end.epoch_second - start.epoch_second
    assert abs(days_between(start, end).days * 86400 - between.seconds) < 86400 + 3600 * 2


def test_between_fills_in_what_one_side_lacks() -> None:
    date, time = parse_date("2015-06-24"), parse_local_time("14:30")
    assert str(duration_between(date, time)) == "PT14H30M"
    moment = parse_date_time("2014-07-21T21:40:36.143+02:00", 0)
    assert str(duration_between(moment, date)) == "P11M2DT2H19M23.857S"
    assert str(months_between(date, moment)) == "P-11M"
    with pytest.raises(CypherError, match="Unsupported unit: Months"):
        months_between(time, time)


@given(st.builds(whole_duration, *[st.integers(-(10**6), 10**6)] * 3, st.integers(-(10**9), 10**9)))
def test_twice_is_the_sum_with_itself(duration: Duration) -> None:
    assert multiply_duration(duration, 2) == add_durations(duration, duration)
    assert divide_duration(multiply_duration(duration, 2), 2) == duration


def test_division_by_zero() -> None:
    with pytest.raises(CypherError, match="/ by zero"):
        divide_duration(Duration(days=1), 0)
    with pytest.raises(CypherError, match="Can not divide duration P1M with Double"):
        divide_duration(Duration(months=1), 0.0)
    assert divide_duration(Duration(days=1), 0.0) == Duration()


def test_overflow_names_the_operands() -> None:
    longest = Duration(seconds=2**63 - 1)
    with pytest.raises(CypherError, match="Can not add duration PT2562047788015215H30M7S and PT1S"):
        add_durations(longest, Duration(seconds=1))


def test_negative_durations_floor_their_seconds() -> None:
    duration = parse_duration("PT-1.5S")
    assert component(duration, "seconds") == -2
    assert component(duration, "nanosecondsOfSecond") == 500_000_000
    assert component(parse_duration("P-1Y-2M"), "monthsOfYear") == -2


def test_fields_of_instants() -> None:
    moment = parse_date_time("2017-01-01T12:31:14.645876123[Europe/Paris]", 0)
    assert component(moment, "weekYear") == 2016
    assert component(moment, "week") == 52
    assert component(moment, "dayOfQuarter") == 1
    assert component(moment, "epochMillis") == 1_483_270_274_645
    assert component(moment, "timezone") == "Europe/Paris"
    assert component(moment, "OFFSET") == "+01:00"
    assert component(moment, "microsecond") == 645_876
    with pytest.raises(CypherError, match="No such field: nope"):
        component(moment, "nope")
    with pytest.raises(CypherError, match="Unsupported field: HourOfDay"):
        component(parse_date("2020-01-01"), "hour")
