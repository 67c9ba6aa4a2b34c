"""How each engine of the counts loads a graph and counts a pattern, in its own process."""

from __future__ import annotations

import importlib
import importlib.metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from benchmarks.counts_graph import MESSAGES, Ends, Graph
from benchmarks.counts_patterns import Pattern
from benchmarks.engine import Unavailable
from benchmarks.engines.neo4j_engine import Neo4jEngine

_THREADS = 2


class Counter:
    """An engine that counts."""

    title: ClassVar[str]
    module: ClassVar[str]

    def __init__(self) -> None:
        try:
            self.library: Any = importlib.import_module(self.module)
        except ImportError as error:
            raise Unavailable(f"not installed, or cannot be imported: {error}") from error

    def version(self) -> str:
        return importlib.metadata.version(self.module)

    def load(self, graph: Graph) -> None:
        raise NotImplementedError

    def count(self, pattern: Pattern, seconds: float) -> int:
        raise NotImplementedError

    def close(self) -> None:
        """Leave nothing behind."""


class HopliteCounter(Counter):
    """Hoplite, in memory."""

    title = "Hoplite"
    module = "hoplite"

    def version(self) -> str:
        return str(self.library.__version__)

    def load(self, graph: Graph) -> None:
        self._db = self.library.open()
        nodes: dict[Any, Any] = {
            ("Message", label) if label in MESSAGES else label: {"id": graph.numbers(label)} for label in graph.sizes
        }
        relationships = {ends: {"start": start, "end": end} for ends, (start, end) in graph.relationships.items()}
        self._db.load(nodes=nodes, relationships=relationships, key="id")

    def count(self, pattern: Pattern, seconds: float) -> int:
        with self._db.session(timeout=seconds) as session:
            return int(session.run(pattern.cypher).single()["count"])

    def close(self) -> None:
        self._db.close()


class DuckdbCounter(Counter):
    """DuckDB: SQL over one table for each kind of relationship."""

    title = "DuckDB, SQL"
    module = "duckdb"

    def load(self, graph: Graph) -> None:
        self._connection = self.library.connect(config={"threads": _THREADS})
        types: dict[str, list[str]] = {}
        for ends, (start, end) in graph.relationships.items():
            name = "_".join(ends).lower()
            types.setdefault(ends[1].lower(), []).append(name)
            self._connection.register("given", _arrow(start, end))
            self._connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        for name, tables in types.items():
            every = " UNION ALL ".join(f"SELECT a, b FROM {table}" for table in tables)
            turned = " UNION ALL SELECT b, a FROM person_knows_person" if name == "knows" else ""
            self._connection.execute(f"CREATE TABLE {name} AS {every}{turned}")

    def count(self, pattern: Pattern, seconds: float) -> int:
        return int(self._connection.execute(pattern.sql).fetchone()[0])


class LadybugCounter(Counter):
    """Ladybug: its Cypher has no second label, so a message is a post or a comment."""

    title = "Ladybug"
    module = "ladybug"

    def load(self, graph: Graph) -> None:
        self._connection = self.library.Connection(self.library.Database(), num_threads=_THREADS)
        with TemporaryDirectory() as folder:
            for label in graph.sizes:
                self._connection.execute(f"CREATE NODE TABLE {label}(id INT64, PRIMARY KEY(id))")
                self._copy(Path(folder), label, {"id": graph.numbers(label)})
            for name in dict.fromkeys(ends[1] for ends in graph.relationships):
                every = graph.ends(name)
                between = ", ".join(f"FROM {start} TO {end}" for start, _, end in every)
                self._connection.execute(f"CREATE REL TABLE {name}({between})")
                for ends in every:
                    self._copy_relationships(Path(folder), ends, graph, len(every) > 1)

    def _copy_relationships(self, folder: Path, ends: Ends, graph: Graph, is_one_of_several: bool) -> None:
        start, end = graph.relationships[ends]
        told = f" (from='{ends[0]}', to='{ends[2]}')" if is_one_of_several else ""
        self._copy(folder, ends[1], {"a": start, "b": end}, told)

    def _copy(self, folder: Path, table: str, columns: dict[str, Any], told: str = "") -> None:
        arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
        file = folder / "given.parquet"
        parquet.write_table(arrow.table(columns), file)
        self._connection.execute(f"COPY {table} FROM '{file}'{told}")

    def count(self, pattern: Pattern, seconds: float) -> int:
        self._connection.set_query_timeout(int(1000 * seconds))
        text = pattern.cypher.replace("(m:Message)", "(m:Post:Comment)")
        return int(self._connection.execute(text).get_next()[0])


class Neo4jCounter(Counter):
    """A live Neo4j, as in the other benchmarks."""

    title = "Neo4j"
    module = "neo4j"

    def __init__(self) -> None:
        self._engine = Neo4jEngine(Path())

    def version(self) -> str:
        return self._engine.version()

    def load(self, graph: Graph) -> None:
        run = self._engine.begin()
        for label in graph.sizes:
            also = ":Message" if label in MESSAGES else ""
            run(f"CREATE CONSTRAINT FOR (n:{label}) REQUIRE n.id IS UNIQUE")
            numbers = graph.numbers(label)
            for ids in np.array_split(numbers, -(-len(numbers) // 50_000)):
                run(f"UNWIND $ids AS i CREATE (:{label}{also} {{id: i}})", ids=ids.tolist())
        run("CALL db.awaitIndexes(300)")
        for (start, name, end), (starts, ends) in graph.relationships.items():
            self._engine.connect_nodes(run, start, name, end, starts, ends)
        self._session = self._engine.driver.session(default_access_mode="READ")

    def count(self, pattern: Pattern, seconds: float) -> int:
        query = self._engine.library.Query(pattern.cypher, timeout=seconds)
        return int(self._session.run(query).single()["count"])

    def close(self) -> None:
        self._session.close()
        self._engine.close()


COUNTERS: dict[str, type[Counter]] = {
    "hoplite": HopliteCounter,
    "duckdb": DuckdbCounter,
    "ladybug": LadybugCounter,
    "neo4j": Neo4jCounter,
}


def _arrow(start: Any, end: Any) -> Any:
    return importlib.import_module("pyarrow").table({"a": start, "b": end})
