"""References to nodes, relationships and paths, as they travel through expressions.

They hold positions in the storage but no way to access it: code that needs labels or properties asks the graph. Two
references are equal when they point at the same entity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node, by its position."""

    position: int


@dataclass(frozen=True, slots=True)
class RelationshipRef:
    """A relationship, by its position."""

    position: int


@dataclass(frozen=True, slots=True, eq=False)
class VirtualNode(NodeRef):
    """A node that is not in the graph, created by a procedure for its result; its id is negative, and its element id is
    that as text.

    Cypher sees its labels but no properties, because it asks the graph for them; APOC and results see everything.
    """

    labels: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class VirtualRelationship(RelationshipRef):
    """A relationship that is not in the graph; Cypher sees its type but not its properties."""

    type: str
    start: NodeRef
    end: NodeRef
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PathValue:
    """A walk: one node more than relationships, in the order of the pattern."""

    nodes: tuple[int, ...]
    relationships: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.relationships)

    def __bool__(self) -> bool:
        return True  # a path of length zero is still a path
