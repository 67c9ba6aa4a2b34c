"""Compiled loops over pairs of a row and a node: the distinct neighbours of many groups, and how many different numbers
they have.

    near, far   (begins int64[n], ends int64[n], neighbours int32[m]): node v has the entries begins[v] .. ends[v];
                `far` is the side that an undirected hop follows too

Machine code is kept on disk, as that of `numba_kernels.py`.
"""

from __future__ import annotations

from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops.interface import Hop, Side
from hoplite.engine.hops.numba_arrays import as_compiled
from hoplite.engine.hops.numba_kernels import Ints, kernel
from hoplite.storage.incidence import Adjacency

Int32s: TypeAlias = NDArray[np.int32]
Entries: TypeAlias = tuple[Ints, Ints, Int32s]
_PREPARED = "numba pairs"


def entries_of(hop: Hop, asked: int) -> tuple[Entries, Entries, bool] | None:
    """What `neighbourhoods` begins with, of which so many nodes are asked for now; None where the hop is not plain, or
    where the entries of its types are no ranges that are written down."""
    known = hop.prepared.get(_PREPARED)
    if known is None:
        if not hop.is_plain or (hop.types is not None and len(hop.types) != 1):
            return None
        sides = [_side_entries(side, hop, asked) for side in hop.sides]
        if any(side is None for side in sides):
            return None
        known = hop.prepared[_PREPARED] = sides[0], sides[-1], hop.side is Side.BOTH
    return cast(tuple[Entries, Entries, bool], known)


def _side_entries(side: Adjacency, hop: Hop, asked: int) -> Entries | None:
    incidence = side.partitions[0]
    if incidence.indptr.dtype != np.int64 or incidence.neighbours.dtype != np.int32:
        return None
    neighbours = as_compiled(incidence.neighbours)
    if hop.types is None:
        return as_compiled(incidence.indptr[:-1]), as_compiled(incidence.indptr[1:]), neighbours
    ranges = incidence.ranges.of(int(hop.types[0]), incidence.indptr, incidence.types, asked)
    return None if ranges is None else (ranges[0], ranges[0] + ranges[1], neighbours)


@kernel
def _size(entries: Entries, node: int) -> int:
    return int(entries[1][node] - entries[0][node])


@kernel
def _entered(entries: Entries, node: int, mark: NDArray[np.uint8], found: Int32s, tail: int) -> int:
    """Put the neighbours that were not seen yet behind what was found; returns its new end."""
    begins, ends, neighbours = entries
    for entry in range(begins[node], ends[node]):
        # Without a branch: see `numba_ball.py`.
        neighbour = neighbours[entry]
        found[tail] = neighbour
        tail += int(mark[neighbour] == 0)
        mark[neighbour] = 1
    return tail


@kernel
def neighbourhoods(
    near: Entries, far: Entries, both: bool, offsets: Ints, sources: Ints, begin: int, work: int,
    mark: NDArray[np.uint8], counts: Ints,
) -> tuple[int, Int32s]:  # fmt: skip
    """The distinct neighbours of the groups from `begin` on, until more than `work` entries are read.

    Group g has the sources[offsets[g]:offsets[g + 1]], -1 for none. Returns the group to go on with, and the nodes,
    counts[g] of them for each group.
    """
    last, size = begin, 0
    while last < len(offsets) - 1 and size <= work:
        for place in range(offsets[last], offsets[last + 1]):
            if sources[place] >= 0:
                size += _size(near, sources[place])
                if both:
                    size += _size(far, sources[place])
        last += 1
    found = np.empty(size, np.int32)
    tail = 0
    for group in range(begin, last):
        first = tail
        for place in range(offsets[group], offsets[group + 1]):
            if sources[place] >= 0:
                tail = _entered(near, sources[place], mark, found, tail)
                if both:
                    tail = _entered(far, sources[place], mark, found, tail)
        for place in range(first, tail):
            mark[found[place]] = 0
        counts[group] = tail - first
    return last, found[:tail]


@kernel
def count_pairs(
    offsets: Ints, order: Ints, row_numbers: Ints, nodes: Int32s, node_numbers: Ints, by_rows: bool,
    stamp: Ints, counts: Ints,
) -> None:  # fmt: skip
    """Add the distinct pairs of numbers to counts[row's number] or counts[node's number]; a number below 0 counts not.

    `order` lists the rows by ascending number, so stamp[node's number], which is the row's number that it was last seen
    with, tells whether a pair was there before. It is -1 everywhere at first.
    """
    for row in order:
        number = row_numbers[row]
        if number < 0:
            continue
        for place in range(offsets[row], offsets[row + 1]):
            other = node_numbers[nodes[place]]
            if other >= 0 and stamp[other] != number:
                stamp[other] = number
                counts[number if by_rows else other] += 1
