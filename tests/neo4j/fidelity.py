"""How alike k-hop answers are: the Jaccard index at 1 to 5 hops between Hoplite, on each of its backends, and others.

    .venv/bench/bin/python -m tests.neo4j.fidelity [--graph hetionet] [--scale 1.0] [--queries 10]

A query is a set of 1 to 20 nodes; its answer is the set of nodes within k directed hops of any of them, asked as Cypher
of Hoplite and of Neo4j (NEO4J_URI, else a server is started). The others are NetworkX, igraph and python-graphblas. One
that is not to be had here is named with the reason, which is a failure under CI=true. The exit status is 0 where every
index is 1. Tables go to the standard output, progress to the standard error. The server's database is emptied.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from neo4j import GraphDatabase
from neo4j.exceptions import Neo4jError

import hoplite
from benchmarks.engine import BallWay, Engine, Unavailable, as_ids, as_list
from benchmarks.engines.graphblas_engine import GraphblasEngine
from benchmarks.engines.hoplite_engine import BALLS
from benchmarks.engines.igraph_engine import IgraphEngine
from benchmarks.engines.neo4j_engine import Neo4jEngine
from benchmarks.engines.networkx_engine import NetworkxEngine
from benchmarks.shapes import Integers, Shape, umls
from tests.neo4j import server
from tests.suites.data import data_path

HOPS = (1, 2, 3, 4, 5)
BACKENDS = ("numba", "scipy", "numpy", "torch")
OTHERS: tuple[type[Engine], ...] = (Neo4jEngine, NetworkxEngine, IgraphEngine, GraphblasEngine)
SEED = 20_260_101
LARGEST_SET = 20


@dataclass(frozen=True, slots=True)
class Measured:
    """`balls[k][q]`: the sorted answer to query q at k hops; `milliseconds[k]`: the median of their times."""

    balls: Mapping[int, Sequence[Integers]]
    milliseconds: Mapping[int, float]


def hetionet() -> Shape:
    """Hetionet's relationships, of whatever type, each from its source to its target."""
    numbers: dict[str, int] = {}
    with gzip.open(data_path("kg", "hetionet", "nodes.tsv.gz"), "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            numbers[line.split("\t", 1)[0]] = len(numbers)
    with gzip.open(data_path("kg", "hetionet", "edges.tsv.gz"), "rt", encoding="utf-8") as lines:
        next(lines)
        fields = [line.rstrip("\n").split("\t") for line in lines]
    start = np.array([numbers[source] for source, _, _ in fields])
    end = np.array([numbers[target] for _, _, target in fields])
    begin = np.array([0, len(numbers)])
    return Shape("Hetionet", ("N",), begin, start, end, np.zeros(len(start), np.int64), ("E",))


def asked_sets(shape: Shape, count: int) -> list[Integers]:
    """Sets of nodes to start from, each of which some relationship leaves."""
    rng = np.random.default_rng(SEED)
    starts = np.unique(shape.start)
    return [rng.choice(starts, int(rng.integers(1, LARGEST_SET + 1)), replace=False) for _ in range(count)]


class HopliteOn(Engine):
    """Hoplite on one backend, through Cypher."""

    package = module = "hoplite"

    def __init__(self, backend: Any, scratch: Path) -> None:
        super().__init__(scratch)
        try:
            self.db = hoplite.open(backend=backend)
        except Neo4jError as error:
            raise Unavailable(str(error.message)) from error

    def load_ball(self, shape: Shape) -> Sequence[BallWay]:
        self.db.load(
            nodes={"N": {"id": np.arange(shape.node_count)}},
            relationships={("N", "E", "N"): {"start": shape.start, "end": shape.end}},
        )

        def columns(seeds: list[int], k: int) -> Any:
            return self.db.run(BALLS[k], s=seeds).to_arrow()

        return (BallWay("Cypher", "columns", columns, as_list, lambda table: as_ids(table["b.id"])),)

    def close(self) -> None:
        self.db.close()


def measure(make: Callable[[Path], Engine], shape: Shape, asked: Sequence[Integers], scratch: Path) -> Measured:
    """Load the graph into an engine, and ask everything. The first query at each k is asked once before, unmeasured."""
    engine = make(scratch)
    try:
        way = engine.load_ball(shape)[0]
        given = [way.seeds(seeds) for seeds in asked]
        balls: dict[int, list[Integers]] = {}
        milliseconds: dict[int, float] = {}
        for k in HOPS:
            way.ask(given[0], k)
            taken: list[float] = []
            balls[k] = []
            for seeds in given:
                began = time.perf_counter()
                answer = way.ask(seeds, k)
                taken.append(time.perf_counter() - began)
                balls[k].append(np.unique(way.ids(answer)))
            milliseconds[k] = float(np.median(taken)) * 1e3
        return Measured(balls, milliseconds)
    finally:
        engine.close()
        gc.collect()


def jaccard(one: Integers, other: Integers) -> float:
    """Of two sorted sets; 1 where both are empty."""
    shared = len(np.intersect1d(one, other, assume_unique=True))
    union = len(one) + len(other) - shared
    return shared / union if union else 1.0


def compare(shape: Shape, queries: int, scratch: Path) -> tuple[bool, list[str]]:
    """Whether every index is 1, and what was not to be had; prints the tables of one graph."""
    asked = asked_sets(shape, queries)
    makers: dict[str, Callable[[Path], Engine]] = {f"Hoplite, {name}": partial(HopliteOn, name) for name in BACKENDS}
    makers |= {engine.title: engine for engine in OTHERS}
    done: dict[str, Measured] = {}
    missing: list[str] = []
    for name, make in makers.items():
        began = time.perf_counter()
        try:
            done[name] = measure(make, shape, asked, scratch)
            print(f"{shape.name}: {name} in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        except Unavailable as error:
            missing.append(f"{name}: {error}")
    ours = [name for name in done if name.startswith("Hoplite")]
    sizes = {k: float(np.mean([len(ball) for ball in done[ours[0]].balls[k]])) for k in HOPS}
    print(f"\n**{shape.name}**, {shape.node_count:,} nodes, {len(shape.start):,} relationships, {queries} queries\n")
    _print_row("", *(f"{k} hop{'s' * (k > 1)}" for k in HOPS))
    _print_row(*["---"] + ["---:"] * len(HOPS))
    _print_row("nodes in the answer (mean)", *(f"{sizes[k]:,.0f}" for k in HOPS))
    perfect = True
    for name in ours:
        for other in done:
            if other in ours:
                continue
            pairs = {k: zip(done[name].balls[k], done[other].balls[k], strict=True) for k in HOPS}
            means = {k: float(np.mean([jaccard(*pair) for pair in pairs[k]])) for k in HOPS}
            perfect &= all(mean == 1.0 for mean in means.values())
            _print_row(f"Jaccard: {name} and {other}", *(_shown(means[k]) for k in HOPS))
    for name, measured in done.items():
        _print_row(f"ms (median): {name}", *(f"{measured.milliseconds[k]:,.2f}" for k in HOPS))
    return perfect, missing


def _shown(mean: float) -> str:
    """Two digits, but never 1.00 for less than 1."""
    return "1.00" if mean == 1.0 else f"{min(mean, 0.9999):.4f}"


def _print_row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


@contextmanager
def _live_server() -> Any:
    """NEO4J_URI for the length of a block; unset where no server is to be had."""
    if uri := os.environ.get("NEO4J_URI"):
        password = os.environ.get("NEO4J_PASSWORD")
        auth = None if password is None else (os.environ.get("NEO4J_USER", "neo4j"), password)
        with GraphDatabase.driver(uri, auth=auth) as driver, driver.session() as session:
            session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 20000 ROWS").consume()
        yield ""
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            started = server.start(Path(folder), heap="2g")
        except server.Unavailable as error:
            yield str(error)
            return
        os.environ["NEO4J_URI"] = started.uri
        try:
            yield ""
        finally:
            del os.environ["NEO4J_URI"]
            server.stop(Path(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", choices=("hetionet", "umls"), action="append", help="only this one")
    parser.add_argument("--scale", type=float, default=1.0, help="of the UMLS shape; 1 is 3.4 million relationships")
    parser.add_argument("--queries", type=int, default=10)
    parser.add_argument("--without-neo4j", action="store_true", help="do not start one (it is reported as missing)")
    options = parser.parse_args()
    makers: dict[str, Callable[[], Shape]] = {"hetionet": hetionet, "umls": partial(umls, options.scale)}
    perfect, missing = True, dict[str, None]()
    live = nullcontext("not asked for") if options.without_neo4j else _live_server()
    with tempfile.TemporaryDirectory() as scratch, live as no_server:
        if no_server:
            print(f"No live Neo4j: {no_server}", file=sys.stderr)
        for name in options.graph or makers:
            alike, absent = compare(makers[name](), options.queries, Path(scratch))
            perfect &= alike
            missing |= dict.fromkeys(absent)
    print()
    for reason in missing:
        print(f"Not compared: {reason}")
    print("Every index is 1." if perfect else "NOT every index is 1.")
    return 0 if perfect and not (missing and os.environ.get("CI") == "true") else 1


if __name__ == "__main__":
    sys.exit(main())
