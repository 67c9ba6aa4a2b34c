"""Which relationship columns of a plan hold lists."""

from __future__ import annotations

from hoplite.planner import logical as lp
from hoplite.planner.tree import operators


def relationship_lists(plan: lp.Plan) -> frozenset[str]:
    """The relationship columns of a plan that hold lists, from variable-length and quantified patterns."""
    names: set[str] = set()
    for node in operators(plan):
        match node:
            case lp.VarLengthExpand(relationship=str() as name) | lp.Repeat(trail=name):
                names.add(name)
            case lp.ProjectEndpoints(relationship=name, is_list=True):
                names.add(name)
            case _:
                pass
    return frozenset(names)
