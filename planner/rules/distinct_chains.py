"""Follow a chain of relationships to its distinct ends where nothing above uses what lies between.

    EagerAggregation x.name, count(DISTINCT s.name)        EagerAggregation x.name, count(DISTINCT s.name)
      Filter s:SideEffect                                    Expand(Pruning) (x)<-[:TREATS]-(d:Drug)-[:CAUSES]->(s)
        Expand (d)-[:CAUSES]->(s)                    =>        NodeByLabelScan x:Disease
          Filter d:Drug
            Expand (x)<-[:TREATS]-(d)
              NodeByLabelScan x:Disease

Under an operator that is blind to duplicates it is enough to know which ends each row has. So the relationships of the
chain and the nodes between them are not bound, each level of the chain is made distinct per row before the next hop,
and the conditions on a node (labels, predicates on it alone) are tested once. Where the ends alone are used above, all
rows share one frontier. No two relationships of a chain are the same: where their types do not rule it out, the plan
has a DistinctRelationships, which ends a chain. A chain of one hop is replaced where that saves something: for the ends
alone, and below a count of values on its other side, which then works on pairs of numbers (`keys_at`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hoplite.grammar import ast
from hoplite.grammar.tree import contains
from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.determinism import is_deterministic
from hoplite.planner.duplicates import Above, above_all, below
from hoplite.planner.parts import ChainHop, PlannedSubquery, Term
from hoplite.planner.tree import operators, top_down
from hoplite.planner.variables import free_variables


def chains_to_distinct_ends(plan: lp.Plan, catalogue: Catalogue) -> lp.Plan:
    """Replace the chains whose middle is not used above."""
    if not any(isinstance(operator, lp.Distinct | lp.EagerAggregation) for operator in operators(plan)):
        return plan  # an operator above counts rows
    return top_down(plan, above_all(plan, catalogue), _step)


def _keys_at(plan: lp.EagerAggregation, chain: lp.DistinctExpand, catalogue: Catalogue) -> lp.ChainEnd | None:
    """At which end of the chain the keys are, if everything that is counted is at the other; else None.

    Then the values at each end are numbered, and pairs of numbers are counted.
    """
    if not all(a.function == "count" and a.distinct for a in plan.aggregates):
        return None
    counted = [term for a in plan.aggregates for term in a.arguments]
    if not _is_settled((*(term for _, term in plan.keys), *counted), catalogue):
        return None
    keys = frozenset[str]().union(*(free_variables(term) for _, term in plan.keys))
    values = [free_variables(term) for term in counted]
    end = {chain.to_node}
    if keys and not keys & end and all(names == end for names in values):
        return "start"
    if keys == end and all(names and not names & end for names in values):
        return "end"
    return None


def _is_settled(terms: Any, catalogue: Catalogue) -> bool:
    """Whether expressions are deterministic and run no plan."""
    return is_deterministic(terms, catalogue) and not contains(terms, lambda node: isinstance(node, PlannedSubquery))


def _step(plan: lp.Plan, above: Above) -> tuple[lp.Plan, Callable[[lp.Plan], Above]]:
    """The replacement of an operator, and what is known above its children."""
    chain = plan if isinstance(plan, lp.DistinctExpand) else None
    if isinstance(plan, lp.EagerAggregation):
        counted = _chain(plan.source, below(plan, plan.source, above))
        keys_at = None if counted is None else _keys_at(plan, counted, above.catalogue)
        if counted is not None and keys_at is not None:
            plan = replace(plan, source=counted, keys_at=keys_at)
    elif chain is None:
        found = _chain(plan, above)
        chain = found if found is not None and (found.merged or len(found.hops) > 1) else None
    if chain is not None:
        # The plan below sees the start of the chain, and whatever else is carried past it.
        seen = replace(above, needed=(above.needed - {chain.to_node}) | {chain.from_node})
        return chain, lambda _: seen
    return plan, lambda child: below(plan, child, above)


def _chain(plan: lp.Plan, above: Above) -> lp.DistinctExpand | None:
    """The longest chain at the top of a plan; None if there is none."""
    if above.counts_rows or above.stopped_early:
        return None
    hops: list[ChainHop] = []
    start = ""
    while True:
        expansion, predicates = without_filters(plan, above.catalogue)
        if not isinstance(expansion, lp.Expand) or expansion.into or expansion.relationship in above.needed:
            break
        node = expansion.to_node
        if hops and (node != start or node in above.needed):
            break
        if any(free_variables(predicate) != {node} for predicate in predicates):
            break
        hops.append(ChainHop(expansion.traversal, node, predicates))
        plan, start = expansion.source, expansion.from_node
    if not hops:
        return None
    merged = above.needed <= {hops[0].node}
    reason = "only distinct ends are seen" + (", from all starts together" if merged else "")
    return lp.DistinctExpand(plan, start, hops[0].node, tuple(reversed(hops)), above.needed, merged, reason)


def without_filters(plan: lp.Plan, catalogue: Catalogue) -> tuple[lp.Plan, tuple[Term, ...]]:
    """A plan without the filters at its top, and their predicates, the first to be applied first."""
    predicates: list[Term] = []
    while isinstance(plan, lp.Filter) and is_plain_filter(plan.predicate, catalogue):
        predicates.append(plan.predicate)
        plan = plan.source
    return plan, tuple(reversed(predicates))


def is_plain_filter(predicate: Term, catalogue: Catalogue) -> bool:
    """Whether a predicate may be tested once per node instead of once per row.

    A filter is lenient with arithmetic: anything but true counts as false.
    """
    return _is_settled(predicate, catalogue) and not (
        isinstance(predicate, ast.Binary) and predicate.operator in ast.ARITHMETIC
    )
