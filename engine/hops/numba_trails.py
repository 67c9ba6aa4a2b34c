"""Trails, compiled: a depth-first search that can be suspended and resumed.

The search keeps its place in a small state and a stack as deep as a trail is long, writes what it finds to arrays of
bounded size, and returns when one is full, when a bounded amount of work is done (so that its caller may look at the
clock), when it needs the entries of a node that have not been read, or at the end.

It is written once for the arrays of a plain adjacency (here) and for entries read on demand (`numba_paged.py`): how
entries are found differs, and is left to four functions that each kernel passes in.

    begin(graph, stack, depth, node)   go to the first entry of a node
    advance(graph, stack, depth)       what comes next: (TAKEN, relationship, neighbour), (SKIPPED, ..) where an entry
                                       is passed over, (EXHAUSTED, ..) or (MISSING, ..)
    ways_from(graph, node)             how many entries a node has; below 0: that is not known
    to_go(graph, node)                 the least number of relationships from a node to a target, by the guide
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from hoplite.engine.hops.compiled import Bytes, Flags, Int32s, Ints, Table, inlined, kernel, unfolded
from hoplite.engine.hops.interface import (
    UNLIMITED,
    Check,
    Excluded,
    Guide,
    Positions,
    Side,
    TrailBatch,
    TrailQuota,
)
from hoplite.engine.hops.numba_arrays import lists_of
from hoplite.engine.hops.numba_kernels import IncidenceArrays, Lists, Plain, count_allowed, is_listed, run_end
from hoplite.engine.hops.scratch import borrowed
from hoplite.storage.value_index import NO_POSITIONS

# Entries looked at between two calls of a check.
_WORK = 1 << 22
# Relationships in the first batch: few enough to cost nothing if LIMIT stops after it.
_FIRST_BATCH = 2048

# Why a search returned.
DONE, FULL, TOO_DEEP, WORKED, MISSING = 0, 1, 2, 3, 4
# Further results of `advance`.
TAKEN, SKIPPED, EXHAUSTED = 5, 6, 7
# Places in the state: the row and depth of the search (-1: the row has not begun), and how much is written.
ROW, DEPTH, TRAILS, RELATIONSHIPS = 0, 1, 2, 3
STATE_SIZE = 4
# Columns of the stack, for the node at each depth: the next entry, the end of its entries, their side, and the
# relationship taken from it.
NEXT, END, SIDE, RELATIONSHIP, NODE = 0, 1, 2, 3, 4
STACK_WIDTH = 5
# Places in the bounds of a request.
LOWER, UPPER, COUNTING, BY_DEGREE, HAS_QUOTA = 0, 1, 2, 3, 4

_NO_MARKS: Bytes = np.zeros(0, dtype=np.uint8)
_NO_LEVELS: Int32s = np.zeros(0, dtype=np.int32)


class Request(NamedTuple):
    """What to search for: trails from each source or, with COUNTING, their number, into `counts`. BY_DEGREE: last
    relationships are counted by the degree of the node before them. HAS_QUOTA: row r ends after left[r] more trails,
    and beyond[r] becomes the least possible length of a trail that the upper bound cut off."""

    sources: Ints
    excluded: Lists
    bounds: Ints
    counts: Ints
    left: Ints
    beyond: Ints


class Room(NamedTuple):
    """What trails are written to: the row and end of each, their relationships, and the nodes these lead to."""

    row: Ints
    ends: Ints
    relationships: Ints
    nodes: Ints


class Guided(NamedTuple):
    """A plain hop and one table of a guide: node v has level[v] relationships to go if marked, else more than
    `beyond`."""

    hop: Plain
    mark: Bytes
    level: Int32s
    beyond: Ints


@inlined
def depth_first(
    begin: Any,
    advance: Any,
    ways_from: Any,
    to_go: Any,
    graph: Any,
    request: Request,
    room: Room,
    row_end: int,
    work: int,
    state: Ints,
    stack: Table,
) -> int:
    """Resume from the state, up to `row_end`; returns why it stopped."""
    excluded, bounds, counts = request.excluded, request.bounds, request.counts
    lower, upper = bounds[LOWER], bounds[UPPER]
    counting, by_degree, has_quota = bounds[COUNTING] != 0, bounds[BY_DEGREE] != 0, bounds[HAS_QUOTA] != 0
    has_excluded = len(excluded.offsets) > 0
    row, depth, written, held = state[ROW], state[DEPTH], state[TRAILS], state[RELATIONSHIPS]
    status = DONE
    while row < row_end and work > 0:
        work -= 1 + (depth >> 3)  # an entry is compared with all that the trail took before
        if depth < 0:
            outcome, written = start(begin, to_go, graph, request, room, stack, row, written, held)
            if outcome == FULL:
                status = FULL
                break
            depth, row = (0, row) if outcome == TAKEN else (-1, row + 1)
            continue
        if by_degree and depth + 1 == upper:
            outcome, relationship, neighbour = add_ways(ways_from, graph, stack, depth, row, counts), 0, 0
        else:
            outcome, relationship, neighbour = advance(graph, stack, depth)
        if outcome == SKIPPED:
            continue
        if outcome == EXHAUSTED:
            depth, row = depth - 1, row + (1 if depth == 0 else 0)
            continue
        if outcome == MISSING:
            status = MISSING
            break
        length = depth + 1
        fresh = is_fresh(stack, depth, relationship)
        remaining = to_go(graph, neighbour) if fresh else 0
        if has_quota and fresh and remaining > upper - length:
            request.beyond[row] = min(request.beyond[row], length + remaining)
        if not fresh or remaining > upper - length or (has_excluded and is_listed(excluded, row, relationship)):
            stack[depth, NEXT] += 1
            continue
        if length < upper and length >= len(stack):
            status = TOO_DEEP
            break
        stack[depth, RELATIONSHIP] = relationship
        if length >= lower and remaining == 0:
            if counting:
                counts[row] += 1
            elif written >= len(room.row) or held + length > len(room.relationships):
                status = FULL
                break
            else:
                held = write(room, stack, row, written, held, length, neighbour)
                written += 1
                if has_quota and is_used_up(request, row, length):
                    depth, row = -1, row + 1
                    continue
        stack[depth, NEXT] += 1
        if length < upper:
            depth = length
            begin(graph, stack, depth, neighbour)
    state[ROW], state[DEPTH], state[TRAILS], state[RELATIONSHIPS] = row, depth, written, held
    return WORKED if status == DONE and row < row_end else status


@unfolded
def start(
    begin: Any,
    to_go: Any,
    graph: Any,
    request: Request,
    room: Room,
    stack: Table,
    row: int,
    written: int,
    held: int,
) -> tuple[int, int]:
    """Begin with a row: TAKEN, EXHAUSTED where nothing leads on from its source, or FULL; and the trails written."""
    bounds, left, beyond = request.bounds, request.left, request.beyond
    upper, has_quota = bounds[UPPER], bounds[HAS_QUOTA] != 0
    node = request.sources[row]
    remaining = to_go(graph, node) if node >= 0 else 0
    if has_quota and node >= 0 and remaining > upper:
        beyond[row] = min(beyond[row], remaining)
    if node < 0 or remaining > upper or (has_quota and left[row] <= 0):
        return EXHAUSTED, written
    if bounds[LOWER] == 0 and remaining == 0:
        if bounds[COUNTING] != 0:
            request.counts[row] += 1
        else:
            if written >= len(room.row):
                return FULL, written
            room.row[written] = row
            room.ends[written] = held
            written += 1
            if has_quota:
                left[row] -= 1
    if has_quota and upper == 0:
        beyond[row] = min(beyond[row], 1)
    if upper == 0 or (has_quota and left[row] <= 0):
        return EXHAUSTED, written
    begin(graph, stack, 0, node)
    return TAKEN, written


@unfolded
def add_ways(ways_from: Any, graph: Any, stack: Table, depth: int, row: int, counts: Ints) -> int:
    """Count all that lead from a node, less those that the trail left it by before: EXHAUSTED, or MISSING."""
    node = stack[depth, NODE]
    ways = ways_from(graph, node)
    if ways < 0:
        return MISSING
    for earlier in range(depth):
        if stack[earlier, NODE] == node:
            ways -= 1
    counts[row] += ways
    return EXHAUSTED


@unfolded
def is_fresh(stack: Table, depth: int, relationship: int) -> bool:
    """Whether the trail has not taken a relationship yet."""
    earlier = 0
    while earlier < depth and stack[earlier, RELATIONSHIP] != relationship:
        earlier += 1
    return earlier == depth


@unfolded
def write(room: Room, stack: Table, row: int, written: int, held: int, length: int, last: int) -> int:
    """Write a trail that ends at a node; returns the relationships written so far."""
    for earlier in range(length):
        room.relationships[held + earlier] = stack[earlier, RELATIONSHIP]
    for earlier in range(1, length):
        room.nodes[held + earlier - 1] = stack[earlier, NODE]
    held += length
    room.nodes[held - 1] = last
    room.row[written] = row
    room.ends[written] = held
    return held


@unfolded
def is_used_up(request: Request, row: int, length: int) -> bool:
    """Take a trail off a row's quota; whether it has no more."""
    request.left[row] -= 1
    if length == request.bounds[UPPER]:
        request.beyond[row] = min(request.beyond[row], length + 1)
    return bool(request.left[row] <= 0)


@inlined
def begin_plain(graph: Guided, stack: Table, depth: int, node: int) -> None:
    stack[depth, NODE] = node
    side = 0 if graph.hop.follows[0] else 1
    indptr = graph.hop.outgoing.indptr if side == 0 else graph.hop.incoming.indptr
    stack[depth, SIDE] = side
    stack[depth, NEXT] = indptr[node]
    stack[depth, END] = indptr[node + 1]


@inlined
def entry_of(
    incidence: IncidenceArrays, flags: Flags, stack: Table, depth: int, drop_loops: bool
) -> tuple[int, int, int]:
    """The next entry of a node on one side."""
    entry = stack[depth, NEXT]
    if len(flags) > 0 and not flags[min(incidence.types[entry], len(flags) - 1)]:
        stack[depth, NEXT] = run_end(incidence.types, entry, stack[depth, END])
        return SKIPPED, 0, 0
    neighbour = int(incidence.neighbours[entry])
    if drop_loops and neighbour == stack[depth, NODE]:
        stack[depth, NEXT] += 1
        return SKIPPED, 0, 0
    relationships = incidence.relationships
    return TAKEN, relationships[entry] if len(relationships) else incidence.first[0] + entry, neighbour


@inlined
def advance_plain(graph: Guided, stack: Table, depth: int) -> tuple[int, int, int]:
    hop = graph.hop
    if stack[depth, NEXT] >= stack[depth, END]:
        if stack[depth, SIDE] == 1 or not hop.follows[1]:
            return EXHAUSTED, 0, 0
        node = stack[depth, NODE]
        stack[depth, SIDE] = 1
        stack[depth, NEXT] = hop.incoming.indptr[node]
        stack[depth, END] = hop.incoming.indptr[node + 1]
        return SKIPPED, 0, 0
    if stack[depth, SIDE] == 0:
        return entry_of(hop.outgoing, hop.flags, stack, depth, False)
    return entry_of(hop.incoming, hop.flags, stack, depth, hop.follows[0])


@inlined
def ways_from_plain(graph: Guided, node: int) -> int:
    return count_allowed(graph.hop.outgoing if graph.hop.follows[0] else graph.hop.incoming, graph.hop.flags, node)


@inlined
def to_go_plain(graph: Guided, node: int) -> int:
    if len(graph.mark) == 0:
        return 0
    return int(graph.level[node]) if graph.mark[node] else graph.beyond[0] + 1


@kernel
def plain_trails(
    graph: Guided, request: Request, room: Room, row_end: int, work: int, state: Ints, stack: Table
) -> int:
    """`depth_first` over a plain adjacency."""
    return depth_first(
        begin_plain, advance_plain, ways_from_plain, to_go_plain, graph, request, room, row_end, work, state, stack
    )


class TrailGraph(Protocol):
    """Where a search finds entries. It knows nodes by numbers, which need not be their positions."""

    can_count_by_degree: bool

    def numbers_of(self, nodes: Positions) -> Positions:
        """The numbers of some nodes."""
        ...

    def positions_of(self, numbers: Positions) -> Positions:
        """The nodes with these numbers."""
        ...

    def lead(self, guide: Guide, row: int) -> None:
        """Use the table of the guide that belongs to a row."""
        ...

    def run(self, search: TrailSearch, row_end: int) -> int:
        """Run the kernel until it returns for another reason than missing entries; returns the reason."""
        ...


class PlainGraph:
    """The arrays of a plain adjacency, where numbers are positions."""

    def __init__(self, hop: Plain, side: Side, node_count: int) -> None:
        self.can_count_by_degree = side is not Side.BOTH
        self._node_count = node_count
        self._hop = hop
        self._beyond = np.zeros(1, dtype=np.int64)
        self._unguided = Guided(hop, _NO_MARKS, _NO_LEVELS, self._beyond)
        self._led: tuple[Positions, Positions] | None = None

    def numbers_of(self, nodes: Positions) -> Positions:
        return np.ascontiguousarray(nodes)

    def positions_of(self, numbers: Positions) -> Positions:
        return numbers

    def lead(self, guide: Guide, row: int) -> None:
        table = int(guide.table[row])
        ends = table * self._node_count, (table + 1) * self._node_count
        first, last = np.searchsorted(guide.keys, ends)
        self._led = guide.keys[first:last] - ends[0], guide.level[first:last]
        self._beyond[0] = guide.depth

    def run(self, search: TrailSearch, row_end: int) -> int:
        if self._led is None:
            return plain_trails(self._unguided, *search.arguments(row_end))
        nodes, levels = self._led
        # The guide's arrays are borrowed only while the kernel runs: a caller may take a batch and never ask for more.
        with borrowed(self._node_count) as scratch:
            scratch.mark[nodes] = 1
            scratch.level[nodes] = levels
            graph = Guided(self._hop, scratch.mark, scratch.level, self._beyond)
            status = plain_trails(graph, *search.arguments(row_end))
            scratch.mark[nodes] = 0
        return status


class TrailSearch:
    """A search for trails between two runs of the kernel, and what it has found so far."""

    def __init__(
        self,
        graph: TrailGraph,
        sources: Positions,
        lower: int,
        upper: int | None,
        excluded: Excluded | None,
        check: Check,
        *,
        quota: TrailQuota | None = None,
        counting: bool = False,
    ) -> None:
        self.graph, self.check = graph, check
        self.sources = graph.numbers_of(sources)
        self.upper = UNLIMITED if upper is None else upper
        by_degree = counting and excluded is None and graph.can_count_by_degree
        self.request = Request(
            self.sources,
            lists_of(excluded),
            np.array((lower, self.upper, counting, by_degree, quota is not None), dtype=np.int64),
            np.zeros(len(sources) if counting else 0, dtype=np.int64),
            *((NO_POSITIONS, NO_POSITIONS) if quota is None else quota),
        )
        self.state = np.zeros(STATE_SIZE, dtype=np.int64)
        self.state[DEPTH] = -1
        self.stack = np.zeros((max(min(self.upper, 16), 1), STACK_WIDTH), dtype=np.int64)
        self._make_room(0)

    def _make_room(self, size: int) -> None:
        """Allocate new arrays to write to."""
        self.state[TRAILS] = self.state[RELATIONSHIPS] = 0
        self.room = Room(*np.empty((4, size), dtype=np.int64))

    @property
    def is_empty(self) -> bool:
        return bool(self.state[TRAILS] == 0)

    @property
    def counts(self) -> Positions:
        return self.request.counts

    def arguments(self, row_end: int) -> tuple[Request, Room, int, int, Ints, Table]:
        """The kernels' arguments after the graph."""
        return self.request, self.room, row_end, _WORK, self.state, self.stack

    def run(self, row_end: int, size: int) -> int:
        """Continue until it has a reason to stop, and return that (`DONE` and so on)."""
        if self.is_empty and len(self.room.row) < size:
            self._make_room(size)
        while True:
            self.check()
            status = self.graph.run(self, row_end)
            if status != TOO_DEEP:
                return status
            self.stack = np.concatenate((self.stack, np.zeros_like(self.stack)))

    def batch(self) -> TrailBatch:
        """The trails found since the last batch."""
        trails, held = self.state[TRAILS], self.state[RELATIONSHIPS]
        row, ends, relationships, nodes = self.room
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), ends[:trails]))
        found = TrailBatch(row[:trails], offsets, relationships[:held], self.graph.positions_of(nodes[:held]))
        self._make_room(0)
        return found


def search_trails(
    graph: TrailGraph,
    sources: Positions,
    lower: int,
    upper: int | None,
    guide: Guide | None,
    excluded: Excluded | None,
    quota: TrailQuota | None,
    chunk: int,
    check: Check,
) -> Iterator[TrailBatch]:
    """The trails from each source, in batches of about `chunk` relationships; the first ones are smaller."""
    if not len(sources):
        return
    search = TrailSearch(graph, sources, lower, upper, excluded, check, quota=quota)
    # Rows guided by the same table are searched together.
    bounds = np.array([0, len(sources)])
    if guide is not None:
        bounds = np.concatenate(([0], np.flatnonzero(np.diff(guide.table)) + 1, [len(sources)]))
    size = _FIRST_BATCH
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        if guide is not None:
            graph.lead(guide, first)
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


def count_trails(
    graph: TrailGraph, sources: Positions, lower: int, upper: int | None, excluded: Excluded | None, check: Check
) -> Positions:
    """How many trails there are from each source."""
    search = TrailSearch(graph, sources, lower, upper, excluded, check, counting=True)
    while search.run(len(sources), 0) != DONE:
        pass
    return search.counts
