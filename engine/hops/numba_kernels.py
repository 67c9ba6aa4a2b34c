"""Compiled kernels over the arrays of a plain adjacency: one fused loop for a whole search.

    outgoing, incoming  (indptr int64[n + 1], neighbours int32[m], types int32[m], relationships int64[m or 0], first)
                        relationships of length 0: entry e is relationship first + e
    use_out, use_in     which of the two a step reads; the other one is there to keep the signature the same
    flags               bool[codes + 1], by type code, the last for every larger code; of length 0: any type
    excluded            (offsets int64[groups + 1], relationships int64[]); offsets of length 0: nothing is excluded

Kernels run without the interpreter lock. Their machine code is kept on disk (`numba_cache.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops.numba_cache import KernelCache, kernel_folder

Ints: TypeAlias = NDArray[np.int64]
SideArrays: TypeAlias = tuple[Ints, NDArray[np.int32], NDArray[np.int32], Ints, int]
Lists: TypeAlias = tuple[Ints, Ints]
Flags: TypeAlias = NDArray[np.bool_]

_Function = TypeVar("_Function", bound=Callable[..., Any])

UNLIMITED = 1 << 40
_SEEN = 1


def kernel(function: _Function) -> _Function:
    """Compile a function on its first call with each combination of argument types, or load it from disk."""
    compiled: Any = numba.njit(nogil=True)(function)
    folder = kernel_folder()
    if folder is not None:
        compiled._cache = KernelCache(function, folder)
    return cast(_Function, compiled)


@kernel
def run_end(types: NDArray[np.int32], at: int, end: int) -> int:
    """The first entry after `at`, before `end`, with another type: galloping, then halving."""
    code = types[at]
    low, step = at + 1, 1
    while low < end and types[min(low + step, end) - 1] == code:
        low = min(low + step, end)
        step *= 2
    high = min(low + step, end)
    while low < high:
        middle = (low + high) // 2
        if types[middle] == code:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def is_listed(lists: Lists, number: int, relationship: int) -> bool:
    """Whether a list holds the relationship. Lists are short."""
    offsets, relationships = lists
    for place in range(offsets[number], offsets[number + 1]):  # noqa: SIM110
        if relationships[place] == relationship:
            return True
    return False


@kernel
def count_allowed(side: SideArrays, flags: Flags, node: int) -> int:
    """How many entries of a node have an allowed type."""
    indptr, _, types, _, _ = side
    at, end = indptr[node], indptr[node + 1]
    if len(flags) == 0:
        return int(end - at)
    total = 0
    while at < end:
        stop = run_end(types, at, end)
        if flags[min(types[at], len(flags) - 1)]:
            total += stop - at
        at = stop
    return total


@kernel
def fill_steps(
    side: SideArrays,
    flags: Flags,
    node: int,
    drop_loops: bool,
    number: int,
    row: Ints,
    found: Ints,
    neighbours_found: Ints,
    filled: int,
) -> int:
    """Write the steps from one node over one side; returns how many are written in all."""
    indptr, neighbours, types, relationships, first = side
    at, end = indptr[node], indptr[node + 1]
    while at < end:
        stop = end
        if len(flags) > 0:
            stop = run_end(types, at, end)
            if not flags[min(types[at], len(flags) - 1)]:
                at = stop
                continue
        for entry in range(at, stop):
            neighbour = neighbours[entry]
            if drop_loops and neighbour == node:
                continue
            row[filled] = number
            found[filled] = relationships[entry] if len(relationships) else first + entry
            neighbours_found[filled] = neighbour
            filled += 1
        at = stop
    return filled


@kernel
def expand(
    outgoing: SideArrays, incoming: SideArrays, use_out: bool, use_in: bool, flags: Flags, nodes: Ints
) -> tuple[Ints, Ints, Ints]:
    """One hop from each node: row, relationships, neighbours."""
    n = len(outgoing[0]) - 1
    total = 0
    for node in nodes:
        if 0 <= node < n:
            if use_out:
                total += count_allowed(outgoing, flags, node)
            if use_in:
                total += count_allowed(incoming, flags, node)
    row = np.empty(total, np.int64)
    found = np.empty(total, np.int64)
    neighbours = np.empty(total, np.int64)
    filled = 0
    for number in range(len(nodes)):
        node = nodes[number]
        if 0 <= node < n:
            if use_out:
                filled = fill_steps(outgoing, flags, node, False, number, row, found, neighbours, filled)
            if use_in:
                filled = fill_steps(incoming, flags, node, use_out, number, row, found, neighbours, filled)
    return row[:filled], found[:filled], neighbours[:filled]


@kernel
def push(
    side: SideArrays, flags: Flags, node: int, mark: NDArray[np.uint8], queue: NDArray[np.int32], tail: int
) -> int:
    """Put the neighbours that were not seen yet behind the queue; returns its new end."""
    indptr, neighbours, types, _, _ = side
    at, end = indptr[node], indptr[node + 1]
    while at < end:
        stop = end
        if len(flags) > 0:
            stop = run_end(types, at, end)
            if not flags[min(types[at], len(flags) - 1)]:
                at = stop
                continue
        for entry in range(at, stop):
            # Without a branch: see `numba_ball.py`.
            neighbour = neighbours[entry]
            queue[tail] = neighbour
            tail += int(mark[neighbour] == 0)
            mark[neighbour] = _SEEN
        at = stop
    return tail


@kernel
def push_allowed(
    side: SideArrays,
    flags: Flags,
    excluded: Lists,
    group: int,
    node: int,
    mark: NDArray[np.uint8],
    queue: NDArray[np.int32],
    tail: int,
) -> int:
    """`push`, less the relationships that the group excludes."""
    indptr, neighbours, types, relationships, first = side
    for entry in range(indptr[node], indptr[node + 1]):
        neighbour = neighbours[entry]
        if mark[neighbour] == 0 and (len(flags) == 0 or flags[min(types[entry], len(flags) - 1)]):
            relationship = relationships[entry] if len(relationships) else first + entry
            if not is_listed(excluded, group, relationship):
                mark[neighbour] = _SEEN
                queue[tail] = neighbour
                tail += 1
    return tail


@kernel
def grown(array: Ints, used: int, wanted: int) -> Ints:
    """The array, or a larger copy of it that holds `wanted` entries."""
    if wanted <= len(array):
        return array
    larger = np.empty(wanted if used == 0 else max(wanted, 2 * len(array)), np.int64)
    larger[:used] = array[:used]
    return larger


@kernel
def arrivals(
    outgoing: SideArrays,
    incoming: SideArrays,
    use_out: bool,
    use_in: bool,
    flags: Flags,
    excluded: Lists,
    first_of: Ints,
    sources: Ints,
    begin: int,
    upper: int,
    mark_starts: bool,
    budget: int,
    work: int,
    mark: NDArray[np.uint8],
    queue: NDArray[np.int32],
    counts: Ints,
) -> tuple[int, int, Ints, Ints]:
    """Breadth-first searches of the groups from `begin` on, until they have found more than `work` nodes.

    Group g starts from sources[first_of[g]:first_of[g + 1]]. Returns the group to go on with, the depth up to which all
    of these searches are complete, and nodes and levels, counts[g] of them for each group.
    """
    found = np.empty(0, np.int64)
    levels = np.empty(0, np.int64)
    used, depth = 0, UNLIMITED
    has_excluded = len(excluded[0]) > 0
    group = begin
    while group < len(first_of) - 1 and used <= work:
        head, tail, level, left = 0, 0, 0, budget
        first_found = used
        # The sources are the first frontier, whether they are marked or not.
        from_sources = not mark_starts
        if mark_starts:
            for place in range(first_of[group], first_of[group + 1]):
                source = sources[place]
                if mark[source] == 0:
                    mark[source] = _SEEN
                    queue[tail] = source
                    tail += 1
        while (head < tail or from_sources) and level < upper:
            level_end = tail
            size = first_of[group + 1] - first_of[group] if from_sources else level_end - head
            if budget >= 0:
                for number in range(size):
                    node = int(sources[first_of[group] + number] if from_sources else queue[head + number])
                    if use_out:
                        left -= outgoing[0][node + 1] - outgoing[0][node]
                    if use_in:
                        left -= incoming[0][node + 1] - incoming[0][node]
                if left < 0:
                    break
            found, levels = grown(found, used, used + tail - head), grown(levels, used, used + tail - head)
            for place in range(head, tail):
                found[used] = queue[place]
                levels[used] = level
                used += 1
            level += 1
            for number in range(size):
                node = int(sources[first_of[group] + number] if from_sources else queue[head + number])
                if has_excluded:
                    if use_out:
                        tail = push_allowed(outgoing, flags, excluded, group, node, mark, queue, tail)
                    if use_in:
                        tail = push_allowed(incoming, flags, excluded, group, node, mark, queue, tail)
                else:
                    if use_out:
                        tail = push(outgoing, flags, node, mark, queue, tail)
                    if use_in:
                        tail = push(incoming, flags, node, mark, queue, tail)
            head = level_end
            from_sources = False
        found, levels = grown(found, used, used + tail - head), grown(levels, used, used + tail - head)
        for place in range(head, tail):
            found[used] = queue[place]
            levels[used] = level
            used += 1
        if head < tail:
            depth = min(depth, level)
        for place in range(tail):
            mark[queue[place]] = 0
        counts[group] = used - first_found
        group += 1
    return group, depth, found[:used], levels[:used]


@kernel
def join(
    side: SideArrays,
    flags: Flags,
    excluded: Lists,
    group: int,
    node: int,
    level: int,
    limit: int,
    drop_loops: bool,
    mark: NDArray[np.uint8],
    queue: Ints,
    levels: NDArray[np.int32],
    origins: Ints,
    labels: Ints,
    shortest: Ints,
    tail: int,
) -> int:
    """One node of `closings`: enter its neighbours, and note the trails that its relationships close."""
    indptr, neighbours, types, relationships, first = side
    at, end = indptr[node], indptr[node + 1]
    origin = origins[node]
    while at < end:
        stop = end
        if len(flags) > 0:
            stop = run_end(types, at, end)
            if not flags[min(types[at], len(flags) - 1)]:
                at = stop
                continue
        for entry in range(at, stop):
            neighbour = neighbours[entry]
            relationship = relationships[entry] if len(relationships) else first + entry
            if drop_loops and neighbour == node:
                continue
            if len(excluded[0]) > 0 and is_listed(excluded, group, relationship):
                continue
            label = relationship if level == 0 else labels[node]
            if mark[neighbour] == 0:
                mark[neighbour] = _SEEN
                levels[neighbour] = level + 1
                origins[neighbour] = origin
                labels[neighbour] = label
                queue[tail] = neighbour
                tail += 1
                continue
            other = origins[neighbour]
            if other != origin:
                closes = True
            elif labels[neighbour] < 0:
                closes = level == 0 or relationship != label
            else:
                closes = label != labels[neighbour]
            length = level + levels[neighbour] + 1
            if closes and length <= limit:
                shortest[origin] = min(shortest[origin], length)
                shortest[other] = min(shortest[other], length)
        at = stop
    return tail


@kernel
def closings(
    outgoing: SideArrays,
    incoming: SideArrays,
    flags: Flags,
    excluded: Lists,
    first_of: Ints,
    sources: Ints,
    begin: int,
    limit: int,
    work: int,
    mark: NDArray[np.uint8],
    queue: Ints,
    levels: NDArray[np.int32],
    origins: Ints,
    labels: Ints,
    shortest: Ints,
) -> int:
    """Undirected: the shortest trail into each source from a source of its group, into `shortest` (UNLIMITED: none).

    Returns the group to go on with. The search is described in numpy_backend.py.
    """
    group, done = begin, 0
    while group < len(first_of) - 1 and done <= work:
        tail = 0
        for place in range(first_of[group], first_of[group + 1]):
            node = sources[place]
            queue[tail] = node
            mark[node] = _SEEN
            levels[node] = 0
            origins[node] = place
            labels[node] = -1
            tail += 1
        head, level = 0, 0
        while head < tail and 2 * level + 1 <= limit:
            level_end = tail
            for place in range(head, level_end):
                node = queue[place]
                tail = join(
                    outgoing, flags, excluded, group, node, level, limit, False,
                    mark, queue, levels, origins, labels, shortest, tail,
                )  # fmt: skip
                tail = join(
                    incoming, flags, excluded, group, node, level, limit, True,
                    mark, queue, levels, origins, labels, shortest, tail,
                )  # fmt: skip
            head = level_end
            level += 1
            is_open = False
            for place in range(first_of[group], first_of[group + 1]):
                if shortest[place] == UNLIMITED:
                    is_open = True
            if not is_open:
                break
        for place in range(tail):
            mark[queue[place]] = 0
        done += tail
        group += 1
    return group
