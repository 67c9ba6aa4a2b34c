"""apoc.meta.* and apoc.schema.*: what programs ask to learn the shape of a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import cypher_type
from hoplite.engine.procedures.registry import Row, cypher_procedure
from hoplite.engine.procedures.schema import label_pairs
from hoplite.engine.procedures.vectors import describe_index
from hoplite.storage.schema import Entity, Index, IndexKind
from hoplite.values.columns import Booleans, Column, Floats, Int64s, Integers, Strings
from hoplite.values.entities import VirtualNode, VirtualRelationship

_COLUMN_TYPES: dict[type, str] = {Integers: "INTEGER", Floats: "FLOAT", Booleans: "BOOLEAN", Strings: "STRING"}


@dataclass(frozen=True, slots=True)
class _Property:
    """A property of a label or type: its type, and what the schema says about it."""

    name: str
    type: str
    is_list: bool
    indexed: bool
    unique: bool


@dataclass(frozen=True, slots=True)
class _Relation:
    """Relationships of one type that lead from a label: how many nodes have some, how many each has out and in."""

    type: str
    count: int
    left: int
    right: int
    ends: list[str]


def _type_of(column: Column) -> str | None:
    """The type of the last value in a column."""
    nulls = column.null_mask()
    if nulls.all():
        return None
    if type(column) in _COLUMN_TYPES:
        return _COLUMN_TYPES[type(column)]
    last = column.take(np.flatnonzero(~nulls)[-1:]).objects()[0]
    return "LIST" if isinstance(last, list) else cypher_type(last)


def _properties(context: Execution, entity: Entity, name: str, members: Int64s) -> Iterator[_Property]:
    graph = context.graph
    read = graph.node_property if entity is Entity.NODE else graph.relationship_property
    rules = [rule for rule in graph.schema.unique(entity, name) if len(rule.keys) == 1]
    for key in graph.property_keys():
        found = _type_of(read(members, key))
        if found is not None:
            indexed = graph.schema.has_index(entity, name, key)
            yield _Property(key, found, found == "LIST", indexed, any(rule.keys == (key,) for rule in rules))


def _relations(context: Execution, label: str) -> Iterator[_Relation]:
    """The relationships that lead from the nodes of a label."""
    graph = context.graph
    nodes = graph.nodes_with_label(label)
    for name in graph.relationship_types_in_use():
        ends = [end for start, end in label_pairs(context, name) if start == label]
        code = graph.type_code(name)
        if not ends or code is None:
            continue
        out = graph.degree(nodes, True, (code,))
        having = out > 0
        count = max(int(having.sum()), 1)
        into = graph.degree(nodes[having], False, (code,))
        yield _Relation(name, int(having.sum()), int(out.sum()) // count, int(into.sum()) // count, ends)


@cypher_procedure(
    "apoc.meta.data(config = {} :: MAP) :: (label :: STRING, property :: STRING, count :: INTEGER, unique :: BOOLEAN, "
    "index "
    ":: BOOLEAN, existence :: BOOLEAN, type :: STRING, array :: BOOLEAN, sample :: LIST<ANY>, left :: INTEGER, right "
    ":: "
    "INTEGER, other :: LIST<STRING>, otherLabels :: LIST<STRING>, elementType :: STRING)",
    mode="DEFAULT",
    description="Describes the properties and relationships of every label and type as a table.",
    works_on_system=False,
)
def meta_data(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """A row for each property and each kind of relationship of a label or type.

    Everything is looked at, whatever sample is asked for; APOC's own takes no other settings here, either.
    """
    graph = context.graph
    for name in graph.relationship_types_in_use():
        for label in dict.fromkeys(start for start, _ in label_pairs(context, name)):
            (relation,) = (one for one in _relations(context, label) if one.type == name)
            yield _relation_row(name, label, relation, "relationship")
        for one in _properties(context, Entity.RELATIONSHIP, name, graph.relationships_with_type(name)):
            yield _property_row(name, one, "relationship")
    for label in graph.labels_in_use():
        for relation in _relations(context, label):
            yield _relation_row(label, relation.type, relation, "node")
        for one in _properties(context, Entity.NODE, label, graph.nodes_with_label(label)):
            yield _property_row(label, one, "node")


def _relation_row(label: str, name: str, relation: _Relation, kind: str) -> Row:
    numbers = (
        relation.count,
        False,
        False,
        False,
        "RELATIONSHIP",
        relation.left > 1,
        None,
        relation.left,
        relation.right,
    )
    return (label, name, *numbers, relation.ends, [], kind)


def _property_row(label: str, one: _Property, kind: str) -> Row:
    return (label, one.name, 0, one.unique, one.indexed, False, one.type, one.is_list, None, 0, 0, [], [], kind)


@cypher_procedure(
    "apoc.meta.schema(config = {} :: MAP) :: (value :: MAP)",
    mode="DEFAULT",
    description="Describes the properties and relationships of every label and type as a map.",
    works_on_system=False,
)
def meta_schema(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """One map: labels and types with their properties and relationships."""
    graph = context.graph
    value: dict[str, Any] = {}
    for name in graph.relationship_types_in_use():
        members = graph.relationships_with_type(name)
        held = _described(context, Entity.RELATIONSHIP, name, members)
        value[name] = {"type": "relationship", "count": graph.type_count(name), "properties": held}
    for label in graph.labels_in_use():
        value[label] = {
            "type": "node",
            "count": graph.label_count(label),
            "labels": [],
            "properties": _described(context, Entity.NODE, label, graph.nodes_with_label(label)),
            "relationships": _neighbours(context, label, value),
        }
    yield (value,)


def _described(context: Execution, entity: Entity, name: str, members: Int64s) -> dict[str, Any]:
    described = {}
    for one in _properties(context, entity, name, members):
        facts: dict[str, Any] = {"type": one.type, "existence": False, "array": one.is_list}
        described[one.name] = facts | ({"indexed": one.indexed, "unique": one.unique} if entity is Entity.NODE else {})
    return described


def _neighbours(context: Execution, label: str, value: dict[str, Any]) -> dict[str, Any]:
    """The types of the relationships of a label, with their direction and the labels at their other ends."""
    found: dict[str, Any] = {}
    for name in context.graph.relationship_types_in_use():
        pairs = list(label_pairs(context, name))
        for direction, ends in (
            ("in", [start for start, end in pairs if end == label]),
            ("out", [end for start, end in pairs if start == label]),
        ):
            if ends:
                count = context.graph.pattern_count(
                    *((label, name, None) if direction == "out" else (None, name, label))
                )
                held = value[name]["properties"]
                found[name] = {"direction": direction, "count": count, "labels": ends, "properties": held}
    return found


@cypher_procedure(
    "apoc.meta.stats() :: (labelCount :: INTEGER, relTypeCount :: INTEGER, propertyKeyCount :: INTEGER, nodeCount :: "
    "INTEGER, relCount :: INTEGER, labels :: MAP, relTypes :: MAP, relTypesCount :: MAP, stats :: MAP)",
    mode="DEFAULT",
    description="Counts nodes, relationships, labels, types and property keys.",
    works_on_system=False,
)
def meta_stats(context: Execution) -> Iterator[Row]:
    """One row; `stats` has everything once more."""
    graph = context.graph
    labels = {label: graph.label_count(label) for label in graph.labels_in_use()}
    types = {name: graph.type_count(name) for name in graph.relationship_types_in_use()}
    patterns: dict[str, int] = {}
    for name, count in types.items():
        patterns[f"()-[:{name}]->()"] = count
        for label in labels:
            for pattern, ends in (
                (f"(:{label})-[:{name}]->()", (label, None)),
                (f"()-[:{name}]->(:{label})", (None, label)),
            ):
                if found := graph.pattern_count(ends[0], name, ends[1]):
                    patterns[pattern] = found
    stats = {
        "labelCount": len(labels),
        "relTypeCount": len(types),
        "propertyKeyCount": len(graph.property_keys()),
        "nodeCount": graph.node_count,
        "relCount": graph.relationship_count,
        "labels": labels,
        "relTypes": patterns,
    }
    counts = tuple(stats.values())
    yield (*counts, types, stats)


_PICTURE = "nodes :: LIST<NODE>, relationships :: LIST<RELATIONSHIP>"
_FIRST_VIRTUAL_ID = -10


def _picture(context: Execution, labels: Sequence[str], types: Sequence[str], exact: bool) -> Row:
    """Labels as nodes with counts, and the types between them; where not exact, also those that could be there."""
    graph = context.graph
    nodes = {
        label: VirtualNode(_FIRST_VIRTUAL_ID - number, (label,), {"name": label, "count": graph.label_count(label)})
        for number, label in enumerate(labels)
    }
    relationships: list[VirtualRelationship] = []
    for name in types:
        out = {label: count for label in labels if (count := graph.pattern_count(label, name, None))}
        into = {label: count for label in labels if (count := graph.pattern_count(None, name, label))}
        for start, end in product(out, into):
            if exact and not graph.pattern_count(start, name, end):
                continue
            facts = {"type": name, "count": graph.type_count(name), "in": into[end], "out": out[start]}
            number = _FIRST_VIRTUAL_ID - len(relationships)
            relationships.append(VirtualRelationship(number, name, nodes[start], nodes[end], facts))
    return list(nodes.values()), relationships


@cypher_procedure(
    f"apoc.meta.graph(config = {{}} :: MAP) :: ({_PICTURE})",
    mode="DEFAULT",
    description="Draws the labels as nodes and the types between them as relationships.",
    works_on_system=False,
)
def meta_graph(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """Everything is looked at, whatever sample is asked for."""
    yield _picture(context, context.graph.labels_in_use(), context.graph.relationship_types_in_use(), exact=True)


@cypher_procedure(
    f"apoc.meta.graphSample(config = {{}} :: MAP) :: ({_PICTURE})",
    mode="DEFAULT",
    description="Draws the labels as nodes and the types that may be between them as relationships.",
    works_on_system=False,
)
def meta_graph_sample(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """From the counts of starts and ends alone."""
    yield _picture(context, context.graph.labels_in_use(), context.graph.relationship_types_in_use(), exact=False)


@cypher_procedure(
    f"apoc.meta.subGraph(config :: MAP) :: ({_PICTURE})",
    mode="DEFAULT",
    description="Draws some labels as nodes and the types between them as relationships.",
    works_on_system=False,
)
def meta_sub_graph(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """The same picture of the labels and types that the configuration leaves in."""
    settings = config or {}
    labels = settings.get("includeLabels") or settings.get("labels") or ()
    types = settings.get("includeRels") or settings.get("rels") or ()
    left_out = settings.get("excludeLabels") or settings.get("excludes") or ()
    yield _picture(
        context,
        [label for label in context.graph.labels_in_use() if (not labels or label in labels) and label not in left_out],
        [name for name in context.graph.relationship_types_in_use() if not types or name in types],
        exact=True,
    )


# --- indexes ---


def _selectivity(context: Execution, index: Index) -> tuple[int, float]:
    """How many entries an index has, and the share of different values among them."""
    graph = context.graph
    if not index.labels or not index.keys:
        return 0, 1.0
    read = graph.node_property if index.entity is Entity.NODE else graph.relationship_property
    of = graph.nodes_with_label if index.entity is Entity.NODE else graph.relationships_with_type
    size = sum(int((~read(of(name), index.keys[0]).null_mask()).sum()) for name in index.labels)
    different = sum(graph.distinct_values(name, index.keys[0]) or 0 for name in index.labels)
    return size, min(different / size, 1.0) if size and different else 1.0


@cypher_procedure(
    "apoc.schema.nodes(config = {} :: MAP) :: (name :: STRING, label :: ANY, properties :: LIST<STRING>, status :: "
    "STRING, "
    "type :: STRING, failure :: STRING, populationProgress :: FLOAT, size :: INTEGER, valuesSelectivity :: FLOAT, "
    "userDescription :: STRING)",
    description="Lists the indexes and constraints on nodes.",
    works_on_system=False,
)
def schema_nodes(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """A row for each index, and for each constraint."""
    for index in context.graph.schema.indexes:
        if index.entity is not Entity.NODE:
            continue
        lookup = index.kind is IndexKind.LOOKUP
        label: Any = "<any-labels>" if lookup else index.labels[0] if len(index.labels) == 1 else list(index.labels)
        name = f":{label if isinstance(label, str) else ':'.join(label)}({','.join(index.keys)})"
        kind = "UNIQUENESS" if index.owning_constraint else index.kind.value
        size, share = _selectivity(context, index)
        yield (name, label, list(index.keys), "ONLINE", kind, "NO FAILURE", 100.0, size, share, describe_index(index))
