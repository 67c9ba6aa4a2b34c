"""Walking plans as trees, without knowing every operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from typing import Any

from hoplite.planner import logical as lp


@cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.type in ("Plan", "tuple[Plan, ...]"))


def _plan_fields(plan: lp.Plan) -> tuple[str, ...]:
    kind: Any = type(plan)
    return _fields_of(kind)


def children(plan: lp.Plan) -> Iterator[lp.Plan]:
    """The plans directly below this one, in order."""
    for name in _plan_fields(plan):
        value = getattr(plan, name)
        if isinstance(value, tuple):
            yield from value
        else:
            yield value


def with_children(plan: lp.Plan, change: Callable[[lp.Plan], lp.Plan]) -> lp.Plan:
    """The same operator over changed plans."""
    updates: dict[str, Any] = {}
    for name in _plan_fields(plan):
        old = getattr(plan, name)
        new = tuple(change(p) for p in old) if isinstance(old, tuple) else change(old)
        if new is not old and new != old:
            updates[name] = new
    return replace(plan, **updates) if updates else plan


def bottom_up(plan: lp.Plan, change: Callable[[lp.Plan], lp.Plan]) -> lp.Plan:
    """Every operator changed, those below first."""
    return change(with_children(plan, lambda child: bottom_up(child, change)))


def operators(plan: lp.Plan) -> Iterator[lp.Plan]:
    """All operators of a plan, from the top."""
    yield plan
    for child in children(plan):
        yield from operators(child)
