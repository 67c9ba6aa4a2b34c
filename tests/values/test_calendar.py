"""The calendar against Python's own where it reaches, and beyond it by its own laws."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.values import calendar

_EPOCH = date(1970, 1, 1)


@given(st.dates())
def test_fields_agree_with_python(day: date) -> None:
    number = (day - _EPOCH).days
    assert calendar.day_number(day.year, day.month, day.day) == number
    assert calendar.calendar_date(number) == (day.year, day.month, day.day)
    assert (calendar.week_year(number), calendar.week(number), calendar.day_of_week(number)) == tuple(day.isocalendar())
    assert calendar.day_of_year(number) == day.timetuple().tm_yday


@given(st.integers(calendar.MIN_DAY, calendar.MAX_DAY))
def test_every_day_has_one_date(number: int) -> None:
    assert calendar.day_of(*calendar.calendar_date(number)) == number


@given(st.dates(date(1, 1, 1), date(9000, 1, 1)), st.integers(-10_000, 10_000))
def test_months_keep_the_day_or_cut_it(day: date, months: int) -> None:
    number = (day - _EPOCH).days
    year, month, day_of_month = calendar.calendar_date(calendar.plus_months(number, months))
    assert (year * 12 + month) - (day.year * 12 + day.month) == months
    assert day_of_month == min(day.day, calendar.month_length(year, month))


@given(st.dates(), st.integers(1, 53))
def test_another_week_keeps_the_weekday(day: date, week: int) -> None:
    number = (day - _EPOCH).days
    moved = calendar.with_week(number, week)
    assert calendar.day_of_week(moved) == calendar.day_of_week(number)
    assert (moved - number) % 7 == 0


def test_quarters_begin_on_their_first_day() -> None:
    for offset in range(366):
        day = date(2020, 1, 1) + timedelta(offset)
        number = (day - _EPOCH).days
        assert calendar.quarter(number) == (day.month + 2) // 3
        start = number - calendar.day_of_quarter(number) + 1
        assert calendar.calendar_date(start)[1:] in [(1, 1), (4, 1), (7, 1), (10, 1)]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ((2015, 13, 1), "Invalid value for MonthOfYear (valid values 1 - 12): 13"),
        ((2015, 2, 29), "Invalid date 'February 29' as '2015' is not a leap year"),
        ((2015, 2, 30), "Invalid date 'FEBRUARY 30'"),
        ((2015, 1, 32), "Invalid value for DayOfMonth (valid values 1 - 28/31): 32"),
        ((10**9, 1, 1), "Invalid value for Year (valid values -999999999 - 999999999): 1000000000"),
    ],
)
def test_errors_have_the_words_of_java(fields: tuple[int, int, int], message: str) -> None:
    with pytest.raises(calendar.FieldError) as raised:
        calendar.day_of(*fields)
    assert str(raised.value) == message


def test_years_beyond_four_digits_carry_a_sign() -> None:
    assert calendar.date_text(calendar.day_number(12015, 7, 21)) == "+12015-07-21"
    assert calendar.date_text(calendar.day_number(-5, 1, 2)) == "-0005-01-02"
    assert calendar.date_text(calendar.day_number(0, 1, 2)) == "0000-01-02"
