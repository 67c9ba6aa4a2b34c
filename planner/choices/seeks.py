"""Seeks by parameters, whose values do not depend on a row.

NodeIndexSeek a:A(id) = $id            ParameterSeek a:A(id) = $id
  Argument                       =>      Argument

VarLengthExpand (a)-[*1..5]->(b)       Reach (a)-[*1..5]->(b)
  NodeIndexSeek a:A(id) = id     =>      ElementsSeek a:A(id) IN $ids
    Unwind $ids AS id                      Argument
"""

from __future__ import annotations

from dataclasses import replace

from hoplite.grammar import ast
from hoplite.planner import logical as lp
from hoplite.planner import physical as pp
from hoplite.planner.choices.plain import frontier
from hoplite.planner.choices.rule import PhysicalOf


def seek_parameter(plan: lp.Plan, physical_of: PhysicalOf) -> pp.Plan | None:
    """One look-up without an expression to evaluate, below everything else."""
    match plan:
        case lp.NodeIndexSeek(source=lp.Argument() as source, value=ast.Parameter() as value, many=False):
            argument = physical_of(source)
            assert isinstance(argument, pp.Argument)
            return pp.ParameterSeek(argument, plan.node, plan.label, plan.key, value, plan.unique, plan.index)
        case _:
            return None


def seek_elements(plan: lp.Plan, physical_of: PhysicalOf) -> pp.Plan | None:
    """All elements of a list at once, below a merged frontier, which does not care which row a start came from."""
    match plan:
        case lp.VarLengthExpand(
            merged=True,
            source=lp.NodeIndexSeek(
                source=lp.Unwind(
                    source=lp.Argument() as source, expression=ast.Parameter() as elements, variable=variable
                ),
                value=ast.Variable(name=wanted),
                many=False,
            ) as seek,
        ) if wanted == variable:
            argument = physical_of(source)
            assert isinstance(argument, pp.Argument)
            found = pp.ElementsSeek(
                argument, elements, variable, seek.node, seek.label, seek.key, seek.unique, seek.index
            )
            return replace(frontier(plan, physical_of), source=found)
        case _:
            return None
