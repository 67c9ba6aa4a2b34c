"""apoc.graph.fromDocument and validateDocument: JSON as a graph, in which each object that names its type is a node."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_json import parse_json
from hoplite.engine.functions.apoc_nodes import next_virtual_id
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.apoc_write import matching_nodes, matching_relationships
from hoplite.engine.procedures.exported import dumped, in_java_order, plain
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure, illegal_argument
from hoplite.errors import CypherError
from hoplite.values.entities import NodeRef, RelationshipRef, VirtualNode, VirtualRelationship
from hoplite.values.order import group_key

Config = dict[str, Any] | None
_NULL = "java.lang.NullPointerException"
_WORD = re.compile(r"[_ ]")


def _documents(procedure: str, given: Any) -> list[dict[str, Any]]:
    def fail(java_class: str, message: str) -> CypherError:
        return call_failed(procedure, java_class, message)

    value = parse_json(fail, given) if isinstance(given, str) else given
    listed = value if isinstance(value, list) else [value]
    for one in listed:
        if one is None:
            raise call_failed(procedure, _NULL, "the document is null")
        if not isinstance(one, dict):
            raise call_failed(procedure, "java.lang.ClassCastException", f"{plain(one)} is not a map")
    return listed


class _Rules:
    """The settings: which fields hold the type and the id of an object."""

    def __init__(self, procedure: str, config: dict[str, Any]) -> None:
        if unknown := [name for name in ("mappings", "relMapping") if config.get(name)]:
            raise illegal_argument(procedure, f"The setting {unknown[0]} is not supported")
        self.label_field = str(config.get("labelField") or "type")
        self.id_field = str(config.get("idField") or "id")
        self.generates_ids = config.get("generateId") is not False
        self.default_label = str(config.get("defaultLabel") or "")
        self.writes = config.get("write") is True
        self.is_trusting = config.get("skipValidation") is True

    def with_id(self, document: dict[str, Any]) -> dict[str, Any]:
        """The document, with a new id if it has none."""
        if self.generates_ids and document.get(self.id_field) is None:
            return {**document, self.id_field: str(uuid.uuid4())}
        return document

    def problems(self, context: Execution, one: dict[str, Any]) -> Iterator[str]:
        """What is missing, innermost objects first."""
        context.check_time()
        for value in one.values():
            for inner in _objects(value):
                yield from self.problems(context, inner)
        missing = []
        if one.get(self.id_field) is None:
            missing.append(f"`{self.id_field}` as id-field name")
        if one.get(self.label_field) is None:
            missing.append(f"`{self.label_field}` as label-field name")
        if missing:
            shown = dumped(in_java_order({key: _shown(context, value) for key, value in one.items()}))
            yield f"The object `{shown}` must have {' and '.join(missing)}"

    def labels(self, one: dict[str, Any]) -> list[str]:
        """`big_dog` is BigDog."""
        given = one.get(self.label_field)
        text = self.default_label if given is None else str(given)
        return [
            "".join(part.lower().capitalize() for part in _WORD.split(name)) if place == 0 else name
            for place, name in enumerate(text.split(":"))
            if name
        ]


def _shown(context: Execution, value: Any) -> Any:
    """A value in terms of JSON's types."""
    context.check_time()
    if isinstance(value, list):
        return [_shown(context, item) for item in value]
    if isinstance(value, dict):
        return in_java_order({key: _shown(context, item) for key, item in value.items()})
    return plain(value)


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a value that become nodes themselves."""
    if isinstance(value, dict):
        return [value]
    is_list = isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
    return list(value) if is_list else []


class _Graph:
    """Nodes by label and id, and relationships between them; created in the graph if `write` is set, else virtual."""

    def __init__(self, context: Execution, procedure: str, rules: _Rules) -> None:
        self.context = context
        self.procedure = procedure
        self.rules = rules
        self.nodes: dict[Any, NodeRef] = {}
        self.relationships: dict[Any, RelationshipRef] = {}

    def add(self, given: dict[str, Any]) -> NodeRef:
        """The node of an object, with everything in it."""
        self.context.check_time()
        one = self.rules.with_id(given)
        names, properties = self.rules.labels(one), dict[str, Any]()
        inside: list[tuple[str, dict[str, Any]]] = []
        for key, value in one.items():
            objects = _objects(value)
            inside += [(key.upper(), item) for item in objects]
            if isinstance(value, list) and not objects and any(isinstance(item, dict) for item in value):
                raise illegal_argument(self.procedure, "array element type mismatch")
            if not objects:
                properties[key] = value
        node = self._node(names, properties)
        for type_name, item in inside:
            self._relationship(node, type_name, self.add(item))
        return node

    def _node(self, names: list[str], properties: dict[str, Any]) -> NodeRef:
        number = properties.get(self.rules.id_field)
        place = (tuple(names), group_key(number))
        if self.rules.writes:
            writer, identity = writer_of(self.context), {self.rules.id_field: number}
            found = matching_nodes(self.context, names, identity)
            node = found[0] if found else writer.create_node(names, identity)
            for key, value in properties.items():
                writer.set_node_property(node, key, value)
            self.nodes[place] = NodeRef(node)
        else:
            known = self.nodes.get(place)
            held = {**known.properties, **properties} if isinstance(known, VirtualNode) else properties
            self.nodes[place] = VirtualNode(known.position if known else next_virtual_id(), tuple(names), held)
        return self.nodes[place]

    def _relationship(self, start: NodeRef, type_name: str, end: NodeRef) -> None:
        place = (start.position, type_name, end.position)
        if place in self.relationships:
            return
        if self.rules.writes:
            found = matching_relationships(self.context, start, type_name, {}, end)
            if len(found):
                self.relationships[place] = RelationshipRef(int(found[0]))
            else:
                made = writer_of(self.context).create_relationship(start.position, end.position, type_name, {})
                self.relationships[place] = RelationshipRef(made)
        else:
            self.relationships[place] = VirtualRelationship(next_virtual_id(), type_name, start, end, {})


@cypher_procedure(
    "apoc.graph.fromDocument(json :: ANY, config = {} :: MAP) :: (graph :: MAP)",
    mode="WRITE",
    description="Returns JSON as a graph: a node for each object, a relationship to each object inside it.",
    works_on_system=False,
)
def from_document(context: Execution, given: Any, config: Config) -> Iterator[Row]:
    """Nodes are virtual or, with `write`, merged into the graph."""
    procedure = "apoc.graph.fromDocument"
    rules = _Rules(procedure, config or {})
    graph = _Graph(context, procedure, rules)
    for document in _documents(procedure, given):
        whole = rules.with_id(document)
        problems = () if rules.is_trusting else tuple(rules.problems(context, whole))
        if problems:
            raise call_failed(procedure, "java.lang.RuntimeException", "\n".join(problems))
        graph.add(whole)
    nodes, relationships = list(graph.nodes.values()), list(graph.relationships.values())
    yield ({"name": "Graph", "relationships": relationships, "nodes": nodes, "properties": {}},)


@cypher_procedure(
    "apoc.graph.validateDocument(json :: ANY, config = {} :: MAP) :: (row :: MAP)",
    description="Returns what apoc.graph.fromDocument would miss in JSON.",
    works_on_system=False,
)
def validate_document(context: Execution, given: Any, config: Config) -> Iterator[Row]:
    """A row for each document that it would reject."""
    procedure = "apoc.graph.validateDocument"
    rules = _Rules(procedure, config or {})
    for place, document in enumerate(_documents(procedure, given)):
        context.check_time()
        problems = tuple(rules.problems(context, rules.with_id(document)))
        if problems:
            yield ({"index": place, "message": "\n".join(problems)},)
