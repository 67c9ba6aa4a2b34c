"""Walking an AST: the children of a node, and everything below it, in the order written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from hoplite.allowance import check_time
from hoplite.grammar import ast

_LEAVES = ("Span", "str", "bool", "Direction", "Hops | None", "int | None", "str | None")


@cache
def _child_fields(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.type not in _LEAVES and not f.name.endswith("spans"))


@cache
def _is_node(kind: Any) -> bool:
    return is_dataclass(kind)


def children(node: Any) -> list[Any]:
    """The AST nodes directly below a node."""
    found: list[Any] = []
    kind: Any = type(node)
    for name in _child_fields(kind):
        _gather(getattr(node, name), found)
    return found


def _gather(value: Any, found: list[Any]) -> None:
    kind: Any = type(value)
    if kind is tuple:
        for item in value:
            _gather(item, found)
    elif value is not None and _is_node(kind):
        found.append(value)


def walk(node: Any) -> Iterator[Any]:
    """The node and all nodes below it, parents first."""
    check_time()
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        below = children(current)
        below.reverse()
        waiting += below


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
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        if not isinstance(current, ast.SubqueryExpression):
            below = children(current)
            below.reverse()
            waiting += below
