"""apoc.graph.from*: the nodes and relationships in some data, each once, as a map with a name and properties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.procedures.apoc_cypher import run_query
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef

Properties = dict[str, Any] | None
_NULL = "java.lang.NullPointerException"


class _Gathered:
    """Nodes and relationships, in the order they were added."""

    def __init__(self) -> None:
        self.nodes: dict[int, NodeRef] = {}
        self.relationships: dict[int, RelationshipRef] = {}

    def add(self, value: Any) -> bool:
        """Add the entities in a value; False if it is of a type that holds none."""
        match value:
            case NodeRef():
                self.nodes.setdefault(value.position, value)
            case RelationshipRef():
                self.relationships.setdefault(value.position, value)
            case PathValue():
                self.add(value.node_refs())
                self.add(value.relationship_refs())
            case list() | tuple():
                for item in value:
                    self.add(item)
            case dict():
                for item in value.values():
                    self.add(item)
            case _:
                return False
        return True

    def graph(self, name: str | None, properties: Properties) -> Row:
        return (
            {
                "name": name,
                "relationships": list(self.relationships.values()),
                "nodes": list(self.nodes.values()),
                "properties": properties,
            },
        )


def _graph_of(procedure: str, parts: Iterable[Any], name: str | None, properties: Properties) -> Iterator[Row]:
    gathered = _Gathered()
    for part in parts:
        if part is None:
            raise call_failed(procedure, _NULL, "a value is null")
        gathered.add(part)
    yield gathered.graph(name, properties)


@cypher_procedure(
    "apoc.graph.fromData(nodes :: LIST<NODE>, rels :: LIST<RELATIONSHIP>, name :: STRING, props :: MAP)"
    " :: (graph :: MAP)",
    mode="DEFAULT",
    description="Returns a graph of these nodes and relationships.",
    works_on_system=False,
)
def from_data(context: Execution, nodes: Any, relationships: Any, name: str, properties: Properties) -> Iterator[Row]:
    """One row."""
    yield from _graph_of("apoc.graph.fromData", (nodes, relationships), name, properties)


@cypher_procedure(
    "apoc.graph.fromPath(path :: PATH, name :: STRING, props :: MAP) :: (graph :: MAP)",
    mode="DEFAULT",
    description="Returns a graph of the nodes and relationships of a path.",
    works_on_system=False,
)
def from_path(context: Execution, path: Any, name: str, properties: Properties) -> Iterator[Row]:
    """One row."""
    yield from _graph_of("apoc.graph.fromPath", (path,), name, properties)


@cypher_procedure(
    "apoc.graph.fromPaths(paths :: LIST<PATH>, name :: STRING, props :: MAP) :: (graph :: MAP)",
    mode="DEFAULT",
    description="Returns a graph of the nodes and relationships of paths.",
    works_on_system=False,
)
def from_paths(context: Execution, paths: Any, name: str, properties: Properties) -> Iterator[Row]:
    """One row."""
    yield from _graph_of("apoc.graph.fromPaths", (paths,), name, properties)


@cypher_procedure(
    "apoc.graph.from(data :: ANY, name :: STRING, props :: MAP) :: (graph :: MAP)",
    mode="DEFAULT",
    description="Returns a graph of all nodes and relationships in a value.",
    works_on_system=False,
)
def from_value(context: Execution, data: Any, name: str, properties: Properties) -> Iterator[Row]:
    """One row. Values that neither are nor contain entities are skipped."""
    gathered = _Gathered()
    gathered.add(data)
    yield gathered.graph(name, properties)


@cypher_procedure(
    "apoc.graph.fromCypher(statement :: STRING, params :: MAP, name :: STRING, props :: MAP) :: (graph :: MAP)",
    mode="DEFAULT",
    description="Returns a graph of all nodes and relationships in the result of a query.",
    works_on_system=False,
)
def from_cypher(
    context: Execution, statement: str, parameters: Properties, name: str, properties: Properties
) -> Iterator[Row]:
    """One row. Columns without entities become properties of the graph; the last row wins."""
    gathered, held = _Gathered(), dict(properties or {})
    for row in run_query(context, "apoc.graph.fromCypher", statement, parameters):
        for column, value in row.items():
            if not gathered.add(value):
                held[column] = value
    yield gathered.graph(name, held)


@cypher_procedure(
    "apoc.graph.fromDB(name :: STRING, props :: MAP) :: (graph :: MAP)",
    mode="DEFAULT",
    description="Returns the whole graph.",
    works_on_system=False,
)
def from_database(context: Execution, name: str, properties: Properties) -> Iterator[Row]:
    """One row."""
    gathered = _Gathered()
    for query in ("MATCH (n) RETURN n", "MATCH ()-[r]->() RETURN r"):
        for row in run_query(context, "apoc.graph.fromDB", query, None):
            gathered.add(list(row.values()))
    yield gathered.graph(name, properties)
