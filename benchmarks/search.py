"""Vector and full-text search compared with others: building an index, the ten best for a question, how many of the
true nearest are among them, and the question after one more write.

    python -m benchmarks.search                          # 100,000 vectors of 384 numbers, 100,000 documents
    python -m benchmarks.search --count 20000 --neo4j bolt://127.0.0.1:7687      # its database is emptied

All engines hold the same data and answer the same questions in turn, round after round, so that a slow minute of the
machine affects all. Reported is the minimum of all rounds for each question: CPU time for engines in this process,
which other work on the machine changes little; wall time for a server. `usearch alone` is the limit of vector search:
the same graph without a database around it. Engines that are not installed are named, with the reason.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

import hoplite

LENGTH, BEST = 384, 10
Floats = NDArray[np.float32]


class Engine(Protocol):
    """What each engine has to do; ids are the numbers of vectors or documents."""

    def nearest(self, vector: Floats) -> list[int]:
        """The ten nearest."""
        ...

    def find(self, query: str) -> list[int]:
        """The ten best documents."""
        ...

    def write(self, number: int, vector: Floats, text: str) -> None:
        """One more."""
        ...


@dataclass
class Taken:
    """What an engine took."""

    build: dict[str, tuple[float, float | None]] = field(default_factory=dict)
    least: dict[str, dict[int, float]] = field(default_factory=dict)
    found: dict[int, list[int]] = field(default_factory=dict)


# --- data ---


def vectors(count: int, seed: int) -> Floats:
    """Vectors as of texts: of 32 directions that matter, and noise."""
    common = np.random.default_rng(0).standard_normal((32, LENGTH)).astype(np.float32)
    choose = np.random.default_rng(seed)
    made = choose.standard_normal((count, 32)).astype(np.float32) @ common
    made += 0.3 * choose.standard_normal((count, LENGTH)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def documents(count: int, seed: int) -> list[str]:
    """Texts of 40 words, some of which are common (as Zipf has it)."""
    choose = np.random.default_rng(seed)
    numbers = np.minimum(choose.zipf(1.3, (count, 40)), 50_000)
    return [" ".join(f"word{number}" for number in row) for row in numbers.tolist()]


QUERIES = {
    "a rare word": "word4321",
    "a common word": "word2",
    "three of them": "word2 word77 word4321",
    "both": "+word3 +word50",
    "a phrase": '"word1 word2"',
    "a phrase with gaps": '"word2 word3"~3',
    "a prefix": "word432*",
}


# --- engines ---


class OfHoplite:
    """A folder, with the indexes that Cypher makes."""

    def __init__(self, folder: Path) -> None:
        self.database = hoplite.open(folder / "search.hop")

    def build_vectors(self, data: Floats) -> None:
        """Load and index."""
        self.database.load(nodes={"V": {"id": np.arange(len(data)), "e": data}})
        config = "`vector.similarity_function`: 'cosine', `vector.dimensions`: 384"
        self.database.run(f"CREATE VECTOR INDEX v FOR (n:V) ON (n.e) OPTIONS {{indexConfig: {{{config}}}}}").consume()
        self.database.run("CALL db.awaitIndexes(3000)").consume()

    def build_texts(self, data: list[str]) -> None:
        """Load and index."""
        self.database.load(nodes={"T": {"id": np.arange(len(data)), "t": data}})
        self.database.run("CREATE FULLTEXT INDEX t FOR (n:T) ON EACH [n.t]").consume()
        self.find("word1")

    def nearest(self, vector: Floats) -> list[int]:
        """By the procedure."""
        text = "CALL db.index.vector.queryNodes('v', 10, $vector) YIELD node RETURN node.id AS id"
        return self.database.run(text, vector=vector).value()

    def find(self, query: str) -> list[int]:
        """By the procedure."""
        text = "CALL db.index.fulltext.queryNodes('t', $query, {limit: 10}) YIELD node RETURN node.id AS id"
        return self.database.run(text, query=query).value()

    def write(self, number: int, vector: Floats, text: str) -> None:
        """By CREATE."""
        self.database.run(
            "CREATE (:V {id: $id, e: $e}), (:T {id: $id, t: $t})", id=number, e=vector.tolist(), t=text
        ).consume()


class OfUsearch:
    """The library alone, at Neo4j's settings."""

    def __init__(self, folder: Path) -> None:
        from usearch.index import Index

        self.index: Any = Index(
            ndim=LENGTH, metric="ip", dtype="f16", connectivity=16, expansion_add=100, expansion_search=192
        )

    def build_vectors(self, data: Floats) -> None:
        """As many threads as Hoplite takes."""
        self.index.add(np.arange(len(data)), data, threads=max((os.cpu_count() or 1) // 2, 1))

    def nearest(self, vector: Floats) -> list[int]:
        """One question."""
        found: list[int] = self.index.search(vector, BEST, threads=1).keys.tolist()
        return found

    def write(self, number: int, vector: Floats, text: str) -> None:
        """One more vector."""
        self.index.add(number, vector)


class OfKglite:
    """Its own calls; it has no Lucene syntax, so it only gets plain words."""

    def __init__(self, folder: Path) -> None:
        import kglite

        self.graph: Any = kglite.KnowledgeGraph()

    def _nodes(self, label: str, columns: dict[str, Any]) -> None:
        import pandas as pd

        self.graph.add_nodes(pd.DataFrame(columns), label, "id", "id")

    def build_vectors(self, data: Floats) -> None:
        """Its HNSW at Neo4j's settings."""
        self._nodes("V", {"id": np.arange(len(data)), "e": [""] * len(data)})
        self.graph.set_embeddings("V", "e", dict(enumerate(data.tolist())), metric="cosine")
        self.graph.build_vector_index("V", "e", m=16, ef_construction=100)

    def build_texts(self, data: list[str]) -> None:
        """Its BM25."""
        self._nodes("T", {"id": np.arange(len(data)), "t": data})
        self.graph.build_text_index("T", "t")

    def nearest(self, vector: Floats) -> list[int]:
        """One question."""
        rows = self.graph.select("V").vector_search("e", vector.tolist(), top_k=BEST)
        return [row["id"] for row in rows]

    def find(self, query: str) -> list[int]:
        """Words by BM25."""
        if any(sign in query for sign in '"+*~'):
            raise NotImplementedError("it has no such syntax")
        text = (
            f"MATCH (n:T) WITH n, text_bm25(n, 't', '{query}') AS score WHERE score > 0 "
            "RETURN n.id AS id ORDER BY score DESC LIMIT 10"
        )
        return [row["id"] for row in self.graph.cypher(text).to_list()]

    def write(self, number: int, vector: Floats, text: str) -> None:
        """One more of each."""
        self._nodes("V", {"id": [number], "e": [""]})
        self.graph.add_embeddings("V", "e", {number: vector.tolist()})
        self._nodes("T", {"id": [number], "t": [text]})


class OfNeo4j:
    """A live server, by its driver."""

    def __init__(self, uri: str) -> None:
        import neo4j

        self.driver = neo4j.GraphDatabase.driver(uri)
        self._run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS")
        for name in ("v", "t"):
            self._run(f"DROP INDEX {name} IF EXISTS")

    def _run(self, text: str, **given: Any) -> list[Any]:
        with self.driver.session() as session:
            return list(session.run(text, given))

    def _load(self, label: str, key: str, values: list[Any]) -> None:
        for first in range(0, len(values), 2000):
            rows = [{"id": first + row, key: value} for row, value in enumerate(values[first : first + 2000])]
            self._run(f"UNWIND $rows AS row CREATE (n:{label}) SET n = row", rows=rows)

    def build_vectors(self, data: Floats) -> None:
        """Send and index."""
        self._load("V", "e", data.tolist())
        config = "`vector.similarity_function`: 'cosine', `vector.dimensions`: 384"
        self._run(f"CREATE VECTOR INDEX v FOR (n:V) ON (n.e) OPTIONS {{indexConfig: {{{config}}}}}")
        self._run("CALL db.awaitIndexes(3000)")

    def build_texts(self, data: list[str]) -> None:
        """Send and index."""
        self._load("T", "t", data)
        self._run("CREATE FULLTEXT INDEX t FOR (n:T) ON EACH [n.t]")
        self._run("CALL db.awaitIndexes(3000)")

    def nearest(self, vector: Floats) -> list[int]:
        """By the procedure."""
        text = "CALL db.index.vector.queryNodes('v', 10, $vector) YIELD node RETURN node.id AS id"
        return [row["id"] for row in self._run(text, vector=vector.tolist())]

    def find(self, query: str) -> list[int]:
        """By the procedure."""
        text = "CALL db.index.fulltext.queryNodes('t', $query, {limit: 10}) YIELD node RETURN node.id AS id"
        return [row["id"] for row in self._run(text, query=query)]

    def write(self, number: int, vector: Floats, text: str) -> None:
        """By CREATE."""
        self._run("CREATE (:V {id: $id, e: $e}), (:T {id: $id, t: $t})", id=number, e=vector.tolist(), t=text)


class OfLadybug:
    """Its extensions are downloaded when they are installed."""

    def __init__(self, folder: Path) -> None:
        import ladybug

        # First in a separate process, which may die if the network is out of reach.
        program = "import ladybug; ladybug.Connection(ladybug.Database()).execute('INSTALL VECTOR')"
        tried = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        if tried.returncode:
            raise RuntimeError((tried.stderr.splitlines() or ["its extensions cannot be installed"])[-1])
        self.connection: Any = ladybug.Connection(ladybug.Database())
        for name in ("VECTOR", "FTS"):
            self.connection.execute(f"INSTALL {name}")
            self.connection.execute(f"LOAD {name}")
        self.connection.execute(f"CREATE NODE TABLE V(id INT64 PRIMARY KEY, e FLOAT[{LENGTH}])")
        self.connection.execute("CREATE NODE TABLE T(id INT64 PRIMARY KEY, t STRING)")

    def build_vectors(self, data: Floats) -> None:
        """By COPY from a frame."""
        import pandas as pd

        frame = pd.DataFrame({"id": np.arange(len(data)), "e": list(data)})
        self.connection.execute("COPY V FROM $frame", {"frame": frame})
        self.connection.execute("CALL CREATE_VECTOR_INDEX('V', 'v', 'e', metric := 'cosine')")

    def build_texts(self, data: list[str]) -> None:
        """By COPY from a frame."""
        import pandas as pd

        self.connection.execute("COPY T FROM $frame", {"frame": pd.DataFrame({"id": np.arange(len(data)), "t": data})})
        self.connection.execute("CALL CREATE_FTS_INDEX('T', 't', ['t'])")

    def nearest(self, vector: Floats) -> list[int]:
        """By the procedure."""
        text = "CALL QUERY_VECTOR_INDEX('V', 'v', $vector, 10) RETURN node.id"
        return [row[0] for row in self.connection.execute(text, {"vector": vector.tolist()}).get_all()]

    def find(self, query: str) -> list[int]:
        """Words by BM25."""
        if any(sign in query for sign in '"+*~'):
            raise NotImplementedError("it has no such syntax")
        text = "CALL QUERY_FTS_INDEX('T', 't', $query, top := 10) RETURN node.id"
        return [row[0] for row in self.connection.execute(text, {"query": query}).get_all()]


# --- measuring ---


def built(what: Callable[[], None]) -> tuple[float, float]:
    """Seconds on the clock, and of the CPU."""
    clock, cpu = time.perf_counter(), time.process_time()
    what()
    return time.perf_counter() - clock, time.process_time() - cpu


def engines(folder: Path, uri: str | None, only: str | None) -> Iterator[tuple[str, Any]]:
    """Those that are there; the others are named."""
    made: dict[str, Callable[[], Any]] = {
        "Hoplite": lambda: OfHoplite(folder),
        "usearch alone": lambda: OfUsearch(folder),
        "kglite": lambda: OfKglite(folder),
        "Ladybug": lambda: OfLadybug(folder),
    }
    if uri is not None:
        made["Neo4j"] = lambda: OfNeo4j(uri)
    for name, make in made.items():
        if only is not None and name not in only.split(","):
            continue
        try:
            yield name, make()
        except Exception as error:
            print(f"{name}: left out ({str(error).splitlines()[0]})")


def measure(taken: dict[str, Taken], asked: dict[str, Any], kind: str, questions: list[Any], rounds: int) -> None:
    """All questions in turn, round after round."""
    for _ in range(rounds):
        for number, question in enumerate(questions):
            for name, engine in asked.items():
                ask = getattr(engine, "nearest" if isinstance(question, np.ndarray) else "find", None)
                if ask is None:
                    continue
                now = time.perf_counter if name == "Neo4j" else time.process_time
                begun = now()
                try:
                    answer = ask(question)
                except NotImplementedError:
                    continue
                seconds = now() - begun
                least = taken[name].least.setdefault(kind, {})
                least[number] = min(seconds, least.get(number, seconds))
                if kind == "nearest":
                    taken[name].found[number] = answer


def table(taken: dict[str, Taken], asked: list[Floats], data: Floats) -> str:
    """A line for each figure, a column for each engine, with its ratio to Hoplite's: losses as well as wins."""
    names = list(taken)
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]

    def line(title: str, values: dict[str, float], unit: str, digits: int) -> None:
        own = values.get("Hoplite")
        cells = []
        for name in names:
            value = values.get(name)
            ratio = "" if value is None or not own or name == "Hoplite" else f" ({value / own:.2g}x)"
            cells.append("" if value is None else f"{value:.{digits}f} {unit}{ratio}")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")

    for what in ("vectors", "documents"):
        line(f"{what}: load and index", {n: t.build[what][0] for n, t in taken.items() if what in t.build}, "s", 1)
        cpu = {n: t.build[what][1] for n, t in taken.items() if what in t.build and t.build[what][1] is not None}
        line(f"{what}: the same, CPU of this process", cpu, "s", 1)  # type: ignore[arg-type]
    for kind, title in (("nearest", "top 10, middle of all questions"), ("after", "the same after a write each")):
        middle = {n: float(np.median(list(t.least[kind].values()))) * 1e3 for n, t in taken.items() if kind in t.least}
        line(title, middle, "ms", 2)
    nearest = [set(np.argsort(-(data @ vector), kind="stable")[:BEST].tolist()) for vector in asked]
    recall = {
        name: sum(len(nearest[q] & set(found)) for q, found in t.found.items()) / (BEST * len(t.found))
        for name, t in taken.items()
        if t.found
    }
    line("recall@10", recall, "", 3)
    for number, title in enumerate(QUERIES):
        some = {n: t.least["find"][number] * 1e3 for n, t in taken.items() if number in t.least.get("find", {})}
        line(f"{title}: `{QUERIES[title]}`", some, "ms", 2)
    return "\n".join(lines)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description="Vector and full-text search beside others.")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", metavar="NAMES", help="some of the engines: Hoplite,kglite")
    parser.add_argument("--neo4j", metavar="URI", help="a live server; its database is emptied")
    options = parser.parse_args()
    data, texts = vectors(options.count, 1), documents(options.count, 2)
    asked = list(vectors(options.questions, 3))
    taken: dict[str, Taken] = {}
    with tempfile.TemporaryDirectory() as folder:
        there = dict(engines(Path(folder), options.neo4j, options.only))
        for name, engine in there.items():
            mine = taken[name] = Taken()
            for what, build, given in (
                ("vectors", "build_vectors", data),
                ("documents", "build_texts", texts),
            ):
                if hasattr(engine, build):
                    clock, cpu = built(lambda build=build, engine=engine, given=given: getattr(engine, build)(given))  # type: ignore[misc]
                    mine.build[what] = (clock, None if name == "Neo4j" else cpu)
                    print(f"{name}: {what} {clock:.1f} s, {cpu:.1f} s of CPU", flush=True)
        measure(taken, there, "nearest", asked, options.rounds)
        measure(taken, there, "find", list(QUERIES.values()), options.rounds)
        for number, vector in enumerate(vectors(options.rounds, 4)):
            for engine in there.values():
                if hasattr(engine, "write"):
                    engine.write(options.count + number, vector, "word1 word2 word9999")
            writing = {name: engine for name, engine in there.items() if hasattr(engine, "write")}
            measure(taken, writing, "after", [asked[number]], 1)
        print(table(taken, asked, data))


if __name__ == "__main__":
    main()
