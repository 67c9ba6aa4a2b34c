"""The kernels in plain NumPy: over any adjacency, with masks, and without waiting for a compiler.

A frontier is an array of nodes. A search with one group marks the nodes it has seen in a borrowed array of one byte per
node; several groups are searched together, over the pairs group * node_count + node in sorted arrays. Both take time
proportional to the steps they reach, never to the size of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hoplite.engine import grouping
from hoplite.engine.hops import numpy_matches, numpy_pairs
from hoplite.engine.hops.expansion import breadth, chunked, gather, in_sorted, segments_of
from hoplite.engine.hops.interface import (
    UNLIMITED,
    Check,
    Counts,
    Excluded,
    Guide,
    Hop,
    Neighbourhoods,
    NodeBatch,
    Positions,
    SearchLevels,
    SettledSearch,
    Steps,
    TrailBatch,
    TrailQuota,
    unchecked,
)
from hoplite.engine.hops.numpy_trails import count_trails, enumerate_trails
from hoplite.engine.hops.pattern import EndCounts, Given, Pattern
from hoplite.engine.hops.scratch import Scratch, borrowed, distinct
from hoplite.engine.hops.search import Search
from hoplite.engine.hops.spread import Spread, from_bits

# Steps looked at between two calls of a check; this bounds what a hop from a huge frontier holds at once.
_PIECE = 1 << 18
# From this many steps on, from the frontiers of all groups and on average per group, groups are searched separately.
_WIDE, _WIDE_GROUP = 1 << 14, 256
# The same where partitions would be loaded for each group.
_WIDE_ON_DISK = 1 << 22


class NumpyBackend:
    """Needs nothing but NumPy; the others fall back on it."""

    name = "numpy"

    def expand(self, hop: Hop, nodes: Positions) -> Steps:
        return gather(hop, nodes, segments_of(hop, nodes))

    def bfs_levels(
        self,
        hop: Hop,
        groups: Positions,
        sources: Positions,
        upper: int | None,
        *,
        mark_starts: bool,
        excluded: Excluded | None = None,
        budget: int | None = None,
        check: Check = unchecked,
    ) -> SearchLevels:
        if len(groups) and groups[0] == groups[-1]:
            return _search_one_group(hop, groups, sources, upper, mark_starts, excluded, budget, check)
        try:
            return _search_groups(hop, groups, sources, upper, mark_starts, excluded, budget, check)
        except _TooWide:
            return _search_separately(hop, groups, sources, upper, mark_starts, excluded, budget, check)

    def bfs_nodes(
        self, hop: Hop, sources: Positions, upper: int | None, *, mark_starts: bool, check: Check = unchecked
    ) -> Positions:
        if not len(sources):
            return sources
        together = np.zeros(len(sources), dtype=np.int64)
        return _search_one_group(hop, together, sources, upper, mark_starts, None, None, check).nodes

    def settled_search(self, hop: Hop, upper: int | None, mark_starts: bool) -> SettledSearch | None:
        return None

    def bfs_batch(
        self,
        hop: Hop,
        offsets: Positions,
        sources: Positions,
        upper: int | None,
        *,
        mark_starts: bool,
        check: Check = unchecked,
    ) -> NodeBatch:
        if len(offsets) > 2 and not all(isinstance(side.partitions, tuple) for side in hop.sides):
            groups = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            try:  # together, so that a partition is loaded once for all groups
                together = _search_groups(
                    hop, groups, sources, upper, mark_starts, None, None, check, wide=_WIDE_ON_DISK
                )  # fmt: skip
                return NodeBatch(np.searchsorted(together.group, np.arange(len(offsets))), together.nodes)
            except _TooWide:
                pass
        found = [
            self.bfs_nodes(hop, sources[first:last], upper, mark_starts=mark_starts, check=check)
            for first, last in pairwise(offsets.tolist())
        ]
        ends = np.cumsum([0, *(len(nodes) for nodes in found)], dtype=np.int64)
        return NodeBatch(ends, np.concatenate([sources[:0], *found]))

    def neighbourhoods(
        self, hop: Hop, offsets: Positions, sources: Positions, most: int, *, check: Check = unchecked
    ) -> Neighbourhoods | None:
        return numpy_pairs.neighbourhoods(hop, offsets, sources, most, check)

    def count_pairs(
        self, pairs: Neighbourhoods, row_numbers: Positions, node_numbers: Positions, counts: Counts, *, by_rows: bool
    ) -> Positions:
        return numpy_pairs.count_pairs(pairs, row_numbers, node_numbers, counts, by_rows=by_rows)

    def count_matches(self, pattern: Pattern, given: Given, row_count: int, *, check: Check = unchecked) -> Positions:
        return numpy_matches.count_matches(pattern, given, row_count, check)

    def count_matches_by_end(
        self, pattern: Pattern, given: Given, row_count: int, *, check: Check = unchecked
    ) -> Iterator[EndCounts]:
        return numpy_matches.count_matches_by_end(pattern, given, row_count, check)

    def sums_for_all(self, hop: Hop, weights: Positions | None, *, check: Check = unchecked) -> Positions | None:
        return None

    def closing_lengths(
        self,
        hop: Hop,
        groups: Positions,
        sources: Positions,
        upper: int | None,
        *,
        excluded: Excluded | None = None,
        check: Check = unchecked,
    ) -> Positions:
        return _closing_lengths(hop, groups, sources, upper, excluded, check)

    def trails(
        self,
        hop: Hop,
        sources: Positions,
        lower: int,
        upper: int | None,
        *,
        guide: Guide | None = None,
        excluded: Excluded | None = None,
        quota: TrailQuota | None = None,
        chunk: int = 4096,
        check: Check = unchecked,
    ) -> Iterator[TrailBatch]:
        return enumerate_trails(hop, sources, lower, upper, guide, excluded, quota, chunk, check)

    def search(self, hop: Hop, source: int | Positions, scratch: Scratch) -> Search:
        return Search(hop, source, scratch)

    def spread(self, hop: Hop, scratch: Scratch) -> Spread:
        return Spread(hop, scratch)

    def from_bits(self, bits: NDArray[np.uint64]) -> Positions:
        return from_bits(bits)

    def count_trails(
        self,
        hop: Hop,
        sources: Positions,
        lower: int,
        upper: int | None,
        *,
        excluded: Excluded | None = None,
        check: Check = unchecked,
    ) -> Positions:
        return count_trails(hop, sources, lower, upper, excluded, check)


def _steps(
    hop: Hop, groups: Positions, frontier: Positions, excluded: Excluded | None, check: Check
) -> Iterator[Steps]:
    """The steps from a frontier in bounded pieces, without those that a node's group excludes."""
    for piece in chunked(hop, frontier, _PIECE):
        check()
        steps = gather(hop, frontier, piece.segments)
        if excluded is not None:
            kept = ~excluded.contains(groups[steps.row], steps.relationships)
            steps = Steps(steps.row[kept], steps.relationships[kept], steps.neighbours[kept])
        yield steps


def _search_one_group(
    hop: Hop,
    groups: Positions,
    sources: Positions,
    upper: int | None,
    mark_starts: bool,
    excluded: Excluded | None,
    budget: int | None,
    check: Check,
) -> SearchLevels:
    nodes, levels = [sources[:0]], [sources[:0]]
    with borrowed(hop.node_count) as scratch:
        mark = scratch.mark
        frontier = sources[distinct(sources, scratch.owner)]
        if mark_starts:
            mark[frontier] = 1
            nodes.append(frontier)
            levels.append(np.zeros(len(frontier), dtype=np.int64))
        level = 0
        while len(frontier) and (upper is None or level < upper):
            if budget is not None:
                budget -= breadth(hop, frontier)
                if budget < 0:
                    break
            level += 1
            entered = [sources[:0]]
            for steps in _steps(hop, groups[:1].repeat(len(frontier)), frontier, excluded, check):
                new = steps.neighbours[mark[steps.neighbours] == 0]
                new = new[distinct(new, scratch.owner)]
                mark[new] = 1
                entered.append(new)
            frontier = np.concatenate(entered)
            nodes.append(frontier)
            levels.append(np.full(len(frontier), level, dtype=np.int64))
        found = np.concatenate(nodes)
        mark[found] = 0
    group = np.full(len(found), groups[0], dtype=np.int64)
    return SearchLevels(group, found, np.concatenate(levels), level if len(frontier) else UNLIMITED)


class _TooWide(Exception):
    """The frontiers of several groups are so wide that keeping them sorted costs more than searching them
    separately."""


def _search_separately(
    hop: Hop,
    groups: Positions,
    sources: Positions,
    upper: int | None,
    mark_starts: bool,
    excluded: Excluded | None,
    budget: int | None,
    check: Check,
) -> SearchLevels:
    begins = np.flatnonzero(np.diff(groups, prepend=-1))
    share = None if budget is None else budget // len(begins)
    found = [
        _search_one_group(hop, groups[first:last], sources[first:last], upper, mark_starts, excluded, share, check)
        for first, last in zip(begins, np.append(begins, len(groups))[1:], strict=True)
    ]
    return SearchLevels(
        np.concatenate([one.group for one in found]),
        np.concatenate([one.nodes for one in found]),
        np.concatenate([one.level for one in found]),
        min(one.depth for one in found),
    )


def _search_groups(
    hop: Hop,
    groups: Positions,
    sources: Positions,
    upper: int | None,
    mark_starts: bool,
    excluded: Excluded | None,
    budget: int | None,
    check: Check,
    wide: int = _WIDE,
) -> SearchLevels:
    n = hop.node_count
    starts: Positions = grouping.distinct(groups * n + sources)
    seen = starts if mark_starts else starts[:0]
    keys, levels = [seen], [np.zeros(len(seen), dtype=np.int64)]
    frontier = starts
    level = 0
    while len(frontier) and (upper is None or level < upper):
        nodes = frontier % n
        width = breadth(hop, nodes)
        if width > wide and width > _WIDE_GROUP * len(groups):
            raise _TooWide
        if budget is not None:
            budget -= width
            if budget < 0:
                break
        level += 1
        frontier_groups = frontier // n
        entered = [starts[:0]]
        for steps in _steps(hop, frontier_groups, nodes, excluded, check):
            candidates: Positions = grouping.distinct(frontier_groups[steps.row] * n + steps.neighbours)
            entered.append(candidates[~in_sorted(candidates, seen)])
        new = entered[1] if len(entered) == 2 else grouping.distinct(np.concatenate(entered))
        seen = np.sort(np.concatenate((seen, new)), kind="stable")
        keys.append(new)
        levels.append(np.full(len(new), level, dtype=np.int64))
        frontier = new
    key, found_level = np.concatenate(keys), np.concatenate(levels)
    order = np.argsort(key // n, kind="stable")
    key = key[order]
    return SearchLevels(key // n, key % n, found_level[order], level if len(frontier) else UNLIMITED)


def _closing_lengths(
    hop: Hop, groups: Positions, sources: Positions, upper: int | None, excluded: Excluded | None, check: Check
) -> Positions:
    """Breadth-first search in which every node carries the source it was entered from (`origin`) and the first
    relationship taken (`label`). A relationship that joins two labels closes a trail of length level + level + 1: from
    one source to another, or from a source around to itself.

    A join between levels i <= j is met when level i is searched from, so half of `upper` is deep enough.
    """
    n = hop.node_count
    limit = UNLIMITED if upper is None else upper
    shortest = np.full(len(sources), UNLIMITED, dtype=np.int64)
    order = np.argsort(groups * n + sources)
    # Everything entered so far, by ascending key; label -1 stands for a source.
    keys, origins = (groups * n + sources)[order], order.astype(np.int64)
    labels, levels = np.full(len(order), -1, dtype=np.int64), np.zeros(len(order), dtype=np.int64)
    frontier = keys
    level = 0
    while len(frontier) and 2 * level + 1 <= limit:
        place = np.searchsorted(keys, frontier)
        from_group, from_origin, from_label = frontier // n, origins[place], labels[place]
        nodes = frontier % n
        entered = [frontier[:0]]
        for steps in _steps(hop, from_group, nodes, excluded, check):
            origin, label = from_origin[steps.row], from_label[steps.row]
            label = steps.relationships if level == 0 else label
            key = from_group[steps.row] * n + steps.neighbours
            new, first = np.unique(key, return_index=True)
            unseen = ~in_sorted(new, keys)
            new, first = new[unseen], first[unseen]
            at = np.searchsorted(keys, new)
            keys, origins = np.insert(keys, at, new), np.insert(origins, at, origin[first])
            labels, levels = np.insert(labels, at, label[first]), np.insert(levels, at, level + 1)
            entered.append(new)
            place = np.searchsorted(keys, key)
            other_origin, other_label, other_level = origins[place], labels[place], levels[place]
            # Back to its own source, by a self-loop or by a relationship other than the one it left by.
            home = (steps.relationships != label) | (level == 0)
            joins = (origin != other_origin) | np.where(other_label < 0, home, label != other_label)
            length = level + other_level + 1
            joins &= length <= limit
            np.minimum.at(shortest, origin[joins], length[joins])
            np.minimum.at(shortest, other_origin[joins], length[joins])
        frontier = np.concatenate(entered)
        level += 1
        # A group whose sources are all closed is done: deeper levels only close longer trails.
        is_open: Positions = grouping.distinct(groups[shortest == UNLIMITED])
        frontier = frontier[in_sorted(frontier // n, is_open)]
    return np.where(shortest == UNLIMITED, 0, shortest)
