"""Trails over partitions and a delta, compiled: a depth-first search over entries that are read as it reaches them.

The search (`numba_trails.py`) knows nothing of partitions. It numbers nodes in the order they are first seen; before it
steps from a node, the node's entries are copied together from all partitions and the delta:

    begin, end     int64[numbers]   its entries; begin is -1 if they have not been read
    degree         int64[numbers]   how many there are, where only that is known, else -1
    neighbours     int64[entries]   numbers
    relationships  int64[entries]   positions

When the search reaches a node that was not read, it returns, and `Entries.read` reads that node together with others
that the search is likely to reach next: a few at first, so that a LIMIT costs little, then more and more. When too much
is held, everything is dropped: places in a node's entries are stored as offsets from their beginning, and what the
search still stands on is read again.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from hoplite.engine.hops.compiled import Ints, Table, inlined, kernel
from hoplite.engine.hops.expansion import chunked, concatenated_ranges, degrees_by_segments, segments_of
from hoplite.engine.hops.interface import UNLIMITED, Check, Guide, Hop, Positions, Side
from hoplite.engine.hops.numba_arrays import as_compiled
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
from hoplite.storage.value_index import NO_POSITIONS

# Nodes read at once, at first and at most; entries read at once, and held.
_FEWEST_READ, _MOST_READ, _READ_ENTRIES = 32, 1 << 13, 1 << 18
_HELD_ENTRIES = 1 << 22
# Entries looked at to find nodes to read ahead, and steps from the stack without finding any before it gives up.
_LOOKED_AT, _IDLE_STEPS = 1 << 16, 16


class Read(NamedTuple):
    """The entries read so far. remaining[k] is what the guide says of number k; of length 0 without a guide."""

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
    """`depth_first` over entries that are read on demand."""
    return depth_first(
        begin_read, advance_read, ways_from_read, to_go_read, graph, request, room, row_end, work, state, stack
    )


@kernel
def number_nodes(table: Ints, nodes: Ints, known: Ints, count: int, numbers: Ints) -> int:
    """Write the number of each node to `numbers`; new nodes get the next ones. Returns how many numbers are in use.

    table[slot] is a number or -1, probed from the node's hash on; known[number] is the node. Both have room.
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
    """The entries that a search has read, by the number of their node."""

    def __init__(self, hop: Hop) -> None:
        self.hop = hop
        self.count = 0  # of nodes by number
        self.known = np.empty(64, dtype=np.int64)
        self.table = np.full(256, -1, dtype=np.int64)
        self.begin = np.full(64, -1, dtype=np.int64)
        self.end = np.zeros(64, dtype=np.int64)
        self.degree = np.full(64, -1, dtype=np.int64)
        self.depth_seen = np.full(64, UNLIMITED, dtype=np.int64)  # the least depth where a read met a node
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
        """The numbers of these nodes; new nodes get new ones."""
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
        """Use the table of the guide that belongs to a row."""
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
        """Read the node at a depth of the stack, and others that come next. `by_degree`: of the last node that a trail
        leaves, only the number of entries is needed."""
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
            # Go on through all of them: nodes read before lead to others that were not.
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
        """The node at a depth of the stack and those that come after it, nearest first, with their depths."""
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
        """The distinct nodes among some, at given depths, that a trail may lead through, in order of occurrence.

        A node that this read has met before is left out, and with it those it leads to, unless it is less deep now, so
        that a trail may lead further.
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
        """Count the entries of these nodes without reading them: enough for a trail's last node but one."""
        if len(numbers):
            counts = degrees_by_segments(self.hop, self.known[numbers])
            assert counts is not None
            self.degree[numbers] = counts

    def _append(self, numbers: Positions) -> int:
        """Read the entries of as many nodes as a bounded number of entries allows; returns how many nodes that was."""
        if not len(numbers):
            return 0
        hop, nodes = self.hop, self.known[numbers]
        piece = next(chunked(hop, nodes, _READ_ENTRIES), None)
        if piece is None:
            last, segments = len(nodes), []
        elif piece.is_whole:
            last, segments = piece.last, piece.segments
        elif piece.first:  # a hub, after nodes without entries
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
    """A hop whose entries are read when a search reaches them."""

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
