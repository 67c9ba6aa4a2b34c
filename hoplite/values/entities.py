"""References to nodes, relationships and paths, as they travel through expressions.

They hold positions in the storage and no way to reach it: whoever needs labels or properties asks
the graph. Two references are equal when they point at the same entity.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node, by its position."""

    id: int


@dataclass(frozen=True, slots=True)
class RelationshipRef:
    """A relationship, by its position."""

    id: int


@dataclass(frozen=True, slots=True)
class PathValue:
    """A walk: one node more than relationships, in the order of the pattern."""

    nodes: tuple[int, ...]
    relationships: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.relationships)

    def __bool__(self) -> bool:
        return True  # a path of length zero is still a path
