"""The kernels compiled with Numba. A plain adjacency (one partition, nothing above it, no masks) is searched in one
fused loop, any other one level by level (`numba_levels.py`). What is left runs in NumPy.

The first use compiles (seconds) and keeps the machine code on disk; later processes load it (a fraction of a second).
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import numpy as np

from hoplite.engine.hops import numba_ball, numba_levels, numba_pairs
from hoplite.engine.hops import numba_kernels as kernels
from hoplite.engine.hops.expansion import segments_of
from hoplite.engine.hops.interface import (
    UNLIMITED,
    Arrivals,
    Balls,
    Check,
    Counts,
    Excluded,
    Guide,
    Hop,
    Neighbourhoods,
    Positions,
    Ration,
    Side,
    Steps,
    TrailBatch,
    unchecked,
)
from hoplite.engine.hops.numba_arrays import NO_POSITIONS, BallArrays, as_compiled, ball_arrays, plain_arrays
from hoplite.engine.hops.numba_gather import gather_compiled
from hoplite.engine.hops.numba_paged import count_paged, search_paged
from hoplite.engine.hops.numba_shortest import CompiledSearch
from hoplite.engine.hops.numba_trails import count_by_search, search_trails
from hoplite.engine.hops.numpy_backend import NumpyBackend
from hoplite.engine.hops.scratch import Scratch, borrowed
from hoplite.engine.hops.search import Search
from hoplite.storage.incidence import Adjacency, Incidence

# Nodes found, or entries looked at, between two calls of a check.
_WORK = 1 << 22
# Groups from which on a search in the bits of a word pays where partitions are loaded for it, and on a plain adjacency,
# where it also takes so many hops for enough nodes to be in several balls. Its words take 24 bytes for each node.
_FEWEST_SHARED, _FEWEST_SHARED_PLAIN, _SHARED_FROM, _MOST_SHARED_NODES = 8, 64, 5, 1 << 23
_NO_LISTS: kernels.Lists = (NO_POSITIONS, NO_POSITIONS)


class NumbaBackend(NumpyBackend):
    """NumPy, with compiled loops wherever the arrays can be read directly."""

    name = "numba"

    def expand(self, hop: Hop, nodes: Positions) -> Steps:
        arrays = plain_arrays(hop)
        if arrays is None:
            if not _fits(hop):
                return super().expand(hop, nodes)
            return gather_compiled(hop, nodes, segments_of(hop, nodes))
        return Steps(*kernels.expand(*arrays, np.ascontiguousarray(nodes)))

    def arrivals(
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
    ) -> Arrivals:
        if not len(groups):
            return Arrivals(groups, sources, groups, UNLIMITED)
        if groups[0] == groups[-1]:
            one = _search(hop, sources, upper, mark_starts, check, _list_of(excluded, int(groups[0])), budget)
            if one is not None:
                level = np.repeat(np.arange(len(one.bounds)), np.diff(one.bounds, prepend=0))
                reached = len(one.bounds) - 1 if one.is_open else UNLIMITED
                return Arrivals(groups[:1].repeat(len(one.nodes)), one.nodes, level, reached)
        arrays = plain_arrays(hop)
        if arrays is None:
            layout = numba_levels.layout_of(hop)
            if layout is None:
                return super().arrivals(
                    hop, groups, sources, upper, mark_starts=mark_starts, excluded=excluded, budget=budget, check=check
                )
            return numba_levels.arrivals(
                layout, *_groups(groups), as_compiled(sources), upper, mark_starts, excluded, budget, check
            )
        numbers, first_of = _groups(groups)
        lists = _lists(excluded, numbers)
        counts = np.zeros(len(numbers), dtype=np.int64)
        limit = UNLIMITED if upper is None else upper
        share = -1 if budget is None else budget // len(numbers)
        nodes, levels = [], []
        depth, begin = UNLIMITED, 0
        with borrowed(hop.node_count) as scratch:
            while begin < len(numbers):
                check()
                begin, reached, found, found_levels = kernels.arrivals(
                    *arrays, lists, first_of, sources, begin, limit, mark_starts, share, _WORK,
                    scratch.mark, scratch.level, counts,
                )  # fmt: skip
                depth = min(depth, reached)
                nodes.append(found)
                levels.append(found_levels)
        if len(nodes) == 1:
            return Arrivals(numbers.repeat(counts), nodes[0], levels[0], depth)
        return Arrivals(numbers.repeat(counts), np.concatenate(nodes), np.concatenate(levels), depth)

    def ball(
        self, hop: Hop, sources: Positions, upper: int | None, *, mark_starts: bool, check: Check = unchecked
    ) -> Positions:
        arrays = ball_arrays(hop)
        if arrays is not None:
            with borrowed(hop.node_count) as scratch:
                return _search_plain(arrays, as_compiled(sources), upper, mark_starts, check, scratch)
        found = _search(hop, sources, upper, mark_starts, check)
        if found is None:
            return super().ball(hop, sources, upper, mark_starts=mark_starts, check=check)
        return found.nodes

    def balls(
        self,
        hop: Hop,
        offsets: Positions,
        sources: Positions,
        upper: int | None,
        *,
        mark_starts: bool,
        check: Check = unchecked,
    ) -> Balls:
        layout = numba_levels.layout_of(hop)
        if layout is not None and _is_shared(hop, len(offsets) - 1, upper):
            return numba_levels.balls(layout, offsets, as_compiled(sources), upper, mark_starts, check)
        return super().balls(hop, offsets, sources, upper, mark_starts=mark_starts, check=check)

    def neighbourhoods(
        self, hop: Hop, offsets: Positions, sources: Positions, most: int, *, check: Check = unchecked
    ) -> Neighbourhoods | None:
        entries = numba_pairs.entries_of(hop, len(sources))
        if entries is None:
            return super().neighbourhoods(hop, offsets, sources, most, check=check)
        return numba_pairs.find(entries, hop.node_count, offsets, sources, most, check)

    def count_pairs(
        self, pairs: Neighbourhoods, row_numbers: Positions, node_numbers: Positions, counts: Counts, *, by_rows: bool
    ) -> Positions:
        if pairs.nodes.dtype != np.int32:
            return super().count_pairs(pairs, row_numbers, node_numbers, counts, by_rows=by_rows)
        return numba_pairs.count(pairs, row_numbers, node_numbers, counts, by_rows)

    def closings(
        self,
        hop: Hop,
        groups: Positions,
        sources: Positions,
        upper: int | None,
        *,
        excluded: Excluded | None = None,
        check: Check = unchecked,
    ) -> Positions:
        arrays = plain_arrays(hop)
        if arrays is None or not len(groups):
            return super().closings(hop, groups, sources, upper, excluded=excluded, check=check)
        numbers, first_of = _groups(groups)
        outgoing, incoming, _, _, flags = arrays
        lists = _lists(excluded, numbers)
        shortest = np.full(len(sources), UNLIMITED, dtype=np.int64)
        limit = UNLIMITED if upper is None else upper
        begin = 0
        with borrowed(hop.node_count) as scratch:
            while begin < len(numbers):
                check()
                begin = kernels.closings(
                    outgoing, incoming, flags, lists, first_of, sources, begin, limit, _WORK,
                    scratch.mark, scratch.queue, scratch.level, scratch.owner, scratch.label, shortest,
                )  # fmt: skip
        return np.where(shortest == UNLIMITED, 0, shortest)

    def trails(
        self,
        hop: Hop,
        sources: Positions,
        lower: int,
        upper: int | None,
        *,
        guide: Guide | None = None,
        excluded: Excluded | None = None,
        ration: Ration | None = None,
        chunk: int = 4096,
        check: Check = unchecked,
    ) -> Iterator[TrailBatch]:
        arrays = plain_arrays(hop)
        if arrays is None and _fits(hop) and not hop.has_mask:
            yield from search_paged(hop, sources, lower, upper, guide, excluded, ration, chunk, check)
            return
        if arrays is None:
            yield from super().trails(
                hop,
                sources,
                lower,
                upper,
                guide=guide,
                excluded=excluded,
                ration=ration,
                chunk=chunk,
                check=check,
            )
            return
        yield from search_trails(arrays, hop.node_count, sources, lower, upper, guide, excluded, ration, chunk, check)

    def search(self, hop: Hop, source: int | Positions, scratch: Scratch) -> Search:
        arrays = plain_arrays(hop)
        return super().search(hop, source, scratch) if arrays is None else CompiledSearch(arrays, hop, source, scratch)

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
        arrays = plain_arrays(hop)
        if arrays is None and _fits(hop) and not hop.has_mask:
            return count_paged(hop, sources, lower, upper, excluded, check)
        if arrays is None:
            return super().count_trails(hop, sources, lower, upper, excluded=excluded, check=check)
        return count_by_search(arrays, sources, lower, upper, excluded, check)

    def warm_up(self, stop: Event) -> bool:
        """Load or compile every kernel, one after the other; False if stopped on the way."""
        incidence = Incidence(
            indptr=np.array([0, 1, 1]),
            neighbours=np.array([1], dtype=np.int32),
            types=np.zeros(1, dtype=np.int32),
            relationships=None,
        )
        side = Adjacency(2, (incidence,))
        hop = Hop(Side.BOTH, outgoing=side, incoming=side)
        newer = Adjacency(2, (incidence,), np.zeros(2, np.int32), np.arange(2, dtype=np.int32), incidence, np.arange(2))
        masked = Hop(Side.OUTGOING, outgoing=newer, node_mask=lambda asked: asked >= 0)
        nodes = np.zeros(1, dtype=np.int64)
        for use in (
            lambda: self.expand(hop, nodes),
            lambda: self.ball(hop, nodes, 1, mark_starts=True),
            lambda: self.arrivals(hop, np.arange(2), np.arange(2), 1, mark_starts=True),
            lambda: self.ball(masked, nodes, 1, mark_starts=True),
            lambda: self.arrivals(masked, np.arange(2), np.arange(2), 1, mark_starts=False),
            lambda: self.count_trails(hop, nodes, 1, 1),
            lambda: self.count_trails(Hop(Side.BOTH, outgoing=newer, incoming=newer), nodes, 1, 1),
            lambda: self.closings(hop, nodes, nodes, 1),
            lambda: self.search(hop, 0, Scratch(2)).step(unchecked),
            lambda: numba_pairs.warm_up(hop),
        ):
            if stop.is_set():
                return False
            use()
        return True


def _search(
    hop: Hop,
    sources: Positions,
    upper: int | None,
    mark_starts: bool,
    check: Check,
    excluded: Positions = NO_POSITIONS,
    budget: int | None = None,
) -> numba_levels.Found | None:
    """Breadth-first search of one group; None where positions do not fit 32 bits."""
    sources = as_compiled(sources)
    arrays = ball_arrays(hop) if budget is None and not len(excluded) else None
    if arrays is None:
        layout = numba_levels.layout_of(hop)
        if layout is None:
            return None
        return numba_levels.search(layout, sources, upper, mark_starts, excluded, budget, check)
    with borrowed(hop.node_count) as scratch:
        nodes = _search_plain(arrays, sources, upper, mark_starts, check, scratch)
        # The arrays are lent to others from here on, so what is said of the levels is a copy.
        level, begin, end = scratch.state[numba_ball.LEVEL : numba_ball.HEAD].tolist()
        bounds = scratch.state[numba_ball.BOUNDS : numba_ball.BOUNDS + level + 1].copy()
        return numba_levels.Found(nodes, bounds, begin < end)


def _search_plain(
    arrays: BallArrays, sources: Positions, upper: int | None, mark_starts: bool, check: Check, scratch: Scratch
) -> Positions:
    """The nodes entered; the state of the scratch says where their levels end."""
    state = scratch.state
    state[numba_ball.LEVEL] = -1
    limit = UNLIMITED if upper is None else upper
    while True:
        nodes = numba_ball.search(*arrays, sources, limit, mark_starts, scratch.mark, scratch.order, state, _WORK)
        status = state[numba_ball.STATUS]
        if status == numba_ball.DONE:
            return nodes
        check()
        if status == numba_ball.DEEP:
            state = scratch.state = np.concatenate((state, np.zeros_like(state)))
        elif status == numba_ball.DENSE:
            state[numba_ball.AT_NODE] = 0
            while not numba_ball.pull(*arrays, scratch.mark, scratch.order, state, _WORK):
                check()


def _fits(hop: Hop) -> bool:
    """Whether positions of nodes fit 32 bits, as compiled loops take them."""
    return hop.node_count < 2**31


def _is_shared(hop: Hop, group_count: int, upper: int | None) -> bool:
    """Whether balls are found in the bits of a word, rather than one after the other."""
    if hop.node_count > _MOST_SHARED_NODES:
        return False
    if not hop.is_plain:
        return group_count >= _FEWEST_SHARED
    return group_count >= _FEWEST_SHARED_PLAIN and (upper is None or upper >= _SHARED_FROM)


def _groups(groups: Positions) -> tuple[Positions, Positions]:
    """The distinct numbers of ascending groups, and where each begins."""
    if groups[0] == groups[-1]:
        return groups[:1], np.array((0, len(groups)), dtype=np.int64)
    begins = np.concatenate(([0], np.flatnonzero(np.diff(groups)) + 1, [len(groups)]))
    return groups[begins[:-1]], begins.astype(np.int64)


def _list_of(excluded: Excluded | None, group: int) -> Positions:
    """The relationships that one group excludes."""
    if excluded is None:
        return NO_POSITIONS
    return excluded.relationships[excluded.offsets[group] : excluded.offsets[group + 1]]


def _lists(excluded: Excluded | None, numbers: Positions) -> kernels.Lists:
    if excluded is None:
        return _NO_LISTS
    taken = excluded.take(numbers)
    return taken.offsets, taken.relationships
