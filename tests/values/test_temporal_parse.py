"""Text to temporal values and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.errors import CypherError
from hoplite.values.calendar import MAX_DAY, MIN_DAY, NANOS_PER_DAY
from hoplite.values.duration_make import whole_duration
from hoplite.values.temporal import Date, DateTime, LocalDateTime, LocalTime, Time
from hoplite.values.temporal_parse import (
    parse_date,
    parse_date_time,
    parse_duration,
    parse_local_date_time,
    parse_local_time,
    parse_time,
)

_DAYS = st.integers(MIN_DAY, MAX_DAY)
_CLOCKS = st.integers(0, NANOS_PER_DAY - 1)
_OFFSETS = st.integers(-18 * 60, 18 * 60).map(lambda minutes: minutes * 60)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2015-07-21", "2015-07-21"),
        ("20150721", "2015-07-21"),
        ("2015-07", "2015-07-01"),
        ("201507", "2015-07-01"),
        ("2015", "2015-01-01"),
        ("2015-W30-2", "2015-07-21"),
        ("2015W302", "2015-07-21"),
        ("2015W30", "2015-07-20"),
        ("2015-Q2-60", "2015-05-30"),
        ("2015Q260", "2015-05-30"),
        ("2015-202", "2015-07-21"),
        ("2015202", "2015-07-21"),
        ("2015-7-1", "2015-07-01"),
        ("+2015W30-2", "2015-07-21"),
        ("-0001-02-03", "-0001-02-03"),
    ],
)
def test_every_form_of_date(text: str, day: str) -> None:
    assert str(parse_date(text)) == day


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("21:40:32.142", "21:40:32.142"),
        ("214032,142", "21:40:32.142"),
        ("21:40", "21:40:00"),
        ("2140", "21:40:00"),
        ("21", "21:00:00"),
        ("T9:5", "09:05:00"),
    ],
)
def test_every_form_of_time(text: str, time: str) -> None:
    assert str(parse_local_time(text)) == time


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2015-07-21T21:40:32.142+01:00", "2015-07-21T21:40:32.142+01:00"),
        ("20150721T21-02", "2015-07-21T21:00:00-02:00"),
        ("2015-07-21", "2015-07-21T00:00:00Z"),
        ("2015-07-21T12:00[europe/paris]", "2015-07-21T12:00:00+02:00[Europe/Paris]"),
        ("2021-03-28T02:30[Europe/Paris]", "2021-03-28T03:30:00+02:00[Europe/Paris]"),
        ("2021-10-31T02:30[Europe/Paris]", "2021-10-31T02:30:00+02:00[Europe/Paris]"),
        ("2021-10-31T02:30+01:00[Europe/Paris]", "2021-10-31T02:30:00+01:00[Europe/Paris]"),
        ("1818-07-21T21:40[Europe/Stockholm]", "1818-07-21T21:40:00+00:53:28[Europe/Stockholm]"),
        ("+12050-07-02T00:00[Europe/Paris]", "+12050-07-02T00:00:00+02:00[Europe/Paris]"),
        ("2015-07-21T12:00[UTC]", "2015-07-21T12:00:00Z[UTC]"),
        ("2015-07-21T12:00[Z]", "2015-07-21T12:00:00Z"),
    ],
)
def test_zones(text: str, moment: str) -> None:
    assert str(parse_date_time(text, 0)) == moment


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("P14DT16H12M", "P14DT16H12M"),
        ("P5M1.5D", "P5M1DT12H"),
        ("P0.5M", "P15DT5H14M33S"),
        ("P2W", "P14D"),
        ("P13M", "P1Y1M"),
        ("PT36H", "PT36H"),
        ("PT-0.5S", "PT-0.5S"),
        ("-PT1.5S", "PT-1.5S"),
        ("PT1M-90.5S", "PT-30.5S"),
        ("P1Y-13M", "P-1M"),
        ("P0D", "PT0S"),
        ("P2012-02-02T14:37:21.545", "P2012Y2M2DT14H37M21.545S"),
        ("P20120202T143721.5", "P2012Y2M2DT14H37M21.5S"),
    ],
)
def test_durations(text: str, duration: str) -> None:
    assert str(parse_duration(text)) == duration


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("nope", "SyntaxError", 'Text cannot be parsed to a Date\n"nope"\n ^'),
        (" 2015 ", "SyntaxError", 'Text cannot be parsed to a Date\n" 2015"\n ^'),
        ("2015-02-29", "SyntaxError", "Invalid date 'February 29' as '2015' is not a leap year"),
        ("2014-W53", "ArgumentError", "Year 2014 does not contain 53 weeks."),
        ("2015-Q1-91", "ArgumentError", "Quarter 1 of 2015 only has 90 days."),
        (
            "2015-7",
            "SyntaxError",
            "Text cannot be parsed to a Date. Hint, year+month needs to have two digits for month (e.g. 2015-02) and "
            "ordinal dates three digits (e.g. 2015-032).",
        ),
    ],
)
def test_what_is_no_date(text: str, code: str, message: str) -> None:
    with pytest.raises(CypherError) as raised:
        parse_date(text)
    assert (raised.value.code.rpartition(".")[2], raised.value.message) == (code, message)


@pytest.mark.parametrize("text", ["", "P", "PT", "P1YT", "1Y", "P1M1Y", "PT1.5H30M", "P2012-02", "PT1.1234567890S"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(CypherError, match="Text cannot be parsed to a Duration"):
        parse_duration(text)


@given(_DAYS)
def test_dates_come_back(day: int) -> None:
    assert parse_date(str(Date(day))) == Date(day)


@given(_CLOCKS)
def test_times_come_back(clock: int) -> None:
    assert parse_local_time(str(LocalTime(clock))) == LocalTime(clock)


@given(_CLOCKS, _OFFSETS)
def test_times_with_offsets_come_back(clock: int, offset: int) -> None:
    assert parse_time(str(Time(clock, offset)), 0) == Time(clock, offset)


@given(_DAYS, _CLOCKS)
def test_local_moments_come_back(day: int, clock: int) -> None:
    assert parse_local_date_time(str(LocalDateTime(day, clock))) == LocalDateTime(day, clock)


@given(
    st.integers(-(10**11), 10**11),
    st.integers(0, 999_999_999),
    st.sampled_from(["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", 0, -19800]),
)
def test_moments_come_back(second: int, nanosecond: int, zone: int | str) -> None:
    moment = DateTime.of_instant(second, nanosecond, zone)
    if moment.offset_seconds % 60 == 0:  # text has no place for the seconds of local mean times
        assert parse_date_time(str(moment), 0) == moment


@given(
    st.integers(-(10**6), 10**6),
    st.integers(-(10**6), 10**6),
    st.integers(-(10**9), 10**9),
    st.integers(-(10**9), 10**9),
)
def test_durations_come_back(months: int, days: int, seconds: int, nanoseconds: int) -> None:
    duration = whole_duration(months, days, seconds, nanoseconds)
    assert parse_duration(str(duration)) == duration
