"""One hop from nodes: all steps, in pieces, or only their number."""

from __future__ import annotations

from collections.abc import Iterator

from hoplite.engine.hops.expansion import chunked, degrees_by_segments, gather
from hoplite.engine.hops.interface import Check, Hop, Positions, Steps, unchecked
from hoplite.engine.hops.select import BackendName, backend_named


def expand(hop: Hop, nodes: Positions, *, backend: BackendName = "auto") -> Steps:
    """One hop from each node (-1: none). An undirected hop takes a self-loop once."""
    return backend_named(backend).expand(hop, nodes)


def expand_chunks(
    hop: Hop, nodes: Positions, limit: int, *, relationships: bool = True, backend: BackendName = "auto"
) -> Iterator[Steps]:
    """One hop from each node, in pieces of at most `limit` steps; the steps of one node may be split.

    Without `relationships` the steps may omit them.
    """
    kernels = backend_named(backend)
    for piece in chunked(hop, nodes, limit):
        if piece.is_whole and not piece.is_narrow:
            steps = kernels.expand(hop, nodes[piece.first : piece.last])
            steps = steps if piece.first == 0 else steps._replace(row=steps.row + piece.first)
        else:
            steps = gather(hop, nodes, piece.segments, relationships)
        if len(steps.row):
            yield steps


def degrees(hop: Hop, nodes: Positions, *, check: Check = unchecked, backend: BackendName = "auto") -> Positions:
    """How many steps lead from each node."""
    counts = degrees_by_segments(hop, nodes)
    if counts is not None:
        return counts
    return backend_named(backend).count_trails(hop, nodes, 1, 1, check=check)
