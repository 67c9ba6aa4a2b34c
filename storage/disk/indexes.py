"""The indexes of the schema as files, so that a look-up needs no index to be made first.

    integers, floats   positions and values, in the order of the values: mapped, and searched as they are
    strings            positions in the order of the values' UTF-8 bytes; the values are read from their column

Indexes over other values, or mixed ones, are made in memory on first use, as without a disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hoplite.storage.base import Base
from hoplite.storage.disk.blocks import FileWriter
from hoplite.storage.property_columns import KeyValues
from hoplite.storage.schema import Entity, Schema
from hoplite.storage.value_index import NOTHING, ValueIndex
from hoplite.values.columns import Column, Floats, Int64s, Integers, Strings


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """Which entities an index is about: those with a label or type, by the value of a key."""

    entity: Entity
    code: int
    key: str


def indexed_places(schema: Schema, base: Base) -> list[IndexPlace]:
    """What the indexes of a schema cover, as far as they find values."""
    places = dict.fromkeys(
        IndexPlace(index.entity, code, index.keys[0])
        for index in schema.indexes
        if index.finds_values
        for label in index.labels
        if (code := (base.tokens.labels if index.entity is Entity.NODE else base.tokens.types).code(label)) is not None
    )
    return list(places)


def index_at(base: Base, place: IndexPlace) -> ValueIndex:
    """An index of a base."""
    if place.entity is Entity.NODE:
        return base.node_index(place.code, place.key)
    return base.relationship_index(place.code, place.key)


def index_kind(index: ValueIndex) -> str | None:
    """Which of the forms at the top an index takes; None: it is not stored."""
    match index.column:
        case Integers():
            return "integers"
        case Floats():
            return "floats"
        case Strings(values=texts) if all(text.isascii() or _is_unicode(text) for text in texts):
            return "strings"
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_index(index: ValueIndex, writer: FileWriter) -> None:
    """Write an index in its form."""
    match index.column:
        case Integers(values=values) | Floats(values=values):
            writer.add("positions", index.positions)
            writer.add("values", values)
        case texts:
            import pyarrow as pa
            import pyarrow.compute as pc

            order = pc.sort_indices(pa.array(texts.objects(), pa.large_string())).to_numpy()
            writer.add("positions", index.positions[order])


class StoredStrings(ValueIndex):
    """Positions in the order of their strings, which are read from the column one by one as they are compared."""

    def __init__(self, positions: Int64s, values: KeyValues, distinct: int) -> None:
        self.positions = positions
        self._values = values
        self._distinct = distinct

    @cached_property
    def column(self) -> Column:  # type: ignore[override]
        """The values in the order of the positions; read where a whole index must be looked through."""
        return self._values.gather(self.positions)

    def find(self, value: Any) -> list[int]:
        """The positions that have this value."""
        wanted = _utf8(value)
        if wanted is None:
            return []
        found: list[int] = self.positions[self._place(wanted, False) : self._place(wanted, True)].tolist()
        return sorted(found)

    def starting_with(self, prefix: str) -> Int64s:
        """The positions whose value is a string with this prefix."""
        wanted = _utf8(prefix)
        if wanted is None:
            return NOTHING
        # No byte of UTF-8 is 255, so that everything with the prefix is before this.
        return self.positions[self._place(wanted, False) : self._place(wanted + b"\xff", False)]

    def _place(self, wanted: bytes, after: bool) -> int:
        """Where a string would stand, before or after those that are equal to it."""
        low, high = 0, len(self.positions)
        while low < high:
            middle = (low + high) // 2
            found = str(self._values.value(int(self.positions[middle]))).encode()
            if found < wanted or (after and found == wanted):
                low = middle + 1
            else:
                high = middle
        return low

    @property
    def distinct(self) -> int:
        """How many different values there are."""
        return self._distinct


def _utf8(value: Any) -> bytes | None:
    """Text as it is compared; None for what no text in the index equals."""
    if not isinstance(value, str):
        return None
    try:
        return value.encode()
    except UnicodeEncodeError:
        return None
