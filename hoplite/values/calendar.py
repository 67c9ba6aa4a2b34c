"""The proleptic ISO calendar on plain integers.

A day is its number since 1970-01-01; years run from -999999999 to 999999999 (which rules out `datetime.date`). Days and
field values go in, days come out; a field value out of range raises `FieldError`, in the words of Java's `java.time`.
Callers turn it into a Cypher error: a SyntaxError for a text, an ArgumentError for a map.
"""

from __future__ import annotations

MIN_YEAR = -999_999_999
MAX_YEAR = 999_999_999
DAYS_PER_CYCLE = 146_097  # the Gregorian calendar repeats every 400 years
DAYS_TO_EPOCH = 719_468  # from 0000-03-01 to 1970-01-01
SECONDS_PER_DAY = 86_400
NANOS_PER_SECOND = 1_000_000_000
NANOS_PER_DAY = SECONDS_PER_DAY * NANOS_PER_SECOND

MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
_MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

# Java's name of a field -> the text of its valid range, lowest and highest value.
_RANGES: dict[str, tuple[str, int, int]] = {
    "Year": (f"{MIN_YEAR} - {MAX_YEAR}", MIN_YEAR, MAX_YEAR),
    "QuarterOfYear": ("1 - 4", 1, 4),
    "MonthOfYear": ("1 - 12", 1, 12),
    "WeekOfWeekBasedYear": ("1 - 52/53", 1, 53),
    "DayOfYear": ("1 - 365/366", 1, 366),
    "DayOfQuarter": ("1 - 90/92", 1, 92),
    "DayOfWeek": ("1 - 7", 1, 7),
    "DayOfMonth": ("1 - 28/31", 1, 31),
    "HourOfDay": ("0 - 23", 0, 23),
    "MinuteOfHour": ("0 - 59", 0, 59),
    "SecondOfMinute": ("0 - 59", 0, 59),
    "NanoOfSecond": ("0 - 999999999", 0, 999_999_999),
}


class FieldError(ValueError):
    """A value that the calendar or the clock does not have."""


def check_field(field: str, value: int) -> int:
    """`value` if it is in the range of Java's field `field`, else a FieldError."""
    text, lowest, highest = _RANGES[field]
    if not lowest <= value <= highest:
        raise FieldError(f"Invalid value for {field} (valid values {text}): {value}")
    return value


def is_leap_year(year: int) -> bool:
    """Whether `year` has a 29th of February; the year 0 does."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year: int, month: int) -> int:
    """Number of days in a month."""
    return 29 if month == 2 and is_leap_year(year) else _MONTH_LENGTHS[month - 1]


def day_number(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 of a date known to exist."""
    # Years begin in March here, so that the leap day is the last of its year.
    if month <= 2:
        year -= 1
        month += 9
    else:
        month -= 3
    day_of_year = (153 * month + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + day_of_year - DAYS_TO_EPOCH


def calendar_date(day: int) -> tuple[int, int, int]:
    """Year, month and day of month of a day number."""
    cycle, day_of_cycle = divmod(day + DAYS_TO_EPOCH, DAYS_PER_CYCLE)
    year_of_cycle = (day_of_cycle - day_of_cycle // 1460 + day_of_cycle // 36524 - day_of_cycle // 146_096) // 365
    day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle // 4 - year_of_cycle // 100)
    month = (5 * day_of_year + 2) // 153
    day_of_month = day_of_year - (153 * month + 2) // 5 + 1
    year = year_of_cycle + cycle * 400
    if month < 10:
        return year, month + 3, day_of_month
    return year + 1, month - 9, day_of_month


MIN_DAY = day_number(MIN_YEAR, 1, 1)
MAX_DAY = day_number(MAX_YEAR, 12, 31)


def plus_days(day: int, days: int) -> int:
    """A later day; the wording of the error depends on how far beyond the calendar it is."""
    later = day + days
    if MIN_DAY <= later <= MAX_DAY:
        return later
    year, _, day_of_month = calendar_date(day)
    if 0 < day_of_month + days <= 59:
        return check_field("Year", year + 1)
    raise FieldError(f"Invalid value for EpochDay (valid values {MIN_DAY} - {MAX_DAY}): {later}")


def checked_day(day: int) -> int:
    """`day` if its year is in range."""
    if not MIN_DAY <= day <= MAX_DAY:
        check_field("Year", calendar_date(day)[0])
    return day


def day_of(year: int, month: int, day: int) -> int:
    """The day number of a date, every field checked."""
    check_field("Year", year)
    check_field("MonthOfYear", month)
    check_field("DayOfMonth", day)
    if day > month_length(year, month):
        if day == 29:
            raise FieldError(f"Invalid date 'February 29' as '{year}' is not a leap year")
        raise FieldError(f"Invalid date '{MONTH_NAMES[month - 1].upper()} {day}'")
    return day_number(year, month, day)


def day_of_ordinal(year: int, day_of_year: int) -> int:
    """The day number of the n-th day of a year."""
    check_field("Year", year)
    check_field("DayOfYear", day_of_year)
    if day_of_year == 366 and not is_leap_year(year):
        raise FieldError(f"Invalid date 'DayOfYear 366' as '{year}' is not a leap year")
    return day_number(year, 1, 1) + day_of_year - 1


def day_of_year(day: int) -> int:
    """1 on the first of January."""
    return day - day_number(calendar_date(day)[0], 1, 1) + 1


def day_of_week(day: int) -> int:
    """1 for Monday to 7 for Sunday."""
    return (day + 3) % 7 + 1


def quarter(day: int) -> int:
    """1 to 4."""
    return (calendar_date(day)[1] + 2) // 3


def day_of_quarter(day: int) -> int:
    """1 on the first day of a quarter."""
    year, month, _ = calendar_date(day)
    return day - day_number(year, (month - 1) // 3 * 3 + 1, 1) + 1


def _first_week(year: int) -> int:
    """The Monday of the week that contains the fourth of January."""
    fourth = day_number(year, 1, 4)
    return fourth - (day_of_week(fourth) - 1)


def week_year(day: int) -> int:
    """The year that the week of `day` belongs to."""
    # The Thursday of a week is in the year that the week belongs to.
    return calendar_date(day - day_of_week(day) + 4)[0]


def week(day: int) -> int:
    """The number of the week within its week-based year."""
    return (day - _first_week(week_year(day))) // 7 + 1


def weeks_in_year(year: int) -> int:
    """52 or 53."""
    return (_first_week(year + 1) - _first_week(year)) // 7


# Each `with_...` replaces one field and keeps the others, as Java's `LocalDate.with` does.


def with_year(day: int, year: int) -> int:
    """29 February becomes 28 February in a year without one."""
    _, month, day_of_month = calendar_date(day)
    check_field("Year", year)
    return day_number(year, month, min(day_of_month, month_length(year, month)))


def with_month(day: int, month: int) -> int:
    """The day of month is reduced to the length of the month."""
    year, _, day_of_month = calendar_date(day)
    check_field("MonthOfYear", month)
    return day_number(year, month, min(day_of_month, month_length(year, month)))


def with_day_of_month(day: int, day_of_month: int) -> int:
    """Fails if the month is too short."""
    year, month, _ = calendar_date(day)
    return day_of(year, month, day_of_month)


def with_day_of_year(day: int, ordinal: int) -> int:
    """Fails for day 366 of a common year."""
    return day_of_ordinal(calendar_date(day)[0], ordinal)


def with_day_of_week(day: int, weekday: int) -> int:
    """Another day of the same week."""
    check_field("DayOfWeek", weekday)
    return checked_day(day - day_of_week(day) + weekday)


def with_quarter(day: int, new_quarter: int) -> int:
    """The same month of another quarter."""
    check_field("QuarterOfYear", new_quarter)
    return with_month(day, calendar_date(day)[1] + (new_quarter - quarter(day)) * 3)


def with_day_of_quarter(day: int, new_day: int) -> int:
    """Day 91 of a quarter with 90 days is the first of the next one."""
    check_field("DayOfQuarter", new_day)
    return checked_day(day - day_of_quarter(day) + new_day)


def with_week(day: int, new_week: int) -> int:
    """Week 53 of a year with 52 weeks is the first of the next one."""
    check_field("WeekOfWeekBasedYear", new_week)
    return checked_day(day + 7 * (new_week - week(day)))


def with_week_year(day: int, year: int) -> int:
    """The same week and weekday of another week-based year."""
    check_field("Year", year)
    number = min(week(day), weeks_in_year(year))
    return checked_day(_first_week(year) + (number - 1) * 7 + day_of_week(day) - 1)


def plus_months(day: int, months: int) -> int:
    """The day of month is reduced to the length of the resulting month."""
    if months == 0:
        return day
    year, month, day_of_month = calendar_date(day)
    year, month = divmod(year * 12 + month - 1 + months, 12)
    month += 1
    check_field("Year", year)
    return day_number(year, month, min(day_of_month, month_length(year, month)))


def date_text(day: int) -> str:
    """`2015-07-21`; years of more than four digits carry a sign."""
    year, month, day_of_month = calendar_date(day)
    if 0 <= year <= 9999:
        return f"{year:04}-{month:02}-{day_of_month:02}"
    sign = "-" if year < 0 else "+"
    return f"{sign}{abs(year):04}-{month:02}-{day_of_month:02}"


def clock_text(nanosecond_of_day: int) -> str:
    """`21:40:32.142`: seconds always, the fraction without trailing zeros."""
    seconds, nanos = divmod(nanosecond_of_day, NANOS_PER_SECOND)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    text = f"{hour:02}:{minute:02}:{second:02}"
    if nanos:
        text += f".{nanos:09}".rstrip("0")
    return text
