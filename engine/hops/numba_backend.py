"""The kernels compiled with Numba: hops over plain adjacencies go to compiled loops, all others to NumPy.

The first use compiles (seconds) and keeps the machine code on disk; later processes load it (a fraction of a second).
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops import numba_kernels as kernels
from hoplite.engine.hops.expansion import type_flags
from hoplite.engine.hops.interface import (
    UNLIMITED,
    Arrivals,
    Booleans,
    Check,
    Excluded,
    Guide,
    Hop,
    Positions,
    Side,
    Steps,
    TrailBatch,
    unchecked,
)
from hoplite.engine.hops.numpy_backend import NumpyBackend
from hoplite.engine.hops.scratch import Scratch, borrowed
from hoplite.storage.incidence import Adjacency, Incidence

# Nodes found, or entries looked at, between two calls of a check.
_WORK = 1 << 22
_FIRST_BATCH = 64
_Arrays: TypeAlias = tuple[kernels.SideArrays, kernels.SideArrays, bool, bool, Booleans]
_NO_POSITIONS: Positions = np.zeros(0, dtype=np.int64)
_NO_FLAGS: Booleans = np.zeros(0, dtype=np.bool_)
_NO_LISTS: kernels.Lists = (_NO_POSITIONS, _NO_POSITIONS)


class NumbaBackend(NumpyBackend):
    """NumPy, with compiled loops wherever the arrays can be read directly."""

    name = "numba"

    def expand(self, hop: Hop, nodes: Positions) -> Steps:
        arrays = _arrays(hop)
        if arrays is None:
            return super().expand(hop, nodes)
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
        arrays = _arrays(hop)
        if arrays is None or not len(groups):
            return super().arrivals(
                hop, groups, sources, upper, mark_starts=mark_starts, excluded=excluded, budget=budget, check=check
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
        arrays = _arrays(hop)
        if arrays is None:
            return super().ball(hop, sources, upper, mark_starts=mark_starts, check=check)
        with borrowed(hop.node_count) as scratch:
            return kernels.ball(
                *arrays, sources, UNLIMITED if upper is None else upper, mark_starts, scratch.mark, scratch.level
            )

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
        arrays = _arrays(hop)
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
        chunk: int = 4096,
        check: Check = unchecked,
    ) -> Iterator[TrailBatch]:
        arrays = _arrays(hop)
        if arrays is None:
            yield from super().trails(
                hop, sources, lower, upper, guide=guide, excluded=excluded, chunk=chunk, check=check
            )
            return
        if not len(sources):
            return
        search = _DepthFirst(arrays, sources, lower, upper, excluded)
        # Rows that are led by the same table of the guide are searched together.
        bounds = np.array([0, len(sources)])
        if guide is not None:
            bounds = np.concatenate(([0], np.flatnonzero(np.diff(guide.table)) + 1, [len(sources)]))
        size = _FIRST_BATCH
        for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            # The guide's arrays are lent only while the kernel runs: a caller may leave a batch and never come back.
            leads = None if guide is None else _Leads(guide, int(guide.table[first]), hop.node_count)
            status = kernels.FULL
            while status != kernels.DONE:
                check()
                status = search.run(last, leads, size)
                if status == kernels.FULL and search.is_empty:
                    size *= 2
                elif status in (kernels.FULL, kernels.WORKED) and not search.is_empty:
                    yield search.batch()
                    size = max(min(2 * size, chunk), size)
        if not search.is_empty:
            yield search.batch()

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
        arrays = _arrays(hop)
        if arrays is None:
            return super().count_trails(hop, sources, lower, upper, excluded=excluded, check=check)
        search = _DepthFirst(arrays, sources, lower, upper, excluded, counting=True)
        while search.run(len(sources), None, 0) != kernels.DONE:
            check()
        return search.counts

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
        nodes = np.zeros(1, dtype=np.int64)
        for use in (
            lambda: self.expand(hop, nodes),
            lambda: self.ball(hop, nodes, 1, mark_starts=True),
            lambda: self.arrivals(hop, nodes, nodes, 1, mark_starts=True),
            lambda: self.count_trails(hop, nodes, 1, 1),
            lambda: self.closings(hop, nodes, nodes, 1),
        ):
            if stop.is_set():
                return False
            use()
        return True


class _Leads:
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


class _DepthFirst:
    """A search for trails between two runs of the kernel, and what it has found so far."""

    def __init__(
        self,
        arrays: _Arrays,
        sources: Positions,
        lower: int,
        upper: int | None,
        excluded: Excluded | None,
        *,
        counting: bool = False,
    ) -> None:
        self.sources = np.ascontiguousarray(sources)
        self.lower, self.upper = lower, UNLIMITED if upper is None else upper
        self.arrays = arrays
        self.lists = _NO_LISTS if excluded is None else (excluded.offsets, excluded.relationships)
        self.counting = counting
        self.counts = np.zeros(len(sources) if counting else 0, dtype=np.int64)
        self.state = np.zeros(kernels.STATE_SIZE, dtype=np.int64)
        self.state[kernels.DEPTH] = -1
        self.stack = np.zeros((max(min(self.upper, 16), 1), 5), dtype=np.int64)
        self.room(0)

    def room(self, size: int) -> None:
        """New arrays to write to."""
        self.state[kernels.TRAILS] = self.state[kernels.RELATIONSHIPS] = 0
        self.row = np.empty(size, dtype=np.int64)
        self.ends = np.empty(size, dtype=np.int64)
        self.relationships = np.empty(size, dtype=np.int64)
        self.nodes = np.empty(size, dtype=np.int64)

    @property
    def is_empty(self) -> bool:
        return bool(self.state[kernels.TRAILS] == 0)

    def run(self, row_end: int, leads: _Leads | None, size: int) -> int:
        """Go on until a bound is met; says which (`kernels.DONE` and so on)."""
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
        status = kernels.trails(
            *self.arrays, self.lists, self.sources, row_end, self.lower, self.upper,
            guided, depth, mark, level, self.counting, self.counts, _WORK, self.state, self.stack,
            self.row, self.ends, self.relationships, self.nodes,
        )  # fmt: skip
        if status == kernels.TOO_DEEP:
            self.stack = np.concatenate((self.stack, np.zeros_like(self.stack)))
        return status

    def batch(self) -> TrailBatch:
        """What was found since the last batch."""
        trails, held = self.state[kernels.TRAILS], self.state[kernels.RELATIONSHIPS]
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), self.ends[:trails]))
        found = TrailBatch(self.row[:trails], offsets, self.relationships[:held], self.nodes[:held])
        self.room(0)
        return found


_NO_MARK: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
_NO_LEVEL: NDArray[np.int32] = np.zeros(0, dtype=np.int32)


def _arrays(hop: Hop) -> _Arrays | None:
    """What every kernel begins with: the arrays of both sides (one that is not read is stood in for by the other),
    which of them are read, and the types. None where the kernels cannot read the arrays."""
    known = hop.prepared.get("numba", False)
    if known is False:
        known = None
        if hop.is_plain and all(side.partitions[0].neighbours.dtype == np.int32 for side in hop.sides):
            sides = [_side_arrays(side.partitions[0]) for side in hop.sides]
            flags = _NO_FLAGS if hop.types is None else type_flags(hop.types)
            known = sides[0], sides[-1], hop.side is not Side.INCOMING, hop.side is not Side.OUTGOING, flags
        hop.prepared["numba"] = known
    return cast(_Arrays | None, known)


def _groups(groups: Positions) -> tuple[Positions, Positions]:
    """The distinct numbers of ascending groups, and where each begins."""
    if groups[0] == groups[-1]:
        return groups[:1], np.array((0, len(groups)), dtype=np.int64)
    begins = np.concatenate(([0], np.flatnonzero(np.diff(groups)) + 1, [len(groups)]))
    return groups[begins[:-1]], begins.astype(np.int64)


def _lists(excluded: Excluded | None, numbers: Positions) -> kernels.Lists:
    if excluded is None:
        return _NO_LISTS
    taken = excluded.take(numbers)
    return taken.offsets, taken.relationships


def _side_arrays(incidence: Incidence) -> kernels.SideArrays:
    relationships = incidence.relationships
    return (
        _as_compiled(incidence.indptr),
        _as_compiled(incidence.neighbours),
        _as_compiled(incidence.types),
        _NO_POSITIONS if relationships is None else _as_compiled(relationships),
        incidence.first_relationship,
    )


class _Unlocked:
    """The memory of an array, without its marks (read-only, memory-mapped): each would be compiled for anew."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.__array_interface__ = array.__array_interface__ | {"data": (array.ctypes.data, False)}


def _as_compiled(array: NDArray[Any]) -> NDArray[Any]:
    """A view that the kernels are compiled for. They never write to it."""
    if type(array) is np.ndarray and array.flags.writeable and array.flags.c_contiguous:
        return array
    return np.asarray(_Unlocked(np.ascontiguousarray(array)))
