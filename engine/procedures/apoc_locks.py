"""apoc.lock.*: nothing to do, because the one writer locks the whole graph, and readers see the version they began
with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.procedures.registry import Row, cypher_procedure
from hoplite.values.entities import NodeRef, RelationshipRef


@cypher_procedure(
    "apoc.lock.nodes(nodes :: LIST<NODE>)",
    mode="WRITE",
    description="Acquires a write lock on nodes.",
    works_on_system=False,
)
def lock_nodes(context: Execution, nodes: list[NodeRef] | None) -> Iterator[Row]:
    """The statement is a write, so it already holds the graph."""
    yield from ()


@cypher_procedure(
    "apoc.lock.rels(rels :: LIST<RELATIONSHIP>)",
    mode="WRITE",
    description="Acquires a write lock on relationships.",
    works_on_system=False,
)
def lock_relationships(context: Execution, relationships: list[RelationshipRef] | None) -> Iterator[Row]:
    """The statement is a write, so it already holds the graph."""
    yield from ()


@cypher_procedure(
    "apoc.lock.all(nodes :: LIST<NODE>, rels :: LIST<RELATIONSHIP>)",
    mode="WRITE",
    description="Acquires a write lock on nodes and relationships.",
    works_on_system=False,
)
def lock_all(context: Execution, nodes: Any, relationships: Any) -> Iterator[Row]:
    """The statement is a write, so it already holds the graph."""
    yield from ()


@cypher_procedure(
    "apoc.lock.read.nodes(nodes :: LIST<NODE>)",
    description="Acquires a read lock on nodes.",
    works_on_system=False,
)
def read_lock_nodes(context: Execution, nodes: list[NodeRef] | None) -> Iterator[Row]:
    """What a statement reads does not change while it runs."""
    yield from ()


@cypher_procedure(
    "apoc.lock.read.rels(rels :: LIST<RELATIONSHIP>)",
    description="Acquires a read lock on relationships.",
    works_on_system=False,
)
def read_lock_relationships(context: Execution, relationships: list[RelationshipRef] | None) -> Iterator[Row]:
    """What a statement reads does not change while it runs."""
    yield from ()
