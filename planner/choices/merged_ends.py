"""A merged frontier has each end once: their number is its size, and their properties need no comparison if the graph
knows that no two nodes share a value.

    EagerAggregation count(DISTINCT b)           CountEnds
      VarLengthExpand (a)-[*1..5]->(b)     =>      Reach (a)-[*1..5]->(b)

    Distinct b.name                              DistinctEnds b.name
      Projection b.name                    =>      Reach (a)-[*1..5]->(b)
        VarLengthExpand (a)-[*1..5]->(b)
"""

from __future__ import annotations

from hoplite.grammar import ast
from hoplite.planner import logical as lp
from hoplite.planner import physical as pp
from hoplite.planner.choices.rule import PhysicalOf
from hoplite.planner.parts import AggregateCall


def count_ends(plan: lp.Plan, physical_of: PhysicalOf) -> pp.Plan | None:
    """`count(DISTINCT end)` of a merged frontier."""
    match plan:
        case lp.EagerAggregation(
            source=lp.VarLengthExpand(merged=True, to_node=end) as frontier,
            keys=(),
            aggregates=(
                AggregateCall(name=name, function="count", distinct=True, arguments=(ast.Variable(name=counted),)),
            ),
        ) if end == counted:
            reach = physical_of(frontier)
            return pp.CountEnds(reach, name) if isinstance(reach, pp.Reach) else None
        case _:
            return None


def distinct_ends(plan: lp.Plan, physical_of: PhysicalOf) -> pp.Plan | None:
    """`DISTINCT end.key` of a merged frontier."""
    match plan:
        case lp.Distinct(
            source=lp.Projection(
                source=lp.VarLengthExpand(merged=True, to_node=end) as frontier,
                items=((name, ast.Property(subject=ast.Variable(name=variable), key=key)),),
            ),
            names=(kept,),
        ) if end == variable and name == kept:
            reach = physical_of(frontier)
            return pp.DistinctEnds(reach, name, key) if isinstance(reach, pp.Reach) else None
        case _:
            return None
