"""python-graphblas (SuiteSparse): vector times matrix over (any, pair), masked by the complement of what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.engine import BallWay, BatchWay, Engine, as_ids
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

        def batch(seed_sets: Sequence[Integers], k: int) -> Any:
            rows = np.repeat(np.arange(len(seed_sets)), [len(seeds) for seeds in seed_sets])
            given = (rows, np.concatenate(list(seed_sets)))
            frontier = blas.Matrix.from_coo(*given, True, nrows=len(seed_sets), ncols=size, dtype=bool)
            seen = frontier.dup()
            for _ in range(k):
                frontier(~seen.S, replace=True) << hop(frontier @ matrix)
                if not frontier.nvals:
                    break
                seen(frontier.S) << True
            return seen.to_coo(values=False)[:2], len(seed_sets)

        def each(answer: Any) -> list[Integers]:
            (rows, numbers), count = answer
            order = np.argsort(rows, kind="stable")
            return np.split(numbers[order], np.searchsorted(rows[order], np.arange(1, count)))

        self._batch_ways = (BatchWay("any-pair, matrix x matrix", batch, lambda seed_sets: seed_sets, each),)
        return (
            BallWay("any-pair", "columns", columns, lambda seeds: seeds, as_ids),
            BallWay("any-pair", "objects", objects, lambda seeds: seeds, as_ids),
        )

    def batches(self) -> Sequence[BatchWay]:
        return self._batch_ways
