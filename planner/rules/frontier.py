"""Find the ends of variable-length patterns by frontiers where the answer is the same.

    Distinct b                                   Distinct b
      VarLengthExpand (a)-[*1..3]->(b)     =>      VarLengthExpand(Pruning) (a)-[*1..3]->(b)

Trails are enumerated unless it is proven that only their ends matter: going down from the first operator that is
blind to duplicates (DISTINCT, min, max, count(DISTINCT), EXISTS), no operator may count rows, and neither the
relationships nor anything made of them may be used. Where no variable below is used above either, all starts share
one frontier. Relationships that the same MATCH has bound before by single-relationship patterns are taken out of
each row's frontier.
"""

from __future__ import annotations

from dataclasses import replace

from hoplite.grammar.hidden import HIDDEN
from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.duplicates import Above, above_all, below
from hoplite.planner.relationship_lists import relationship_lists
from hoplite.planner.tree import operators, with_children


def frontier_instead_of_trails(plan: lp.Plan, catalogue: Catalogue) -> lp.Plan:
    """Mark the expansions whose trails need not be enumerated, and say why for each."""
    if not any(isinstance(operator, lp.VarLengthExpand) for operator in operators(plan)):
        return plan
    return _rewrite(plan, above_all(plan, catalogue))


def _rewrite(plan: lp.Plan, above: Above) -> lp.Plan:
    match plan:
        case lp.VarLengthExpand():
            return _expansion(plan, above)
        case lp.DistinctRelationships(
            source=lp.VarLengthExpand() as expansion, relationship=relationship, others=others
        ) if relationship == expansion.relationship and not relationship_lists(expansion.source) & frozenset(others):
            chosen = _expansion(replace(expansion, distinct_from=others), above)
            if chosen.pruning:
                return chosen
            return replace(plan, source=replace(chosen, distinct_from=()))
        case _:
            return with_children(plan, lambda child: _rewrite(child, below(plan, child, above)))


def _expansion(plan: lp.VarLengthExpand, above: Above) -> lp.VarLengthExpand:
    source = _rewrite(plan.source, below(plan, plan.source, above))
    lists = (plan.relationship, plan.left_group, plan.right_group)
    used = [name for name in lists if name is not None and name in above.needed]
    if above.counts_rows:
        return replace(plan, source=source, reason=above.counts_rows)
    if plan.relationship in above.unique:
        reason = "another pattern of the MATCH could use the same relationships"
        return replace(plan, source=source, reason=reason)
    if used:
        name = used[0]
        shown = "the path or its relationships are" if name.startswith(HIDDEN) else f"`{name}` is"
        return replace(plan, source=source, reason=f"{shown} used")
    merged = not plan.into and not plan.distinct_from and above.needed <= {plan.to_node}
    reason = "only distinct ends are seen" + (", from all starts together" if merged else "")
    if plan.distinct_from:
        reason += ", each row without the relationships it has bound"
    return replace(plan, source=source, pruning=True, merged=merged, reason=reason)
