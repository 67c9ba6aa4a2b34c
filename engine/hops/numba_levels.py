"""Breadth-first search level by level, with compiled sweeps: over several partitions, a delta, and masks.

A level goes through the pieces that hold entries of its frontier, one after another: each partition is fetched when its
turn comes and may be released after it, so that a graph on disk needs only one of them in memory. Groups are searched
64 at a time, each in a bit of a word, so that a partition is loaded once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops import numba_sweep as kernels
from hoplite.engine.hops.compiled import Flags, Int32s, Words
from hoplite.engine.hops.expansion import breadth
from hoplite.engine.hops.interface import UNLIMITED, Check, Excluded, Hop, NodeBatch, Positions, SearchLevels
from hoplite.engine.hops.masks import RememberedNodes, RememberedRelationships, remember_nodes, remember_relationships
from hoplite.engine.hops.numba_arrays import as_compiled, flags_of, incidence_arrays
from hoplite.engine.hops.numba_bfs import SORTED_FROM
from hoplite.engine.hops.numba_kernels import IncidenceArrays
from hoplite.engine.hops.scratch import Scratch, borrowed
from hoplite.engine.hops.spread import Spread
from hoplite.storage.incidence import Adjacency
from hoplite.storage.value_index import NO_POSITIONS

GROUPS_AT_ONCE = 64
# Entries looked at between two calls of a check.
_WORK = 1 << 22
# Steps that a mask is asked about in one call.
_ASKED_AT_ONCE = 1 << 14
_NO_ANSWERS: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
_NO_WORDS: Words = np.zeros(0, dtype=np.uint64)
_NO_LEVELS: Int32s = np.zeros(0, dtype=np.int32)


class Found(NamedTuple):
    """The nodes entered, by level: level i is nodes[bounds[i - 1]:bounds[i]]. `is_open`: there may be more beyond the
    last level."""

    nodes: Positions
    bounds: Positions
    is_open: bool


class FoundByGroup(NamedTuple):
    """Group i entered nodes[offsets[i]:offsets[i + 1]] after `level` relationships, by ascending level. `depth` is the
    last level searched, UNLIMITED if there is nothing beyond."""

    offsets: Positions
    nodes: Int32s
    level: Int32s
    depth: int


class Layout:
    """A hop as the sweeps take it."""

    def __init__(self, hop: Hop) -> None:
        self.hop = hop
        self.sides = [_SidePieces(side) for side in hop.sides]
        self.flags: Flags = flags_of(hop)
        self.node_mask: RememberedNodes | None = None if hop.node_mask is None else remember_nodes(hop.node_mask)
        self.relationship_mask: RememberedRelationships | None = (
            None if hop.relationship_mask is None else remember_relationships(hop.relationship_mask)
        )
        self.masked = np.array((self.node_mask is not None, self.relationship_mask is not None))

    def allowed_entries(self, removed: Positions, excluded: Positions) -> kernels.Allowed:
        """Which entries may be followed, with what the masks have answered so far."""
        return kernels.Allowed(
            self.flags,
            removed,
            excluded,
            _NO_ANSWERS if self.node_mask is None else self.node_mask.known,
            _NO_ANSWERS if self.relationship_mask is None else self.relationship_mask.known,
            self.masked,
        )

    def pieces(self, frontier: Int32s) -> Iterator[tuple[kernels.Piece, Positions]]:
        """The pieces where nodes of a frontier have entries, and the relationships removed there."""
        for side in self.sides:
            for piece in side.pieces(frontier):
                yield piece, side.removed

    def room_to_ask(self) -> Positions:
        return np.empty((4, _ASKED_AT_ONCE if self.hop.has_mask else 1), dtype=np.int64)

    def allowed(self, relationships: Positions, from_nodes: Positions, to_nodes: Positions) -> Positions:
        """The indexes of the steps that the masks allow."""
        kept = np.arange(len(to_nodes), dtype=np.int64)
        if self.relationship_mask is not None:
            kept = kept[self.relationship_mask(relationships, from_nodes, to_nodes)]
        if self.node_mask is not None:
            kept = kept[self.node_mask(to_nodes[kept])]
        return kept


class _SidePieces:
    """The pieces of one adjacency: its partitions and its delta."""

    def __init__(self, adjacency: Adjacency) -> None:
        self.adjacency = adjacency
        self.removed: Positions = NO_POSITIONS if adjacency.removed is None else as_compiled(adjacency.removed)
        self.is_routed = adjacency.partition_of is not None and adjacency.row_of is not None
        if adjacency.partition_of is not None and adjacency.row_of is not None:
            self.partition_of = as_compiled(adjacency.partition_of)
            self.row_of = as_compiled(adjacency.row_of)
        self.delta = None if adjacency.delta is None else incidence_arrays(adjacency.delta)
        # Arrays in memory are prepared once; those on disk belong to a cache and are fetched each time.
        self._held = (
            [incidence_arrays(incidence) for incidence in adjacency.partitions]
            if isinstance(adjacency.partitions, tuple)
            else None
        )

    def _arrays(self, partition: int) -> IncidenceArrays:
        return incidence_arrays(self.adjacency.partitions[partition]) if self._held is None else self._held[partition]

    def pieces(self, frontier: Int32s) -> Iterator[kernels.Piece]:
        count = len(self.adjacency.partitions)
        if not self.is_routed:
            for partition in range(count):
                yield kernels.Piece(self._arrays(partition), frontier, frontier)
        else:
            begins, ends = np.empty((2, count), dtype=np.int64)
            nodes, rows = np.empty((2, len(frontier)), dtype=np.int32)
            route = kernels.route if self.partition_of.dtype == np.uint8 else kernels.route_to_many
            route(self.partition_of, self.row_of, frontier, begins, ends, nodes, rows)
            for partition in np.flatnonzero(ends > begins).tolist():
                first, last = begins[partition], ends[partition]
                yield kernels.Piece(self._arrays(partition), nodes[first:last], rows[first:last])
        if self.delta is not None and self.adjacency.delta_rows is not None:
            nodes, rows = np.empty((2, len(frontier)), dtype=np.int32)
            found = kernels.rows_among(as_compiled(self.adjacency.delta_rows), frontier, nodes, rows)
            if found:
                yield kernels.Piece(self.delta, nodes[:found], rows[:found])


def layout_of(hop: Hop) -> Layout | None:
    """The layout of a hop, made once; None if positions do not fit 32 bits."""
    if hop.node_count >= 2**31:
        return None
    known = hop.prepared.get("numba levels")
    if known is None:
        known = hop.prepared["numba levels"] = Layout(hop)
    return cast(Layout, known)


def search(
    layout: Layout,
    sources: Positions,
    upper: int | None,
    mark_starts: bool,
    excluded: Positions,
    budget: int | None,
    check: Check,
) -> Found:
    """One group: the nodes entered, by level. `excluded` relationships are ascending."""
    hop = layout.hop
    with borrowed(hop.node_count) as scratch:
        mark, queue = scratch.mark, scratch.order
        starts = sources.astype(np.int32)
        tail = kernels.enter(starts, 0, len(starts), mark, queue, 0) if mark_starts else 0
        frontier = queue[:tail] if mark_starts else starts
        bounds = [tail]
        asked = layout.room_to_ask()
        while len(frontier) and (upper is None or len(bounds) <= upper):
            if budget is not None:
                budget -= breadth(hop, frontier.astype(np.int64))
                if budget < 0:
                    break
            check()
            tail = sweep(layout, frontier, excluded, scratch, tail, asked, check)
            frontier = queue[bounds[-1] : tail]
            bounds.append(tail)
        nodes = queue[:tail].astype(np.int64)
        mark[nodes] = 0
        return Found(nodes, np.array(bounds, dtype=np.int64), is_open=bool(len(frontier)))


class CompiledSpread(Spread):
    """`Spread` with compiled sweeps."""

    def __init__(self, layout: Layout, scratch: Scratch) -> None:
        super().__init__(layout.hop, scratch)
        self._layout = layout
        self._asked = layout.room_to_ask()

    @property
    def queue(self) -> Int32s:
        return self.scratch.order[: self.count]

    def step(self, frontier: Int32s | Positions, check: Check) -> None:
        nodes = as_compiled(frontier.astype(np.int32, copy=False))
        self.count = sweep(self._layout, nodes, NO_POSITIONS, self.scratch, self.count, self._asked, check)

    def enter(self, nodes: Int32s | Positions) -> None:
        given = as_compiled(nodes.astype(np.int32, copy=False))
        self.count = kernels.enter(given, 0, len(given), self.scratch.mark, self.scratch.order, self.count)

    def enter_bits(self, bits: Words) -> None:
        self.count = kernels.enter_bits(as_compiled(bits), self.scratch.mark, self.scratch.order, self.count)


def from_bits(bits: Words) -> Positions:
    """The nodes that are set in bits."""
    with borrowed(64 * len(bits)) as scratch:
        count = kernels.enter_bits(as_compiled(bits), scratch.mark, scratch.order, 0)
        scratch.mark[: 64 * len(bits)] = 0
        return scratch.order[:count].astype(np.int64)


def sweep(
    layout: Layout,
    frontier: Int32s,
    excluded: Positions,
    scratch: Scratch,
    tail: int,
    asked: Positions,
    check: Check,
) -> int:
    """Enter the neighbours of the frontier; returns the new end of the queue."""
    mark, queue = scratch.mark, scratch.order
    state = np.zeros(kernels.STATE_SIZE, dtype=np.int64)
    state[kernels.TAIL] = tail
    if len(frontier) >= SORTED_FROM:
        frontier = np.sort(frontier)
    for piece, removed in layout.pieces(frontier):
        state[kernels.PLACE] = state[kernels.ENTRY] = 0
        is_done = False
        while not is_done:
            allowed = layout.allowed_entries(removed, excluded)
            is_done = kernels.sweep(piece, allowed, mark, queue, asked, state, _WORK)
            if state[kernels.ASKED]:
                relationships, from_nodes, to_nodes, _ = asked[:, : state[kernels.ASKED]]
                entered = to_nodes[layout.allowed(relationships, from_nodes, to_nodes)].astype(np.int32)
                state[kernels.TAIL] = kernels.enter(entered, 0, len(entered), mark, queue, int(state[kernels.TAIL]))
                state[kernels.ASKED] = 0
            if not is_done:
                check()
    return int(state[kernels.TAIL])


def bfs_batch(
    layout: Layout, offsets: Positions, sources: Positions, upper: int | None, mark_starts: bool, check: Check
) -> NodeBatch:
    """The nodes entered from sources[offsets[i]:offsets[i + 1]], for each i."""
    found = [
        search_groups(layout, part - part[0], sources[part[0] : part[-1]], upper, mark_starts, None, None, False, check)
        for part in _sixty_fours(offsets)
    ]
    ends = np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(one.offsets) for one in found)]))
    return NodeBatch(ends, np.concatenate([_NO_LEVELS, *(one.nodes for one in found)]))


def bfs_levels(
    layout: Layout,
    numbers: Positions,
    offsets: Positions,
    sources: Positions,
    upper: int | None,
    mark_starts: bool,
    excluded: Excluded | None,
    budget: int | None,
    check: Check,
) -> SearchLevels:
    """The same with the level of each node, as `Backend.bfs_levels` returns it; `numbers` are those of the groups in
    `excluded`."""
    group, nodes, levels = [NO_POSITIONS], [NO_POSITIONS], [NO_POSITIONS]
    depth, first = UNLIMITED, 0
    for part in _sixty_fours(offsets):
        own = numbers[first : first + len(part) - 1]
        lists = None if excluded is None else excluded.take(own)
        share = None if budget is None else budget * len(own) // len(numbers)
        begin, end = part[0], part[-1]
        found = search_groups(layout, part - begin, sources[begin:end], upper, mark_starts, lists, share, True, check)
        group.append(own.repeat(np.diff(found.offsets)))
        nodes.append(found.nodes.astype(np.int64))
        levels.append(found.level.astype(np.int64))
        depth = min(depth, found.depth)
        first += len(own)
    return SearchLevels(np.concatenate(group), np.concatenate(nodes), np.concatenate(levels), depth)


def _sixty_fours(offsets: Positions) -> Iterator[Positions]:
    """The offsets of 64 groups at a time."""
    for first in range(0, len(offsets) - 1, GROUPS_AT_ONCE):
        yield offsets[first : first + GROUPS_AT_ONCE + 1]


def search_groups(
    layout: Layout,
    offsets: Positions,
    sources: Positions,
    upper: int | None,
    mark_starts: bool,
    excluded: Excluded | None,
    budget: int | None,
    with_levels: bool,
    check: Check,
) -> FoundByGroup:
    """Search up to 64 groups: group i starts from sources[offsets[i]:offsets[i + 1]]; `excluded` has a list for
    each."""
    hop = layout.hop
    group_count = len(offsets) - 1
    bits = np.left_shift(np.uint64(1), np.repeat(np.arange(group_count, dtype=np.uint64), np.diff(offsets)))
    listed, listed_from = _excluded_words(excluded)
    with borrowed(hop.node_count) as scratch:
        words, queue = kernels.Groups(scratch.seen, scratch.front, scratch.coming), scratch.order
        entered, entered_by, depths = [_NO_LEVELS], [_NO_WORDS], [_NO_LEVELS]
        tail = kernels.admit_groups(sources, bits, words, queue, 0)
        frontier = queue[:tail].copy()
        groups = _settled(frontier, words)
        level = 0
        if mark_starts:
            entered.append(frontier)
            entered_by.append(groups)
            depths.append(np.zeros(len(frontier), dtype=np.int32))
        else:
            kernels.clear_groups(frontier, words.seen)
        asked = layout.room_to_ask()
        while len(frontier) and (upper is None or level < upper):
            if budget is not None:
                budget -= breadth(hop, frontier.astype(np.int64))
                if budget < 0:
                    break
            check()
            level += 1
            tail = _sweep_groups(layout, frontier, listed, listed_from, scratch, asked, check)
            frontier = queue[:tail].copy()
            entered.append(frontier)
            entered_by.append(_settled(frontier, words))
            depths.append(np.full(tail, level, dtype=np.int32))
        nodes = np.concatenate(entered)
        kernels.clear_groups(nodes, words.seen)
    levels = np.concatenate(depths) if with_levels else _NO_LEVELS
    by_node = np.concatenate(entered_by)
    ends = np.empty(group_count + 1, dtype=np.int64)
    kernels.count_by_group(by_node, ends)
    found = np.empty(ends[-1], dtype=np.int32)
    found_levels = np.empty(ends[-1] if with_levels else 0, dtype=np.int32)
    kernels.by_group(nodes, by_node, levels, ends.copy(), found, found_levels)
    return FoundByGroup(ends, found, found_levels, level if len(frontier) else UNLIMITED)


def _settled(frontier: Int32s, words: kernels.Groups) -> Words:
    """End a level; returns the groups of each node of the frontier."""
    groups = np.empty(len(frontier), dtype=np.uint64)
    kernels.settle(frontier, words, groups)
    return groups


def _sweep_groups(
    layout: Layout,
    frontier: Int32s,
    excluded: Positions,
    excluded_from: Words,
    scratch: Scratch,
    asked: Positions,
    check: Check,
) -> int:
    """Let groups enter the neighbours of the frontier; returns the end of the queue of nodes entered."""
    state = np.zeros(kernels.STATE_SIZE, dtype=np.int64)
    words = kernels.Groups(scratch.seen, scratch.front, scratch.coming)
    for piece, removed in layout.pieces(frontier):
        state[kernels.PLACE] = state[kernels.ENTRY] = 0
        is_done = False
        while not is_done:
            allowed = layout.allowed_entries(removed, excluded)
            is_done = kernels.sweep_groups(piece, allowed, excluded_from, words, scratch.order, asked, state, _WORK)
            if state[kernels.ASKED]:
                relationships, from_nodes, to_nodes, groups = asked[:, : state[kernels.ASKED]]
                kept = layout.allowed(relationships, from_nodes, to_nodes)
                state[kernels.TAIL] = kernels.admit_groups(
                    to_nodes[kept], groups[kept].view(np.uint64), words, scratch.order, int(state[kernels.TAIL])
                )
                state[kernels.ASKED] = 0
            if not is_done:
                check()
    return int(state[kernels.TAIL])


def _excluded_words(excluded: Excluded | None) -> tuple[Positions, Words]:
    """The relationships that any group excludes, ascending, and which groups exclude each."""
    if excluded is None or not len(excluded.relationships):
        return NO_POSITIONS, _NO_WORDS
    lists = np.repeat(np.arange(len(excluded.offsets) - 1, dtype=np.uint64), np.diff(excluded.offsets))
    order = np.argsort(excluded.relationships, kind="stable")
    ordered = excluded.relationships[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[begins], np.bitwise_or.reduceat(np.left_shift(np.uint64(1), lists[order]), begins)
