"""The relationships of a delta seen from one side, by node: as dictionaries for a single node, and as an
`Incidence` for a hop.

Both are extended by what was added since their last use, so that writes and hops may alternate row by row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hoplite.storage.incidence import Incidence
from hoplite.values.columns import Int64s

TYPE_BITS = 24
"""Entries are kept in the order of node << TYPE_BITS | type."""


class DeltaSide:
    """New relationships by the node at one of their ends."""

    __slots__ = (
        "_by_node",
        "_keys",
        "_merged",
        "_neighbours",
        "_pending",
        "_relationships",
        "incidence",
        "rows",
        "seen",
    )

    def __init__(self) -> None:
        self.seen = 0  # how many relationships have been looked at
        self._by_node: dict[int, list[int]] = {}
        self._keys: Int64s = np.zeros(0, np.int64)
        self._neighbours: Int64s = np.zeros(0, np.int64)
        self._relationships: Int64s = np.zeros(0, np.int64)
        self._pending: list[tuple[Int64s, Int64s, Int64s]] = []  # keys, neighbours, relationships
        self._merged: tuple[Incidence, Int64s] | None = None

    def extend(self, nodes: Int64s, neighbours: Int64s, types: NDArray[np.int32], first_position: int) -> None:
        """Add the relationships after the first `seen`; the arrays hold all new relationships of the delta."""
        fresh = slice(self.seen, len(nodes))
        if fresh.start == fresh.stop:
            return
        keys = nodes[fresh] << TYPE_BITS | types[fresh]
        relationships = np.arange(fresh.start, fresh.stop, dtype=np.int64) + first_position
        for node, relationship in zip(nodes[fresh].tolist(), relationships.tolist(), strict=True):
            self._by_node.setdefault(node, []).append(relationship)
        self._pending.append((keys, neighbours[fresh].copy(), relationships))
        self._merged = None
        self.seen = len(nodes)

    def relationships_of(self, node: int) -> list[int]:
        """The new relationships of one node."""
        return self._by_node.get(node, [])

    def incidence_and_rows(self) -> tuple[Incidence, Int64s]:
        """All new relationships row by row, and the node of each row."""
        merged = self._merged
        if merged is None:
            if self._pending:
                self._merge()
            nodes = self._keys >> TYPE_BITS
            firsts = np.flatnonzero(np.diff(nodes, prepend=-1))
            indptr = np.append(firsts, len(nodes))
            types = (self._keys & ((1 << TYPE_BITS) - 1)).astype(np.int32)
            merged = (Incidence(indptr, self._neighbours, types, self._relationships), nodes[firsts])
            self._merged = merged
        return merged

    def _merge(self) -> None:
        keys, neighbours, relationships = (np.concatenate(parts) for parts in zip(*self._pending, strict=True))
        order = np.argsort(keys, kind="stable")
        places = np.searchsorted(self._keys, keys[order], "right")
        self._keys = np.insert(self._keys, places, keys[order])
        self._neighbours = np.insert(self._neighbours, places, neighbours[order])
        self._relationships = np.insert(self._relationships, places, relationships[order])
        self._pending = []
