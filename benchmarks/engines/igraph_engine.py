"""igraph: its own neighbourhood of a given order for each seed, united."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.engine import BallWay, Engine, as_ids, as_list
from benchmarks.shapes import Shape


class IgraphEngine(Engine):
    title = "igraph"
    package = "igraph"
    module = "igraph"

    def load_ball(self, shape: Shape) -> Sequence[BallWay]:
        pairs = np.column_stack((shape.start, shape.end))
        graph = self.library.Graph(n=shape.node_count, edges=pairs, directed=True)

        def ball(seeds: list[int], k: int) -> set[int]:
            return set().union(*graph.neighborhood(seeds, order=k, mode="out"))

        return (BallWay("neighborhood", "objects", ball, as_list, as_ids),)
