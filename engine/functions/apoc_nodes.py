"""apoc.node.*, apoc.nodes.*, apoc.rel.*, apoc.path.* and apoc.create.v*: entities, paths and virtual entities."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.functions.apoc_maps import degree, ends_of, held_by, to_list, types_and_sides
from hoplite.engine.functions.entities import labels, public_id, relationship_type
from hoplite.engine.functions.given_entities import nodes_of
from hoplite.errors import execution_failed
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualRelationship, path_of
from hoplite.values.order import equals

_virtual_numbers: Iterator[int] = itertools.count(-1_000_000, -1)


def next_virtual_id() -> int:
    """A negative id, unique among the virtual entities of this process."""
    return next(_virtual_numbers)


# --- nodes ----------------------------------------------------------------------------------------------------------


@apoc_function("apoc.node.id(node :: NODE) :: INTEGER", "Returns the id of a node.", needs_context=True)
def node_id(context: Execution, node: NodeRef | None) -> int | None:
    """Null for null."""
    return None if node is None else public_id(context, node)


@apoc_function(
    "apoc.node.labels(node :: NODE) :: LIST<ANY>",
    "Returns the labels of a node, virtual or not.",
    needs_context=True,
)
def node_labels(context: Execution, node: NodeRef | None) -> list[str] | None:
    """Null for null."""
    return None if node is None else labels(context, node)


def _types_of(context: Execution, node: NodeRef, text: str | None) -> list[str]:
    """The types of a node's relationships among those that the text names, with their directions."""
    if node.position < 0:
        return []
    graph, found = context.graph, set[int]()
    for name, outgoing, incoming in types_and_sides(text):
        code = None if name is None else graph.type_code(name)
        if name is not None and code is None:
            continue
        for side in [True] * outgoing + [False] * incoming:
            relationships, _ = graph.neighbours(node.position, side, None if code is None else (code,))
            found.update(graph.relationship_types(relationships).tolist())
    return [graph.type_names[code] for code in sorted(found)]


@apoc_function(
    "apoc.node.relationship.types(node :: NODE, relTypes =  :: STRING) :: LIST<ANY>",
    "Returns the types of the relationships of a node.",
    needs_context=True,
)
def relationship_types(context: Execution, node: NodeRef | None, text: str | None) -> list[str] | None:
    """Each once."""
    return None if node is None else _types_of(context, node, text)


@apoc_function(
    "apoc.nodes.relationship.types(nodes :: ANY, types =  :: STRING) :: LIST<ANY>",
    "Returns the types of the relationships of each node.",
    needs_context=True,
)
def relationship_types_of_nodes(context: Execution, nodes: Any, text: str | None) -> list[dict[str, Any]] | None:
    """A map for each, with the node and its types."""
    if nodes is None:
        return None
    return [{"node": node, "types": _types_of(context, node, text)} for node in nodes_of(context, nodes)]


def _existing(context: Execution, node: NodeRef, text: str | None) -> dict[str, bool]:
    parts = [part for part in (text or "").split("|") if part.strip()]
    return {part: bool(degree(context, node, part)) for part in parts}


@apoc_function(
    "apoc.node.relationships.exist(node :: NODE, relTypes =  :: STRING) :: MAP",
    "Returns for each type whether a node has relationships of it.",
    needs_context=True,
)
def relationships_exist(context: Execution, node: NodeRef | None, text: str | None) -> dict[str, bool] | None:
    """By type and direction as the text writes them."""
    return None if node is None else _existing(context, node, text) or None


@apoc_function(
    "apoc.nodes.relationships.exist(nodes :: ANY, types =  :: STRING) :: LIST<ANY>",
    "Returns for each node and type whether the node has relationships of it.",
    needs_context=True,
)
def relationships_exist_of_nodes(context: Execution, nodes: Any, text: str | None) -> list[dict[str, Any]] | None:
    """A map for each, with the node and what exists."""
    if nodes is None:
        return None
    exist = [(node, _existing(context, node, text)) for node in nodes_of(context, nodes)]
    return [{"node": node, "exists": exists} for node, exists in exist if exists]


@apoc_function(
    "apoc.nodes.connected(startNode :: NODE, endNode :: NODE, types =  :: STRING) :: BOOLEAN",
    "Returns whether a relationship connects two nodes.",
    needs_context=True,
)
def connected(context: Execution, start: NodeRef | None, end: NodeRef | None, text: str | None) -> bool:
    """Of these types and directions, seen from the first; null is connected to nothing."""
    if start is None or end is None:
        return False
    if start == end:
        return True
    graph = context.graph
    for name, outgoing, incoming in types_and_sides(text):
        code = None if name is None else graph.type_code(name)
        if name is not None and code is None:
            continue
        codes = None if code is None else (code,)
        for wanted, away in ((outgoing, True), (incoming, False)):
            if wanted and end.position in graph.neighbours(start.position, away, codes)[1].tolist():
                return True
    return False


@apoc_function(
    "apoc.nodes.isDense(node :: NODE) :: BOOLEAN", "Returns whether a node has many relationships.", needs_context=True
)
def is_dense(context: Execution, node: NodeRef | None) -> bool | None:
    """More than 50, from which on Neo4j stores them in groups."""
    return None if node is None else (degree(context, node, "") or 0) > 50


@apoc_function(
    "apoc.any.isDeleted(object :: ANY) :: BOOLEAN",
    "Returns whether an entity was deleted in this transaction.",
    needs_context=True,
)
def is_deleted(context: Execution, entity: Any) -> bool:
    """True for null."""
    match entity:
        case None:
            return True
        case VirtualNode() | VirtualRelationship():
            return False
        case NodeRef():
            return not context.graph.node_exists(np.array([entity.position], np.int64))[0]
        case RelationshipRef():
            return not context.graph.relationship_exists(np.array([entity.position], np.int64))[0]
    raise function_failed(
        "apoc.any.isDeleted",
        "java.lang.IllegalArgumentException",
        f"expected Node or Relationship but was {type(entity).__name__}",
    )


@apoc_function(
    "apoc.diff.nodes(leftNode :: NODE, rightNode :: NODE) :: MAP",
    "Returns the properties in which two nodes differ.",
    needs_context=True,
)
def diff_nodes(context: Execution, left: NodeRef, right: NodeRef) -> dict[str, Any]:
    """Those that only one has, those that are equal, and those that differ."""
    mine, other = held_by(context, left), held_by(context, right)
    shared = [key for key in mine if key in other]
    same = {key: mine[key] for key in shared if equals(mine[key], other[key]) is True}
    return {
        "leftOnly": {key: value for key, value in mine.items() if key not in other},
        "inCommon": same,
        "different": {key: {"left": mine[key], "right": other[key]} for key in shared if key not in same},
        "rightOnly": {key: value for key, value in other.items() if key not in mine},
    }


# --- relationships --------------------------------------------------------------------------------------------------


@apoc_function("apoc.rel.id(rel :: RELATIONSHIP) :: INTEGER", "Returns the id of a relationship.", needs_context=True)
def relationship_id(context: Execution, relationship: RelationshipRef | None) -> int | None:
    """Null for null."""
    return None if relationship is None else public_id(context, relationship)


@apoc_function(
    "apoc.rel.type(rel :: RELATIONSHIP) :: STRING", "Returns the type of a relationship.", needs_context=True
)
def type_of_relationship(context: Execution, relationship: RelationshipRef | None) -> str | None:
    """Null for null."""
    return None if relationship is None else relationship_type(context, relationship)


@apoc_function(
    "apoc.rel.startNode(rel :: RELATIONSHIP) :: NODE",
    "Returns the start node of a relationship, virtual or not.",
    needs_context=True,
)
def start_of_relationship(context: Execution, relationship: RelationshipRef | None) -> NodeRef | None:
    """Null for null."""
    return None if relationship is None else ends_of(context, relationship)[0]


@apoc_function(
    "apoc.rel.endNode(rel :: RELATIONSHIP) :: NODE",
    "Returns the end node of a relationship, virtual or not.",
    needs_context=True,
)
def end_of_relationship(context: Execution, relationship: RelationshipRef | None) -> NodeRef | None:
    """Null for null."""
    return None if relationship is None else ends_of(context, relationship)[1]


# --- paths ----------------------------------------------------------------------------------------------------------


@apoc_function(
    "apoc.path.create(startNode :: NODE, rels = [] :: LIST<RELATIONSHIP>) :: PATH",
    "Returns the path from a node along relationships.",
    needs_context=True,
)
def create_path(
    context: Execution, start: NodeRef | None, relationships: list[RelationshipRef] | None
) -> PathValue | None:
    """Each must begin or end where the previous one ended; nulls are skipped."""
    if start is None:
        return None
    nodes = [start]
    steps = [relationship for relationship in relationships or () if relationship is not None]
    for relationship in steps:
        ends = ends_of(context, relationship)
        if nodes[-1] not in ends:
            node, other = public_id(context, nodes[-1]), public_id(context, relationship)
            raise execution_failed(f"Node[{node}] not connected to this relationship[{other}]")
        nodes.append(ends[1] if ends[0] == nodes[-1] else ends[0])
    return path_of(nodes, steps)


@apoc_function(
    "apoc.path.slice(path :: PATH, offset = 0 :: INTEGER, length = -1 :: INTEGER) :: PATH", "Returns a part of a path."
)
def slice_path(path: PathValue | None, offset: int, length: int) -> PathValue | None:
    """A number of relationships from an offset on, or the rest for -1. Beyond the end, only the last node."""
    if path is None:
        return None
    end = len(path.relationships)
    first = min(max(offset, 0), end)
    last = end if length == -1 else min(first + max(length, 0), end)
    return path_of(path.node_refs()[first : last + 1], path.relationship_refs()[first:last])


@apoc_function(
    "apoc.path.combine(path1 :: PATH, path2 :: PATH) :: PATH", "Returns two paths joined into one.", needs_context=True
)
def combine_paths(context: Execution, first: PathValue | None, second: PathValue | None) -> PathValue | None:
    """The second must begin where the first ends; if one is null, the result is the other."""
    if first is None or second is None:
        return first or second
    if first.nodes[-1] != second.nodes[0]:
        paths = f"{path_text(context, first)} with {path_text(context, second)}"
        message = f"Paths don't connect on their end and start-nodes {paths}"
        raise function_failed("apoc.path.combine", "java.lang.IllegalArgumentException", message)
    nodes = first.node_refs() + second.node_refs()[1:]
    return path_of(nodes, first.relationship_refs() + second.relationship_refs())


def path_text(context: Execution, path: PathValue) -> str:
    """`(0)-[KNOWS,5]->(1)`"""
    start, *nodes = path.node_refs()
    written = f"({public_id(context, start)})"
    for relationship, node in zip(path.relationship_refs(), nodes, strict=True):
        arrows = ("-", "->") if ends_of(context, relationship)[1] == node else ("<-", "-")
        step = f"[{relationship_type(context, relationship)},{public_id(context, relationship)}]"
        written += f"{arrows[0]}{step}{arrows[1]}({public_id(context, node)})"
    return written


@apoc_function("apoc.path.elements(path :: PATH) :: LIST<ANY>", "Returns the nodes and relationships of a path.")
def path_elements(path: PathValue | None) -> list[Any] | None:
    """They alternate."""
    return None if path is None else [*path.elements()]


# --- virtual entities -------------------------------------------------------------------------------------------------


@apoc_function(
    "apoc.create.vNode(labels :: LIST<STRING>, props = {} :: MAP) :: NODE",
    "Returns a node that is not in the graph.",
    deterministic=False,
)
def virtual_node(names: list[str] | None, properties: dict[str, Any] | None) -> VirtualNode:
    """With these labels and properties."""
    labels = tuple(name for name in names or () if name is not None)
    return VirtualNode(next_virtual_id(), labels, dict(properties or {}))


@apoc_function(
    "apoc.create.vRelationship(from :: NODE, relType :: STRING, props :: MAP, to :: NODE) :: RELATIONSHIP",
    "Returns a relationship that is not in the graph.",
    deterministic=False,
)
def virtual_relationship(
    start: NodeRef | None, type_name: str, properties: dict[str, Any] | None, end: NodeRef | None
) -> VirtualRelationship | None:
    """Between two nodes, virtual or not."""
    if start is None or end is None:
        return None
    return VirtualRelationship(next_virtual_id(), type_name, start, end, dict(properties or {}))


@apoc_function(
    "apoc.create.virtual.fromNode(node :: NODE, propertyNames :: LIST<STRING>) :: NODE",
    "Returns a virtual node with the labels and some properties of a node.",
    needs_context=True,
    deterministic=False,
)
def virtual_from_node(context: Execution, node: NodeRef, keys: list[str] | None) -> VirtualNode:
    """The properties are those of the given keys that the node has."""
    held = held_by(context, node)
    wanted = {key: held[key] for key in keys or () if key in held}
    return VirtualNode(next_virtual_id(), tuple(labels(context, node)), wanted)


@apoc_function("apoc.create.uuid() :: STRING", "Returns a random UUID.", deterministic=False)
def create_uuid() -> str:
    """A new one each time."""
    return str(uuid.uuid4())


# --- conversions ----------------------------------------------------------------------------------------------------


@apoc_function("apoc.convert.toNode(node :: ANY) :: NODE", "Returns a value as a node.")
def to_node(value: Any) -> NodeRef | None:
    """Null if it is not one."""
    return value if isinstance(value, NodeRef) else None


@apoc_function("apoc.convert.toRelationship(rel :: ANY) :: RELATIONSHIP", "Returns a value as a relationship.")
def to_relationship(value: Any) -> RelationshipRef | None:
    """Null if it is not one."""
    return value if isinstance(value, RelationshipRef) else None


@apoc_function("apoc.convert.toNodeList(list :: ANY) :: LIST<ANY>", "Returns a value as a list of nodes.")
def to_node_list(value: Any) -> list[Any] | None:
    """A path becomes its elements, any other single value a list of one; null for what is not a node."""
    given = to_list(value)
    return None if given is None else [item if isinstance(item, NodeRef) else None for item in given]


@apoc_function(
    "apoc.convert.toRelationshipList(relList :: ANY) :: LIST<ANY>", "Returns a value as a list of relationships."
)
def to_relationship_list(value: Any) -> list[Any] | None:
    """A path becomes its elements, any other single value a list of one; null for what is not a relationship."""
    given = to_list(value)
    return None if given is None else [item if isinstance(item, RelationshipRef) else None for item in given]
