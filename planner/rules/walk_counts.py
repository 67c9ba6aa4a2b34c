"""Count the ways that lead along a chain of relationships to each end, without making a row for each.

    EagerAggregation d, count(*)                 EagerAggregation d, sum(degree)
      Expand (c)-[:W]->(d)                 =>      CountWalks (a)-[:U]->(b)-[:V]->(c)-[:W]->(d) AS degree
        Expand (b)-[:V]->(c)                         NodeByLabelScan a:A
          Expand (a)-[:U]->(b)
            NodeByLabelScan a:A

The number of ways to a node is the sum over its predecessors: a hop costs as much as the relationships it passes,
however many ways there are. Only the end of the chain may be used above.

Ways are walks, but the relationships of a MATCH must differ. Where two of a chain could be the same, the plan has a
DistinctRelationships above them, which ends a chain: within one, walks and matches are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.determinism import is_deterministic
from hoplite.planner.parts import ChainHop
from hoplite.planner.rules.distinct_chains import without_filters
from hoplite.planner.rules.weighted_aggregates import DEGREE, is_blind, weighted
from hoplite.planner.tree import bottom_up
from hoplite.planner.variables import free_variables

_FEWEST_HOPS = 2  # a single hop passes as many relationships as there are rows


@dataclass(frozen=True, slots=True)
class _Chain:
    """Consecutive hops, the first one first, and the names that they bind."""

    source: lp.Plan
    from_node: str
    hops: tuple[ChainHop, ...]
    made: frozenset[str]

    @property
    def end(self) -> str:
        return self.hops[-1].node


def walks_instead_of_rows(plan: lp.Plan, catalogue: Catalogue) -> lp.Plan:
    """Count along chains."""

    def change(node: lp.Plan) -> lp.Plan:
        return _counted(node, catalogue) if isinstance(node, lp.EagerAggregation) else node

    return bottom_up(plan, change)


def _counted(node: lp.EagerAggregation, catalogue: Catalogue) -> lp.Plan:
    if not is_deterministic((node.keys, tuple(a.arguments for a in node.aggregates)), catalogue):
        return node
    keys = free_variables(tuple(term for _, term in node.keys))
    for chain in _chains(node.source, catalogue):
        aggregates = weighted(node.aggregates, chain.made | {chain.from_node})
        if aggregates is None or all(map(is_blind, aggregates)):
            continue
        used = keys.union(*(free_variables(a.arguments) for a in aggregates)) - {DEGREE}
        if used != {chain.end} or len(chain.hops) < _FEWEST_HOPS:
            continue
        counted = lp.CountWalks(chain.source, chain.from_node, chain.hops, chain.end, DEGREE)
        return replace(node, source=counted, aggregates=aggregates)
    return node


def _chains(plan: lp.Plan, catalogue: Catalogue) -> Iterator[_Chain]:
    """The chains at the top of a plan, the longest first."""
    found: list[_Chain] = []
    hops: tuple[ChainHop, ...] = ()
    made: frozenset[str] = frozenset()
    while isinstance(plan, lp.Select | lp.ProjectPath):
        if isinstance(plan, lp.ProjectPath):
            made |= {plan.path}
        plan = plan.source
    while True:
        expansion, predicates = without_filters(plan, catalogue)
        if not isinstance(expansion, lp.Expand) or expansion.into:
            break
        node = expansion.to_node
        if any(free_variables(predicate) != {node} for predicate in predicates):
            break
        if hops and node != found[-1].from_node:
            break
        hops = (ChainHop(expansion.traversal, node, predicates), *hops)
        made |= {node, expansion.relationship}
        found.append(_Chain(expansion.source, expansion.from_node, hops, made))
        plan = expansion.source
    return reversed(found)
