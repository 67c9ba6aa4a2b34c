"""kglite: Cypher text. It is imported before Numba, whose library would take the static TLS it needs.

A ball is queried with a list of seeds in WHERE, which takes two thirds of the time of UNWIND.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.engine import BallWay, Engine, QueryWay, Row, as_ids, as_list
from benchmarks.shapes import Shape
from benchmarks.workloads import BY_KEY, label_pairs, parameters

_BALLS = [f"MATCH (a:N)-[:E*0..{k}]->(b:N) WHERE a.id IN $s RETURN DISTINCT b.id" for k in range(10)]


class KgliteEngine(Engine):
    title = "kglite"
    package = "kglite"
    module = "kglite"

    def load_ball(self, shape: Shape) -> Sequence[BallWay]:
        graph = self.library.KnowledgeGraph()
        numbers = np.arange(shape.node_count)
        graph.add_nodes(pd.DataFrame({"id": numbers, "name": numbers.astype(str)}), "N", "id", "name")
        graph.add_connections(pd.DataFrame({"a": shape.start, "b": shape.end}), "E", "N", "a", "N", "b")

        def columns(seeds: list[int], k: int) -> Any:
            return graph.cypher(_BALLS[k], params={"s": seeds}, to_df=True)

        def objects(seeds: list[int], k: int) -> Any:
            return graph.cypher(_BALLS[k], params={"s": seeds}).column("b.id")

        return (
            BallWay("Cypher", "columns", columns, as_list, lambda frame: as_ids(frame["b.id"])),
            BallWay("Cypher", "objects", objects, as_list, as_ids),
        )

    def load_queries(self, shape: Shape) -> Sequence[QueryWay]:
        graph = self.library.KnowledgeGraph()
        for label in shape.label_names:
            nodes = shape.nodes(label)
            table = pd.DataFrame({"id": nodes, "name": [shape.names[node] for node in nodes.tolist()]})
            graph.add_nodes(table, label, "id", "name")
        for name, (start_label, end_label) in label_pairs(shape).items():
            start, end = shape.ends(name)
            graph.add_connections(pd.DataFrame({"a": start, "b": end}), name, start_label, "a", end_label, "b")
        given = parameters(shape)

        def columns(key: str) -> Any:
            return graph.cypher(BY_KEY[key].cypher, params=given[key], to_df=True)

        def objects(key: str) -> Any:
            return graph.cypher(BY_KEY[key].cypher, params=given[key]).to_list()

        return (
            QueryWay("Cypher", "columns", columns, lambda key, frame: _rows(key, frame.to_dict("records"))),
            QueryWay("Cypher", "objects", objects, _rows),
        )


def _rows(key: str, records: list[dict[str, Any]]) -> list[Row]:
    if key == "c1":
        return [tuple(node["properties"]["id"] for node in record["p"]["nodes"]) for record in records]
    return [tuple(record.values()) for record in records]
