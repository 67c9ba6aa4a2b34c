"""Entities that APOC is given in any of its ways: themselves, by id, by element id, or in a list of these."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.arguments import long_of
from hoplite.values.entities import NodeRef, RelationshipRef


def nodes_of(context: Execution, given: Any) -> list[NodeRef]:
    """The nodes; a ValueError for what is none of them, and for null."""
    return [_node(context, one) for one in _listed(given)]


def relationships_of(context: Execution, given: Any) -> list[RelationshipRef]:
    """The relationships; a ValueError for what is none of them, and for null."""
    return [_relationship(context, one) for one in _listed(given)]


def _listed(given: Any) -> list[Any]:
    if given is None:
        raise ValueError("null instead of entities")
    return given if isinstance(given, list) else [given]


def _node(context: Execution, given: Any) -> NodeRef:
    if isinstance(given, NodeRef):
        return given
    position = int(context.graph.node_positions(_number(given, "Node"))[0])
    if position < 0:
        raise ValueError(f"Node with id {given} not found")
    return NodeRef(position)


def _relationship(context: Execution, given: Any) -> RelationshipRef:
    if isinstance(given, RelationshipRef):
        return given
    position = int(context.graph.relationship_positions(_number(given, "Relationship"))[0])
    if position < 0:
        raise ValueError(f"Relationship with id {given} not found")
    return RelationshipRef(position)


def _number(given: Any, kind: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    match given:
        case bool():
            raise ValueError(f"Can't convert {given} to a {kind}")
        case int():
            number = given
        case float():
            number = long_of(given)
        case str():
            last = given.rpartition(":")[2]
            if not last.isdecimal() or len(last) > 18:
                raise ValueError(f"Element ID {given} has an unexpected format.")
            number = int(last)
        case _:
            raise ValueError(f"Can't convert {type(given).__name__} to a {kind}")
    return np.array([number], np.int64)
