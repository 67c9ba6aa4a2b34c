"""Count different values at one end of a chain for each key at the other as pairs of numbers.

EagerAggregation x.name, count(DISTINCT s.name)            CountPairs x.name, count(DISTINCT s.name)
  Expand(Pruning) (x)<-[:TREATS]-()-[:CAUSES]->(s)   =>      DistinctExpand (x)<-[:TREATS]-()-[:CAUSES]->(s)
"""

from __future__ import annotations

from hoplite.planner import logical as lp
from hoplite.planner import physical as pp
from hoplite.planner.choices.rule import PhysicalOf


def count_pairs(plan: lp.Plan, physical_of: PhysicalOf) -> pp.Plan | None:
    """Applies where all counted values are at one end of the chain and all keys at the other."""
    match plan:
        case lp.EagerAggregation(source=source, keys=keys, aggregates=aggregates, keys_at="start" | "end"):
            chain = physical_of(source)
            if not isinstance(chain, pp.DistinctExpand):
                return None
            counts = tuple((a.name, a.arguments[0]) for a in aggregates)
            return pp.CountPairs(chain, keys, counts, plan.keys_at == "start")
        case _:
            return None
