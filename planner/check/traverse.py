"""Walking an AST: the children of a node, and everything below it, in the order written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from hoplite.grammar import ast

_LEAVES = ("Span", "str", "bool", "Direction", "Hops | None", "int | None", "str | None")


@cache
def _child_fields(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.type not in _LEAVES and not f.name.endswith("spans"))


def children(node: Any) -> Iterator[Any]:
    """The AST nodes directly below a node."""
    kind: Any = type(node)
    for name in _child_fields(kind):
        yield from _nodes(getattr(node, name))


def _nodes(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)
    elif is_dataclass(value):
        yield value


def walk(node: Any) -> Iterator[Any]:
    """The node and all nodes below it, parents first."""
    yield node
    for child in children(node):
        yield from walk(child)


def rewritten(node: Any, change: Callable[[Any], Any]) -> Any:
    """A copy in which every node that `change` gives something for is replaced by it, from the outside in."""
    replacement = change(node)
    if replacement is not None:
        return replacement
    changes = {}
    kind: Any = type(node)
    for name in _child_fields(kind):
        before = getattr(node, name)
        after = _rewritten_value(before, change)
        if after is not before:
            changes[name] = after
    return replace(node, **changes) if changes else node


def _rewritten_value(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        items = tuple(_rewritten_value(item, change) for item in value)
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return rewritten(value, change) if is_dataclass(value) else value


def walk_expression(node: Any) -> Iterator[Any]:
    """Like `walk`, without going into subqueries, which have aggregations and clauses of their own."""
    yield node
    if isinstance(node, ast.SubqueryExpression):
        return
    for child in children(node):
        yield from walk_expression(child)
