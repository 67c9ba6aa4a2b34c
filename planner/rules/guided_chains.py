"""Guide a chain of relationships to the few ends that a filter will let through.

    Filter b.name = 'X'                            Filter b.name = 'X'
      DistinctRelationships r2, r1                   Expand(Guided) (a)-[r1]->(x)-[r2]->(b), ends where b.name = 'X'
        Expand (x)-[r2]->(b)                  =>       NodeIndexSeek b.name = 'X'
          Expand (a)-[r1]->(x)                         NodeIndexSeek a.name = 'Y'
            NodeIndexSeek a.name = 'Y'

A chain is followed from one of its ends. Where that takes many steps, frontiers from both ends meet in the middle, and
only nodes between the two get into rows. The filter stays, so correctness does not depend on the guide. A chain may
also lead into a node that is bound. What is asked of a node in the middle is asked once for each node, so it must not
fail; other conditions end a chain.
"""

from __future__ import annotations

from dataclasses import replace

from hoplite.grammar import ast
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.cost import EQUALITY, Estimates, selectivity
from hoplite.planner.parts import ChainHop, MatchHop, PlannedSubquery, Term
from hoplite.planner.relationship_lists import relationship_lists
from hoplite.planner.rules.distinct_chains import is_plain_filter
from hoplite.planner.rules.match_counts import never_fails
from hoplite.planner.seeks import NodeFinder, required_labels
from hoplite.planner.tree import operators, with_children
from hoplite.planner.variables import free_variables

_SHORTEST, _SHORTEST_INTO = 2, 3  # hops; a shorter chain into a bound node looks its last relationship up anyway
_LONGEST = 16


def guide_chains_by_ends(plan: lp.Plan, catalogue: Catalogue) -> lp.Plan:
    """Tell chains of expansions where they have to end."""
    if sum(isinstance(operator, lp.Expand) for operator in operators(plan)) < _SHORTEST:
        return plan
    return _rewrite(plan, catalogue)


def _rewrite(plan: lp.Plan, catalogue: Catalogue) -> lp.Plan:
    """From the top: the filters on the last node of a chain come first."""
    if isinstance(plan, lp.Filter | lp.Expand | lp.DistinctRelationships):
        filters, below = _filters(plan)
        chain = _Chain.at(below)
        if chain is not None:
            guided = _guided(chain, filters, catalogue)
            if guided is not None:
                plan = replace(guided, source=_rewrite(guided.source, catalogue))
                for one in reversed(filters):
                    plan = replace(one, source=plan)
                return plan
    return with_children(plan, lambda child: _rewrite(child, catalogue))


def _filters(plan: lp.Plan) -> tuple[list[lp.Filter], lp.Plan]:
    filters: list[lp.Filter] = []
    while isinstance(plan, lp.Filter):
        filters.append(plan)
        plan = plan.source
    return filters, plan


def _guided(chain: _Chain, filters: list[lp.Filter], catalogue: Catalogue) -> lp.GuidedExpand | None:
    """The chain with what is known of its ends; None if there is nothing to guide it by."""
    last = chain.steps[-1]
    guided = lp.GuidedExpand(chain.source, chain.steps, (), None, chain.top.keep, chain.top.stopped_early)
    if last.into:
        return guided if len(chain.steps) >= _SHORTEST_INTO else None
    node = last.hop.node
    asked = tuple(
        one.predicate
        for one in filters
        if not isinstance(one.predicate, PlannedSubquery)
        and free_variables(one.predicate) == {node}
        and is_plain_filter(one.predicate, catalogue)
    )
    if len(chain.steps) < _SHORTEST or not any(selectivity(predicate) <= EQUALITY for predicate in asked):
        return None
    return replace(guided, end_predicates=asked, ends=_found(node, asked, catalogue))


def _found(node: str, asked: tuple[ast.Expression, ...], catalogue: Catalogue) -> lp.Plan | None:
    """An index look-up for nodes of which this is asked; None if there is none."""
    labels = [label for predicate in asked for label in _labels(predicate)]
    finder = NodeFinder(
        node, asked, labels, frozenset(), frozenset((node,)), 1.0, Estimates(catalogue), lambda term, _: term
    )
    plan = finder.best().build(lp.Argument())
    return plan if isinstance(plan, lp.NodeIndexSeek | lp.NodeByIdSeek) else None


def _labels(predicate: ast.Expression) -> list[str]:
    return required_labels(predicate.labels) if isinstance(predicate, ast.HasLabels) else []


@dataclass(frozen=True, slots=True)
class _Chain:
    """Hops that follow each other, the first one first, over `source`; `top` is the last of them."""

    source: lp.Plan
    steps: tuple[MatchHop, ...]
    top: lp.Expand

    @staticmethod
    def at(plan: lp.Plan) -> _Chain | None:
        """The longest chain at the top of a plan, whose last node may be bound; None if there is none."""
        steps: list[MatchHop] = []
        top: lp.Expand | None = None
        while len(steps) < _LONGEST:
            hop = _hop(plan)
            if hop is None or (steps and (hop.step.into or hop.step.hop.node != steps[-1].from_node)):
                break
            if top is None and hop.step.hop.predicates:
                break
            if top is not None and top.into and top.to_node == hop.step.hop.node:
                break  # the node that the chain leads into has to be bound before it begins
            top = top or hop.expansion
            steps.append(hop.step)
            plan = hop.expansion.source
        made = {step.relationship for step in steps}
        others = {name for step in steps for name in step.distinct_from} - made
        if top is None or (others and others & relationship_lists(plan)):
            return None
        return _Chain(plan, tuple(reversed(steps)), top)


@dataclass(frozen=True, slots=True)
class _Hop:
    expansion: lp.Expand
    step: MatchHop


def _hop(plan: lp.Plan) -> _Hop | None:
    """An expansion, the conditions on the node that it leads to, and what its relationship must differ from."""
    predicates: list[Term] = []
    others: list[str] = []
    compared: set[str] = set()
    while not isinstance(plan, lp.Expand):
        match plan:
            case lp.Filter(source=source, predicate=predicate) if never_fails(predicate):
                predicates.append(predicate)
            case lp.DistinctRelationships(source=source, relationship=relationship):
                compared.add(relationship)
                others += plan.others
            case _:
                return None
        plan = source
    if not compared <= {plan.relationship} or any(free_variables(one) != {plan.to_node} for one in predicates):
        return None
    hop = ChainHop(plan.traversal, plan.to_node, tuple(reversed(predicates)))
    return _Hop(plan, MatchHop(plan.from_node, plan.relationship, hop, plan.into, (), tuple(others)))
