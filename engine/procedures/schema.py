"""db.schema.*: the labels, types and properties of the data, as tables and as a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.procedures.registry import Row, cypher_procedure
from hoplite.storage.schema import Constraint, Entity
from hoplite.values.columns import Booleans, Column, Floats, Int64s, Integers, Strings
from hoplite.values.entities import VirtualNode, VirtualRelationship
from hoplite.values.map_order import as_answered, visiting_order
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

_FIRST_VIRTUAL_ID = -100

_TYPE_NAMES: dict[type, str] = {
    int: "Long",
    float: "Double",
    bool: "Boolean",
    str: "String",
    bytes: "ByteArray",
    Point: "Point",
    Date: "Date",
    Time: "Time",
    LocalTime: "LocalTime",
    DateTime: "DateTime",
    LocalDateTime: "LocalDateTime",
    Duration: "Duration",
}
_COLUMN_TYPES: dict[type, str] = {Integers: "Long", Floats: "Double", Booleans: "Boolean", Strings: "String"}


def stored_type(value: Any) -> str:
    """The name of a stored value's type: `Long`, `StringArray`."""
    if isinstance(value, list):
        return f"{_TYPE_NAMES[type(value[0])]}Array" if value else "StringArray"
    return _TYPE_NAMES[type(value)]


def property_types(column: Column) -> list[str]:
    """The types of the values in a column, in order of first appearance."""
    if type(column) in _COLUMN_TYPES:
        return [_COLUMN_TYPES[type(column)]]
    return list(dict.fromkeys(stored_type(value) for value in column.objects() if value is not None))


def _properties(
    entities: Int64s, keys: tuple[str, ...], read: Callable[[Int64s, str], Column]
) -> Iterator[tuple[str | None, list[str] | None, bool]]:
    """The name, the types and whether every entity has it, for each property of these entities.

    One empty row if there is none.
    """
    found = False
    for key in keys:
        column = read(entities, key)
        nulls = column.null_mask()
        if not nulls.all():
            found = True
            yield key, property_types(column), not nulls.any()
    if not found:
        yield None, None, False


_CHANGING = "The field `propertyTypes` will change output format in the next major version."


@cypher_procedure(
    "db.schema.nodeTypeProperties() :: (nodeType :: STRING, nodeLabels :: LIST<STRING>, propertyName :: STRING, "
    "propertyTypes :: LIST<STRING>, mandatory :: BOOLEAN)",
    description="Show the derived property schema of the nodes in tabular form.",
    warning=_CHANGING,
)
def node_type_properties(context: Execution) -> Iterator[Row]:
    """One row for each set of labels and property."""
    graph = context.graph
    nodes = graph.nodes()
    codes = graph.label_set_codes(nodes)
    for code in np.unique(codes).tolist():
        members = nodes[codes == code]
        labels = list(graph.label_sets(members[:1])[0])
        kind = "".join(f":`{label}`" for label in labels)
        for name, types, mandatory in _properties(members, graph.property_keys(), graph.node_property):
            yield (kind, labels, name, types, mandatory)


@cypher_procedure(
    "db.schema.relTypeProperties() :: (relType :: STRING, propertyName :: STRING, propertyTypes :: LIST<STRING>, "
    "mandatory "
    ":: BOOLEAN)",
    description="Show the derived property schema of the relationships in tabular form.",
    warning=_CHANGING,
)
def relationship_type_properties(context: Execution) -> Iterator[Row]:
    """One row for each type and property."""
    graph = context.graph
    for type_name in graph.relationship_types_in_use():
        members = graph.relationships_with_type(type_name)
        for name, types, mandatory in _properties(members, graph.property_keys(), graph.relationship_property):
            yield (f":`{type_name}`", name, types, mandatory)


@cypher_procedure(
    "db.schema.visualization() :: (nodes :: LIST<NODE>, relationships :: LIST<RELATIONSHIP>)",
    description="Visualizes the schema of the data based on available statistics. A new node is returned for each "
    "label. "
    "The properties represented on the node include: `name` (label name), `indexes` (list of indexes), and "
    "`constraints` "
    "(list of constraints). A relationship of a given type is returned for all possible combinations of start and end "
    "nodes. The properties represented on the relationship include: `name` (type name). Note that this may include "
    "additional relationships that do not exist in the data due to the information available in the count store. ",
)
def visualization(context: Execution) -> Iterator[Row]:
    """A node for each label, and a relationship for each type between a label it starts at and one it ends at.

    Both come in the order of Java's hash maps, by name.
    """
    graph = context.graph
    labels, types = graph.labels_in_use(), graph.relationship_types_in_use()
    nodes: dict[str, VirtualNode] = {}
    for number, label in enumerate(labels):
        properties = {"indexes": _indexes(context, label), "constraints": _constraints(context, label), "name": label}
        nodes[label] = VirtualNode(_FIRST_VIRTUAL_ID - number, (label,), as_answered(properties))
    relationships: list[VirtualRelationship] = []
    for name in visiting_order(types):
        starts = [label for label in labels if graph.pattern_count(label, name, None)]
        ends = [label for label in labels if graph.pattern_count(None, name, label)]
        for start, end in product(starts, ends):
            number = _FIRST_VIRTUAL_ID - len(relationships)
            relationships.append(VirtualRelationship(number, name, nodes[start], nodes[end], properties={"name": name}))
    yield ([nodes[label] for label in visiting_order(labels)], relationships)


def _indexes(context: Execution, label: str) -> list[str]:
    """The keys of the indexes on a label that no constraint owns."""
    return [
        ",".join(index.keys)
        for index in context.graph.schema.indexes
        if index.entity is Entity.NODE and label in index.labels and index.owning_constraint is None
    ]


def _constraints(context: Execution, label: str) -> list[str]:
    return [
        describe_constraint(rule)
        for rule in context.graph.schema.constraints
        if rule.entity is Entity.NODE and label in rule.labels
    ]


def describe_constraint(rule: Constraint) -> str:
    """A constraint as Neo4j's messages write it."""
    return (
        f"Constraint( id={rule.id}, name='{rule.name}', type='{rule.kind.value}', schema=(:{':'.join(rule.labels)} "
        f"{{{', '.join(rule.keys)}}}), ownedIndex={rule.owned_index} )"
    )
