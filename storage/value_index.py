"""A property index over a base: which positions have a given value, or one within bounds.

Values are compared as Cypher's `=` does: 1 equals 1.0, true does not equal 1, NaN equals nothing. Numbers in a
typed column are kept sorted (positions by value, found by binary search); everything else goes into a
dictionary by `lookup_key`.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy import cached_property
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.point_index import PointIndex
from hoplite.values.columns import INT64_MAX, Column, Floats, Int64s, Integers, Strings, from_objects
from hoplite.values.order import equals, less_or_equal, less_than
from hoplite.values.texts import EDGE, TextPool

NO_POSITIONS: Int64s = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a range of values."""

    value: Any
    inclusive: bool


_PIECE = 1 << 20
_FEW = 32
_INT64, _ONLY_INTEGERS = np.dtype(np.int64), {int}  # made once: every look-up takes them
EXACT_DOUBLE = 2**53
"""Integers up to here are exact doubles; beyond, several of them equal one double."""


def lookup_key(value: Any) -> Hashable | None:
    """A key that equal values share; None for a value that equals nothing (null, NaN). Values that share a key may
    still differ if they are integers beyond EXACT_DOUBLE: `equals` decides."""
    match value:
        case None:
            return None
        case bool():
            return (bool, value)
        case str():
            return value
        case int():
            return value if -EXACT_DOUBLE <= value <= EXACT_DOUBLE else float(value)
        case float():
            return None if math.isnan(value) else value
        case list() | tuple():
            keys = tuple(lookup_key(item) for item in value)
            return None if None in keys else (list, keys)
    return None if isinstance(value, dict) else (type(value), value)  # no property is a map


class _Counting:
    """The array 0, 1, 2 and so on, of which only the requested parts are created."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, places: slice | NDArray[Any]) -> Int64s:
        if isinstance(places, slice):
            return np.arange(*places.indices(self._count), dtype=np.int64)
        return np.flatnonzero(places) if places.dtype == np.bool_ else places.astype(np.int64, copy=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.arange(self._count, dtype=dtype or np.int64)


@dataclass(eq=False)
class ValueIndex:
    """Positions by value. Numeric columns: `positions` in the order of `values`. Others: a dictionary built on first
    use.
    """

    positions: Int64s
    column: Column

    @staticmethod
    def empty() -> ValueIndex:
        """An index without entries."""
        return ValueIndex(NO_POSITIONS, Integers(NO_POSITIONS))

    @staticmethod
    def of(positions: Int64s, column: Column) -> ValueIndex:
        """An index of values, none of them null, at ascending positions."""
        if isinstance(column, Integers | Floats):
            if bool((column.values[1:] >= column.values[:-1]).all()):  # no NaN among them either
                return ValueIndex(positions, column)
            if isinstance(column, Integers) and (ordered := _ordered(column.values)) is not None:
                order, values = ordered
                return ValueIndex(positions[order], Integers(values))
            order = np.argsort(column.values, kind="stable")
            return ValueIndex(positions[order], column.take(order))
        return ValueIndex(positions, column)

    @staticmethod
    def of_all(column: Integers) -> ValueIndex:
        """An index of integers, none of them null, at the positions 0, 1, 2 and so on. If they ascend, it takes no
        memory."""
        return ValueIndex.of(cast(Int64s, _Counting(len(column))), column)

    @staticmethod
    def of_pairs(pairs: list[tuple[int, Any]]) -> ValueIndex:
        """An index of (position, value)."""
        positions = np.fromiter((position for position, _ in pairs), np.int64, len(pairs))
        return ValueIndex.of(positions, from_objects([value for _, value in pairs]))

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def _by_key(self) -> dict[Hashable, int | list[int]]:
        """Positions by lookup key: a bare integer for the common case of a single one."""
        found: dict[Hashable, int | list[int]] = {}
        keys = self.column.objects().tolist()
        if not isinstance(self.column, Strings):
            keys = [lookup_key(value) for value in keys]
        positions = self.positions.tolist()
        if isinstance(self.column, Strings):
            found = dict(zip(keys, positions, strict=True))
            if len(found) == len(keys):
                return found
            found = {}
        for key, position in zip(keys, positions, strict=True):
            if key is None:
                continue
            known = found.setdefault(key, position)
            if isinstance(known, list):
                known.append(position)
            elif known != position:
                found[key] = [known, position]
        return found

    def find(self, value: Any) -> list[int]:
        """The positions that have this value."""
        if isinstance(self.column, Integers | Floats):
            if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
                return []
            values = self.column.values
            if value in (INT64_MAX, 2.0**63):  # the two are equal, though the integer is the smaller one
                value = INT64_MAX if isinstance(self.column, Integers) else 2.0**63
            low, high = _place(values, value, "left"), _place(values, value, "right")
            found: list[int] = self.positions[low:high].tolist()
            return found
        key = lookup_key(value)
        hit = None if key is None else self._by_key.get(key)
        if hit is None:
            return []
        hits = list(hit) if isinstance(hit, list) else [hit]
        if isinstance(self.column, Strings) or isinstance(value, str):
            return hits
        return [position for position in hits if equals(self._value(position), value)]

    def having(self, values: Sequence[Any]) -> Int64s:
        """The positions that have any of the values; those of a value listed twice come twice."""
        are_few = len(values) <= _FEW and set(map(type, values)) == _ONLY_INTEGERS
        if are_few and self._is_its_position and min(values) >= 0 and max(values) < self._count:
            return np.array(values, _INT64)
        return self.find_all(values)[1]

    def find_all(self, values: Sequence[Any] | Int64s) -> tuple[Int64s, Int64s]:
        """For each value the positions that have it: (index into values, position)."""
        if isinstance(self.column, Integers) and self._count and _are_integers(values):
            held, wanted = self.column.values, np.asarray(values, _INT64)
            if self._counts_up:
                # Python finds the ends of a short list sooner than NumPy.
                some = values if len(values) <= _FEW else (wanted.min(), wanted.max())
                if min(some) >= self._first and max(some) < self._first + self._count:
                    places = wanted - self._first if self._first else wanted
                    found = places if isinstance(self.positions, _Counting) else self.positions[places]
                    return np.arange(len(wanted)), found
            low = np.searchsorted(held, wanted)
            if not self._is_distinct:
                counts = np.searchsorted(held, wanted, "right") - low
                which = np.repeat(np.arange(len(wanted)), counts)
                places = np.arange(len(which)) + np.repeat(low - np.cumsum(counts) + counts, counts)
                return which, self.positions[places]
            which = np.flatnonzero(held[np.minimum(low, len(held) - 1)] == wanted)
            return which, self.positions[low if len(which) == len(low) else low[which]]
        rows: list[int] = []
        hits: list[int] = []
        for row, value in enumerate(values):
            having = self.find(value)
            rows += [row] * len(having)
            hits += having
        return np.array(rows, np.int64), np.array(hits, np.int64)

    @cached_property
    def _is_distinct(self) -> bool:
        return self.distinct == len(self)

    @cached_property
    def _count(self) -> int:
        return len(self.positions)

    @cached_property
    def _first(self) -> int:
        assert isinstance(self.column, Integers)
        return int(self.column.values[0])

    @cached_property
    def _counts_up(self) -> bool:
        """Whether the values are consecutive integers, each once, so that subtraction gives the place of one."""
        values = self.column.values if isinstance(self.column, Integers) else NO_POSITIONS
        return len(values) > 0 and int(values[-1]) - int(values[0]) == len(values) - 1 and self._is_distinct

    @cached_property
    def _is_its_position(self) -> bool:
        """Whether every value is the position that has it: numbers assigned by a loader in the order of nodes."""
        if not self._counts_up or self._first:
            return False
        return isinstance(self.positions, _Counting) or bool((self.positions == np.arange(self._count)).all())

    def _value(self, position: int) -> Any:
        return self.column.objects()[np.searchsorted(self.positions, position)]

    def within(self, low: Bound | None, high: Bound | None) -> Int64s:
        """The positions whose value compares as within the bounds; at least one bound is given."""
        if not all(_can_bound(bound) for bound in (low, high) if bound is not None):
            return NO_POSITIONS
        numeric = all(_is_number(bound.value) for bound in (low, high) if bound is not None)
        if isinstance(self.column, Integers | Floats):
            return self._numbers_within(self.column.values, low, high) if numeric else NO_POSITIONS
        if isinstance(self.column, Strings):
            return self._texts_within(low, high)
        fits = [_fits(value, low, high) for value in self.column.objects()]
        return self.positions[np.array(fits, np.bool_)]

    @cached_property
    def _texts_in_order(self) -> tuple[list[str], Int64s]:
        """The texts of a column sorted by code point, and their positions."""
        texts = self.column.objects().tolist()
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
        return [texts[place] for place in order.tolist()], self.positions[order]

    def _texts_within(self, low: Bound | None, high: Bound | None) -> Int64s:
        if not all(isinstance(bound.value, str) for bound in (low, high) if bound is not None):
            return NO_POSITIONS
        texts, positions = self._texts_in_order
        first, last = 0, len(texts)
        if low is not None:
            first = (bisect_left if low.inclusive else bisect_right)(texts, low.value)
        if high is not None:
            last = (bisect_right if high.inclusive else bisect_left)(texts, high.value)
        return positions[first:last]

    def _numbers_within(self, values: NDArray[Any], low: Bound | None, high: Bound | None) -> Int64s:
        first, last = 0, len(values)
        if low is not None:
            first = _place(values, low.value, "left" if low.inclusive or low.value == 0 else "right")
        if high is not None:
            last = _place(values, high.value, "right" if high.inclusive or high.value == 0 else "left")
        if values.dtype == np.float64:  # NaN sorts last and is within nothing
            last = min(last, int(np.searchsorted(values, np.nan)))
        positions, found = self.positions[first:last], values[first:last]
        if any(bound.value == 0 for bound in (low, high) if bound is not None):
            # -0.0 and 0.0 share a place among the sorted values, and yet -0.0 < 0.0.
            fits_zero = np.where(np.signbit(found), _fits(-0.0, low, high), _fits(0.0, low, high))
            kept: Int64s = positions[(found != 0) | fits_zero]
            return kept
        return positions

    def starting_with(self, prefix: str) -> Int64s:
        """The positions whose value is a string with this prefix."""
        if isinstance(self.column, Integers | Floats):
            return NO_POSITIONS
        if isinstance(self.column, Strings):
            texts, positions = self._texts_in_order
            first = bisect_left(texts, prefix)
            return positions[first : bisect_right(texts, prefix, first, key=lambda text: text[: len(prefix)])]
        fits = [isinstance(value, str) and value.startswith(prefix) for value in self.column.objects()]
        return self.positions[np.array(fits, np.bool_)]

    def containing(self, part: str, at_end: bool) -> Int64s:
        """The positions whose value is a string that contains the part, or ends with it."""
        if isinstance(self.column, Integers | Floats):
            return NO_POSITIONS
        if isinstance(self.column, Strings):
            found = self._texts.find("", part, EDGE if at_end else "", 0, len(self))
            if found is not None:
                return self.positions[found]
        test = str.endswith if at_end else str.__contains__
        fits = [isinstance(value, str) and test(value, part) for value in self.column.objects()]
        return self.positions[np.array(fits, np.bool_)]

    @cached_property
    def points(self) -> PointIndex:
        """The point values."""
        numbers = isinstance(self.column, Integers | Floats | Strings)
        return PointIndex.of(np.asarray(self.positions), np.zeros(0, object) if numbers else self.column.objects())

    @cached_property
    def _texts(self) -> TextPool:
        return TextPool(self.column.objects())

    @property
    def holds_one_kind(self) -> bool:
        """Whether all values are integers, or all are texts: then different values differ for every purpose."""
        return isinstance(self.column, Integers | Strings)

    @property
    def distinct(self) -> int:
        """How many different values there are."""
        if isinstance(self.column, Integers | Floats):
            values = self.column.values
            return int(np.count_nonzero(values[1:] != values[:-1])) + 1 if len(values) else 0
        return len(self._by_key)


def _are_integers(values: Sequence[Any] | Int64s) -> bool:
    if isinstance(values, np.ndarray):
        return bool(values.dtype == np.int64)
    return set(map(type, values)) == _ONLY_INTEGERS


def _ordered(values: Int64s) -> tuple[Int64s, Int64s] | None:
    """The stable order of integers, and the sorted integers: value and place are packed into one word if they fit,
    because words sort several times faster than places."""
    low, bits = int(values.min()), (len(values) - 1).bit_length()
    if (int(values.max()) - low).bit_length() + bits > 63:
        return None
    packed = values - low
    packed <<= bits
    for first in range(0, len(values), _PIECE):
        some = packed[first : first + _PIECE]
        some |= np.arange(first, first + len(some), dtype=np.int64)
    packed.sort()
    order = packed & ((1 << bits) - 1)
    packed >>= bits
    packed += low
    return order, packed


def _can_bound(bound: Bound) -> bool:
    """Nothing is within null or NaN."""
    return bound.value is not None and bound.value == bound.value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _place(values: NDArray[Any], bound: Any, side: Literal["left", "right"]) -> int:
    """Where a number would be in a sorted array; integers and floats compare by their exact values."""
    if values.dtype == np.float64:
        if not isinstance(bound, int):
            return int(np.searchsorted(values, bound, side))
        nearest = float(bound)
        if nearest != bound:  # the nearest double is on one side of the integer, and so is everything equal to it
            side = "left" if nearest > bound else "right"
        return int(np.searchsorted(values, nearest, side))
    if isinstance(bound, float):
        if math.isinf(bound) or not -(2.0**63) <= bound < 2.0**63:
            return 0 if bound < 0 else len(values)
        # Between integers: the first one not below the bound serves both sides, unless the bound is an integer itself.
        return int(np.searchsorted(values, math.ceil(bound), side if bound.is_integer() else "left"))
    return int(np.searchsorted(values, bound, side))


def _fits(value: Any, low: Bound | None, high: Bound | None) -> bool:
    """Whether a value compares as within the bounds; false if it is not comparable."""
    return (low is None or _less(low.value, value, low.inclusive)) and (
        high is None or _less(value, high.value, high.inclusive)
    )


def _less(left: Any, right: Any, or_equal: bool) -> bool:
    return bool(less_or_equal(left, right) if or_equal else less_than(left, right))
