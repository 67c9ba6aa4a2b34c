"""The kernels compiled with Numba: hops over plain adjacencies go to compiled loops, all others to NumPy.

The first use compiles (seconds) and keeps the machine code on disk; later processes load it (a fraction of a second).
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import Any, cast

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
from hoplite.engine.hops.numba_trails import Arrays, count_by_search, search_trails
from hoplite.engine.hops.numpy_backend import NumpyBackend
from hoplite.engine.hops.scratch import borrowed
from hoplite.storage.incidence import Adjacency, Incidence

# Nodes found, or entries looked at, between two calls of a check.
_WORK = 1 << 22
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
        yield from search_trails(arrays, hop.node_count, sources, lower, upper, guide, excluded, chunk, check)

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


def _arrays(hop: Hop) -> Arrays | None:
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
    return cast(Arrays | None, known)


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
