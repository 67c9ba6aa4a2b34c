"""The columns that operators must deliver, given those used above them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, assert_never

from hoplite.planner import logical as lp
from hoplite.planner.parts import (
    AggregateCall,
    Branch,
    CreateNode,
    CreateRelationship,
    Group,
    MatchCheck,
    MatchHop,
    MatchStep,
)
from hoplite.planner.tree import children, operators
from hoplite.planner.variables import free_variables

Names = frozenset[str]


def wanted_of(plan: lp.Plan) -> Names:
    """The columns of a whole plan."""
    match plan:
        case lp.ProduceResults(columns=columns):
            return frozenset(columns)
        case lp.Select(names=names) | lp.Distinct(names=names) | lp.Union(names=names):
            return frozenset(names)
        case lp.EmptyResult():
            return frozenset()
        case _:
            return every_name(plan)


def every_name(plan: lp.Plan) -> Names:
    """Every name that occurs in a plan: a superset of its columns."""
    known = _remembered.names
    if known is None:
        return _names_in(operators(plan))
    new: list[lp.Plan] = []
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if id(node) not in known:
            new.append(node)
            waiting += children(node)
    for node in reversed(new):
        below = [known[id(child)][1] for child in children(node)]
        known[id(node)] = (node, _names_in((node,)).union(*below))
    return known[id(plan)][1]


def _names_in(nodes: Iterable[lp.Plan]) -> Names:
    names: set[str] = set()
    for node in nodes:
        for field in fields(node):
            _collect(getattr(node, field.name), names)
    return frozenset(names)


class _Remembered(threading.local):
    """The names in each plan asked about, by the identity of the plan, which is kept alive for that."""

    names: dict[int, tuple[lp.Plan, Names]] | None = None


_remembered = _Remembered()


@contextmanager
def remembering_names() -> Iterator[None]:
    """Within the block, `every_name` remembers its answers: rules ask it again at each level of a deep plan."""
    _remembered.names = {}
    try:
        yield
    finally:
        _remembered.names = None


def _collect(value: Any, names: set[str]) -> None:
    if isinstance(value, str):
        names.add(value)
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, names)
    elif isinstance(value, Group | AggregateCall | CreateNode | CreateRelationship):
        for field in fields(value):
            _collect(getattr(value, field.name), names)


def names_of_matches(steps: tuple[MatchStep, ...], branches: tuple[Branch, ...]) -> Names:
    """The names that a counted pattern needs in the rows it starts from."""
    used = {branch.from_node for branch in branches}
    made: set[str] = set()
    for step in steps:
        match step:
            case MatchHop(from_node=from_node, relationship=relationship, hop=hop, into=into):
                used |= {from_node, *step.distinct_from}
                (used if into else made).add(hop.node)
                made.add(relationship)
            case MatchCheck(left=left, right=right):
                used |= {left, right}
    return frozenset(used - made)


def needed_below(plan: lp.Plan, child: lp.Plan, needed: Names) -> Names:
    """The columns that a child must deliver if those in `needed` are used above its parent."""
    match plan:
        case lp.Distinct(names=names):
            return frozenset(names)
        case lp.ProduceResults(columns=columns):
            return frozenset(columns)
        case lp.EmptyResult():
            return frozenset()
        case lp.EagerAggregation(keys=keys, aggregates=aggregates):
            terms = [term for _, term in keys] + [term for a in aggregates for term in a.terms]
            return free_variables(tuple(terms))
        case lp.Filter(predicate=predicate):
            return needed | free_variables(predicate)
        case lp.Projection(items=items):
            made = frozenset(name for name, _ in items)
            return (needed - made) | free_variables(tuple(term for _, term in items))
        case lp.Select(names=names):
            return needed & frozenset(names)
        case lp.Reimport(names=names):
            return needed - frozenset(names)
        case lp.Sort(keys=keys) | lp.Top(keys=keys):
            return needed | {key.name for key in keys}
        case lp.Skip() | lp.Limit() | lp.Union():
            return needed
        case lp.Unwind(expression=expression, variable=variable):
            return (needed - {variable}) | free_variables(expression)
        case lp.AllNodesScan() | lp.NodeByLabelScan() | lp.RelationshipTypeScan():
            return needed
        case (
            lp.NodeIndexSeek(value=value)
            | lp.NodeByIdSeek(value=value)
            | lp.RelationshipIndexSeek(value=value)
            | lp.RelationshipByIdSeek(value=value)
        ):
            return needed | free_variables(value)
        case lp.Expand(from_node=from_node, relationship=relationship, to_node=to_node, into=into):
            if into:
                return (needed - {relationship}) | {from_node, to_node}
            return (needed - {relationship, to_node}) | {from_node}
        case lp.GuidedExpand(source=source, steps=steps):
            if child is not source:
                return frozenset((steps[-1].hop.node,))
            made = frozenset(name for step in steps for name in (step.hop.node, step.relationship))
            return (needed - made) | names_of_matches(steps, ())
        case lp.DistinctExpand(from_node=from_node, to_node=to_node):
            return (needed - {to_node}) | {from_node}
        case lp.CountWalks(from_node=from_node, to_node=to_node, name=name):
            return (needed - {name, to_node}) | {from_node}
        case lp.CountBranches(branches=branches, name=name, present=present):
            counts = {name, *(column.name for column in present)}
            return (needed - counts) | {branch.from_node for branch in branches}
        case lp.CountMatches(steps=steps, branches=branches, name=name, end=end):
            return (needed - {name, end}) | names_of_matches(steps, branches)
        case lp.NodeIndexSearch(conditions=conditions):
            return needed | free_variables(tuple(c.value for c in conditions))
        case lp.GetDegree(from_node=from_node, name=name, distinct_from=others):
            return (needed - {name}) | {from_node, *others}
        case lp.VarLengthExpand(from_node=from_node, to_node=to_node, into=into, distinct_from=others):
            return (needed - {to_node}) | {from_node, *others} | ({to_node} if into else set())
        case lp.DistinctRelationships(relationship=relationship, others=others):
            return needed | {relationship, *others}
        case lp.ProjectPath(path=path, start=start, relationships=relationships):
            return (needed - {path}) | {start, *relationships}
        case lp.Apply(left=left, imports=imports, added=added):
            if child is left:
                return (needed - frozenset(added)) | frozenset(imports)
            return needed & frozenset(added)
        case lp.ValueHashJoin(left=left, left_key=left_key, right_key=right_key, added=added):
            if child is left:
                return (needed - frozenset(added)) | free_variables(left_key)
            return (needed & frozenset(added)) | free_variables(right_key)
        case lp.CartesianProduct(left=left, added=added):
            return needed - frozenset(added) if child is left else needed & frozenset(added)
        case (
            lp.Argument()
            | lp.Repeat()
            | lp.ShortestPath()
            | lp.StatefulShortestPath()
            | lp.SelectShortest()
            | lp.ProjectEndpoints()
            | lp.NodeCountFromCountStore()
            | lp.RelationshipCountFromCountStore()
            | lp.TransactionApply()
            | lp.ProcedureCall()
            | lp.LoadCSV()
            | lp.ShowRows()
            | lp.Create()
            | lp.Merge()
            | lp.SetProperties()
            | lp.Delete()
            | lp.Foreach()
        ):
            # They may use any column.
            return needed | every_name(plan)
        case _:
            assert_never(plan)
