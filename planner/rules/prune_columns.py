"""Carry only columns that are used.

    Distinct b                         Distinct b
      Select a, rs, p, b         =>      Select b
        ProjectPath p                      VarLengthExpand (a)-[rs*]->(b)
          VarLengthExpand ...

An unused path is not built, and an unused column cannot prevent a frontier.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.columns import Names, needed_below, wanted_of
from hoplite.planner.tree import top_down


def drop_unused_columns(plan: lp.Plan, _: Catalogue) -> lp.Plan:
    """The plan without columns that are made and never used."""
    return top_down(plan, wanted_of(plan), _pruned)


def _pruned(plan: lp.Plan, needed: Names) -> tuple[lp.Plan, Callable[[lp.Plan], Names]]:
    while True:
        match plan:
            case lp.ProjectPath(source=source, path=path) if path not in needed:
                plan = source
            case lp.Reimport(source=source, names=names) if not needed & frozenset(names):
                plan = source
            case _:
                break
    match plan:
        case lp.Expand() | lp.CountBranches() | lp.CountMatches():
            plan = replace(plan, keep=needed)
        case lp.Select(names=names):
            plan = replace(plan, names=tuple(name for name in names if name in needed))
        case lp.Reimport(names=names) | lp.Union(names=names):
            plan = replace(plan, names=tuple(name for name in names if name in needed))
        case lp.Apply(added=added, kind="all" | "optional"):
            plan = replace(plan, added=tuple(name for name in added if name in needed))
        case lp.ValueHashJoin(added=added) | lp.CartesianProduct(added=added):
            plan = replace(plan, added=tuple(name for name in added if name in needed))
        case _:
            pass
    parent = plan
    return parent, lambda child: needed_below(parent, child, needed)
