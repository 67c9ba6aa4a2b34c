"""The temporal values of Cypher: dates, times, instants and durations, to the nanosecond.

They are plain immutable data that know how to print themselves in Neo4j's form. Reading text is
in `temporal_parse`, building from maps in `temporal_make`, fields in `temporal_fields`, sums and
differences in `temporal_arithmetic`, comparison in `order`.

    Date            a day number
    LocalTime       nanoseconds since midnight
    Time            the same, with an offset from UTC
    LocalDateTime   a day number and nanoseconds since midnight
    DateTime        an instant, the offset in force, and the name of the region if it has one
    Duration        months, days, seconds, nanoseconds, which do not convert into each other

Python's `==` on these is Cypher's `=`.
"""

from __future__ import annotations

from typing import TypeAlias

from hoplite.lazy_dataclass import dataclass
from hoplite.values import zones
from hoplite.values.calendar import (
    NANOS_PER_DAY,
    NANOS_PER_SECOND,
    SECONDS_PER_DAY,
    calendar_date,
    checked_day,
    clock_text,
    date_text,
    day_of,
)

MIN_INTEGER = -(2**63)
MAX_INTEGER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Date:
    """A day: `Date.of(2015, 7, 21)`."""

    epoch_day: int

    @staticmethod
    def of(year: int, month: int = 1, day: int = 1) -> Date:
        """The date, its fields checked (`FieldError`)."""
        return Date(day_of(year, month, day))

    @property
    def year_month_day(self) -> tuple[int, int, int]:
        """The three numbers of a calendar."""
        return calendar_date(self.epoch_day)

    def __str__(self) -> str:
        return date_text(self.epoch_day)


@dataclass(frozen=True, slots=True)
class LocalTime:
    """A time of day without a zone."""

    nanosecond_of_day: int

    @staticmethod
    def of(hour: int = 0, minute: int = 0, second: int = 0, nanosecond: int = 0) -> LocalTime:
        """The time of day for numbers known to be in range."""
        return LocalTime(((hour * 60 + minute) * 60 + second) * NANOS_PER_SECOND + nanosecond)

    def __str__(self) -> str:
        return clock_text(self.nanosecond_of_day)


@dataclass(frozen=True, slots=True)
class Time:
    """A time of day with an offset from UTC."""

    nanosecond_of_day: int
    offset_seconds: int

    @property
    def utc_nanosecond(self) -> int:
        """Nanoseconds since midnight in UTC; may be negative or beyond a day because of the offset."""
        return self.nanosecond_of_day - self.offset_seconds * NANOS_PER_SECOND

    def with_offset_same_instant(self, offset_seconds: int) -> Time:
        """The same moment on a clock with another offset."""
        shift = (offset_seconds - self.offset_seconds) * NANOS_PER_SECOND
        return Time((self.nanosecond_of_day + shift) % NANOS_PER_DAY, offset_seconds)

    def __str__(self) -> str:
        return clock_text(self.nanosecond_of_day) + zones.offset_text(self.offset_seconds)


@dataclass(frozen=True, slots=True)
class LocalDateTime:
    """A day and a time of day, without a zone."""

    epoch_day: int
    nanosecond_of_day: int

    @property
    def local_second(self) -> int:
        """Seconds since 1970-01-01T00:00 on the same clock."""
        return self.epoch_day * SECONDS_PER_DAY + self.nanosecond_of_day // NANOS_PER_SECOND

    @property
    def nanosecond(self) -> int:
        """The nanoseconds within the second."""
        return self.nanosecond_of_day % NANOS_PER_SECOND

    @staticmethod
    def of_second(local_second: int, nanosecond: int) -> LocalDateTime:
        """From seconds since 1970-01-01T00:00 on the same clock; the year is checked."""
        day, second = divmod(local_second, SECONDS_PER_DAY)
        return LocalDateTime(checked_day(day), second * NANOS_PER_SECOND + nanosecond)

    def __str__(self) -> str:
        return f"{date_text(self.epoch_day)}T{clock_text(self.nanosecond_of_day)}"


@dataclass(frozen=True, slots=True)
class DateTime:
    """An instant with the clock it is read on.

    `region` is None if the zone is only an offset: `...Z` and `...Z[UTC]` are not equal.
    """

    epoch_second: int
    nanosecond: int
    offset_seconds: int
    region: str | None = None

    @property
    def zone(self) -> int | str:
        """The region, or else the offset in seconds."""
        return self.offset_seconds if self.region is None else self.region

    @property
    def local(self) -> LocalDateTime:
        """What the clock shows."""
        return LocalDateTime.of_second(self.epoch_second + self.offset_seconds, self.nanosecond)

    @staticmethod
    def of_instant(epoch_second: int, nanosecond: int, zone: int | str) -> DateTime:
        """An instant seen in a zone; the year is checked."""
        offset = zones.offset_at(zone, epoch_second)
        checked_day((epoch_second + offset) // SECONDS_PER_DAY)
        region = zone if isinstance(zone, str) else None
        return DateTime(epoch_second, nanosecond, offset, region)

    @staticmethod
    def of_local(local: LocalDateTime, zone: int | str, preferred_offset: int | None = None) -> DateTime:
        """The instant at which the clock of a zone shows `local` (see `resolve_local`)."""
        second, offset = zones.resolve_local(zone, local.local_second, preferred_offset)
        region = zone if isinstance(zone, str) else None
        return DateTime(second - offset, local.nanosecond, offset, region)

    def __str__(self) -> str:
        text = f"{self.local}{zones.offset_text(self.offset_seconds)}"
        return text if self.region is None else f"{text}[{self.region}]"


def moment(nanoseconds: int) -> DateTime:
    """The moment this many nanoseconds after the start of 1970, in UTC."""
    return DateTime(nanoseconds // NANOS_PER_SECOND, nanoseconds % NANOS_PER_SECOND, 0, "UTC")


@dataclass(frozen=True, slots=True)
class Duration:
    """Months, days, seconds and nanoseconds; nanoseconds are 0 to 999999999."""

    months: int = 0
    days: int = 0
    seconds: int = 0
    nanoseconds: int = 0

    def __str__(self) -> str:
        if not (self.months or self.days or self.seconds or self.nanoseconds):
            return "PT0S"
        years, months = _truncated_division(self.months, 12)
        parts = ["P"]
        parts += [f"{years}Y"] if years else []
        parts += [f"{months}M"] if months else []
        parts += [f"{self.days}D"] if self.days else []
        if self.seconds or self.nanoseconds:
            parts.append("T")
            parts.append(_clock_part(self.seconds, self.nanoseconds))
        return "".join(parts)


def _truncated_division(value: int, divisor: int) -> tuple[int, int]:
    """Java's `/` and `%`: both carry the sign of `value`."""
    quotient, remainder = divmod(abs(value), divisor)
    return (-quotient, -remainder) if value < 0 else (quotient, remainder)


def _clock_part(seconds: int, nanoseconds: int) -> str:
    """The part of a duration after its T."""
    # Print one signed amount, so that -1.5 s reads -1.5 and not -2 s + 0.5 s.
    total = seconds * NANOS_PER_SECOND + nanoseconds
    sign = "-" if total < 0 else ""
    whole, fraction = divmod(abs(total), NANOS_PER_SECOND)
    minutes, second = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{sign}{hours}H" if hours else ""
    text += f"{sign}{minutes}M" if minutes else ""
    if fraction:
        text += f"{sign}{second}." + f"{fraction:09}".rstrip("0") + "S"
    elif second:
        text += f"{sign}{second}S"
    return text


Instant: TypeAlias = Date | LocalTime | Time | LocalDateTime | DateTime
Temporal: TypeAlias = Instant | Duration

INSTANT_TYPES = (Date, LocalTime, Time, LocalDateTime, DateTime)
TEMPORAL_FUNCTIONS: dict[type, str] = {  # parsers of texts, by type
    Date: "date",
    LocalTime: "localtime",
    Time: "time",
    LocalDateTime: "localdatetime",
    DateTime: "datetime",
    Duration: "duration",
}
