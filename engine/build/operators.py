"""Turn a physical plan into operators: each node becomes its operator. Nothing is chosen here and no operator is
inspected: `planner/choose.py` has chosen.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import TypeAlias, assert_never

from hoplite.engine.batch import Batch
from hoplite.engine.build.steps import StepBuilder
from hoplite.engine.context import Execution
from hoplite.engine.expressions.compile import compile_expression
from hoplite.engine.functions.registry import Function
from hoplite.engine.operators import (
    aggregate,
    apply,
    branches,
    calls,
    chains,
    degrees,
    distinct_ends,
    expand,
    guided,
    load_csv,
    matches,
    paths,
    rows,
    scans,
    show,
    transactions,
    value_join,
    walks,
    writes,
)
from hoplite.engine.operators.base import FIRST_BATCH, LARGEST_BATCH, SMALL_BATCH, Evaluator, Operator
from hoplite.grammar import ast
from hoplite.planner import physical as pp
from hoplite.planner.parts import Branch, ChainHop, MatchCheck, MatchHop, SortKey, Step, Term
from hoplite.planner.plan_tree import first_source

_KEPT_SUBQUERIES = 1024


class _Ahead(threading.local):
    """Operators built before those above them, by the identity of their plans, which are kept alive for that."""

    def __init__(self) -> None:
        self.operators: dict[int, tuple[pp.Plan, Operator]] = {}


class OperatorBuilder:
    """Builds operators for one set of functions. Those of subqueries in expressions are built on first use."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self.functions = functions
        self._built: dict[int, tuple[pp.Plan, Operator]] = {}  # by the plan's identity; kept alive for it
        self._ahead = _Ahead()

    def run_plan(self, plan: pp.Plan, argument: Batch, context: Execution) -> Iterator[Batch]:
        """Run the plan of a subquery over the rows of an argument."""
        known = self._built.get(id(plan))
        if known is None:
            known = self._built[id(plan)] = (plan, self.build(plan))
            while len(self._built) > _KEPT_SUBQUERIES:
                self._built.pop(next(iter(self._built)), None)
        return known[1].run(context, argument)

    def build(self, plan: pp.Plan) -> Operator:
        """The operator of a plan, with everything below it.

        A long statement stacks up hundreds of operators: they are built from the bottom, without recursion.
        """
        ahead = self._ahead.operators
        built = ahead.pop(id(plan), None)
        if built is not None:
            return built[1]
        below = []
        source = first_source(plan)
        while source is not None:
            below.append(source)
            source = first_source(source)
        try:
            for source in reversed(below):
                ahead[id(source)] = (source, self._alone(source))
            return self._alone(plan)
        finally:
            for source in below:
                ahead.pop(id(source), None)

    def _alone(self, plan: pp.Plan) -> Operator:
        """The operator of a plan whose source is built. `Results` is represented by its source."""
        if isinstance(plan, pp.Results):
            return self.build(plan.source)
        operator = self.operator(plan)
        if not isinstance(plan, pp.Write):  # EXPLAIN shows its steps instead
            operator.plan = plan
        return operator

    def operator(self, plan: Running) -> Operator:
        """The operator of a plan whose source is built."""
        match plan:
            case pp.Argument():
                return scans.Argument()
            case (
                pp.NodeScan()
                | pp.IndexSeek()
                | pp.ParameterSeek()
                | pp.ElementsSeek()
                | pp.IndexSearch()
                | pp.IdSeek()
                | pp.RelationshipScan()
                | pp.RelationshipSeek()
                | pp.RelationshipIdSeek()
            ):
                return self._finding(plan)
            case (
                pp.Expand()
                | pp.ExpandInto()
                | pp.GuidedExpand()
                | pp.DistinctExpand()
                | pp.CountWalks()
                | pp.CountBranches()
                | pp.CountMatches()
                | pp.CountSteps()
                | pp.FollowBound()
                | pp.DistinctRelationships()
                | pp.BuildPath()
            ):
                return self._following(plan)
            case (
                pp.Reach() | pp.Trails() | pp.Repeat() | pp.ShortestPaths() | pp.ShortestTrails() | pp.SelectShortest()
            ):
                return self._repeated(plan)
            case (
                pp.Aggregate()
                | pp.CountEnds()
                | pp.DistinctEnds()
                | pp.CountPairs()
                | pp.CountNodes()
                | pp.CountRelationships()
            ):
                return self._aggregating(plan)
            case (
                pp.Apply()
                | pp.ForEachRow()
                | pp.InTransactions()
                | pp.HashJoin()
                | pp.Product()
                | pp.Union()
                | pp.CallProcedure()
                | pp.LoadCsv()
                | pp.Show()
            ):
                return self._plans_and_calls(plan)
            case pp.Write(source=source, steps=steps):
                return writes.Write(self.build(source), tuple(map(StepBuilder(self).step, steps)))
            case _:
                return self._rows(plan)

    def term(self, term: Term) -> Evaluator:
        """A compiled expression."""
        return compile_expression(term, self.functions)

    def terms(self, terms: tuple[Term, ...]) -> tuple[Evaluator, ...]:
        """Several compiled expressions."""
        return tuple(self.term(term) for term in terms)

    def _optional(self, term: Term | None) -> Evaluator | None:
        return None if term is None else self.term(term)

    def _named(self, items: tuple[tuple[str, Term], ...]) -> tuple[tuple[str, ...], tuple[Evaluator, ...]]:
        return tuple(name for name, _ in items), tuple(self.term(term) for _, term in items)

    # --- finding -----------------------------------------------------------------------------------------------

    def _finding(self, plan: _Finding) -> Operator:
        source = self.build(plan.source)
        match plan:
            case pp.NodeScan(node=node, label=label, small_first=small_first):
                return scans.NodeScan(source, node, label, FIRST_BATCH if small_first else LARGEST_BATCH)
            case pp.IndexSeek(node=node, label=label, key=key, value=value, many=many):
                return scans.IndexSeek(source, node, label, key, self.term(value), many)
            case pp.ParameterSeek(node=node, label=label, key=key, value=value):
                row_by_row = scans.IndexSeek(source, node, label, key, self.term(value), many=False)
                return scans.ParameterSeek(row_by_row, node, label, key, value.name)
            case pp.ElementsSeek(node=node, label=label, key=key, elements=elements, variable=variable):
                unwound = rows.Unwind(source, self.term(elements), variable)
                element = self.term(ast.Variable(variable))
                row_by_row = scans.IndexSeek(unwound, node, label, key, element, many=False)
                return scans.ElementsSeek(row_by_row, node, label, key, elements.name)
            case pp.IndexSearch(node=node, label=label, key=key, conditions=conditions):
                asked = tuple((c.operator, self._optional(c.value)) for c in conditions)
                return scans.IndexSearch(source, node, label, key, asked)
            case pp.IdSeek(node=node, value=value, many=many, by_element_id=by_element_id):
                return scans.IdSeek(source, node, scans.AskedIds(self.term(value), many, by_element_id))
            case pp.RelationshipScan(relationship=relationship, start=start, end=end, types=types):
                return scans.RelationshipScan(source, relationship, start, end, types, plan.directed)
            case pp.RelationshipSeek(relationship=relationship, start=start, end=end, type=type, key=key):
                wanted, many, directed = self.term(plan.value), plan.many, plan.directed
                return scans.RelationshipSeek(source, relationship, start, end, type, key, wanted, many, directed)
            case pp.RelationshipIdSeek(relationship=relationship, start=start, end=end, types=types):
                asked_for = scans.AskedIds(self.term(plan.value), plan.many, plan.by_element_id)
                return scans.RelationshipIdSeek(source, relationship, start, end, types, asked_for, plan.directed)
            case _:
                assert_never(plan)

    # --- following ---------------------------------------------------------------------------------------------

    def _following(self, plan: _Following) -> Operator:
        match plan:
            case pp.Expand(from_node=start, relationship=relationship, to_node=end, traversal=traversal):
                piece = SMALL_BATCH if plan.small_pieces else LARGEST_BATCH
                source = self.build(plan.source)
                return expand.Expand(source, start, relationship, end, traversal, plan.keep, piece)
            case pp.ExpandInto(from_node=start, relationship=relationship, to_node=end, traversal=traversal):
                source = self.build(plan.source)
                return expand.ExpandInto(source, start, relationship, end, traversal, plan.keep)
            case pp.GuidedExpand():
                return self._guided(plan)
            case pp.DistinctExpand():
                return self._chain(plan)
            case pp.CountWalks(from_node=start, to_node=to_node, name=name):
                return walks.CountWalks(self.build(plan.source), start, self._hops(plan.hops), to_node, name)
            case pp.CountBranches(branches=below, name=name, present=present, keep=keep):
                return branches.CountBranches(self.build(plan.source), self._branches(below), name, present, keep)
            case pp.CountMatches(steps=steps, branches=below, name=name, end=matched, keep=keep):
                source, made = self.build(plan.source), tuple(map(self._match_step, steps))
                return matches.CountMatches(source, made, self._branches(below), name, matched, keep)
            case pp.CountSteps():
                return degrees.CountSteps(
                    self.build(plan.source),
                    plan.from_node,
                    plan.name,
                    plan.traversal,
                    plan.labels,
                    plan.distinct_from,
                    plan.keep,
                )
            case pp.FollowBound():
                return expand.FollowBound(
                    self.build(plan.source),
                    plan.relationship,
                    plan.start,
                    plan.end,
                    plan.start_bound,
                    plan.end_bound,
                    plan.traversal,
                    plan.is_list,
                )
            case pp.DistinctRelationships(source=source_plan, relationship=relationship, others=others):
                return expand.DistinctRelationships(self.build(source_plan), relationship, others)
            case pp.BuildPath(source=source_plan, path=path, start=start, relationships=relationships):
                return expand.BuildPath(self.build(source_plan), path, start, relationships)
            case _:
                assert_never(plan)

    def _guided(self, plan: pp.GuidedExpand) -> guided.GuidedExpand:
        steps, asked = tuple(map(self._match_hop, plan.steps)), self.terms(plan.end_predicates)
        ends = None if plan.ends is None else self.build(plan.ends)
        piece = SMALL_BATCH if plan.small_pieces else LARGEST_BATCH
        return guided.GuidedExpand(self.build(plan.source), steps, asked, ends, plan.keep, piece)

    def _chain(self, plan: pp.DistinctExpand) -> chains.DistinctExpand:
        source, hops = self.build(plan.source), self._hops(plan.hops)
        chain = chains.DistinctExpand(source, plan.from_node, plan.to_node, hops, plan.keep, plan.merged)
        chain.plan = plan
        return chain

    def _branches(self, below: tuple[Branch, ...]) -> tuple[branches.Branch, ...]:
        return tuple(
            branches.Branch(b.from_node, self._hop(b.hop), b.labels, self._branches(b.branches), b.optional)
            for b in below
        )

    def _match_step(self, step: MatchHop | MatchCheck) -> matches.MatchHop | MatchCheck:
        return step if isinstance(step, MatchCheck) else self._match_hop(step)

    def _match_hop(self, step: MatchHop) -> matches.MatchHop:
        hop = self._hop(step.hop)
        return matches.MatchHop(
            step.from_node, step.relationship, hop, step.into, step.labels, step.distinct_from, step.to_few
        )

    def _hops(self, hops: tuple[ChainHop, ...]) -> tuple[chains.ChainHop, ...]:
        return tuple(map(self._hop, hops))

    def _hop(self, hop: ChainHop) -> chains.ChainHop:
        return chains.ChainHop(hop.traversal, hop.node, self.terms(hop.predicates))

    def _repeated(self, plan: _Repeated) -> Operator:
        match plan:
            case pp.Reach():
                return self._reach(plan)
            case pp.Trails():
                return self._trails(plan, self.terms(plan.end_predicates))
            case pp.Repeat():
                return paths.Repeat(
                    self.build(plan.source),
                    self.build(plan.inner),
                    plan.from_node,
                    plan.to_node,
                    plan.into,
                    plan.inner_start,
                    plan.inner_end,
                    plan.relationships,
                    plan.groups,
                    plan.trail,
                    plan.lower,
                    plan.upper,
                )
            case pp.ShortestPaths():
                return paths.ShortestPaths(
                    self.build(plan.source),
                    plan.from_node,
                    plan.to_node,
                    plan.relationship,
                    plan.traversal,
                    plan.every,
                    self.step_predicate(plan.step),
                    plan.path,
                    self.terms(plan.predicates),
                )
            case pp.ShortestTrails(kind=kind, path=path):
                count, predicates = self.term(plan.count), self.terms(plan.predicates)
                return paths.ShortestTrails(self._trails(plan, ()), kind, count, predicates, path)
            case pp.SelectShortest(source=source, start=start, end=end, kind=kind, relationships=relationships):
                return paths.SelectShortest(self.build(source), start, end, kind, self.term(plan.count), relationships)
            case _:
                assert_never(plan)

    def _reach(self, plan: pp.Reach) -> expand.Reach:
        reach = expand.Reach(
            self.build(plan.source),
            plan.from_node,
            plan.to_node,
            plan.traversal,
            plan.into,
            self.step_predicate(plan.step),
            plan.distinct_from,
            plan.merged,
        )
        reach.plan = plan
        return reach

    def _trails(self, plan: pp.Trails | pp.ShortestTrails, end_predicates: tuple[Evaluator, ...]) -> expand.Trails:
        return expand.Trails(
            self.build(plan.source),
            plan.from_node,
            plan.relationship,
            plan.to_node,
            plan.traversal,
            plan.into,
            self.step_predicate(plan.step),
            plan.left_group,
            plan.right_group,
            plan.turned,
            end_predicates,
        )

    def step_predicate(self, step: Step | None) -> expand.StepPredicate | None:
        """A predicate on each relationship of a path."""
        if step is None:
            return None
        return expand.StepPredicate(step.from_node, step.relationship, step.to_node, self.term(step.predicate))

    # --- rows --------------------------------------------------------------------------------------------------

    def _rows(self, plan: _Rows) -> Operator:
        source = self.build(plan.source)
        match plan:
            case pp.Filter(predicate=predicate, lenient=lenient):
                return rows.Filter(source, self.term(predicate), lenient)
            case pp.Project(items=items, kept=kept):
                return rows.Project(source, *self._named(items), kept)
            case pp.Select(names=names):
                return rows.Select(source, names)
            case pp.Reimport(names=names):
                return rows.Reimport(source, names)
            case pp.Distinct(names=names):
                return rows.Distinct(source, names)
            case pp.Sort(keys=keys):
                return rows.Sort(source, *_order(keys))
            case pp.Top(keys=keys, limit=limit, skip=skip, reads_all=reads_all):
                return rows.Top(source, *_order(keys), self.term(limit), self._optional(skip), reads_all)
            case pp.Cut(skip=skip, limit=limit, reads_all=reads_all):
                return rows.Cut(source, self._optional(skip), self._optional(limit), reads_all)
            case pp.Unwind(expression=expression, variable=variable):
                return rows.Unwind(source, self.term(expression), variable)
            case pp.UnwindRange(arguments=arguments, variable=variable):
                return rows.UnwindRange(source, self.terms(arguments), variable)
            case pp.Drain():
                return rows.Drain(source)
            case _:
                assert_never(plan)

    def _aggregating(self, plan: _Aggregating) -> Operator:
        match plan:
            case pp.Aggregate(source=source, keys=keys, aggregates=aggregates):
                called = tuple(
                    aggregate.AggregateCall(a.name, a.function, a.distinct, self.terms(a.terms), a.weight is not None)
                    for a in aggregates
                )
                return aggregate.Aggregate(self.build(source), *self._named(keys), called)
            case pp.CountEnds(ends=ends, name=name):
                reach = self._reach(ends)
                count = aggregate.AggregateCall(name, "count", True, (self.term(ast.Variable(ends.to_node)),))
                return distinct_ends.CountEnds(reach, aggregate.Aggregate(reach, (), (), (count,)), name)
            case pp.DistinctEnds(ends=ends, name=name, key=key):
                reach = self._reach(ends)
                value = self.term(ast.Property(ast.Variable(ends.to_node), key))
                compared = rows.Distinct(rows.Project(reach, (name,), (value,)), (name,))
                return distinct_ends.DistinctEnds(reach, compared, name, key)
            case pp.CountPairs(chain=chain_plan, keys=keys, counts=counts, keys_at_start=at_start):
                chain, (key_names, key_terms) = self._chain(chain_plan), self._named(keys)
                names, values = self._named(counts)
                called = tuple(
                    aggregate.AggregateCall(name, "count", True, (value,))
                    for name, value in zip(names, values, strict=True)
                )
                row_by_row = aggregate.Aggregate(chain, key_names, key_terms, called)
                return chains.CountPairs(chain, row_by_row, key_names, key_terms, names, values, at_start)
            case pp.CountNodes(source=source, name=name, label=label):
                return scans.CountNodes(self.build(source), name, label)
            case pp.CountRelationships(source=source, name=name, types=types):
                return scans.CountRelationships(self.build(source), name, types)
            case _:
                assert_never(plan)

    # --- nested plans ------------------------------------------------------------------------------------

    def _plans_and_calls(self, plan: _PlansAndCalls) -> Operator:
        build = self.build
        match plan:
            case pp.Apply(left=left, right=right, imports=imports, added=added, optional=optional):
                once_for = plan.once_for
                return apply.Apply(build(left), build(right), imports, added, optional, plan.row_by_row, once_for)
            case pp.ForEachRow(left=left, right=right, imports=imports):
                return apply.ForEachRow(build(left), build(right), imports)
            case pp.InTransactions(left=left, right=right):
                return transactions.InTransactions(
                    build(left),
                    build(right),
                    plan.imports,
                    plan.added,
                    self.term(plan.rows),
                    plan.on_error,
                    plan.status,
                    plan.returns,
                    plan.optional,
                )
            case pp.HashJoin(left=left, right=right, added=added):
                keys = self.term(plan.left_key), self.term(plan.right_key)
                return value_join.HashJoin(build(left), build(right), *keys, added)
            case pp.Product(left=left, right=right, added=added):
                return apply.Product(build(left), build(right), added)
            case pp.Union(sources=sources, names=names):
                return rows.Union(tuple(map(build, sources)), names)
            case pp.CallProcedure(source=source, procedure=procedure, outputs=outputs):
                arguments = self.terms(plan.arguments)
                return calls.CallProcedure(build(source), procedure, arguments, outputs, plan.yields, plan.optional)
            case pp.LoadCsv(source=source, url=url, variable=variable, with_headers=with_headers):
                address, terminator = self.term(url), plan.field_terminator
                return load_csv.LoadCsv(build(source), address, variable, with_headers, terminator)
            case pp.Show(source=source, kind=kind, qualifier=qualifier, names=names, outputs=outputs):
                return show.Show(build(source), kind, qualifier, self.terms(names), outputs)
            case _:
                assert_never(plan)


def _order(keys: tuple[SortKey, ...]) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    return tuple(key.name for key in keys), tuple(key.descending for key in keys)


_Finding: TypeAlias = (
    pp.NodeScan
    | pp.IndexSeek
    | pp.ParameterSeek
    | pp.ElementsSeek
    | pp.IndexSearch
    | pp.IdSeek
    | pp.RelationshipScan
    | pp.RelationshipSeek
    | pp.RelationshipIdSeek
)
_Following: TypeAlias = (
    pp.Expand
    | pp.ExpandInto
    | pp.GuidedExpand
    | pp.DistinctExpand
    | pp.CountWalks
    | pp.CountBranches
    | pp.CountMatches
    | pp.CountSteps
    | pp.FollowBound
    | pp.DistinctRelationships
    | pp.BuildPath
)
_Repeated: TypeAlias = pp.Reach | pp.Trails | pp.Repeat | pp.ShortestPaths | pp.ShortestTrails | pp.SelectShortest
_Rows: TypeAlias = (
    pp.Filter
    | pp.Project
    | pp.Select
    | pp.Reimport
    | pp.Distinct
    | pp.Sort
    | pp.Top
    | pp.Cut
    | pp.Unwind
    | pp.UnwindRange
    | pp.Drain
)
_Aggregating: TypeAlias = (
    pp.Aggregate | pp.CountEnds | pp.DistinctEnds | pp.CountPairs | pp.CountNodes | pp.CountRelationships
)
_PlansAndCalls: TypeAlias = (
    pp.Apply
    | pp.ForEachRow
    | pp.InTransactions
    | pp.HashJoin
    | pp.Product
    | pp.Union
    | pp.CallProcedure
    | pp.LoadCsv
    | pp.Show
)
Running: TypeAlias = pp.Argument | _Finding | _Following | _Repeated | _Rows | _Aggregating | _PlansAndCalls | pp.Write
