"""Recorded queries over workers: every golden pattern and a sample of the machine-written queries, each of which must
come to the verdict of one process. Workers are threads here, or actors of Ray.

    python -m tests.cluster.run_recorded --patterns 500 --queries 1000 --workers 4 [--ray] [--faults 0.1]
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from neo4j.exceptions import TransientError

import hoplite
from hoplite.cluster.database import Cluster
from hoplite.cluster.placing import Split
from hoplite.cluster.pool import WORKER_LOST
from hoplite.cluster.ray_pool import RayPool
from tests.cluster.pools import ThreadPool
from tests.golden import corpus, patterns
from tests.plans.run_recorded import sample
from tests.suites.workers import Task

SPLITS: tuple[Split, ...] = ("auto", "never", "always")


class Clusters:
    """The graph of a database in a folder, over workers; one at a time."""

    def __init__(self, workers: int, on_ray: bool, faults: float, seed: int) -> None:
        self._workers, self._on_ray, self._faults = workers, on_ray, faults
        self._random = random.Random(seed)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._cluster: Cluster | None = None
        self._of: hoplite.Database | None = None

    def of(self, db: hoplite.Database) -> Cluster:
        """The cluster that has the graph of this database."""
        if self._cluster is None or self._of is not db:
            self.close()
            self._folder = tempfile.TemporaryDirectory()
            root = Path(self._folder.name)
            db.export_jsonl(root / "graph.jsonl")
            with hoplite.open(root / "graph.hop", partitions=self._random.choice((1, 3, 8))) as stored:
                stored.import_jsonl(root / "graph.jsonl")
            pool = RayPool(self._workers, None) if self._on_ray else ThreadPool(self._workers, self._faults)
            self._cluster, self._of = Cluster(root / "graph.hop", pool), db
        split = self._random.choice(SPLITS)
        self._cluster._split = self._cluster._hops._split = split
        return self._cluster

    def close(self) -> None:
        """End the workers."""
        if self._cluster is not None:
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
        while True:
            try:
                result = several.run(query, dict(parameters or {}))
                result.detach()
                return result
            except TransientError as error:
                if error.code != WORKER_LOST:
                    raise


def differences(runner: Any, tasks: list[Task], clusters: Clusters) -> Iterator[str]:
    """What differs from a single process."""
    for task in sorted(tasks, key=lambda task: task.group):
        runner.prepare(task)
        plain = runner.db
        wanted = runner.run(task)
        try:
            runner.db = _Way(plain, clusters)
            _know_again(runner, plain.uuid, clusters.of(plain).uuid)
            found = runner.run(task)
        finally:
            runner.db = plain
        if (found.outcome, found.kind) != (wanted.outcome, wanted.kind):
            yield f"{task.name}: {found} instead of {wanted}\n{task.payload}"


def _know_again(runner: Any, here: str, there: str) -> None:
    """Entities have the same numbers in the folder, under another database id."""
    names = getattr(runner, "names", {})
    if names and not any(there in one for one in list(names)[:1] + list(names)[-1:]):
        names |= {one.replace(here, there): name for one, name in names.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--patterns", type=int)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--faults", type=float, default=0.0, help="how often a worker is killed, for each call")
    asked = parser.parse_args()
    clusters = Clusters(asked.workers, asked.ray, asked.faults, seed=asked.workers)
    count = 0
    machine_written = [task for task in corpus.read_tasks() if task.group != corpus.EXPLAIN]
    try:
        for runner, tasks in (
            (patterns.PatternRunner(), sample(patterns.read_tasks(), asked.patterns)),
            (corpus.CorpusRunner(), sample(machine_written, asked.queries)),
        ):
            for difference in differences(runner, tasks, clusters):
                print(difference, flush=True)
                count += 1
    finally:
        clusters.close()
    print(f"{count} differences")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
