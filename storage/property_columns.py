"""The values of one property key over all nodes, or all relationships, of a base.

    dense    positions None             column[p] is the value of entity p, null where it has none
    sparse   positions int64[k] sorted  column[i] is the value of entity positions[i]; the others have none

Columns are Integers, Floats, Booleans, Strings, FloatLists or Objects.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import (
    Booleans,
    Bools,
    Column,
    FloatLists,
    Floats,
    Int64s,
    Integers,
    Objects,
    Strings,
    from_objects,
    nulls,
    object_array,
    with_nulls_at,
)

DENSE_SHARE = 4
"""A column is dense when at least one entity in this many has a value."""

FEW_TEXTS = 16
"""How many texts are read at once; beyond that, only their slots are kept until they are used."""


_LOOKED_AT = 1 << 20  # values at once
_ASKED_FIRST = 4096  # entities whose codes are sampled before all are read
_AT_ONCE = 1 << 16  # codes compared at once, which stay in the processor's cache
_FEW_CODES = 8  # codes searched for one by one


class KeyValues(Protocol):
    """One key's values, in memory or on disk."""

    @property
    def positions(self) -> Int64s | None:
        """The entities that have a value, if the column is sparse."""
        ...

    def gather(self, positions: Int64s) -> Column:
        """The values of these entities; null for those that have none, and for positions outside the base."""
        ...

    def entries(self) -> tuple[Int64s, Column]:
        """The entities that have a value, ascending, and their values."""
        ...

    def holders(self) -> Int64s:
        """The entities that have a value, ascending."""
        ...

    def codes_of_holders(self, codes: NDArray[Any], every: list[int]) -> list[int]:
        """The distinct codes of the entities with a value, ascending. `codes` has one for each entity; `every` are
        those that occur."""
        ...

    def value(self, position: int) -> Any:
        """The value of one entity, or None."""
        ...

    def whole(self) -> PropertyColumn:
        """The whole column, in memory."""
        ...

    def at_hand(self) -> PropertyColumn | None:
        """The whole column, if its values can be used as they are."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PropertyColumn:
    """One key's values; see the top of the file. `counts_from`: value i is this number plus i, so none needs to be read
    (numbers assigned by a loader or a sequence). `present` is known if a dense column has gaps that are slow to find
    from its values: texts would have to be compared one by one."""

    positions: Int64s | None
    column: Column
    counts_from: int | None = None
    present: Bools | None = None

    def gather(self, positions: Int64s, inside: bool = False) -> Column:
        """The values of these entities; null for those that have none, and for positions outside the base. `inside`:
        all are known to be in it."""
        if self.positions is None:
            # As unsigned numbers, negative positions are large: one comparison covers both ends of the range.
            if inside or (len(positions) and positions.view(np.uint64).max() < len(self.column)):
                if self.counts_from is not None:
                    return Integers(positions + self.counts_from if self.counts_from else positions)
                if isinstance(self.column, Strings) and len(positions) > FEW_TEXTS:
                    return self.column.look_up(positions)
                return self.column.take(positions)
            slots, found = positions, (positions >= 0) & (positions < len(self.column))
        else:
            slots = np.minimum(np.searchsorted(self.positions, positions), len(self.positions) - 1)
            found = self.positions[slots] == positions
        if isinstance(self.column, Strings) and len(slots) > FEW_TEXTS:
            return self.column.look_up(slots if bool(found.all()) else np.where(found, slots, -1))
        return take_or_null(self.column, slots, found)

    def entries(self) -> tuple[Int64s, Column]:
        """The entities that have a value, ascending, and their values."""
        if self.positions is not None:
            return self.positions, self.column
        present = self.holders()
        if len(present) == len(self.column):
            return present, without_nulls(self.column)
        return present, without_nulls(self.column.take(present))

    def holders(self) -> Int64s:
        """The entities that have a value, ascending."""
        return np.flatnonzero(self._presence()) if self.positions is None else self.positions

    def _presence(self) -> Bools:
        """The slots of a dense column that have a value."""
        return ~self.column.null_mask() if self.present is None else self.present

    def codes_of_holders(self, codes: NDArray[Any], every: list[int]) -> list[int]:
        """The distinct codes of the entities with a value, ascending. `codes` has one for each entity; `every` are
        those that occur."""
        if self.positions is not None:
            return distinct_codes(codes[self.positions])
        if isinstance(self.column, Integers | Floats | Booleans) and self.column.nulls is None:
            return every
        present = self._presence()
        some = slice(None, None, len(codes) // _ASKED_FIRST + 1)
        found = set(distinct_codes(codes[some][present[some]]))
        missing = [code for code in every if code not in found]
        if len(missing) > _FEW_CODES:
            return distinct_codes(codes[present])
        for first in range(0, len(codes) if missing else 0, _AT_ONCE):
            there, here = present[first : first + _AT_ONCE], codes[first : first + _AT_ONCE]
            found.update(code for code in missing if code not in found and bool((there & (here == code)).any()))
        return sorted(found)

    def value(self, position: int) -> Any:
        """The value of one entity, or None."""
        slot = position
        if self.positions is not None:
            slot = int(np.searchsorted(self.positions, position))
            if slot == len(self.positions) or self.positions[slot] != position:
                return None
        elif not 0 <= position < len(self.column):
            return None
        match self.column:
            case FloatLists():
                return self.column.value(slot)
            case Strings(values=objects) | Objects(values=objects):
                return objects[slot]
            case Integers(values=values, nulls=mask) | Floats(values=values, nulls=mask):
                return None if mask is not None and mask[slot] else values[slot].item()
            case Booleans(values=values, nulls=mask):
                return None if mask is not None and mask[slot] else bool(values[slot])
        raise AssertionError(type(self.column))

    def whole(self) -> PropertyColumn:
        """The whole column, in memory."""
        return self

    def at_hand(self) -> PropertyColumn:
        """The same."""
        return self


def property_column(positions: Int64s, column: Column, total: int) -> PropertyColumn | None:
    """A column for values (none of them null) at ascending positions, out of `total` entities; None if there
    are no values.
    """
    if not len(positions):
        return None
    if isinstance(column, Strings) and column.pool is not None:
        column = Strings(column.values)  # the remaining texts, without the whole pool they come from
    if len(positions) == total:
        return PropertyColumn(None, column, _counts_from(column), np.broadcast_to(np.True_, total))
    if len(positions) * DENSE_SHARE < total:
        return PropertyColumn(positions, column)
    slots = np.zeros(total, np.int64)
    slots[positions] = np.arange(len(positions))
    present = np.zeros(total, np.bool_)
    present[positions] = True
    is_plain = isinstance(column, Integers | Floats | Booleans)  # these have their own mask
    return PropertyColumn(None, take_or_null(column, slots, present), present=None if is_plain else present)


def distinct_codes(codes: NDArray[Any]) -> list[int]:
    """The different numbers among codes, ascending."""
    seen = np.zeros(int(codes.max()) + 1 if len(codes) else 0, np.bool_)
    seen[codes] = True
    return np.flatnonzero(seen).tolist()


def _counts_from(column: Column) -> int | None:
    """The first of consecutive integers; None if they are not consecutive."""
    if not isinstance(column, Integers) or column.nulls is not None:
        return None
    values = column.values
    first, count = int(values[0]), len(values)
    if int(values[-1]) - first != count - 1:
        return None
    for start in range(0, count - 1, _LOOKED_AT):
        piece = values[start : start + _LOOKED_AT + 1]
        if not bool((piece[1:] - piece[:-1] == 1).all()):
            return None
    return first


def narrowed(column: Column) -> Column:
    """Objects that are now all of one kind become a typed column again, lists of floats too."""
    if not isinstance(column, Objects) or isinstance(column, FloatLists):
        return column
    lists = FloatLists.of(column.values)
    return from_objects(column.values) if lists is None else lists


def without_nulls(column: Column) -> Column:
    """The same column, known to hold no null."""
    match column:
        case Integers(values=values, nulls=mask) if mask is not None:
            return Integers(values)
        case Floats(values=floats, nulls=mask) if mask is not None:
            return Floats(floats)
        case Booleans(values=booleans, nulls=mask) if mask is not None:
            return Booleans(booleans)
        case FloatLists(matrix=matrix, nulls=mask) if mask is not None:
            return FloatLists(matrix)
    return column


def take_or_null(column: Column, slots: Int64s, found: Bools) -> Column:
    """column[slots[i]] where found[i], null elsewhere (slots are only read where found)."""
    if not len(column):
        return nulls(len(slots))
    complete = bool(found.all())
    if not complete:
        slots = np.where(found, slots, 0)
    taken = column.take(slots)
    return taken if complete else with_nulls_at(taken, ~found)


def patched(column: Column, rows: Int64s, values: list[Any]) -> Column:
    """The column with other values (None for null) in some rows."""
    if len(rows) == len(column):
        ordered = object_array(values, len(values))
        if len(rows) > 1 and not bool((rows[1:] > rows[:-1]).all()):
            ordered = ordered[np.argsort(rows)]
        return from_objects(ordered)
    patch = narrowed(from_objects(values)) if isinstance(column, FloatLists) else from_objects(values)
    blank = bool(patch.null_mask().all())
    if isinstance(column, Integers | Floats | Booleans) and (blank or type(patch) is type(column)):
        data = column.values.copy()
        mask = column.null_mask().copy()
        mask[rows] = patch.null_mask()
        if not blank:
            data[rows] = patch.values  # type: ignore[union-attr]
        return type(column)(data, mask)  # type: ignore[arg-type]
    if isinstance(column, FloatLists) and (blank or _fits(column, patch)):
        matrix = column.matrix
        mask = column.null_mask().copy()
        mask[rows] = patch.null_mask()
        if isinstance(patch, FloatLists):
            matrix = matrix.astype(np.result_type(matrix, patch.matrix), copy=True)
            matrix[rows] = patch.matrix
        return FloatLists(matrix, mask)
    objects = column.objects().copy()
    objects[rows] = object_array(values, len(values))
    if isinstance(column, Strings) and (blank or isinstance(patch, Strings)):
        return Strings(objects)
    return from_objects(objects)


def _fits(column: FloatLists, patch: Column) -> bool:
    return isinstance(patch, FloatLists) and patch.matrix.shape[1] == column.matrix.shape[1]
