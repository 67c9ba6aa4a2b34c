"""A batch: named columns of equal length, which operators pass to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import Column, Int64s, concatenate


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """`row_count` rows; a batch may have rows and no columns."""

    columns: Mapping[str, Column]
    row_count: int

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def take(self, rows: Int64s) -> Batch:
        """The batch of these rows, in this order; a row may be taken any number of times."""
        return Batch({name: c.take(rows) for name, c in self.columns.items()}, len(rows))

    def head(self, count: int) -> Batch:
        """The first `count` rows."""
        return self if count >= self.row_count else self.take(np.arange(count, dtype=np.int64))

    def rows(self, start: int, stop: int) -> Batch:
        """Rows `start` to `stop` (exclusive)."""
        if start == 0 and stop >= self.row_count:
            return self
        return self.take(np.arange(start, min(stop, self.row_count), dtype=np.int64))

    def with_columns(self, columns: Mapping[str, Column]) -> Batch:
        """The batch with these columns added or replaced."""
        return Batch({**self.columns, **columns}, self.row_count)

    def only(self, names: Sequence[str]) -> Batch:
        """The batch with only these columns."""
        if tuple(self.columns) == tuple(names):
            return self
        return Batch({name: self.columns[name] for name in names}, self.row_count)


UNIT = Batch({}, 1)


def concatenate_batches(batches: Sequence[Batch]) -> Batch:
    """Batches with the same columns, concatenated."""
    if len(batches) == 1:
        return batches[0]
    names = batches[0].columns
    joined = {name: concatenate([b.columns[name] for b in batches]) for name in names}
    return Batch(joined, sum(b.row_count for b in batches))
