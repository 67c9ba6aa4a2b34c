"""Predicates on every relationship or node of a path become predicates on each step.

    MATCH p = (a)-[*1..4]->(b) WHERE all(r IN relationships(p) WHERE r.w > 1)

puts a condition on each relationship: with `all` the predicate must be true, with `none` false. As a step's predicate
it cuts trails short while they are made, and it does not prevent a frontier.
"""

from __future__ import annotations

from dataclasses import replace

from hoplite.grammar import ast
from hoplite.grammar.tree import contains, transform
from hoplite.planner.patterns import Many, One, Path, PatternGraph, Shortest, conjunction
from hoplite.planner.variables import free_variables


def absorb_path_predicates(graph: PatternGraph, bound: frozenset[str]) -> None:
    """Move such predicates of a pattern graph to the steps they belong to; relationships in `bound` have no steps."""
    if any(c.relationship in bound for c in graph.connections):
        return
    predicates, graph.predicates = graph.predicates, []
    for predicate in predicates:
        if not _absorbed(predicate, graph):
            graph.predicates.append(predicate)


def _absorbed(predicate: ast.Expression, graph: PatternGraph) -> bool:
    match predicate:
        case ast.Quantifier(kind="all" | "none" as kind, variable=variable, source=source, predicate=ast_predicate):
            if ast_predicate is None or free_variables(ast_predicate) - {variable.name}:
                return False
            wanted = ast_predicate if kind == "all" else ast.Unary("NOT", ast_predicate, ast_predicate.span)
            if contains(wanted, _has_names_of_its_own):
                return False
            return _asked_of_each(wanted, variable.name, source, graph)
        case _:
            return False


def _has_names_of_its_own(node: object) -> bool:
    """Whether part of an expression binds variables, so that renaming another variable could go wrong."""
    return isinstance(
        node,
        ast.ListComprehension
        | ast.Quantifier
        | ast.Reduce
        | ast.SubqueryExpression
        | ast.PatternComprehension
        | ast.PatternExpression,
    )


def _asked_of_each(wanted: ast.Expression, variable: str, source: ast.Expression, graph: PatternGraph) -> bool:
    match source:
        case ast.Variable(name=name):
            many = _many(name, graph)
            if many is None:
                return False
            _add_step(many, _renamed(wanted, variable, many.step_names[1]), graph)
            return True
        case ast.FunctionCall(name=function, arguments=(ast.Variable(name=name),)):
            path = _path(name, graph)
            if path is None:
                return False
            match function.lower():
                case "relationships":
                    _ask_relationships(path, wanted, variable, graph)
                    return True
                case "nodes":
                    _ask_nodes(path, wanted, variable, graph)
                    return True
    return False


def _many(name: str, graph: PatternGraph) -> Many | None:
    """The repeated relationship of that name, on its own or inside a shortestPath."""
    for connection in graph.connections:
        match connection:
            case Many(relationship=relationship) | Shortest(many=Many(relationship=relationship)):
                if relationship == name:
                    return connection.many if isinstance(connection, Shortest) else connection
            case _:
                pass
    return None


def _path(name: str, graph: PatternGraph) -> Path | None:
    """The path of that name, if it consists only of single relationships and repeated single relationships."""
    known = {c.relationship for c in graph.connections if isinstance(c, One | Many)}
    for path in graph.paths:
        if path.variable == name and set(path.relationships) <= known:
            return path
    for connection in graph.connections:
        if isinstance(connection, Shortest) and connection.path == name:
            return Path(name, connection.start, (connection.relationship,))
    return None


def _renamed(expression: ast.Expression, old: str, new: str) -> ast.Expression:
    renamed: ast.Expression = transform(
        expression,
        lambda node: ast.Variable(new, node.span) if isinstance(node, ast.Variable) and node.name == old else None,
    )
    return renamed


def _add_step(many: Many, predicate: ast.Expression, graph: PatternGraph) -> None:
    step = conjunction([p for p in (many.step, predicate) if p is not None])
    changed = replace(many, step=step)
    for place, connection in enumerate(graph.connections):
        if connection is many:
            graph.connections[place] = changed
        elif isinstance(connection, Shortest) and connection.many is many:
            graph.connections[place] = replace(connection, many=changed)


def _ask_relationships(path: Path, wanted: ast.Expression, variable: str, graph: PatternGraph) -> None:
    for name in path.relationships:
        many = _many(name, graph)
        if many is None:
            graph.predicates.append(_renamed(wanted, variable, name))
        else:
            _add_step(many, _renamed(wanted, variable, many.step_names[1]), graph)


def _ask_nodes(path: Path, wanted: ast.Expression, variable: str, graph: PatternGraph) -> None:
    asked = {path.start}
    graph.predicates.append(_renamed(wanted, variable, path.start))
    for name in path.relationships:
        connection = next(c for c in graph.connections if c.relationship == name)
        if isinstance(connection, Many | Shortest):
            names = connection.many.step_names if isinstance(connection, Shortest) else connection.step_names
            # Both names of a step, because which of them is new depends on the end that the trail is walked from.
            for end in (names[0], names[2]):
                many = _many(name, graph)
                assert many is not None
                _add_step(many, _renamed(wanted, variable, end), graph)
        for end in (connection.start, connection.end):
            if end not in asked:
                asked.add(end)
                graph.predicates.append(_renamed(wanted, variable, end))
