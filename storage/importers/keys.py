"""Positions of nodes by the keys that a load gives them, in a structure that suits the keys.

runs      consecutive integers: only the first is stored
table     dense integers
sorted    other integers
texts     more than a few strings are looked up by Arrow
others    a dictionary
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import Booleans, Bools, Column, Floats, Int64s, Integers, Strings, concatenate
from hoplite.values.order import group_key

_ARROW_MINIMUM = 10_000
"""More string keys than this are looked up by Arrow."""
_TABLE_SHARE = 8
"""Integer keys are looked up in a table if at least one number in this many is a key."""
_MOST_RUNS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Keys of some nodes; `keys` of None: they are first_key, first_key + 1 and so on. Positions are consecutive from
    `first`, unless there is an array of them."""

    first: int
    count: int
    keys: Column | None
    first_key: int = 0
    positions: Int64s | None = None

    @staticmethod
    def of(keys: Column, positions: Int64s) -> Part:
        """Keys, none of them null, of nodes with these positions."""
        first, count = int(positions[0]), len(positions)
        counts_up = int(positions[-1]) - first == count - 1
        if counts_up and isinstance(keys, Integers):
            values = keys.values
            if int(values[-1]) - int(values[0]) == count - 1 and bool((values[1:] > values[:-1]).all()):
                return Part(first, count, None, int(values[0]))
        return Part(first, count, keys, positions=None if counts_up else positions)

    def column(self) -> Column:
        """The keys."""
        if self.keys is not None:
            return self.keys
        return Integers(np.arange(self.first_key, self.first_key + self.count, dtype=np.int64))


class Keys:
    """All keys of one label."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._runs: tuple[Int64s, Int64s, Int64s] | None = None
        self._sorted: tuple[Int64s, NDArray[Any]] | None = None
        self._table: tuple[int, NDArray[Any]] | None = None
        self._strings: tuple[Any, NDArray[Any]] | None = None
        self._by_key: dict[Hashable, int] = {}
        if len(parts) <= _MOST_RUNS and all(part.keys is None for part in parts):
            runs = sorted((part.first_key, part.count, part.first) for part in parts)
            first_keys, counts, firsts = np.array(runs, np.int64).reshape(-1, 3).T
            if bool((first_keys[:-1] + counts[:-1] <= first_keys[1:]).all()):
                self._runs = first_keys, counts, firsts
                return
        if not self._make_table(parts):
            self._make(concatenate([part.column() for part in parts]), _positions(parts))

    def _make_table(self, parts: Sequence[Part]) -> bool:
        """Dense integers, part by part."""
        columns = [part.keys for part in parts]
        if not all(keys is None or isinstance(keys, Integers) for keys in columns):
            return False
        lows, highs = [], []
        for part in parts:
            values = part.keys.values if isinstance(part.keys, Integers) else None
            lows.append(part.first_key if values is None else int(values.min()))
            highs.append(part.first_key + part.count - 1 if values is None else int(values.max()))
        low, high, count = min(lows), max(highs), sum(part.count for part in parts)
        if high - low >= _TABLE_SHARE * count:
            return False
        largest = max(
            part.first + part.count if part.positions is None else int(part.positions.max()) for part in parts
        )
        table = np.full(high - low + 1, -1, np.int32 if largest < 2**31 else np.int64)
        for part in parts:
            column = part.column()
            assert isinstance(column, Integers)
            table[column.values - low] = _positions([part])
        self._table = low, table
        return True

    def _make(self, keys: Column, positions: NDArray[Any]) -> None:
        if isinstance(keys, Integers):
            order = np.argsort(keys.values, kind="stable")
            self._sorted = keys.values[order], positions[order]
        elif isinstance(keys, Strings) and len(keys) > _ARROW_MINIMUM:
            import pyarrow as pa

            self._strings = pa.array(keys.values, pa.large_string()), positions
        elif isinstance(keys, Strings):
            self._by_key = dict(zip(keys.values.tolist(), positions.tolist(), strict=True))
        else:
            self._by_key = {group_key(k): p for k, p in zip(keys.objects(), positions.tolist(), strict=True)}

    def find(self, wanted: Column) -> Int64s:
        """The position of each key, -1 if there is none. An integer and a float are the same key if they are equal."""
        if self._runs or self._sorted or self._table:
            integers, is_other = _integers_among(wanted)
            found = self._find_integers(integers)
            found[is_other] = -1
            return found
        if self._strings is not None:
            return _find_strings(*self._strings, wanted)
        get = self._by_key.get
        if isinstance(wanted, Strings):
            return np.fromiter(map(get, wanted.values.tolist(), repeat(-1)), np.int64, len(wanted))
        return np.fromiter((get(group_key(k), -1) for k in wanted.objects()), np.int64, len(wanted))

    def _find_integers(self, wanted: Int64s) -> Int64s:
        if self._runs is not None:
            first_keys, counts, firsts = self._runs
            if not len(first_keys):
                return np.full(len(wanted), -1, np.int64)
            run: Any = 0 if len(first_keys) == 1 else np.maximum(np.searchsorted(first_keys, wanted, "right") - 1, 0)
            offset = wanted - first_keys[run]
            return np.where((offset >= 0) & (offset < counts[run]), offset + firsts[run], -1)
        if self._table is not None:
            first, table = self._table
            offset = wanted - first
            inside = (offset >= 0) & (offset < len(table))
            if bool(inside.all()):
                return table[offset].astype(np.int64)
            return np.where(inside, table[np.where(inside, offset, 0)], -1)
        assert self._sorted is not None
        values, positions = self._sorted
        slots = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
        return np.where(values[slots] == wanted, positions[slots], -1)


def _positions(parts: Sequence[Part]) -> Int64s:
    return np.concatenate(
        [
            np.arange(part.first, part.first + part.count, dtype=np.int64) if part.positions is None else part.positions
            for part in parts
        ]
    )


def _integers_among(wanted: Column) -> tuple[Int64s, Bools]:
    """Keys as integers, and which of them are none."""
    if isinstance(wanted, Integers):
        return wanted.values, wanted.null_mask()
    if isinstance(wanted, Floats):  # pandas has integers as floats if one of them is missing
        values = wanted.values
        is_other = wanted.null_mask() | ~((values == np.floor(values)) & (np.abs(values) < 2.0**63))
        return np.where(is_other, 0, values).astype(np.int64), is_other
    if isinstance(wanted, Strings | Booleans):
        return np.zeros(len(wanted), np.int64), np.ones(len(wanted), np.bool_)
    keys = [_as_integer(value) for value in wanted.objects()]
    is_other = np.fromiter((key is None for key in keys), np.bool_, len(keys))
    return np.fromiter((key or 0 for key in keys), np.int64, len(keys)), is_other


def _as_integer(value: Any) -> int | None:
    if type(value) is float and value.is_integer() and abs(value) < 2.0**63:
        return int(value)
    return value if type(value) is int else None


def _find_strings(known: Any, positions: NDArray[Any], wanted: Column) -> Int64s:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = wanted.values if isinstance(wanted, Strings) else [v if type(v) is str else None for v in wanted.objects()]
    slots = pc.index_in(pa.array(texts, pa.large_string()), value_set=known)
    rows = slots.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where(rows < 0, -1, positions[rows])
