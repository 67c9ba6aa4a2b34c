"""apoc.meta.*: the shape of a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.procedures.apoc_meta_items import RELATIONSHIP, Collected, Item, Items, collect
from hoplite.engine.procedures.registry import Row, cypher_procedure
from hoplite.values.entities import VirtualNode, VirtualRelationship
from hoplite.values.map_order import as_answered, hash_code, order_by_hash

TABLE = (
    "label :: STRING, property :: STRING, count :: INTEGER, unique :: BOOLEAN, index :: BOOLEAN, existence :: BOOLEAN, "
    "type :: STRING, array :: BOOLEAN, sample :: LIST<ANY>, left :: INTEGER, right :: INTEGER, other :: LIST<STRING>, "
    "otherLabels :: LIST<STRING>, elementType :: STRING"
)


@cypher_procedure(
    f"apoc.meta.data(config = {{}} :: MAP) :: ({TABLE})",
    mode="DEFAULT",
    description="Describes the properties and relationships of every label and type as a table.",
    works_on_system=False,
)
def meta_data(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """A row for each property and each kind of relationship of a label or type."""
    return table_rows(collect(context))


def table_rows(found: Collected) -> Iterator[Row]:
    """The rows of `apoc.meta.data`."""
    for items in (*found.types.values(), *found.labels.values()):
        for item in items.values():
            facts = (item.count, item.unique, item.indexed, False, item.type, item.array, None, item.left, item.right)
            yield item.label, item.name, *facts, item.other, item.other_labels, item.element


@cypher_procedure(
    "apoc.meta.schema(config = {} :: MAP) :: (value :: MAP)",
    mode="DEFAULT",
    description="Describes the properties and relationships of every label and type as a map.",
    works_on_system=False,
)
def meta_schema(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """One map: labels and types with their properties and relationships."""
    graph = context.graph
    found = collect(context)
    types: dict[str, Any] = {
        name: {
            "type": "relationship",
            "count": graph.type_count(name),
            "properties": {item.name: _relationship_property(item) for item in _properties(items)},
        }
        for name, items in found.types.items()
        if graph.type_count(name)
    }
    labels: dict[str, Any] = {
        label: {
            "type": "node",
            "count": graph.label_count(label),
            "labels": next((item.other_labels for item in reversed(items.values()) if item.unique), []),
            "properties": {item.name: _node_property(item) for item in _properties(items)},
            "relationships": {
                item.name: _relationships("out", item.right_total, item.other, types[item.name])
                for item in items.values()
                if item.type == RELATIONSHIP
            },
        }
        for label, items in found.labels.items()
        if graph.label_count(label)
    }
    _add_incoming(found, labels, types)
    renamed = {f"{name} ({RELATIONSHIP})" if name in labels else name: one for name, one in types.items()}
    yield (as_answered(labels | renamed),)


def _properties(items: Items) -> Iterator[Item]:
    return (item for item in items.values() if item.type != RELATIONSHIP)


def _node_property(item: Item) -> dict[str, Any]:
    return {"type": item.type, "indexed": item.indexed, "unique": item.unique, "existence": False}


def _relationship_property(item: Item) -> dict[str, Any]:
    return {"type": item.type, "array": item.array, "existence": False, "indexed": item.indexed}


def _relationships(direction: str, count: int, ends: list[str], of_type: dict[str, Any]) -> dict[str, Any]:
    return {"direction": direction, "count": count, "labels": ends, "properties": of_type["properties"]}


def _add_incoming(found: Collected, labels: dict[str, Any], types: dict[str, Any]) -> None:
    """Relationships to a label, unless there are some of the same type from it.

    The count is that of the label where the first of them starts: APOC counts both sides of what starts at a label, and
    reports what comes in at the start as the count of outgoing ones.
    """
    for start, items in found.labels.items():
        for item in items.values():
            for end in item.other if item.type == RELATIONSHIP else ():
                held = labels[end]["relationships"]
                name = item.name
                if name not in held:
                    held[name] = _relationships("in", item.left_total, [start], types[name])
                elif held[name]["direction"] == "in":
                    held[name]["labels"].append(start)


@cypher_procedure(
    "apoc.meta.stats() :: (labelCount :: INTEGER, relTypeCount :: INTEGER, propertyKeyCount :: INTEGER, nodeCount :: "
    "INTEGER, relCount :: INTEGER, labels :: MAP, relTypes :: MAP, relTypesCount :: MAP, stats :: MAP)",
    mode="DEFAULT",
    description="Counts nodes, relationships, labels, types and property keys.",
    works_on_system=False,
)
def meta_stats(context: Execution) -> Iterator[Row]:
    """One row; `stats` repeats everything as a map."""
    graph = context.graph
    all_labels, all_types = graph.labels_in_use(), graph.relationship_types_in_use()
    labels = {label: count for label in all_labels if (count := graph.label_count(label))}
    types = {name: count for name in all_types if (count := graph.type_count(name))}
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
        "labelCount": len(all_labels),
        "relTypeCount": len(all_types),
        "propertyKeyCount": len(graph.property_keys()),
        "nodeCount": graph.node_count,
        "relCount": graph.relationship_count,
        "labels": labels,
        "relTypes": patterns,
    }
    counts = tuple(stats.values())
    yield tuple(map(as_answered, (*counts, types, stats)))


PICTURE = "nodes :: LIST<NODE>, relationships :: LIST<RELATIONSHIP>"
_FIRST_VIRTUAL_ID = -10


def _picture(
    context: Execution, labels: Sequence[str], types: Sequence[str], exact: bool
) -> tuple[list[VirtualNode], list[VirtualRelationship]]:
    """Labels as nodes with counts, and the types between them; unless `exact`, also those that could exist.

    Both come in APOC's order: labels are sorted, patterns come in the order of a hash map sized for two per type.
    """
    graph = context.graph
    nodes = {
        label: VirtualNode(
            _FIRST_VIRTUAL_ID - number, (label,), as_answered({"name": label, "count": graph.label_count(label)})
        )
        for number, label in enumerate(sorted(labels))
        if graph.label_count(label)
    }
    out = {(label, name): graph.pattern_count(label, name, None) for label in labels for name in types}
    into = {(name, label): graph.pattern_count(None, name, label) for label in labels for name in types}
    patterns = [
        (start, name, end)
        for name, start, end in product(types, labels, labels)
        if out[start, name] and into[name, end]
    ]
    from_starts = Counter((start, name) for start, name, _ in patterns)
    to_ends = Counter((name, end) for _, name, end in patterns)
    relationships: list[VirtualRelationship] = []
    for start, name, end in order_by_hash(patterns, _pattern_hash, 2 * len(types)):
        is_only_one = from_starts[start, name] == 1 and to_ends[name, end] == 1
        if exact and not is_only_one and not graph.pattern_count(start, name, end):
            continue
        facts = {"type": name, "out": out[start, name], "in": into[name, end], "count": graph.type_count(name)}
        number = _FIRST_VIRTUAL_ID - len(relationships)
        relationships.append(VirtualRelationship(number, name, nodes[start], nodes[end], as_answered(facts)))
    return list(nodes.values()), relationships


def _pattern_hash(pattern: tuple[str, str, str]) -> int:
    start, name, end = map(hash_code, pattern)
    return 31 * (31 * start + name) + end


@cypher_procedure(
    f"apoc.meta.graph(config = {{}} :: MAP) :: ({PICTURE})",
    mode="DEFAULT",
    description="Returns the labels as virtual nodes and the types between them as virtual relationships.",
    works_on_system=False,
)
def meta_graph(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """Everything is examined, whatever sample is asked for."""
    yield picture_of_all(context)


def picture_of_all(context: Execution) -> tuple[list[VirtualNode], list[VirtualRelationship]]:
    """The row of `apoc.meta.graph`."""
    return _picture(context, context.graph.labels_in_use(), context.graph.relationship_types_in_use(), exact=True)


@cypher_procedure(
    f"apoc.meta.graphSample(config = {{}} :: MAP) :: ({PICTURE})",
    mode="DEFAULT",
    description="Returns the labels as virtual nodes and the types that may connect them as virtual relationships.",
    works_on_system=False,
)
def meta_graph_sample(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """Based only on the counts of starts and ends."""
    yield _picture(context, context.graph.labels_in_use(), context.graph.relationship_types_in_use(), exact=False)


@cypher_procedure(
    f"apoc.meta.subGraph(config :: MAP) :: ({PICTURE})",
    mode="DEFAULT",
    description="Returns some labels as virtual nodes and the types between them as virtual relationships.",
    works_on_system=False,
)
def meta_sub_graph(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """As `apoc.meta.graph`, for the labels and types that the configuration includes."""
    settings = config or {}
    labels = settings.get("labels") or settings.get("includeLabels") or ()
    types = settings.get("rels") or settings.get("includeRels") or ()
    left_out = set(settings.get("excludes") or settings.get("excludeLabels") or ())
    graph = context.graph
    nodes, relationships = _picture(
        context,
        [label for label in graph.labels_in_use() if not labels or label in labels],
        [name for name in graph.relationship_types_in_use() if not types or name in types],
        exact=True,
    )
    kept = {node.position: node for node in nodes if not left_out.intersection(node.labels)}
    between = [
        one
        for one in relationships
        if one.start.position in kept and one.end.position in kept and one.type not in left_out
    ]
    yield list(kept.values()), between
