"""One process against workers on Ray: `python -m benchmarks.cluster [--workers 1 2] [--scale 0.2]`.

First Ray's own round trip. Then the UMLS shape on disk: searches across workers, and a batch of statements that each
run on one worker. Last, the frontiers of those searches are replayed over a simulated network with the measured
constants, and predictions are printed next to measurements; then predictions for machines that are not here.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hoplite
from benchmarks.shapes import Shape, umls
from hoplite import cluster
from hoplite.cluster.database import Cluster
from hoplite.cluster.owners import Owners
from hoplite.cluster.packing import pack

STATEMENT = "MATCH (a:N {id: $i})-[:E*1..3]->(b) RETURN count(DISTINCT b) AS c"


@dataclass(frozen=True)
class Level:
    """What one level of a search costs: bytes out and back, and the steps of the busiest worker."""

    sent: int
    received: int
    steps: int


@dataclass(frozen=True)
class Network:
    """The constants of the cost model."""

    round_s: float
    bytes_per_s: float
    steps_per_s: float

    def seconds(self, levels: Sequence[Level]) -> float:
        """How long a search takes."""
        return sum(
            self.round_s + (one.sent + one.received) / self.bytes_per_s + one.steps / self.steps_per_s for one in levels
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--scale", type=float, default=0.2, help="of the UMLS shape")
    parser.add_argument("--hops", type=int, default=6)
    parser.add_argument("--searches", type=int, default=10)
    parser.add_argument("--statements", type=int, default=200)
    asked = parser.parse_args()
    shape = umls(asked.scale)
    rng = np.random.default_rng(5)
    seeds = rng.choice(np.unique(shape.start), asked.searches, replace=False).tolist()
    parameters = [{"i": int(i)} for i in rng.choice(np.unique(shape.start), asked.statements)]
    print(f"{shape.name}: {shape.node_count:,} nodes, {len(shape.start):,} relationships")
    with tempfile.TemporaryDirectory() as folder:
        path = _stored(shape, Path(folder) / "umls.hop", 2 * max(asked.workers))
        with hoplite.open(path, read_only=True) as db:
            alone = _searches(db, seeds, asked.hops)
            begin = time.perf_counter()
            wanted = [db.run(STATEMENT, one).data() for one in parameters]
            alone_batch = time.perf_counter() - begin
            print(f"one process    search {1000 * alone:9.2f} ms    {asked.statements} statements {alone_batch:7.2f} s")
            steps_per_s = sum(sum(one.steps for one in _levels(db, s, asked.hops, 1)) for s in seeds) / (
                alone * len(seeds)
            )
            for workers in asked.workers:
                _measure(db, path, workers, seeds, asked.hops, parameters, wanted, alone, alone_batch, steps_per_s)
            _beyond(db, seeds, asked.hops, steps_per_s)


def _measure(
    db: hoplite.Database,
    path: Path,
    workers: int,
    seeds: list[int],
    hops: int,
    parameters: list[dict[str, Any]],
    wanted: list[Any],
    alone: float,
    alone_batch: float,
    steps_per_s: float,
) -> None:
    with cluster.open(path, workers=workers, split="always") as several:
        for seed in seeds:
            if sorted(several.khop([seed], hops).tolist()) != sorted(db.khop([seed], hops).tolist()):
                raise SystemExit(f"DIFFERENT: {hops} hops from {seed} over {workers} workers")
        floor = _median(lambda: several._pool.call_each([(n, "ready", ()) for n in range(workers)], _no_check), 50)
        across = _searches(several, seeds, hops)
        several._split = "never"
        several.run_many(STATEMENT, parameters[:workers])
        begin = time.perf_counter()
        found = [result.data() for result in several.run_many(STATEMENT, parameters)]
        batch = time.perf_counter() - begin
        if found != wanted:
            raise SystemExit(f"DIFFERENT: statements over {workers} workers")
        network = Network(floor, _bandwidth(several), steps_per_s)
        predicted = statistics.median(network.seconds(_levels(db, seed, hops, workers)) for seed in seeds)
        print(
            f"{workers} workers      search {1000 * across:9.2f} ms ({across / alone:.2f}x one process; predicted "
            f"{1000 * predicted:.2f} ms)    {len(parameters)} statements {batch:7.2f} s ({alone_batch / batch:.2f}x as "
            f"fast)    a round of Ray {1000 * floor:.2f} ms"
        )
        print(several.workers())


def _beyond(db: hoplite.Database, seeds: list[int], hops: int, steps_per_s: float) -> None:
    """The same frontiers over machines that are not here: 0.1 ms a round, 10 Gbit/s."""
    network = Network(0.0001, 1.25e9, steps_per_s)
    for workers in (1, 2, 4, 8, 10, 100):
        seconds = statistics.median(network.seconds(_levels(db, seed, hops, workers)) for seed in seeds)
        print(f"{workers:>4} machines (0.1 ms a round, 10 Gbit/s): {1000 * seconds:9.2f} ms predicted")


def _levels(db: hoplite.Database, seed: int, hops: int, workers: int) -> list[Level]:
    """The levels of a search as workers would exchange them."""
    graph = db._graph.snapshot()
    owners = Owners(graph.adjacency(True), workers)
    degree = np.bincount(_starts(db), minlength=graph.node_count)
    levels, seen, frontier = [], np.zeros(graph.node_count, np.bool_), np.array([seed])
    seen[frontier] = True
    for _ in range(hops):
        owner = owners.of(frontier)
        sent = received = busiest = 0
        entered = frontier[:0]
        for worker in range(workers):
            share = frontier[owner == worker]
            if len(share):
                neighbours = db.khop(share, 1, exact=False)
                sent += pack(share, graph.node_count).size
                received += pack(neighbours, graph.node_count).size
                busiest = max(busiest, int(degree[share].sum()))
                entered = np.union1d(entered, neighbours)
        levels.append(Level(sent, received, busiest))
        frontier = entered[~seen[entered]]
        seen[frontier] = True
        if not len(frontier):
            break
    return levels


def _starts(db: hoplite.Database) -> Any:
    graph = db._graph.snapshot()
    known = _cache.get(id(db))
    if known is None:
        rows = db.run("MATCH (a)-[r]->() RETURN id(a) AS a").to_arrow().column("a").to_numpy()
        known = _cache[id(db)] = graph.node_positions(rows)
    return known


_cache: dict[int, Any] = {}


def _stored(shape: Shape, path: Path, partitions: int) -> Path:
    with hoplite.open(path, partitions=partitions) as db:
        db.load(
            nodes={"N": {"id": np.arange(shape.node_count)}},
            relationships={("N", "E", "N"): {"start": shape.start, "end": shape.end}},
        )
    return path


def _searches(db: hoplite.Database, seeds: list[int], hops: int) -> float:
    for seed in seeds[:2]:
        db.khop([seed], hops)
    return statistics.median(_median(lambda seed=seed: db.khop([seed], hops), 3) for seed in seeds)  # type: ignore[misc]


def _bandwidth(several: Cluster) -> float:
    """Bytes per second to a worker and back, without the cost of an empty call."""
    content = np.zeros(1 << 22, np.uint8)
    seconds = _median(lambda: several._pool.call_each([(0, "echo", (content,))], _no_check), 5)
    return float(2 * content.nbytes / max(seconds, 1e-6))


def _median(run: Callable[[], Any], count: int) -> float:
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def _no_check() -> None:
    """The check of a measurement, which is never stopped."""


if __name__ == "__main__":
    main()
