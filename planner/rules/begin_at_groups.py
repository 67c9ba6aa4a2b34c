"""A pattern that is counted for one of its nodes may begin at that node.

    EagerAggregation c.x, count(*)                 EagerAggregation c.x, count(*)
      DistinctRelationships r2, r1                   DistinctRelationships r1, r2
        Expand (b)-[r2]-(c)               =>           Expand (b)-[r1]-(a)
          Expand (a)-[r1]-(b)                            Expand (c)-[r2]-(b)
            NodeByLabelScan a:Person                       NodeByLabelScan c:Person

Matches are counted from the node that a row has: what leads to the node of the groups would have to be made. From a
scan of all nodes with a label it makes no difference for the matches where they begin, nor much for the work. Where the
pattern begins at something smaller it stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from hoplite.grammar import ast
from hoplite.planner import logical as lp
from hoplite.planner.parts import Term
from hoplite.planner.variables import free_variables

Step: TypeAlias = lp.Expand | lp.Filter | lp.DistinctRelationships


def begun_at(node: str, steps: Sequence[lp.Plan], base: lp.Plan) -> tuple[list[Step], lp.Plan] | None:
    """The same steps, the last one first, and what is below them, from a scan of this node on; None where the pattern
    is something else, or begins at what is smaller than a scan."""
    filters: list[Term] = []
    match base:
        case lp.AllNodesScan(node=start, source=lp.Argument(variables=())):
            pass
        case lp.NodeByLabelScan(node=start, label=label, source=lp.Argument(variables=())):
            filters.append(ast.HasLabels(ast.Variable(start), ast.LabelName(label)))
        case _:
            return None
    hops: list[lp.Expand] = []
    differing: set[frozenset[str]] = set()
    for step in reversed(steps):
        match step:
            case lp.Expand():
                hops.append(step)
            case lp.Filter(predicate=predicate):
                filters.append(predicate)
            case lp.DistinctRelationships(relationship=relationship, others=others):
                differing |= {frozenset((relationship, other)) for other in others}
            case _:
                return None
    way = _way(node, start, hops)
    if way is None or any(free_variables(one) == {start} and _label(one, start) is None for one in filters):
        return None
    back = [replace(hop, from_node=hop.to_node, to_node=hop.from_node, traversal=hop.traversal.reversed) for hop in way]
    return _rebuilt(node, back + [hop for hop in hops if hop not in way], filters, differing)


def _way(node: str, start: str, hops: Sequence[lp.Expand]) -> list[lp.Expand] | None:
    """The expansions that lead from the start to the node, from its end on."""
    found_by = {hop.to_node: hop for hop in hops if not hop.into}
    way: list[lp.Expand] = []
    while node != start:
        hop = found_by.get(node)
        if hop is None:
            return None
        way.append(hop)
        node = hop.from_node
    return way


def _label(predicate: Term, node: str) -> str | None:
    """The one label that a predicate asks of a node alone."""
    match predicate:
        case ast.HasLabels(operand=ast.Variable(name=name), labels=ast.LabelName(name=label)) if name == node:
            return label
        case _:
            return None


def _rebuilt(
    node: str, hops: Sequence[lp.Expand], filters: list[Term], differing: set[frozenset[str]]
) -> tuple[list[Step], lp.Plan]:
    """Each condition as early as its names allow."""
    base: lp.Plan = lp.AllNodesScan(lp.Argument(), node)
    for predicate in filters:
        label = _label(predicate, node)
        if label is not None:
            base = lp.NodeByLabelScan(lp.Argument(), node, label)
            filters = [one for one in filters if one is not predicate]
            break
    steps: list[Step] = []
    bound = {node}

    def ask() -> None:
        nonlocal filters
        for predicate in filters:
            if free_variables(predicate) <= bound:
                steps.append(lp.Filter(base, predicate))
        filters = [predicate for predicate in filters if not free_variables(predicate) <= bound]

    ask()
    for hop in hops:
        others = tuple(name for name in bound if frozenset((hop.relationship, name)) in differing)
        bound |= {hop.relationship, hop.to_node}
        steps.append(replace(hop, source=base))
        if others:
            steps.append(lp.DistinctRelationships(base, hop.relationship, tuple(sorted(others))))
        ask()
    assert not filters, "all names of a pattern are bound at its end"
    return steps[::-1], base
