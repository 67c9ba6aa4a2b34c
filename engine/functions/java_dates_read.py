"""Parse text with Java's date patterns, strictly: the whole text must fit the pattern."""

from __future__ import annotations

import re

from hoplite.engine.functions.java_dates import (
    DAYS,
    ISO_FORMATS,
    SEARCH_FORMATS,
    BadPattern,
    Fields,
    Unreadable,
    check_run,
    pieces,
)
from hoplite.values.calendar import (
    MONTH_NAMES,
    NANOS_PER_SECOND,
    SECONDS_PER_DAY,
    check_field,
    day_number,
    day_of_ordinal,
    month_length,
)
from hoplite.values.zones import resolve_local

_NUMERIC = "uyYDMLdQqwWecFhKkHmsSAnN"
_OFFSET = re.compile(r"Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+/-]*|[+-]\d\d:\d\d")
_FRACTION = re.compile(r"(?:\.(\d{1,9}))?")
_TWO_DIGIT_BASE = 2000
_MOST_DIGITS = 10


def read(text: str, format: str) -> dict[str, int | str]:
    """The numbers and names that a text has for the letters of a pattern or named format."""
    name = format.lower()
    is_iso = name in ISO_FORMATS
    parts = pieces(ISO_FORMATS[name] if is_iso else SEARCH_FORMATS.get(name, format))
    if not is_iso:
        for letter, run in parts:
            if letter and letter not in "[]p":
                check_run(letter, run)
    found: dict[str, int | str] = {}
    place = _read(text, 0, parts, 0, found, optional=False)
    if place < len(text):
        raise Unreadable(f"Text '{text}' could not be parsed, unparsed text found at index {place}")
    return found


class _Failed(Exception):
    """The text does not fit from this position on."""


def _read(
    text: str, place: int, parts: list[tuple[str, str]], part: int, found: dict[str, int | str], *, optional: bool
) -> int:
    try:
        while part < len(parts):
            letter, run = parts[part]
            if letter == "[":
                end = _closing(parts, part)
                inner: dict[str, int | str] = {}
                try:
                    place = _read(text, place, parts[part + 1 : end], 0, inner, optional=True)
                    found.update(inner)
                except _Failed:
                    pass  # what is in brackets may be missing
                part = end + 1
                continue
            following = parts[part + 1][0] if part + 1 < len(parts) else ""
            place = _read_part(text, place, letter, run, following, found)
            part += 1
    except _Failed:
        if optional:
            raise
        raise Unreadable(f"Text '{text}' could not be parsed at index {place}") from None
    return place


def _closing(parts: list[tuple[str, str]], opening: int) -> int:
    depth = 0
    for place in range(opening, len(parts)):
        depth += {"[": 1, "]": -1}.get(parts[place][0], 0)
        if depth == 0:
            return place
    return len(parts)


def _read_part(text: str, place: int, letter: str, run: str, following: str, found: dict[str, int | str]) -> int:
    """The position in the text after one part of the pattern."""
    width = len(run)
    if not letter:
        if not text.startswith(run, place):
            raise _Failed
        return place + len(run)
    if letter in "ML" and width > 2:
        return _read_name(text, place, MONTH_NAMES, width, "M", found)
    if letter == "E" or (letter in "ec" and width > 2):
        return _read_name(text, place, DAYS, width, "E", found)
    if letter == "a":
        half = text[place : place + 2].upper()
        if half not in ("AM", "PM"):
            raise _Failed
        found["a"] = half
        return place + 2
    if letter in "XxZOr":
        return _read_offset(text, place, letter, found)
    if letter in "VvzR":
        return _read_zone(text, place, letter, found)
    if letter == "f":
        match = _FRACTION.match(text, place)
        assert match is not None
        found["n"] = int((match.group(1) or "").ljust(9, "0"))
        return match.end()
    if letter not in _NUMERIC and letter not in "ijl":
        raise BadPattern(f"Unknown pattern letter: {letter}")
    return _read_number(text, place, letter, width, following, found)


def _read_number(text: str, place: int, letter: str, width: int, following: str, found: dict[str, int | str]) -> int:
    least = {"i": 4, "j": 2}.get(letter, width)
    is_wide = letter in "uyY" and width > 2
    adjacent = bool(following) and following in _NUMERIC
    is_fixed = letter in "Sij" or width == 2 or (adjacent and width > 1)
    most = least if is_fixed else _MOST_DIGITS if is_wide or width == 1 else width
    match = re.compile(rf"\d{{{least},{max(least, most)}}}").match(text, place)
    if match is None:
        raise _Failed
    digits = match.group(0)
    if letter == "S":
        found["n"] = int(digits.ljust(9, "0"))
    elif letter in "uyY" and width == 2:
        found[letter] = _TWO_DIGIT_BASE + int(digits)
    else:
        found[{"L": "M", "q": "Q"}.get(letter, letter)] = int(digits)
    return match.end()


def _read_name(text: str, place: int, names: tuple[str, ...], width: int, key: str, found: dict[str, int | str]) -> int:
    for number, name in enumerate(names, 1):
        shown = name[:3] if width < 4 else name
        if text.startswith(shown, place):
            found[key] = number
            return place + len(shown)
    raise _Failed


def _read_offset(text: str, place: int, letter: str, found: dict[str, int | str]) -> int:
    if letter in "Or" and text.startswith("GMT", place):
        found["X"] = 0
        return place + 3
    match = _OFFSET.match(text, place)
    if match is None or (letter in "xZ" and match.group(0) == "Z"):
        raise _Failed
    shown = match.group(0)
    digits = shown[1:].replace(":", "").ljust(6, "0")
    seconds = 0 if shown == "Z" else int(digits[:2]) * 3600 + int(digits[2:4]) * 60 + int(digits[4:])
    found["X"] = -seconds if shown[0] == "-" else seconds
    return match.end()


def _read_zone(text: str, place: int, letter: str, found: dict[str, int | str]) -> int:
    if letter == "R":
        if not text.startswith("[", place):
            return place
        end = text.find("]", place)
        if end < 0:
            raise _Failed
        found["V"] = text[place + 1 : end]
        return end + 1
    match = _ZONE.match(text, place)
    if match is None:
        raise _Failed
    found["V"] = match.group(0)
    return match.end()


# --- what they mean ---


def resolved(found: dict[str, int | str]) -> Fields:
    """The day, time and zone that the numbers determine, as far as they do."""
    numbers = {letter: value for letter, value in found.items() if isinstance(value, int)}
    day, nano = _day(numbers), _nano(numbers, found.get("a"))
    zone = found.get("V")
    offset = numbers.get("X")
    if isinstance(zone, str) and offset is None and day is not None and nano is not None and zone not in ("Z", "UTC"):
        _, offset = resolve_local(zone, day * SECONDS_PER_DAY + nano // NANOS_PER_SECOND)
    return Fields(day, nano, offset, zone if isinstance(zone, str) else None)


def _day(numbers: dict[str, int]) -> int | None:
    year = numbers.get("u", numbers.get("y"))
    if year is None:
        return None
    if "D" in numbers:
        return day_of_ordinal(year, numbers["D"])
    if "M" not in numbers or "d" not in numbers:
        return None
    month, day = check_field("MonthOfYear", numbers["M"]), check_field("DayOfMonth", numbers["d"])
    return day_number(year, month, min(day, month_length(year, month)))  # February 30th is its last day


def _nano(numbers: dict[str, int], half: int | str | None) -> int | None:
    hour = numbers.get("H")
    if hour is None and "k" in numbers:
        hour = numbers["k"] % 24
    if hour is None and half is not None and ("h" in numbers or "K" in numbers):
        hour = (numbers["h"] % 12 if "h" in numbers else numbers["K"]) + (12 if half == "PM" else 0)
    if hour is None:
        return None
    check_field("HourOfDay", hour)
    minute, second = numbers.get("m", 0), numbers.get("s", 0)
    check_field("MinuteOfHour", minute)
    check_field("SecondOfMinute", second)
    return ((hour * 60 + minute) * 60 + second) * NANOS_PER_SECOND + numbers.get("n", 0)
