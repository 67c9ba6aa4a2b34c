"""Ladybug, and Kuzu, from which it was forked: Cypher in their dialect, over tables loaded from Parquet.

A ball: `SHORTEST` after the star makes the pattern a breadth-first search, its lower bound must be 1, and a list of
seeds makes the plan scan all nodes, so each seed is queried separately and the answers are united. This was the fastest
of the forms tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.engine import BallWay, Engine, QueryWay, Row, arrow_rows, as_ids, as_list
from benchmarks.shapes import Shape
from benchmarks.workloads import BY_KEY, label_pairs, parameters

_BALL = "MATCH (a:N)-[:E* SHORTEST 1..{k}]->(b:N) WHERE a.id = $x RETURN DISTINCT b.id"
_THREADS = 2


class KuzuEngine(Engine):
    title = "Kuzu"
    package = "kuzu"
    module = "kuzu"

    def _connect(self) -> Any:
        database = self.library.Database(str(self.scratch / "database"), buffer_pool_size=4 << 30)
        return self.library.Connection(database, num_threads=_THREADS)

    def load_ball(self, shape: Shape) -> Sequence[BallWay]:
        connection = self._connect()
        connection.execute("CREATE NODE TABLE N(id INT64, PRIMARY KEY(id))")
        connection.execute("CREATE REL TABLE E(FROM N TO N)")
        self._copy(connection, "N", {"id": np.arange(shape.node_count)})
        self._copy(connection, "E", {"a": shape.start, "b": shape.end})
        asked = [connection.prepare(_BALL.format(k=max(k, 1))) for k in range(10)]

        def columns(seeds: list[int], k: int) -> Any:
            found = [connection.execute(asked[k], {"x": seed}).get_as_arrow()["b.id"].to_numpy() for seed in seeds]
            return np.unique(np.concatenate([*found, np.array(seeds)]))

        def objects(seeds: list[int], k: int) -> Any:
            found = set(seeds)
            for seed in seeds:
                found.update(number for (number,) in connection.execute(asked[k], {"x": seed}).get_all())
            return found

        return (
            BallWay("Cypher, by seed", "columns", columns, as_list, as_ids),
            BallWay("Cypher, by seed", "objects", objects, as_list, as_ids),
        )

    def load_queries(self, shape: Shape) -> Sequence[QueryWay]:
        connection = self._connect()
        for label in shape.label_names:
            nodes = shape.nodes(label)
            connection.execute(f"CREATE NODE TABLE {label}(id INT64, name STRING, PRIMARY KEY(id))")
            self._copy(connection, label, {"id": nodes, "name": [shape.names[node] for node in nodes.tolist()]})
        for name, (start_label, end_label) in label_pairs(shape).items():
            start, end = shape.ends(name)
            connection.execute(f"CREATE REL TABLE {name}(FROM {start_label} TO {end_label})")
            self._copy(connection, name, {"a": start, "b": end})
        given = parameters(shape)
        prepared = {key: connection.prepare(workload.cypher) for key, workload in BY_KEY.items()}

        def columns(key: str) -> Any:
            return connection.execute(prepared[key], given[key]).get_as_arrow()

        def objects(key: str) -> Any:
            return connection.execute(prepared[key], given[key]).get_all()

        return (
            QueryWay(
                "Cypher",
                "columns",
                columns,
                lambda key, table: _rows(key, arrow_rows(table)),
            ),
            QueryWay("Cypher", "objects", objects, _rows),
        )

    def _copy(self, connection: Any, table: str, columns: dict[str, Any]) -> None:
        path = self.scratch / f"{table}.parquet"
        pq.write_table(pa.table(columns), path)
        connection.execute(f"COPY {table} FROM '{path}'")
        path.unlink()


class LadybugEngine(KuzuEngine):
    title = "Ladybug"
    package = "ladybug"
    module = "ladybug"


def _rows(key: str, values: Sequence[Sequence[Any]]) -> list[Row]:
    if key == "c1":
        return [tuple(node["id"] for node in _nodes(path)) for (path,) in values]
    return [tuple(row) for row in values]


def _nodes(path: dict[str, Any]) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = path["_NODES"] if "_NODES" in path else path["_nodes"]
    return nodes
