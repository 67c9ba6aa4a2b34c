"""What aggregations share: their protocol, states that grow with the number of groups, and selecting non-null rows."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.context import RowError
from hoplite.errors import CypherError
from hoplite.values.columns import Booleans, Column, Floats, Int64s, Integers

Float64s = NDArray[np.float64]

SAFE_FLOAT = 1e150
"""Below this, neither sums nor squared differences can overflow."""


class Aggregation(Protocol):
    """The state of one aggregating call in a running statement."""

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        """Add a batch: row i belongs to group `groups[i]`; there are `group_count` groups so far."""

    def finish(self, group_count: int) -> Column:
        """The value of each group."""


def grown(state: NDArray[Any], count: int, fill: Any = 0) -> NDArray[Any]:
    """The state with room for `count` groups (growing at least doubles it, which keeps growth cheap)."""
    if count <= len(state):
        return state
    larger = np.full(max(count, 2 * len(state)), fill, state.dtype)
    larger[: len(state)] = state
    return larger


def present(groups: Int64s, column: Column) -> tuple[Int64s, Column, Int64s | None]:
    """The non-null rows: their groups, their values, and their indexes (None: all rows)."""
    if isinstance(column, Integers | Floats | Booleans) and column.nulls is None:
        return groups, column, None
    nulls = column.null_mask()
    if not nulls.any():
        return groups, column, None
    rows = np.flatnonzero(~nulls)
    return groups[rows], column.take(rows), rows


def row_error(index: int, rows: Int64s | None, error: CypherError) -> RowError:
    return RowError(index if rows is None else int(rows[index]), error)
