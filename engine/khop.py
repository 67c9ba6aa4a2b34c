"""k-hop retrieval without Cypher text: seeds in, the ids of the nodes around them out, on the same kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine import hops
from hoplite.engine.hops import Hop, Side
from hoplite.engine.hops.select import BackendName
from hoplite.engine.hydrate import Hydrator
from hoplite.errors import argument_error
from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import Paths

_SIDES = {"out": Side.OUTGOING, "in": Side.INCOMING, "both": Side.BOTH}


def khop(
    graph: Snapshot,
    seeds: Sequence[Any] | int,
    k: int,
    direction: str,
    types: Sequence[str] | None,
    exact: bool,
    paths: bool,
    backend: BackendName,
) -> NDArray[np.int64] | list[Any]:
    """Ids of the nodes whose distance from the nearest seed is at most k, or is k where `exact`, in ascending order.

    Seeds count as distance 0. With `paths`: one shortest path from a seed to each of these nodes.
    """
    if direction not in _SIDES:
        raise argument_error(f"direction is 'out', 'in' or 'both', not {direction!r}")
    if not isinstance(k, int) or isinstance(k, bool) or k < 0:
        raise argument_error(f"k is a number of hops, 0 or more, not {k!r}")
    sources = _positions(graph, seeds)
    hop = _hop(graph, _SIDES[direction], types)
    if not exact and not paths:
        ends = hops.reach_merged(hop, sources, 0, k, backend=backend)
        return np.sort(graph.node_ids(ends))
    nodes, level = hops.levels(hop, sources, k, backend=backend)
    if exact:
        nodes = nodes[level == k]
    if not paths:
        return np.sort(graph.node_ids(nodes))
    return _paths(graph, hop, sources, nodes, k, backend)


def _hop(graph: Snapshot, side: Side, types: Sequence[str] | None) -> Hop:
    codes = None
    if types is not None:
        known = [graph.type_code(name) for name in ([types] if isinstance(types, str) else types)]
        codes = np.array(sorted({code for code in known if code is not None}), np.int32)
    return Hop(side, graph.adjacency(True), graph.adjacency(False), codes)


def _positions(graph: Snapshot, seeds: Sequence[Any] | int) -> NDArray[np.int64]:
    """Where the seeds are; a seed that does not exist is an error, for a typo should not look like an empty answer."""
    given: Iterable[Any] = [seeds] if isinstance(seeds, int) or hasattr(seeds, "element_id") else seeds
    ids = np.array([_id(seed) for seed in given], np.int64)
    positions = graph.node_positions(ids)
    missing = ids[(positions < 0) | ~graph.node_exists(positions)]
    if len(missing):
        raise argument_error(f"There is no node with id {missing[0]}")
    return np.unique(positions)


def _id(seed: Any) -> int:
    element_id = getattr(seed, "element_id", None)
    if element_id is not None:
        return int(str(element_id).rsplit(":", 1)[1])
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
        return int(seed)
    raise argument_error(f"A seed is a node or an id as id(n) gives it, not {seed!r}")


def _paths(
    graph: Snapshot, hop: Hop, sources: NDArray[np.int64], nodes: NDArray[np.int64], k: int, backend: BackendName
) -> list[Any]:
    """For each node one of the shortest paths from the nearest seed."""
    targets = nodes[~np.isin(nodes, sources)]
    found: dict[int, Any] = {}
    hydrator = Hydrator(graph)
    starts, ends = np.repeat(sources, len(targets)), np.tile(targets, len(sources))
    for row, offsets, relationships, path_nodes in hops.shortest_paths(
        hop, starts, ends, 1, k, every=False, backend=backend
    ):
        values = hydrator.column(Paths(starts[row], offsets, relationships, path_nodes))
        for target, path in zip(ends[row].tolist(), values, strict=True):
            if target not in found or len(path) < len(found[target]):
                found[target] = path
    return [found[node] for node in targets.tolist() if node in found]
