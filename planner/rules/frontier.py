"""Find the ends of variable-length patterns by frontiers where nobody can tell the difference.

    Distinct b                                   Distinct b
      VarLengthExpand (a)-[*1..3]->(b)     =>      VarLengthExpand(Pruning) (a)-[*1..3]->(b)

Trails are enumerated unless it is proven that only their ends matter: going down from the first operator that is blind
to duplicates (DISTINCT, min, max, count(DISTINCT), EXISTS), no operator may count rows, and neither the relationships nor
anything made of them may be used. Where no variable below is used above either, all starts share one frontier. Relationships
that the same MATCH has bound before by single-relationship patterns are taken out of each row's frontier.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.tree import operators, with_children
from hoplite.planner.variables import free_variables

BLIND_AGGREGATES = frozenset(("min", "max"))


@dataclass(frozen=True, slots=True)
class Above:
    """What is known of the operators above: the columns they use, and why they count rows ("" where they do not)."""

    needed: frozenset[str]
    counts_rows: str
    unique: frozenset[str] = frozenset()  # relationships that others of the same MATCH must differ from

    def using(self, *names: str) -> Above:
        """The same with more columns in use."""
        return replace(self, needed=self.needed | frozenset(names))


def frontier_instead_of_trails(plan: lp.Plan, _: Catalogue) -> lp.Plan:
    """Mark the expansions whose trails need not be enumerated, and say why for each."""
    return _rewrite(plan, Above(frozenset(), "every row is returned"))


def _rewrite(plan: lp.Plan, above: Above) -> lp.Plan:
    match plan:
        case lp.VarLengthExpand():
            return _expansion(plan, above)
        case lp.DistinctRelationships(
            source=lp.VarLengthExpand() as expansion, relationship=relationship, others=others
        ) if relationship == expansion.relationship and not _lists(expansion.source) & frozenset(others):
            chosen = _expansion(replace(expansion, distinct_from=others), above)
            if chosen.pruning:
                return chosen
            return replace(plan, source=replace(chosen, distinct_from=()))
        case lp.ProjectPath(source=source, path=path) if path not in above.needed:
            return _rewrite(source, above)  # nobody looks at the path
        case _:
            return with_children(plan, lambda child: _rewrite(child, _below(plan, child, above)))


def _expansion(plan: lp.VarLengthExpand, above: Above) -> lp.VarLengthExpand:
    source = _rewrite(plan.source, above.using(plan.from_node, plan.to_node, *plan.distinct_from))
    lists = (plan.relationship, plan.left_group, plan.right_group)
    used = [name for name in lists if name is not None and name in above.needed]
    if above.counts_rows:
        return replace(plan, source=source, reason=above.counts_rows)
    if plan.relationship in above.unique:
        reason = "another pattern of the MATCH could use the same relationships"
        return replace(plan, source=source, reason=reason)
    if used:
        name = used[0]
        shown = "the path or its relationships are" if name.startswith("  ") else f"`{name}` is"
        return replace(plan, source=source, reason=f"{shown} used")
    merged = not plan.into and not plan.distinct_from and above.needed <= {plan.to_node}
    reason = "only distinct ends are seen" + (", from all starts together" if merged else "")
    if plan.distinct_from:
        reason += ", each row without the relationships it has bound"
    return replace(plan, source=source, pruning=True, merged=merged, reason=reason)


def _lists(plan: lp.Plan) -> frozenset[str]:
    """Relationship columns below that hold lists."""
    names: set[str] = set()
    for node in operators(plan):
        match node:
            case lp.VarLengthExpand(relationship=str() as name) | lp.Repeat(trail=name):
                names.add(name)
            case lp.ProjectEndpoints(relationship=name, lower=int()):
                names.add(name)
            case _:
                pass
    return frozenset(names)


def _below(plan: lp.Plan, child: lp.Plan, above: Above) -> Above:
    """What a child may assume, given what its parent may."""
    match plan:
        case lp.Distinct(names=names):
            return Above(frozenset(names), "")
        case lp.EagerAggregation(keys=keys, aggregates=aggregates):
            terms = [term for _, term in keys] + [term for a in aggregates for term in a.arguments]
            needed = free_variables(tuple(terms))
            counting = [a for a in aggregates if not a.distinct and a.function not in BLIND_AGGREGATES]
            return Above(needed, f"{counting[0].function}() counts rows" if counting else "")
        case lp.Filter(predicate=predicate):
            return above.using(*free_variables(predicate))
        case lp.Projection(items=items):
            made = frozenset(name for name, _ in items)
            used = free_variables(tuple(term for name, term in items if name in above.needed or above.counts_rows))
            return replace(above, needed=(above.needed - made) | used)
        case lp.Select(names=names):
            kept = frozenset(names) if above.counts_rows else above.needed & frozenset(names)
            return replace(above, needed=kept)
        case lp.Sort(keys=keys):
            return above.using(*(key.name for key in keys))
        case lp.Top():
            return Above(above.needed | {key.name for key in plan.keys}, "LIMIT counts rows")
        case lp.Skip() | lp.Limit():
            return replace(above, counts_rows="LIMIT or SKIP counts rows")
        case lp.Unwind(expression=expression):
            return above.using(*free_variables(expression))
        case lp.Expand(from_node=from_node, to_node=to_node):
            return above.using(from_node, to_node)
        case lp.DistinctRelationships(relationship=relationship, others=others):
            return replace(above, unique=above.unique | {relationship, *others}).using(relationship, *others)
        case lp.ProjectPath(path=path, start=start, relationships=relationships):
            return replace(above, needed=above.needed - {path}).using(start, *relationships)
        case lp.NodeIndexSeek(value=value) | lp.NodeByIdSeek(value=value):
            return above.using(*free_variables(value))
        case lp.AllNodesScan() | lp.NodeByLabelScan() | lp.RelationshipTypeScan() | lp.ProduceResults():
            return above
        case lp.Union():
            return above
        case lp.Apply(left=left, imports=imports, added=added, kind=kind):
            if child is left:
                return above.using(*imports)
            if kind == "unit":
                return Above(frozenset(added), "a subquery is run for what it does")
            return replace(above, needed=above.needed & frozenset(added))
        case lp.ValueHashJoin(left_key=left_key, right_key=right_key):
            return above.using(*free_variables((left_key, right_key)))
        case _:
            # Writes, procedures, shortest paths and whatever else may see each row or any column.
            return Above(_everything(plan), f"{type(plan).__name__} sees every row")


def _everything(plan: lp.Plan) -> frozenset[str]:
    """Any column of any operator below, for operators that may use all of them."""
    names: set[str] = set()
    for node in operators(plan):
        for name in ("node", "relationship", "to_node", "from_node", "left_group", "right_group", "trail", "path"):
            value = getattr(node, name, None)
            if isinstance(value, str):
                names.add(value)
    return frozenset(names)
