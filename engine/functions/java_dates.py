"""Java's date patterns (`java.time.format.DateTimeFormatter`) and APOC's named formats.

A pattern is a text with runs of letters: `yyyy-MM-dd'T'HH:mm:ss.SSSXXX`. Text in quotes stands for itself; a part in
brackets is omitted if the value lacks its fields. What goes in and comes out is `Fields`: a day, a time of day and an
offset, any of which may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hoplite.values.calendar import (
    MONTH_NAMES,
    NANOS_PER_DAY,
    NANOS_PER_SECOND,
    SECONDS_PER_DAY,
    calendar_date,
    day_of,
    day_of_week,
    week,
    week_year,
)
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Temporal, Time

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ORDINALS = ("1st", "2nd", "3rd", "4th")
_PARTS_OF_DAY = ((6, "at night"), (12, "in the morning"), (18, "in the afternoon"), (21, "in the evening"))
_PIECE = re.compile(r"'(?:[^']|'')*'|'|([A-Za-z])\1*|[\[\]]|[^A-Za-z'\[\]]+")
_LARGEST_YEAR = 9999
_NARROW = 5  # how many letters ask for a one-letter name


class BadPattern(Exception):
    """A pattern that Java rejects."""


class Missing(Exception):
    """The value lacks a field that the pattern asks for; the argument is Java's name for it."""


class Unreadable(Exception):
    """A text that does not fit a pattern; the argument is Java's message."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a value: the day since 1970, nanoseconds since midnight, an offset in seconds, the name of a
    zone."""

    day: int | None = None
    nano: int | None = None
    offset: int | None = None
    zone: str | None = None

    def the_day(self, field: str) -> int:
        """The day, or `Missing`."""
        if self.day is None:
            raise Missing(field)
        return self.day

    def the_nano(self, field: str) -> int:
        """The nanoseconds, or `Missing`."""
        if self.nano is None:
            raise Missing(field)
        return self.nano

    def the_offset(self) -> int:
        """The offset, or `Missing`."""
        if self.offset is None:
            raise Missing("OffsetSeconds")
        return self.offset


def fields_of(value: Temporal) -> Fields | None:
    """The fields of a value; None for a duration."""
    match value:
        case Date(epoch_day=day):
            return Fields(day=day)
        case LocalTime(nanosecond_of_day=nano):
            return Fields(nano=nano)
        case Time(nanosecond_of_day=nano, offset_seconds=offset):
            return Fields(nano=nano, offset=offset)
        case LocalDateTime(epoch_day=day, nanosecond_of_day=nano):
            return Fields(day, nano)
        case DateTime(offset_seconds=offset, region=region):
            local = value.local
            return Fields(local.epoch_day, local.nanosecond_of_day, offset, region)
        case _:
            return None


# --- writing ---


def pieces(pattern: str) -> list[tuple[str, str]]:
    """The parts of a pattern: a letter and its run, or an empty string and literal text."""
    found: list[tuple[str, str]] = []
    for piece in _PIECE.finditer(pattern):
        text = piece.group(0)
        if text == "'":
            raise BadPattern(f"Pattern ends with an incomplete string literal: {pattern}")
        if text[0] == "'":
            found.append(("", "'" if text == "''" else text[1:-1].replace("''", "'")))
        elif text in "[]":
            found.append((text, text))
        elif piece.group(1):
            found.append((text[0], text))
        else:
            if any(sign in text for sign in "{}#"):
                raise BadPattern(f"Pattern includes reserved character: '{next(s for s in text if s in '{}#')}'")
            found.append(("", text))
    return found


def write(fields: Fields, pattern: str) -> str:
    """The value formatted with a pattern."""
    parts = pieces(pattern)
    for letter, run in parts:
        if letter and letter not in "[]p":
            check_run(letter, run)
    text, _ = _written(fields, parts, 0)
    return text


def _written(fields: Fields, parts: list[tuple[str, str]], start: int) -> tuple[str, int]:
    """The text from a part to the end of the pattern or of the brackets around it, and where that is."""
    done: list[str] = []
    pad = 0
    place = start
    while place < len(parts):
        letter, run = parts[place]
        if letter == "]":
            return "".join(done), place
        if letter == "p":
            if place + 1 == len(parts):
                raise BadPattern("Pad letter 'p' must be followed by valid pad pattern")
            pad, place = len(run), place + 1
            continue
        if letter == "[":
            shown, place = _optional(fields, parts, place + 1)
        else:
            shown = _shown(fields, letter, len(run)) if letter else run
        done.append(shown.rjust(pad))
        pad, place = 0, place + 1
    return "".join(done), place


def _optional(fields: Fields, parts: list[tuple[str, str]], start: int) -> tuple[str, int]:
    try:
        return _written(fields, parts, start)
    except Missing:
        depth, place = 1, start
        while place < len(parts) and depth:
            depth += {"[": 1, "]": -1}.get(parts[place][0], 0)
            place += 1
        return "", place - 1


_WIDEST = dict.fromkeys("dHhKkmsFw", 2) | dict.fromkeys("W", 1) | {"D": 3, "S": 9} | dict.fromkeys("MLQqEecGXxz", 5)


def check_run(letter: str, run: str) -> None:
    """`BadPattern` if a letter is unknown, or occurs too often."""
    if letter not in "GuyDMLdQqYwWEecFaBhKkHmsSAnNVvzOXxZg":
        raise BadPattern(f"Unknown pattern letter: {letter}")
    width = len(run)
    allowed = {"V": (2,), "O": (1, 4), "v": (1, 4), "a": (1,), "B": (1, 4, 5), "Z": (1, 2, 3, 4, 5)}.get(letter)
    most = 4 if letter == "z" else _WIDEST.get(letter, 19)
    if width > most or (allowed is not None and width not in allowed) or (letter == "c" and width == 2):
        kind = f"Pattern letter count must be 2: {letter}" if letter == "V" else f"Too many pattern letters: {letter}"
        raise BadPattern(kind)


def _named(name: str, width: int) -> str:
    return name[:3] if width < 4 else name[:1] if width == _NARROW else name


def _shown(fields: Fields, letter: str, width: int) -> str:
    if letter in "GuyYDMLdQqwWEecFg":
        return _shown_day(fields, letter, width)
    if letter in "XxZO":
        return _shown_offset(fields.the_offset(), letter, width)
    if letter in "Vvz":
        return _shown_zone(fields, letter, width)
    if letter in _INTERNAL:
        return _INTERNAL[letter](fields)
    return _shown_time(fields, letter, width)


def _shown_year(year: int, width: int) -> str:
    if width == 2:
        return f"{year % 100:02}"
    sign = "-" if year < 0 else "+" if year > _LARGEST_YEAR and width >= 4 else ""
    return f"{sign}{abs(year):0{width}}"


def _week(day: int) -> tuple[int, int]:
    """The year and week of a day, if weeks begin on Sunday and the first one contains January 1st."""
    saturday = day + (6 - (day + 4) % 7)
    year = calendar_date(saturday)[0]
    first = day_of(year, 1, 1)
    return year, (saturday - (first + (6 - (first + 4) % 7))) // 7 + 1


def _shown_day(fields: Fields, letter: str, width: int) -> str:
    names = {"u": "Year", "y": "YearOfEra", "G": "Era", "D": "DayOfYear", "d": "DayOfMonth", "E": "DayOfWeek"}
    field = names.get(letter, "MonthOfYear" if letter in "ML" else "QuarterOfYear" if letter in "Qq" else "DayOfWeek")
    day = fields.the_day(field)
    year, month, day_of_month = calendar_date(day)
    from_sunday = (day + 4) % 7
    if letter in "uy":
        return _shown_year(year if letter == "u" or year > 0 else 1 - year, width)
    if letter == "Y":
        return _shown_year(_week(day)[0], width)
    if letter == "G":
        era = ("AD", "Anno Domini", "A") if year > 0 else ("BC", "Before Christ", "B")
        return era[0 if width < 4 else width - 3]
    if letter in "ML":
        return f"{month:0{width}}" if width < 3 else _named(MONTH_NAMES[month - 1], width)
    if letter in "Qq":
        quarter = (month + 2) // 3
        names_of_quarter = (f"Q{quarter}", f"{_ORDINALS[quarter - 1]} quarter", str(quarter))
        return f"{quarter:0{width}}" if width < 3 else names_of_quarter[width - 3]
    if letter == "E" or (letter in "ec" and width > 2):
        return _named(DAYS[(day + 3) % 7], width)
    number = {
        "D": day - day_of(year, 1, 1) + 1,
        "d": day_of_month,
        "w": _week(day)[1],
        "W": (day_of_month + (from_sunday - day_of_month + 1) % 7 - 1) // 7 + 1,
        "e": from_sunday + 1,
        "c": from_sunday + 1,
        "F": (day_of_month - 1) % 7 + 1,
        "g": day + 40587,  # the day of 1970-01-01 in modified Julian days
    }[letter]
    return f"{number:0{width}}"


_TIME_FIELDS = {
    "H": "HourOfDay", "h": "ClockHourOfAmPm", "K": "HourOfAmPm", "k": "ClockHourOfDay", "m": "MinuteOfHour",
    "s": "SecondOfMinute", "S": "NanoOfSecond", "a": "AmPmOfDay", "A": "MilliOfDay", "n": "NanoOfSecond",
    "N": "NanoOfDay",
}  # fmt: skip


def _shown_time(fields: Fields, letter: str, width: int) -> str:
    nano = fields.the_nano(_TIME_FIELDS.get(letter, "HourOfDay"))
    second, fraction = divmod(nano, NANOS_PER_SECOND)
    hour = second // 3600
    if letter == "S":
        return f"{fraction:09}"[:width]
    if letter == "a":
        return "AM" if hour < 12 else "PM"
    if letter == "B":
        if second % (12 * 3600) < 60:
            return "noon" if hour else "midnight"
        return next((name for end, name in _PARTS_OF_DAY if hour < end), "at night")
    number = {
        "H": hour, "h": hour % 12 or 12, "K": hour % 12, "k": hour or 24, "m": second // 60 % 60, "s": second % 60,
        "A": nano // 1_000_000, "n": fraction, "N": nano,
    }[letter]  # fmt: skip
    return f"{number:0{width}}"


def offset_text(seconds: int, separator: str = ":", utc: str | None = "Z", *, short: bool = False) -> str:
    """`+01:00`; `utc`, if given, is written for a zero offset."""
    if seconds == 0 and utc is not None:
        return utc
    hours, rest = divmod(abs(seconds) // 60, 60)
    minutes = "" if short and not rest else f"{separator}{rest:02}"
    left = abs(seconds) % 60
    return f"{'-' if seconds < 0 else '+'}{hours:02}{minutes}" + (f"{separator}{left:02}" if left and not short else "")


def _shown_offset(offset: int, letter: str, width: int) -> str:
    if letter in "Xx":
        utc = "Z" if letter == "X" else None
        return offset_text(offset, ":" if width in (3, 5) else "", utc, short=width == 1)
    if letter == "Z" and width < 4:
        return offset_text(offset, "", None)
    if letter == "Z" and width == _NARROW:
        return offset_text(offset)
    if offset == 0:
        return "GMT"
    if width == 4:
        return "GMT" + offset_text(offset)
    hours, minutes = divmod(abs(offset) // 60, 60)
    return f"GMT{'-' if offset < 0 else '+'}{hours}" + (f":{minutes:02}" if minutes else "")


def _shown_zone(fields: Fields, letter: str, width: int) -> str:
    """The id of a zone, or its short name if the letter is `z` and the zone has one."""
    if fields.zone is None:
        return offset_text(fields.the_offset())
    if letter == "V" or fields.day is None or fields.nano is None:
        return fields.zone
    if width == 4:
        raise BadPattern("Full names of time zones are not known")
    seconds = fields.day * SECONDS_PER_DAY + fields.nano // NANOS_PER_SECOND - (fields.offset or 0)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return moment.astimezone(ZoneInfo(fields.zone)).tzname() or fields.zone


# --- formats with names ---


def _fraction(fields: Fields) -> str:
    digits = f"{fields.the_nano('NanoOfSecond') % NANOS_PER_SECOND:09}".rstrip("0")
    return f".{digits}" if digits else ""


# Letters that only named formats use; in a user's pattern they are unknown.
_INTERNAL: dict[str, Callable[[Fields], str]] = {
    "f": _fraction,
    "i": lambda fields: _shown_year(week_year(fields.the_day("WeekBasedYear")), 4),
    "j": lambda fields: f"{week(fields.the_day('WeekOfWeekBasedYear')):02}",
    "l": lambda fields: str(day_of_week(fields.the_day("DayOfWeek"))),
    "r": lambda fields: offset_text(fields.the_offset(), "", "GMT"),
    "R": lambda fields: "" if fields.zone is None else f"[{fields.zone}]",
}

_DAY, _CLOCK = "uuuu-MM-dd", "HH:mm:ssf"
ISO_FORMATS = {
    "iso_local_date": _DAY,
    "iso_offset_date": f"{_DAY}XXX",
    "iso_date": f"{_DAY}[XXX]",
    "iso_local_time": _CLOCK,
    "iso_offset_time": f"{_CLOCK}XXX",
    "iso_time": f"{_CLOCK}[XXX]",
    "iso_local_date_time": f"{_DAY}'T'{_CLOCK}",
    "iso_offset_date_time": f"{_DAY}'T'{_CLOCK}XXX",
    "iso_zoned_date_time": f"{_DAY}'T'{_CLOCK}XXXR",
    "iso_date_time": f"{_DAY}'T'{_CLOCK}[XXXR]",
    "iso_ordinal_date": "uuuu-DDD[XXX]",
    "iso_week_date": "i-'W'j-l[XXX]",
    "iso_instant": f"{_DAY}'T'{_CLOCK}'Z'",  # in UTC
    "basic_iso_date": "uuuuMMdd[XX]",
    "rfc_1123_date_time": "EEE, d MMM uuuu HH:mm:ss r",
}
"""The formats that `DateTimeFormatter` has names for."""


def _search_formats() -> dict[str, str]:
    """Elasticsearch's names of formats, with APOC's patterns (`xxxx` is an offset, not a year)."""
    bases = {
        "basic_": ("yyyyMMdd", "yyyyDDD", "xxxx'W'wwe", "HHmmss", "Z"),
        "": ("yyyy-MM-dd", "yyyy-DDD", "xxxx-'W'ww-e", "HH:mm:ss", "ZZ"),
    }
    found: dict[str, str] = {}
    for prefix, (day, ordinal, week_day, clock, zone) in bases.items():
        for name, days in (("date", day), ("ordinal_date", ordinal), ("week_date", week_day)):
            found[prefix + name] = days
            found[f"{prefix}{name}_time"] = f"{days}'T'{clock}.SSS{zone}"
            found[f"{prefix}{name}_time_no_millis"] = f"{days}'T'{clock}{zone}"
        for name, start in (("time", ""), ("t_time", "'T'")):
            found[prefix + name] = f"{start}{clock}.SSS{zone}"
            found[f"{prefix}{name}_no_millis"] = f"{start}{clock}{zone}"
    clocks = {
        "hour": "HH",
        "hour_minute": "HH:mm",
        "hour_minute_second": "HH:mm:ss",
        "hour_minute_second_fraction": "HH:mm:ss.SSS",
        "hour_minute_second_millis": "HH:mm:ss.SSS",
    }
    for name, clock in clocks.items():
        found[name] = clock
        found[f"date_{name}"] = f"yyyy-MM-dd'T'{clock}"
    return found | {
        "date_time_no_millis": "yyy-MM-dd'T'HH:mm:ssZZ",
        "year": "yyyy",
        "year_month": "yyyy-MM",
        "year_month_day": "yyyy-MM-dd",
        "weekyear": "xxxx",
        "weekyear_week": "xxxx-'W'ww",
        "weekyear_week_day": "xxxx-'W'ww-e",
    }


SEARCH_FORMATS = _search_formats()


def write_named(fields: Fields, format: str) -> str:
    """The value in a named format (ignoring case), or formatted with a pattern."""
    name = format.lower()
    if name == "iso_instant":
        return _write_instant(fields)
    if name in ISO_FORMATS:
        return _written(fields, pieces(ISO_FORMATS[name]), 0)[0]
    return write(fields, SEARCH_FORMATS.get(name, format))


def _write_instant(fields: Fields) -> str:
    second = fields.the_day("InstantSeconds") * SECONDS_PER_DAY - fields.the_offset()
    day, nano = divmod(second * NANOS_PER_SECOND + fields.the_nano("InstantSeconds"), NANOS_PER_DAY)
    whole = _written(Fields(day, nano), pieces(f"{_DAY}'T'HH:mm:ss"), 0)[0]
    digits = f"{nano % NANOS_PER_SECOND:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{whole}.{digits}Z" if digits else f"{whole}Z"


# --- durations ---

_DURATION_FORMATS = {
    "iso_local_date_time": f"yyyy-MM-dd'T'{_CLOCK}",
    "iso_date_time": f"yyyy-MM-dd'T'{_CLOCK}",
    "iso_local_time": _CLOCK,
    "iso_time": _CLOCK,
    "iso_local_date": "yyyy-MM-dd",
    "iso_date": "yyyy-MM-dd",
    "basic_iso_date": "yyyyMMdd",
    "iso_ordinal_date": "yyyy-DDD",
    "iso_week_date": "YYYY-'W'ww-e",
}


def write_duration(value: Duration, format: str, *, checked: bool) -> str:
    """A duration in a named format or formatted with a pattern, which is `checked` like a date's.

    Letters that denote an amount are replaced by it, others stand for themselves.
    """
    name = format.lower()
    known = name in ISO_FORMATS or name in SEARCH_FORMATS
    pattern = _DURATION_FORMATS.get(name) or (name if name in ISO_FORMATS else SEARCH_FORMATS.get(name, format))
    parts = pieces(pattern)
    if checked and not known:
        for letter, run in parts:
            if letter and letter not in "[]":
                check_run(letter, run)
    total = value.seconds * NANOS_PER_SECOND + value.nanoseconds
    second = value.seconds  # rounded down
    amounts = {
        **dict.fromkeys("uyY", _signed(abs(value.months) // 12, value.months)),
        **dict.fromkeys("ML", _signed(abs(value.months) % 12, value.months)),
        **dict.fromkeys("Qq", 0),
        **dict.fromkeys("wW", _signed(abs(value.days) // 7, value.days)),
        **dict.fromkeys("dD", value.days),
        **dict.fromkeys("hHkK", _signed(abs(second) // 3600, second)),
        "m": _signed(abs(second) // 60 % 60, second),
        "s": _signed(abs(second) % 60, second),
        "A": _signed(abs(total) // 1_000_000, total),
    }
    fraction = f"{value.nanoseconds:09}"
    shown: list[str] = []
    for letter, run in parts:
        if letter in ("S", "n"):
            shown.append(fraction[: len(run)])
        elif letter == "f" and name in _DURATION_FORMATS:
            shown.append("." + fraction.rstrip("0") if fraction.strip("0") else "")
        elif letter in amounts and letter:
            shown.append(f"{amounts[letter]:0{len(run)}}")
        else:
            shown.append(run if run != "'" else "")
    return "".join(shown)


def _signed(amount: int, like: int) -> int:
    return -amount if like < 0 else amount
