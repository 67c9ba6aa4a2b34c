"""EXPLAIN: a physical plan as a text table. `plan_description` makes the form that summaries show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias, assert_never, get_args

from hoplite.grammar import ast
from hoplite.grammar.hidden import HIDDEN
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import physical as pp
from hoplite.planner.parts import (
    AddLabels,
    AggregateCall,
    Assignment,
    AssignProperties,
    AssignProperty,
    AssignTogether,
    Branch,
    ChainHop,
    DropLabels,
    DropProperty,
    MatchCheck,
    MatchHop,
    SortKey,
    Term,
    Traversal,
)
from hoplite.planner.plan_tree import chain
from hoplite.planner.unparse import unparse

PlanFormat: TypeAlias = Literal["text", "json"]


@dataclass(frozen=True, slots=True)
class Line:
    """An operator as EXPLAIN shows it: Neo4j's name, details, and how it is computed here."""

    name: str
    details: str
    computed: str = ""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one operator did in a run: rows emitted, and seconds spent in it and below it.

    `cache`, for a graph on disk: how often a partition or column was found in the cache, loaded and evicted.
    """

    rows: int
    seconds: float
    cache: tuple[int, int, int] | None = None


NOT_RUN = Measurement(0, 0.0)


def describe(node: pp.Shown) -> Line:
    """The line of one operator."""
    match node:
        case pp.Argument(variables=variables):
            return Line("Argument", ", ".join(_shown(variables)))
        case pp.NodeScan(node=name, label=None):
            return Line("AllNodesScan", named(name))
        case pp.NodeScan(node=name, label=label):
            return Line("NodeByLabelScan", f"{named(name)}:{label}")
        case pp.IndexSeek(many=many, value=value):
            return _seek(node, f"{'IN' if many else '='} {_term(value)}")
        case pp.ParameterSeek(value=value):
            return _seek(node, f"= {_term(value)}", "one look-up")
        case pp.ElementsSeek(elements=elements):
            return _seek(node, f"IN {_term(elements)}", "all elements at once")
        case pp.IndexSearch():
            return _search(node)
        case pp.IdSeek(node=name, value=value, many=many, by_element_id=by_element_id):
            operator = "NodeByElementIdSeek" if by_element_id else "NodeByIdSeek"
            return Line(operator, f"{named(name)} WHERE {_by_id(name, value, many, by_element_id)}")
        case pp.RelationshipScan() | pp.RelationshipSeek() | pp.RelationshipIdSeek():
            return _relationships(node)
        case (
            pp.Expand()
            | pp.ExpandInto()
            | pp.GuidedExpand()
            | pp.DistinctExpand()
            | pp.CountWalks()
            | pp.CountBranches()
            | pp.CountMatches()
            | pp.CountSteps()
            | pp.Reach()
            | pp.Trails()
            | pp.Repeat()
            | pp.ShortestPaths()
            | pp.ShortestTrails()
            | pp.SelectShortest()
        ):
            return _hops(node)
        case pp.FollowBound(relationship=relationship, start=start, end=end):
            return Line("ProjectEndpoints", f"({named(start)})-[{named(relationship)}]-({named(end)})")
        case pp.DistinctRelationships(relationship=relationship, others=others):
            parts = [f"NOT {named(relationship)} = {named(other)}" for other in others]
            return Line("Filter", " AND ".join(parts), "relationships differ")
        case pp.BuildPath(path=path):
            return Line("Projection", f"path AS {named(path)}")
        case (
            pp.DistinctEnds()
            | pp.Aggregate()
            | pp.CountEnds()
            | pp.CountPairs()
            | pp.CountNodes()
            | pp.CountRelationships()
        ):
            return _aggregation(node)
        case pp.Create() | pp.Merge() | pp.Set() | pp.Delete() | pp.Foreach():
            return _write(node)
        case pp.Write(steps=steps):
            return _write(steps[-1])
        case pp.ForEachRow() | pp.Apply() | pp.InTransactions() | pp.HashJoin() | pp.Product() | pp.Union():
            return _plans(node)
        case pp.CallProcedure(procedure=procedure, arguments=arguments):
            return Line("ProcedureCall", f"{procedure}({', '.join(map(_term, arguments))})")
        case pp.Show(kind=kind):
            return Line(f"Show{kind.capitalize()}", "")
        case pp.LoadCsv(variable=variable):
            return Line("LoadCSV", named(variable))
        case _:
            return _rows(node)


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
    | pp.Results
)


def _rows(node: _Rows) -> Line:
    match node:
        case pp.Filter(predicate=predicate):
            return Line("Filter", _term(predicate))
        case pp.Project(items=items):
            return Line("Projection", _items(items))
        case pp.Select(names=names):
            return Line("Projection", ", ".join(_shown(names)))
        case pp.Reimport(names=names):
            return Line("Projection", ", ".join(_shown(names)), "of the outer row")
        case pp.Distinct(names=names):
            return Line("Distinct", ", ".join(_shown(names)))
        case pp.Sort(keys=keys):
            return Line("Sort", order_of(keys))
        case pp.Top(keys=keys, limit=limit, skip=skip):
            skipped = "" if skip is None else f" SKIP {_term(skip)}"
            return Line("Top", f"{order_of(keys)}{skipped} LIMIT {_term(limit)}")
        case pp.Cut(skip=skip, limit=limit):
            if limit is None:
                return Line("Skip", "" if skip is None else _term(skip))
            return Line("Limit", _term(limit) if skip is None else f"SKIP {_term(skip)} LIMIT {_term(limit)}")
        case pp.Unwind(expression=expression, variable=variable):
            return Line("Unwind", f"{_term(expression)} AS {named(variable)}")
        case pp.UnwindRange(arguments=arguments, variable=variable):
            called = f"range({', '.join(map(_term, arguments))})"
            return Line("Unwind", f"{called} AS {named(variable)}", "numbers, never a list")
        case pp.Drain():
            return Line("EmptyResult", "")
        case pp.Results(columns=columns):
            return Line("ProduceResults", ", ".join(columns))
        case _:
            assert_never(node)


def _seek(node: pp.IndexSeek | pp.ParameterSeek | pp.ElementsSeek, asked: str, computed: str = "") -> Line:
    operator = "NodeUniqueIndexSeek" if node.unique else "NodeIndexSeek"
    return Line(
        operator, f"{node.index} INDEX {named(node.node)}:{node.label}({node.key}) WHERE {node.key} {asked}", computed
    )


def _search(node: pp.IndexSearch) -> Line:
    operators = {
        "CONTAINS": "NodeIndexContainsScan",
        "ENDS WITH": "NodeIndexEndsWithScan",
        "IS NOT NULL": "NodeIndexScan",
    }
    key, conditions = node.key, node.conditions
    if node.index == "POINT":
        first, second = ("" if c.value is None else _term(c.value) for c in conditions)
        called = conditions[0].operator
        asked = f"{called}({key}, {first}, {second})"
        if called == "point.distance":
            asked = f"{called}({key}, {first}) {conditions[1].operator} {second}"
    else:
        parts = (f"{key} {c.operator}" + ("" if c.value is None else f" {_term(c.value)}") for c in conditions)
        asked = " AND ".join(parts)
    operator = operators.get(conditions[0].operator, "NodeIndexSeekByRange")
    return Line(operator, f"{node.index} INDEX {named(node.node)}:{node.label}({key}) WHERE {asked}")


def _by_id(name: str, value: Term, many: bool, by_element_id: bool) -> str:
    return f"{'elementId' if by_element_id else 'id'}({named(name)}) {'IN' if many else '='} {_term(value)}"


def _relationships(node: pp.RelationshipScan | pp.RelationshipSeek | pp.RelationshipIdSeek) -> Line:
    directed = "Directed" if node.directed else "Undirected"
    direction = ast.Direction.OUTGOING if node.directed else ast.Direction.BOTH
    match node:
        case pp.RelationshipScan(types=types):
            pattern = _pattern(node.start, node.relationship, Traversal(types, direction), node.end)
            return Line(f"{directed}RelationshipTypeScan", pattern)
        case pp.RelationshipSeek(type=type, key=key, value=value, many=many):
            pattern = _pattern(node.start, node.relationship, Traversal((type,), direction), node.end)
            asked = f"{key} {'IN' if many else '='} {_term(value)}"
            return Line(f"{directed}RelationshipIndexSeek", f"{node.index} INDEX {pattern} WHERE {asked}")
        case pp.RelationshipIdSeek(types=types, value=value, many=many, by_element_id=by_element_id):
            pattern = _pattern(node.start, node.relationship, Traversal(types, direction), node.end)
            operator = f"{directed}RelationshipBy{'ElementId' if by_element_id else 'Id'}Seek"
            return Line(operator, f"{pattern} WHERE {_by_id(node.relationship, value, many, by_element_id)}")
        case _:
            assert_never(node)


_Hops: TypeAlias = (
    pp.Expand
    | pp.ExpandInto
    | pp.GuidedExpand
    | pp.DistinctExpand
    | pp.CountWalks
    | pp.CountBranches
    | pp.CountMatches
    | pp.CountSteps
    | pp.Reach
    | pp.Trails
    | pp.Repeat
    | pp.ShortestPaths
    | pp.ShortestTrails
    | pp.SelectShortest
)


def _hops(node: _Hops) -> Line:
    match node:
        case pp.Expand(small_pieces=small_pieces):
            pattern = _pattern(node.from_node, node.relationship, node.traversal, node.to_node)
            return Line("Expand(All)", pattern, "one hop, in small pieces for the LIMIT" if small_pieces else "one hop")
        case pp.ExpandInto():
            pattern = _pattern(node.from_node, node.relationship, node.traversal, node.to_node)
            return Line("Expand(Into)", pattern, "one hop")
        case pp.GuidedExpand(steps=steps, end_predicates=asked, ends=ends):
            where = f"to ends where {' AND '.join(map(_term, asked))}" if asked else f"into {named(steps[-1].hop.node)}"
            sides = "from both ends" if ends is not None or not asked else "forwards, then back"
            return Line("Expand(Guided)", ", ".join(map(_match_step, steps)), f"guided {where}, {sides}")
        case pp.DistinctExpand(from_node=from_node, hops=hops, reason=reason):
            return Line("Expand(Pruning)", _chain(from_node, hops), f"frontier: {reason}")
        case pp.CountWalks(from_node=from_node, hops=hops):
            return Line("CountWalks", _chain(from_node, hops), "walk counts for each end, hop by hop")
        case pp.CountBranches(branches=branches, present=present):
            computed = "products and sums of walk counts"
            if present:
                names = ", ".join(dict.fromkeys(named(column.variable) for column in present))
                computed += f"; also those in which {names} is not null"
            return Line("CountBranches", ", ".join(_chains(branches)), computed)
        case pp.CountMatches(steps=steps, branches=branches, end=end):
            computed = (
                "matches counted"
                + (f" for each {named(end)}" if end else "")
                + ", not made"
                + ("; branches by sums of walk counts" if branches else "")
            )
            return Line("CountMatches", ", ".join([*map(_match_step, steps), *_chains(branches)]), computed)
        case pp.CountSteps():
            return _degree(node)
        case pp.Reach(into=into, reason=reason):
            operator = f"VarLengthExpand(Pruning,BFS,{'Into' if into else 'All'})"
            return Line(operator, _repeated(node), f"frontier: {reason}")
        case pp.Trails(into=into, reason=reason, end_predicates=asked):
            computed = f"trails: {reason}" if reason else "trails"
            if asked:
                computed += f"; guided to ends where {' AND '.join(map(_term, asked))}"
            return Line(f"VarLengthExpand({'Into' if into else 'All'})", _repeated(node), computed)
        case pp.Repeat(from_node=from_node, to_node=to_node):
            bounds = _bounds(node.lower, node.upper)
            return Line("Repeat(Trail)", f"({named(from_node)}) (...){{{bounds}}} ({named(to_node)})", "trails")
        case pp.ShortestPaths(every=every, predicates=predicates):
            function = "allShortestPaths" if every else "shortestPath"
            computed = "trails by length: predicates on whole paths" if predicates else "levels and parents"
            return Line("ShortestPath", f"{function}({_repeated(node)})", computed)
        case pp.ShortestTrails(kind=kind, count=count, into=into):
            computed = "levels, then trails by length"
            if not node.predicates and (kind == "ALL SHORTEST" or _term(count) == "1"):
                computed = "levels and parents"
            operator = f"StatefulShortestPath({'Into' if into else 'All'})"
            return Line(operator, f"{kind} {_term(count)} {_repeated(node)}", computed)
        case pp.SelectShortest(kind=kind, count=count):
            return Line("StatefulShortestPath(All)", f"{kind} {_term(count)}", "trails, the shortest kept")
        case _:
            assert_never(node)


def _repeated(node: pp.Reach | pp.Trails | pp.ShortestPaths | pp.ShortestTrails) -> str:
    hops = "*" + _bounds(node.traversal.lower, node.traversal.upper)
    return _pattern(node.from_node, node.relationship or "", node.traversal, node.to_node, hops)


_Aggregation: TypeAlias = (
    pp.DistinctEnds | pp.Aggregate | pp.CountEnds | pp.CountPairs | pp.CountNodes | pp.CountRelationships
)


def _aggregation(node: _Aggregation) -> Line:
    match node:
        case pp.DistinctEnds(ends=ends, name=name, key=key):
            details = f"{named(ends.to_node)}.{key} AS {named(name)}"
            return Line("Distinct", details, "ends of one frontier, compared only where values may repeat")
        case pp.Aggregate(keys=keys, aggregates=aggregates):
            parts = [_items(keys)] if keys else []
            return Line("EagerAggregation", ", ".join([*parts, *map(_aggregate, aggregates)]))
        case pp.CountEnds(ends=ends):
            return Line("EagerAggregation", f"count(DISTINCT {named(ends.to_node)})", "size of the frontier")
        case pp.CountPairs(keys=keys, counts=counts):
            parts = [_items(keys), *(f"count(DISTINCT {_term(term)})" for _, term in counts)]
            return Line("EagerAggregation", ", ".join(parts), "pairs of numbers")
        case pp.CountNodes(label=label):
            return Line("NodeCountFromCountStore", "count(())" if label is None else f"count((:{label}))")
        case pp.CountRelationships(types=types):
            return Line("RelationshipCountFromCountStore", f"count(()-[{_types(types)}]->())")
        case _:
            assert_never(node)


def _plans(node: pp.ForEachRow | pp.Apply | pp.InTransactions | pp.HashJoin | pp.Product | pp.Union) -> Line:
    match node:
        case pp.ForEachRow(imports=imports):
            return Line("SubqueryForeach", ", ".join(_shown(imports)), "row by row")
        case pp.Apply(imports=imports, optional=optional, row_by_row=row_by_row, once_for=once_for):
            operator = "Apply(Optional)" if optional else "Apply"
            computed = "row by row" if row_by_row else "a batch at once"
            if once_for:
                computed += f", once for each {', '.join(_shown(once_for))}: only distinct values are seen"
            return Line(operator, ", ".join(_shown(imports)), computed)
        case pp.InTransactions(rows=rows, on_error=on_error):
            return Line("TransactionApply", f"IN TRANSACTIONS OF {_term(rows)} ROWS ON ERROR {on_error}")
        case pp.HashJoin(left_key=left_key, right_key=right_key):
            return Line("ValueHashJoin", f"{_term(left_key)} = {_term(right_key)}")
        case pp.Product():
            return Line("CartesianProduct", "")
        case pp.Union():
            return Line("Union", "")
        case _:
            assert_never(node)


def _write(node: pp.WriteStep) -> Line:
    match node:
        case pp.Create(creations=creations):
            return Line("Create", ", ".join(named(c.variable) for c in creations))
        case pp.Merge(added=added):
            return Line("Merge", ", ".join(_shown(added)), "row by row")
        case pp.Set(assignments=assignments):
            return Line(*_assignments(assignments))
        case pp.Delete(expressions=expressions, detach=detach):
            return Line("DetachDelete" if detach else "Delete", ", ".join(map(_term, expressions)))
        case pp.Foreach(variable=variable, list=values):
            return Line("Foreach", f"{named(variable)} IN {_term(values)}")
        case _:
            assert_never(node)


def _chains(branches: tuple[Branch, ...]) -> Iterator[str]:
    """Branches as patterns: each continues with the first branch of its end; the others start there."""
    for branch in branches:
        line, others = [branch], list[Branch]()
        while line[-1].branches and not line[-1].branches[0].optional:
            others += line[-1].branches[1:]
            line.append(line[-1].branches[0])
        hops = tuple((part.hop, part.labels) for part in line)
        yield ("OPTIONAL " if branch.optional else "") + _labelled_chain(branch.from_node, hops)
        yield from _chains((*line[-1].branches, *others))


def _match_step(step: MatchHop | MatchCheck) -> str:
    match step:
        case MatchHop(from_node=from_node, relationship=relationship, hop=hop, labels=labels):
            differing = [f"{named(relationship)} <> {named(other)}" for other in step.distinct_from]
            text = _pattern(from_node, relationship, hop.traversal, hop.node)
            text = text.removesuffix(")") + "".join(f":{label}" for label in labels) + ")"
            asked = [*map(_term, hop.predicates), *differing]
            return f"{text} WHERE {' AND '.join(asked)}" if asked else text
        case MatchCheck(left=left, right=right, kind=kind, traversal=Traversal() as traversal):
            return f"{'NOT ' if kind == 'missing' else ''}EXISTS {_pattern(left, '', traversal, right)}"
        case MatchCheck(left=left, right=right, kind=kind):
            return f"{named(left)} {kind} {named(right)}"
        case _:
            assert_never(step)


def _chain(from_node: str, hops: tuple[ChainHop, ...]) -> str:
    """A chain as a pattern, with the predicates on its nodes."""
    return _labelled_chain(from_node, tuple((hop, ()) for hop in hops))


def _labelled_chain(from_node: str, hops: tuple[tuple[ChainHop, tuple[str, ...]], ...]) -> str:
    pattern, before, asked = "", from_node, []
    for hop, names in hops:
        labels = "".join(f":{name}" for name in names)
        for predicate in hop.predicates:
            match predicate:
                case ast.HasLabels(labels=ast.LabelName(name=label)):
                    labels += f":{label}"
                case _:
                    asked.append(_term(predicate))
        step = _pattern(before, "", hop.traversal, hop.node)
        pattern += (step if not pattern else step.removeprefix(f"({named(before)})")).removesuffix(")") + labels + ")"
        before = hop.node
    return f"{pattern} WHERE {' AND '.join(asked)}" if asked else pattern


def _degree(plan: pp.CountSteps) -> Line:
    is_one_hop = plan.traversal.upper == 1
    hops = "" if is_one_hop else "*" + _bounds(plan.traversal.lower, plan.traversal.upper)
    labels = "".join(f":{label}" for label in plan.labels)
    details = _pattern(plan.from_node, "", plan.traversal, labels, hops)
    computed = "degrees" if is_one_hop else "trails without their last step, and degrees"
    if plan.distinct_from:
        computed += ", less the relationships that are bound"
    return Line("GetDegree", details, computed)


def _assignments(assignments: tuple[Assignment, ...]) -> tuple[str, str]:
    name, parts = "SetProperty", []
    for item in assignments:
        match item:
            case AssignProperty(subject=subject, key=key, value=value):
                parts.append(f"{_term(subject)}.{key if isinstance(key, str) else _term(key)} = {_term(value)}")
            case AssignTogether(subject=subject, entries=entries):
                parts += [f"{_term(subject)}.{key} = {_term(value)}" for key, value in entries]
            case AssignProperties(variable=variable, value=value, merge=merge):
                name = "SetProperties"
                parts.append(f"{named(variable)} {'+=' if merge else '='} {_term(value)}")
            case AddLabels(variable=variable, labels=labels):
                name = "SetLabels"
                parts.append(f"{named(variable)}:{':'.join(map(str, labels))}")
            case DropProperty(subject=subject, key=key):
                parts.append(f"{_term(subject)}.{key if isinstance(key, str) else _term(key)} = null")
            case DropLabels(variable=variable, labels=labels):
                name = "RemoveLabels"
                parts.append(f"{named(variable)}:{':'.join(map(str, labels))}")
            case _:
                assert_never(item)
    return name, ", ".join(parts)


def _aggregate(aggregate: AggregateCall) -> str:
    inside = ", ".join(map(_term, aggregate.arguments)) or "*"
    weighted = "" if aggregate.weight is None else f" of {_term(aggregate.weight)} rows each"
    return f"{aggregate.function}({'DISTINCT ' if aggregate.distinct else ''}{inside}){weighted}"


def _items(items: tuple[tuple[str, Term], ...]) -> str:
    return ", ".join(f"{_term(term)} AS {named(name)}" for name, term in items)


def _term(term: Term) -> str:
    return unparse(term)


def named(name: str) -> str:
    """A variable as EXPLAIN shows it; unnamed ones get a name."""
    return name.replace(f"{HIDDEN}UNNAMED", "anon_").removeprefix(HIDDEN)


def _shown(names: tuple[str, ...]) -> list[str]:
    return [named(name) for name in names if not name.startswith(HIDDEN)]


def _types(types: tuple[str, ...] | None) -> str:
    return "" if types is None else ":" + "|".join(types)


def _bounds(lower: int, upper: int | None) -> str:
    return f"{lower}.." if upper is None else f"{lower}..{upper}"


def order_of(keys: tuple[SortKey, ...]) -> str:
    """Sort keys as EXPLAIN shows them."""
    return ", ".join(f"{named(key.name)} {'DESC' if key.descending else 'ASC'}" for key in keys)


def _pattern(start: str, relationship: str, traversal: Traversal, end: str, hops: str = "") -> str:
    name = "" if relationship.startswith(HIDDEN) else relationship
    inside = f"[{name}{_types(traversal.types)}{hops}]"
    left = "<-" if traversal.direction is ast.Direction.INCOMING else "-"
    right = "->" if traversal.direction is ast.Direction.OUTGOING else "-"
    return f"({named(start)}){left}{inside}{right}({named(end)})"


# --- the whole plan ---------------------------------------------------------------------------------------------

_RUNS_HOPS = (*get_args(_Hops),)


def rows_of(plan: pp.Plan, depth: int = 0) -> Iterator[tuple[int, Line, pp.Shown]]:
    """Operators from the top with their depth: an operator's source comes below it, subqueries are indented."""
    for link in chain(plan):
        yield depth, describe(link.node), link.node
        for branch in link.beside:
            yield from rows_of(branch, depth + 1)


def has_hops(plan: pp.Plan) -> bool:
    """Whether the plan follows relationships."""
    return any(isinstance(node, _RUNS_HOPS) for _, _, node in rows_of(plan))


def explain(plan: pp.Plan, measured: Mapping[int, Measurement] | None = None) -> str:
    """The plan as a table; with `measurements` (by the identity of the operator), as PROFILE shows it."""
    header = ["Operator", "Details", "Computed by"]
    if measured is not None:
        header += ["Rows", "ms"]
    table = [header]
    for depth, line, node in rows_of(plan):
        row = [f"{'| ' * depth}+{line.name}", line.details, line.computed]
        if measured is not None:
            seen = measurement_of(node, measured)
            row += [str(seen.rows), f"{seen.seconds * 1000:.2f}"]
        table.append(row)
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    ruler = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = [ruler]
    for number, row in enumerate(table):
        lines.append("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
        if number == 0:
            lines.append(ruler)
    lines.append(ruler)
    return "\n".join(lines)


def measurement_of(node: pp.Shown, measured: Mapping[int, Measurement]) -> Measurement:
    """What an operator did. Results has no operator at run time: its measurement is its source's."""
    while isinstance(node, pp.Results):
        node = node.source
    return measured.get(id(node.steps[-1] if isinstance(node, pp.Write) else node), NOT_RUN)
