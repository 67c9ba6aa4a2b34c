"""Rebuild expressions with parts replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from hoplite.allowance import check_time
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


def transform(node: Any, change: Callable[[Any], Any]) -> Any:
    """The expression with `change` applied from the top: what it returns stands instead, None means look inside."""
    check_time()
    return _transform(node, change)


def _transform(node: Any, change: Callable[[Any], Any]) -> Any:
    changed = change(node)
    if changed is not None:
        return changed
    if isinstance(node, tuple):
        return tuple(_transform(item, change) for item in node)
    if not is_dataclass(node) or isinstance(node, ast.Span | type):
        return node
    updates = {}
    for name in _children(type(node)):
        old = getattr(node, name)
        new = _transform(old, change)
        if new is not old and not (isinstance(old, tuple) and _same(old, new)):
            updates[name] = new
    return replace(node, **updates) if updates else node


def _same(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    return all(a is b for a, b in zip(old, new, strict=True))


@cache
def _children(kind: type) -> tuple[str, ...]:
    plain = ("Span", "str", "bool", "int", "Direction", "Hops | None", "tuple[Span, ...]")
    return tuple(f.name for f in fields(kind) if f.type not in plain)


def parts_of(node: Any) -> Iterator[Any]:
    """The expressions directly inside an expression."""
    if isinstance(node, tuple):
        yield from node
    elif is_dataclass(node) and not isinstance(node, ast.Span | type):
        for name in _children(type(node)):
            yield getattr(node, name)


def is_random(node: object) -> bool:
    """Whether this part of an expression says something else whenever it is asked."""
    return isinstance(node, ast.FunctionCall) and node.name.lower() in _RANDOM


def contains(node: Any, test: Callable[[Any], bool]) -> bool:
    """Whether the test holds for some part of the expression."""
    check_time()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if test(part):
            return True
        waiting += reversed(list(parts_of(part)))
    return False
