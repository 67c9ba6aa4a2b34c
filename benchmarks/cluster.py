"""One process against workers on Ray: `python -m benchmarks.cluster [--workers 1 2 4 8] [--scale 0.05] [--folder DIR]`.

The PubMed shape on disk. Ray's own round trip comes first, then five figures: searches across two workers and in one
process, what each worker holds, searches with conditions on their ends, a batch of statements over two workers and over
one, and searches under a budget that the graph exceeds. One process and workers take turns, and the best of several
rounds counts: other programs may run on the machine. Last, the frontiers of the searches are replayed over a simulated
network with the measured constants: predictions next to measurements, and predictions for machines that are not here.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import hoplite
from benchmarks.large_graph import LargeGraph, pubmed
from hoplite import cluster
from hoplite.cluster.backend import _SHARED_STEPS
from hoplite.cluster.database import Cluster
from hoplite.cluster.owners import Owners
from hoplite.cluster.packing import Packed, pack, unpack
from hoplite.cluster.ray_pool import RayPool
from hoplite.engine.grouping import distinct
from hoplite.engine.hops.spread import to_bits

STATEMENT = "MATCH (a:N {id: $i})-[*1..2]-(b) RETURN count(DISTINCT b) AS c"
CONDITIONS = """MATCH (a:N {id: $i})-[*1..%d]-(b:N) WHERE b.id %% 7 = 0 AND toString(b.id) CONTAINS $digit
RETURN count(DISTINCT b) AS c"""
PARTITIONS = 16


@dataclass(frozen=True)
class Level:
    """What one level of a search costs: bytes out and back, steps in all and of the busiest worker, nodes that the
    leading process sends and enters. A level that is taken in the leading process sends nothing."""

    sent: int
    received: int
    steps: int
    busiest: int
    nodes: int


@dataclass(frozen=True)
class Network:
    """The constants of the cost model."""

    round_s: float
    bytes_per_s: float
    steps_per_s: float
    node_s: float  # to send or enter a node
    bit_s: float  # for each node of the graph: to make bits, go through them and clear marks
    cores: int  # that the workers share; 0: one for each

    def seconds(self, levels: Sequence[Level], node_count: int) -> float:
        """How long a search takes."""
        total = 0.0
        for one in levels:
            if not one.sent:
                total += one.steps / self.steps_per_s
                continue
            busiest = max(one.busiest, one.steps / self.cores if self.cores else 0)
            handled = one.nodes * self.node_s + node_count * self.bit_s
            total += self.round_s + (one.sent + one.received) / self.bytes_per_s + busiest / self.steps_per_s + handled
        return total


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--scale", type=float, default=0.05, help="of the PubMed shape")
    parser.add_argument("--hops", type=int, default=4)
    parser.add_argument("--searches", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--statements", type=int, default=1000)
    parser.add_argument("--folder", type=Path, help="where the graph is kept for the next run")
    asked = parser.parse_args()
    shape = pubmed(asked.scale)
    print(
        f"{shape.name}: {shape.nodes:,} nodes, {shape.edges:,} relationships, load {os.getloadavg()[0]:.1f}", flush=True
    )
    with tempfile.TemporaryDirectory() as temporary:
        path = _stored(shape, (asked.folder or Path(temporary)) / f"pubmed-{asked.scale:g}.hop")
        RayPool(max(asked.workers), None)  # Ray is started once, for all clusters
        with hoplite.open(path, read_only=True) as db:
            seeds = _seeds(db, shape, asked.searches, asked.hops)
            measured = {}
            for workers in asked.workers:
                measured[workers] = _hops(db, path, workers, seeds, asked)
            _statements(db, path, shape, asked)
            _budget(db, path, seeds, asked)
            _model(db, seeds, asked.hops, measured)


# --- the five figures -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """Medians over the searches of the best of the rounds."""

    alone_s: float
    across_s: float
    round_s: float
    bytes_per_s: float


def _hops(db: hoplite.Database, path: Path, workers: int, seeds: list[int], asked: Any) -> Measured:
    with cluster.open(path, workers=workers) as several:
        for seed in seeds:
            here, there = (np.sort(each.khop([seed], asked.hops, "both")) for each in (db, several))
            if not np.array_equal(here, there):
                raise SystemExit(f"DIFFERENT: {asked.hops} hops from {seed} over {workers} workers")
        before = several._hops.calls.tally.copy()
        alone, across = [], []
        for seed in seeds:
            run_here, run_there = (partial(each.khop, [seed], asked.hops, "both") for each in (db, several))
            times = [(_seconds(run_here), _seconds(run_there)) for _ in range(asked.rounds)]
            alone.append(min(one for one, _ in times))
            across.append(min(other for _, other in times))
        cpu = statistics.median(
            _cpu_ratio(
                several, asked.rounds, *(partial(each.khop, [seed], asked.hops, "both") for each in (db, several))
            )
            for seed in seeds
        )
        floor, bytes_per_s = _round(several), _bandwidth(several)
        found = Measured(statistics.median(alone), statistics.median(across), floor, bytes_per_s)
        print(f"workers {workers}: a round of Ray {1000 * floor:.2f} ms, {bytes_per_s / 1e6:,.0f} MB/s")
        print(
            f"  hops      {1000 * found.across_s:9.2f} ms, one process {1000 * found.alone_s:9.2f} ms: "
            f"{found.across_s / found.alone_s:.2f}x (load {os.getloadavg()[0]:.1f})\n"
            f"  by CPU time of the leading process and the busiest worker {cpu:.2f}x"
        )
        print("  " + str(several._hops.calls.tally.since(before)).replace("\n", "\n  "))
        _memory(db, several, workers, seeds, asked)
        _conditions(db, several, seeds, asked)
        return found


def _cpu_ratio(several: Cluster, rounds: int, here: Callable[[], Any], there: Callable[[], Any]) -> float:
    """What something takes if nothing else runs on the cores: the CPU time of the leading process and that of the
    worker that has most, against the CPU time of one process."""
    processes = [stats["process"] for stats in _each(several, "loads")]
    begin = time.process_time()
    for _ in range(rounds):
        here()
    alone = time.process_time() - begin
    begin, before = time.process_time(), [_cpu_of(process) for process in processes]
    for _ in range(rounds):
        there()
    busiest = max(_cpu_of(process) - then for process, then in zip(processes, before, strict=True))
    return (time.process_time() - begin + busiest) / alone


def _cpu_of(process: int) -> float:
    """CPU seconds of a process (Linux)."""
    return time.clock_gettime((~process << 3) | 2)


def _memory(db: hoplite.Database, several: Cluster, workers: int, seeds: list[int], asked: Any) -> None:
    """Searches with every level shared, so that workers read their whole shares and no more."""
    several._hops._split = "always"
    with hoplite.open(several._folder, read_only=True) as fresh:
        for seed in seeds:
            several.khop([seed], asked.hops, "both")
            fresh.khop([seed], asked.hops, "both")
        share = fresh.stats()["cache"]["used_bytes"] / workers
    several._hops._split = "auto"
    held = [stats["cache"]["used_bytes"] for stats in _each(several, "loads")]
    print(
        f"  memory    {max(held) / 1e6:9.1f} MB in the fullest worker, its share {share / 1e6:.1f} MB: "
        f"{100 * (max(held) / share - 1):+.1f}%",
        flush=True,
    )


def _conditions(db: hoplite.Database, several: Cluster, seeds: list[int], asked: Any) -> None:
    """Searches with three conditions on their ends, evaluated by the owners, and all in the leading process."""
    several._split = "always"  # hops go across workers, where they are wide
    query, ratios, asks_owners = CONDITIONS % asked.hops, [], several._hops.asks_owners
    before = several._hops.calls.tally.copy()
    for owners in (True, False):
        several._hops.asks_owners = asks_owners if owners else lambda *_, **__: False  # type: ignore[method-assign]
        each_ratio = []
        for seed in seeds:
            runs = [partial(_answer, each, query, {"i": seed, "digit": "7"}) for each in (db, several)]
            if runs[0]() != runs[1]():
                raise SystemExit(f"DIFFERENT: conditions on {asked.hops} hops from {seed}")
            each_ratio.append(_cpu_ratio(several, asked.rounds, *runs))
        ratios.append(statistics.median(each_ratio))
        if owners:
            taken = several._hops.calls.tally.since(before).kinds[1]
    several._split, several._hops.asks_owners = "auto", asks_owners  # type: ignore[method-assign]
    print(
        f"  filters   by CPU time {ratios[0]:.2f}x one process if owners evaluate them, {ratios[1]:.2f}x if the "
        f"leading process does; {8 * taken[3] / taken[1]:.1f} bits sent and {8 * taken[4] / taken[1]:.1f} received "
        "for each node",
        flush=True,
    )


def _answer(db: hoplite.Database, query: str, parameters: dict[str, Any]) -> Any:
    return db.run(query, parameters).data()


def _statements(db: hoplite.Database, path: Path, shape: LargeGraph, asked: Any) -> None:
    rng = np.random.default_rng(5)
    parameters = [{"i": int(i)} for i in rng.integers(0, shape.nodes, asked.statements)]
    wanted = [db.run(STATEMENT, one).data() for one in parameters]
    with cluster.open(path, workers=1) as one, cluster.open(path, workers=2) as two:
        for several in (one, two):
            if [result.data() for result in several.run_many(STATEMENT, parameters)] != wanted:
                raise SystemExit("DIFFERENT: a batch of statements")
        times = [
            (
                _seconds(lambda: [db.run(STATEMENT, each).data() for each in parameters]),
                _seconds(lambda: one.run_many(STATEMENT, parameters)),
                _seconds(lambda: two.run_many(STATEMENT, parameters)),
            )
            for _ in range(asked.rounds)
        ]
        alone, single, both = (min(row[place] for row in times) for place in range(3))
        by_cpu = _batch_cpu(one, parameters) / _batch_cpu(two, parameters)
        each = _seconds(lambda: [two.run(STATEMENT, one).data() for one in parameters[:100]]) / 100
    print(
        f"batch       {asked.statements:,} statements {both:.3f} s over 2 workers, {single:.3f} s over 1: "
        f"{single / both:.2f}x, by CPU time on two free cores {by_cpu:.2f}x; one process {alone:.3f} s; one by one "
        f"{1000 * each:.2f} ms each (load {os.getloadavg()[0]:.1f})",
        flush=True,
    )


def _batch_cpu(several: Cluster, parameters: list[dict[str, Any]]) -> float:
    """How long a batch takes on two free cores, at least: its processes share them, and none is split."""
    processes = [os.getpid(), *(stats["process"] for stats in _each(several, "loads"))]
    before = [_cpu_of(process) for process in processes]
    several.run_many(STATEMENT, parameters)
    spent = [_cpu_of(process) - then for process, then in zip(processes, before, strict=True)]
    return max(*spent, sum(spent) / 2)


def _budget(db: hoplite.Database, path: Path, seeds: list[int], asked: Any) -> None:
    budget = db.stats()["cache"]["used_bytes"] // 4
    with cluster.open(path, workers=2, worker_memory=budget, memory=budget) as several:
        for seed in seeds:
            one, other = (np.sort(each.khop([seed], asked.hops, "both")) for each in (db, several))
            if not np.array_equal(one, other):
                raise SystemExit(f"DIFFERENT: {asked.hops} hops from {seed} within a budget")
        evictions = [stats["cache"]["evictions"] for stats in _each(several, "loads")]
    print(
        f"budget      {len(seeds)} searches equal with {budget / 1e6:.1f} MB for each worker, a quarter of what "
        f"they touch; evictions {evictions}",
        flush=True,
    )


# --- the cost model --------------------------------------------------------------------------------------------------


def _model(db: hoplite.Database, seeds: list[int], hops: int, measured: dict[int, Measured]) -> None:
    node_count = db._graph.snapshot().node_count
    node_s, bit_s = _handling(node_count)
    levels = {seed: _frontiers(db, seed, hops) for seed in seeds}
    steps = statistics.median(sum(one.steps for one in _levels(db, levels[seed], 1)) for seed in seeds)
    for workers, one in measured.items():
        network = Network(one.round_s, one.bytes_per_s, steps / one.alone_s, node_s, bit_s, os.cpu_count() or 1)
        predicted = statistics.median(network.seconds(_levels(db, levels[seed], workers), node_count) for seed in seeds)
        print(
            f"model       {workers} workers: predicted {1000 * predicted:.2f} ms, "
            f"measured {1000 * one.across_s:.2f} ms ({one.across_s / predicted:.2f}x)"
        )
    alone_s = min(one.alone_s for one in measured.values())
    away = Network(0.0001, 1.25e9, steps / alone_s, node_s, bit_s, 0)
    for workers in (1, 2, 4, 8, 10, 100):
        seconds = statistics.median(away.seconds(_levels(db, levels[seed], workers), node_count) for seed in seeds)
        print(f"model       {workers:>4} machines (0.1 ms a round, 10 Gbit/s): {1000 * seconds:9.2f} ms predicted")
    _on_paper(steps / alone_s)


def _on_paper(steps_per_s: float) -> None:
    """A level that looks at every relationship of graphs that are not here, ten for each node, on machines with 10
    Gbit/s: everything through the leading process, and if workers sent each other what they own."""
    for relationships in (10**10, 10**12):
        bits = relationships / 10 / 8
        for workers in (10, 100, 1000):
            computed = relationships / workers / steps_per_s
            led, direct = 2 * workers * bits / 1.25e9, 2 * bits / 1.25e9
            print(
                f"on paper    {relationships:.0e} relationships, {workers:>4} workers: steps {computed:,.1f} s, "
                f"exchange {led:,.1f} s through the leading process, {direct:,.1f} s directly"
            )


def _frontiers(db: hoplite.Database, seed: int, hops: int) -> list[tuple[Any, Any]]:
    """The positions of each level of a search, and how many steps lead on from each."""
    graph = db._graph.snapshot()
    degree = _degrees(db)
    levels = []
    for level in range(hops):
        nodes = graph.node_positions(db.khop([seed], level, "both", exact=True))
        if not len(nodes):
            break
        levels.append((nodes, degree[nodes]))
    return levels


def _levels(db: hoplite.Database, frontiers: list[tuple[Any, Any]], workers: int) -> list[Level]:
    """The levels of a search as workers would exchange them."""
    graph = db._graph.snapshot()
    owners = Owners(graph.adjacency(True), workers)
    levels = []
    for nodes, degree in frontiers:
        steps = int(degree.sum())
        if steps < _SHARED_STEPS:
            levels.append(Level(0, 0, steps, 0, 0))
            continue
        owner = owners.of(nodes)
        sent = received = busiest = 0
        entered = [nodes]
        for worker in range(workers):
            share = nodes[owner == worker]
            found = db.khop(graph.node_ids(share), 1, "both")
            sent += pack(share, graph.node_count).size
            received += pack(found, graph.node_count).size
            busiest = max(busiest, int(degree[owner == worker].sum()))
            entered.append(found)
        handled = len(nodes) + len(distinct(np.concatenate(entered)))
        levels.append(Level(sent, received, steps, busiest, handled))
    return levels


def _degrees(db: hoplite.Database) -> Any:
    known = _cache.get(id(db))
    if known is None:
        graph = db._graph.snapshot()
        found = db.run("MATCH (a) RETURN id(a) AS a, COUNT { (a)--() } AS d").to_arrow()
        known = np.zeros(graph.node_count, np.int64)
        known[graph.node_positions(found.column("a").to_numpy())] = found.column("d").to_numpy()
        _cache[id(db)] = known
    return known


_cache: dict[int, Any] = {}


def _handling(node_count: int) -> tuple[float, float]:
    """Seconds to enter a node that comes as a bit, and for each node of the graph."""
    marked = np.random.default_rng(1).random(node_count) < 0.1

    def handle(some: Any) -> float:
        return min(_seconds(lambda: unpack(Packed(to_bits(some), True))) for _ in range(9))

    empty = handle(np.zeros_like(marked))
    return max(handle(marked) - empty, 0.0) / int(marked.sum()), empty / node_count


# --- measuring -------------------------------------------------------------------------------------------------------


def _stored(shape: LargeGraph, path: Path) -> Path:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with hoplite.open(path, partitions=PARTITIONS) as db:
            db.load(nodes={"N": {"id": np.arange(shape.nodes)}}, relationships=shape.relationship_tables())
    return path


def _seeds(db: hoplite.Database, shape: LargeGraph, count: int, hops: int) -> list[int]:
    """Nodes whose searches are wide."""
    found: list[int] = []
    for seed in np.random.default_rng(3).integers(0, shape.nodes, 100 * count).tolist():
        if len(db.khop([seed], hops, "both")) > shape.nodes // 20:
            found.append(seed)
        if len(found) == count:
            break
    return found


def _each(several: Cluster, method: str) -> list[Any]:
    pool = several._pool
    return pool.collect([pool.submit(worker, method, ()) for worker in range(pool.size)], _no_check)


def _round(several: Cluster) -> float:
    """A message to every worker and back."""
    return sorted(_seconds(lambda: _each(several, "ready")) for _ in range(100))[25]


def _bandwidth(several: Cluster) -> float:
    """Bytes per second to a worker and back, without the cost of an empty call."""
    content = np.zeros(1 << 19, np.uint8)
    pool = several._pool

    def echo(sent: Any) -> float:
        return min(_seconds(lambda: pool.collect([pool.submit(0, "echo", (sent,))], _no_check)) for _ in range(20))

    return float(2 * content.nbytes / max(echo(content) - echo(content[:1]), 1e-6))


def _seconds(run: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def _no_check() -> None:
    """The check of a measurement, which is never stopped."""


if __name__ == "__main__":
    main()
