"""Trails over partitions and a delta, compiled: a depth-first search over entries that are read when it comes to them.

The search (`numba_trails.py`) knows nothing of partitions. Nodes have numbers of their own there, in the order in which
they were first seen; the entries of one are copied together, from all partitions and the delta, before it is left:

    begin, end     int64[numbers]   its entries; begin -1: they have not been read
    degree         int64[numbers]   how many there are, where only that is known; -1: it is not
    neighbours     int64[entries]   numbers
    relationships  int64[entries]   positions

When it comes to a node that was not read it says so, and `Entries.read` reads that node together with others that the
search is likely to come to next: a few at first, so that a LIMIT costs little, then more and more. When too much is
held everything is dropped: a place in the entries of a node is kept as the distance from where they begin, and what
the search still stands on is read again.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from hoplite.engine.hops.compiled import Ints, Table, inlined, kernel
from hoplite.engine.hops.expansion import chunked, concatenated_ranges, degrees_by_segments, segments_of
from hoplite.engine.hops.interface import UNLIMITED, Check, Guide, Hop, Positions, Side
from hoplite.engine.hops.numba_arrays import NO_POSITIONS, as_compiled
from hoplite.engine.hops.numba_gather import gather_compiled
from hoplite.engine.hops.numba_trails import (
    BY_DEGREE,
    DEPTH,
    EXHAUSTED,
    MISSING,
    NEXT,
    NODE,
    ROW,
    TAKEN,
    Request,
    Room,
    TrailSearch,
    depth_first,
)

# Nodes that are read at once: at first, and at most. Entries that are read at once, and held.
_FEWEST_READ, _MOST_READ, _READ_ENTRIES = 32, 1 << 13, 1 << 18
_HELD_ENTRIES = 1 << 22
# Entries that are looked at for nodes to read at once, and steps away from the stack that find none.
_LOOKED_AT, _IDLE_STEPS = 1 << 16, 16


class Read(NamedTuple):
    """The entries that were read. remaining[k] is what a guide says of number k; of length 0 without a guide."""

    begin: Ints
    end: Ints
    degree: Ints
    neighbours: Ints
    relationships: Ints
    remaining: Ints


@inlined
def begin_read(graph: Read, stack: Table, depth: int, number: int) -> None:
    stack[depth, NODE] = number
    stack[depth, NEXT] = 0


@inlined
def advance_read(graph: Read, stack: Table, depth: int) -> tuple[int, int, int]:
    number = stack[depth, NODE]
    if graph.begin[number] < 0:
        return MISSING, 0, 0
    entry = graph.begin[number] + stack[depth, NEXT]
    if entry >= graph.end[number]:
        return EXHAUSTED, 0, 0
    return TAKEN, graph.relationships[entry], graph.neighbours[entry]


@inlined
def ways_from_read(graph: Read, number: int) -> int:
    return int(graph.end[number] - graph.begin[number] if graph.begin[number] >= 0 else graph.degree[number])


@inlined
def to_go_read(graph: Read, number: int) -> int:
    return graph.remaining[number] if len(graph.remaining) > 0 else 0


@kernel
def paged_trails(graph: Read, request: Request, room: Room, row_end: int, work: int, state: Ints, stack: Table) -> int:
    """`depth_first` over entries that are read on the way."""
    return depth_first(
        begin_read, advance_read, ways_from_read, to_go_read, graph, request, room, row_end, work, state, stack
    )


@kernel
def number_nodes(table: Ints, nodes: Ints, known: Ints, count: int, numbers: Ints) -> int:
    """The number of each node into `numbers`; one that has none gets the next. Returns how many there are.

    table[slot] is a number or -1, found from the node's own hash on; known[number] is the node. There is room in both.
    """
    last = len(table) - 1
    for place in range(len(nodes)):
        node = nodes[place]
        slot = (node * 0x9E3779B97F4A7C1 >> 16) & last
        while table[slot] >= 0 and known[table[slot]] != node:
            slot = (slot + 1) & last
        if table[slot] < 0:
            table[slot] = count
            known[count] = node
            count += 1
        numbers[place] = table[slot]
    return count


class Entries:
    """The entries that a search has read: of nodes by their numbers."""

    def __init__(self, hop: Hop) -> None:
        self.hop = hop
        self.count = 0  # of nodes that have a number
        self.known = np.empty(64, dtype=np.int64)
        self.table = np.full(256, -1, dtype=np.int64)
        self.begin = np.full(64, -1, dtype=np.int64)
        self.end = np.zeros(64, dtype=np.int64)
        self.degree = np.full(64, -1, dtype=np.int64)
        self.depth_seen = np.full(64, UNLIMITED, dtype=np.int64)  # the least depth at which one read has come to a node
        self.looked_at = 0  # entries, over all reads
        self.held = 0
        self.neighbours = np.empty(1024, dtype=np.int64)
        self.relationships = np.empty(1024, dtype=np.int64)
        self.remaining = NO_POSITIONS
        self._guide: Guide | None = None
        self._guided_row = 0
        self._ahead = _FEWEST_READ

    @property
    def arrays(self) -> Read:
        return Read(self.begin, self.end, self.degree, self.neighbours, self.relationships, self.remaining)

    def numbers_of(self, nodes: Positions) -> Positions:
        """The numbers of these nodes, new ones where they have none."""
        most = self.count + len(nodes)
        if most > len(self.known):
            size = max(2 * len(self.known), most)
            self.known = np.resize(self.known, size)
            none = np.full(size - len(self.begin), -1, dtype=np.int64)
            self.begin, self.degree = np.concatenate((self.begin, none)), np.concatenate((self.degree, none))
            self.depth_seen = np.concatenate((self.depth_seen, np.full(len(none), UNLIMITED, dtype=np.int64)))
            self.end = np.resize(self.end, size)
        if 2 * most > len(self.table):
            self.table = np.full(1 << (4 * most).bit_length(), -1, dtype=np.int64)
            numbered = self.known[: self.count].copy()
            number_nodes(self.table, numbered, self.known, 0, np.empty(self.count, dtype=np.int64))
        numbers = np.empty(len(nodes), dtype=np.int64)
        self.count = number_nodes(self.table, as_compiled(nodes), self.known, self.count, numbers)
        return numbers

    def lead(self, guide: Guide, row: int) -> None:
        """Be led by the table of the guide that belongs to a row."""
        self._guide, self._guided_row = guide, row
        self.remaining = NO_POSITIONS
        self._extend_guide()

    def _extend_guide(self) -> None:
        if self._guide is not None:
            new = self.known[len(self.remaining) : self.count]
            row = np.full(len(new), self._guided_row, dtype=np.int64)
            self.remaining = np.concatenate((self.remaining, self._guide.remaining(row, new)))

    def read(
        self, sources: Positions, row: int, stack: Table, depth: int, upper: int, by_degree: bool, check: Check
    ) -> None:
        """Read the node at a depth of the stack, and with it others that come next. `by_degree`: of the last node that
        a trail leaves, it is enough to know how many entries it has."""
        if self.held > _HELD_ENTRIES:
            self.begin[: self.count] = -1
            self.held = 0
            self._ahead = _FEWEST_READ
        ahead, depths = self._next_nodes(sources, row, stack, depth, upper)
        room, to_look_at, idle = self._ahead, _LOOKED_AT, 0
        seen = [ahead]
        while room > 0 and to_look_at > 0 and idle < _IDLE_STEPS and len(ahead):
            check()
            is_new = self.begin[ahead] < 0
            if by_degree:
                is_last = depths == upper - 1
                self._count(ahead[is_new & is_last])
                ahead, depths, is_new = ahead[~is_last], depths[~is_last], is_new[~is_last]
            wanted = ahead[is_new][:room]
            if self._append(wanted) < len(wanted):
                break
            room -= len(wanted)
            idle = 0 if len(wanted) else idle + 1
            # On through all of them: what was read before leads to nodes that were not.
            sizes = np.where(self.begin[ahead] < 0, 0, self.end[ahead] - self.begin[ahead])
            sizes[np.cumsum(sizes) > to_look_at] = 0
            entries = concatenated_ranges(self.begin[ahead], sizes)
            to_look_at -= len(entries)
            ahead, depths = self._ahead_of(self.neighbours[entries], np.repeat(depths + 1, sizes), upper)
            seen.append(ahead)
        self.looked_at += _LOOKED_AT - to_look_at
        self.depth_seen[np.concatenate(seen)] = UNLIMITED
        self._ahead = min(2 * self._ahead, _MOST_READ)

    def _next_nodes(
        self, sources: Positions, row: int, stack: Table, depth: int, upper: int
    ) -> tuple[Positions, Positions]:
        """The node at a depth of the stack, and those that are taken after it, the nearest first; and their depths."""
        wanted, count = [stack[depth, NODE : NODE + 1]], 1
        depths = [depth]
        for above in range(depth - 1, -1, -1):
            if count >= self._ahead:
                break
            node = stack[above, NODE]
            if self.begin[node] >= 0:
                first = int(self.begin[node] + stack[above, NEXT])
                wanted.append(self.neighbours[first : min(first + self._ahead, int(self.end[node]))])
                depths.append(above + 1)
                count += len(wanted[-1])
        if count < self._ahead:
            some = sources[row + 1 : row + 1 + self._ahead]
            wanted.append(some[some >= 0])
            depths.append(0)
        lengths = [len(numbers) for numbers in wanted]
        return self._ahead_of(np.concatenate(wanted), np.repeat(depths, lengths), upper)

    def _ahead_of(self, numbers: Positions, depths: Positions, upper: int) -> tuple[Positions, Positions]:
        """Those of some nodes, at depths, that a trail may lead through: once each, as they first occur.

        One that this read has seen before is left out, and so are those that it leads to, unless it is less deep now
        and a trail may lead further.
        """
        kept = (depths < upper) & (depths < self.depth_seen[numbers])
        if self._guide is not None:
            kept &= self.remaining[numbers] <= upper - depths
        numbers, depths = numbers[kept], depths[kept]
        _, first = np.unique(numbers, return_index=True)
        first.sort()
        numbers, depths = numbers[first], depths[first]
        self.depth_seen[numbers] = depths if upper < UNLIMITED else 0
        return numbers, depths

    def _count(self, numbers: Positions) -> None:
        """Only how many entries these nodes have: more is not asked of the last but one of a trail."""
        if len(numbers):
            counts = degrees_by_segments(self.hop, self.known[numbers])
            assert counts is not None
            self.degree[numbers] = counts

    def _append(self, numbers: Positions) -> int:
        """Read the entries of the first nodes, up to a bounded number of entries; returns how many nodes that was."""
        if not len(numbers):
            return 0
        hop, nodes = self.hop, self.known[numbers]
        piece = next(chunked(hop, nodes, _READ_ENTRIES), None)
        if piece is None:
            last, segments = len(nodes), []
        elif piece.is_whole:
            last, segments = piece.last, piece.segments
        elif piece.first:  # a hub comes next: the nodes before it have no entries
            last, segments = piece.first, []
        else:
            last, segments = 1, segments_of(hop, nodes[:1])
        steps = gather_compiled(hop, nodes, segments)
        size = self.held + len(steps.row)
        if size > len(self.neighbours):
            self.neighbours = np.resize(self.neighbours, max(2 * len(self.neighbours), size))
            self.relationships = np.resize(self.relationships, len(self.neighbours))
        ends = self.held + np.cumsum(np.bincount(steps.row, minlength=last)[:last])
        read = numbers[:last]
        neighbours = self.numbers_of(steps.neighbours)
        self.neighbours[self.held : size] = neighbours
        self.relationships[self.held : size] = steps.relationships
        self.end[read] = ends
        self.begin[read] = np.concatenate(([self.held], ends[:-1]))
        self.held = size
        self._extend_guide()
        return last


class PagedGraph:
    """A hop whose entries are read when a search comes to them."""

    def __init__(self, hop: Hop) -> None:
        self.can_count_by_degree = hop.side is not Side.BOTH
        self._hop = hop
        self._entries = Entries(hop)

    def numbers_of(self, nodes: Positions) -> Positions:
        numbers = np.full(len(nodes), -1, dtype=np.int64)
        there = np.flatnonzero(nodes >= 0)
        numbers[there] = self._entries.numbers_of(nodes[there])
        return numbers

    def positions_of(self, numbers: Positions) -> Positions:
        return self._entries.known[numbers]

    def lead(self, guide: Guide, row: int) -> None:
        self._entries.lead(guide, row)

    def run(self, search: TrailSearch, row_end: int) -> int:
        by_degree = bool(search.request.bounds[BY_DEGREE]) and self._has_degrees
        while True:
            status = paged_trails(self._entries.arrays, *search.arguments(row_end))
            if status != MISSING:
                return status
            row, depth = int(search.state[ROW]), int(search.state[DEPTH])
            self._entries.read(search.sources, row, search.stack, depth, search.upper, by_degree, search.check)
            search.check()

    @cached_property
    def _has_degrees(self) -> bool:
        """Whether the number of a node's entries is known without reading them."""
        return degrees_by_segments(self._hop, NO_POSITIONS) is not None
