"""Integers that are appended one by one or in bulk, and read as one NumPy array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Growing:
    """An array with room at its end, doubled when it is full."""

    __slots__ = ("_buffer", "count")

    def __init__(self, dtype: type[np.int32] | type[np.int64]) -> None:
        self._buffer: NDArray[Any] = np.empty(8, dtype)
        self.count = 0  # of values; to be read only

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        return int(self._buffer[index])

    def __setitem__(self, index: int, value: int) -> None:
        self._buffer[index] = value

    def append(self, value: int) -> None:
        """Add one value."""
        if self.count == len(self._buffer):
            self._reserve(1)
        self._buffer[self.count] = value
        self.count += 1

    def extend(self, values: NDArray[Any]) -> None:
        """Add many values."""
        self._reserve(len(values))
        self._buffer[self.count : self.count + len(values)] = values
        self.count += len(values)

    def truncate(self, count: int) -> None:
        """Keep only the first values."""
        self.count = count

    def array(self) -> NDArray[Any]:
        """All values. Shares memory: read it before the next change."""
        return self._buffer[: self.count]

    def copy(self) -> Growing:
        """An independent copy."""
        twin = Growing(np.int64)
        twin._buffer = self._buffer[: max(self.count, 8)].copy()
        twin.count = self.count
        return twin

    def _reserve(self, more: int) -> None:
        needed = self.count + more
        if needed > len(self._buffer):
            grown = np.empty(max(needed, 2 * len(self._buffer)), self._buffer.dtype)
            grown[: self.count] = self._buffer[: self.count]
            self._buffer = grown
