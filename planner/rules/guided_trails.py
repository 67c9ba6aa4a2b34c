"""Guide trails to the ends that a filter will let through.

    Filter b.name = 'X'                           Filter b.name = 'X'
      VarLengthExpand(All) (a)-[*1..5]->(b)  =>     VarLengthExpand(All) (a)-[*1..5]->(b), ends where b.name = 'X'

A frontier finds the ends and tests the filter once on each. If few pass, a search back from them gives every node's
distance, and trails that cannot get there are cut off. The filter stays, so correctness does not depend on the
guidance. For short trails, and below a LIMIT that may need only the first few, the search does not pay.
"""

from __future__ import annotations

from dataclasses import replace

from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.duplicates import Above, above_all, below
from hoplite.planner.parts import Term
from hoplite.planner.rules.distinct_chains import without_filters
from hoplite.planner.tree import operators, with_children
from hoplite.planner.variables import free_variables

_SHORTEST = 3  # guiding trails pays from this length


def guide_trails_by_filters(plan: lp.Plan, catalogue: Catalogue) -> lp.Plan:
    """Tell expansions the conditions on their ends."""
    if not any(isinstance(operator, lp.VarLengthExpand) for operator in operators(plan)):
        return plan  # long scripts of CREATE clauses are not worth a look at each column
    return _rewrite(plan, above_all(plan, catalogue))


def _rewrite(plan: lp.Plan, above: Above) -> lp.Plan:
    if isinstance(plan, lp.Filter) and not above.stopped_early:
        expansion, predicates = without_filters(plan, above.catalogue)
        if isinstance(expansion, lp.VarLengthExpand) and _is_guided(expansion):
            asked = tuple(term for term in predicates if free_variables(term) == {expansion.to_node})
            if asked:
                plan = _with_ends(plan, asked)
    return with_children(plan, lambda child: _rewrite(child, below(plan, child, above)))


def _is_guided(expansion: lp.VarLengthExpand) -> bool:
    """Whether its ends can be found beforehand, at no more cost than its trails."""
    return (
        not (expansion.into or expansion.pruning or expansion.end_predicates)
        and expansion.step is None
        and expansion.traversal.lower <= 1
        and (expansion.traversal.upper is None or expansion.traversal.upper >= _SHORTEST)
    )


def _with_ends(plan: lp.Plan, asked: tuple[Term, ...]) -> lp.Plan:
    """The filters over an expansion that knows their predicates."""
    if isinstance(plan, lp.VarLengthExpand):
        return replace(plan, end_predicates=asked)
    return with_children(plan, lambda child: _with_ends(child, asked))
