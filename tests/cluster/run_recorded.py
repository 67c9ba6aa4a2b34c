"""Recorded queries and random searches over workers: every golden pattern, a sample of the machine-written queries,
random k-hop sets and random hops with conditions. A statement must come to the verdict of one process, a search to its
nodes. Workers are threads here, or actors of Ray; each graph has another number of them and of partitions.

    python -m tests.cluster.run_recorded --patterns 500 --queries 1000 --khops 5000 --conditions 2000
        [--workers 2 4 8] [--ray] [--faults 0.1]
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import hoplite
from hoplite.cluster.database import Cluster
from hoplite.cluster.placing import Split
from hoplite.cluster.ray_pool import RayPool
from tests.cluster.filtered import outcome, random_parameters, random_query, retried
from tests.cluster.graphs import random_folder
from tests.cluster.pools import ThreadPool
from tests.golden import corpus, patterns
from tests.plans.run_recorded import sample
from tests.suites.workers import PASSED, Task

SPLITS: tuple[Split, ...] = ("auto", "never", "always")
_SEARCHES_PER_GRAPH = 250
_REPORT_S = 30.0


class Clusters:
    """A folder for each graph, and workers over it; one at a time."""

    def __init__(self, workers: list[int], on_ray: bool, faults: float) -> None:
        self._workers, self._on_ray, self._faults = workers, on_ray, faults
        self._random = random.Random(sum(workers))
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._cluster: Cluster | None = None
        self.killed = 0

    def new_database(self) -> hoplite.Database:
        """An empty one in a folder, which a cluster will have open too."""
        self.close()
        self._folder = tempfile.TemporaryDirectory()
        return hoplite.open(Path(self._folder.name) / "graph.hop", partitions=self._random.choice((1, 3, 8, 16)))

    def of(self, db: hoplite.Database, path: Path | None = None) -> Cluster:
        """The cluster over the folder of this database. Half of the graphs are in the log, the others in partitions."""
        if self._cluster is None:
            assert self._folder is not None
            if path is None and self._random.random() < 0.5:
                db.checkpoint()
            workers = self._random.choice(self._workers)
            workers_of: Any = RayPool(workers, None) if self._on_ray else ThreadPool(workers, self._faults)
            self._cluster = Cluster(path or Path(self._folder.name) / "graph.hop", workers_of)
        self._cluster._split = self._cluster._hops._split = self._random.choice(SPLITS)
        pool = self._cluster._pool
        if isinstance(pool, RayPool) and self._random.random() < self._faults:
            self.killed += 1
            pool.kill(self._random.randrange(pool.size))
        return self._cluster

    def close(self) -> None:
        """End the workers."""
        if self._cluster is not None:
            self.killed += getattr(self._cluster._pool, "killed", 0)
            self._cluster.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._cluster = self._folder = None


class _Way:
    """Runs read-only statements over workers, retrying when told to, as drivers do."""

    def __init__(self, db: hoplite.Database, clusters: Clusters) -> None:
        self._db, self._clusters = db, clusters

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def run(self, query: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """What a cluster answers."""
        several = self._clusters.of(self._db)

        def run() -> Any:
            result = several.run(query, dict(parameters or {}))
            result.detach()
            return result

        return retried(run)


def statements(runner: Any, tasks: list[Task], clusters: Clusters) -> Iterator[str | None]:
    """For each task what differs from a single process. One that agrees with the record needs no comparison."""
    for task in sorted(tasks, key=lambda task: task.group):
        runner.prepare(task)
        plain = runner.db
        try:
            runner.db = _Way(plain, clusters)
            found = runner.run(task)
        finally:
            runner.db = plain
        wanted = PASSED if found.outcome == PASSED.outcome else runner.run(task)
        same = (found.outcome, found.kind) == (wanted.outcome, wanted.kind)
        yield None if same else f"{task.name}: {found} instead of {wanted}\n{task.payload}"


def searches(count: int, clusters: Clusters) -> Iterator[str | None]:
    """For each of many random seed sets what differs, on random graphs."""
    rng = random.Random(count)
    for plain, path, some in _graphs(count, (60, 500, 4_000), rng, clusters):
        alive = [record["id"] for record in plain.run("MATCH (n) RETURN id(n) AS id")]
        for _ in range(some):
            seeds, k = rng.sample(alive, rng.randrange(1, 9)), rng.randrange(0, 8)
            asked: dict[str, Any] = {
                "direction": rng.choice(("out", "in", "both")),
                "types": rng.choice((None, "R", ["R", "S"])),
                "exact": rng.random() < 0.3,
            }
            wanted = sorted(plain.khop(seeds, k, **asked).tolist())
            several = clusters.of(plain, path)
            found = retried(lambda: sorted(several.khop(seeds, k, **asked).tolist()))  # noqa: B023
            yield None if found == wanted else f"{path.name}: khop({seeds}, {k}, {asked})"


def conditions(count: int, clusters: Clusters) -> Iterator[str | None]:
    """For each of many random hops with conditions what differs."""
    rng = random.Random(count)
    for plain, path, some in _graphs(count, (60, 200), rng, clusters):
        for _ in range(some):
            query, parameters = random_query(rng), random_parameters(rng)
            wanted = outcome(plain, query, parameters)
            found = outcome(clusters.of(plain, path), query, parameters)
            yield None if found == wanted else f"{path.name}: {query} {parameters}: {found} instead of {wanted}"


def _graphs(
    count: int, sizes: tuple[int, ...], rng: random.Random, clusters: Clusters
) -> Iterator[tuple[hoplite.Database, Path, int]]:
    """Random graphs in folders, and how many of the tests to run on each."""
    for seed in range(-(-count // _SEARCHES_PER_GRAPH)):
        clusters.close()
        clusters._folder = tempfile.TemporaryDirectory()
        size = rng.choice(sizes)
        path = random_folder(Path(clusters._folder.name), seed, size, 2 * size, rng.choice((1, 3, 8, 16)))
        with hoplite.open(path, read_only=True) as plain:
            yield plain, path, min(_SEARCHES_PER_GRAPH, count - seed * _SEARCHES_PER_GRAPH)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--patterns", type=int)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--khops", type=int, default=0)
    parser.add_argument("--conditions", type=int, default=0)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--ray", action="store_true")
    parser.add_argument(
        "--faults", type=float, default=0.0, help="how often a worker is killed, for each call or, on Ray, statement"
    )
    asked = parser.parse_args()
    clusters = Clusters(asked.workers, asked.ray, asked.faults)
    if asked.ray:
        RayPool(max(asked.workers), None)  # started once, for all graphs
    machine_written = [task for task in corpus.read_tasks() if task.group != corpus.EXPLAIN]
    new = clusters.new_database
    parts = {
        "searches": searches(asked.khops, clusters),
        "conditions": conditions(asked.conditions, clusters),
        "patterns": statements(patterns.PatternRunner(new), sample(patterns.read_tasks(), asked.patterns), clusters),
        "queries": statements(corpus.CorpusRunner(new), sample(machine_written, asked.queries), clusters),
    }
    different = 0
    for name, outcomes in parts.items():
        done, reported = 0, time.monotonic()
        for difference in outcomes:
            done += 1
            if difference is not None:
                different += 1
                print(difference, flush=True)
            if time.monotonic() - reported > _REPORT_S:
                reported = time.monotonic()
                print(f"{name}: {done:,}, {different:,} different", flush=True)
        clusters.close()
        print(
            f"{name}: {done:,} in all, {different:,} different so far, {clusters.killed:,} workers killed", flush=True
        )
    print(f"{different} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
