"""Compiled loops over pairs of a row and a node: the distinct neighbours of many groups, and how many distinct numbers
they have.

`near` is the side that is followed; `far`, the other one, which an undirected hop also follows.

A node that a group enters is stamped with the group's number, so that nothing has to be cleared between groups or
between calls: stamps continue from the last one (`Scratch.stamped`).
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from hoplite.engine.hops.compiled import Int32s, Ints, inlined, kernel
from hoplite.engine.hops.expansion import is_among
from hoplite.engine.hops.interface import Check, Counts, Hop, Neighbourhoods, Positions, Side
from hoplite.engine.hops.numba_arrays import as_compiled
from hoplite.engine.hops.numba_kernels import fetch_ahead
from hoplite.engine.hops.scratch import borrowed
from hoplite.storage.incidence import Adjacency

_PREPARED = "numba pairs"
_WORK = 1 << 22  # entries looked at between two calls of a check
_WORTH = 8  # once one node in this many has been asked for, the entries of a type are stored
_LARGEST = 1 << 22  # nodes; graphs beyond that lack memory


class Entries(NamedTuple):
    """Node v has the entries begins[v] .. ends[v]."""

    begins: Ints
    ends: Ints
    neighbours: Int32s


class Groups(NamedTuple):
    """Group g has the sources[offsets[g]:offsets[g + 1]], -1 for none."""

    offsets: Ints
    sources: Ints


def entries_of(hop: Hop, asked: int) -> tuple[Entries, Entries, bool] | None:
    """The arguments that the loops begin with, to look up `asked` nodes; None if the hop is not plain, or if storing
    the entries of its types does not pay yet."""
    known = hop.prepared.get(_PREPARED)
    if not isinstance(known, tuple):
        before = known if isinstance(known, int) else 0
        hop.prepared[_PREPARED] = before + asked
        if not hop.is_plain or not _pays(hop, before + asked):
            return None
        sides = [_side_entries(side, hop) for side in hop.sides]
        if any(side is None for side in sides):
            return None
        known = hop.prepared[_PREPARED] = sides[0], sides[-1], hop.side is Side.BOTH
    return cast(tuple[Entries, Entries, bool], known)


def _pays(hop: Hop, asked: int) -> bool:
    return hop.types is None or (hop.node_count <= _LARGEST and asked * _WORTH >= hop.node_count)


def _side_entries(side: Adjacency, hop: Hop) -> Entries | None:
    """The entries of a side. Those of some types are copied together: they are read over and over, and so stay in the
    processor's cache."""
    incidence = side.partitions[0]
    indptr, neighbours = incidence.indptr, incidence.neighbours
    if indptr.dtype != np.int64 or neighbours.dtype != np.int32:
        return None
    if hop.types is not None:
        kept = is_among(incidence.types, hop.types)
        before = np.zeros(len(kept) + 1, dtype=np.int64)
        np.cumsum(kept, out=before[1:])
        indptr, neighbours = before[indptr], neighbours[kept]
    indptr = as_compiled(indptr)
    return Entries(indptr[:-1], indptr[1:], as_compiled(neighbours))


def find(
    entries: tuple[Entries, Entries, bool],
    node_count: int,
    offsets: Positions,
    sources: Positions,
    most: int,
    check: Check,
) -> Neighbourhoods | None:
    """The distinct neighbours of the sources of each group; None if there are more than `most`."""
    groups = Groups(as_compiled(offsets), as_compiled(sources))
    counts = np.zeros(len(offsets) - 1, dtype=np.int64)
    found: list[Int32s] = []
    begin, seen, total = 0, 0, 0
    with borrowed(node_count) as scratch:
        before = scratch.stamps_for(len(counts))
        while begin < len(counts) and total <= most:
            check()
            last, size = count_entries(*entries, groups, begin, _WORK)
            nodes = np.empty(size, dtype=np.int32)
            entered, seen = find_neighbours(
                *entries, groups, begin, last, scratch.stamps, before, scratch.order, seen, counts, nodes
            )
            found.append(nodes[:entered])
            total += entered
            begin = last
        every = scratch.order[:seen].astype(np.int64)
    if total > most:
        return None
    ends = np.zeros(len(offsets), dtype=np.int64)
    np.cumsum(counts, out=ends[1:])
    return Neighbourhoods(
        ends, found[0] if len(found) == 1 else np.concatenate([every[:0].astype(np.int32), *found]), every
    )


@inlined
def _entered(
    entries: Entries,
    node: int,
    stamps: Int32s,
    before: int,
    mine: int,
    found: Int32s,
    tail: int,
    every: Int32s,
    seen: int,
) -> tuple[int, int]:
    """Append neighbours new to the group to `found`, and those new to all groups to `every`; returns the new ends of
    both."""
    begins, ends, neighbours = entries
    for entry in range(begins[node], ends[node]):
        # Without a branch: see `numba_bfs.py`.
        neighbour = neighbours[entry]
        stamp = stamps[neighbour]
        found[tail] = neighbour
        tail += int(stamp != mine)
        every[seen] = neighbour
        seen += int(stamp <= before)
        stamps[neighbour] = mine
    return tail, seen


@kernel
def count_entries(near: Entries, far: Entries, both: bool, groups: Groups, begin: int, work: int) -> tuple[int, int]:
    """Groups from `begin` on that together just exceed `work` entries: where they end, and the number of entries."""
    last, size = begin, 0
    while last < len(groups.offsets) - 1 and size <= work:
        for place in range(groups.offsets[last], groups.offsets[last + 1]):
            source = groups.sources[place]
            if source >= 0:
                size += near.ends[source] - near.begins[source]
                if both:
                    size += far.ends[source] - far.begins[source]
        last += 1
    return last, size


@kernel
def find_neighbours(
    near: Entries, far: Entries, both: bool, groups: Groups, begin: int, last: int,
    stamps: Int32s, before: int, every: Int32s, seen: int, counts: Ints, found: Int32s,
) -> tuple[int, int]:  # fmt: skip
    """The distinct neighbours of some groups, counts[g] for each. No stamp exceeds `before` at first. Returns how many
    there are, and the end of `every`."""
    tail = 0
    for group in range(begin, last):
        first, mine = tail, before + 1 + group
        for place in range(groups.offsets[group], groups.offsets[group + 1]):
            fetch_ahead(
                near.begins, near.neighbours, near.neighbours, False, groups.sources, place, len(groups.sources)
            )
            source = groups.sources[place]
            if source >= 0:
                tail, seen = _entered(near, source, stamps, before, mine, found, tail, every, seen)
                if both:
                    tail, seen = _entered(far, source, stamps, before, mine, found, tail, every, seen)
        counts[group] = tail - first
    return tail, seen


def count(
    pairs: Neighbourhoods, row_numbers: Positions, node_numbers: Positions, counts: Counts, by_rows: bool
) -> Positions:
    """The distinct pairs of numbers, counted by one of the two; `pairs` has nodes of 32 bits."""
    ascending = bool((row_numbers[1:] >= row_numbers[:-1]).all())
    order = np.arange(len(row_numbers)) if ascending else np.argsort(row_numbers, kind="stable")
    totals = np.zeros(counts[0] if by_rows else counts[1], dtype=np.int64)
    stamp = np.full(counts[1], -1, dtype=np.int64)
    count_numbers(
        as_compiled(pairs.offsets), order, as_compiled(row_numbers), as_compiled(pairs.nodes),
        as_compiled(node_numbers), by_rows, stamp, totals,
    )  # fmt: skip
    return totals


@kernel
def count_numbers(
    offsets: Ints, order: Ints, row_numbers: Ints, nodes: Int32s, node_numbers: Ints, by_rows: bool,
    stamp: Ints, totals: Ints,
) -> None:  # fmt: skip
    """Add the distinct pairs of numbers to totals[row's number] or totals[node's number]; negative numbers do not
    count.

    `order` lists the rows by ascending number, so stamp[node's number], the row's number it was last seen with, tells
    whether a pair is new. It is -1 everywhere at first.
    """
    for row in order:
        number = row_numbers[row]
        if number < 0:
            continue
        new = 0
        for place in range(offsets[row], offsets[row + 1]):
            other = node_numbers[nodes[place]]
            if other >= 0:
                is_new = int(stamp[other] != number)
                stamp[other] = number
                new += is_new
                if not by_rows:
                    totals[other] += is_new
        if by_rows:
            totals[number] += new
