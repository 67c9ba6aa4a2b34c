"""apoc.create.clonePath*ToVirtual: copies of paths that are not in the graph."""

from __future__ import annotations

from collections.abc import Iterator

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import ends_of, held_by
from hoplite.engine.functions.apoc_nodes import next_virtual_id
from hoplite.engine.functions.entities import labels, public_id, relationship_type
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.values.entities import (
    NodeRef,
    PathValue,
    RelationshipRef,
    VirtualNode,
    VirtualRelationship,
    path_of,
)

_NULL = "java.lang.NullPointerException"
_FIRST_COPY = -(2**50)
"""The id of a copy of what has the id 0, far below those of other virtual entities: copies of one entity are equal."""


@cypher_procedure(
    "apoc.create.clonePathToVirtual(path :: PATH) :: (path :: PATH)",
    mode="DEFAULT",
    description="Returns a virtual copy of a path.",
    works_on_system=False,
)
def clone_path(context: Execution, path: PathValue | None) -> Iterator[Row]:
    """One row."""
    yield (_copied(context, "apoc.create.clonePathToVirtual", path),)


@cypher_procedure(
    "apoc.create.clonePathsToVirtual(paths :: LIST<PATH>) :: (path :: PATH)",
    mode="DEFAULT",
    description="Returns virtual copies of paths.",
    works_on_system=False,
)
def clone_paths(context: Execution, paths: list[PathValue | None] | None) -> Iterator[Row]:
    """A row for each."""
    procedure = "apoc.create.clonePathsToVirtual"
    if paths is None:
        raise call_failed(procedure, _NULL, 'Cannot invoke "java.util.List.stream()" because "paths" is null')
    for path in paths:
        yield (_copied(context, procedure, path),)


def _copied(context: Execution, procedure: str, path: PathValue | None) -> PathValue:
    if path is None:
        message = 'Cannot invoke "org.neo4j.graphdb.Path.relationships()" because "path" is null'
        raise call_failed(procedure, _NULL, message)
    context.check_time()
    nodes = [_node(context, node) for node in path.node_refs()]
    steps: list[RelationshipRef] = [_relationship(context, step) for step in path.relationship_refs()]
    return path_of(nodes, steps)


def _node(context: Execution, node: NodeRef) -> VirtualNode:
    if isinstance(node, VirtualNode):
        return node
    names = tuple(labels(context, node) or ())
    return VirtualNode(_FIRST_COPY - public_id(context, node), names, dict(held_by(context, node)))


def _relationship(context: Execution, one: RelationshipRef) -> VirtualRelationship:
    start, end = (_node(context, node) for node in ends_of(context, one))
    is_copy = isinstance(one, VirtualRelationship)
    number = next_virtual_id() if is_copy else _FIRST_COPY - public_id(context, one)
    name = relationship_type(context, one) or ""
    return VirtualRelationship(number, name, start, end, dict(held_by(context, one)))
