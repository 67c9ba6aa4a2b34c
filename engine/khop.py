"""One shortest path to each node around some sources, by the hop kernels."""

from __future__ import annotations

import numpy as np

from hoplite.engine.grouping import distinct
from hoplite.engine.hops import BackendName, Check, Hop, Positions, Side
from hoplite.engine.hops.scratch import borrowed
from hoplite.engine.hops.select import backend_named
from hoplite.values.columns import Paths

SIDES = {"out": Side.OUTGOING, "in": Side.INCOMING, "both": Side.BOTH}


def shortest_paths_from(hop: Hop, sources: Positions, k: int, exact: bool, backend: BackendName, check: Check) -> Paths:
    """One shortest path from any of the sources to each node up to k relationships away, or exactly k, without those of
    length 0. One search finds them all: every node remembers where it was entered from."""
    starts, lengths, relationships, nodes = [sources[:0]], [sources[:0]], [sources[:0]], [sources[:0]]
    with borrowed(hop.node_count) as scratch:
        search = backend_named(backend).search(hop, distinct(sources), scratch)
        for level in range(1, k + 1):
            entered = search.step(check)
            if not len(entered):
                break
            if exact and level < k:
                continue
            taken, along = search.paths_to(entered, level)
            starts.append(scratch.owner[along[:, 0]])
            lengths.append(np.full(len(entered), level, np.int64))
            relationships.append(taken.reshape(-1))
            nodes.append(along.reshape(-1))
        search.clear()
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(lengths)))).astype(np.int64)
    return Paths(np.concatenate(starts), offsets, np.concatenate(relationships), np.concatenate(nodes))
