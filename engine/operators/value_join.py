"""Pairs of rows whose keys are equal, for patterns that only values connect.

The right side is read once and kept. Numbers are found by binary search among its sorted numbers, text through a number
for each text; anything else, and kinds that change from batch to batch, through a dict.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.batch import Batch, concatenate_batches
from hoplite.engine.context import Execution
from hoplite.engine.memory import Held
from hoplite.engine.operators.base import LARGEST_BATCH, Evaluator, Operator, evaluate
from hoplite.lazy import cached_property
from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import Column, Floats, Int64s, Integers, Strings
from hoplite.values.order import group_key

_TABLE_ENTRY = 100  # bytes per row of a table

Pairs = tuple[Int64s, Int64s]
"""Rows, and the row of the other side that each is paired with."""


@dataclass(slots=True, eq=False)
class HashJoin(Operator):
    """Pairs of rows whose keys may be equal; the right side runs once and is held in memory."""

    left: Operator
    right: Operator
    left_key: Evaluator
    right_key: Evaluator
    added: tuple[str, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """In the order of the left rows."""
        table: KeyTable | None = None
        right: Batch | None = None
        with context.memory.holding() as held:
            for number, incoming in enumerate(self.left.run(context, argument)):
                if number == 0:
                    table, right = self._read(context, held)
                if table is None or right is None:
                    continue  # no key is evaluated, which might fail
                batch, (keys,), error = evaluate(incoming, (self.left_key,), context)
                for rows, partners in table.partners(keys, context):
                    context.check_time()
                    found = right.take(partners)
                    yield batch.take(rows).with_columns({name: found[name] for name in self.added})
                if error is not None:
                    raise error

    def _read(self, context: Execution, held: Held) -> tuple[KeyTable | None, Batch | None]:
        batches = [held.add_batch(batch) for batch in self.right.run(context, Batch({}, 1))]
        if not batches:
            return None, None
        batch, (keys,), error = evaluate(concatenate_batches(batches), (self.right_key,), context)
        if error is not None:
            raise error
        held.add(_TABLE_ENTRY * batch.row_count)
        return KeyTable(keys), batch


class KeyTable:
    """The rows of one side by their keys."""

    def __init__(self, keys: Column) -> None:
        self._keys = keys
        self._by_key: dict[object, list[int]] | None = None

    def partners(self, keys: Column, context: Execution) -> Iterator[Pairs]:
        """The pairs of rows whose keys may be equal, in pieces of bounded size: in the order of these keys, and for
        each in the order of the table."""
        if isinstance(keys, Integers | Floats) and isinstance(self._keys, Integers | Floats):
            if type(keys) is type(self._keys):
                (mine, order), theirs = self._sorted_numbers, keys.values
            else:  # integers are compared with floats as floats
                (mine, order), theirs = self._sorted_floats, keys.values.astype(np.float64)
            return _found(mine, order, theirs, ~keys.null_mask() & (theirs == theirs))  # NaN equals nothing
        if isinstance(keys, Strings) and isinstance(self._keys, Strings):
            numbers, order = self._sorted_texts
            theirs = np.fromiter(map(self._numbers_of_texts.get, keys.values, repeat(-1)), np.int64, len(keys))
            return _found(numbers, order, theirs, theirs >= 0)
        return self._from_dict(keys, context)

    @cached_property
    def _sorted_numbers(self) -> tuple[NDArray[Any], Int64s]:
        """All numbers in ascending order, and their rows."""
        assert isinstance(self._keys, Integers | Floats)
        return self._sorted(self._keys.values)

    @cached_property
    def _sorted_floats(self) -> tuple[NDArray[Any], Int64s]:
        """The same as floats, of which large integers share some."""
        assert isinstance(self._keys, Integers | Floats)
        return self._sorted(self._keys.values.astype(np.float64))

    def _sorted(self, numbers: NDArray[Any]) -> tuple[NDArray[Any], Int64s]:
        rows = np.flatnonzero(~self._keys.null_mask())
        values = numbers[rows]
        order = np.argsort(values, kind="stable")
        return values[order], rows[order]

    @cached_property
    def _numbers_of_texts(self) -> dict[str, int]:
        """A number for each text."""
        assert isinstance(self._keys, Strings)
        distinct = dict.fromkeys(self._keys.values.tolist())
        distinct.pop(None, None)
        return dict(zip(distinct, range(len(distinct)), strict=True))

    @cached_property
    def _sorted_texts(self) -> tuple[Int64s, Int64s]:
        """The numbers of all texts in ascending order, and their rows."""
        assert isinstance(self._keys, Strings)
        numbers = np.fromiter(map(self._numbers_of_texts.get, self._keys.values, repeat(-1)), np.int64, len(self._keys))
        rows = np.flatnonzero(numbers >= 0)
        order = np.argsort(numbers[rows], kind="stable")
        return numbers[rows][order], rows[order]

    def _from_dict(self, keys: Column, context: Execution) -> Iterator[Pairs]:
        rows: list[int] = []
        partners: list[int] = []
        for row, value in enumerate(keys.objects()):
            if value is None:
                continue
            found = self._rows_by_key(context).get(_join_key(value), ())
            for first in range(0, len(found), LARGEST_BATCH):
                some = found[first : first + LARGEST_BATCH]
                rows.extend([row] * len(some))
                partners.extend(some)
                if len(rows) >= LARGEST_BATCH:
                    yield np.array(rows, np.int64), np.array(partners, np.int64)
                    rows, partners = [], []
        if rows:
            yield np.array(rows, np.int64), np.array(partners, np.int64)

    def _rows_by_key(self, context: Execution) -> dict[object, list[int]]:
        if self._by_key is None:
            self._by_key = {}
            for row, value in enumerate(self._keys.objects()):
                if row % LARGEST_BATCH == 0:
                    context.check_time()
                if value is not None:
                    self._by_key.setdefault(_join_key(value), []).append(row)
        return self._by_key


def _found(mine: NDArray[Any], order: Int64s, theirs: NDArray[Any], is_key: NDArray[np.bool_]) -> Iterator[Pairs]:
    """The pairs of each of their keys with its equals among mine, which ascend and belong to the rows in `order`."""
    low = np.searchsorted(mine, theirs, "left")
    counts = np.where(is_key, np.searchsorted(mine, theirs, "right") - low, 0)
    ends = np.cumsum(counts)
    begins = ends - counts
    total = int(ends[-1]) if len(ends) else 0
    shift = low - begins  # from the number of a pair to the place of its partner
    for start in range(0, total, LARGEST_BATCH):
        stop = min(start + LARGEST_BATCH, total)
        first, last = np.searchsorted(ends, (start, stop - 1), "right").tolist()
        inside = np.minimum(ends[first : last + 1], stop) - np.maximum(begins[first : last + 1], start)
        rows = np.repeat(np.arange(first, last + 1), inside)
        yield rows, order[np.arange(start, stop) + shift[rows]]


def _join_key(value: object) -> object:
    """A key shared by values that `=` considers equal. Others may share it too: the predicate is applied again."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float):
        return "number", float(value)  # 1 = 1.0: integers are compared with floats as floats
    if isinstance(value, list | tuple):
        return tuple(_join_key(item) for item in value)
    if isinstance(value, dict):
        return frozenset(value)
    return group_key(value)
