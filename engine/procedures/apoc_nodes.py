"""apoc.nodes.*: nodes and relationships by id, and operations on many of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.given_entities import nodes_of, relationships_of
from hoplite.engine.procedures.registry import Row, cypher_procedure
from hoplite.storage.transaction import Transaction
from hoplite.values.entities import NodeRef


def writer_of(context: Execution) -> Transaction:
    """The transaction that a writing procedure runs in."""
    assert context.writer is not None, "a procedure of mode WRITE runs in a transaction that may write"
    return context.writer


@cypher_procedure(
    "apoc.nodes.get(nodes :: ANY) :: (node :: NODE)",
    mode="DEFAULT",
    description="Returns nodes by their ids.",
    works_on_system=False,
)
def get_nodes(context: Execution, given: Any) -> Iterator[Row]:
    """A row for each."""
    yield from ((node,) for node in nodes_of(context, given))


@cypher_procedure(
    "apoc.nodes.rels(rels :: ANY) :: (rel :: RELATIONSHIP)",
    mode="DEFAULT",
    description="Returns relationships by their ids.",
    works_on_system=False,
)
def get_relationships(context: Execution, given: Any) -> Iterator[Row]:
    """A row for each."""
    yield from ((one,) for one in relationships_of(context, given))


@cypher_procedure(
    "apoc.nodes.delete(nodes :: ANY, batchSize :: INTEGER) :: (value :: INTEGER)",
    mode="WRITE",
    description="Deletes nodes with their relationships.",
    works_on_system=False,
)
def delete_nodes(context: Execution, given: Any, batch_size: int) -> Iterator[Row]:
    """Their number; all in the statement's transaction."""
    writer, nodes = writer_of(context), nodes_of(context, given)
    for node in nodes:
        for relationship in np.unique(writer.relationships_of(node.position)).tolist():
            writer.delete_relationship(relationship)
        writer.delete_node(node.position)
    yield (len(nodes),)


@cypher_procedure(
    "apoc.nodes.link(nodes :: LIST<NODE>, type :: STRING, config = {} :: MAP)",
    mode="WRITE",
    description="Creates a relationship from each node in a list to the next.",
    works_on_system=False,
)
def link(context: Execution, nodes: list[NodeRef] | None, type_name: str, config: dict[str, Any]) -> Iterator[Row]:
    """With `avoidDuplicates`, only where there is none yet."""
    writer, given = writer_of(context), nodes or []
    code = writer.type_code(type_name)
    for start, end in pairwise(given):
        there = code is not None and end.position in writer.neighbours(start.position, True, (code,))[1].tolist()
        if not (there and (config or {}).get("avoidDuplicates")):
            writer.create_relationship(start.position, end.position, type_name, {})
    return
    yield
