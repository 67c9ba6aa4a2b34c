"""The backend of compiled kernels. A plain adjacency (one partition, no delta, no masks) is searched in one fused loop,
any other level by level (`numba_levels.py`). The rest runs in NumPy.

Its kernels must be loaded before use: by `load_kernels`, or by `background.py` while queries run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops import (
    numba_bfs,
    numba_gather,
    numba_levels,
    numba_matches,
    numba_means,
    numba_paged,
    numba_pairs,
    numba_relations,
    numba_shortest,
    numba_sweep,
    numba_trails,
)
from hoplite.engine.hops import numba_kernels as kernels
from hoplite.engine.hops.compiled import Kernel, Variant
from hoplite.engine.hops.expansion import segments_of
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
from hoplite.engine.hops.machine_code import candidate_folders, code_folder, load_code, load_kernel, store_kernel
from hoplite.engine.hops.numba_arrays import NO_LISTS, as_compiled, fused_arrays, lists_of, plain_arrays
from hoplite.engine.hops.numba_bfs import Fused
from hoplite.engine.hops.numba_gather import gather_compiled
from hoplite.engine.hops.numba_paged import PagedGraph
from hoplite.engine.hops.numba_shortest import CompiledSearch
from hoplite.engine.hops.numpy_backend import NumpyBackend
from hoplite.engine.hops.pattern import EndCounts, Given, Pattern
from hoplite.engine.hops.scratch import Scratch, borrowed, give_back, lend, pool_of
from hoplite.engine.hops.search import Search
from hoplite.engine.hops.spread import Spread
from hoplite.storage.value_index import NO_POSITIONS

# Nodes found, or entries looked at, between two calls of a check.
_WORK = 1 << 22
# From this many groups on, searching in the bits of a word pays: where partitions are loaded for it, and on a plain
# adjacency, where groups find the same nodes after enough hops. Its words take 24 bytes a node.
_FEWEST_SHARED, _FEWEST_SHARED_PLAIN, _SHARED_FROM, _MOST_SHARED_NODES = 8, 64, 5, 1 << 23
# The room, in nodes, that the first searches of many groups start with.
_FIRST_ROOM = 1 << 12


def _kernels(*functions: Callable[..., Any]) -> tuple[Kernel, ...]:
    return cast(tuple[Kernel, ...], functions)


_EXPAND = _kernels(kernels.count_steps, kernels.expand, numba_gather.read_segments, numba_gather.close_up)
_SEARCH = _kernels(
    numba_bfs.search,
    numba_bfs.pull,
    numba_sweep.enter,
    numba_sweep.sweep,
    numba_sweep.route,
    numba_sweep.route_to_many,
    numba_sweep.rows_among,
    numba_sweep.enter_bits,
)
_GROUPS = _kernels(
    numba_sweep.sweep_groups,
    numba_sweep.admit_groups,
    numba_sweep.settle,
    numba_sweep.clear_groups,
    numba_sweep.count_by_group,
    numba_sweep.by_group,
)
_TRAILS = _kernels(numba_trails.plain_trails, numba_paged.paged_trails, numba_paged.number_nodes)
# The kernels of each operation, in the order in which missing ones are compiled.
OPERATIONS: dict[str, tuple[Kernel, ...]] = {
    "bfs_nodes": _SEARCH[:2],
    "bfs_nodes over pieces": _SEARCH,
    "expand": _EXPAND,
    "trails": (*_TRAILS, *_EXPAND),
    "count_trails": (*_TRAILS, *_EXPAND),
    "bfs_levels": (*_SEARCH, *_kernels(kernels.bfs_levels), *_GROUPS),
    "bfs_batch": (*_SEARCH, *_GROUPS),
    "search": _kernels(numba_shortest.enter),
    "from_bits": _kernels(numba_sweep.enter_bits),
    "neighbourhoods": _kernels(numba_pairs.count_entries, numba_pairs.find_neighbours),
    "count_pairs": _kernels(numba_pairs.count_numbers),
    "count_matches": (
        *_kernels(numba_matches.search, numba_relations.count_entries, numba_relations.write_entries),
        *_EXPAND,
    ),
    "sums_for_all": _kernels(numba_relations.count_entries, numba_relations.write_entries, numba_relations.add_weights),
    "closing_lengths": _kernels(kernels.closing_lengths),
    "add_values": _kernels(numba_means.add_values),
}


def variants_of(operation: str, is_narrow: bool) -> tuple[Variant, ...]:
    """The kernels of an operation over narrow or over usual arrays."""
    kernels = OPERATIONS[operation]
    return tuple(one for kernel in kernels for one in kernel.variants if is_narrow or not one.is_narrow)


def kernel_variants() -> tuple[Variant, ...]:
    """Everything that is compiled, with the kernels for narrow arrays last: only large graphs have those."""
    every = dict.fromkeys(one for operation in OPERATIONS for one in variants_of(operation, True))
    return tuple(sorted(every, key=lambda one: one.is_narrow))


def load_kernels(is_narrow: bool = False) -> None:
    """Load all kernels, compiling those not found; ImportError if that takes Numba and it is missing."""
    wanted = [one for one in kernel_variants() if is_narrow or not one.is_narrow]
    if all(one.is_loaded for one in wanted) or any(all(_loaded(wanted, folder)) for folder in candidate_folders()):
        return
    from hoplite.engine.hops.numba_compile import compile_kernel

    for kernel in wanted:
        if not kernel.is_loaded:
            compiled = compile_kernel(kernel)
            load_code(kernel, *compiled)
            folder = code_folder()
            if folder is not None:
                with suppress(OSError):  # a full disk costs only the next process its time
                    store_kernel(kernel, *compiled, folder)


def _loaded(wanted: Sequence[Variant], folder: Path) -> list[bool]:
    return [load_kernel(kernel, folder) for kernel in wanted]


class NumbaBackend(NumpyBackend):
    """Compiled loops wherever the arrays can be read directly, NumPy elsewhere."""

    name = "numba"

    def expand(self, hop: Hop, nodes: Positions) -> Steps:
        arrays = plain_arrays(hop)
        if arrays is None:
            if not _fits(hop):
                return super().expand(hop, nodes)
            return gather_compiled(hop, nodes, segments_of(hop, nodes))
        nodes = as_compiled(nodes)
        row, relationships, neighbours = np.empty((3, kernels.count_steps(arrays, nodes)), dtype=np.int64)
        found = kernels.expand(arrays, nodes, row, relationships, neighbours)
        return Steps(row[:found], relationships[:found], neighbours[:found])

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
        if not len(groups):
            return SearchLevels(groups, sources, groups, UNLIMITED)
        if groups[0] == groups[-1]:
            one = _search(hop, sources, upper, mark_starts, check, _list_of(excluded, int(groups[0])), budget)
            if one is not None:
                level = np.repeat(np.arange(len(one.bounds)), np.diff(one.bounds, prepend=0))
                reached = len(one.bounds) - 1 if one.is_open else UNLIMITED
                return SearchLevels(groups[:1].repeat(len(one.nodes)), one.nodes, level, reached)
        arrays = plain_arrays(hop)
        if arrays is None:
            layout = numba_levels.layout_of(hop)
            if layout is None:
                return super().bfs_levels(
                    hop, groups, sources, upper, mark_starts=mark_starts, excluded=excluded, budget=budget, check=check
                )
            return numba_levels.bfs_levels(
                layout, *_groups(groups), as_compiled(sources), upper, mark_starts, excluded, budget, check
            )
        return _plain_levels(
            arrays, hop.node_count, groups, as_compiled(sources), upper, mark_starts, excluded, budget, check
        )

    def bfs_nodes(
        self, hop: Hop, sources: Positions, upper: int | None, *, mark_starts: bool, check: Check = unchecked
    ) -> Positions:
        arrays = fused_arrays(hop)
        if arrays is not None:
            return self._within(arrays, hop, upper, mark_starts)(sources, check)
        found = _search(hop, sources, upper, mark_starts, check)
        if found is None:
            return super().bfs_nodes(hop, sources, upper, mark_starts=mark_starts, check=check)
        return found.nodes

    def settled_search(self, hop: Hop, upper: int | None, mark_starts: bool) -> SettledSearch | None:
        arrays = fused_arrays(hop)
        return None if arrays is None else self._within(arrays, hop, upper, mark_starts)

    def _within(self, arrays: Fused, hop: Hop, upper: int | None, mark_starts: bool) -> SettledSearch:
        size, limit = hop.node_count, UNLIMITED if upper is None else upper
        search = cast(Kernel, numba_bfs.search).code
        return partial(_nodes_within, search, arrays, pool_of(size), size, limit, mark_starts)

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
        layout = numba_levels.layout_of(hop)
        if layout is not None and _is_shared(hop, len(offsets) - 1, upper):
            return numba_levels.bfs_batch(layout, offsets, as_compiled(sources), upper, mark_starts, check)
        return super().bfs_batch(hop, offsets, sources, upper, mark_starts=mark_starts, check=check)

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

    def count_matches(self, pattern: Pattern, given: Given, row_count: int, *, check: Check = unchecked) -> Positions:
        return numba_matches.count_matches(pattern, given, row_count, check)

    def count_matches_by_end(
        self, pattern: Pattern, given: Given, row_count: int, *, check: Check = unchecked
    ) -> Iterator[EndCounts]:
        return numba_matches.count_matches_by_end(pattern, given, row_count, check)

    def sums_for_all(self, hop: Hop, weights: Positions | None, *, check: Check = unchecked) -> Positions | None:
        return numba_relations.sums_for_all(hop, weights, check)

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
        arrays = plain_arrays(hop)
        if arrays is None or not len(groups):
            return super().closing_lengths(hop, groups, sources, upper, excluded=excluded, check=check)
        numbers, first_of = _groups(groups)
        lists, sources = _lists(excluded, numbers), as_compiled(sources)
        shortest = np.full(len(sources), UNLIMITED, dtype=np.int64)
        limit = UNLIMITED if upper is None else upper
        begin = 0
        with borrowed(hop.node_count) as scratch:
            while begin < len(numbers):
                check()
                begin = kernels.closing_lengths(
                    arrays, lists, first_of, sources, begin, limit, _WORK,
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
        quota: TrailQuota | None = None,
        chunk: int = 4096,
        check: Check = unchecked,
    ) -> Iterator[TrailBatch]:
        graph = _trail_graph(hop)
        if graph is None:
            yield from super().trails(
                hop,
                sources,
                lower,
                upper,
                guide=guide,
                excluded=excluded,
                quota=quota,
                chunk=chunk,
                check=check,
            )
            return
        yield from numba_trails.search_trails(graph, sources, lower, upper, guide, excluded, quota, chunk, check)

    def search(self, hop: Hop, source: int | Positions, scratch: Scratch) -> Search:
        arrays = plain_arrays(hop)
        return super().search(hop, source, scratch) if arrays is None else CompiledSearch(arrays, hop, source, scratch)

    def spread(self, hop: Hop, scratch: Scratch) -> Spread:
        layout = numba_levels.layout_of(hop)
        return super().spread(hop, scratch) if layout is None else numba_levels.CompiledSpread(layout, scratch)

    def from_bits(self, bits: NDArray[np.uint64]) -> Positions:
        return super().from_bits(bits) if 64 * len(bits) >= 2**31 else numba_levels.from_bits(bits)

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
        graph = _trail_graph(hop)
        if graph is None:
            return super().count_trails(hop, sources, lower, upper, excluded=excluded, check=check)
        return numba_trails.count_trails(graph, sources, lower, upper, excluded, check)


def _trail_graph(hop: Hop) -> numba_trails.TrailGraph | None:
    """Where the compiled search for trails finds entries; None if NumPy has to search."""
    arrays = plain_arrays(hop)
    if arrays is not None:
        return numba_trails.PlainGraph(arrays, hop.side, hop.node_count)
    return PagedGraph(hop) if _fits(hop) and not hop.has_mask else None


def _plain_levels(
    arrays: kernels.Plain,
    node_count: int,
    groups: Positions,
    sources: Positions,
    upper: int | None,
    mark_starts: bool,
    excluded: Excluded | None,
    budget: int | None,
    check: Check,
) -> SearchLevels:
    """Searches of many groups over a plain adjacency."""
    numbers, first_of = _groups(groups)
    lists = _lists(excluded, numbers)
    counts = np.zeros(len(numbers), dtype=np.int64)
    limit = UNLIMITED if upper is None else upper
    share = -1 if budget is None else budget // len(numbers)
    nodes, levels = [], []
    depth, begin, room = UNLIMITED, 0, _FIRST_ROOM
    with borrowed(node_count) as scratch:
        while begin < len(numbers):
            check()
            found, found_levels = np.empty((2, room), dtype=np.int64)
            begin, reached, used, needed = kernels.bfs_levels(
                arrays, lists, first_of, sources, begin, limit, mark_starts, share,
                scratch.mark, scratch.order, counts, found, found_levels,
            )  # fmt: skip
            depth = min(depth, reached)
            nodes.append(found[:used].copy())
            levels.append(found_levels[:used].copy())
            room = max(min(2 * room, _WORK), needed)
    if len(nodes) == 1:
        return SearchLevels(numbers.repeat(counts), nodes[0], levels[0], depth)
    return SearchLevels(numbers.repeat(counts), np.concatenate(nodes), np.concatenate(levels), depth)


def _search(
    hop: Hop,
    sources: Positions,
    upper: int | None,
    mark_starts: bool,
    check: Check,
    excluded: Positions = NO_POSITIONS,
    budget: int | None = None,
) -> numba_levels.Found | None:
    """Breadth-first search of one group; None if positions do not fit 32 bits."""
    arrays = fused_arrays(hop) if budget is None and not len(excluded) else None
    if arrays is None:
        layout = numba_levels.layout_of(hop)
        if layout is None:
            return None
        return numba_levels.search(layout, as_compiled(sources), upper, mark_starts, excluded, budget, check)
    with borrowed(hop.node_count) as scratch:
        limit, starts = UNLIMITED if upper is None else upper, sources.astype(np.int32, subok=False)
        count = _finished(arrays, starts, limit, mark_starts, check, scratch)
        nodes = scratch.order[:count].astype(np.int64)
        # Others may borrow the arrays from here on, so the bounds of the levels are copied.
        level, begin, end = scratch.state[numba_bfs.LEVEL : numba_bfs.HEAD].tolist()
        bounds = scratch.state[numba_bfs.BOUNDS : numba_bfs.BOUNDS + level + 1].copy()
        return numba_levels.Found(nodes, bounds, begin < end)


def _nodes_within(
    search: Callable[..., Any],
    arrays: Fused,
    pool: list[Scratch],
    size: int,
    limit: int,
    mark_starts: bool,
    sources: Positions,
    check: Check,
) -> Positions:
    """The nodes of a plain search, without its levels. Most of a short one is calls, so there are few here; `search` is
    the machine code of `numba_bfs.search`."""
    try:
        scratch = pool.pop()
    except IndexError:
        scratch = lend(size)
    starts, order = sources.astype(np.int32, subok=False), scratch.order
    count = search(arrays, starts, limit, mark_starts, True, scratch.marks, order, scratch.state, _WORK)
    if count is NotImplemented or count < 0:
        so_far = None if count is NotImplemented else count
        count = _finished(arrays, starts, limit, mark_starts, check, scratch, so_far)
    nodes = order[:count].astype(np.int64)
    give_back(scratch)
    return nodes


def _finished(
    arrays: Fused,
    starts: NDArray[np.int32],
    limit: int,
    mark_starts: bool,
    check: Check,
    scratch: Scratch,
    status: int | None = None,
) -> int:
    """Do the rest of a plain search, or all of it if it has no status yet; returns how many nodes are in the scratch's
    order. Its state says where each level ends."""
    marks, order, state = scratch.marks, scratch.order, scratch.state
    begins = status is None
    while True:
        if not begins:
            check()
            if status == numba_bfs.DEEP:
                state = scratch.state = np.concatenate((state, np.zeros_like(state)))
            elif status == numba_bfs.WIDE:
                level, begin, end = state[numba_bfs.LEVEL : numba_bfs.HEAD].tolist()
                order[begin:end].sort()
                state[numba_bfs.SORTED] = level
            elif status == numba_bfs.DENSE:
                state[numba_bfs.AT_NODE] = 0
                while not numba_bfs.pull(arrays, marks, scratch.frontier, order, state, _WORK):
                    check()
        status = numba_bfs.search(arrays, starts, limit, mark_starts, begins, marks, order, state, _WORK)
        if status >= 0:
            return status
        begins = False


def _fits(hop: Hop) -> bool:
    """Whether node positions fit the 32 bits that compiled loops take."""
    return hop.node_count < 2**31


def _is_shared(hop: Hop, group_count: int, upper: int | None) -> bool:
    """Whether to search groups in the bits of a word rather than one after another."""
    if hop.node_count > _MOST_SHARED_NODES:
        return False
    if not hop.is_plain:
        return group_count >= _FEWEST_SHARED
    return group_count >= _FEWEST_SHARED_PLAIN and (upper is None or upper >= _SHARED_FROM)


def _groups(groups: Positions) -> tuple[Positions, Positions]:
    """The distinct numbers in ascending `groups`, and where each begins."""
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
    return NO_LISTS if excluded is None else lists_of(excluded.take(numbers))
