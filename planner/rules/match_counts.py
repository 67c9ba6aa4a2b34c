"""Which operators at the top of a pattern can count its matches instead of making a row for each.

    EagerAggregation count(*)                     EagerAggregation sum(degree)
      Filter a <> c                                 CountMatches (a)-[r1]-(b), (b)-[r2]-(c) WHERE r2 <> r1, a <> c
        DistinctRelationships r2, r1          =>      NodeByLabelScan a:Person
          Expand (b)-[r2]-(c)
            Expand (a)-[r1]-(b)
              NodeByLabelScan a:Person

A search that holds one partial match at a time does the same as these operators, in the same order: it follows
relationships, compares nodes and relationships, and looks for relationships between bound nodes. So it may stand for
any of them that make nothing that is used above, but for one node: then matches are counted for each row and each such
node. What is asked of one node alone is asked once for each node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hoplite.grammar import ast
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp
from hoplite.planner import physical as pp
from hoplite.planner.cost import EQUALITY, selectivity
from hoplite.planner.parts import ChainHop, MatchCheck, MatchHop, MatchStep, PlannedSubquery, Term
from hoplite.planner.variables import free_variables


@dataclass(frozen=True, slots=True, eq=False)
class Countable:
    """The steps that stand for the topmost operators, for how many of these, and the node that matches are counted for
    besides those of the rows."""

    steps: tuple[MatchStep, ...] = ()
    count: int = 0
    end: str | None = None

    @property
    def has_conditions(self) -> bool:
        """Whether more is asked than a walk along the hops could tell."""
        return any(not isinstance(step, MatchHop) or step.into or step.distinct_from for step in self.steps)


def countable(
    operators: Sequence[lp.Plan], every: Sequence[lp.Plan], used: frozenset[str], with_end: bool = False
) -> Countable:
    """What can be counted instead of the first operators (the top one is the first); nothing where that saves nothing.
    `every` are the operators of the whole pattern, `used` the names that are used above: with an end, one of them may
    be a node that is not in the rows.
    """
    ends = [(place, o.to_node) for place, o in enumerate(operators) if isinstance(o, lp.Expand) and _makes(o, used)]
    if with_end and not ends:
        return Countable()
    place, end = ends[0] if with_end else (len(operators), None)
    known = _Known(every, used - {end})
    count = 0
    while count < len(operators) and known.can_stand_for(operators[count]):
        count += 1
    while count:
        steps, unfit = _steps(operators[:count])
        if unfit is None:
            passed = any(isinstance(o, lp.Expand) and not o.into for o in operators[place + 1 : count])
            is_worth_it = _is_worth_it(steps) if end is None else passed
            return Countable(tuple(steps), count, end) if is_worth_it else Countable()
        count = unfit
    return Countable()


def is_countable(condition: lp.Filter, every: Sequence[lp.Plan]) -> bool:
    """Whether a search for matches can ask a condition."""
    return _Known(every, frozenset()).can_stand_for(condition)


def _makes(hop: lp.Expand, used: frozenset[str]) -> bool:
    """Whether a hop leads to a new node that is used above."""
    return not hop.into and hop.to_node in used


class _Known:
    """What is known of the names in a pattern."""

    def __init__(self, every: Sequence[lp.Plan], used: frozenset[str]) -> None:
        hops = [o for o in every if isinstance(o, lp.Expand)]
        self._nodes = frozenset(name for hop in hops for name in (hop.from_node, hop.to_node))
        self._relationships = frozenset(hop.relationship for hop in hops)
        self._used = used

    def can_stand_for(self, operator: lp.Plan) -> bool:
        """Whether a step can do what an operator does, as far as it can be seen from the operator alone."""
        match operator:
            case lp.Expand(relationship=relationship, to_node=to_node, into=into):
                return relationship not in self._used and (into or to_node not in self._used)
            case lp.DistinctRelationships(relationship=relationship, others=others):
                return {relationship, *others} <= self._relationships
            case lp.Filter(predicate=predicate):
                check = _check(predicate)
                if check is not None:
                    return {check.left, check.right} <= self._nodes
                return len(free_variables(predicate)) == 1 and never_fails(predicate)
            case _:
                return False


def never_fails(predicate: Term) -> bool:
    """Whether a predicate has a value for any node: it is also asked of nodes that are in no match."""
    match predicate:
        case ast.HasLabels(operand=ast.Variable()):
            return True
        case ast.IsNull(operand=operand):
            return _is_plain_value(operand)
        case ast.Comparison(operands=operands):
            return all(map(_is_plain_value, operands))
        case ast.Binary(operator="STARTS WITH" | "ENDS WITH" | "CONTAINS", left=left, right=right):
            return _is_plain_value(left) and _is_plain_value(right)
        case ast.Binary(operator="AND" | "OR" | "XOR", left=left, right=right):
            return never_fails(left) and never_fails(right)
        case ast.Unary(operator="NOT", operand=operand):
            return never_fails(operand)
        case _:
            return False


def _is_plain_value(term: Term) -> bool:
    match term:
        case ast.Literal() | ast.Parameter() | ast.Variable() | ast.Property(subject=ast.Variable()):
            return True
        case _:
            return False


def _check(predicate: Term) -> MatchCheck | None:
    """What a predicate asks of two nodes; None where it is something else."""
    match predicate:
        case ast.Comparison(
            operands=(ast.Variable(name=left), ast.Variable(name=right)), operators=("=" | "<>" as operator,)
        ):
            return MatchCheck(operator, left, right)
        case ast.Unary(operator="NOT", operand=PlannedSubquery() as subquery):
            found = _looked_for(subquery)
            return None if found is None else replace(found, kind="missing")
        case PlannedSubquery():
            return _looked_for(predicate)
        case _:
            return None


def _looked_for(subquery: PlannedSubquery) -> MatchCheck | None:
    """`EXISTS` of one relationship between two nodes of the row."""
    match subquery:
        case PlannedSubquery(
            kind="exists", plan=pp.Distinct(source=pp.ExpandInto(source=pp.Argument(variables=given)) as hop)
        ) if {hop.from_node, hop.to_node} <= set(given):
            return MatchCheck("there", hop.from_node, hop.to_node, hop.traversal)
        case _:
            return None


def _steps(operators: Sequence[lp.Plan]) -> tuple[list[MatchStep], int | None]:
    """The steps for operators, and the number of the last operator that has to go, with all below it, if there is one:
    it asks about a name that is made further below."""
    steps: list[MatchStep] = []
    hops: dict[str, int] = {}  # by what they make, nodes and relationships
    for number in range(len(operators) - 1, -1, -1):
        operator = operators[number]
        match operator:
            case lp.Expand(from_node=from_node, relationship=relationship, to_node=to_node, into=into):
                hops[relationship] = len(steps)
                if not into:
                    hops[to_node] = len(steps)
                steps.append(MatchHop(from_node, relationship, ChainHop(operator.traversal, to_node, ()), into))
            case lp.DistinctRelationships(relationship=relationship, others=others):
                place = hops.get(relationship)
                if place is None or any(hops.get(other, -1) > place for other in others):
                    return steps, number
                hop = steps[place]
                assert isinstance(hop, MatchHop)
                steps[place] = replace(hop, distinct_from=(*hop.distinct_from, *others))
            case lp.Filter(predicate=predicate):
                check = _check(predicate)
                if check is not None:
                    steps.append(check)
                    continue
                (name,) = free_variables(predicate)
                place = hops.get(name)
                made = None if place is None else steps[place]
                if place is None or not isinstance(made, MatchHop) or made.hop.node != name:
                    return steps, number
                steps[place] = _asked(made, predicate)
    return steps, None


def _asked(hop: MatchHop, predicate: Term) -> MatchHop:
    """The hop with what is asked of the node it leads to."""
    match predicate:
        case ast.HasLabels(operand=ast.Variable(), labels=ast.LabelName(name=label)):
            return replace(hop, labels=tuple(dict.fromkeys((*hop.labels, label))))
        case _:
            asked = replace(hop.hop, predicates=(*hop.hop.predicates, predicate))
            return replace(hop, hop=asked, to_few=hop.to_few or selectivity(predicate) <= EQUALITY)


def _is_worth_it(steps: Sequence[MatchStep]) -> bool:
    """Whether there is more than a degree could tell."""
    hops = [step for step in steps if isinstance(step, MatchHop)]
    return bool(hops) and (len(hops) < len(steps) or any(hop.into for hop in hops) or len(hops) > 2)
