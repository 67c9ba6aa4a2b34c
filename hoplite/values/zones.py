"""Time zones: names and offsets to seconds, local time to instants.

A zone is a fixed offset in seconds or the name of a region (`Europe/Paris`). The rules of regions come from the package
`tzdata` through `zoneinfo`, which covers the years 1 to 9999; after them the rules repeat with the calendar's cycle of
400 years, and before them local mean time applies, as in Java.
"""

from __future__ import annotations

import functools
import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from hoplite.lazy import lazy_pattern
from hoplite.values.calendar import DAYS_PER_CYCLE, SECONDS_PER_DAY

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

MAX_OFFSET_SECONDS = 18 * 3600

_SECONDS_PER_CYCLE = DAYS_PER_CYCLE * SECONDS_PER_DAY
_EPOCH = datetime(1970, 1, 1)
_FIRST_SECOND = int((datetime(2, 1, 1) - _EPOCH).total_seconds())
_LAST_SECOND = int((datetime(9900, 1, 1) - _EPOCH).total_seconds())
_OFFSET = lazy_pattern(r"([+-])(\d{2}):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
_UTC_PREFIX = lazy_pattern(r"UTC|GMT|UT", re.IGNORECASE)
# Names in the zone database that Java does not list as regions.
_NOT_REGIONS = {"EST", "MST", "HST", "ROC", "Factory", "localtime", "posixrules"}


class ZoneError(ValueError):
    """A text that does not name a zone: where reading it stopped, and why."""

    def __init__(self, text: str, reason: str, index: int = 0) -> None:
        super().__init__(
            f"Invalid value for TimeZone: Text '{text}' could not be parsed{reason}\n\"{text}\"\n {' ' * index}^"
        )


@functools.cache
def _regions() -> dict[str, str]:
    """Every region by its name in lower case."""
    names = _zone_file("zones").read_text(encoding="utf-8").split()
    regions = {name.lower(): name for name in names if name not in _NOT_REGIONS}
    regions["ut"] = "UT"  # Java's own; the zone database writes UTC
    return regions


@functools.lru_cache(maxsize=1024)
def parse_zone(text: str) -> int | str:
    """The offset in seconds or the region that `text` names, case-insensitive: `z`, `europe/paris`.

    `UTC+01:00` is a region with a fixed offset.
    """
    name = text.replace(" ", "_")
    zone, end = _longest_zone(name)
    if zone is None:
        raise ZoneError(name, " at index 0")
    if end < len(name):
        raise ZoneError(name, f", unparsed text found at index {end}", end)
    return zone


def _longest_zone(name: str) -> tuple[int | str | None, int]:
    """The zone that a text begins with, and where it ends."""
    if name[:1] in ("+", "-"):
        return _offset_at(name, 0)
    prefix = _UTC_PREFIX.match(name)
    if prefix is not None and name[prefix.end() : prefix.end() + 1] in ("+", "-"):
        offset, end = _offset_at(name, prefix.end())
        if offset is None and _OFFSET.match(name, prefix.end()) is not None:
            return None, 0
        if offset is not None:
            base = prefix.group().upper()
            return base + (offset_text(offset) if offset else ""), end
    regions = _regions()
    for end in range(len(name), 0, -1):
        region = regions.get(name[:end].lower())
        if region is not None:
            return region, end
    return (0, 1) if name[:1] in ("Z", "z") else (None, 0)


def _offset_at(name: str, start: int) -> tuple[int | None, int]:
    match = _OFFSET.match(name, start)
    if match is None:
        return None, start
    if int(match[2]) > 23:
        raise ZoneError(name, ": Value out of range: Hour[0-23], Minute[0-59], Second[0-59]")
    seconds = offset_seconds(*match.groups())
    return (seconds, match.end()) if abs(seconds) <= MAX_OFFSET_SECONDS else (None, start)


def offset_seconds(sign: str | None, hours: str | None, minutes: str | None, seconds: str | None = None) -> int:
    """The offset in signed seconds from its parts."""
    total = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return -total if sign == "-" else total


def offset_text(seconds: int) -> str:
    """`Z`, `+01:00` or `+00:09:21`."""
    if seconds == 0:
        return "Z"
    minutes, second = divmod(abs(seconds), 60)
    hour, minute = divmod(minutes, 60)
    text = f"{'-' if seconds < 0 else '+'}{hour:02}:{minute:02}"
    return f"{text}:{second:02}" if second else text


@functools.cache
def _zone_file(*parts: str) -> Traversable:
    from importlib import resources  # imports a tenth of the standard library, needed by few statements

    return resources.files("tzdata").joinpath(*parts)


def _region(name: str) -> tzinfo:
    prefix = _UTC_PREFIX.match(name)
    if prefix is not None:
        seconds, _ = _offset_at(name, prefix.end())
        return timezone(timedelta(seconds=seconds or 0))
    # ZoneInfo(name) would prefer the system's database, which may separate regions before 1970 that Java and the
    # package have merged (Europe/Stockholm with Europe/Berlin).
    with _zone_file("zoneinfo", *name.split("/")).open("rb") as rules:
        return ZoneInfo.from_file(rules, key=name)


def _in_known_years(second: int) -> int:
    """A second with the same zone rules that `datetime` can represent."""
    if second < _FIRST_SECOND:
        return _FIRST_SECOND
    if second > _LAST_SECOND:
        return second - ((second - _LAST_SECOND) // _SECONDS_PER_CYCLE + 1) * _SECONDS_PER_CYCLE
    return second


def _seconds(delta: timedelta | None) -> int:
    return 0 if delta is None else delta.days * SECONDS_PER_DAY + delta.seconds


def offset_at(zone: int | str, epoch_second: int) -> int:
    """The offset of a zone at an instant."""
    if isinstance(zone, int):
        return zone
    instant = _EPOCH.replace(tzinfo=UTC) + timedelta(seconds=_in_known_years(epoch_second))
    return _seconds(instant.astimezone(_region(zone)).utcoffset())


def resolve_local(zone: int | str, local_second: int, preferred_offset: int | None = None) -> tuple[int, int]:
    """The local second that a clock in the zone shows, and its offset.

    In a gap the clock moves forward by the length of the gap. In an overlap `preferred_offset` is used if it is one of
    the two, else the earlier one.
    """
    if isinstance(zone, int):
        return local_second, zone
    before, after = _around(zone, local_second)
    if before < after:
        return local_second + after - before, after
    if preferred_offset == after:
        return local_second, after
    return local_second, before


def offsets_of(zone: int | str, local_second: int) -> list[int]:
    """The offsets that a zone has when its clocks show a time: two in an overlap, none in a gap."""
    if isinstance(zone, int):
        return [zone]
    before, after = _around(zone, local_second)
    return [] if before < after else sorted({before, after}, reverse=True)


def _around(zone: str, local_second: int) -> tuple[int, int]:
    """The offsets before and after a change at a local time; the same where there is no change."""
    local = _EPOCH + timedelta(seconds=_in_known_years(local_second))
    region = _region(zone)
    before = _seconds(local.replace(tzinfo=region).utcoffset())
    return before, _seconds(local.replace(tzinfo=region, fold=1).utcoffset())
