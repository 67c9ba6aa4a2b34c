"""Arrays with one entry for each node that are lent to a search and given back clean.

A hop from a handful of nodes must not cost time in proportion to the graph, so nothing here is allocated or cleared for
each query: a search clears the entries that it set, and gives the arrays back for the next one. A search that fails
does not give them back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import numpy as np
from numpy.typing import NDArray

_KEPT = 8


class Scratch:
    """Working arrays for one search over a graph of up to `size` nodes.

    mark      uint8[size]   all zero when lent, and to be all zero when given back
    queue     int64[size]   what they hold is left over from earlier searches
    level     int32[size]
    owner     int64[size]
    label     int64[size]
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.mark: NDArray[np.uint8] = np.zeros(size, dtype=np.uint8)
        self.queue: NDArray[np.int64] = np.empty(size, dtype=np.int64)
        self.level: NDArray[np.int32] = np.empty(size, dtype=np.int32)
        self.owner: NDArray[np.int64] = np.empty(size, dtype=np.int64)
        self.label: NDArray[np.int64] = np.empty(size, dtype=np.int64)


_free: list[Scratch] = []
_lock = Lock()


@contextmanager
def borrowed(size: int) -> Iterator[Scratch]:
    """Working arrays of at least `size` entries."""
    with _lock:
        fitting = next((kept for kept in reversed(_free) if size <= kept.size <= 4 * size + 4096), None)
        if fitting is not None:
            _free.remove(fitting)
    scratch = fitting or Scratch(size + size // 8 + 64)
    yield scratch
    with _lock:
        _free.append(scratch)
        if len(_free) > _KEPT:
            del _free[0]


def distinct(nodes: NDArray[np.int64], owner: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Marks one of each: True where a node of `nodes` is the one to keep. No sorting; `owner` is scratch."""
    numbers = np.arange(len(nodes), dtype=np.int64)
    owner[nodes[::-1]] = numbers[::-1]
    kept: NDArray[np.bool_] = owner[nodes] == numbers
    return kept
