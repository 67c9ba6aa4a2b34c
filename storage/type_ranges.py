"""Where the entries of a type begin in each row of an incidence, and how many there are.

Types ascend within a row, so the entries of one type are a range of it. Searching for that range costs a few steps per
row; once a type has been used often enough, its ranges are stored for all rows:

    start  int64[rows]   the first entry of the type in the row
    count  int64[rows]   how many there are
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Int64s: TypeAlias = NDArray[np.int64]
Ranges: TypeAlias = tuple[Int64s, Int64s]

_WORTH = 8  # ranges are stored once one row in this many was searched
_SHARE = 4  # all ranges together take at most this many times the bytes of the types themselves
_LARGEST = 1 << 22  # rows; larger graphs are searched, because memory is scarce there
_PIECE = 1 << 20  # rows processed at once while they are made


class TypeRanges:
    """The ranges of the most used types."""

    __slots__ = ("_asked", "_known")

    def __init__(self) -> None:
        self._asked: dict[int, int] = {}
        self._known: dict[int, Ranges] = {}

    def of(self, code: int, indptr: Int64s, types: NDArray[np.int32], asked: int) -> Ranges | None:
        """The ranges of a type, of which `asked` rows are needed now; None if storing them does not pay."""
        known = self._known.get(code)
        if known is not None:
            return known
        rows = len(indptr) - 1
        total = self._asked[code] = self._asked.get(code, 0) + asked
        held = 16 * rows * (len(self._known) + 1)
        if total * _WORTH < rows or rows > _LARGEST or held > _SHARE * 4 * len(types):
            return None
        made = self._known[code] = ranges_of(code, indptr, types)
        return made


def ranges_of(code: int, indptr: Int64s, types: NDArray[np.int32]) -> Ranges:
    """The first entry and the number of entries of a type, for each row."""
    rows = len(indptr) - 1
    start, count = np.empty(rows, np.int64), np.empty(rows, np.int64)
    for first in range(0, rows, _PIECE):
        last = min(first + _PIECE, rows)
        bounds = np.asarray(indptr[first : last + 1])
        held = types[int(bounds[0]) : int(bounds[-1])]
        places = bounds - bounds[0]
        below, same = _before(held < code, places), _before(held == code, places)
        start[first:last] = bounds[:-1] + below[1:] - below[:-1]
        count[first:last] = same[1:] - same[:-1]
    return start, count


def _before(flags: NDArray[np.bool_], places: Int64s) -> Int64s:
    """How many flags are set before each place."""
    totals = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(flags, out=totals[1:])
    counted: Int64s = totals[places]
    return counted
