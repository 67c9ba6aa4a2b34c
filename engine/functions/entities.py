"""Functions of nodes, relationships and paths: what the graph knows about them.

References hold storage positions; `id` and `elementId` are the public ids that the graph keeps for them. A column is
looked up in a single read of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.expressions.java import type_name
from hoplite.engine.functions.arguments import wrong_input
from hoplite.engine.functions.registry import cypher_function, named, over_columns
from hoplite.errors import CypherError, entity_not_found, type_error
from hoplite.planner.types import INTEGER, MAP, NODE, PATH, RELATIONSHIP, STRING, list_of
from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import (
    Column,
    EntityLists,
    Int64s,
    Integers,
    Nodes,
    ObjectArray,
    Objects,
    Paths,
    Relationships,
    Strings,
    object_array,
)
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualRelationship
from hoplite.values.render import describe

_ENTITY = named("input", NODE, RELATIONSHIP)
_RELATIONSHIP = named("input", RELATIONSHIP)
_PATH = named("input", PATH)


def _one(position: int) -> Int64s:
    return np.array([position], np.int64)


def public_id(context: Execution, entity: NodeRef | RelationshipRef) -> int:
    """What id() returns."""
    if isinstance(entity, VirtualNode | VirtualRelationship):
        return entity.position
    position = _one(entity.position)
    graph = context.graph
    ids = graph.node_ids(position) if isinstance(entity, NodeRef) else graph.relationship_ids(position)
    return int(ids[0])


# --- identity ---


def _not_an_entity(function: str, value: Any) -> CypherError:
    return type_error(
        f"Invalid input for function '{function}()': Expected {describe(value)} to be a node or relationship, "
        f"but it was `{type_name(value)}`"
    )


@cypher_function(
    "id",
    args=(_ENTITY,),
    returns=INTEGER,
    category="Scalar",
    description="Returns the id of a `NODE` or `RELATIONSHIP`.",
    needs_context=True,
)
def entity_id(context: Execution, entity: Any) -> int:
    """An id that the entity keeps for life."""
    if isinstance(entity, NodeRef | RelationshipRef):
        return public_id(context, entity)
    raise _not_an_entity("id", entity)


@over_columns("id")
def entity_ids(context: Execution, column: Column) -> Column | None:
    """The same for a column."""
    match column:
        case Nodes():
            ids = context.graph.node_ids(column.positions)
        case Relationships():
            ids = context.graph.relationship_ids(column.positions)
        case _:
            return None
    nulls = column.positions < 0
    return Integers(ids, nulls if nulls.any() else None)


@cypher_function(
    "elementId",
    args=(_ENTITY,),
    returns=STRING,
    category="Scalar",
    description="Returns the element id of a `NODE` or `RELATIONSHIP`.",
    needs_context=True,
)
def element_id(context: Execution, entity: Any) -> str:
    """`4:<uuid of the database>:<id>` for a node, `5:...` for a relationship."""
    if isinstance(entity, VirtualNode | VirtualRelationship):
        return str(entity.position)
    if isinstance(entity, NodeRef | RelationshipRef):
        return f"{_kind(entity)}:{context.graph.uuid}:{public_id(context, entity)}"
    raise _not_an_entity("elementId", entity)


def _kind(entity: NodeRef | RelationshipRef) -> int:
    return 4 if isinstance(entity, NodeRef) else 5


@over_columns("elementId")
def element_ids(context: Execution, column: Column) -> Column | None:
    """The same for a column."""
    ids = entity_ids(context, column)
    if ids is None:
        return None
    prefix = f"{4 if isinstance(column, Nodes) else 5}:{context.graph.uuid}:"
    return Strings(object_array((None if i is None else f"{prefix}{i}" for i in ids.objects()), len(ids)))


# --- what entities hold ---


def _deleted_node(context: Execution, node: NodeRef) -> CypherError:
    return entity_not_found(f"Node with id {public_id(context, node)} has been deleted in this transaction")


def _deleted_relationship(context: Execution, relationship: RelationshipRef) -> CypherError:
    number = public_id(context, relationship)
    return entity_not_found(f"Relationship with id {number} has been deleted in this transaction")


def properties_of(context: Execution, entity: NodeRef | RelationshipRef) -> dict[str, Any]:
    """All properties; a deleted node has none, a deleted relationship raises."""
    if isinstance(entity, VirtualNode | VirtualRelationship):
        return {}  # Neo4j asks the graph, which has no such entity
    graph = context.graph
    if isinstance(entity, NodeRef):
        return graph.node_properties(entity.position) if graph.node_exists(_one(entity.position))[0] else {}
    if not graph.relationship_exists(_one(entity.position))[0]:
        raise _deleted_relationship(context, entity)
    return graph.relationship_properties(entity.position)


def _map_of(context: Execution, value: Any, function: str) -> dict[str, Any]:
    match value:
        case dict():
            return value
        case NodeRef() | RelationshipRef():
            return properties_of(context, value)
    raise type_error(
        f"Invalid input for function '{function}()': Expected a node, a relationship or a literal map but got "
        f"{describe(value)}"
    )


@cypher_function(
    "properties",
    args=(named("input", NODE, RELATIONSHIP, MAP),),
    returns=MAP,
    category="Scalar",
    description="Returns a `MAP` containing all the properties of a `NODE`, `RELATIONSHIP` or `MAP`.",
    needs_context=True,
)
def properties(context: Execution, value: Any) -> dict[str, Any]:
    """The properties of an entity as a map; a map is returned as it is."""
    return _map_of(context, value, "properties")


@over_columns("properties")
def properties_of_column(context: Execution, column: Column) -> Column | None:
    """The same for a column of entities that all exist, read at once."""
    match column:
        case Nodes():
            return _of_entities(context, column, context.graph.node_property_maps)
        case Relationships():
            return _of_entities(context, column, context.graph.relationship_property_maps)
    return None


def _of_entities(
    context: Execution,
    column: Nodes | Relationships,
    read: Callable[[Int64s], Sequence[Any] | ObjectArray],
) -> Column | None:
    """What one read finds for the entities of a column, with nulls for nulls; None if one of them does not exist."""
    exists = context.graph.node_exists if isinstance(column, Nodes) else context.graph.relationship_exists
    rows = np.flatnonzero(column.positions >= 0)
    positions = column.positions[rows]
    if not exists(positions).all():
        return None
    some = read(positions)
    found = object_array([None] * len(column), len(column))
    found[rows] = some if isinstance(some, np.ndarray) else object_array(some, len(some))
    return Objects(found)


@cypher_function(
    "keys",
    args=(named("input", NODE, RELATIONSHIP, MAP),),
    returns=list_of(STRING),
    category="List",
    description="Returns a `LIST<STRING>` containing the `STRING` representations for all the property names of a "
    "`NODE`, `RELATIONSHIP` or `MAP`.",
    needs_context=True,
)
def keys(context: Execution, value: Any) -> list[str]:
    """The keys of an entity in stored order, or of a map in its own order."""
    found = _map_of(context, value, "keys")
    return list(found)


@over_columns("keys")
def keys_of_column(context: Execution, column: Column) -> Column | None:
    """The same for a column of entities that all exist, read at once; those with the same keys share a list."""
    match column:
        case Nodes():
            return _of_entities(context, column, context.graph.keys_of_nodes)
        case Relationships():
            return _of_entities(context, column, context.graph.keys_of_relationships)
    return None


@cypher_function(
    "labels",
    args=(named("input", NODE),),
    returns=list_of(STRING),
    category="List",
    description="Returns a `LIST<STRING>` containing the `STRING` representations for all the labels of a `NODE`.",
    needs_context=True,
)
def labels(context: Execution, node: Any) -> list[str]:
    """`labels(n)` is `['Person', 'Actor']`."""
    if not isinstance(node, NodeRef):
        raise wrong_input("labels", "a Node", node)
    if isinstance(node, VirtualNode):
        return list(node.labels)
    if not context.graph.node_exists(_one(node.position))[0]:
        if context.writer is not None and node.position not in context.writer.deleted_here(nodes=True):
            return []
        raise _deleted_node(context, node)
    return list(context.graph.label_sets(_one(node.position))[0])


@over_columns("labels")
def labels_of_column(context: Execution, column: Column) -> Column | None:
    """The same for a column of nodes that all exist, read at once; nodes with the same labels share a list."""
    return _of_entities(context, column, partial(_label_lists, context.graph)) if isinstance(column, Nodes) else None


def _label_lists(graph: Snapshot, nodes: Int64s) -> ObjectArray:
    codes, which = np.unique(graph.label_set_codes(nodes), return_inverse=True)
    return object_array(map(list, graph.labels_of_sets(codes)), len(codes))[which]


@cypher_function(
    "type",
    args=(_RELATIONSHIP,),
    returns=STRING,
    category="Scalar",
    description="Returns a `STRING` representation of the `RELATIONSHIP` type.",
    needs_context=True,
)
def relationship_type(context: Execution, relationship: Any) -> str | None:
    """`type(r)` is `'KNOWS'`; a deleted relationship still has its type, unless it was never committed."""
    if not isinstance(relationship, RelationshipRef):
        raise wrong_input("type", "a Relationship", relationship)
    if isinstance(relationship, VirtualRelationship):
        return relationship.type
    if context.writer is not None and not context.graph.has_relationship(relationship.position):
        if relationship.position not in context.writer.deleted_here(nodes=False):
            return None
        if context.writer.made_here(relationship.position):
            raise _deleted_relationship(context, relationship)
    code = int(context.graph.relationship_types(_one(relationship.position))[0])
    return context.graph.type_names[code]


@over_columns("type")
def types_of_column(context: Execution, column: Column) -> Column | None:
    """The same for a column of relationships, read at once."""
    if not isinstance(column, Relationships):
        return None
    if (
        context.writer is not None
        and not (context.graph.relationship_exists(column.positions) | (column.positions < 0)).all()
    ):
        return None
    names = np.array([*context.graph.type_names, None], dtype=object)  # code -1 is null, the last entry
    codes = context.graph.relationship_types(column.positions)
    return Strings(names[np.where(column.positions < 0, -1, codes)])


# --- ends of relationships, parts of paths ---


def _endpoint(context: Execution, relationship: Any, function: str, side: int) -> NodeRef | None:
    if not isinstance(relationship, RelationshipRef):
        raise type_error(
            f"Invalid input for function '{function}()': Expected {describe(relationship)} to be a RelationshipValue"
        )
    if isinstance(relationship, VirtualRelationship):
        end = (relationship.start, relationship.end)[side]
        return VirtualNode(end.position) if isinstance(end, VirtualNode) else end  # only a reference, without labels
    position = _one(relationship.position)
    if not context.graph.relationship_exists(position)[0]:
        return VirtualNode(-1)  # Neo4j has lost the ends of a deleted relationship, but still returns a node
    return NodeRef(int(context.graph.endpoints(position)[side][0]))


def _endpoints(context: Execution, column: Column, side: int) -> Column | None:
    if not isinstance(column, Relationships) or not context.graph.relationship_exists(column.positions).all():
        return None
    return Nodes(context.graph.endpoints(column.positions)[side])


@cypher_function(
    "startNode",
    args=(_RELATIONSHIP,),
    returns=NODE,
    category="Scalar",
    description="Returns the start `NODE` of a `RELATIONSHIP`.",
    needs_context=True,
)
def start_node(context: Execution, relationship: Any) -> NodeRef | None:
    """The node that the relationship leads from."""
    return _endpoint(context, relationship, "startNode", 0)


@over_columns("startNode")
def start_nodes(context: Execution, column: Column) -> Column | None:
    """The same for a column."""
    return _endpoints(context, column, 0)


@cypher_function(
    "endNode",
    args=(_RELATIONSHIP,),
    returns=NODE,
    category="Scalar",
    description="Returns the end `NODE` of a `RELATIONSHIP`.",
    needs_context=True,
)
def end_node(context: Execution, relationship: Any) -> NodeRef | None:
    """The node that the relationship leads to."""
    return _endpoint(context, relationship, "endNode", 1)


@over_columns("endNode")
def end_nodes(context: Execution, column: Column) -> Column | None:
    """The same for a column."""
    return _endpoints(context, column, 1)


@cypher_function(
    "length",
    args=(_PATH,),
    returns=INTEGER,
    category="Scalar",
    description="Returns the length of a `PATH`.",
)
def length(path: Any) -> int:
    """The number of relationships."""
    if not isinstance(path, PathValue):
        raise wrong_input("length", "a Path", path)
    return len(path.relationships)


@over_columns("length")
def lengths(column: Column) -> Column | None:
    """The same for a column of paths, without building the paths."""
    if not isinstance(column, Paths):
        return None
    nulls = column.starts < 0
    return Integers(np.diff(column.offsets), nulls if nulls.any() else None)


def _path(value: Any, function: str) -> PathValue:
    if not isinstance(value, PathValue):
        raise type_error(f"Invalid input for function '{function}()': Expected {describe(value)} to be a path")
    return value


@cypher_function(
    "nodes",
    args=(_PATH,),
    returns=list_of(NODE),
    category="List",
    description="Returns a `LIST<NODE>` containing all the `NODE` values in a `PATH`.",
)
def nodes(path: Any) -> list[NodeRef]:
    """The nodes in the order of the path."""
    return _path(path, "nodes").node_refs()


@over_columns("nodes")
def nodes_of_column(column: Column) -> Column | None:
    """The same for a column of paths: each start is inserted before the nodes that follow it."""
    if not isinstance(column, Paths) or (column.starts < 0).any():
        return None
    count = len(column)
    first, final = int(column.offsets[0]), int(column.offsets[-1])
    offsets = column.offsets - first
    ids = np.insert(column.nodes[first:final], offsets[:-1], column.starts)
    return EntityLists(offsets + np.arange(count + 1), ids, of_nodes=True)


@cypher_function(
    "relationships",
    args=(_PATH,),
    returns=list_of(RELATIONSHIP),
    category="List",
    description="Returns a `LIST<RELATIONSHIP>` containing all the `RELATIONSHIP` values in a `PATH`.",
)
def relationships(path: Any) -> list[RelationshipRef]:
    """The relationships in the order of the path."""
    return _path(path, "relationships").relationship_refs()


@over_columns("relationships")
def relationships_of_column(column: Column) -> Column | None:
    """The same for a column of paths."""
    if not isinstance(column, Paths):
        return None
    nulls = column.starts < 0
    return EntityLists(column.offsets, column.relationships, False, nulls if nulls.any() else None)
