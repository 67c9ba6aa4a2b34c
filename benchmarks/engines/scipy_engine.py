"""SciPy: a sparse row times the adjacency matrix. NumPy: the same hops as gathers over the matrix's arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks.engine import BallWay, Engine, as_ids
from benchmarks.limit import out_arrays
from benchmarks.shapes import Integers, Shape


def _ways(name: str, ball: Callable[[Integers, int], Integers]) -> Sequence[BallWay]:
    def objects(seeds: Integers, k: int) -> Any:
        return ball(seeds, k).tolist()

    return (
        BallWay(name, "columns", ball, lambda seeds: seeds, as_ids),
        BallWay(name, "objects", objects, lambda seeds: seeds, as_ids),
    )


class ScipyEngine(Engine):
    title = "SciPy"
    package = "scipy"
    module = "scipy.sparse"

    def load_ball(self, shape: Shape) -> Sequence[BallWay]:
        size = shape.node_count
        ones = np.ones(len(shape.start), bool)
        matrix = csr_array((ones, (shape.start, shape.end)), shape=(size, size))

        def ball(seeds: Integers, k: int) -> Integers:
            seen = np.zeros(size, bool)
            frontier = np.unique(seeds)
            seen[frontier] = True
            for _ in range(k):
                row = csr_array((np.ones(len(frontier), bool), frontier, np.array([0, len(frontier)])), shape=(1, size))
                reached = (row @ matrix).indices
                frontier = reached[~seen[reached]]
                if not len(frontier):
                    break
                seen[frontier] = True
            return np.flatnonzero(seen)

        return _ways("row x CSR", ball)


class NumpyEngine(Engine):
    title = "NumPy"
    package = "numpy"
    module = "numpy"

    def load_ball(self, shape: Shape) -> Sequence[BallWay]:
        starts, ends = out_arrays(shape)

        def ball(seeds: Integers, k: int) -> Integers:
            seen = np.zeros(shape.node_count, bool)
            frontier = np.unique(seeds)
            seen[frontier] = True
            for _ in range(k):
                begin = starts[frontier]
                counts = starts[frontier + 1] - begin
                before = np.cumsum(counts) - counts
                reached = ends[np.arange(counts.sum()) + np.repeat(begin - before, counts)]
                fresh = np.zeros(shape.node_count, bool)
                fresh[reached] = True
                fresh &= ~seen
                frontier = np.flatnonzero(fresh)
                if not len(frontier):
                    break
                seen |= fresh
            return np.flatnonzero(seen)

        return _ways("gathers", ball)
