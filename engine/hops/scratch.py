"""Arrays with one entry per node that searches borrow and return clean.

A hop from a handful of nodes must not take time proportional to the graph, so nothing here is allocated or cleared for
each query: a search clears the entries it set, and returns the arrays for the next one. A search that fails does not
return them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy import cached_property

# How many of each size are kept for later searches.
_KEPT = 4
_LARGEST_STAMP = 2**31 - 1


class Scratch:
    """Working arrays for one search over a graph of fewer than `size` nodes, each made on first use.

    marks     uint64[]       a bit for each node, 64 to a word; all zero when borrowed and when returned
    frontier  uint64[]       the same
    mark      uint8[size]    the same with a byte for each node
    order     int32[size]    this and the next four hold leftovers of earlier searches
    level     int32[size]
    queue     int64[size]
    owner     int64[size]
    label     int64[size]
    seen      uint64[size]   all zero when borrowed and when returned
    front     uint64[size]   leftovers
    coming    uint64[size]   all zero, as `seen`
    stamps    int32[size]    none is above `stamped`
    state     int64[]        a few numbers that a kernel keeps between calls; may be made longer

    Pages that are never written to take no memory.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.pool = pool_of(size - 1)  # where it is while not on loan
        self.marks: NDArray[np.uint64] = np.zeros(size // 64 + 1, dtype=np.uint64)
        self.state: NDArray[np.int64] = np.zeros(128, dtype=np.int64)
        self.stamped = 0

    @cached_property
    def frontier(self) -> NDArray[np.uint64]:
        return np.zeros(self.size // 64 + 1, dtype=np.uint64)

    @cached_property
    def mark(self) -> NDArray[np.uint8]:
        return np.zeros(self.size, dtype=np.uint8)

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
        """Reserve the next `count` stamps; returns the number below them, which no stamp in use exceeds."""
        if self.stamped + count > _LARGEST_STAMP:
            self.stamps[:] = 0
            self.stamped = 0
        before, self.stamped = self.stamped, self.stamped + count
        return before


# Arrays not on loan, by the bit length of their size. Taking and returning are atomic, so threads may share this.
_free: dict[int, list[Scratch]] = {}


def pool_of(size: int) -> list[Scratch]:
    """Where working arrays for graphs of this size are while not on loan."""
    return _free.setdefault(size.bit_length(), [])


def lend(size: int) -> Scratch:
    """Working arrays of at least `size` entries, to be given back clean, or not at all."""
    try:
        return pool_of(size).pop()
    except IndexError:
        return Scratch(1 << size.bit_length())


def give_back(scratch: Scratch) -> None:
    """Put working arrays back into the pool."""
    pool = scratch.pool
    if len(pool) < _KEPT:
        pool.append(scratch)


class borrowed:
    """`with borrowed(size) as scratch`: working arrays that are given back at the end, unless it is an error."""

    __slots__ = ("_scratch",)

    def __init__(self, size: int) -> None:
        self._scratch = lend(size)

    def __enter__(self) -> Scratch:
        return self._scratch

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            give_back(self._scratch)


def distinct(nodes: NDArray[np.int64], owner: NDArray[np.int64]) -> NDArray[np.bool_]:
    """True for exactly one occurrence of each node. No sorting; `owner` is scratch."""
    numbers = np.arange(len(nodes), dtype=np.int64)
    owner[nodes[::-1]] = numbers[::-1]
    kept: NDArray[np.bool_] = owner[nodes] == numbers
    return kept
