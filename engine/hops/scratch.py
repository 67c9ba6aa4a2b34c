"""Arrays with one entry for each node that are lent to a search and returned clean.

A hop from a handful of nodes must not cost time in proportion to the graph, so nothing here is allocated or cleared for
each query: a search clears the entries that it set, and gives the arrays back for the next one. A search that fails
does not give them back.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy import cached_property

# How many of a size are kept for the next searches.
_KEPT = 4
_LARGEST_STAMP = 2**31 - 1


class Scratch:
    """Working arrays for one search over a graph of fewer than `size` nodes, each made when it is first asked for.

    mark      uint8[size]    all zero when lent, and to be all zero when given back
    order     int32[size]    what they hold is left over from earlier searches
    level     int32[size]
    queue     int64[size]
    owner     int64[size]
    label     int64[size]
    seen      uint64[size]   all zero when lent, and to be all zero when given back
    front     uint64[size]   left over
    coming    uint64[size]   all zero, as `seen`
    stamps    int32[size]    none is above `stamped`
    state     int64[]        a few numbers that a kernel keeps between calls; may be made longer

    What is never written to takes no memory: the operating system gives it page by page.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.mark: NDArray[np.uint8] = np.zeros(size, dtype=np.uint8)
        self.state: NDArray[np.int64] = np.zeros(128, dtype=np.int64)
        self.stamped = 0

    @cached_property
    def order(self) -> NDArray[np.int32]:
        return np.empty(self.size, dtype=np.int32)

    @cached_property
    def level(self) -> NDArray[np.int32]:
        return np.empty(self.size, dtype=np.int32)

    @cached_property
    def queue(self) -> NDArray[np.int64]:
        return np.empty(self.size, dtype=np.int64)

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        return np.empty(self.size, dtype=np.int64)

    @cached_property
    def label(self) -> NDArray[np.int64]:
        return np.empty(self.size, dtype=np.int64)

    @cached_property
    def seen(self) -> NDArray[np.uint64]:
        return np.zeros(self.size, dtype=np.uint64)

    @cached_property
    def front(self) -> NDArray[np.uint64]:
        return np.empty(self.size, dtype=np.uint64)

    @cached_property
    def coming(self) -> NDArray[np.uint64]:
        return np.zeros(self.size, dtype=np.uint64)

    @cached_property
    def stamps(self) -> NDArray[np.int32]:
        return np.zeros(self.size, dtype=np.int32)

    def stamps_for(self, count: int) -> int:
        """The number below the next stamps, which may be set from here on: none in use is above it."""
        if self.stamped + count > _LARGEST_STAMP:
            self.stamps[:] = 0
            self.stamped = 0
        before, self.stamped = self.stamped, self.stamped + count
        return before


# Those not lent, by the bit length of their size. Taking and putting back are single steps, safe between threads.
_free: dict[int, list[Scratch]] = {}


class borrowed:
    """`with borrowed(size) as scratch`: working arrays of at least `size` entries, back in the pool at the end."""

    __slots__ = ("_pool", "_scratch")

    def __init__(self, size: int) -> None:
        bits = size.bit_length()
        self._pool = _free.setdefault(bits, [])
        try:
            self._scratch = self._pool.pop()
        except IndexError:
            self._scratch = Scratch(1 << bits)

    def __enter__(self) -> Scratch:
        return self._scratch

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None and len(self._pool) < _KEPT:
            self._pool.append(self._scratch)


def distinct(nodes: NDArray[np.int64], owner: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Marks one of each: True where a node of `nodes` is the one to keep. No sorting; `owner` is scratch."""
    numbers = np.arange(len(nodes), dtype=np.int64)
    owner[nodes[::-1]] = numbers[::-1]
    kept: NDArray[np.bool_] = owner[nodes] == numbers
    return kept
