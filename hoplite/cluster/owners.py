"""Which worker owns which nodes: partitions are assigned so that workers have about the same number of nodes."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops.interface import Positions
from hoplite.engine.hops.spread import to_bits
from hoplite.storage.incidence import Adjacency

# Nodes whose owners are looked up together.
_AT_ONCE = 1 << 20


class Owners:
    """Computed once for a version of the graph. A graph with fewer partitions than workers is split into ranges of
    nodes."""

    def __init__(self, adjacency: Adjacency, workers: int) -> None:
        self.workers = workers
        self._node_count = max(adjacency.node_count, 1)
        self._partition_of = adjacency.partition_of
        self._worker_of = np.zeros(0, np.int64)
        self._first_relationships: Positions = np.zeros(0, np.int64)
        self._bits: dict[int, NDArray[np.uint64]] = {}
        if self._partition_of is not None and len(adjacency.partitions) >= workers:
            known = self._partition_of[self._partition_of >= 0]
            sizes = np.bincount(known, minlength=len(adjacency.partitions))
            self._worker_of = np.append(_assigned_workers(sizes, workers), -1)  # the last: those in no partition
            self._first_relationships = np.array(getattr(adjacency.partitions, "first_relationships", ()), np.int64)
        else:
            self._partition_of = None

    def of(self, nodes: NDArray[np.int32] | Positions) -> NDArray[np.int64]:
        """The worker of each node. Any worker may own nodes that are newer than the partitions."""
        if self._partition_of is None:
            return np.minimum(nodes.astype(np.int64) * self.workers // self._node_count, self.workers - 1)
        if len(nodes) and nodes.max() < len(self._partition_of):
            owner = self._worker_of.take(self._partition_of.take(nodes))
        else:
            known = nodes < len(self._partition_of)
            owner = np.where(known, self._worker_of[self._partition_of[np.where(known, nodes, 0)]], -1)
        return owner if not (owner < 0).any() else np.where(owner < 0, nodes % self.workers, owner)

    def of_relationships(self, relationships: Positions) -> NDArray[np.int64]:
        """The worker of each relationship: that of the partition it is stored in, with its start node."""
        if not len(self._first_relationships):
            ranges: Positions = relationships * self.workers // (relationships.max(initial=0) + 1)
            return ranges
        partition = np.searchsorted(self._first_relationships[1:], relationships, "right")
        owner: Positions = self._worker_of[partition]
        return owner

    def bits(self, worker: int, node_count: int) -> NDArray[np.uint64]:
        """A bit for each node of the graph: those that a worker owns."""
        known = self._bits.get(node_count)
        if known is None:
            known = np.zeros((self.workers, -(-node_count // 64)), np.uint64)
            for first in range(0, node_count, _AT_ONCE):
                owner = self.of(np.arange(first, min(first + _AT_ONCE, node_count)))
                for each in range(self.workers):
                    some = to_bits(owner == each)
                    known[each, first // 64 : first // 64 + len(some)] = some
            self._bits[node_count] = known
        found: NDArray[np.uint64] = known[worker]
        return found


def _assigned_workers(sizes: NDArray[np.int64], workers: int) -> NDArray[np.int64]:
    """The worker of each partition: the largest are assigned first, each to the worker with the least."""
    worker_of = np.zeros(len(sizes), np.int64)
    load = [(0, worker) for worker in range(workers)]
    for partition in np.argsort(-sizes, kind="stable").tolist():
        held, worker = heapq.heappop(load)
        worker_of[partition] = worker
        heapq.heappush(load, (held + int(sizes[partition]), worker))
    return worker_of
