"""Find the ends of variable-length patterns by frontiers where nobody can tell the difference.

    Distinct b                                   Distinct b
      VarLengthExpand (a)-[*1..3]->(b)     =>      VarLengthExpand(Pruning) (a)-[*1..3]->(b)

Trails are enumerated unless it is proven that only their ends matter: going down from the first operator that is
blind to duplicates (DISTINCT, min, max, count(DISTINCT), EXISTS), no operator may count rows, and neither the
relationships nor anything made of them may be used. Where no variable below is used above either, all starts share
one frontier. Relationships that the same MATCH has bound before by single-relationship patterns are taken out of
each row's frontier.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hoplite.grammar.hidden import HIDDEN
from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.columns import needed_below, wanted_of
from hoplite.planner.relationship_lists import relationship_lists
from hoplite.planner.tree import with_children

BLIND_AGGREGATES = frozenset(("min", "max"))


@dataclass(frozen=True, slots=True)
class Above:
    """What is known of the operators above: the columns they use, and why they count rows ("" where they do not)."""

    needed: frozenset[str]
    counts_rows: str
    unique: frozenset[str] = frozenset()  # relationships that others of the same MATCH must differ from


def frontier_instead_of_trails(plan: lp.Plan, _: Catalogue) -> lp.Plan:
    """Mark the expansions whose trails need not be enumerated, and say why for each."""
    return _rewrite(plan, Above(wanted_of(plan), "every row is returned"))


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
            return with_children(plan, lambda child: _rewrite(child, _below(plan, child, above)))


def _expansion(plan: lp.VarLengthExpand, above: Above) -> lp.VarLengthExpand:
    source = _rewrite(plan.source, _below(plan, plan.source, above))
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


def _below(plan: lp.Plan, child: lp.Plan, above: Above) -> Above:
    """What a child may assume, given what its parent may."""
    return Above(needed_below(plan, child, above.needed), _counts_rows(plan, child, above), _unique(plan, above))


def _counts_rows(plan: lp.Plan, child: lp.Plan, above: Above) -> str:
    match plan:
        case lp.Distinct():
            return ""
        case lp.EagerAggregation(aggregates=aggregates):
            counting = [a for a in aggregates if not a.distinct and a.function not in BLIND_AGGREGATES]
            return f"{counting[0].function}() counts rows" if counting else ""
        case lp.Top() | lp.Skip() | lp.Limit():
            return "LIMIT or SKIP counts rows"
        case lp.Apply(kind="unit", right=right) if child is right:
            return "a subquery is run for what it does"
        case lp.Apply(row_by_row=True):
            return "a subquery that writes sees every row"
        case (
            lp.Filter()
            | lp.Projection()
            | lp.Select()
            | lp.Sort()
            | lp.Union()
            | lp.Unwind()
            | lp.AllNodesScan()
            | lp.NodeByLabelScan()
            | lp.NodeIndexSeek()
            | lp.NodeIndexSearch()
            | lp.NodeByIdSeek()
            | lp.RelationshipTypeScan()
            | lp.RelationshipIndexSeek()
            | lp.Expand()
            | lp.GetDegree()
            | lp.VarLengthExpand()
            | lp.DistinctRelationships()
            | lp.ProjectPath()
            | lp.Apply()
            | lp.ValueHashJoin()
            | lp.CartesianProduct()
            | lp.ProduceResults()
        ):
            return above.counts_rows
        case _:
            return f"{type(plan).__name__} sees every row"


def _unique(plan: lp.Plan, above: Above) -> frozenset[str]:
    match plan:
        case lp.DistinctRelationships(relationship=relationship, others=others):
            return above.unique | {relationship, *others}
        case _:
            return above.unique
