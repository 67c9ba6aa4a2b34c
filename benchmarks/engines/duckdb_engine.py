"""DuckDB: SQL over tables ordered by their first column.

A ball is k explicit semi-joins: a recursive query would build a hash table of all relationships for every question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.engine import BallWay, Engine, QueryWay, Row, arrow_rows, as_ids, as_list
from benchmarks.shapes import Shape
from benchmarks.workloads import BY_KEY, parameters

_THREADS = 2


def _ball(k: int) -> str:
    levels = ["h0 AS MATERIALIZED (SELECT unnest(list_distinct(?::BIGINT[])) AS id)"]
    for level in range(1, k + 1):
        near = f"SELECT DISTINCT b AS id FROM e WHERE a IN (SELECT id FROM h{level - 1})"
        levels.append(f"h{level} AS MATERIALIZED ({near})")
    every = " UNION ALL ".join(f"SELECT id FROM h{level}" for level in range(k + 1))
    return f"WITH {', '.join(levels)} SELECT DISTINCT id FROM ({every})"


_BALLS = [_ball(k) for k in range(10)]


class DuckdbEngine(Engine):
    title = "DuckDB"
    package = "duckdb"
    module = "duckdb"

    def _connect(self) -> Any:
        return self.library.connect(config={"threads": _THREADS})

    def load_ball(self, shape: Shape) -> Sequence[BallWay]:
        connection = self._connect()
        connection.register("given", _table(a=shape.start, b=shape.end))
        connection.execute("CREATE TABLE e AS SELECT * FROM given ORDER BY a")
        connection.unregister("given")

        def columns(seeds: list[int], k: int) -> Any:
            return connection.execute(_BALLS[k], [seeds]).fetchnumpy()

        def objects(seeds: list[int], k: int) -> Any:
            return connection.execute(_BALLS[k], [seeds]).fetchall()

        return (
            BallWay("SQL", "columns", columns, as_list, lambda columns: as_ids(columns["id"])),
            BallWay("SQL", "objects", objects, as_list, lambda rows: np.array([number for (number,) in rows])),
        )

    def load_queries(self, shape: Shape) -> Sequence[QueryWay]:
        connection = self._connect()
        labels = np.repeat(np.array(shape.label_names, object), np.diff(shape.label_begin))
        nodes = _table(id=np.arange(shape.node_count), label=labels.tolist(), name=shape.names)
        connection.register("given", nodes)
        connection.execute("CREATE TABLE node AS SELECT * FROM given")
        connection.execute("CREATE UNIQUE INDEX node_id ON node (id)")
        connection.execute("CREATE INDEX node_name ON node (name)")
        for name in shape.type_names:
            start, end = shape.ends(name)
            connection.register("given", _table(a=start, b=end))
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given ORDER BY a")
        connection.unregister("given")
        given = parameters(shape)

        def columns(key: str) -> Any:
            return connection.execute(BY_KEY[key].sql, given[key]).to_arrow_table()

        def objects(key: str) -> Any:
            return connection.execute(BY_KEY[key].sql, given[key]).fetchall()

        return (
            QueryWay("SQL", "columns", columns, lambda key, table: _rows(key, arrow_rows(table))),
            QueryWay("SQL", "objects", objects, _rows),
        )


def _table(**columns: Any) -> Any:
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def _rows(key: str, rows: list[Row]) -> list[Row]:
    if key == "c1":
        return [tuple(number for number in row if number is not None) for row in rows]
    return rows
