"""How many rows the busiest operator of a plan is expected to make, before the plan is run.

Two passes over the operators. From below, how many rows each would emit if nothing stopped it, according to the
planner's statistics on scans, seeks and hops, and the numbers in the query or its parameters. From above, how many are
demanded: a LIMIT passes through operators that stream rows, and is lost at those that read everything first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, assert_never

from hoplite.grammar import ast
from hoplite.planner import physical as pp
from hoplite.planner.cost import COMPARISON, EQUALITY, MANY_ROWS, OTHER, Estimates, selectivity
from hoplite.planner.explain import describe
from hoplite.planner.parts import MatchHop, PlannedSubquery, Term
from hoplite.planner.plan_tree import children, operators, subqueries

_Hops: TypeAlias = pp.Expand | pp.ExpandInto | pp.Reach | pp.Trails | pp.ShortestTrails
_EVERYTHING = math.inf
_MOST = 1e18  # larger numbers make no difference

# Operators that read all of their input before they emit a row.
_BLOCKING = (
    *(pp.Sort, pp.Top, pp.Aggregate, pp.CountEnds, pp.CountPairs, pp.SelectShortest, pp.CountWalks),
    *(pp.InTransactions, pp.Write, pp.Drain),
)
# Operators that run their other plans for each row of the first.
_RUN_FOR_EACH_ROW = (pp.Apply, pp.ForEachRow, pp.InTransactions, pp.Write)


def largest_estimate(plan: pp.Plan, estimates: Estimates, parameters: Mapping[str, Any]) -> tuple[float, str]:
    """Approximately how many rows the busiest operator makes, and its name."""
    return _Plan(plan, estimates, parameters).largest()


def _later(found: tuple[float, str], rows: float, name: str) -> tuple[float, str]:
    """Of two operators that make the same number of rows, the lower one, which makes them first."""
    return (rows, name) if rows >= found[0] else found


class _Plan:
    """One plan: the whole one, or that of a subquery."""

    def __init__(self, plan: pp.Plan, estimates: Estimates, parameters: Mapping[str, Any]) -> None:
        self._plan = plan
        self._estimates = estimates
        self._parameters = parameters
        every = list(operators(plan))
        self._labels: dict[str, str] = {}  # of variables, if a scan or a filter tells
        for node in every:
            self._note_labels(node)
        self._rows: dict[int, float] = {}
        for node in reversed(every):
            self._rows[id(node)] = min(self._made(node), _MOST)

    def largest(self) -> tuple[float, str]:
        """The most rows that an operator makes, and which operator."""
        found = (0.0, "")
        waiting: list[tuple[pp.Shown, float, float]] = [(self._plan, _EVERYTHING, 1.0)]
        while waiting:
            node, demand, times = waiting.pop()
            made = min(max(min(self._rows[id(node)], demand), self._inside(node)) * times, _MOST)
            found = _later(found, made, describe(node).name)
            for inner in subqueries(node):
                rows, name = _Plan(inner, self._estimates, self._parameters).largest()
                found = _later(found, min(rows * max(made, 1.0), _MOST), name)
            below = children(node)
            for place, child in enumerate(below):
                is_repeated = place and isinstance(node, _RUN_FOR_EACH_ROW)
                often = times * max(self._rows[id(below[0])], 1.0) if is_repeated else times
                waiting.append((child, self._demand(node, child, demand, place), often))
        return found

    # --- from below --------------------------------------------------------------------------------------------

    def _made(self, plan: pp.Shown) -> float:
        below = [self._rows[id(child)] for child in children(plan)]
        source = below[0] if below else 1.0
        estimates = self._estimates
        match plan:
            case pp.NodeScan(label=label):
                return source * estimates.nodes(() if label is None else (label,))
            case pp.IndexSeek(label=label, key=key, value=value, many=many):
                return source * estimates.seek(label, key) * (self._length(value) if many else 1.0)
            case pp.ParameterSeek(label=label, key=key):
                return source * estimates.seek(label, key)
            case pp.ElementsSeek(label=label, key=key, elements=elements):
                return source * estimates.seek(label, key) * self._length(elements)
            case pp.IndexSearch(label=label):
                return source * estimates.nodes((label,)) * COMPARISON
            case pp.IdSeek(value=value, many=many):
                return source * (self._length(value) if many else 1.0)
            case pp.RelationshipScan(types=types, directed=directed):
                return source * estimates.relationships(types) * (1 if directed else 2)
            case pp.RelationshipSeek(type=type_name):
                return source * max(1.0, estimates.relationships((type_name,)) * EQUALITY)
            case pp.RelationshipIdSeek(value=value, many=many, directed=directed):
                return source * (self._length(value) if many else 1.0) * (1 if directed else 2)
            case pp.Expand() | pp.ExpandInto() | pp.Reach() | pp.Trails() | pp.ShortestTrails():
                return source * self._hops(plan)
            case pp.GuidedExpand():
                return self._to_few_ends(plan)
            case pp.DistinctExpand(merged=merged):
                return estimates.nodes(()) if merged else source * estimates.nodes(())
            case pp.CountMatches(end=str()):
                return min(source * estimates.nodes(()), self._partial_matches(plan))
            case pp.Repeat(lower=lower, upper=upper):
                return source * estimates.trails(below[1], lower, upper)
            case pp.Filter(predicate=predicate):
                return source * (OTHER if isinstance(predicate, PlannedSubquery) else selectivity(predicate))
            case pp.Aggregate(keys=()) | pp.CountEnds():
                return 1.0
            case pp.Cut(limit=limit) | pp.Top(limit=limit) if limit is not None:
                return min(source, self._number(limit))
            case pp.Unwind(expression=expression):
                return source * self._length(expression)
            case pp.UnwindRange(arguments=arguments):
                return source * self._length_of_range(arguments)
            case pp.Union():
                return sum(below)
            case pp.Apply(optional=optional):
                return source * max(below[1], 1.0 if optional else 0.0)
            case pp.InTransactions() | pp.Product():
                return source * below[1]
            case pp.HashJoin():
                return max(below)
            case pp.CallProcedure() | pp.Show() | pp.LoadCsv():
                return source * MANY_ROWS
            case pp.Write(steps=steps):
                return source * math.prod(map(self._written, steps))
            case (
                pp.Argument()
                | pp.CountWalks()
                | pp.CountBranches()
                | pp.CountMatches()
                | pp.CountSteps()
                | pp.ShortestPaths()
                | pp.SelectShortest()
                | pp.FollowBound()
                | pp.DistinctRelationships()
                | pp.BuildPath()
                | pp.Project()
                | pp.Select()
                | pp.Reimport()
                | pp.Distinct()
                | pp.DistinctEnds()
                | pp.CountPairs()
                | pp.CountNodes()
                | pp.CountRelationships()
                | pp.Sort()
                | pp.ForEachRow()
                | pp.Drain()
                | pp.Results()
                | pp.Create()
                | pp.Merge()
                | pp.Set()
                | pp.Delete()
                | pp.Foreach()
                | pp.Aggregate()
                | pp.Cut()
                | pp.Top()
            ):
                return source
            case _:
                assert_never(plan)

    def _written(self, step: pp.WriteStep) -> float:
        """How often a step writes for each row."""
        match step:
            case pp.Create(creations=creations):
                return max(1, len(creations))
            case pp.Foreach(list=values):
                return self._length(values)
            case pp.Merge() | pp.Set() | pp.Delete():
                return 1.0
            case _:
                assert_never(step)

    def _inside(self, plan: pp.Shown) -> float:
        """How many trails or partial matches an operator goes through of which it emits only a count."""
        if isinstance(plan, pp.CountMatches):
            return self._partial_matches(plan)
        if not isinstance(plan, pp.CountSteps):
            return 0.0
        lower, upper = plan.traversal.lower, plan.traversal.upper
        if upper is not None and upper < 2:
            return 0.0
        trails = self._estimates.trails(self._degree(plan), max(lower - 1, 0), None if upper is None else upper - 1)
        return self._rows[id(plan.source)] * trails

    def _partial_matches(self, plan: pp.CountMatches) -> float:
        """At most how many partial matches one step makes. A last hop to a new node is only summed over."""
        hops = [step for step in plan.steps if isinstance(step, MatchHop)]
        return max(self._along(plan.source, hops if hops[-1].into or plan.end is not None else hops[:-1]))

    def _to_few_ends(self, plan: pp.GuidedExpand) -> float:
        """Partial matches are made only where they lead to an end."""
        *before, last = plan.steps
        return self._along(plan.source, [*before, replace(last, into=True)])[-1]

    def _along(self, source: pp.Plan, hops: Sequence[MatchHop]) -> list[float]:
        """How many partial matches there are before the first hop, and after each."""
        labels: dict[str, tuple[str, ...]] = {name: (label,) for name, label in self._labels.items()}
        rows = [self._rows[id(source)]]
        for hop in hops:
            degree = self._estimates.degree(labels.get(hop.from_node, ()), hop.hop.traversal)
            rows.append(rows[-1] * (min(degree, 1.0) if hop.into else degree))
            if not hop.into and hop.labels:
                labels[hop.hop.node] = hop.labels
        return rows

    def _degree(self, plan: _Hops | pp.CountSteps) -> float:
        label = self._labels.get(plan.from_node)
        return self._estimates.degree(() if label is None else (label,), plan.traversal)

    def _hops(self, plan: _Hops) -> float:
        degree, nodes = self._degree(plan), self._estimates.nodes(())
        trails = self._estimates.trails(degree, plan.traversal.lower, plan.traversal.upper)
        match plan:
            case pp.Expand():
                return degree
            case pp.ExpandInto():
                return min(degree, 1.0)
            case pp.Reach():
                return min(trails, nodes)
            case pp.Trails():
                return trails
            case pp.ShortestTrails(into=into):
                return 1.0 if into else min(trails, nodes)

    def _note_labels(self, plan: pp.Shown) -> None:
        match plan:
            case (
                pp.NodeScan(node=node, label=str(label))
                | pp.IndexSeek(node=node, label=str(label))
                | pp.ParameterSeek(node=node, label=str(label))
                | pp.ElementsSeek(node=node, label=str(label))
                | pp.IndexSearch(node=node, label=str(label))
            ):
                self._labels[node] = label
            case pp.Filter(predicate=ast.HasLabels(operand=ast.Variable(name=node), labels=ast.LabelName(name=label))):
                self._labels.setdefault(node, label)

    # --- values that are known before -------------------------------------------------------------------------

    def _known(self, term: Term) -> Any:
        match term:
            case ast.Literal(value=value):
                return value
            case ast.Parameter(name=name):
                return self._parameters.get(name)
            case ast.Unary(operator="-", operand=operand):
                inner = self._known(operand)
                return -inner if isinstance(inner, int | float) else None
            case _:
                return None

    def _number(self, term: Term) -> float:
        value = self._known(term)
        return float(value) if isinstance(value, int | float) else _EVERYTHING

    def _length(self, term: Term) -> float:
        """How many elements a list has."""
        match term:
            case ast.ListLiteral(items=items):
                return len(items)
            case ast.ConstantList(value=values):
                return len(values)
            case ast.FunctionCall(name=name, arguments=arguments) if name.lower() == "range":
                return self._length_of_range(arguments)
        value = self._known(term)
        return len(value) if isinstance(value, list) else MANY_ROWS

    def _length_of_range(self, arguments: tuple[Term, ...]) -> float:
        if len(arguments) > 1:
            low, high, step = (*map(self._known, arguments), 1)[:3]
            if isinstance(low, int) and isinstance(high, int) and isinstance(step, int) and step:
                return float(max(0, (high - low) // step + 1))
        return MANY_ROWS

    # --- from above --------------------------------------------------------------------------------------------

    def _demand(self, plan: pp.Shown, child: pp.Shown, demand: float, place: int) -> float:
        """How many rows are demanded of a plan, if `demand` are demanded of the operator above it."""
        if isinstance(plan, _BLOCKING) or (place and not isinstance(plan, pp.Union)):
            return _EVERYTHING
        match plan:
            case pp.Cut(skip=skip, limit=limit):
                asked = demand if limit is None else min(demand, self._number(limit))
                return asked if skip is None else asked + self._number(skip)
            case _:
                share = self._rows[id(plan)] / max(self._rows[id(child)], 1e-9)
                return demand / min(share, 1.0) if share else _EVERYTHING
