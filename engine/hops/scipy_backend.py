"""Frontiers as sparse products: F' = F . A over (or, and), with SciPy.

F  frontier    groups x nodes   CSR, one row for each search
A  adjacency   nodes x nodes    CSR, SUB . OBJ of one side: `indptr` and `neighbours` as they are, with ones for values

Products need whole arrays: hops with types, masks, excluded relationships, several partitions or a delta run in NumPy,
as does everything that asks which relationship was taken.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hoplite.engine.grouping import distinct
from hoplite.engine.hops.expansion import breadth, in_sorted
from hoplite.engine.hops.interface import UNLIMITED, Check, Excluded, Hop, Positions, SearchLevels, unchecked
from hoplite.engine.hops.numpy_backend import NumpyBackend
from hoplite.storage.incidence import Adjacency


class ScipyBackend(NumpyBackend):
    """Sparse products for plain frontiers, NumPy elsewhere."""

    name = "scipy"

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
        if not hop.is_plain or hop.types is not None or excluded is not None or not len(groups):
            return super().bfs_levels(
                hop, groups, sources, upper, mark_starts=mark_starts, excluded=excluded, budget=budget, check=check
            )
        n = hop.node_count
        matrices = _matrices(hop)
        first = int(groups[0])
        rows = int(groups[-1]) - first + 1
        starts: Positions = distinct((groups - first) * n + sources)
        seen = starts if mark_starts else starts[:0]
        keys, levels = [seen], [np.zeros(len(seen), dtype=np.int64)]
        frontier = starts
        level = 0
        while len(frontier) and (upper is None or level < upper):
            check()
            if budget is not None:
                budget -= breadth(hop, frontier % n)
                if budget < 0:
                    break
            level += 1
            entered: Positions = distinct(np.concatenate([_product(frontier, rows, n, matrix) for matrix in matrices]))
            new = entered[~in_sorted(entered, seen)]
            seen = np.sort(np.concatenate((seen, new)), kind="stable")
            keys.append(new)
            levels.append(np.full(len(new), level, dtype=np.int64))
            frontier = new
        key, found_level = np.concatenate(keys), np.concatenate(levels)
        order = np.argsort(key // n, kind="stable")
        key = key[order]
        return SearchLevels(key // n + first, key % n, found_level[order], level if len(frontier) else UNLIMITED)

    def bfs_nodes(
        self, hop: Hop, sources: Positions, upper: int | None, *, mark_starts: bool, check: Check = unchecked
    ) -> Positions:
        together = np.zeros(len(sources), dtype=np.int64)
        return self.bfs_levels(hop, together, sources, upper, mark_starts=mark_starts, check=check).nodes


def _matrices(hop: Hop) -> list[csr_array]:
    """One matrix for each side of the hop, made once."""
    known = hop.prepared.get("scipy")
    if known is None:
        known = hop.prepared["scipy"] = [_matrix(side) for side in hop.sides]
    return cast(list[csr_array], known)


def _matrix(side: Adjacency) -> csr_array:
    incidence = side.partitions[0]
    ones: NDArray[np.bool_] = np.ones(len(incidence.neighbours), dtype=np.bool_)
    return csr_array((ones, incidence.neighbours, incidence.indptr), shape=(side.node_count, side.node_count))


def _product(frontier: Positions, rows: int, n: int, matrix: csr_array) -> Positions:
    """The pairs row * n + node that one product leads to, from such pairs in `frontier`, ascending."""
    indptr = np.searchsorted(frontier, np.arange(rows + 1, dtype=np.int64) * n)
    ones = np.ones(len(frontier), dtype=np.bool_)
    led = csr_array((ones, frontier % n, indptr), shape=(rows, n)) @ matrix
    row = np.repeat(np.arange(rows, dtype=np.int64), np.diff(led.indptr))
    pairs: Positions = row * n + led.indices
    return pairs
