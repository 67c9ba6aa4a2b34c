"""apoc.meta.graph.of and apoc.meta.data.of: the shape of a part of the graph, which is copied into a graph of its own
and described there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import ends_of
from hoplite.engine.functions.entities import properties_of, relationship_type
from hoplite.engine.procedures.apoc_cypher import run_query
from hoplite.engine.procedures.apoc_meta import PICTURE, TABLE, picture_of_all, table_rows
from hoplite.engine.procedures.apoc_meta_items import collect
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.storage.graph import Graph
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualRelationship

_ILLEGAL = "java.lang.IllegalArgumentException"
_NULL = "java.lang.NullPointerException"
_WRONG_CLASS = "java.lang.ClassCastException"


@cypher_procedure(
    f"apoc.meta.graph.of(graph = {{}} :: ANY, config = {{}} :: MAP) :: ({PICTURE})",
    mode="DEFAULT",
    description="Returns the labels and types in a part of the graph as virtual nodes and relationships.",
    works_on_system=False,
)
def meta_graph_of(context: Execution, given: Any, config: dict[str, Any]) -> Iterator[Row]:
    """The row of `apoc.meta.graph`. Labels that only ends of relationships have are not shown, nor what leads there."""
    part = _part(context, "apoc.meta.graph.of", given)
    shown = Counter(label for labels in part.label_sets for label in labels)
    nodes, relationships = picture_of_all(context.over(part.graph.snapshot()))
    kept = {
        node.position: replace(node, properties={**node.properties, "count": shown[label]})
        for node in nodes
        for label in node.labels
        if label in shown
    }
    between = [
        replace(one, start=kept[one.start.position], end=kept[one.end.position])
        for one in relationships
        if one.start.position in kept and one.end.position in kept
    ]
    yield list(kept.values()), between


@cypher_procedure(
    f"apoc.meta.data.of(graph :: ANY, config = {{}} :: MAP) :: ({TABLE})",
    mode="DEFAULT",
    description="Describes the properties and relationships of every label and type in a part of the graph as a table.",
    works_on_system=False,
)
def meta_data_of(context: Execution, given: Any, config: dict[str, Any]) -> Iterator[Row]:
    """The rows of `apoc.meta.data`; indexes and constraints are those of the whole graph."""
    part = _part(context, "apoc.meta.data.of", given)
    over_part = context.over(part.graph.snapshot())
    return table_rows(collect(over_part, context.graph.schema))


def _part(context: Execution, procedure: str, given: Any) -> _Part:
    """A copy of the given part: the result of a query, or a map of nodes and relationships."""
    part = _Part(context)
    match given:
        case str():
            for row in run_query(context, procedure, given, None):
                part.add(row)
        case {"nodes": nodes, **rest}:
            part.add_map(procedure, nodes, rest.get("relationships"))
        case dict():
            message = "Graph Map must contains `nodes` field and `relationships` optionally"
            raise call_failed(procedure, _ILLEGAL, message)
        case _:
            raise call_failed(procedure, _ILLEGAL, "Supported inputs are String, VirtualGraph, Map")
    part.finish()
    return part


class _Part:
    """A graph that copies of entities are added to, each once."""

    def __init__(self, context: Execution) -> None:
        self.graph = Graph()
        self.label_sets: list[tuple[str, ...]] = []  # of the nodes that belong to it
        self._context = context
        self._writer = self.graph.begin()
        self._nodes: dict[int, int] = {}
        self._relationships: set[int] = set()

    def finish(self) -> None:
        self._writer.commit()

    def add(self, value: Any) -> None:
        """Add what a value contains; relationships bring their nodes along."""
        match value:
            case NodeRef():
                self._node(value)
            case RelationshipRef():
                for node in ends_of(self._context, value):
                    self._node(node)
                self._relationship(value)
            case PathValue():
                self.add(value.node_refs())
                self.add(value.relationship_refs())
            case list() | dict():
                for item in value.values() if isinstance(value, dict) else value:
                    self.add(item)

    def add_map(self, procedure: str, nodes: Any, relationships: Any) -> None:
        """Add exactly these nodes, and the relationships that start at one of them."""
        for title, given, kind in (("nodes", nodes, NodeRef), ("rels", relationships, RelationshipRef)):
            if given is None:
                raise call_failed(
                    procedure, _NULL, f'Cannot invoke "java.util.Collection.size()" because "{title}" is null'
                )
            if not isinstance(given, list) or not all(isinstance(one, kind) for one in given):
                raise call_failed(procedure, _WRONG_CLASS, f"{title} has to be a list of {title}")
        for node in nodes:
            self._node(node)
        own = set(self._nodes)
        for relationship in relationships:
            start, end = ends_of(self._context, relationship)
            if start.position in own:
                if end.position not in self._nodes:
                    self._nodes[end.position] = self._writer.create_node(self._labels(end), {})
                self._relationship(relationship)

    def _node(self, node: NodeRef) -> None:
        if node.position not in self._nodes:
            self._context.check_time()
            labels = self._labels(node)
            self.label_sets.append(labels)
            self._nodes[node.position] = self._writer.create_node(labels, self._properties(node))

    def _relationship(self, relationship: RelationshipRef) -> None:
        """Add a relationship whose nodes are there."""
        if relationship.position not in self._relationships:
            self._relationships.add(relationship.position)
            start, end = (self._nodes[node.position] for node in ends_of(self._context, relationship))
            name = relationship_type(self._context, relationship)
            assert name is not None
            self._writer.create_relationship(start, end, name, self._properties(relationship))

    def _labels(self, node: NodeRef) -> tuple[str, ...]:
        if isinstance(node, VirtualNode):
            return node.labels
        return self._context.graph.label_sets(np.array([node.position], np.int64))[0]

    def _properties(self, entity: NodeRef | RelationshipRef) -> dict[str, Any]:
        if isinstance(entity, VirtualNode | VirtualRelationship):
            return dict(entity.properties)
        return properties_of(self._context, entity)
