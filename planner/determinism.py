"""Which parts of an expression give another value each time they are evaluated."""

from __future__ import annotations

from hoplite.grammar import ast

_RANDOM = frozenset(
    (
        "rand",
        "randomuuid",
        "apoc.create.uuid",
        "apoc.coll.shuffle",
        "apoc.coll.randomitem",
        "apoc.coll.randomitems",
        "apoc.text.random",
    )
)


def is_random(node: object) -> bool:
    """Whether this part of an expression gives another value each time."""
    return isinstance(node, ast.FunctionCall) and node.name.lower() in _RANDOM
