"""The default physical operator for each logical one, where no rule chose another."""

from __future__ import annotations

from itertools import groupby
from typing import TypeAlias, assert_never

from hoplite.grammar import ast
from hoplite.planner import logical as lp
from hoplite.planner import physical as pp
from hoplite.planner.choices.rule import PhysicalOf
from hoplite.planner.parts import Assignment, AssignProperty, AssignTogether, SingleAssignment, Term
from hoplite.planner.tree import operators
from hoplite.planner.writes import has_writes

Writing: TypeAlias = lp.Create | lp.Merge | lp.SetProperties | lp.Delete | lp.Foreach


def plain(plan: lp.Plan, physical_of: PhysicalOf) -> pp.Plan:
    """The operator that corresponds to a logical one."""
    match plan:
        case lp.Argument(variables=variables):
            return pp.Argument(variables)
        case (
            lp.AllNodesScan()
            | lp.NodeByLabelScan()
            | lp.NodeIndexSeek()
            | lp.NodeIndexSearch()
            | lp.NodeByIdSeek()
            | lp.RelationshipTypeScan()
            | lp.RelationshipIndexSeek()
            | lp.RelationshipByIdSeek()
        ):
            return _finding(plan, physical_of(plan.source))
        case (
            lp.Expand()
            | lp.DistinctExpand()
            | lp.CountWalks()
            | lp.CountBranches()
            | lp.CountMatches()
            | lp.GetDegree()
            | lp.ProjectEndpoints()
            | lp.DistinctRelationships()
            | lp.ProjectPath()
        ):
            return _following(plan, physical_of(plan.source))
        case lp.GuidedExpand():
            return _guided(plan, physical_of)
        case lp.VarLengthExpand(pruning=True):
            return frontier(plan, physical_of)
        case lp.VarLengthExpand() | lp.Repeat() | lp.ShortestPath() | lp.StatefulShortestPath() | lp.SelectShortest():
            return _paths(plan, physical_of)
        case (
            lp.Apply()
            | lp.TransactionApply()
            | lp.ValueHashJoin()
            | lp.CartesianProduct()
            | lp.Union()
            | lp.ProcedureCall()
            | lp.LoadCSV()
            | lp.ShowRows()
        ):
            return _plans_and_calls(plan, physical_of)
        case lp.Create() | lp.Merge() | lp.SetProperties() | lp.Delete() | lp.Foreach():
            return pp.Write(physical_of(plan.source), (write_step(plan, physical_of),))
        case _:
            return _rows(plan, physical_of(plan.source))


_Finding: TypeAlias = (
    lp.AllNodesScan
    | lp.NodeByLabelScan
    | lp.NodeIndexSeek
    | lp.NodeIndexSearch
    | lp.NodeByIdSeek
    | lp.RelationshipTypeScan
    | lp.RelationshipIndexSeek
    | lp.RelationshipByIdSeek
)


def _finding(plan: _Finding, source: pp.Plan) -> pp.Plan:
    match plan:
        case lp.AllNodesScan(node=node):
            return pp.NodeScan(source, node, None, plan.stopped_early)
        case lp.NodeByLabelScan(node=node, label=label):
            return pp.NodeScan(source, node, label, plan.stopped_early)
        case lp.NodeIndexSeek(node=node, label=label, key=key, value=value):
            return pp.IndexSeek(source, node, label, key, value, plan.many, plan.unique, plan.index)
        case lp.NodeIndexSearch(node=node, label=label, key=key, conditions=conditions):
            return pp.IndexSearch(source, node, label, key, conditions, plan.index)
        case lp.NodeByIdSeek(node=node, value=value):
            return pp.IdSeek(source, node, value, plan.many, plan.by_element_id)
        case lp.RelationshipTypeScan(relationship=relationship, start=start, end=end):
            return pp.RelationshipScan(source, relationship, start, end, plan.types, plan.directed)
        case lp.RelationshipIndexSeek(relationship=relationship, start=start, end=end, type=type, key=key):
            value, many, directed = plan.value, plan.many, plan.directed
            return pp.RelationshipSeek(source, relationship, start, end, type, key, value, many, directed, plan.index)
        case lp.RelationshipByIdSeek(relationship=relationship, start=start, end=end, types=types, value=value):
            many, by_element_id = plan.many, plan.by_element_id
            return pp.RelationshipIdSeek(
                source, relationship, start, end, types, value, many, by_element_id, plan.directed
            )
        case _:
            assert_never(plan)


_Following: TypeAlias = (
    lp.Expand
    | lp.DistinctExpand
    | lp.CountWalks
    | lp.CountBranches
    | lp.CountMatches
    | lp.GetDegree
    | lp.ProjectEndpoints
    | lp.DistinctRelationships
    | lp.ProjectPath
)


def _following(plan: _Following, source: pp.Plan) -> pp.Plan:
    match plan:
        case lp.Expand(from_node=start, relationship=relationship, to_node=end, into=True):
            return pp.ExpandInto(source, start, relationship, end, plan.traversal, plan.keep)
        case lp.Expand(from_node=start, relationship=relationship, to_node=end):
            small = plan.stopped_early
            return pp.Expand(source, start, relationship, end, plan.traversal, plan.keep, small)
        case lp.DistinctExpand(from_node=start, to_node=end, hops=hops):
            return pp.DistinctExpand(source, start, end, hops, plan.keep, plan.merged, plan.reason)
        case lp.CountWalks(from_node=start, hops=hops, to_node=to_node, name=name):
            return pp.CountWalks(source, start, hops, to_node, name)
        case lp.CountBranches(branches=branches, name=name, present=present, keep=keep):
            return pp.CountBranches(source, branches, name, present, keep)
        case lp.CountMatches(steps=steps, branches=branches, name=name, end=matched, keep=keep):
            return pp.CountMatches(source, steps, branches, name, matched, keep)
        case lp.GetDegree():
            return pp.CountSteps(
                source,
                plan.from_node,
                plan.name,
                plan.traversal,
                plan.labels,
                plan.distinct_from,
                plan.keep,
            )
        case lp.ProjectEndpoints():
            return pp.FollowBound(
                source,
                plan.relationship,
                plan.start,
                plan.end,
                plan.start_bound,
                plan.end_bound,
                plan.traversal,
                plan.is_list,
            )
        case lp.DistinctRelationships(relationship=relationship, others=others):
            return pp.DistinctRelationships(source, relationship, others)
        case lp.ProjectPath(path=path, start=start, relationships=relationships):
            return pp.BuildPath(source, path, start, relationships)
        case _:
            assert_never(plan)


def frontier(plan: lp.VarLengthExpand, physical_of: PhysicalOf) -> pp.Reach:
    """The ends of trails, where only those matter."""
    return pp.Reach(
        physical_of(plan.source),
        plan.from_node,
        plan.relationship,
        plan.to_node,
        plan.traversal,
        plan.into,
        plan.step,
        plan.distinct_from,
        plan.merged,
        plan.reason,
    )


_Paths: TypeAlias = lp.VarLengthExpand | lp.Repeat | lp.ShortestPath | lp.StatefulShortestPath | lp.SelectShortest


def _paths(plan: _Paths, physical_of: PhysicalOf) -> pp.Plan:
    source = physical_of(plan.source)
    match plan:
        case lp.VarLengthExpand():
            return pp.Trails(
                source,
                plan.from_node,
                plan.relationship,
                plan.to_node,
                plan.traversal,
                plan.into,
                plan.step,
                plan.left_group,
                plan.right_group,
                plan.turned,
                plan.end_predicates,
                plan.reason,
            )
        case lp.Repeat(inner=inner):
            return pp.Repeat(
                source,
                physical_of(inner),
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
        case lp.ShortestPath():
            return pp.ShortestPaths(
                source,
                plan.from_node,
                plan.to_node,
                plan.relationship,
                plan.traversal,
                plan.every,
                plan.step,
                plan.path,
                plan.predicates,
            )
        case lp.StatefulShortestPath():
            return pp.ShortestTrails(
                source,
                plan.from_node,
                plan.relationship,
                plan.to_node,
                plan.traversal,
                plan.into,
                plan.step,
                plan.left_group,
                plan.right_group,
                plan.turned,
                plan.kind,
                plan.count,
                plan.predicates,
                plan.path,
            )
        case lp.SelectShortest(start=start, end=end, kind=kind, count=count, relationships=relationships):
            return pp.SelectShortest(source, start, end, kind, count, relationships)
        case _:
            assert_never(plan)


_Rows: TypeAlias = (
    lp.Filter
    | lp.Projection
    | lp.Select
    | lp.Reimport
    | lp.Distinct
    | lp.EagerAggregation
    | lp.NodeCountFromCountStore
    | lp.RelationshipCountFromCountStore
    | lp.Sort
    | lp.Top
    | lp.Skip
    | lp.Limit
    | lp.Unwind
    | lp.EmptyResult
    | lp.ProduceResults
)


def _rows(plan: _Rows, source: pp.Plan) -> pp.Plan:
    match plan:
        case lp.Filter(predicate=predicate):
            return pp.Filter(source, predicate, _is_arithmetic(predicate))
        case lp.Projection(items=items):
            return pp.Project(source, items, None)
        case lp.Select(names=names):
            return pp.Select(source, names)
        case lp.Reimport(names=names):
            return pp.Reimport(source, names)
        case lp.Distinct(names=names):
            return pp.Distinct(source, names)
        case lp.EagerAggregation(keys=keys, aggregates=aggregates):
            return pp.Aggregate(source, keys, aggregates)
        case lp.NodeCountFromCountStore(name=name, label=label):
            return pp.CountNodes(source, name, label)
        case lp.RelationshipCountFromCountStore(name=name, types=types):
            return pp.CountRelationships(source, name, types)
        case lp.Sort(keys=order):
            return pp.Sort(source, order)
        case lp.Top(keys=order, count=count, skip=skip):
            return pp.Top(source, order, count, skip, has_writes(plan.source))
        case lp.Skip(count=count):
            return pp.Cut(source, count, None, has_writes(plan.source))
        case lp.Limit(count=count):
            return pp.Cut(source, None, count, has_writes(plan.source))
        case lp.Unwind(expression=expression, variable=variable):
            return pp.Unwind(source, expression, variable)
        case lp.EmptyResult():
            return pp.Drain(source)
        case lp.ProduceResults(columns=columns):
            return pp.Results(source, columns)
        case _:
            assert_never(plan)


def _guided(plan: lp.GuidedExpand, physical_of: PhysicalOf) -> pp.GuidedExpand:
    ends = None if plan.ends is None else physical_of(plan.ends)
    source = physical_of(plan.source)
    return pp.GuidedExpand(source, plan.steps, plan.end_predicates, ends, plan.keep, plan.stopped_early)


_PlansAndCalls: TypeAlias = (
    lp.Apply
    | lp.TransactionApply
    | lp.ValueHashJoin
    | lp.CartesianProduct
    | lp.Union
    | lp.ProcedureCall
    | lp.LoadCSV
    | lp.ShowRows
)


def _plans_and_calls(plan: _PlansAndCalls, physical_of: PhysicalOf) -> pp.Plan:
    match plan:
        case lp.Apply(left=left, right=right, imports=imports, kind="unit"):
            return pp.ForEachRow(physical_of(left), physical_of(right), imports)
        case lp.Apply(left=left, right=right, imports=imports, added=added):
            optional = plan.kind == "optional"
            once_for = plan.once_for
            return pp.Apply(physical_of(left), physical_of(right), imports, added, optional, plan.row_by_row, once_for)
        case lp.TransactionApply(left=left, right=right):
            return pp.InTransactions(
                physical_of(left),
                physical_of(right),
                plan.imports,
                plan.added,
                plan.rows,
                plan.on_error,
                plan.status,
                plan.returns,
                plan.optional,
            )
        case lp.ValueHashJoin(left=left, right=right):
            return pp.HashJoin(physical_of(left), physical_of(right), plan.left_key, plan.right_key, plan.added)
        case lp.CartesianProduct(left=left, right=right, added=added):
            return pp.Product(physical_of(left), physical_of(right), added)
        case lp.Union(sources=sources, names=names):
            return pp.Union(tuple(map(physical_of, sources)), names)
        case lp.ProcedureCall(source=source, procedure=procedure, arguments=arguments, outputs=outputs):
            return pp.CallProcedure(physical_of(source), procedure, arguments, outputs, plan.yields, plan.optional)
        case lp.LoadCSV(source=source, url=url, variable=variable):
            return pp.LoadCsv(physical_of(source), url, variable, plan.with_headers, plan.field_terminator)
        case lp.ShowRows(source=source, kind=kind, qualifier=qualifier, names=names, outputs=outputs):
            return pp.Show(physical_of(source), kind, qualifier, names, outputs)
        case _:
            assert_never(plan)


# --- writing ---------------------------------------------------------------------------------------------------


def write_step(plan: Writing, physical_of: PhysicalOf) -> pp.WriteStep:
    """A writing clause as a step of `Write`."""
    match plan:
        case lp.Create(creations=creations):
            return pp.Create(creations)
        case lp.Merge(match=match, imports=imports, added=added, creations=creations):
            on_create, on_match = _assignments(plan.on_create), _assignments(plan.on_match)
            undirected = any(
                isinstance(part, lp.Expand) and part.traversal.direction is ast.Direction.BOTH
                for part in operators(match)
            )
            return pp.Merge(physical_of(match), imports, added, creations, on_create, on_match, undirected)
        case lp.SetProperties(assignments=assignments):
            return pp.Set(_assignments(assignments))
        case lp.Delete(expressions=expressions, detach=detach):
            return pp.Delete(expressions, detach)
        case lp.Foreach(variable=variable, list=values, body=body, imports=imports):
            return pp.Foreach(variable, values, physical_of(body), imports)
        case _:
            assert_never(plan)


def _assignments(assignments: tuple[SingleAssignment, ...]) -> tuple[Assignment, ...]:
    """Assignments in order; adjacent properties of one entity are set together, as Neo4j does, unless a key is
    computed.
    """
    items: list[Assignment] = []
    for subject, group in groupby(assignments, _subject_of_named):
        several = list(group)
        if subject is None or len(several) == 1:
            items.extend(several)
        else:
            entries = tuple(
                (a.key, a.value) for a in several if isinstance(a, AssignProperty) and isinstance(a.key, str)
            )
            items.append(AssignTogether(subject, entries))
    return tuple(items)


def _subject_of_named(assignment: SingleAssignment) -> Term | None:
    """The subject of an assignment whose key is written out."""
    named = isinstance(assignment, AssignProperty) and isinstance(assignment.key, str)
    return assignment.subject if isinstance(assignment, AssignProperty) and named else None


def _is_arithmetic(predicate: Term) -> bool:
    return isinstance(predicate, ast.Binary) and predicate.operator in ast.ARITHMETIC
