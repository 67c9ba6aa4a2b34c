"""Dealing nodes to partitions so that their degrees balance: largest first, each to the lightest partition.

All relationships of one subject live in the subject's partition, and so does the incoming side of a node.
"""

from __future__ import annotations

import heapq
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hoplite.values.columns import Int64s


def deal(degrees: Int64s, partitions: int) -> NDArray[np.int32]:
    """The partition of each node. Deterministic: ties go to the lower node and the lower partition."""
    order = np.argsort(-degrees, kind="stable")
    ranked = degrees[order]
    dealt = np.empty(len(degrees), np.int32)
    loads = [(0, partition) for partition in range(partitions)]
    # Nodes of one degree are alike, so each round gives one node to every partition that a whole group can
    # raise evenly: what matters is the sorted loads, and between partitions whose loads differ by less than a
    # degree a round is the greedy order.
    bounds = [] if not len(ranked) else [0, *(np.flatnonzero(np.diff(ranked)) + 1).tolist(), len(ranked)]
    for first, last in pairwise(bounds):
        degree = max(int(ranked[first]), 1)  # nodes without relationships still spread evenly
        at = first
        while at < last:
            lightest, heaviest = loads[0][0], max(loads)[0]
            rounds = (last - at) // partitions if heaviest - lightest < degree else 0
            if rounds:
                cycle = np.array([partition for _, partition in sorted(loads)], np.int32)
                dealt[order[at : at + rounds * partitions]] = np.tile(cycle, rounds)
                loads = [(load + rounds * degree, partition) for load, partition in loads]
                heapq.heapify(loads)
                at += rounds * partitions
            else:
                load, partition = loads[0]
                dealt[order[at]] = partition
                heapq.heapreplace(loads, (load + degree, partition))
                at += 1
    return dealt
