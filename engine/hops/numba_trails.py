"""Trails, compiled: a depth-first search over the arrays of a plain adjacency that can be left and gone on with.

The arguments are those of `numba_kernels.py`. The search keeps its place in a small state and a stack as deep as a
trail is long, writes what it finds into arrays of bounded size, and comes back when one is full, when a bounded amount
of work is done (so that its caller may look at the clock), or at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops.interface import UNLIMITED, Booleans, Check, Excluded, Guide, Positions, Ration, TrailBatch
from hoplite.engine.hops.numba_kernels import (
    Flags,
    Ints,
    Lists,
    SideArrays,
    count_allowed,
    is_listed,
    kernel,
    run_end,
)
from hoplite.engine.hops.scratch import Scratch, borrowed

# Entries looked at between two calls of a check.
_WORK = 1 << 22
# Relationships in the first batch: so few that it costs nothing where LIMIT stops after it.
_FIRST_BATCH = 2048

# What `trails` says when it comes back.
DONE, FULL, TOO_DEEP, WORKED = 0, 1, 2, 3
# Places in the state that `trails` is given back to go on.
ROW, DEPTH, TRAILS, RELATIONSHIPS = 0, 1, 2, 3
STATE_SIZE = 4

Arrays: TypeAlias = tuple[SideArrays, SideArrays, bool, bool, Booleans]
_NO_MARK: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
_NO_LEVEL: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
_NONE: Positions = np.zeros(0, dtype=np.int64)


@kernel
def trails(
    outgoing: SideArrays,
    incoming: SideArrays,
    use_out: bool,
    use_in: bool,
    flags: Flags,
    excluded: Lists,
    sources: Ints,
    row_end: int,
    lower: int,
    upper: int,
    guided: bool,
    guide_depth: int,
    guide_mark: NDArray[np.uint8],
    guide_level: NDArray[np.int32],
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
    """A depth-first search that can be left and gone on with.

    Goes on from state (row, depth; depth -1: the row has not begun) up to `row_end`. Trails are written until an array
    is full, or only counted. Where `rationed`, row r is left when it has had left[r] more trails, and beyond[r] becomes
    the smallest length that a trail may have which the upper bound cut off.

    stack[k] is (entry to take next, end of the entries, side, relationship taken, node) for the node at depth k; the
    relationship leads to depth k + 1.
    """
    out_indptr, out_neighbours, out_types, out_relationships, out_first = outgoing
    in_indptr, in_neighbours, in_types, in_relationships, in_first = incoming
    any_type = len(flags) == 0
    has_excluded = len(excluded[0]) > 0
    last_by_degree = counting and not has_excluded and not (use_out and use_in)
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
            remaining = 0
            if node >= 0 and guided:
                remaining = guide_level[node] if guide_mark[node] else guide_depth + 1
            if rationed and node >= 0 and remaining > upper:
                beyond[row] = min(beyond[row], remaining)
            if node < 0 or remaining > upper or (rationed and left[row] <= 0):
                row += 1
                continue
            if lower == 0 and remaining == 0:
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
            stack[0, 4] = node
            stack[0, 2] = 0 if use_out else 1
            indptr_first = out_indptr[node] if use_out else in_indptr[node]
            indptr_last = out_indptr[node + 1] if use_out else in_indptr[node + 1]
            stack[0, 0] = indptr_first
            stack[0, 1] = indptr_last
            if last_by_degree and upper == 1:
                counts[row] += count_allowed(outgoing if use_out else incoming, flags, node)
                stack[0, 0] = indptr_last
            continue
        entry = stack[depth, 0]
        node = stack[depth, 4]
        if entry >= stack[depth, 1]:
            if stack[depth, 2] == 0 and use_in:
                stack[depth, 2] = 1
                stack[depth, 0] = in_indptr[node]
                stack[depth, 1] = in_indptr[node + 1]
                continue
            depth -= 1
            if depth < 0:
                row += 1
            continue
        if stack[depth, 2] == 0:
            if not any_type and not flags[min(out_types[entry], len(flags) - 1)]:
                stack[depth, 0] = run_end(out_types, entry, stack[depth, 1])
                continue
            neighbour = np.int64(out_neighbours[entry])
            relationship = out_relationships[entry] if len(out_relationships) else out_first + entry
        else:
            if not any_type and not flags[min(in_types[entry], len(flags) - 1)]:
                stack[depth, 0] = run_end(in_types, entry, stack[depth, 1])
                continue
            neighbour = np.int64(in_neighbours[entry])
            relationship = in_relationships[entry] if len(in_relationships) else in_first + entry
            if use_out and neighbour == node:
                stack[depth, 0] = entry + 1
                continue
        fresh = True
        for earlier in range(depth):
            if stack[earlier, 3] == relationship:
                fresh = False
                break
        length = depth + 1
        remaining = 0
        if fresh and guided:
            remaining = guide_level[neighbour] if guide_mark[neighbour] else guide_depth + 1
        if rationed and fresh and remaining > upper - length:
            beyond[row] = min(beyond[row], length + remaining)
        if not fresh or remaining > upper - length or (has_excluded and is_listed(excluded, row, relationship)):
            stack[depth, 0] = entry + 1
            continue
        if length < upper and length >= len(stack):
            status = TOO_DEEP
            break
        stack[depth, 3] = relationship
        if length >= lower and remaining == 0:
            if counting:
                counts[row] += 1
            else:
                if written >= len(found_row) or held + length > len(found):
                    status = FULL
                    break
                for earlier in range(length):
                    found[held + earlier] = stack[earlier, 3]
                for earlier in range(1, length):
                    found_nodes[held + earlier - 1] = stack[earlier, 4]
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
        stack[depth, 0] = entry + 1
        if length < upper:
            depth = length
            stack[depth, 4] = neighbour
            stack[depth, 2] = 0 if use_out else 1
            indptr_first = out_indptr[neighbour] if use_out else in_indptr[neighbour]
            indptr_last = out_indptr[neighbour + 1] if use_out else in_indptr[neighbour + 1]
            stack[depth, 0] = indptr_first
            stack[depth, 1] = indptr_last
            if last_by_degree and length + 1 == upper:
                # All that lead from here, less those that the trail left this node by before.
                ways = count_allowed(outgoing if use_out else incoming, flags, int(neighbour))
                for earlier in range(depth):
                    if stack[earlier, 4] == neighbour:
                        ways -= 1
                counts[row] += ways
                stack[depth, 0] = indptr_last
    state[ROW], state[DEPTH] = row, depth
    state[TRAILS], state[RELATIONSHIPS] = written, held
    return status


class Leads:
    """One table of a guide, laid out by node in lent arrays while a kernel reads it."""

    def __init__(self, guide: Guide, table: int, node_count: int) -> None:
        first, last = np.searchsorted(guide.keys, (table * node_count, (table + 1) * node_count))
        self.nodes = guide.keys[first:last] - table * node_count
        self.levels = guide.level[first:last]
        self.depth = guide.depth
        self.node_count = node_count

    def lay_out(self, scratch: Scratch) -> None:
        scratch.mark[self.nodes] = 1
        scratch.level[self.nodes] = self.levels

    def clear(self, scratch: Scratch) -> None:
        scratch.mark[self.nodes] = 0


class DepthFirst:
    """A search for trails between two runs of the kernel, and what it has found so far."""

    def __init__(
        self,
        arrays: Arrays,
        sources: Positions,
        lower: int,
        upper: int | None,
        excluded: Excluded | None,
        *,
        ration: Ration | None = None,
        counting: bool = False,
    ) -> None:
        self.ration = Ration(_NONE, _NONE) if ration is None else ration
        self.rationed = ration is not None
        self.sources = np.ascontiguousarray(sources)
        self.lower, self.upper = lower, UNLIMITED if upper is None else upper
        self.arrays = arrays
        self.lists = (_NONE, _NONE) if excluded is None else (excluded.offsets, excluded.relationships)
        self.counting = counting
        self.counts = np.zeros(len(sources) if counting else 0, dtype=np.int64)
        self.state = np.zeros(STATE_SIZE, dtype=np.int64)
        self.state[DEPTH] = -1
        self.stack = np.zeros((max(min(self.upper, 16), 1), 5), dtype=np.int64)
        self.room(0)

    def room(self, size: int) -> None:
        """New arrays to write to."""
        self.state[TRAILS] = self.state[RELATIONSHIPS] = 0
        self.row = np.empty(size, dtype=np.int64)
        self.ends = np.empty(size, dtype=np.int64)
        self.relationships = np.empty(size, dtype=np.int64)
        self.nodes = np.empty(size, dtype=np.int64)

    @property
    def is_empty(self) -> bool:
        return bool(self.state[TRAILS] == 0)

    def run(self, row_end: int, leads: Leads | None, size: int) -> int:
        """Go on until a bound is met; says which (`DONE` and so on)."""
        if self.is_empty and len(self.row) < size:
            self.room(size)
        if leads is None:
            return self._run(row_end, False, 0, _NO_MARK, _NO_LEVEL)
        with borrowed(leads.node_count) as scratch:
            leads.lay_out(scratch)
            status = self._run(row_end, True, leads.depth, scratch.mark, scratch.level)
            leads.clear(scratch)
        return status

    def _run(self, row_end: int, guided: bool, depth: int, mark: NDArray[np.uint8], level: NDArray[np.int32]) -> int:
        status = trails(
            *self.arrays, self.lists, self.sources, row_end, self.lower, self.upper,
            guided, depth, mark, level, self.counting, self.counts, self.rationed, *self.ration,
            _WORK, self.state, self.stack, self.row, self.ends, self.relationships, self.nodes,
        )  # fmt: skip
        if status == TOO_DEEP:
            self.stack = np.concatenate((self.stack, np.zeros_like(self.stack)))
        return status

    def batch(self) -> TrailBatch:
        """What was found since the last batch."""
        trails, held = self.state[TRAILS], self.state[RELATIONSHIPS]
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), self.ends[:trails]))
        found = TrailBatch(self.row[:trails], offsets, self.relationships[:held], self.nodes[:held])
        self.room(0)
        return found


def search_trails(
    arrays: Arrays,
    node_count: int,
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
    search = DepthFirst(arrays, sources, lower, upper, excluded, ration=ration)
    # Rows that are led by the same table of the guide are searched together.
    bounds = np.array([0, len(sources)])
    if guide is not None:
        bounds = np.concatenate(([0], np.flatnonzero(np.diff(guide.table)) + 1, [len(sources)]))
    size = _FIRST_BATCH
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        # The guide's arrays are lent only while the kernel runs: a caller may leave a batch and never come back.
        leads = None if guide is None else Leads(guide, int(guide.table[first]), node_count)
        status = FULL
        while status != DONE:
            check()
            status = search.run(last, leads, size)
            if status == FULL and search.is_empty:
                size *= 2
            elif status in (FULL, WORKED) and not search.is_empty:
                yield search.batch()
                size = max(min(2 * size, chunk), size)
    if not search.is_empty:
        yield search.batch()


def count_by_search(
    arrays: Arrays, sources: Positions, lower: int, upper: int | None, excluded: Excluded | None, check: Check
) -> Positions:
    """How many trails there are from each source."""
    search = DepthFirst(arrays, sources, lower, upper, excluded, counting=True)
    while search.run(len(sources), None, 0) != DONE:
        check()
    return search.counts
