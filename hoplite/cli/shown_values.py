"""The rows of an answer as they are to be shown: times as Neo4j writes them, also those that the driver cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hoplite.api.hydrate import Hydrator
from hoplite.api.transaction import Session
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

if TYPE_CHECKING:
    from hoplite.api.database import Database
    from hoplite.api.records import Row
    from hoplite.api.result import Result

_FIRST_ROWS, _MOST_ROWS = 64, 1 << 16


class ShownValues(Hydrator):
    """Leaves times as the engine has them. The driver only knows the years 1 to 9999 and the zones of pytz."""

    def value(self, value: Any) -> Any:
        """One value; only its entities and points are the driver's."""
        if isinstance(value, Date | LocalTime | Time | LocalDateTime | DateTime | Duration):
            return value
        return super().value(value)


def showing_session(
    db: Database, *, timeout: float | None = None, max_rows: int | None = None, read_only: bool = False
) -> Session:
    """A session whose rows are read with `shown_rows`."""
    return Session(db, replace(db._limits.within(timeout, max_rows, read_only), hydrator=ShownValues))


def shown_rows(result: Result, most: int | None = None) -> Iterator[Row]:
    """The rows, or the first of them, as they are made: without records, which know only the driver's values."""
    step = _FIRST_ROWS
    while most is None or most > 0:
        rows = result.next_rows(step if most is None else min(step, most))
        if rows is None:
            return
        yield from rows
        step = min(step * 2, _MOST_ROWS)
        most = None if most is None else most - len(rows)


def skip_all(result: Result) -> int:
    """Skip the rows that are left; returns how many there were."""
    return result.skip_rows(1 << 62)
