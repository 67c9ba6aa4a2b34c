"""Several OPTIONAL MATCH clauses below distinct values need no rows for their combinations.

    EagerAggregation a.name, count(DISTINCT f), count(DISTINCT m)      EagerAggregation ...
      Apply(Optional) (a)-[:LIKES]->(m)                                  Apply(Optional) ..., once for each a
        Apply(Optional) (a)-[:KNOWS]->(f)                         =>       Apply(Optional) (a)-[:KNOWS]->(f)
          NodeByLabelScan a:Person                                           NodeByLabelScan a:Person

Rows that differ only in what an earlier OPTIONAL MATCH found have the same partners in the next one. Above, nothing can
tell how often a value occurs, so it is enough that the first of these rows gets them; the others get nulls, which
aggregates ignore. A row for each f and a row for each m are left, not one for each pair.
"""

from __future__ import annotations

from dataclasses import replace

from hoplite.grammar import ast
from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.determinism import is_deterministic
from hoplite.planner.rules.weighted_aggregates import is_blind
from hoplite.planner.tree import bottom_up
from hoplite.planner.variables import free_variables


def optionals_by_themselves(plan: lp.Plan, catalogue: Catalogue) -> lp.Plan:
    """Let the OPTIONAL MATCH clauses below an aggregation run once for rows that do not differ for them."""

    def change(node: lp.Plan) -> lp.Plan:
        return _separated(node, catalogue) if isinstance(node, lp.EagerAggregation) else node

    return bottom_up(plan, change)


def _separated(node: lp.EagerAggregation, catalogue: Catalogue) -> lp.Plan:
    optionals = _optionals(node.source)
    if len(optionals) < 2 or not all(map(is_blind, node.aggregates)):
        return node
    terms = tuple(term for _, term in node.keys)
    keys, added = free_variables(terms), {name for one in optionals for name in one.added}
    values = [term for aggregate in node.aggregates for term in aggregate.terms]
    if keys & added or not all(map(_is_null_with_its_variable, values)):
        return node
    if not is_deterministic((terms, tuple(one.right for one in optionals)), catalogue):
        return node
    source = optionals[-1]  # the first to run, for all rows
    for one in reversed(optionals[:-1]):
        source = replace(one, left=source, once_for=tuple(sorted(keys.union(one.imports))))
    return replace(node, source=source)


def _optionals(plan: lp.Plan) -> list[lp.Apply]:
    """The OPTIONAL MATCH clauses at the top of a plan, the last one first."""
    found: list[lp.Apply] = []
    while isinstance(plan, lp.Select) or (isinstance(plan, lp.Apply) and plan.kind == "optional"):
        if isinstance(plan, lp.Select):
            plan = plan.source
            continue
        if plan.row_by_row or plan.once_for:
            break
        found.append(plan)
        plan = plan.left
    return found


def _is_null_with_its_variable(term: object) -> bool:
    match term:
        case ast.Variable() | ast.Property(subject=ast.Variable()):
            return True
        case _:
            return False
