"""NetworkX: a frontier of Python sets over its adjacency."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.engine import BallWay, Engine, as_ids, as_list
from benchmarks.shapes import Shape


class NetworkxEngine(Engine):
    title = "NetworkX"
    package = "networkx"
    module = "networkx"

    def load_ball(self, shape: Shape) -> Sequence[BallWay]:
        graph = self.library.DiGraph()
        graph.add_nodes_from(range(shape.node_count))
        graph.add_edges_from(zip(shape.start.tolist(), shape.end.tolist(), strict=True))
        adjacency = graph._adj  # what graph.adj wraps, which is four times as fast to read

        def ball(seeds: list[int], k: int) -> set[int]:
            seen = set(seeds)
            frontier = seen.copy()
            for _ in range(k):
                reached: set[int] = set()
                for node in frontier:
                    reached.update(adjacency[node])
                reached -= seen
                seen |= reached
                frontier = reached
            return seen

        return (BallWay("sets", "objects", ball, as_list, as_ids),)
