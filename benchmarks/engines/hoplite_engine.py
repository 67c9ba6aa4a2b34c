"""Hoplite: Cypher text through `db.run`, and `db.khop`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.engine import BallWay, BatchWay, Engine, QueryWay, Row, Unavailable, arrow_rows, as_ids, as_list
from benchmarks.shapes import Integers, Shape
from benchmarks.workloads import BY_KEY, label_pairs, parameters

BALL = "UNWIND $s AS x MATCH (a:N {{id: x}})-[:E*0..{k}]->(b) RETURN DISTINCT b.id"
WARM_HOPS, WARM_SECONDS = 6, 600.0
BALLS = [BALL.format(k=k) for k in range(10)]


class HopliteEngine(Engine):
    title = "Hoplite"
    package = "hoplitedb"
    module = "hoplite"

    def _import(self) -> ModuleType:
        """Including what it imports at the first query, because the other libraries import everything at once."""
        library = super()._import()
        with library.open() as db:
            db.run("UNWIND range(1, 3) AS x CREATE (a:A {id: x})-[:T]->(b:A)").consume()
            db.run("MATCH (a:A)-[:T*0..2]->(b) RETURN DISTINCT b.id").to_arrow()
        return library

    def load_ball(self, shape: Shape) -> Sequence[BallWay]:
        db = self.db = self.library.open()
        db.load(
            nodes={"N": {"id": np.arange(shape.node_count)}},
            relationships={("N", "E", "N"): {"start": shape.start, "end": shape.end}},
        )
        db.run("CREATE CONSTRAINT IF NOT EXISTS FOR (n:N) REQUIRE n.id IS UNIQUE").consume()

        @cache  # made after the load, and not part of it
        def id_maps() -> tuple[Integers, Integers]:
            """The maps from the property `id` to id(n), and back."""
            table = db.run("MATCH (n:N) RETURN n.id AS number, id(n) AS id").to_arrow()
            ids = np.empty(shape.node_count, np.int64)
            ids[table["number"].to_numpy()] = table["id"].to_numpy()
            numbers = np.empty(int(ids.max()) + 1, np.int64)
            numbers[ids] = np.arange(len(ids))
            return ids, numbers

        def columns(seeds: list[int], k: int) -> Any:
            return db.run(BALLS[k], s=seeds).to_arrow()

        def objects(seeds: list[int], k: int) -> Any:
            return db.run(BALLS[k], s=seeds).value()

        def khop_objects(seeds: Integers, k: int) -> Any:
            return db.khop(seeds, k).tolist()

        def seeds_as_ids(seeds: Integers) -> Integers:
            seeds_ids: Integers = id_maps()[0][seeds]
            return seeds_ids

        def numbers_of(answer: Any) -> Integers:
            numbers: Integers = id_maps()[1][as_ids(answer)]
            return numbers

        def sets_as_ids(seed_sets: Sequence[Integers]) -> list[list[int]]:
            return [seeds_as_ids(seeds).tolist() for seeds in seed_sets]

        def in_one_call(seed_sets: list[list[int]], k: int) -> Any:
            return db.khop(seed_sets, k, batch=True)

        def one_by_one(seed_sets: list[list[int]], k: int) -> Any:
            return [db.khop(seeds, k) for seeds in seed_sets]

        def each(answer: tuple[Any, Any]) -> list[Integers]:
            offsets, values = answer
            return [numbers_of(values[begin:end]) for begin, end in pairwise(offsets.tolist())]

        self._batch_ways = (
            BatchWay("khop, batch", in_one_call, sets_as_ids, each),
            BatchWay("khop, one by one", one_by_one, sets_as_ids, lambda answers: list(map(numbers_of, answers))),
        )
        return (
            BallWay("Cypher", "columns", columns, as_list, lambda table: as_ids(table["b.id"])),
            BallWay("Cypher", "objects", objects, as_list, as_ids),
            BallWay("khop", "columns", db.khop, seeds_as_ids, numbers_of),
            BallWay("khop", "objects", khop_objects, seeds_as_ids, numbers_of),
        )

    def warm_up(self) -> None:
        """Hops are compiled in the background after some work, and cached on disk; EXPLAIN says when they are ready."""
        text = f"MATCH (a) WITH a LIMIT 20 MATCH (a)-[*0..{WARM_HOPS}]->(b) RETURN DISTINCT b.id"
        until = time.perf_counter() + WARM_SECONDS
        while "compiled loops (Numba)" not in self.db.explain(text):
            if time.perf_counter() > until:
                raise Unavailable(f"its loops were not compiled within {WARM_SECONDS:.0f} s")
            self.db.run(text).to_arrow()
            time.sleep(0.05)

    def batches(self) -> Sequence[BatchWay]:
        return self._batch_ways

    def load_queries(self, shape: Shape) -> Sequence[QueryWay]:
        db = self.db = self.library.open()
        labels = label_pairs(shape)
        relationships = {}
        for name in shape.type_names:
            start, end = shape.ends(name)
            relationships[labels[name][0], name, labels[name][1]] = {"start": start, "end": end}
        nodes = {
            label: {"id": shape.nodes(label), "name": [shape.names[node] for node in shape.nodes(label).tolist()]}
            for label in shape.label_names
        }
        db.load(nodes=nodes, relationships=relationships)
        for label in shape.label_names:
            db.run(f"CREATE CONSTRAINT IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE").consume()
            db.run(f"CREATE INDEX IF NOT EXISTS FOR (n:{label}) ON (n.name)").consume()
        given = parameters(shape)

        def columns(key: str) -> Any:
            return db.run(BY_KEY[key].cypher, given[key]).to_arrow()

        def objects(key: str) -> Any:
            return db.run(BY_KEY[key].cypher, given[key]).values()

        return (
            QueryWay("Cypher", "columns", columns, _arrow_rows),
            QueryWay("Cypher", "objects", objects, driver_rows),
        )

    def close(self) -> None:
        self.db.close()


def _arrow_rows(key: str, table: Any) -> list[Row]:
    if key == "c1":
        return [tuple(node["properties"]["id"] for node in path["nodes"]) for (path,) in arrow_rows(table)]
    return arrow_rows(table)


def driver_rows(key: str, values: list[list[Any]]) -> list[Row]:
    if key == "c1":
        return [tuple(node["id"] for node in path.nodes) for (path,) in values]
    return [tuple(row) for row in values]
