"""Nodes, relationships and paths as values: light references by storage position, without a graph behind them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node."""

    id: int


@dataclass(frozen=True, slots=True)
class RelationshipRef:
    """A relationship."""

    id: int


@dataclass(frozen=True, slots=True)
class PathValue:
    """A path: one node more than there are relationships, in the order the pattern is written."""

    nodes: tuple[int, ...]
    relationships: tuple[int, ...]
