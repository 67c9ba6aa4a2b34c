"""Merge two steps over rows into one, and avoid making lists.

Select b                          Limit 3                 Unwind range(1, n) AS i
  Projection a.x AS b               Skip 2                  ...
    ...                               ...
=> Project a.x AS b, kept: b      => Cut skip 2, limit 3  => UnwindRange 1, n AS i
"""

from __future__ import annotations

from dataclasses import replace

from hoplite.grammar import ast
from hoplite.planner import logical as lp
from hoplite.planner import physical as pp
from hoplite.planner.choices.plain import write_step
from hoplite.planner.choices.rule import PhysicalOf
from hoplite.planner.writes import has_writes


def project_and_select(plan: lp.Plan, physical_of: PhysicalOf) -> pp.Plan | None:
    """A projection drops the columns that nothing above uses."""
    if not isinstance(plan, lp.Select):
        return None
    below = physical_of(plan.source)
    return replace(below, kept=plan.names) if isinstance(below, pp.Project) else None


def drop_redundant_select(plan: lp.Plan, physical_of: PhysicalOf) -> pp.Plan | None:
    """A Select over DISTINCT or an aggregation that keeps all of its columns is dropped."""
    match plan:
        case lp.Select(source=lp.Distinct(names=there)):
            pass
        case lp.Select(source=lp.EagerAggregation(keys=keys, aggregates=aggregates)):
            there = (*(name for name, _ in keys), *(aggregate.name for aggregate in aggregates))
        case _:
            return None
    return physical_of(plan.source) if set(there) == set(plan.names) else None


def skip_and_limit(plan: lp.Plan, physical_of: PhysicalOf) -> pp.Plan | None:
    """One cut for SKIP and LIMIT."""
    match plan:
        case lp.Limit(source=lp.Skip(source=source, count=skip), count=limit):
            return pp.Cut(physical_of(source), skip, limit, has_writes(source))
        case _:
            return None


def unwind_range(plan: lp.Plan, physical_of: PhysicalOf) -> pp.Plan | None:
    """The numbers of a range without the list."""
    match plan:
        case lp.Unwind(source=source, expression=ast.FunctionCall(name=name, arguments=arguments)) if (
            name.lower() == "range"
        ):
            return pp.UnwindRange(physical_of(source), arguments, plan.variable)
        case _:
            return None


def merge_writes(plan: lp.Plan, physical_of: PhysicalOf) -> pp.Plan | None:
    """Consecutive writing clauses are steps of one operator: scripts have hundreds of them."""
    if not isinstance(plan, lp.Create | lp.Merge | lp.SetProperties | lp.Delete | lp.Foreach):
        return None
    below = physical_of(plan.source)
    return (
        pp.Write(below.source, (*below.steps, write_step(plan, physical_of))) if isinstance(below, pp.Write) else None
    )
