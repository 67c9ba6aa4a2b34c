"""What exports share: the part of the graph to export, values as text, and the report.

JSON objects have their keys in the order of Java's maps; temporal values are written as in Java.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import ends_of, held_by
from hoplite.engine.functions.entities import labels, public_id, relationship_type
from hoplite.engine.functions.java_text import java_text
from hoplite.engine.guard import interruptible
from hoplite.engine.procedures.apoc_cypher import run_query
from hoplite.engine.procedures.registry import Row, illegal_argument
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.map_order import visiting_order
from hoplite.values.spatial import Point

REPORT = (
    ":: (file :: STRING, source :: STRING, format :: STRING, nodes :: INTEGER, relationships :: INTEGER, properties :: "
    "INTEGER, time :: INTEGER, rows :: INTEGER, batchSize :: INTEGER, batches :: INTEGER, done :: BOOLEAN, data :: ANY)"
)


# --- what is exported
# --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Part:
    """Nodes and relationships, each once."""

    nodes: dict[NodeRef, None] = field(default_factory=dict)
    relationships: dict[RelationshipRef, None] = field(default_factory=dict)
    kind: str = "database"

    @property
    def source(self) -> str:
        """What reports call it."""
        return f"{self.kind}: nodes({len(self.nodes)}), rels({len(self.relationships)})"

    def add(self, context: Execution, value: Any) -> None:
        """Add the entities in a value. A relationship does not bring its ends."""
        context.check_time()
        match value:
            case NodeRef():
                self.nodes[value] = None
            case RelationshipRef():
                self.relationships[value] = None
            case PathValue():
                self.add(context, value.node_refs())
                self.add(context, value.relationship_refs())
            case list():
                for item in value:
                    self.add(context, item)
            case dict():
                self.add(context, list(value.values()))


def whole_graph(context: Execution) -> Part:
    """All nodes and relationships."""
    graph = context.graph
    return Part(
        {NodeRef(node): None for node in graph.nodes().tolist()},
        {RelationshipRef(one): None for one in graph.relationships().tolist()},
    )


def given_data(nodes: Iterable[Any] | None, relationships: Iterable[Any] | None) -> Part:
    """Exactly the entities in two lists."""
    return Part(
        {node: None for node in nodes or () if node is not None},
        {one: None for one in relationships or () if one is not None},
        "data",
    )


def given_graph(procedure: str, graph: Mapping[str, Any] | None) -> Part:
    """The entities in a map with nodes and relationships, as apoc.graph.* returns it."""
    if graph is None or not isinstance(graph.get("nodes"), list):
        raise illegal_argument(procedure, "Graph should have nodes and relationships lists")
    part = given_data(graph["nodes"], graph.get("relationships") or graph.get("rels"))
    part.kind = "graph"
    return part


def found_by(context: Execution, procedure: str, statement: str, config: Mapping[str, Any]) -> Part:
    """The entities in the result of a query."""
    part = Part(kind="statement")
    for row in run_query(context, procedure, statement, config.get("params")):
        part.add(context, list(row.values()))
    return part


# --- values ---------------------------------------------------------------------------------------------------------


def in_java_order(entries: Mapping[str, Any]) -> dict[str, Any]:
    """The entries in the order of Java's maps."""
    return {key: entries[key] for key in visiting_order(entries)}


def dumped(value: Any) -> str:
    """Plain values as JSON."""
    with interruptible():
        return _dumped(value)


def _dumped(value: Any) -> str:
    match value:
        case dict():
            return "{" + ",".join(f"{_dumped(key)}:{_dumped(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_dumped, value)) + "]"
        case float():
            text = java_text(value)
            return text if text[-1].isdigit() else f'"{text}"'
    return json.dumps(value, ensure_ascii=False)


def plain_point(point: Point) -> dict[str, Any]:
    """A point in terms of JSON's types."""
    values = [*point.coordinates, None][:3]
    if point.is_geographic:
        return {"crs": point.crs, "latitude": values[1], "longitude": values[0], "height": values[2]}
    return {"crs": point.crs, "x": values[0], "y": values[1], "z": values[2]}


def plain(value: Any) -> Any:
    """A property value in terms of JSON's types."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [plain(item) for item in value]
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case Point():
            return plain_point(value)
    return java_text(value)


def plain_properties(context: Execution, entity: NodeRef | RelationshipRef) -> dict[str, Any]:
    """The properties of an entity in terms of JSON's types."""
    return {key: plain(value) for key, value in in_java_order(held_by(context, entity)).items()}


def tabular(context: Execution, value: Any) -> str:
    """A value as a field of a CSV file."""
    match value:
        case None:
            return ""
        case str():
            return value
        case list() | dict() | Point() | NodeRef() | RelationshipRef() | PathValue():
            return dumped(_in_table(context, value))
    return java_text(value)


def _in_table(context: Execution, value: Any) -> Any:
    context.check_time()
    match value:
        case NodeRef():
            return {
                "id": public_id(context, value),
                "labels": labels(context, value) or [],
                "properties": plain_properties(context, value),
            }
        case RelationshipRef():
            start, end = ends_of(context, value)
            return {
                "id": public_id(context, value),
                "type": relationship_type(context, value),
                "start": public_id(context, start),
                "end": public_id(context, end),
                "properties": plain_properties(context, value),
            }
        case PathValue():
            return _in_table(context, value.elements())
        case list():
            return [_in_table(context, item) for item in value]
        case dict():
            return {key: _in_table(context, item) for key, item in value.items()}
    return plain(value)


# --- reports --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Report:
    """What was exported; `rows` counts entities and rows of a result."""

    file: str | None
    source: str
    format: str
    nodes: int = 0
    relationships: int = 0
    properties: int = 0
    answers: int = 0
    batch_size: int = -1
    began: float = field(default_factory=time.perf_counter)

    def count(self, context: Execution, entity: NodeRef | RelationshipRef) -> None:
        """Count one entity with its properties."""
        if isinstance(entity, NodeRef):
            self.nodes += 1
        else:
            self.relationships += 1
        self.properties += len(held_by(context, entity))

    @property
    def rows(self) -> int:
        return self.nodes + self.relationships + self.answers

    def row(self, data: str | None, batches: int) -> Row:
        """The one row of an export."""
        passed = int((time.perf_counter() - self.began) * 1000)
        counts = (self.nodes, self.relationships, self.properties, passed, self.rows)
        return self.file, self.source, self.format, *counts, self.batch_size, batches, True, data
