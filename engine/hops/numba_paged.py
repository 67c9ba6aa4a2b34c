"""Trails over partitions and a delta, compiled: a depth-first search over entries that are read when it comes to them.

The kernel knows nothing of partitions. It walks over nodes with numbers of their own, in the order in which they were
first seen; the entries of one are copied together, from all partitions and the delta, before it is walked through:

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

from collections.abc import Iterator

import numpy as np

from hoplite.engine.hops.expansion import chunked, concatenated_ranges, degrees_by_segments, segments_of
from hoplite.engine.hops.interface import UNLIMITED, Check, Excluded, Guide, Hop, Positions, Ration, Side, TrailBatch
from hoplite.engine.hops.numba_arrays import NO_POSITIONS, as_compiled
from hoplite.engine.hops.numba_gather import gather_compiled
from hoplite.engine.hops.numba_kernels import Ints, Lists, is_listed, kernel
from hoplite.engine.hops.numba_trails import DEPTH, DONE, FULL, RELATIONSHIPS, ROW, STATE_SIZE, TOO_DEEP, TRAILS, WORKED

# Says that the node on top of the stack has not been read.
MISSING = 4
# Entries looked at between two calls of a check, and relationships in the first batch.
_WORK, _FIRST_BATCH = 1 << 22, 2048
# Nodes that are read at once: at first, and at most. Entries that are read at once, and held.
_FEWEST_READ, _MOST_READ, _READ_ENTRIES = 32, 1 << 13, 1 << 18
_HELD_ENTRIES = 1 << 22
# Entries that are looked at for nodes to read at once, and steps away from the stack that find none.
_LOOKED_AT, _IDLE_STEPS = 1 << 16, 16


@kernel
def walk(
    begin: Ints,
    end: Ints,
    degree: Ints,
    neighbours: Ints,
    relationships: Ints,
    remaining: Ints,
    excluded: Lists,
    sources: Ints,
    row_end: int,
    lower: int,
    upper: int,
    last_by_degree: bool,
    counting: bool,
    counts: Ints,
    rationed: bool,
    left: Ints,
    beyond: Ints,
    work: int,
    state: Ints,
    stack: Ints,
    found_row: Ints,
    found_end: Ints,
    found: Ints,
    found_nodes: Ints,
) -> int:
    """The search of `numba_trails.trails` over entries that are read on the way.

    remaining[k] is what a guide says of number k; of length 0: there is no guide. stack[k] is (entry to take next,
    counted from the first of the node; relationship taken; number of the node) for the node at depth k.
    """
    guided = len(remaining) > 0
    has_excluded = len(excluded[0]) > 0
    row, depth = state[ROW], state[DEPTH]
    written, held = state[TRAILS], state[RELATIONSHIPS]
    status = DONE
    while row < row_end:
        if work <= 0:
            status = WORKED
            break
        work -= 1 + (depth >> 3)  # an entry is compared with all that the trail took before
        if depth < 0:
            node = sources[row]
            to_go = remaining[node] if guided and node >= 0 else 0
            if rationed and node >= 0 and to_go > upper:
                beyond[row] = min(beyond[row], to_go)
            if node < 0 or to_go > upper or (rationed and left[row] <= 0):
                row += 1
                continue
            if lower == 0 and to_go == 0:
                if counting:
                    counts[row] += 1
                else:
                    if written >= len(found_row):
                        status = FULL
                        break
                    found_row[written] = row
                    found_end[written] = held
                    written += 1
                    if rationed:
                        left[row] -= 1
            if rationed and upper == 0:
                beyond[row] = min(beyond[row], 1)
            if upper == 0 or (rationed and left[row] <= 0):
                row += 1
                continue
            depth = 0
            stack[0, 0] = 0
            stack[0, 2] = node
            continue
        node = stack[depth, 2]
        is_last = last_by_degree and depth + 1 == upper
        if begin[node] < 0 and not (is_last and degree[node] >= 0):
            status = MISSING
            break
        if is_last:
            # All that lead from here, less those that the trail left this node by before.
            ways = end[node] - begin[node] if begin[node] >= 0 else degree[node]
            for earlier in range(depth):
                if stack[earlier, 2] == node:
                    ways -= 1
            counts[row] += ways
            depth -= 1
            if depth < 0:
                row += 1
            continue
        entry = begin[node] + stack[depth, 0]
        if entry >= end[node]:
            depth -= 1
            if depth < 0:
                row += 1
            continue
        neighbour, relationship = neighbours[entry], relationships[entry]
        fresh = True
        for earlier in range(depth):
            if stack[earlier, 1] == relationship:
                fresh = False
                break
        length = depth + 1
        to_go = remaining[neighbour] if guided else 0
        if rationed and fresh and to_go > upper - length:
            beyond[row] = min(beyond[row], length + to_go)
        if not fresh or to_go > upper - length or (has_excluded and is_listed(excluded, row, relationship)):
            stack[depth, 0] += 1
            continue
        if length < upper and length >= len(stack):
            status = TOO_DEEP
            break
        stack[depth, 1] = relationship
        if length >= lower and to_go == 0:
            if counting:
                counts[row] += 1
            else:
                if written >= len(found_row) or held + length > len(found):
                    status = FULL
                    break
                for earlier in range(length):
                    found[held + earlier] = stack[earlier, 1]
                for earlier in range(1, length):
                    found_nodes[held + earlier - 1] = stack[earlier, 2]
                held += length
                found_nodes[held - 1] = neighbour
                found_row[written] = row
                found_end[written] = held
                written += 1
                if rationed:
                    left[row] -= 1
                    if length == upper:
                        beyond[row] = min(beyond[row], length + 1)
                    if left[row] <= 0:
                        depth = -1
                        row += 1
                        continue
        stack[depth, 0] += 1
        if length < upper:
            depth = length
            stack[depth, 0] = 0
            stack[depth, 2] = neighbour
    state[ROW], state[DEPTH] = row, depth
    state[TRAILS], state[RELATIONSHIPS] = written, held
    return status


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
    """The entries that a search has read: of nodes by their numbers, as `walk` takes them."""

    def __init__(self, hop: Hop, by_degree: bool) -> None:
        self.hop = hop
        self.by_degree = by_degree  # of the last node that a trail leaves, it is enough to know how many entries it has
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

    def read(self, sources: Positions, row: int, stack: Positions, depth: int, upper: int, check: Check) -> None:
        """Read the node at a depth of the stack, and with it others that come next."""
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
            if self.by_degree:
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
        self, sources: Positions, row: int, stack: Positions, depth: int, upper: int
    ) -> tuple[Positions, Positions]:
        """The node at a depth of the stack, and those that are taken after it, the nearest first; and their depths."""
        wanted, count = [stack[depth, 2:3]], 1
        depths = [depth]
        for above in range(depth - 1, -1, -1):
            if count >= self._ahead:
                break
            node = stack[above, 2]
            if self.begin[node] >= 0:
                first = int(self.begin[node] + stack[above, 0])
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

        One that this read has come to before is left out, for so are those that it leads to, unless it lies less deep
        now and a trail may lead further.
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
        """Read the first of some nodes, as many as have a bounded number of entries together; says how many."""
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


class PagedSearch:
    """A search for trails between two runs of the kernel, and what it has found so far."""

    def __init__(
        self,
        hop: Hop,
        sources: Positions,
        lower: int,
        upper: int | None,
        excluded: Excluded | None,
        check: Check,
        *,
        ration: Ration | None = None,
        counting: bool = False,
    ) -> None:
        self.last_by_degree = counting and excluded is None and hop.side is not Side.BOTH
        by_degree = self.last_by_degree and degrees_by_segments(hop, NO_POSITIONS) is not None
        self.entries = Entries(hop, by_degree)
        self.sources = np.full(len(sources), -1, dtype=np.int64)
        there = np.flatnonzero(sources >= 0)
        self.sources[there] = self.entries.numbers_of(sources[there])
        self.lower, self.upper = lower, UNLIMITED if upper is None else upper
        self.lists = (NO_POSITIONS, NO_POSITIONS) if excluded is None else (excluded.offsets, excluded.relationships)
        self.check = check
        self.ration = Ration(NO_POSITIONS, NO_POSITIONS) if ration is None else ration
        self.rationed = ration is not None
        self.counting = counting
        self.counts = np.zeros(len(sources) if counting else 0, dtype=np.int64)
        self.state = np.zeros(STATE_SIZE, dtype=np.int64)
        self.state[DEPTH] = -1
        self.stack = np.zeros((max(min(self.upper, 16), 1), 3), dtype=np.int64)
        self.room(0)

    def room(self, size: int) -> None:
        """New arrays to write to."""
        self.state[TRAILS] = self.state[RELATIONSHIPS] = 0
        self.row, self.ends, self.relationships, self.nodes = np.empty((4, size), dtype=np.int64)

    @property
    def is_empty(self) -> bool:
        return bool(self.state[TRAILS] == 0)

    def run(self, row_end: int, size: int) -> int:
        """Go on until a bound is met; says which (`DONE` and so on)."""
        if self.is_empty and len(self.row) < size:
            self.room(size)
        entries = self.entries
        while True:
            self.check()
            status = walk(
                entries.begin, entries.end, entries.degree, entries.neighbours, entries.relationships,
                entries.remaining, self.lists, self.sources, row_end, self.lower, self.upper, self.last_by_degree,
                self.counting, self.counts, self.rationed, *self.ration, _WORK, self.state, self.stack,
                self.row, self.ends, self.relationships, self.nodes,
            )  # fmt: skip
            if status == MISSING:
                row, depth = int(self.state[ROW]), int(self.state[DEPTH])
                entries.read(self.sources, row, self.stack, depth, self.upper, self.check)
            elif status == TOO_DEEP:
                self.stack = np.concatenate((self.stack, np.zeros_like(self.stack)))
            else:
                return status

    def batch(self) -> TrailBatch:
        """What was found since the last batch."""
        trails, held = self.state[TRAILS], self.state[RELATIONSHIPS]
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), self.ends[:trails]))
        nodes = self.entries.known[self.nodes[:held]]
        found = TrailBatch(self.row[:trails], offsets, self.relationships[:held], nodes)
        self.room(0)
        return found


def search_paged(
    hop: Hop,
    sources: Positions,
    lower: int,
    upper: int | None,
    guide: Guide | None,
    excluded: Excluded | None,
    ration: Ration | None,
    chunk: int,
    check: Check,
) -> Iterator[TrailBatch]:
    """The trails from each source, in batches of about `chunk` relationships, the first ones smaller."""
    if not len(sources):
        return
    search = PagedSearch(hop, sources, lower, upper, excluded, check, ration=ration)
    # Rows that are led by the same table of the guide are searched together.
    bounds = np.array([0, len(sources)])
    if guide is not None:
        bounds = np.concatenate(([0], np.flatnonzero(np.diff(guide.table)) + 1, [len(sources)]))
    size = _FIRST_BATCH
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        if guide is not None:
            search.entries.lead(guide, first)
        status = FULL
        while status != DONE:
            status = search.run(last, size)
            if status == FULL and search.is_empty:
                size *= 2
            elif status in (FULL, WORKED) and not search.is_empty:
                yield search.batch()
                size = max(min(2 * size, chunk), size)
    if not search.is_empty:
        yield search.batch()


def count_paged(
    hop: Hop, sources: Positions, lower: int, upper: int | None, excluded: Excluded | None, check: Check
) -> Positions:
    """How many trails there are from each source."""
    search = PagedSearch(hop, sources, lower, upper, excluded, check, counting=True)
    while search.run(len(sources), 0) != DONE:
        pass
    return search.counts
