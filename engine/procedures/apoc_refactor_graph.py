"""apoc.refactor.* for subgraphs: copy them, remove nodes from a path, turn property values into nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.entities import public_id
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.apoc_refactor_merge import MergeRules, Parts, relationships_at
from hoplite.engine.procedures.apoc_write import matching_nodes
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure, illegal_argument
from hoplite.errors import CypherError
from hoplite.storage.schema import Entity
from hoplite.storage.transaction import Transaction
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.order import equals

_NULL = "java.lang.NullPointerException"
_COPIES = ":: (input :: INTEGER, output :: NODE, error :: STRING)"


# --- copies ---------------------------------------------------------------------------------------------------------


def copy_node(writer: Transaction, node: int, skipped: Iterable[str] = ()) -> int:
    """A node with the same labels and properties, except skipped ones."""
    labels = writer.label_sets(np.array([node], np.int64))[0]
    left_out = set(skipped)
    return writer.create_node(
        labels, {key: value for key, value in writer.node_properties(node).items() if key not in left_out}
    )


def refused(error: CypherError) -> str:
    """The message of a constraint violation by a copy; any other error is raised."""
    if (error.code or "").endswith("ConstraintValidationFailed"):
        return error.message or ""
    raise error


def covered(writer: Transaction, nodes: Iterable[int]) -> list[int]:
    """The relationships between any two of the nodes."""
    members, found = list(dict.fromkeys(nodes)), list[int]()
    inside = set(members)
    for node in members:
        out, ends = writer.neighbours(node, True)
        found += [one for one, end in zip(out.tolist(), ends.tolist(), strict=True) if end in inside]
    return found


def _stand_ins(context: Execution, procedure: str, given: Any) -> dict[int, int]:
    pairs: dict[int, int] = {}
    for pair in given or ():
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, NodeRef) for one in pair)):
            shown = pair if not isinstance(pair, list) else "[" + ", ".join(_shown(context, one) for one in pair) + "]"
            raise illegal_argument(procedure, f"Expected pair of nodes but got {shown}")
        pairs[pair[0].position] = pair[1].position
    return pairs


def _shown(context: Execution, value: Any) -> str:
    return (
        f"Node[{public_id(context, value)}]" if isinstance(value, NodeRef) else "null" if value is None else str(value)
    )


def _clone(
    context: Execution,
    procedure: str,
    nodes: list[NodeRef | None] | None,
    relationships: list[RelationshipRef | None] | None,
    config: dict[str, Any] | None,
) -> Iterator[Row]:
    """A row for each copied node. Copied relationships connect stand-ins instead of the nodes that have one."""
    if not nodes:
        return
    writer, settings = writer_of(context), config or {}
    copies = dict(_stand_ins(context, procedure, settings.get("standinNodes")))
    stand_ins, skipped = set(copies), list(settings.get("skipProperties") or ())
    rows: list[Row] = []
    for node in nodes:
        if node is None or node.position in stand_ins:
            continue
        context.check_time()
        try:
            copies[node.position] = copy_node(writer, node.position, skipped)
            rows.append((public_id(context, node), NodeRef(copies[node.position]), None))
        except CypherError as error:
            rows.append((public_id(context, node), None, refused(error)))
    given = [one.position for one in relationships or () if one is not None]
    for relationship in (
        given if relationships else covered(writer, (node.position for node in nodes if node is not None))
    ):
        parts = Parts.of(writer, relationship)
        if parts.start in copies and parts.end in copies:
            kept = {key: value for key, value in parts.properties.items() if key not in skipped}
            writer.create_relationship(copies[parts.start], copies[parts.end], parts.type, kept)
    yield from rows


@cypher_procedure(
    "apoc.refactor.cloneSubgraph(nodes :: LIST<NODE>, rels = [] :: LIST<RELATIONSHIP>, config = {} :: MAP) " + _COPIES,
    mode="WRITE",
    description="Copies nodes and the given relationships between them, or all of those.",
    works_on_system=False,
)
def clone_subgraph(context: Execution, nodes: Any, relationships: Any, config: dict[str, Any]) -> Iterator[Row]:
    """A row for each copied node."""
    return _clone(context, "apoc.refactor.cloneSubgraph", nodes, relationships, config)


@cypher_procedure(
    f"apoc.refactor.cloneSubgraphFromPaths(paths :: LIST<PATH>, config = {{}} :: MAP) {_COPIES}",
    mode="WRITE",
    description="Copies the nodes and relationships of paths.",
    works_on_system=False,
)
def clone_paths(context: Execution, paths: list[PathValue | None] | None, config: dict[str, Any]) -> Iterator[Row]:
    """A row for each copied node."""
    walked = [path for path in paths or () if path is not None]
    nodes = dict.fromkeys(node for path in walked for node in path.node_refs())
    relationships = dict.fromkeys(step for path in walked for step in path.relationship_refs())
    return _clone(context, "apoc.refactor.cloneSubgraphFromPaths", [*nodes], [*relationships], config)


# --- removing nodes from a path --------------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.refactor.deleteAndReconnect(path :: PATH, nodes :: LIST<NODE>, config = {} :: MAP) :: (nodes :: LIST<NODE>, "
    "relationships :: LIST<RELATIONSHIP>)",
    mode="WRITE",
    description="Deletes nodes of a path and reconnects their neighbours.",
    works_on_system=False,
)
def delete_and_reconnect(
    context: Execution, path: PathValue | None, removed: list[NodeRef] | None, config: dict[str, Any] | None
) -> Iterator[Row]:
    """The remaining path. `relationshipSelectionStrategy` is incoming, outgoing or merge."""
    if path is None:
        message = 'Cannot invoke "org.neo4j.graphdb.Path.nodes()" because "path" is null'
        raise call_failed("apoc.refactor.deleteAndReconnect", _NULL, message)
    going = [node.position for node in removed or ()]
    if not going or not set(going) <= set(path.nodes):
        return
    writer, settings = writer_of(context), config or {}
    strategy = str(settings.get("relationshipSelectionStrategy", "incoming")).lower()
    rules = MergeRules.of(settings, "combine")
    nodes, steps = dict.fromkeys(path.nodes), dict.fromkeys(path.relationships)
    for node in dict.fromkeys(going):
        ends = [Parts.of(writer, one) for one in steps]
        into = next((one for one in ends if one.end == node and one.start != node), None)
        out = next((one for one in ends if one.start == node and one.end != node), None)
        if into is not None and out is not None:
            steps[_joined(writer, into, out, strategy, rules)] = None
        for relationship in relationships_at(writer, node):
            steps.pop(relationship, None)
            writer.delete_relationship(relationship)
        writer.delete_node(node)
        nodes.pop(node)
    yield [NodeRef(node) for node in nodes], [RelationshipRef(step) for step in steps]


def _joined(writer: Transaction, into: Parts, out: Parts, strategy: str, rules: MergeRules) -> int:
    type_name, properties = into.type, into.properties
    if strategy == "outgoing":
        type_name, properties = out.type, out.properties
    elif strategy == "merge":
        type_name = f"{into.type}_{out.type}"
        properties = {**into.properties, **rules.merged(into.properties, out.properties)}
    return writer.create_relationship(into.start, out.end, type_name, properties)


# --- values ---------------------------------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.refactor.categorize(sourceKey :: STRING, type :: STRING, outgoing :: BOOLEAN, label :: STRING, targetKey :: "
    "STRING, copiedKeys :: LIST<STRING>, batchSize :: INTEGER)",
    mode="WRITE",
    description="Turns each value of a property into a node with relationships from the nodes that have the value.",
    works_on_system=False,
)
def categorize(
    context: Execution,
    source_key: str | None,
    type_name: str,
    outgoing: bool | None,
    label: str | None,
    target_key: str | None,
    copied: list[str] | None,
    batch_size: int,
) -> Iterator[Row]:
    """No rows. The property is removed; `copiedKeys` move to the category's node, unless it has another value."""
    procedure = "apoc.refactor.categorize"
    for name, key in (("sourceKey", source_key), ("targetKey", target_key)):
        if key is None:
            raise illegal_argument(procedure, f"Invalid (null) {name}")
    if copied is None:
        message = 'Cannot invoke "java.util.List.remove(Object)" because "copiedKeys" is null'
        raise call_failed(procedure, _NULL, message)
    if label is None:
        raise illegal_argument(procedure, "A label cannot have a null name")
    assert source_key is not None and target_key is not None
    writer = writer_of(context)
    if not any(rule.keys == (target_key,) for rule in writer.schema.unique(Entity.NODE, label)):
        message = (
            "Before execute this procedure you must define an unique constraint for the label and the targetKey:\n"
            f"CREATE CONSTRAINT FOR (n:`{label}`) REQUIRE n.`{target_key}` IS UNIQUE"
        )
        raise illegal_argument(procedure, message)
    everything = writer.nodes()
    held = writer.node_property(everything, source_key).objects()
    members = [(node, value) for node, value in zip(everything.tolist(), held, strict=True) if value is not None]
    for node, value in members:
        context.check_time()
        found = matching_nodes(context, [label], {target_key: value})
        category = found[0] if found else writer.create_node([label], {target_key: value})
        start, end = (node, category) if outgoing else (category, node)
        code = writer.type_code(type_name)
        if code is None or end not in writer.neighbours(start, True, (code,))[1].tolist():
            writer.create_relationship(start, end, type_name, {})
        _hand_over(writer, node, category, [key for key in copied if key != target_key])
        writer.set_node_property(node, source_key, None)
    yield from ()


def _hand_over(writer: Transaction, node: int, category: int, keys: list[str]) -> None:
    mine, theirs = writer.node_properties(node), writer.node_properties(category)
    for key in keys:
        if key not in mine:
            continue
        if key not in theirs:
            writer.set_node_property(category, key, mine[key])
        elif equals(mine[key], theirs[key]) is not True:
            continue
        writer.set_node_property(node, key, None)


@cypher_procedure(
    "apoc.refactor.normalizeAsBoolean(entity :: ANY, propertyKey :: STRING, trueValues :: LIST<ANY>, falseValues :: "
    "LIST<ANY>)",
    mode="WRITE",
    description="Converts a property to a Boolean.",
    works_on_system=False,
)
def normalize_as_boolean(
    context: Execution, entity: Any, key: str, true_values: list[Any] | None, false_values: list[Any] | None
) -> Iterator[Row]:
    """No rows. A value in neither list is removed, one in both stays."""
    yield from ()
    writer = writer_of(context)
    write: Callable[[int, str, Any], None]
    match entity:
        case NodeRef():
            value, write = writer.node_properties(entity.position).get(key), writer.set_node_property
        case RelationshipRef():
            value, write = writer.relationship_properties(entity.position).get(key), writer.set_relationship_property
        case _:
            return
    if value is None:
        return
    if true_values is None or false_values is None:
        raise call_failed("apoc.refactor.normalizeAsBoolean", _NULL, "a list of values is null")
    is_true, is_false = (any(equals(one, value) is True for one in some) for some in (true_values, false_values))
    if not (is_true and is_false):
        write(entity.position, key, True if is_true else False if is_false else None)
