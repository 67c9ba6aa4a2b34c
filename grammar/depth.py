"""How deep a syntax tree is."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from hoplite.grammar import ast
from hoplite.grammar.limits import TextLimits, too_deep


def check_depth(statement: ast.Statement, text: str, limits: TextLimits) -> None:
    """Raise if the tree is deeper than a statement may be.

    The left side of an operator is not deeper than the operator: chains lean to the left, and are taken as lists.
    """
    limit, place = limits.max_nesting, 0
    waiting: list[tuple[Any, int]] = [(statement, 0)]
    while waiting:
        node, depth = waiting.pop()
        if type(node) is tuple:
            waiting += [(item, depth) for item in node if item is not None]
            continue
        if depth > limit:
            raise too_deep(text, place, limits)
        kind: Any = type(node)
        names = _child_fields(kind)
        if names:
            place = node.span.start
        if isinstance(node, ast.Binary):
            waiting.append((node.left, depth if isinstance(node.left, ast.Binary) else depth + 1))
            waiting.append((node.right, depth + 1))
        else:
            waiting += [(getattr(node, name), depth + 1) for name in names]


@cache
def _child_fields(kind: Any) -> tuple[str, ...]:
    """The fields that may hold further nodes; none of a value that is not a node."""
    if not is_dataclass(kind):
        return ()
    plain = ("Span", "str", "bool", "int", "Direction", "Hops | None", "str | None", "int | None", "tuple[Span, ...]")
    return tuple(field.name for field in fields(kind) if field.type not in plain)
