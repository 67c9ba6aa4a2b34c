"""A physical plan as EXPLAIN shows it: a chain of operators, each with its source below it, and other plans
alongside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from hoplite.grammar.tree import Tree, walk
from hoplite.grammar.tree import children as nodes_below
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import physical as pp
from hoplite.planner.parts import PlannedSubquery

_OPERATORS, _STEPS = get_args(pp.Plan), get_args(pp.WriteStep)
_PLANS: Tree[Any] = Tree(*_OPERATORS)
_SHOWN: Tree[pp.Shown] = Tree(*_OPERATORS, *_STEPS)
children = _SHOWN.children
operators = _SHOWN.walk


@dataclass(frozen=True, slots=True)
class Link:
    """An operator or writing step, and the plans that run alongside its source: subqueries first."""

    node: pp.Shown
    beside: tuple[pp.Plan, ...]


def chain(plan: pp.Plan) -> Iterator[Link]:
    """The operators from the top down; the first of several sources continues the chain."""
    while True:
        if isinstance(plan, pp.Write):
            for step in reversed(plan.steps):
                yield Link(step, (*subqueries(step), *_PLANS.children(step)))
            plan = plan.source
            continue
        below = _PLANS.children(plan)
        yield Link(plan, (*subqueries(plan), *below[1:]))
        if not below:
            return
        plan = below[0]


def first_source(plan: pp.Plan) -> pp.Plan | None:
    """The plan that an operator reads from; None if it has none."""
    below: list[pp.Plan] = _PLANS.children(plan)
    return below[0] if below else None


def subqueries(node: pp.Shown) -> Iterator[pp.Plan]:
    """The plans of subqueries inside the expressions of an operator."""
    terms = tuple(part for part in nodes_below(node) if not isinstance(part, (*_OPERATORS, *_STEPS)))
    for part in walk(terms, not_below=(PlannedSubquery,)):
        if isinstance(part, PlannedSubquery):
            assert isinstance(part.plan, _OPERATORS)
            yield part.plan


def every_operator(plan: pp.Plan) -> Iterator[pp.Shown]:
    """All operators and writing steps of a plan, including those of its subqueries."""
    waiting = [plan]
    while waiting:
        for link in chain(waiting.pop()):
            yield link.node
            waiting += link.beside


def is_writing(node: pp.Shown) -> bool:
    """Whether an operator or step needs a transaction that may write."""
    return isinstance(node, (*_STEPS, pp.Write, pp.InTransactions))
