"""The hops of a graph: a snapshot, a side and types go in, a `Hop` comes out, made once per version of the graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops.interface import Hop, Side
from hoplite.storage.snapshot import Snapshot


def hop_of(graph: Snapshot, side: Side, types: Sequence[str] | None, *, both_adjacencies: bool = True) -> Hop:
    """A hop without masks. It has both adjacencies, so that kernels may also search from the far end."""
    names = None if types is None else tuple(types)

    def make() -> Hop:
        return Hop(
            side,
            graph.adjacency(True) if both_adjacencies or side is not Side.INCOMING else None,
            graph.adjacency(False) if both_adjacencies or side is not Side.OUTGOING else None,
            type_codes(graph, names),
        )

    return graph.derived(("hop", side, names, both_adjacencies), make)


def type_codes(graph: Snapshot, types: Sequence[str] | None) -> NDArray[np.int32] | None:
    """The codes of these types in the graph, without types it does not have; None if any type may be followed."""
    if types is None:
        return None
    codes = {code for name in types if (code := graph.type_code(name)) is not None}
    return None if len(codes) == len(graph.type_names) else np.array(sorted(codes), np.int32)
