"""Exact sums and products of counts: results that do not fit 64 bits raise an error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hoplite.errors import arithmetic_error

LARGEST = 1 << 63
_LOW_BITS = 32
_LOW = (1 << _LOW_BITS) - 1


class Sums:
    """Sums of integers by place, kept in two halves."""

    def __init__(self, size: int) -> None:
        self._low = np.zeros(size, np.int64)
        self._high: NDArray[np.int64] | None = None

    def add(self, places: NDArray[np.int64], values: NDArray[np.int64]) -> None:
        """Add each value, which is not negative, at its place."""
        if int(values.max(initial=0)) >> _LOW_BITS:
            if self._high is None:
                self._high = np.zeros(len(self._low), np.int64)
            np.add.at(self._high, places, values >> _LOW_BITS)
            values = values & _LOW
        np.add.at(self._low, places, values)

    def totals(self) -> NDArray[np.int64]:
        """The sums; raises if one does not fit 64 bits."""
        if self._high is None:
            return self._low
        high = self._high + (self._low >> _LOW_BITS)
        if int(high.max(initial=0)) >= 1 << (63 - _LOW_BITS):
            raise arithmetic_error("long overflow")
        return (high << _LOW_BITS) + (self._low & _LOW)


def total(counts: NDArray[np.int64]) -> int:
    """The sum of all counts, however large."""
    return (int((counts >> _LOW_BITS).sum()) << _LOW_BITS) + int((counts & _LOW).sum())


def product(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """The products; raises if one does not fit 64 bits."""
    if len(left) and int(left.max()) * int(right.max()) >= LARGEST:
        largest = max(a * b for a, b in zip(left.tolist(), right.tolist(), strict=True))
        if largest >= LARGEST:
            raise arithmetic_error("long overflow")
    return left * right
