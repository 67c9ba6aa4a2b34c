"""apoc.create.* and apoc.merge.*: writes with dynamic labels, types and keys.

They run in their statement's transaction. Like all writes of procedures, they do not count in its summary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import to_json
from hoplite.engine.functions.apoc_nodes import create_uuid, virtual_node, virtual_relationship
from hoplite.engine.functions.given_entities import nodes_of, relationships_of
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure, illegal_argument
from hoplite.storage.transaction import Transaction
from hoplite.values.columns import Int64s
from hoplite.values.entities import NodeRef, RelationshipRef, VirtualNode
from hoplite.values.order import equals

Properties = dict[str, Any] | None


# --- creating ---


@cypher_procedure(
    "apoc.create.node(labels :: LIST<STRING>, props :: MAP) :: (node :: NODE)",
    mode="WRITE",
    description="Creates a node with dynamic labels and properties.",
    works_on_system=False,
)
def create_node(context: Execution, labels: list[str] | None, properties: Properties) -> Iterator[Row]:
    """The new node."""
    yield (NodeRef(writer_of(context).create_node(_named(labels), _present(properties))),)


@cypher_procedure(
    "apoc.create.relationship(from :: NODE, relType :: STRING, props :: MAP, to :: NODE) :: (rel :: RELATIONSHIP)",
    mode="WRITE",
    description="Creates a relationship with a dynamic type and properties.",
    works_on_system=False,
)
def create_relationship(
    context: Execution, start: NodeRef, type_name: str, properties: Properties, end: NodeRef
) -> Iterator[Row]:
    """The new relationship, which is virtual if it starts at a virtual node."""
    if isinstance(start, VirtualNode):
        yield (virtual_relationship(start, type_name, _present(properties), end),)
        return
    if isinstance(end, VirtualNode):
        message = f"Node[{end.position}] is deleted and cannot be used to create a relationship"
        raise call_failed("apoc.create.relationship", "org.neo4j.graphdb.NotFoundException", message)
    made = writer_of(context).create_relationship(start.position, end.position, type_name, _present(properties))
    yield (RelationshipRef(made),)


@cypher_procedure(
    "apoc.create.nodes(labels :: LIST<STRING>, props :: LIST<MAP>) :: (node :: NODE)",
    mode="WRITE",
    description="Creates a node for each map of properties.",
    works_on_system=False,
)
def create_nodes(context: Execution, labels: list[str] | None, maps: list[Properties] | None) -> Iterator[Row]:
    """The new nodes."""
    for properties in maps or ():
        yield (NodeRef(writer_of(context).create_node(_named(labels), _present(properties))),)


@cypher_procedure(
    "apoc.create.vNode(labels :: LIST<STRING>, props :: MAP) :: (node :: NODE)",
    mode="DEFAULT",
    description="Returns a virtual node.",
    works_on_system=False,
)
def create_virtual_node(context: Execution, labels: list[str] | None, properties: Properties) -> Iterator[Row]:
    """One row."""
    yield (virtual_node(labels, properties),)


@cypher_procedure(
    "apoc.create.vNodes(labels :: LIST<STRING>, props :: LIST<MAP>) :: (node :: NODE)",
    mode="DEFAULT",
    description="Returns virtual nodes.",
    works_on_system=False,
)
def create_virtual_nodes(context: Execution, labels: list[str] | None, maps: list[Properties] | None) -> Iterator[Row]:
    """One for each map of properties."""
    for properties in maps or ():
        yield (virtual_node(labels, properties),)


@cypher_procedure(
    "apoc.create.vRelationship(from :: NODE, relType :: STRING, props :: MAP, to :: NODE) :: (rel :: RELATIONSHIP)",
    mode="DEFAULT",
    description="Returns a virtual relationship.",
    works_on_system=False,
)
def create_virtual_relationship(
    context: Execution, start: NodeRef | None, type_name: str, properties: Properties, end: NodeRef | None
) -> Iterator[Row]:
    """One row."""
    yield (virtual_relationship(start, type_name, properties, end),)


@cypher_procedure(
    "apoc.create.virtualPath(labelsN :: LIST<STRING>, n :: MAP, arelType :: STRING, props :: MAP, labelsM :: "
    "LIST<STRING>, m :: MAP) :: (from :: NODE, rel :: RELATIONSHIP, to :: NODE)",
    mode="DEFAULT",
    description="Returns two virtual nodes and a virtual relationship between them.",
    works_on_system=False,
)
def create_virtual_path(
    context: Execution,
    start_labels: list[str] | None,
    start_properties: Properties,
    type_name: str,
    properties: Properties,
    end_labels: list[str] | None,
    end_properties: Properties,
) -> Iterator[Row]:
    """One row."""
    start, end = virtual_node(start_labels, start_properties), virtual_node(end_labels, end_properties)
    yield start, virtual_relationship(start, type_name, properties, end), end


@cypher_procedure(
    "apoc.create.uuids(count :: INTEGER) :: (row :: INTEGER, uuid :: STRING)",
    mode="DEFAULT",
    description="Returns random UUIDs.",
    works_on_system=False,
    deprecated_by="Neo4j's randomUUID() function can be used as a replacement, for example: "
    "`UNWIND range(0,$count) AS row RETURN row, randomUUID() AS uuid`",
)
def create_uuids(context: Execution, count: int) -> Iterator[Row]:
    """A row for each."""
    yield from ((row, create_uuid()) for row in range(count))


def _named(labels: list[str] | None) -> list[str]:
    return [label for label in labels or () if label is not None]


def _present(properties: Properties) -> dict[str, Any]:
    return {key: value for key, value in (properties or {}).items() if value is not None}


# --- labels and properties ---


@cypher_procedure(
    "apoc.create.addLabels(nodes :: ANY, labels :: LIST<STRING>) :: (node :: NODE)",
    mode="WRITE",
    description="Adds labels to nodes.",
    works_on_system=False,
)
def add_labels(context: Execution, given: Any, labels: list[str] | None) -> Iterator[Row]:
    """The nodes."""
    for node in nodes_of(context, given):
        for label in _named(labels):
            writer_of(context).add_label(node.position, label)
        yield (node,)


@cypher_procedure(
    "apoc.create.removeLabels(nodes :: ANY, labels :: LIST<STRING>) :: (node :: NODE)",
    mode="WRITE",
    description="Removes labels from nodes.",
    works_on_system=False,
)
def remove_labels(context: Execution, given: Any, labels: list[str] | None) -> Iterator[Row]:
    """The nodes."""
    for node in nodes_of(context, given):
        for label in _named(labels):
            writer_of(context).remove_label(node.position, label)
        yield (node,)


@cypher_procedure(
    "apoc.create.setLabels(nodes :: ANY, labels :: LIST<STRING>) :: (node :: NODE)",
    mode="WRITE",
    description="Replaces the labels of nodes.",
    works_on_system=False,
)
def set_labels(context: Execution, given: Any, labels: list[str] | None) -> Iterator[Row]:
    """The nodes."""
    writer = writer_of(context)
    for node in nodes_of(context, given):
        for label in writer.label_sets(np.array([node.position], np.int64))[0]:
            if label not in (labels or ()):
                writer.remove_label(node.position, label)
        for label in _named(labels):
            writer.add_label(node.position, label)
        yield (node,)


@cypher_procedure(
    "apoc.create.setProperty(nodes :: ANY, key :: STRING, value :: ANY) :: (node :: NODE)",
    mode="WRITE",
    description="Sets a property with a dynamic key.",
    works_on_system=False,
)
def set_property(context: Execution, given: Any, key: str, value: Any) -> Iterator[Row]:
    """The nodes."""
    for node in nodes_of(context, given):
        writer_of(context).set_node_property(node.position, key, value)
        yield (node,)


@cypher_procedure(
    "apoc.convert.setJsonProperty(node :: NODE, key :: STRING, value :: ANY)",
    mode="WRITE",
    description="Sets a property to a value converted to JSON.",
    works_on_system=False,
)
def set_json_property(context: Execution, node: NodeRef, key: str, value: Any) -> Iterator[Row]:
    """No rows."""
    writer_of(context).set_node_property(node.position, key, to_json(context, value))
    yield from ()


@cypher_procedure(
    "apoc.create.setProperties(nodes :: ANY, keys :: LIST<STRING>, values :: LIST<ANY>) :: (node :: NODE)",
    mode="WRITE",
    description="Sets properties with dynamic keys.",
    works_on_system=False,
)
def set_properties(context: Execution, given: Any, keys: list[str], values: list[Any]) -> Iterator[Row]:
    """The nodes."""
    for node in nodes_of(context, given):
        for key, value in _pairs(keys, values):
            writer_of(context).set_node_property(node.position, key, value)
        yield (node,)


def _pairs(keys: list[str] | None, values: list[Any] | None) -> Iterator[tuple[str, Any]]:
    if keys is None or values is None or len(keys) != len(values):
        raise ValueError("keys and values lists have to be not null and of same size")
    return zip(keys, values, strict=True)


@cypher_procedure(
    "apoc.create.setRelProperty(rels :: ANY, key :: STRING, value :: ANY) :: (rel :: RELATIONSHIP)",
    mode="WRITE",
    description="Sets a property with a dynamic key.",
    works_on_system=False,
)
def set_relationship_property(context: Execution, given: Any, key: str, value: Any) -> Iterator[Row]:
    """The relationships."""
    for one in relationships_of(context, given):
        writer_of(context).set_relationship_property(one.position, key, value)
        yield (one,)


@cypher_procedure(
    "apoc.create.setRelProperties(rels :: ANY, keys :: LIST<STRING>, values :: LIST<ANY>) :: (rel :: RELATIONSHIP)",
    mode="WRITE",
    description="Sets properties of relationships with dynamic keys.",
    works_on_system=False,
)
def set_relationship_properties(context: Execution, given: Any, keys: list[str], values: list[Any]) -> Iterator[Row]:
    """The relationships."""
    for one in relationships_of(context, given):
        for key, value in _pairs(keys, values):
            writer_of(context).set_relationship_property(one.position, key, value)
        yield (one,)


@cypher_procedure(
    "apoc.create.removeProperties(nodes :: ANY, keys :: LIST<STRING>) :: (node :: NODE)",
    mode="WRITE",
    description="Removes properties of nodes.",
    works_on_system=False,
)
def remove_properties(context: Execution, given: Any, keys: list[str] | None) -> Iterator[Row]:
    """The nodes."""
    for node in nodes_of(context, given):
        for key in keys or ():
            writer_of(context).set_node_property(node.position, key, None)
        yield (node,)


@cypher_procedure(
    "apoc.create.removeRelProperties(rels :: ANY, keys :: LIST<STRING>) :: (rel :: RELATIONSHIP)",
    mode="WRITE",
    description="Removes properties of relationships.",
    works_on_system=False,
)
def remove_relationship_properties(context: Execution, given: Any, keys: list[str] | None) -> Iterator[Row]:
    """The relationships."""
    for one in relationships_of(context, given):
        for key in keys or ():
            writer_of(context).set_relationship_property(one.position, key, None)
        yield (one,)


# --- merging ---


def matching_nodes(context: Execution, labels: list[str], identity: dict[str, Any]) -> list[int]:
    """The nodes that have all labels and these property values."""
    writer = writer_of(context)
    if labels:
        key = next(iter(identity))
        _, found = writer.seek_nodes(labels[0], key, [identity[key]])
        for label in labels[1:]:
            found = found[writer.has_label(found, label)]
    else:
        found = writer.nodes()
    for key, value in identity.items():
        held = writer.node_property(found, key).objects()
        found = found[np.fromiter((equals(one, value) is True for one in held), np.bool_, len(held))]
    nodes: list[int] = found.tolist()
    return nodes


def _refuse_nulls(procedure: str, kind: str, identity: dict[str, Any]) -> None:
    for key, value in identity.items():
        if value is None:
            message = f"Cannot merge the following {kind} because of null property value for '{key}'"
            raise call_failed(procedure, "org.neo4j.exceptions.InvalidSemanticsException", message)


def _merge_node(
    context: Execution,
    procedure: str,
    labels: list[str] | None,
    identity: Properties,
    created: Properties,
    matched: Properties,
) -> Iterator[Row]:
    if not identity:
        raise illegal_argument(procedure, "you need to supply at least one identifying property for a merge")
    if any(not label for label in labels or ()):
        raise illegal_argument(
            procedure,
            "The list of label names may not contain any `NULL` or empty `STRING` values. If you wish to merge a "
            "`NODE` "
            "without a label, pass an empty list instead.",
        )
    _refuse_nulls(procedure, "node", identity)
    writer = writer_of(context)
    found = matching_nodes(context, labels or [], identity)
    for node in found:
        for key, value in (matched or {}).items():
            writer.set_node_property(node, key, value)
        yield (NodeRef(node),)
    if not found:
        yield (NodeRef(writer.create_node(labels or [], _present({**identity, **(created or {})}))),)


_MERGE_NODE = (
    "(labels :: LIST<STRING>, identProps :: MAP, onCreateProps = {} :: MAP, onMatchProps = {} :: MAP) :: (node :: NODE)"
)


@cypher_procedure(
    f"apoc.merge.node{_MERGE_NODE}",
    mode="WRITE",
    description="Merges a node with dynamic labels and properties.",
    works_on_system=False,
)
def merge_node(
    context: Execution, labels: list[str] | None, identity: Properties, created: Properties, matched: Properties
) -> Iterator[Row]:
    """Every node that matches, or a new one."""
    return _merge_node(context, "apoc.merge.node", labels, identity, created, matched)


@cypher_procedure(
    f"apoc.merge.node.eager{_MERGE_NODE}",
    mode="WRITE",
    description="Merges a node with dynamic labels and properties.",
    works_on_system=False,
)
def merge_node_eager(
    context: Execution, labels: list[str] | None, identity: Properties, created: Properties, matched: Properties
) -> Iterator[Row]:
    """Every node that matches, or a new one."""
    return _merge_node(context, "apoc.merge.node.eager", labels, identity, created, matched)


def _between(writer: Transaction, start: int, end: int, type_name: str) -> Int64s:
    """The relationships of a type from one node to another."""
    code = writer.type_code(type_name)
    candidates = writer.relationships_of(start)
    if code is None or not len(candidates):
        return np.zeros(0, np.int64)
    starts, ends = writer.endpoints(candidates)
    fits = (starts == start) & (ends == end) & (writer.relationship_types(candidates) == code)
    return np.unique(candidates[fits])


def matching_relationships(
    context: Execution, start: NodeRef, type_name: str, identity: Properties, end: NodeRef
) -> Int64s:
    """The relationships of a type from one node to another that have all of the properties."""
    writer = writer_of(context)
    found = _between(writer, start.position, end.position, type_name)
    for key, value in (identity or {}).items():
        held = writer.relationship_property(found, key).objects()
        found = found[np.fromiter((equals(one, value) is True for one in held), np.bool_, len(held))]
    return found


def _merge_relationship(
    context: Execution,
    procedure: str,
    start: NodeRef,
    type_name: str,
    identity: Properties,
    created: Properties,
    end: NodeRef,
    matched: Properties,
) -> Iterator[Row]:
    if not type_name:
        raise illegal_argument(procedure, "It is not possible to merge a `RELATIONSHIP` without a `RELATIONSHIP` type.")
    if start is None or end is None:
        raise call_failed(procedure, "java.lang.NullPointerException", "a node to merge between is null")
    _refuse_nulls(procedure, "relationship", identity or {})
    writer = writer_of(context)
    found = matching_relationships(context, start, type_name, identity, end)
    for relationship in found.tolist():
        for key, value in (matched or {}).items():
            writer.set_relationship_property(relationship, key, value)
        yield (RelationshipRef(relationship),)
    if not len(found):
        properties = _present({**(identity or {}), **(created or {})})
        yield (RelationshipRef(writer.create_relationship(start.position, end.position, type_name, properties)),)


_MERGE_RELATIONSHIP = (
    "(startNode :: NODE, relType :: STRING, identProps :: MAP, onCreateProps :: MAP, endNode :: NODE, onMatchProps = "
    "{} :: "
    "MAP) :: (rel :: RELATIONSHIP)"
)


@cypher_procedure(
    f"apoc.merge.relationship{_MERGE_RELATIONSHIP}",
    mode="WRITE",
    description="Merges a relationship with a dynamic type and properties.",
    works_on_system=False,
)
def merge_relationship(context: Execution, *arguments: Any) -> Iterator[Row]:
    """Every relationship that matches, or a new one."""
    return _merge_relationship(context, "apoc.merge.relationship", *arguments)


@cypher_procedure(
    f"apoc.merge.relationship.eager{_MERGE_RELATIONSHIP}",
    mode="WRITE",
    description="Merges a relationship with a dynamic type and properties.",
    works_on_system=False,
)
def merge_relationship_eager(context: Execution, *arguments: Any) -> Iterator[Row]:
    """Every relationship that matches, or a new one."""
    return _merge_relationship(context, "apoc.merge.relationship.eager", *arguments)
