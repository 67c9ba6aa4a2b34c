"""apoc.meta.graph.of: the shape of a part of the graph, which is copied into a graph of its own and described there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import ends_of
from hoplite.engine.functions.entities import properties_of, relationship_type
from hoplite.engine.procedures.apoc_cypher import run_query
from hoplite.engine.procedures.apoc_meta import PICTURE, picture_of_all
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.storage.graph import Graph
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualRelationship

_NAME = "apoc.meta.graph.of"
_ILLEGAL = "java.lang.IllegalArgumentException"


@cypher_procedure(
    f"{_NAME}(graph = {{}} :: ANY, config = {{}} :: MAP) :: ({PICTURE})",
    mode="READ",
    description="Returns the labels and types in a part of the graph as virtual nodes and relationships.",
    works_on_system=False,
)
def meta_graph_of(context: Execution, given: Any, config: dict[str, Any]) -> Iterator[Row]:
    """The row of `apoc.meta.graph`."""
    yield picture_of_all(_copied(context, given))


def _copied(context: Execution, given: Any) -> Execution:
    """The statement over a copy of the given part: the result of a query, or a map of nodes and relationships."""
    part = _Part(context)
    match given:
        case str():
            for row in run_query(context, _NAME, given, None):
                part.add(row)
        case {"nodes": nodes, **rest}:
            part.add(nodes)
            part.add(rest.get("relationships") or rest.get("rels"))
        case dict():
            message = "Graph Map must contains `nodes` field and `relationships` optionally"
            raise call_failed(_NAME, _ILLEGAL, message)
        case _:
            raise call_failed(_NAME, _ILLEGAL, "Supported inputs are String, VirtualGraph, Map")
    return replace(context, graph=part.finish().snapshot(), writer=None)


class _Part:
    """A graph that copies of entities are added to, each once; relationships bring their nodes along."""

    def __init__(self, context: Execution) -> None:
        self._context = context
        self._graph = Graph()
        self._writer = self._graph.begin()
        self._nodes: dict[int, int] = {}
        self._relationships: set[int] = set()

    def finish(self) -> Graph:
        self._writer.commit()
        return self._graph

    def add(self, value: Any) -> None:
        match value:
            case NodeRef():
                self._node(value)
            case RelationshipRef() if value.position not in self._relationships:
                self._relationships.add(value.position)
                start, end = (self._node(node) for node in ends_of(self._context, value))
                name = relationship_type(self._context, value)
                assert name is not None
                self._writer.create_relationship(start, end, name, self._properties(value))
            case PathValue():
                self.add([NodeRef(position) for position in value.nodes])
                self.add([RelationshipRef(position) for position in value.relationships])
            case list() | dict():
                for item in value.values() if isinstance(value, dict) else value:
                    self.add(item)

    def _node(self, node: NodeRef) -> int:
        if node.position not in self._nodes:
            self._context.check_time()
            self._nodes[node.position] = self._writer.create_node(self._labels(node), self._properties(node))
        return self._nodes[node.position]

    def _labels(self, node: NodeRef) -> tuple[str, ...]:
        if isinstance(node, VirtualNode):
            return node.labels
        return self._context.graph.label_sets(np.array([node.position], np.int64))[0]

    def _properties(self, entity: NodeRef | RelationshipRef) -> dict[str, Any]:
        if isinstance(entity, VirtualNode | VirtualRelationship):
            return dict(entity.properties)
        return properties_of(self._context, entity)
