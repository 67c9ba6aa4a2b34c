"""The indexes of the schema as files, so that a look-up need not build one first.

    integers, floats   positions and values, in the order of the values: mapped, and searched in place
    strings            positions in the order of the values' UTF-8 bytes; the values are read from their column
    points             for each coordinate reference system positions and coordinates, in the order of y

Indexes over other or mixed values are built in memory on first use, as in a database in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy import cached_property
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.base import Base
from hoplite.storage.disk.blocks import FileWriter
from hoplite.storage.disk.columns import StoredColumn
from hoplite.storage.point_index import PointIndex
from hoplite.storage.schema import Entity, Schema
from hoplite.storage.value_index import NO_POSITIONS, ValueIndex
from hoplite.values.columns import Bools, Column, Floats, Int64s, Integers, from_objects
from hoplite.values.spatial import Point

_COMPARED = 1 << 20
"""The number of texts compared at once."""


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """What an index covers: entities with a label or type, by the value of a key."""

    entity: Entity
    code: int
    key: str


def indexed_places(schema: Schema, base: Base) -> list[IndexPlace]:
    """What the indexes of a schema cover, for indexes that find values."""
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


@dataclass(frozen=True, slots=True, eq=False)
class IndexToWrite:
    """An index in one of the forms at the top."""

    kind: str
    arrays: Mapping[str, NDArray[Any]]
    distinct: int

    def write(self, writer: FileWriter) -> None:
        """Write it."""
        for name, array in self.arrays.items():
            writer.add(name, array)


def _of_numbers(kind: str, index: ValueIndex, values: NDArray[Any]) -> IndexToWrite:
    return IndexToWrite(kind, {"positions": np.asarray(index.positions), "values": values}, index.distinct)


def index_to_write(base: Base, place: IndexPlace) -> IndexToWrite | None:
    """The index of a base whose columns are in files; None if it takes none of the forms."""
    is_node = place.entity is Entity.NODE
    column = (base.node_columns if is_node else base.relationship_columns).get(place.key)
    texts = column.texts() if isinstance(column, StoredColumn) else None
    if texts is not None:
        codes = base.node_labels if is_node else base.relationship_types
        included = base.tokens.sets_having(place.code)[codes] if is_node else codes == place.code
        return _of_texts(texts[0], texts[1], included)
    index = index_at(base, place)
    match index.column:
        case Integers(values=values):
            return _of_numbers("integers", index, values)
        case Floats(values=floats):
            return _of_numbers("floats", index, floats)
    if len(index) and all(isinstance(value, Point) for value in index.column.objects()):
        return IndexToWrite("points", index.points.arrays(), index.distinct)
    return None


def _of_texts(positions: Int64s | None, texts: Any, included: Bools) -> IndexToWrite:
    """Arrow sorts the texts, which never become Python objects: there may be more than fit in memory."""
    import pyarrow as pa
    import pyarrow.compute as pc

    at = np.arange(len(texts), dtype=np.int64) if positions is None else positions
    kept = included[at]
    if texts.null_count:
        kept = kept & texts.is_valid().to_numpy(zero_copy_only=False)
    if not kept.all():
        chosen = np.flatnonzero(kept)
        at, texts = at[chosen], texts.take(pa.array(chosen, pa.int64()))
    order = pc.sort_indices(texts).to_numpy()
    distinct = min(len(order), 1)
    for first in range(1, len(order), _COMPARED):
        some = texts.take(pa.array(order[first - 1 : first + _COMPARED]))
        distinct += pc.sum(pc.not_equal(some[1:], some[:-1])).as_py() or 0
    return IndexToWrite("strings", {"positions": at[order]}, distinct)


class StoredNumbers(ValueIndex):
    """Sorted numbers. The number of distinct ones is stored, so it need not be counted."""

    _is_its_position = False  # finding that out would mean reading all of it

    def __init__(self, positions: Int64s, column: Integers | Floats, distinct: int) -> None:
        super().__init__(positions, column)
        self._distinct = distinct

    @property
    def distinct(self) -> int:
        """How many different values there are."""
        return self._distinct


class StoredPoints(ValueIndex):
    """Points by position; values are created only for equality."""

    _is_its_position = False

    def __init__(self, points: PointIndex, distinct: int) -> None:
        self._points = points
        self._distinct = distinct

    @cached_property
    def _order(self) -> Int64s:
        return np.argsort(self._points.positions)

    @cached_property
    def positions(self) -> Int64s:  # type: ignore[override]
        """All of them, ascending."""
        return self._points.positions[self._order]

    @cached_property
    def points(self) -> PointIndex:
        """The points among the values."""
        return self._points

    @cached_property
    def column(self) -> Column:  # type: ignore[override]
        """The points in the order of the positions."""
        points = self._points.points()
        return from_objects([points[row] for row in self._order.tolist()])

    @property
    def distinct(self) -> int:
        """How many different values there are."""
        return self._distinct


class StoredStrings(ValueIndex):
    """Positions sorted by their strings, which are read from the column one by one when compared."""

    _is_its_position = False

    def __init__(self, positions: Int64s, values: StoredColumn, distinct: int) -> None:
        self.positions = positions
        self._values = values
        self._distinct = distinct

    @cached_property
    def column(self) -> Column:  # type: ignore[override]
        """The values in the order of the positions, read only when a whole index must be searched."""
        return self._values.gather(self.positions)

    def find(self, value: Any) -> list[int]:
        """The positions that have this value."""
        wanted = _utf8(value)
        if wanted is None:
            return []
        read = self._values.utf8_reader()
        first = self._place(read, wanted)
        found: list[int] = self.positions[first : self._end(read, wanted, first)].tolist()
        return sorted(found)

    def find_all(self, values: Sequence[Any] | Int64s) -> tuple[Int64s, Int64s]:
        """For each value the positions that have it: (index into values, position)."""
        found = [self.find(value) for value in values]
        which = np.repeat(np.arange(len(found)), [len(hits) for hits in found])
        return which, np.array([hit for hits in found for hit in hits], np.int64)

    def starting_with(self, prefix: str) -> Int64s:
        """The positions whose value is a string with this prefix."""
        wanted = _utf8(prefix)
        if wanted is None:
            return NO_POSITIONS
        read = self._values.utf8_reader()
        # No byte of UTF-8 is 255, so everything with the prefix comes before this.
        return self.positions[self._place(read, wanted) : self._place(read, wanted + b"\xff")]

    def _place(self, read: Callable[[int], bytes], wanted: bytes) -> int:
        """Where a string is, the first if there are equal ones, or where it would be."""
        low, high = 0, len(self.positions)
        while low < high:
            middle = (low + high) // 2
            if read(self.positions[middle]) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def _end(self, read: Callable[[int], bytes], wanted: bytes, first: int) -> int:
        """Where the strings that equal `wanted` end, which begin at `first`. Mostly there is one, or none."""
        step, count = 1, len(self.positions)
        while first + step <= count and read(self.positions[first + step - 1]) == wanted:
            first, step = first + step, 2 * step
        low, high = first, min(first + step, count)
        while low < high:
            middle = (low + high) // 2
            if read(self.positions[middle]) == wanted:
                low = middle + 1
            else:
                high = middle
        return low

    @property
    def holds_one_kind(self) -> bool:
        """All values are texts."""
        return True

    @property
    def distinct(self) -> int:
        """How many different values there are."""
        return self._distinct


def _utf8(value: Any) -> bytes | None:
    """Text as it is compared; None if no text in the index can equal it."""
    if not isinstance(value, str):
        return None
    try:
        return value.encode()
    except UnicodeEncodeError:
        return None
