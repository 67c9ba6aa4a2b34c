"""EXPLAIN: a plan as a text table. How summaries show it is in `plan_description`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from hoplite.grammar import ast
from hoplite.grammar.hidden import HIDDEN
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp
from hoplite.planner.tree import children, subplans
from hoplite.planner.unparse import unparse


@dataclass(frozen=True, slots=True)
class Line:
    """An operator as EXPLAIN shows it: Neo4j's name, details, and how it is computed here."""

    name: str
    details: str
    computed: str = ""


def describe(plan: lp.Plan) -> Line:
    """The line of one operator."""
    match plan:
        case lp.Argument(variables=variables):
            return Line("Argument", ", ".join(_shown(variables)))
        case lp.AllNodesScan(node=node):
            return Line("AllNodesScan", named(node))
        case lp.NodeByLabelScan(node=node, label=label):
            return Line("NodeByLabelScan", f"{named(node)}:{label}")
        case lp.NodeIndexSeek(node=node, label=label, key=key, value=value, many=many, unique=unique):
            operator = "IN" if many else "="
            name = "NodeUniqueIndexSeek" if unique else "NodeIndexSeek"
            return Line(name, f"RANGE INDEX {named(node)}:{label}({key}) WHERE {key} {operator} {_term(value)}")
        case lp.NodeIndexSearch(node=node, label=label, key=key, conditions=conditions):
            names = {"CONTAINS": "NodeIndexContainsScan", "ENDS WITH": "NodeIndexEndsWithScan"}
            names["IS NOT NULL"] = "NodeIndexScan"
            asked = " AND ".join(
                f"{key} {c.operator}" + ("" if c.value is None else f" {_term(c.value)}") for c in conditions
            )
            name = names.get(conditions[0].operator, "NodeIndexSeekByRange")
            return Line(name, f"RANGE INDEX {named(node)}:{label}({key}) WHERE {asked}")
        case lp.NodeByIdSeek(node=node, value=value, many=many, by_element_id=by_element_id):
            function = "elementId" if by_element_id else "id"
            name = "NodeByElementIdSeek" if by_element_id else "NodeByIdSeek"
            return Line(name, f"{named(node)} WHERE {function}({named(node)}) {'IN' if many else '='} {_term(value)}")
        case lp.RelationshipTypeScan(relationship=relationship, types=types, directed=directed):
            name = "DirectedRelationshipTypeScan" if directed else "UndirectedRelationshipTypeScan"
            direction = ast.Direction.OUTGOING if directed else ast.Direction.BOTH
            return Line(name, _pattern(plan.start, relationship, types, "", direction, plan.end))
        case lp.RelationshipIndexSeek(relationship=relationship, directed=directed, key=key):
            name = "DirectedRelationshipIndexSeek" if directed else "UndirectedRelationshipIndexSeek"
            direction = ast.Direction.OUTGOING if directed else ast.Direction.BOTH
            pattern = _pattern(plan.start, relationship, (plan.type,), "", direction, plan.end)
            operator = "IN" if plan.many else "="
            return Line(name, f"RANGE INDEX {pattern} WHERE {key} {operator} {_term(plan.value)}")
        case lp.Expand(into=into):
            pattern = _pattern(plan.from_node, plan.relationship, plan.types, "", plan.direction, plan.to_node)
            computed = "one hop, in small pieces for the LIMIT" if plan.stopped_early and not into else "one hop"
            return Line("Expand(Into)" if into else "Expand(All)", pattern, computed)
        case lp.DistinctExpand():
            return Line("Expand(Pruning)", _chain(plan.from_node, plan.hops), f"frontier: {plan.reason}")
        case lp.CountWalks():
            return Line("CountWalks", _chain(plan.from_node, plan.hops), "walk counts for each end, hop by hop")
        case lp.CountBranches(branches=branches):
            return Line("CountBranches", ", ".join(_chains(branches)), "products and sums of walk counts")
        case lp.GetDegree():
            return _degree(plan)
        case lp.VarLengthExpand():
            return _var_length(plan)
        case lp.Repeat():
            bounds = _bounds(plan.lower, plan.upper)
            return Line(
                "Repeat(Trail)", f"({named(plan.from_node)}) (...){{{bounds}}} ({named(plan.to_node)})", "trails"
            )
        case lp.ShortestPath():
            hops = "*" + _bounds(plan.lower, plan.upper)
            pattern = _pattern(plan.from_node, plan.relationship, plan.types, hops, plan.direction, plan.to_node)
            function = "allShortestPaths" if plan.every else "shortestPath"
            computed = "trails by length: predicates on whole paths" if plan.predicates else "levels and parents"
            return Line("ShortestPath", f"{function}({pattern})", computed)
        case lp.StatefulShortestPath(kind=kind, count=count):
            hops = "*" + _bounds(plan.lower, plan.upper)
            pattern = _pattern(plan.from_node, plan.relationship, plan.types, hops, plan.direction, plan.to_node)
            computed = "levels, then trails by length"
            if not plan.predicates and (kind == "ALL SHORTEST" or _term(count) == "1"):
                computed = "levels and parents"
            name = "StatefulShortestPath(Into)" if plan.into else "StatefulShortestPath(All)"
            return Line(name, f"{kind} {_term(count)} {pattern}", computed)
        case lp.SelectShortest(kind=kind, count=count):
            return Line("StatefulShortestPath(All)", f"{kind} {_term(count)}", "trails, the shortest kept")
        case lp.ProjectEndpoints(relationship=relationship):
            return Line("ProjectEndpoints", f"({named(plan.start)})-[{named(relationship)}]-({named(plan.end)})")
        case lp.DistinctRelationships(relationship=relationship, others=others):
            parts = [f"NOT {named(relationship)} = {named(other)}" for other in others]
            return Line("Filter", " AND ".join(parts), "relationships differ")
        case lp.ProjectPath(path=path):
            return Line("Projection", f"path AS {named(path)}")
        case lp.Filter(predicate=predicate):
            return Line("Filter", _term(predicate))
        case lp.Projection(items=items):
            return Line("Projection", ", ".join(f"{_term(term)} AS {named(name)}" for name, term in items))
        case lp.Select(names=names):
            return Line("Projection", ", ".join(_shown(names)))
        case lp.Reimport(names=names):
            return Line("Projection", ", ".join(_shown(names)), "of the outer row")
        case lp.Distinct(names=names):
            return Line("Distinct", ", ".join(_shown(names)))
        case lp.EagerAggregation(keys=keys, aggregates=aggregates):
            parts = [f"{_term(term)} AS {named(name)}" for name, term in keys]
            parts += [_aggregate(a) for a in aggregates]
            return Line("EagerAggregation", ", ".join(parts), "pairs of numbers" if plan.keys_at is not None else "")
        case lp.NodeCountFromCountStore(label=counted):
            return Line("NodeCountFromCountStore", "count(())" if counted is None else f"count((:{counted}))")
        case lp.RelationshipCountFromCountStore(types=types):
            return Line("RelationshipCountFromCountStore", f"count(()-[{_types(types)}]->())")
        case lp.Sort(keys=keys):
            return Line("Sort", _order(keys))
        case lp.Top(keys=keys, count=count, skip=skip):
            skipped = "" if skip is None else f" SKIP {_term(skip)}"
            return Line("Top", f"{_order(keys)}{skipped} LIMIT {_term(count)}")
        case lp.Skip(count=count):
            return Line("Skip", _term(count))
        case lp.Limit(count=count):
            return Line("Limit", _term(count))
        case lp.Unwind(expression=expression, variable=variable):
            return Line("Unwind", f"{_term(expression)} AS {named(variable)}")
        case lp.Union():
            return Line("Union", "")
        case lp.Apply(kind=kind):
            name = {"all": "Apply", "optional": "Apply(Optional)", "unit": "SubqueryForeach"}[kind]
            return Line(name, ", ".join(_shown(plan.imports)), "row by row" if plan.row_by_row else "a batch at once")
        case lp.TransactionApply(rows=rows):
            return Line("TransactionApply", f"IN TRANSACTIONS OF {_term(rows)} ROWS ON ERROR {plan.on_error}")
        case lp.ValueHashJoin(left_key=left_key, right_key=right_key):
            return Line("ValueHashJoin", f"{_term(left_key)} = {_term(right_key)}")
        case lp.CartesianProduct():
            return Line("CartesianProduct", "")
        case lp.ProcedureCall(procedure=procedure, arguments=arguments):
            return Line("ProcedureCall", f"{procedure}({', '.join(map(_term, arguments))})")
        case lp.ShowRows(kind=kind):
            return Line(f"Show{kind.capitalize()}", "")
        case lp.LoadCSV(variable=variable):
            return Line("LoadCSV", named(variable))
        case lp.Create(creations=creations):
            return Line("Create", ", ".join(named(c.variable) for c in creations))
        case lp.Merge(added=added):
            return Line("Merge", ", ".join(_shown(added)), "row by row")
        case lp.SetProperties(assignments=assignments):
            return Line(*_assignments(assignments))
        case lp.Delete(expressions=expressions, detach=detach):
            return Line("DetachDelete" if detach else "Delete", ", ".join(map(_term, expressions)))
        case lp.Foreach(variable=variable):
            return Line("Foreach", f"{named(variable)} IN {_term(plan.list)}")
        case lp.EmptyResult():
            return Line("EmptyResult", "")
        case lp.ProduceResults(columns=columns):
            return Line("ProduceResults", ", ".join(columns))
        case _:
            assert_never(plan)


def _chains(branches: tuple[lp.Branch, ...]) -> Iterator[str]:
    """Branches as patterns: each goes on with the first branch of its end, the others begin there."""
    for branch in branches:
        line, others = [branch], list[lp.Branch]()
        while line[-1].branches and not line[-1].branches[0].optional:
            others += line[-1].branches[1:]
            line.append(line[-1].branches[0])
        hops = tuple((part.hop, part.labels) for part in line)
        yield ("OPTIONAL " if branch.optional else "") + _labelled_chain(branch.from_node, hops)
        yield from _chains((*line[-1].branches, *others))


def _chain(from_node: str, hops: tuple[lp.ChainHop, ...]) -> str:
    """A chain as a pattern, with what is asked of its nodes."""
    return _labelled_chain(from_node, tuple((hop, ()) for hop in hops))


def _labelled_chain(from_node: str, hops: tuple[tuple[lp.ChainHop, tuple[str, ...]], ...]) -> str:
    pattern, before, asked = "", from_node, []
    for hop, names in hops:
        labels = "".join(f":{name}" for name in names)
        for predicate in hop.predicates:
            match predicate:
                case ast.HasLabels(labels=ast.LabelName(name=label)):
                    labels += f":{label}"
                case _:
                    asked.append(_term(predicate))
        step = _pattern(before, "", hop.types, "", hop.direction, hop.node)
        pattern += (step if not pattern else step.removeprefix(f"({named(before)})")).removesuffix(")") + labels + ")"
        before = hop.node
    return f"{pattern} WHERE {' AND '.join(asked)}" if asked else pattern


def _degree(plan: lp.GetDegree) -> Line:
    hops = "" if plan.upper == 1 else "*" + _bounds(plan.lower, plan.upper)
    labels = "".join(f":{label}" for label in plan.labels)
    details = _pattern(plan.from_node, "", plan.types, hops, plan.direction, labels)
    computed = "degrees" if plan.upper == 1 else "trails without their last step, and degrees"
    if plan.distinct_from:
        computed += ", less the relationships that are bound"
    return Line("GetDegree", details, computed)


def _var_length(plan: lp.VarLengthExpand) -> Line:
    hops = "*" + _bounds(plan.lower, plan.upper)
    relationship = plan.relationship or ""
    pattern = _pattern(plan.from_node, relationship, plan.types, hops, plan.direction, plan.to_node)
    into = "Into" if plan.into else "All"
    if plan.pruning:
        return Line(f"VarLengthExpand(Pruning,BFS,{into})", pattern, f"frontier: {plan.reason}")
    computed = f"trails: {plan.reason}" if plan.reason else "trails"
    if plan.end_predicates:
        computed += f"; led to ends where {' AND '.join(map(_term, plan.end_predicates))}"
    return Line(f"VarLengthExpand({into})", pattern, computed)


def _assignments(assignments: tuple[lp.Assignment, ...]) -> tuple[str, str]:
    name, parts = "SetProperty", []
    for item in assignments:
        match item:
            case lp.AssignProperty(subject=subject, key=key, value=value):
                parts.append(f"{_term(subject)}.{key if isinstance(key, str) else _term(key)} = {_term(value)}")
            case lp.AssignProperties(variable=variable, value=value, merge=merge):
                name = "SetProperties"
                parts.append(f"{named(variable)} {'+=' if merge else '='} {_term(value)}")
            case lp.AddLabels(variable=variable, labels=labels):
                name = "SetLabels"
                parts.append(f"{named(variable)}:{':'.join(map(str, labels))}")
            case lp.DropProperty(subject=subject, key=key):
                parts.append(f"{_term(subject)}.{key if isinstance(key, str) else _term(key)} = null")
            case lp.DropLabels(variable=variable, labels=labels):
                name = "RemoveLabels"
                parts.append(f"{named(variable)}:{':'.join(map(str, labels))}")
    return name, ", ".join(parts)


def _aggregate(aggregate: lp.Aggregate) -> str:
    inside = ", ".join(map(_term, aggregate.arguments)) or "*"
    return f"{aggregate.function}({'DISTINCT ' if aggregate.distinct else ''}{inside})"


def _term(term: lp.Term) -> str:
    return unparse(term)


def named(name: str) -> str:
    """A variable as EXPLAIN shows it; those without a name in the query get one."""
    return name.replace(f"{HIDDEN}UNNAMED", "anon_").removeprefix(HIDDEN)


def _shown(names: tuple[str, ...]) -> list[str]:
    return [named(name) for name in names if not name.startswith(HIDDEN)]


def _types(types: tuple[str, ...] | None) -> str:
    return "" if types is None else ":" + "|".join(types)


def _bounds(lower: int, upper: int | None) -> str:
    return f"{lower}.." if upper is None else f"{lower}..{upper}"


def _order(keys: tuple[lp.SortKey, ...]) -> str:
    return ", ".join(f"{named(key.name)} {'DESC' if key.descending else 'ASC'}" for key in keys)


def _pattern(
    start: str, relationship: str, types: tuple[str, ...] | None, hops: str, direction: ast.Direction, end: str
) -> str:
    name = "" if relationship.startswith(HIDDEN) else relationship
    inside = f"[{name}{_types(types)}{hops}]"
    left = "<-" if direction is ast.Direction.INCOMING else "-"
    right = "->" if direction is ast.Direction.OUTGOING else "-"
    return f"({named(start)}){left}{inside}{right}({named(end)})"


# --- the whole plan ---------------------------------------------------------------------------------------------


def rows_of(plan: lp.Plan, depth: int = 0) -> Iterator[tuple[int, Line, lp.Plan]]:
    """Operators from the top with their depth; what feeds an operator stands below it, subqueries are indented."""
    yield depth, describe(plan), plan
    for subplan in subplans(plan):
        yield from rows_of(subplan, depth + 1)
    below = list(children(plan))
    for branch in below[1:]:
        yield from rows_of(branch, depth + 1)
    if below:
        yield from rows_of(below[0], depth)


def has_hops(plan: lp.Plan) -> bool:
    """Whether the plan follows relationships."""
    return any(line.computed for _, line, _ in rows_of(plan))


def explain(plan: lp.Plan, measured: dict[int, tuple[int, float]] | None = None) -> str:
    """The plan as a table; with measurements (rows and seconds by operator) as PROFILE has them."""
    header = ["Operator", "Details", "Computed by"]
    if measured is not None:
        header += ["Rows", "ms"]
    table = [header]
    for depth, line, node in rows_of(plan):
        row = [f"{'| ' * depth}+{line.name}", line.details, line.computed]
        if measured is not None:
            rows, seconds = measured.get(id(node), (0, 0.0))
            row += [str(rows), f"{seconds * 1000:.2f}"]
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
