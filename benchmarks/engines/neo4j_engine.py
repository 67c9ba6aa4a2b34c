"""A live Neo4j at $NEO4J_URI through the official driver; $NEO4J_USER and $NEO4J_PASSWORD if it needs them.

The database must be empty (or hold only what a benchmark left there): it is filled in batches, and emptied afterwards.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.engine import BallWay, Engine, QueryWay, Unavailable, as_ids, as_list
from benchmarks.engines.hoplite_engine import BALLS, driver_rows
from benchmarks.shapes import Shape
from benchmarks.workloads import BY_KEY, label_pairs, parameters

_MARK = "HopliteBenchmark"  # a node with this label says that a benchmark created everything else
_BATCH = 50_000
_WARM_SECONDS = 2.0  # per question


class Neo4jEngine(Engine):
    title = "Neo4j"
    package = "neo4j"
    module = "neo4j"
    in_process = False
    _asked: Sequence[Callable[[], Any]] = ()

    def _import(self) -> ModuleType:
        uri = os.environ.get("NEO4J_URI")
        if not uri:
            raise Unavailable("NEO4J_URI is not set")
        library = super()._import()
        user, password = os.environ.get("NEO4J_USER", "neo4j"), os.environ.get("NEO4J_PASSWORD")
        self.driver = library.GraphDatabase.driver(uri, auth=None if password is None else (user, password))
        try:
            self.driver.verify_connectivity()
        except Exception as error:
            raise Unavailable(f"{uri} does not answer: {error}") from error
        return library

    def version(self) -> str:
        records, _, _ = self.driver.execute_query("CALL dbms.components() YIELD versions RETURN versions[0]")
        return str(records[0][0])

    def load_ball(self, shape: Shape) -> Sequence[BallWay]:
        run = self.begin()
        run("CREATE CONSTRAINT FOR (n:N) REQUIRE n.id IS UNIQUE")
        for begin in range(0, shape.node_count, _BATCH):
            end = min(shape.node_count, begin + _BATCH) - 1
            run("UNWIND range($begin, $end) AS i CREATE (:N {id: i})", begin=begin, end=end)
        run("CALL db.awaitIndexes(300)")
        self.connect_nodes(run, "N", "E", "N", shape.start, shape.end)
        session = self.driver.session(default_access_mode="READ")

        def objects(seeds: list[int], k: int) -> Any:
            return session.run(BALLS[k], s=seeds).value()

        self._asked = [partial(objects, [node], k) for k in range(1, 6) for node in range(1, 4)]
        return (BallWay("Cypher", "objects", objects, as_list, as_ids),)

    def load_queries(self, shape: Shape) -> Sequence[QueryWay]:
        run = self.begin()
        for label in shape.label_names:
            run(f"CREATE CONSTRAINT FOR (n:{label}) REQUIRE n.id IS UNIQUE")
            run(f"CREATE INDEX FOR (n:{label}) ON (n.name)")
            rows = [[node, shape.names[node]] for node in shape.nodes(label).tolist()]
            for begin in range(0, len(rows), _BATCH):
                text = f"UNWIND $rows AS row CREATE (:{label} {{id: row[0], name: row[1]}})"
                run(text, rows=rows[begin : begin + _BATCH])
        run("CALL db.awaitIndexes(300)")
        for name, (start_label, end_label) in label_pairs(shape).items():
            self.connect_nodes(run, start_label, name, end_label, *shape.ends(name))
        given = parameters(shape)
        session = self.driver.session(default_access_mode="READ")

        def objects(key: str) -> Any:
            return session.run(BY_KEY[key].cypher, given[key]).values()

        self._asked = [partial(objects, key) for key in BY_KEY]
        return (QueryWay("Cypher", "objects", objects, driver_rows),)

    def warm_up(self) -> None:
        """The server compiles plans in the background once they have run for a while."""
        for ask in self._asked:
            until = time.perf_counter() + _WARM_SECONDS
            while time.perf_counter() < until:
                ask()

    def close(self) -> None:
        self._empty()
        self.driver.close()

    def begin(self) -> Callable[..., Any]:
        """A function that runs a query in its own transaction, after checking that we may fill the database."""
        run: Callable[..., Any] = self.driver.execute_query
        (count, marked), *_ = run(f"MATCH (n) RETURN count(*), count(CASE WHEN n:{_MARK} THEN 1 END)").records
        if count and not marked:
            raise Unavailable(f"the database at $NEO4J_URI holds {count:,} nodes; the benchmark needs an empty one")
        self._empty()
        run(f"CREATE (:{_MARK})")
        return run

    def _empty(self) -> None:
        with self.driver.session() as session:
            text = f"MATCH (n) WHERE NOT n:{_MARK} CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 1000 ROWS"
            session.run(text).consume()
            for record in session.run("SHOW CONSTRAINTS YIELD name RETURN name").data():
                session.run(f"DROP CONSTRAINT {record['name']}").consume()
            for record in session.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name").data():
                session.run(f"DROP INDEX {record['name']}").consume()
            session.run(f"MATCH (n:{_MARK}) DELETE n").consume()

    def connect_nodes(
        self, run: Callable[..., Any], start_label: str, name: str, end_label: str, start: Any, end: Any
    ) -> None:
        """Relationships between nodes with these ids."""
        text = (
            f"UNWIND $pairs AS pair MATCH (a:{start_label} {{id: pair[0]}}) MATCH (b:{end_label} {{id: pair[1]}}) "
            f"CREATE (a)-[:{name}]->(b)"
        )
        pairs = np.column_stack((start, end))
        for begin in range(0, len(pairs), _BATCH):
            run(text, pairs=pairs[begin : begin + _BATCH].tolist())
