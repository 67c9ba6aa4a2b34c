"""Plans as trees: the walker of `grammar/tree.py` over operators alone, without the expressions in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from hoplite.grammar.tree import Tree, walk
from hoplite.grammar.tree import children as nodes_below
from hoplite.planner import logical as lp

_OPERATORS = get_args(lp.Plan)
_PLANS: Tree[lp.Plan] = Tree(*_OPERATORS)
children = _PLANS.children
with_children = _PLANS.with_children
bottom_up = _PLANS.bottom_up
top_down = _PLANS.top_down
operators = _PLANS.walk


def subplans(plan: lp.Plan) -> Iterator[lp.Plan]:
    """The plans of subqueries inside the expressions of an operator."""
    terms = tuple(node for node in nodes_below(plan) if not isinstance(node, _OPERATORS))
    for node in walk(terms, not_below=(lp.PlannedSubquery,)):
        if isinstance(node, lp.PlannedSubquery):
            yield node.plan
