"""References to nodes, relationships and paths, as they travel through expressions.

They hold positions in the storage but no way to access it: code that needs labels or properties asks the graph. Two
references are equal when they point at the same entity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    def node_refs(self) -> list[NodeRef]:
        """Its nodes."""
        return [NodeRef(position) for position in self.nodes]

    def relationship_refs(self) -> list[RelationshipRef]:
        """Its relationships."""
        return [RelationshipRef(position) for position in self.relationships]

    def elements(self) -> list[NodeRef | RelationshipRef]:
        """Its nodes and relationships, alternating."""
        nodes = self.node_refs()
        found: list[NodeRef | RelationshipRef] = [nodes[0]]
        for relationship, node in zip(self.relationship_refs(), nodes[1:], strict=True):
            found += (relationship, node)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class VirtualPath(PathValue):
    """A path through nodes or relationships that are not in the graph, all of which it holds."""

    held_nodes: tuple[NodeRef, ...] = ()
    held_relationships: tuple[RelationshipRef, ...] = ()

    def node_refs(self) -> list[NodeRef]:
        """Its nodes."""
        return list(self.held_nodes)

    def relationship_refs(self) -> list[RelationshipRef]:
        """Its relationships."""
        return list(self.held_relationships)


def path_of(nodes: Sequence[NodeRef], relationships: Sequence[RelationshipRef]) -> PathValue:
    """The path through these nodes, along these relationships."""
    places = tuple(node.position for node in nodes), tuple(relationship.position for relationship in relationships)
    if any(isinstance(entity, VirtualNode | VirtualRelationship) for entity in (*nodes, *relationships)):
        return VirtualPath(*places, tuple(nodes), tuple(relationships))
    return PathValue(*places)
