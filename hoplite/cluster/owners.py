"""Which worker owns which nodes: partitions are assigned so that workers have about the same number of
relationships."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops.interface import Positions
from hoplite.storage.incidence import Adjacency


class Owners:
    """Computed once for a version of the graph. A graph with fewer partitions than workers is split into ranges of
    nodes."""

    def __init__(self, adjacency: Adjacency, workers: int) -> None:
        self.workers = workers
        self._node_count = max(adjacency.node_count, 1)
        self._partition_of = adjacency.partition_of
        self._worker_of = np.zeros(0, np.int64)
        if self._partition_of is not None and len(adjacency.partitions) >= workers:
            self._worker_of = _assigned_workers(np.bincount(self._partition_of[self._partition_of >= 0]), workers)
        else:
            self._partition_of = None

    def of(self, nodes: Positions) -> NDArray[np.int64]:
        """The worker of each node. Any worker may own nodes that are newer than the partitions."""
        if self._partition_of is None:
            return np.minimum(nodes * self.workers // self._node_count, self.workers - 1)
        known = nodes < len(self._partition_of)
        partition = self._partition_of[np.where(known, nodes, 0)].astype(np.int64)
        return np.where(known & (partition >= 0), self._worker_of[partition], nodes % self.workers)


def _assigned_workers(sizes: NDArray[np.int64], workers: int) -> NDArray[np.int64]:
    """The worker of each partition: the largest are assigned first, each to the worker with the least."""
    worker_of = np.zeros(len(sizes), np.int64)
    load = [(0, worker) for worker in range(workers)]
    for partition in np.argsort(-sizes, kind="stable").tolist():
        held, worker = heapq.heappop(load)
        worker_of[partition] = worker
        heapq.heappush(load, (held + int(sizes[partition]), worker))
    return worker_of
