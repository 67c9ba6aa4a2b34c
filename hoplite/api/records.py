"""The driver's records, created and read without a Python call for each value.

The driver's class stores the column names in every record and looks for broken values whenever one is read. The records
of one result share their names in a special class, which is used only if no value can be broken.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from neo4j import Record

Row = tuple[Any, ...]
RecordMaker = Callable[[Row], Record]

_KEYS = "_Record__keys"  # where the driver's class stores the names


def record_maker(keys: tuple[str, ...], is_plain: bool) -> RecordMaker:
    """A function from a row to its record; `is_plain` promises that no value is broken."""
    if is_plain and _KNOWN:
        return _plain_maker(keys)
    make: Any = Record
    direct = getattr(make, "_new", None)  # newer drivers take keys and values, older ones only pairs
    return partial(direct, keys) if direct is not None else lambda row: make(zip(keys, row, strict=True))


@lru_cache(maxsize=512)
def _plain_maker(keys: tuple[str, ...]) -> RecordMaker:
    attributes = {_KEYS: keys, "__slots__": (), "__module__": Record.__module__}
    kind: Any = type("Record", (_PlainRecord,), attributes)
    return partial(tuple.__new__, kind)


def _restored(keys: tuple[str, ...], values: Row) -> Record:
    return record_maker(keys, True)(values)


class _PlainRecord(Record):
    """A record without broken values."""

    __slots__ = ()

    __iter__ = tuple.__iter__

    def values(self, *keys: int | str) -> list[Any]:  # type: ignore[override]
        """The values, or some of them."""
        return super().values(*keys) if keys else list(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (tuple(self.keys()), tuple(self))


_KNOWN = getattr(Record({}), _KEYS, None) == ()  # type: ignore[no-untyped-call]
