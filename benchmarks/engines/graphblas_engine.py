"""python-graphblas (SuiteSparse): vector times matrix over (any, pair), under the complement of what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.engine import BallWay, Engine, as_ids
from benchmarks.shapes import Integers, Shape


class GraphblasEngine(Engine):
    title = "GraphBLAS"
    package = "python-graphblas"
    module = "graphblas"

    def load_ball(self, shape: Shape) -> Sequence[BallWay]:
        blas = self.library
        size = shape.node_count
        matrix = blas.Matrix.from_coo(shape.start, shape.end, True, nrows=size, ncols=size)
        hop = blas.semiring.any_pair

        def columns(seeds: Integers, k: int) -> Integers:
            frontier = blas.Vector.from_coo(np.unique(seeds), True, size=size, dtype=bool)
            seen = frontier.dup()
            for _ in range(k):
                frontier(~seen.S, replace=True) << hop(frontier @ matrix)
                if not frontier.nvals:
                    break
                seen(frontier.S) << True
            numbers: Integers = seen.to_coo(values=False)[0]
            return numbers

        def objects(seeds: Integers, k: int) -> Any:
            return columns(seeds, k).tolist()

        return (
            BallWay("any-pair", "columns", columns, lambda seeds: seeds, as_ids),
            BallWay("any-pair", "objects", objects, lambda seeds: seeds, as_ids),
        )
