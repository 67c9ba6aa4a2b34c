"""apoc.refactor.*: rename labels, types and properties, invert and move relationships, clone nodes.

Merges are in `apoc_refactor_merge.py`, operations on subgraphs in `apoc_refactor_graph.py`. All run in their
statement's transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.entities import public_id
from hoplite.engine.functions.given_entities import nodes_of, relationships_of
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.apoc_refactor_graph import copy_node, refused
from hoplite.engine.procedures.apoc_refactor_merge import Parts, relationships_at
from hoplite.engine.procedures.registry import Row, cypher_procedure, illegal_argument
from hoplite.errors import CypherError
from hoplite.values.entities import NodeRef, RelationshipRef

_CHANGED = ":: (input :: INTEGER, output :: RELATIONSHIP, error :: STRING)"
_RENAMED = (
    ":: (batches :: INTEGER, total :: INTEGER, timeTaken :: INTEGER, committedOperations :: INTEGER, "
    "failedOperations :: INTEGER, failedBatches :: INTEGER, retries :: INTEGER, errorMessages :: MAP, batch :: MAP, "
    "operations :: MAP, constraints :: LIST<STRING>, indexes :: LIST<STRING>)"
)
_BATCH = 100_000


# --- relationships --------------------------------------------------------------------------------------------------


def _replaced(
    context: Execution,
    relationship: RelationshipRef,
    start: int | None = None,
    end: int | None = None,
    type_name: str | None = None,
) -> Row:
    """Recreate a relationship with another start, end or type: its old id, the new relationship, and no error."""
    writer = writer_of(context)
    number = public_id(context, relationship)
    old = Parts.of(writer, relationship.position)
    made = writer.create_relationship(
        old.start if start is None else start, old.end if end is None else end, type_name or old.type, old.properties
    )
    writer.delete_relationship(relationship.position)
    return number, RelationshipRef(made), None


@cypher_procedure(
    f"apoc.refactor.setType(rel :: RELATIONSHIP, newType :: STRING) {_CHANGED}",
    mode="WRITE",
    description="Changes the type of a relationship.",
    works_on_system=False,
)
def set_type(context: Execution, relationship: RelationshipRef | None, type_name: str) -> Iterator[Row]:
    """A new relationship replaces it."""
    if relationship is not None:
        yield _replaced(context, relationship, type_name=type_name)


@cypher_procedure(
    f"apoc.refactor.invert(rel :: RELATIONSHIP) {_CHANGED}",
    mode="WRITE",
    description="Inverts the direction of a relationship.",
    works_on_system=False,
)
def invert(context: Execution, relationship: RelationshipRef | None) -> Iterator[Row]:
    """A new relationship replaces it."""
    if relationship is not None:
        old = Parts.of(writer_of(context), relationship.position)
        yield _replaced(context, relationship, start=old.end, end=old.start)


@cypher_procedure(
    f"apoc.refactor.from(rel :: RELATIONSHIP, newNode :: NODE) {_CHANGED}",
    mode="WRITE",
    description="Changes the start node of a relationship.",
    works_on_system=False,
)
def lead_from(context: Execution, relationship: RelationshipRef | None, node: NodeRef | None) -> Iterator[Row]:
    """A new relationship replaces it."""
    if relationship is not None and node is not None:
        yield _replaced(context, relationship, start=node.position)


@cypher_procedure(
    f"apoc.refactor.to(rel :: RELATIONSHIP, endNode :: NODE) {_CHANGED}",
    mode="WRITE",
    description="Changes the end node of a relationship.",
    works_on_system=False,
)
def lead_to(context: Execution, relationship: RelationshipRef | None, node: NodeRef | None) -> Iterator[Row]:
    """A new relationship replaces it."""
    if relationship is not None and node is not None:
        yield _replaced(context, relationship, end=node.position)


# --- nodes ----------------------------------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.refactor.cloneNodes(nodes :: LIST<NODE>, withRelationships = false :: BOOLEAN, skipProperties = [] :: "
    "LIST<STRING>) :: (input :: INTEGER, output :: NODE, error :: STRING)",
    mode="WRITE",
    description="Copies nodes, on request with their relationships.",
    works_on_system=False,
)
def clone_nodes(
    context: Execution, nodes: list[NodeRef] | None, with_relationships: bool, skipped: list[str] | None
) -> Iterator[Row]:
    """Labels and properties are copied."""
    writer = writer_of(context)
    for node in nodes or ():
        try:
            copy = copy_node(writer, node.position, skipped or ())
        except CypherError as error:
            yield public_id(context, node), None, refused(error)
            continue
        if with_relationships:
            for relationship in relationships_at(writer, node.position):
                old = Parts.of(writer, relationship)
                start, end = (copy if end == node.position else end for end in (old.start, old.end))
                writer.create_relationship(start, end, old.type, old.properties)
        yield public_id(context, node), NodeRef(copy), None


@cypher_procedure(
    "apoc.refactor.extractNode(rels :: ANY, labels :: LIST<STRING>, outType :: STRING, inType :: STRING) :: (input :: "
    "INTEGER, output :: NODE, error :: STRING)",
    mode="WRITE",
    description="Turns relationships into nodes.",
    works_on_system=False,
)
def extract_node(
    context: Execution, given: Any, labels: list[str] | None, out_type: str, in_type: str
) -> Iterator[Row]:
    """Each becomes a node with its properties, between its ends."""
    writer = writer_of(context)
    for relationship in relationships_of(context, given):
        number = public_id(context, relationship)
        old = Parts.of(writer, relationship.position)
        node = writer.create_node(labels or [], old.properties)
        writer.create_relationship(node, old.end, out_type, {})
        writer.create_relationship(old.start, node, in_type, {})
        writer.delete_relationship(relationship.position)
        yield number, NodeRef(node), None


@cypher_procedure(
    f"apoc.refactor.collapseNode(nodes :: ANY, relType :: STRING) {_CHANGED}",
    mode="WRITE",
    description="Turns nodes with one incoming and one outgoing relationship into relationships.",
    works_on_system=False,
)
def collapse_node(context: Execution, given: Any, type_name: str) -> Iterator[Row]:
    """Each becomes a relationship with its properties, between its neighbours."""
    writer = writer_of(context)
    for node in nodes_of(context, given):
        (out, ends), (into, starts) = (writer.neighbours(node.position, outgoing) for outgoing in (True, False))
        if len(out) != 1 or len(into) != 1:
            continue
        number = public_id(context, node)
        made = writer.create_relationship(
            int(starts[0]), int(ends[0]), type_name, writer.node_properties(node.position)
        )
        for relationship in {int(out[0]), int(into[0])}:
            writer.delete_relationship(relationship)
        writer.delete_node(node.position)
        yield number, RelationshipRef(made), None


# --- names ----------------------------------------------------------------------------------------------------------


def _renamed(changed: int) -> Iterator[Row]:
    """The report on a renaming, in terms of batches."""
    batches = max(1, -(-changed // _BATCH))
    batch = {"total": batches, "committed": batches, "failed": 0, "errors": {}}
    operations = {"total": changed, "committed": changed, "failed": 0, "errors": {}}
    yield batches, changed, 0, changed, 0, 0, 0, {}, batch, operations, [], []


@cypher_procedure(
    f"apoc.refactor.rename.label(oldLabel :: STRING, newLabel :: STRING, nodes = [] :: LIST<NODE>) {_RENAMED}",
    mode="WRITE",
    description="Renames a label of nodes.",
    works_on_system=False,
)
def rename_label(context: Execution, old: str, new: str, nodes: list[NodeRef] | None) -> Iterator[Row]:
    """Of all, or only of those in a list."""
    writer, procedure = writer_of(context), "apoc.refactor.rename.label"
    _refuse_empty(procedure, old, new)
    members = _listed(nodes, writer.nodes_with_label(old).tolist())
    for node in members:
        writer.remove_label(node, old)
        writer.add_label(node, new)
    yield from _renamed(len(members))


@cypher_procedure(
    "apoc.refactor.rename.type(oldType :: STRING, newType :: STRING, rels = [] :: LIST<RELATIONSHIP>, config = {} :: "
    f"MAP) {_RENAMED}",
    mode="WRITE",
    description="Renames a type of relationships.",
    works_on_system=False,
)
def rename_type(
    context: Execution, old: str, new: str, relationships: list[RelationshipRef] | None, config: dict[str, Any]
) -> Iterator[Row]:
    """Of all, or only of those in a list."""
    _refuse_empty("apoc.refactor.rename.type", old, new)
    members = _listed(relationships, writer_of(context).relationships_with_type(old).tolist())
    for relationship in members:
        _replaced(context, RelationshipRef(relationship), type_name=new)
    yield from _renamed(len(members))


@cypher_procedure(
    "apoc.refactor.rename.nodeProperty(oldName :: STRING, newName :: STRING, nodes = [] :: LIST<NODE>, config = {} :: "
    f"MAP) {_RENAMED}",
    mode="WRITE",
    description="Renames a property of nodes.",
    works_on_system=False,
)
def rename_node_property(
    context: Execution, old: str, new: str, nodes: list[NodeRef] | None, config: dict[str, Any]
) -> Iterator[Row]:
    """Of all, or only of those in a list."""
    _refuse_empty("apoc.refactor.rename.nodeProperty", old, new)
    writer = writer_of(context)
    everything = writer.nodes()
    having = everything[~writer.node_property(everything, old).null_mask()].tolist()
    members = _listed(nodes, having)
    _move_property(members, old, new, writer.node_properties, writer.set_node_property)
    yield from _renamed(len(members))


@cypher_procedure(
    "apoc.refactor.rename.typeProperty(oldName :: STRING, newName :: STRING, rels = [] :: LIST<RELATIONSHIP>, config = "
    f"{{}} :: MAP) {_RENAMED}",
    mode="WRITE",
    description="Renames a property of relationships.",
    works_on_system=False,
)
def rename_relationship_property(
    context: Execution, old: str, new: str, relationships: list[RelationshipRef] | None, config: dict[str, Any]
) -> Iterator[Row]:
    """Of all, or only of those in a list."""
    _refuse_empty("apoc.refactor.rename.typeProperty", old, new)
    writer = writer_of(context)
    everything = writer.relationships()
    having = everything[~writer.relationship_property(everything, old).null_mask()].tolist()
    members = _listed(relationships, having)
    _move_property(members, old, new, writer.relationship_properties, writer.set_relationship_property)
    yield from _renamed(len(members))


def _listed(given: list[Any] | None, members: list[int]) -> list[int]:
    """The members on the list; all of them without a list."""
    if not given:
        return members
    wanted = {one.position for one in given}
    return [member for member in members if member in wanted]


def _move_property(
    members: list[int],
    old: str,
    new: str,
    read: Callable[[int], dict[str, Any]],
    write: Callable[[int, str, Any], None],
) -> None:
    for member in members:
        value = read(member)[old]
        write(member, new, value)
        write(member, old, None)


def _refuse_empty(procedure: str, old: str | None, new: str | None) -> None:
    if not old or not new:
        raise illegal_argument(procedure, "The old and the new name must be given.")
