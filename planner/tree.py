"""Walking plans as trees, without knowing every operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from itertools import count
from typing import Any, TypeVar

from hoplite.allowance import check_time
from hoplite.planner import logical as lp

State = TypeVar("State")


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
        if isinstance(old, tuple):
            several = tuple(change(p) for p in old)
            if any(after is not before for after, before in zip(several, old, strict=True)):
                updates[name] = several
        else:
            new = change(old)
            if new is not old:
                updates[name] = new
    return replace(plan, **updates) if updates else plan


def bottom_up(plan: lp.Plan, change: Callable[[lp.Plan], lp.Plan]) -> lp.Plan:
    """Every operator changed, those below first. Plans may be hundreds of operators deep: no call for each level."""
    changed: dict[int, lp.Plan] = {}
    for node in reversed(list(operators(plan))):
        if id(node) not in changed:
            check_time()
            changed[id(node)] = change(with_children(node, lambda child: changed[id(child)]))
    return changed[id(plan)]


Step = Callable[[lp.Plan, State], tuple[lp.Plan, Callable[[lp.Plan], State]]]


def top_down(plan: lp.Plan, state: State, step: Step[State]) -> lp.Plan:
    """Every operator changed, those above first.

    `step` takes an operator with what is known above it, and returns what stands instead and what its children are to
    know. No call for each level here either.
    """
    waiting: list[tuple[lp.Plan, State]] = [(plan, state)]
    stepped: list[lp.Plan] = []
    firsts: list[int] = []  # where the children of each begin in `waiting`
    while len(stepped) < len(waiting):
        check_time()
        node, known = waiting[len(stepped)]
        node, for_child = step(node, known)
        stepped.append(node)
        firsts.append(len(waiting))
        waiting += [(child, for_child(child)) for child in children(node)]
    for index in range(len(stepped) - 1, -1, -1):
        below = count(firsts[index])
        stepped[index] = with_children(stepped[index], lambda _, below=below: stepped[next(below)])  # type: ignore[misc]
    return stepped[0]


def operators(plan: lp.Plan) -> Iterator[lp.Plan]:
    """All operators of a plan, from the top."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(list(children(node)))
