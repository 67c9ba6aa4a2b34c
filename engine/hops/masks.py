"""Masks that remember: a predicate goes in, one that asks it only once about each relationship or node comes out.

Trails touch the same relationships again and again, and a predicate over properties costs far more than a look-up. The
answers are kept in one byte for each relationship and orientation (or node), in an array that grows to the largest
position touched; memory that was never written to is never backed by the operating system.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hoplite.engine.hops.interface import Booleans, NodeMask, Positions, RelationshipMask

_UNKNOWN, _REFUSED, _ALLOWED = 0, 1, 2


class _Answers:
    """What a predicate said, by key."""

    def __init__(self) -> None:
        self._known = np.zeros(1024, dtype=np.uint8)

    def look_up(self, keys: Positions, ask: Callable[[Positions], Booleans]) -> Booleans:
        """The answers for `keys`; `ask` is given the indexes of one key of each kind that is not known yet."""
        if not len(keys):
            return np.zeros(0, dtype=np.bool_)
        largest = int(keys.max())
        if largest >= len(self._known):
            grown = np.zeros(2 * (largest + 1), dtype=np.uint8)
            grown[: len(self._known)] = self._known
            self._known = grown
        unknown = np.flatnonzero(self._known[keys] == _UNKNOWN)
        if len(unknown):
            _, first = np.unique(keys[unknown], return_index=True)
            asked = unknown[first]
            self._known[keys[asked]] = np.where(ask(asked), _ALLOWED, _REFUSED)
        allowed: Booleans = self._known[keys] == _ALLOWED
        return allowed


def remember_relationships(mask: RelationshipMask) -> RelationshipMask:
    """`mask`, asked once about each relationship and each way of following it."""
    answers = _Answers()

    def remembered(relationships: Positions, from_nodes: Positions, to_nodes: Positions) -> Booleans:
        # The two ways of following a relationship swap its ends, so comparing them tells the ways apart.
        keys = 2 * relationships + (from_nodes > to_nodes)
        return answers.look_up(keys, lambda asked: mask(relationships[asked], from_nodes[asked], to_nodes[asked]))

    return remembered


def remember_nodes(mask: NodeMask) -> NodeMask:
    """`mask`, asked once about each node."""
    answers = _Answers()

    def remembered(nodes: Positions) -> Booleans:
        return answers.look_up(nodes, lambda asked: mask(nodes[asked]))

    return remembered
