"""From a logical plan to operators that run: expressions are compiled, and each step gets the form that computes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import assert_never

from hoplite.engine.batch import Batch
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
    load_csv,
    making,
    merging,
    paths,
    row_values,
    rows,
    scans,
    setting,
    show,
    transactions,
    walks,
    writes,
)
from hoplite.engine.operators.base import FIRST_BATCH, LARGEST_BATCH, SMALL_BATCH, Evaluator, Operator
from hoplite.grammar import ast
from hoplite.grammar.tree import contains
from hoplite.planner import logical as lp
from hoplite.planner.logical import PlannedSubquery
from hoplite.planner.tree import operators
from hoplite.planner.variables import free_variables
from hoplite.planner.writes import plan_writes

Functions = Mapping[str, Function]

_READS_GRAPH = (ast.Property, ast.Index, ast.HasLabels, ast.FunctionCall, ast.MapProjection, PlannedSubquery)


_KEPT_SUBQUERIES = 1024


class Lowering:
    """Lowers plans for one set of functions. Subquery plans inside expressions are lowered once, when first run."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self._lowered: dict[int, tuple[lp.Plan, Operator]] = {}  # by the identity of the plan, which is kept for that

    def operator_for(self, plan: lp.Plan) -> Operator:
        """The operator of a plan, made at most once."""
        known = self._lowered.get(id(plan))
        if known is None:
            known = self._lowered[id(plan)] = (plan, self.lower(plan))
            while len(self._lowered) > _KEPT_SUBQUERIES:
                self._lowered.pop(next(iter(self._lowered)), None)
        return known[1]

    def run_plan(self, plan: lp.Plan, argument: Batch, context: Execution) -> Iterator[Batch]:
        """Run the plan of a subquery over the rows of an argument."""
        return self.operator_for(plan).run(context, argument)

    def term(self, term: lp.Term) -> Evaluator:
        """A compiled expression."""
        return compile_expression(term, self.functions)

    def terms(self, terms: tuple[lp.Term, ...]) -> tuple[Evaluator, ...]:
        """Several compiled expressions."""
        return tuple(self.term(term) for term in terms)

    def branches(self, below: tuple[lp.Branch, ...]) -> tuple[branches.Branch, ...]:
        """Branches with their predicates compiled."""
        return tuple(
            branches.Branch(b.from_node, self.chain((b.hop,))[0], b.labels, self.branches(b.branches), b.optional)
            for b in below
        )

    def chain(self, steps: tuple[lp.ChainHop, ...]) -> tuple[chains.ChainHop, ...]:
        """The hops of a chain."""
        return tuple(chains.ChainHop(hop.types, hop.direction, hop.node, self.terms(hop.predicates)) for hop in steps)

    def row_value(self, term: lp.Term) -> row_values.RowValue:
        """An expression that a writing clause evaluates row by row."""
        reads_graph = contains(term, lambda node: isinstance(node, _READS_GRAPH))
        has_subquery = contains(term, lambda node: isinstance(node, PlannedSubquery))
        keys = None if has_subquery else _keys_read(term)
        return row_values.RowValue(self.term(term), free_variables(term), reads_graph, has_subquery, keys)

    def step(self, step: lp.Step | None) -> expand.StepPredicate | None:
        """A predicate on each relationship of a path."""
        if step is None:
            return None
        return expand.StepPredicate(step.from_node, step.relationship, step.to_node, self.term(step.predicate))

    def lower(self, plan: lp.Plan) -> Operator:
        """The operator for a plan and everything below it."""
        lower = self.lower
        match plan:
            case lp.Argument():
                return scans.Argument()
            case lp.AllNodesScan(source=source, node=node):
                return scans.NodeScan(lower(source), node, None, _first_batch(plan.stopped_early))
            case lp.NodeByLabelScan(source=source, node=node, label=label):
                return scans.NodeScan(lower(source), node, label, _first_batch(plan.stopped_early))
            case lp.NodeIndexSeek(source=source, node=node, label=label, key=key, value=value, many=many):
                alone = isinstance(source, lp.Argument) and isinstance(value, ast.Parameter) and not many
                parameter = value.name if alone and isinstance(value, ast.Parameter) else None
                return scans.IndexSeek(lower(source), node, label, key, self.term(value), many, parameter)
            case lp.NodeIndexSearch(source=source, node=node, label=label, key=key, conditions=conditions):
                asked = tuple((c.operator, None if c.value is None else self.term(c.value)) for c in conditions)
                return scans.IndexSearch(lower(source), node, label, key, asked)
            case lp.NodeByIdSeek(source=source, node=node, value=value, many=many):
                return scans.IdSeek(lower(source), node, self.term(value), many, plan.by_element_id)
            case lp.RelationshipTypeScan(source=source):
                return scans.RelationshipScan(
                    lower(source), plan.relationship, plan.start, plan.end, plan.types, plan.directed
                )
            case lp.RelationshipIndexSeek(source=source):
                return scans.RelationshipSeek(
                    lower(source),
                    plan.relationship,
                    plan.start,
                    plan.end,
                    plan.type,
                    plan.key,
                    self.term(plan.value),
                    plan.many,
                    plan.directed,
                )
            case lp.Expand(source=source, into=into):
                ends = (plan.from_node, plan.relationship, plan.to_node)
                if into:
                    return expand.ExpandInto(lower(source), *ends, plan.types, plan.direction, plan.keep)
                piece = SMALL_BATCH if plan.stopped_early else LARGEST_BATCH
                return expand.Expand(lower(source), *ends, plan.types, plan.direction, plan.keep, piece)
            case lp.DistinctExpand(source=source):
                steps = self.chain(plan.hops)
                return chains.DistinctExpand(lower(source), plan.from_node, plan.to_node, steps, plan.keep, plan.merged)
            case lp.CountWalks(source=source):
                steps = self.chain(plan.hops)
                return walks.CountWalks(lower(source), plan.from_node, steps, plan.to_node, plan.name)
            case lp.CountBranches(source=source):
                return branches.CountBranches(lower(source), self.branches(plan.branches), plan.name, plan.keep)
            case lp.GetDegree(source=source):
                return degrees.CountSteps(
                    lower(source),
                    plan.from_node,
                    plan.name,
                    plan.types,
                    plan.direction,
                    plan.lower,
                    plan.upper,
                    plan.labels,
                    plan.distinct_from,
                    plan.keep,
                )
            case lp.VarLengthExpand():
                return self._var_length(plan)
            case lp.Repeat(source=source, inner=inner):
                return paths.Repeat(
                    lower(source),
                    lower(inner),
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
            case lp.ShortestPath(source=source):
                return paths.ShortestPaths(
                    lower(source),
                    plan.from_node,
                    plan.to_node,
                    plan.relationship,
                    plan.types,
                    plan.direction,
                    plan.lower,
                    plan.upper,
                    plan.every,
                    self.step(plan.step),
                    plan.path,
                    self.terms(plan.predicates),
                )
            case lp.StatefulShortestPath(source=source):
                return paths.ShortestTrails(
                    expand.Trails(
                        lower(source),
                        plan.from_node,
                        plan.relationship,
                        plan.to_node,
                        plan.types,
                        plan.direction,
                        plan.lower,
                        plan.upper,
                        plan.into,
                        self.step(plan.step),
                        plan.left_group,
                        plan.right_group,
                        plan.turned,
                    ),
                    plan.kind,
                    self.term(plan.count),
                    self.terms(plan.predicates),
                    plan.path,
                )
            case lp.SelectShortest(source=source):
                return paths.SelectShortest(
                    lower(source), plan.start, plan.end, plan.kind, self.term(plan.count), plan.relationships
                )
            case lp.ProjectEndpoints(source=source):
                return expand.FollowBound(
                    lower(source),
                    plan.relationship,
                    plan.start,
                    plan.end,
                    plan.start_bound,
                    plan.end_bound,
                    plan.types,
                    plan.direction,
                    plan.lower,
                    plan.upper,
                )
            case lp.DistinctRelationships(source=source, relationship=relationship, others=others):
                return expand.DistinctRelationships(lower(source), relationship, others)
            case lp.ProjectPath(source=source, path=path, start=start, relationships=relationships):
                return expand.BuildPath(lower(source), path, start, relationships)
            case lp.Filter(source=source, predicate=predicate):
                return rows.Filter(lower(source), self.term(predicate), _is_arithmetic(predicate))
            case lp.Projection(source=source, items=items):
                names = tuple(name for name, _ in items)
                return rows.Project(lower(source), names, self.terms(tuple(term for _, term in items)))
            case lp.Select(source=source, names=names):
                below = lower(source)
                if isinstance(below, distinct_ends.DistinctEnds) and names == (below.name,):
                    return below
                if isinstance(below, rows.Project):
                    return rows.Project(below.source, below.names, below.evaluators, names)
                return rows.Select(below, names)
            case lp.Reimport(source=source, names=names):
                return rows.Reimport(lower(source), names)
            case lp.Distinct(
                source=lp.Projection(
                    source=lp.VarLengthExpand(merged=True, to_node=end) as ends,
                    items=((name, ast.Property(subject=ast.Variable(name=variable), key=key)),),
                ),
                names=(kept,),
            ) if end == variable and name == kept:
                reach = self._var_length(ends)
                assert isinstance(reach, expand.Reach), "A merged frontier reaches."
                return distinct_ends.DistinctEnds(reach, rows.Distinct(lower(plan.source), (name,)), name, key)
            case lp.Distinct(source=source, names=names):
                return rows.Distinct(lower(source), names)
            case lp.EagerAggregation(source=source, keys=keys, aggregates=aggregates):
                aggregated = aggregate.Aggregate(
                    lower(source),
                    tuple(name for name, _ in keys),
                    self.terms(tuple(term for _, term in keys)),
                    tuple(
                        aggregate.AggregateCall(a.name, a.function, a.distinct, self.terms(a.arguments))
                        for a in aggregates
                    ),
                )
                reached = aggregated.source
                match aggregates:
                    case (lp.Aggregate(function="count", distinct=True, arguments=(ast.Variable(name=counted),)),) if (
                        not keys and isinstance(reached, expand.Reach) and reached.merged and reached.to_node == counted
                    ):
                        return distinct_ends.CountEnds(reached, aggregated, aggregates[0].name)
                if plan.keys_at is not None and isinstance(reached, chains.DistinctExpand):
                    return chains.CountPairs(
                        reached,
                        aggregated,
                        aggregated.key_names,
                        aggregated.keys,
                        tuple(a.name for a in aggregates),
                        tuple(call.arguments[0] for call in aggregated.calls),
                        plan.keys_at == "start",
                    )
                return aggregated
            case lp.NodeCountFromCountStore(source=source, name=name, label=counted):
                return scans.CountNodes(lower(source), name, counted)
            case lp.RelationshipCountFromCountStore(source=source, name=name, types=types):
                return scans.CountRelationships(lower(source), name, types)
            case lp.Sort(source=source, keys=keys):
                return rows.Sort(lower(source), *_order(keys))
            case lp.Top(source=source, keys=keys, count=count, skip=skip):
                skipped = None if skip is None else self.term(skip)
                return rows.Top(lower(source), *_order(keys), self.term(count), skipped, plan_writes(source))
            case lp.Skip(source=source, count=count):
                return rows.Cut(lower(source), self.term(count), None, plan_writes(source))
            case lp.Limit(source=lp.Skip(source=source, count=skip), count=count):
                return rows.Cut(lower(source), self.term(skip), self.term(count), plan_writes(source))
            case lp.Limit(source=source, count=count):
                return rows.Cut(lower(source), None, self.term(count), plan_writes(source))
            case lp.Unwind(
                source=source, expression=ast.FunctionCall(name=name, arguments=arguments), variable=variable
            ) if name.lower() == "range":
                return rows.UnwindRange(lower(source), self.terms(arguments), variable)
            case lp.Unwind(source=source, expression=expression, variable=variable):
                return rows.Unwind(lower(source), self.term(expression), variable)
            case lp.Union(sources=sources, names=names):
                return rows.Union(tuple(lower(s) for s in sources), names)
            case lp.Apply(left=left, right=right, kind="unit", imports=imports):
                return apply.ForEachRow(lower(left), lower(right), imports)
            case lp.Apply(left=left, right=right, imports=imports, added=added):
                return apply.Apply(lower(left), lower(right), imports, added, plan.kind == "optional", plan.row_by_row)
            case lp.TransactionApply(left=left, right=right, imports=imports, added=added):
                return transactions.InTransactions(
                    lower(left),
                    lower(right),
                    imports,
                    added,
                    self.term(plan.rows),
                    plan.on_error,
                    plan.status,
                    plan.returns,
                    plan.optional,
                )
            case lp.ValueHashJoin(left=left, right=right):
                return apply.HashJoin(
                    lower(left), lower(right), self.term(plan.left_key), self.term(plan.right_key), plan.added
                )
            case lp.CartesianProduct(left=left, right=right, added=added):
                return apply.Product(lower(left), lower(right), added)
            case lp.ProcedureCall(source=source):
                return calls.CallProcedure(
                    lower(source),
                    plan.procedure,
                    self.terms(plan.arguments),
                    plan.outputs,
                    plan.yields,
                    plan.optional,
                )
            case lp.LoadCSV(source=source, url=url, variable=variable):
                return load_csv.LoadCsv(
                    lower(source), self.term(url), variable, plan.with_headers, plan.field_terminator
                )
            case lp.ShowRows(source=source, kind=kind, qualifier=qualifier, names=asked, columns=columns):
                return show.Show(lower(source), kind, qualifier, self.terms(asked), columns)
            case lp.Create() | lp.Merge() | lp.SetProperties() | lp.Delete() | lp.Foreach():
                return self._writing(plan)
            case lp.EmptyResult(source=source):
                return rows.Drain(lower(source))
            case lp.ProduceResults(source=source):
                return lower(source)
            case _:
                assert_never(plan)

    def _writing(self, plan: lp.Plan) -> Operator:
        """A run of writing clauses as one operator: scripts have hundreds of them in a row."""
        steps: list[writes.Step] = []
        while True:
            match plan:
                case lp.Create(source=source, creations=creations):
                    steps.append(writes.Create(tuple(self._creation(c) for c in creations)))
                case lp.Merge(source=source):
                    steps.append(
                        merging.Merge(
                            self.lower(plan.match),
                            plan.imports,
                            plan.added,
                            tuple(self._creation(c) for c in plan.creations),
                            self._assignments(plan.on_create),
                            self._assignments(plan.on_match),
                            any(
                                isinstance(part, lp.Expand) and part.direction is ast.Direction.BOTH
                                for part in operators(plan.match)
                            ),
                        )
                    )
                case lp.SetProperties(source=source, assignments=assignments):
                    steps.append(writes.Set(self._assignments(assignments)))
                case lp.Delete(source=source, expressions=expressions, detach=detach):
                    steps.append(writes.Delete(self.terms(expressions), detach))
                case lp.Foreach(source=source, variable=variable, body=body, imports=imports):
                    values = self.row_value(plan.list)
                    steps.append(writes.Foreach(variable, values, self.lower(body), imports))
                case _:
                    return writes.Writing(self.lower(plan), tuple(reversed(steps)))
            plan = source

    def _starts(self, plan: lp.VarLengthExpand) -> Operator:
        """What finds the nodes that an expansion starts from."""
        source = self.lower(plan.source)
        match plan.source:
            case (
                lp.NodeIndexSeek(
                    source=lp.Unwind(source=lp.Argument(), expression=ast.Parameter(name=elements), variable=variable),
                    value=ast.Variable(name=wanted),
                    many=False,
                ) as seek
            ) if plan.merged and wanted == variable and isinstance(source, scans.IndexSeek):
                return scans.SeekElements(source, seek.node, seek.label, seek.key, elements)
        return source

    def _var_length(self, plan: lp.VarLengthExpand) -> Operator:
        source, step = self._starts(plan), self.step(plan.step)
        if plan.pruning:
            return expand.Reach(
                source,
                plan.from_node,
                plan.to_node,
                plan.types,
                plan.direction,
                plan.lower,
                plan.upper,
                plan.into,
                step,
                plan.distinct_from,
                plan.merged,
            )
        return expand.Trails(
            source,
            plan.from_node,
            plan.relationship,
            plan.to_node,
            plan.types,
            plan.direction,
            plan.lower,
            plan.upper,
            plan.into,
            step,
            plan.left_group,
            plan.right_group,
            plan.turned,
            self.terms(plan.end_predicates),
        )

    def _names(self, names: tuple[str | lp.Term, ...]) -> tuple[str | row_values.RowValue, ...]:
        return tuple(name if isinstance(name, str) else self.row_value(name) for name in names)

    def _name(self, name: str | lp.Term) -> str | row_values.RowValue:
        return name if isinstance(name, str) else self.row_value(name)

    def _optional(self, term: lp.Term | None) -> row_values.RowValue | None:
        return None if term is None else self.row_value(term)

    def _creation(self, creation: lp.Creation) -> making.ToMake:
        match creation:
            case lp.CreateNode(variable=variable, labels=labels, properties=properties):
                return making.NodeToMake(variable, self._names(labels), self._optional(properties))
            case lp.CreateRelationship(variable=variable, start=start, end=end, properties=properties):
                return making.RelationshipToMake(
                    variable, start, end, self._name(creation.type), self._optional(properties)
                )
            case _:
                assert_never(creation)

    def _assignments(self, assignments: tuple[lp.Assignment, ...]) -> tuple[setting.ToSet, ...]:
        """Assignments in order; properties of one entity side by side are set together, as Neo4j does, unless a key is
        computed.
        """
        items: list[setting.ToSet] = []
        for subject, group in groupby(assignments, _subject_of_named):
            several = [a for a in group if isinstance(a, lp.AssignProperty)] if subject is not None else []
            if len(several) > 1:
                entries = tuple((self._name(a.key), self.row_value(a.value)) for a in several)
                items.append(setting.SeveralToSet(self.row_value(several[0].subject), entries))
            else:
                items.extend(self._assignment(a) for a in several or group)
        return tuple(items)

    def _assignment(self, assignment: lp.Assignment) -> setting.ToSet:
        match assignment:
            case lp.AssignProperty(subject=subject, key=key, value=value):
                return setting.PropertyToSet(self.row_value(subject), self._name(key), self.row_value(value))
            case lp.DropProperty(subject=subject, key=key):
                return setting.PropertyToSet(self.row_value(subject), self._name(key), None)
            case lp.AssignProperties(variable=variable, value=value, merge=merge):
                written = f"${value.name}" if isinstance(value, ast.Parameter) else None
                return setting.PropertiesToSet(variable, self.row_value(value), merge, written)
            case lp.AddLabels(variable=variable, labels=labels):
                return setting.LabelsToSet(variable, self._names(labels), remove=False)
            case lp.DropLabels(variable=variable, labels=labels):
                return setting.LabelsToSet(variable, self._names(labels), remove=True)
            case _:
                assert_never(assignment)


def _first_batch(stopped_early: bool) -> int:
    return FIRST_BATCH if stopped_early else LARGEST_BATCH


def _subject_of_named(assignment: lp.Assignment) -> lp.Term | None:
    """Whose property is set, where its key is written down."""
    named = isinstance(assignment, lp.AssignProperty) and isinstance(assignment.key, str)
    return assignment.subject if isinstance(assignment, lp.AssignProperty) and named else None


def _keys_read(term: lp.Term) -> frozenset[str] | None:
    """The property keys that an expression reads; None where it may look at more of a node or relationship."""
    keys: set[str] = set()

    def looks_at_more(node: object) -> bool:
        match node:
            case ast.Property(key=key):
                keys.add(key)
                return False
            case ast.FunctionCall(arguments=arguments):
                return any(isinstance(argument, ast.Variable) for argument in arguments)
            case ast.Index() | ast.HasLabels() | ast.MapProjection() | PlannedSubquery():
                return True
            case _:
                return isinstance(node, ast.ListComprehension | ast.Quantifier | ast.Reduce)

    return None if contains(term, looks_at_more) else frozenset(keys)


def _is_arithmetic(predicate: lp.Term) -> bool:
    return isinstance(predicate, ast.Binary) and predicate.operator in ("+", "-", "*", "/", "%", "^", "||")


def _order(keys: tuple[lp.SortKey, ...]) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    return tuple(key.name for key in keys), tuple(key.descending for key in keys)
