"""Plans as trees: the walker of `grammar/tree.py`, over operators without their expressions."""

from __future__ import annotations

from typing import get_args

from hoplite.grammar.tree import Tree
from hoplite.planner import logical as lp

_PLANS: Tree[lp.Plan] = Tree(*get_args(lp.Plan))
children = _PLANS.children
with_children = _PLANS.with_children
bottom_up = _PLANS.bottom_up
top_down = _PLANS.top_down
operators = _PLANS.walk
