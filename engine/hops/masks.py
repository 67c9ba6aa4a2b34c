"""Masks that remember: a predicate goes in, one that asks it once for each relationship or node comes out.

Trails reach the same relationships again and again, and a predicate over properties costs far more than a look-up.
Answers take one byte for each relationship and direction (or node), in an array that grows to the largest position
reached; pages never written to take no memory. Compiled kernels read that array themselves, and return only with what
is not known yet.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.grouping import distinct
from hoplite.engine.hops.interface import Booleans, NodeMask, Positions, RelationshipMask

UNKNOWN, REFUSED, ALLOWED = 0, 1, 2


class _Answers:
    """What a predicate said: `known[key]` is UNKNOWN, REFUSED or ALLOWED."""

    def __init__(self) -> None:
        self.known: NDArray[np.uint8] = np.zeros(1024, dtype=np.uint8)

    def look_up(self, keys: Positions, ask: Callable[[Positions], Booleans]) -> Booleans:
        """The answers for `keys`; `ask` gets one index for each distinct key that is not known yet."""
        if not len(keys):
            return np.zeros(0, dtype=np.bool_)
        largest = int(keys.max())
        if largest >= len(self.known):
            grown = np.zeros(2 * (largest + 1), dtype=np.uint8)
            grown[: len(self.known)] = self.known
            self.known = grown
        unknown = np.flatnonzero(self.known[keys] == UNKNOWN)
        if len(unknown):
            ordered = distinct(keys[unknown])
            first = np.empty(len(ordered), dtype=np.int64)
            first[np.searchsorted(ordered, keys[unknown][::-1])] = unknown[::-1]
            self.known[ordered] = np.where(ask(first), ALLOWED, REFUSED)
        allowed: Booleans = self.known[keys] == ALLOWED
        return allowed


class RememberedRelationships(_Answers):
    """A relationship mask; its key is 2 * relationship, plus 1 if the step leads to a node of a lower position.

    The two directions swap a relationship's ends, so comparing the ends tells them apart.
    """

    def __init__(self, mask: RelationshipMask) -> None:
        super().__init__()
        self.mask = mask

    def __call__(self, relationships: Positions, from_nodes: Positions, to_nodes: Positions) -> Booleans:
        keys = 2 * relationships + (from_nodes > to_nodes)
        return self.look_up(keys, lambda asked: self.mask(relationships[asked], from_nodes[asked], to_nodes[asked]))


class RememberedNodes(_Answers):
    """A node mask; its key is the node."""

    def __init__(self, mask: NodeMask) -> None:
        super().__init__()
        self._mask = mask

    def __call__(self, nodes: Positions) -> Booleans:
        return self.look_up(nodes, lambda asked: self._mask(nodes[asked]))


def remember_relationships(mask: RelationshipMask) -> RememberedRelationships:
    """`mask`, asked once about each relationship and direction."""
    return mask if isinstance(mask, RememberedRelationships) else RememberedRelationships(mask)


def remember_nodes(mask: NodeMask) -> RememberedNodes:
    """`mask`, asked once about each node."""
    return mask if isinstance(mask, RememberedNodes) else RememberedNodes(mask)
