"""Grouping: rows of key columns in, group numbers out, batch after batch.

Groups are numbered 0, 1, 2, ... in the order of their first rows. Two rows are in one group if Cypher's grouping says
so (`group_key`): null with null, 1 with 1.0, 0.0 with -0.0; every NaN is a separate group. Aggregation, DISTINCT and
UNION build on this.

Each key column has an encoder, which turns its values into dense numbers; the numbers of several columns are joined two
at a time into one code, and encoded again. An encoder is one of

    _Table   int64 codes within a small range: a lookup array indexed by the code (entities, small integers, booleans,
             texts of a stored column)
    dict     anything hashable: one pass of dict.setdefault over Python values

and if a column changes its class between batches, its encoder moves to the general form, a dict over `group_key`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.guard import check_running, interruptible
from hoplite.values.columns import (
    Booleans,
    Column,
    Floats,
    Int64s,
    Integers,
    Nodes,
    Relationships,
    Strings,
    concatenate,
)
from hoplite.values.order import group_key
from hoplite.values.texts import TextPool

Assigned: TypeAlias = tuple[Int64s, Int64s]
"""The number of every row, and the rows where new numbers first appear, in order of those numbers."""

_Whole = TypeVar("_Whole", np.int32, np.int64)

_SMALLEST_TABLE = 1 << 16  # slots that lookup arrays may always have, over all key columns together
_FEWEST_SLOTS = 16
_SHARED = 8  # rows for each object, on average, from which objects are told apart before their values
_TABLE_SLOTS_PER_ROW = 16  # a lookup array may have this many slots for each row seen so far


def distinct(values: NDArray[_Whole]) -> NDArray[_Whole]:
    """The distinct values, ascending.

    `np.unique` gives the same, but since NumPy 2.3 by hashing, a hundred times slower for a million large values.
    """
    ordered = np.sort(values)
    kept = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=kept[1:])
    return ordered[kept]


class _Table:
    """Numbers for codes >= 0 by direct lookup; gives up (`assign` returns None) when the codes spread too widely."""

    def __init__(self, least: int) -> None:
        size = min(least, 1024)
        self.numbers: Int64s = np.full(size, -1, np.int64)
        self._place: Int64s = np.zeros(size, np.int64)  # scratch: where a code first appears in a batch
        self.count = 0
        self._least = least  # slots that it may have, however few rows there are
        self._rows = 0

    def assign(self, codes: Int64s) -> Assigned | None:
        if len(codes) == 0:
            return codes, codes
        self._rows += len(codes)
        needed = int(codes.view(np.uint64).max()) + 1  # a negative code is a very large unsigned one
        if needed > max(self._least, _TABLE_SLOTS_PER_ROW * self._rows):
            return None
        if needed > len(self.numbers):
            grown = np.full(max(needed, 2 * len(self.numbers)), -1, np.int64)
            grown[: len(self.numbers)] = self.numbers
            self.numbers = grown
            self._place = np.zeros(len(grown), np.int64)
        found = self.numbers[codes]
        missing = np.flatnonzero(found < 0)
        if not len(missing):
            return found, missing
        unknown = codes[missing]
        order = np.arange(len(unknown))
        self._place[unknown[::-1]] = order[::-1]  # reversed, so that the first of several is written last
        first = np.flatnonzero(self._place[unknown] == order)
        self.numbers[unknown[first]] = np.arange(self.count, self.count + len(first))
        self.count += len(first)
        found[missing] = self.numbers[unknown]
        return found, missing[first]

    def items(self) -> dict[Hashable, int]:
        """The same mapping as a dict."""
        known = np.flatnonzero(self.numbers >= 0)
        return dict(zip(known.tolist(), self.numbers[known].tolist(), strict=True))


def _numbered(table: dict[Hashable, int], keys: Iterable[Hashable], count: int) -> Assigned:
    """The number of each key, giving new keys the next free ones."""
    add, before = table.setdefault, len(table)
    numbers = np.fromiter((add(key, len(table)) for key in keys), np.int64, count)
    return numbers, _first_rows(numbers, before)


class _IntegerEncoder:
    """int64 codes to dense numbers: a table while the codes are small, a dict from then on."""

    def __init__(self, least: int) -> None:
        self._table: _Table | None = _Table(least)
        self._dict: dict[Hashable, int] = {}

    @property
    def count(self) -> int:
        return len(self._dict) if self._table is None else self._table.count

    def assign(self, codes: Int64s) -> Assigned:
        if self._table is not None:
            assigned = self._table.assign(codes)
            if assigned is not None:
                return assigned
            self._dict = self._table.items()
            self._table = None
        return _numbered(self._dict, codes.tolist(), len(codes))


class _Join:
    """Pairs of dense numbers to dense numbers, through the code `left * width + right`.

    `width` is a power of two above every right number. When the right side outgrows it, the pairs known so far are
    recoded.
    """

    def __init__(self, least: int) -> None:
        self._width = 16
        self._least = least
        self._codes = _IntegerEncoder(least)
        self._lefts: list[Int64s] = []
        self._rights: list[Int64s] = []

    @property
    def count(self) -> int:
        return self._codes.count

    def assign(self, left: Int64s, right: Int64s, right_count: int) -> Assigned:
        if right_count > self._width:
            self._width = 1 << (2 * right_count - 1).bit_length()
            self._codes = _IntegerEncoder(self._least)
            for known_left, known_right in zip(self._lefts, self._rights, strict=True):
                self._codes.assign(known_left * self._width + known_right)
        numbers, opened = self._codes.assign(left * self._width + right)
        if len(opened):
            self._lefts.append(left[opened])
            self._rights.append(right[opened])
        return numbers, opened


def _small_codes(column: Column) -> Int64s | None:
    """The column as codes from 0 for a lookup table, 0 being null; None if its class has no such form."""
    match column:
        case Nodes() | Relationships():
            return column.positions + 1
        case Booleans():
            codes = column.values.astype(np.int64) + 1
        case Integers():
            values = column.values
            if len(values) and (int(values.min()) < -(1 << 61) or int(values.max()) >= 1 << 61):
                return None
            codes = ((values << 1) ^ (values >> 63)) + 1  # 0, -1, 1, -2, ... are 1, 2, 3, 4, ...
        case Strings(pool=TextPool() as pool, slots=slots) if slots is not None:
            return pool.codes()[slots]
        case _:
            return None
    if column.nulls is not None:
        codes[column.nulls] = 0
    return codes


def _pool_worth_coding(column: Column) -> TextPool | None:
    """The pool of a column of stored text, if numbering all of its texts pays."""
    if isinstance(column, Strings) and column.pool is not None and column.pool.pays("group", len(column)):
        return column.pool
    return None


class ColumnEncoder:
    """Turns the values of one key column into dense numbers, whatever classes its batches have.

    `_seen` keeps the first value of each number while a class-specific form is in use, so that the general form can be
    built from it if another class turns up.
    """

    def __init__(self, least_slots: int = _SMALLEST_TABLE) -> None:
        self._least = least_slots
        self._kind: type[Column] | None = None
        self._pool: TextPool | None = None  # the pool that codes of text belong to
        self._codes: _IntegerEncoder | None = None
        self._dict: dict[Hashable, int] = {}
        self._general = False
        self._may_be_coded = True  # until texts of two pools turn up
        self._seen: list[Column] = []

    @property
    def count(self) -> int:
        """How many distinct values there were so far."""
        return self._codes.count if self._codes is not None else len(self._dict)

    def assign(self, column: Column) -> Int64s:
        """The number of every value, new values getting the next free ones."""
        return self.assign_first(column)[0]

    def assign_first(self, column: Column) -> Assigned:
        """The number of every value, and the rows with a new one."""
        if self._kind is None:
            self._kind = type(column)
            self._pool = _pool_worth_coding(column)
            coded = self._pool is not None or isinstance(column, Nodes | Relationships | Booleans | Integers)
            self._codes = _IntegerEncoder(self._least) if coded else None
            self._general = not isinstance(column, Floats | Strings) and self._codes is None
        elif self._kind is Strings and not self._general:
            if self._codes is not None and isinstance(column, Strings) and column.pool is not self._pool:
                self._turn_to_texts()
            elif self._codes is None and self._may_be_coded:
                self._turn_to_codes(column)
        if not self._general:
            assigned = self._assign_typed(column) if type(column) is self._kind else None
            if assigned is not None:
                if len(assigned[1]):
                    self._seen.append(column.take(assigned[1]))
                return assigned
            self._generalise()
        with interruptible():
            return self._assign_objects(column.objects().tolist())

    def _assign_objects(self, values: list[Any]) -> Assigned:
        """Numbers by grouping key. Where most rows share their objects, as nodes share lists of labels, a key is made
        for each object only, unless one contains NaN, which not even equals itself."""
        objects = dict(zip(map(id, values), values, strict=True))
        keys = list(map(group_key, objects.values())) if len(objects) * _SHARED <= len(values) else None
        if keys is None or keys != list(map(group_key, objects.values())):
            return _numbered(self._dict, map(group_key, values), len(values))
        before = len(self._dict)
        of_objects, _ = _numbered(self._dict, keys, len(keys))
        by_identity = dict(zip(objects, of_objects.tolist(), strict=True))
        numbers = np.fromiter(map(by_identity.__getitem__, map(id, values)), np.int64, len(values))
        return numbers, _first_rows(numbers, before)

    def _assign_typed(self, column: Column) -> Assigned | None:
        if self._codes is not None:
            codes = _small_codes(column)
            return None if codes is None else self._codes.assign(codes)
        # Python floats and strings are their own grouping keys: tolist makes a new object for every NaN, which equals
        # nothing.
        values: list[Any] = column.objects().tolist()
        return _numbered(self._dict, values, len(values))

    def _turn_to_codes(self, column: Column) -> None:
        """Switch to numbers of stored texts once a batch makes them worth having."""
        pool = _pool_worth_coding(column)
        if pool is None or any(not isinstance(seen, Strings) or seen.pool is not pool for seen in self._seen):
            return
        self._codes, self._pool, self._dict = _IntegerEncoder(self._least), pool, {}
        if self._seen:  # in the order of their numbers, so that they get the same ones again
            known = _small_codes(concatenate(self._seen))
            assert known is not None
            self._codes.assign(known)

    def _turn_to_texts(self) -> None:
        """Switch to the texts themselves: numbers of another pool mean other texts."""
        texts = concatenate(self._seen).objects().tolist() if self._seen else []
        self._codes, self._pool, self._may_be_coded = None, None, False
        self._dict = {text: number for number, text in enumerate(texts)}

    def _generalise(self) -> None:
        values = concatenate(self._seen).objects() if self._seen else ()
        with interruptible():
            self._dict = {group_key(value): number for number, value in enumerate(values)}
        self._codes, self._general = None, True
        self._seen.clear()


def _first_rows(numbers: Int64s, known: int) -> Int64s:
    """The rows where numbers from `known` on first appear, in order of those numbers."""
    rows = np.flatnonzero(numbers >= known)
    if len(rows) == 0:
        return rows
    # New numbers appear in ascending order, so each first appearance is a new maximum.
    highest = np.maximum.accumulate(numbers[rows])
    is_first = np.empty(len(rows), np.bool_)
    is_first[0] = True
    is_first[1:] = highest[1:] > highest[:-1]
    return rows[is_first]


class Grouping:
    """Assigns group numbers to rows, incrementally over batches with the same number of key columns."""

    def __init__(self) -> None:
        self._encoders: list[ColumnEncoder] = []
        self._joins: list[_Join] = []
        self._first_keys: list[tuple[Column, ...]] = []
        self._keyless_rows = False
        self._keep_keys = True

    @classmethod
    def without_keys(cls) -> Grouping:
        """A grouping that does not remember the key values (`keys` must not be called)."""
        grouping = cls()
        grouping._keep_keys = False
        return grouping

    @property
    def count(self) -> int:
        """How many groups there are so far."""
        if self._joins:
            return self._joins[-1].count
        if self._encoders:
            return self._encoders[0].count
        return int(self._keyless_rows)

    def assign(self, columns: Sequence[Column], row_count: int | None = None) -> Int64s:
        """The group number of every row. Without key columns, all rows (`row_count` of them) are one group."""
        return self.assign_first(columns, row_count)[0]

    def assign_first(self, columns: Sequence[Column], row_count: int | None = None) -> tuple[Int64s, Int64s]:
        """The group number of every row, and the rows that opened a new group, in order: what DISTINCT keeps."""
        numbers, opened = self._assign(columns, row_count or 0)
        if len(opened) and self._keep_keys:
            self._first_keys.append(tuple(column.take(opened) for column in columns))
        return numbers, opened

    def _assign(self, columns: Sequence[Column], row_count: int) -> Assigned:
        if not columns:
            opened = np.zeros(int(row_count > 0 and not self._keyless_rows), np.int64)
            self._keyless_rows = self._keyless_rows or row_count > 0
            return np.zeros(row_count, np.int64), opened
        if not self._encoders:
            least = max(_SMALLEST_TABLE // len(columns), _FEWEST_SLOTS)
            self._encoders = [ColumnEncoder(least) for _ in columns]
            self._joins = [_Join(least) for _ in columns[1:]]
        numbers, opened = self._encoders[0].assign_first(columns[0])
        for encoder, join, column in zip(self._encoders[1:], self._joins, columns[1:], strict=True):
            check_running()
            right = encoder.assign(column)
            numbers, opened = join.assign(numbers, right, encoder.count)
        return numbers, opened

    def keys(self) -> list[Column]:
        """The key columns with one row for each group: the values of the row that opened it."""
        if not self._first_keys:
            return []
        return [concatenate(parts) for parts in zip(*self._first_keys, strict=True)]
