"""Let a hop below a LIMIT find few neighbours at a time, and a scan without a LIMIT emit many nodes.

    Limit 10                          Limit 10
      Expand (a)-[:T]->(b)      =>      Expand (a)-[:T]->(b)   in small pieces
        ...                               ...

Operators pull, so a LIMIT stops everything below it. What remains is to keep the batches of a hop small, so that a node
with a million relationships does not fetch tens of thousands of them when ten are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.tree import top_down


def small_pieces_below_limit(plan: lp.Plan, _: Catalogue) -> lp.Plan:
    """Mark the hops that a LIMIT may stop early."""
    return top_down(plan, False, _rewritten)


def _rewritten(plan: lp.Plan, stopped: bool) -> tuple[lp.Plan, Callable[[lp.Plan], bool]]:
    match plan:
        case lp.Limit() | lp.Distinct(names=()):
            stopped = True
        case lp.Expand() | lp.NodeByLabelScan() | lp.AllNodesScan():
            plan = replace(plan, stopped_early=stopped)
        case lp.Select() | lp.Projection() | lp.Filter() | lp.ProjectPath() | lp.DistinctRelationships():
            pass
        case lp.Skip() | lp.Reimport() | lp.ProduceResults():
            pass
        case _:
            stopped = False
    return plan, lambda _: stopped
