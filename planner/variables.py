"""Which variables an expression takes from outside.

A name inside a pattern is a reference where the scope around it has that name, and a new variable where it does not.
The expression alone cannot tell, so `free_variables` counts it; a caller that knows its scope intersects.

    free_variables([x IN xs WHERE x > lowest | x.name])   {xs, lowest}
    free_variables([(a)-->(b) WHERE b.age > c | b.name])  {a, b, c}
"""

from __future__ import annotations

from typing import Any

from hoplite.allowance import check_time
from hoplite.grammar import ast
from hoplite.grammar.tree import children
from hoplite.planner.parts import PlannedSubquery


def free_variables(expression: Any) -> frozenset[str]:
    """The names that this expression (or pattern, or label expression) takes from outside."""
    check_time()
    free: set[str] = set()
    _visit(expression, frozenset(), free)
    return frozenset(free)


def _visit(node: Any, bound: frozenset[str], free: set[str]) -> None:
    match node:
        case ast.Variable(name=name):
            if name not in bound:
                free.add(name)
        case ast.ListComprehension(variable=variable, source=source, predicate=predicate, result=result):
            _visit(source, bound, free)
            inner = bound | {variable.name}
            _visit(predicate, inner, free)
            _visit(result, inner, free)
        case ast.Quantifier(variable=variable, source=source, predicate=predicate):
            _visit(source, bound, free)
            _visit(predicate, bound | {variable.name}, free)
        case ast.Reduce():
            _visit(node.source, bound, free)
            _visit(node.initial, bound, free)
            _visit(node.step, bound | {node.accumulator.name, node.variable.name}, free)
        case ast.PatternComprehension(path_variable=path, pattern=pattern, predicate=predicate, result=result):
            inner = bound if path is None else bound | {path.name}
            for part in (pattern, predicate, result):
                _visit(part, inner, free)
        case ast.SubqueryExpression(query=query):
            _visit_query(query, bound, free)
        case PlannedSubquery(imports=imports):
            free.update(name for name in imports if name not in bound)
        case ast.Binary():  # chains lean to the left, and may be long
            while isinstance(node, ast.Binary):
                _visit(node.right, bound, free)
                node = node.left
            _visit(node, bound, free)
        case tuple():
            for item in node:
                _visit(item, bound, free)
        case _ if node is not None:
            _visit_below(node, bound, free)


def _visit_below(node: Any, bound: frozenset[str], free: set[str]) -> None:
    for child in children(node):
        _visit(child, bound, free)


def _visit_query(query: ast.Query, bound: frozenset[str], free: set[str]) -> frozenset[str]:
    """Visit a query inside an expression; returns the names it returns."""
    returned: frozenset[str] = frozenset()
    for single in query.queries if isinstance(query, ast.Union) else (query,):
        inner = bound
        for clause in single.clauses:
            inner = _visit_clause(clause, inner, free)
            if isinstance(clause, ast.ReturnClause):
                returned |= _projected(clause.projection)
                if clause.projection.star:
                    returned |= inner - bound
    return returned


def _projected(projection: ast.Projection) -> frozenset[str]:
    return frozenset(item.name for item in projection.items)


def _visit_clause(clause: ast.Clause, bound: frozenset[str], free: set[str]) -> frozenset[str]:
    """Visit a clause; returns the names that are bound after it.

    Names that a WITH drops stay bound: they belong to the subquery and are never outer ones.
    """
    match clause:
        case ast.WithClause(projection=projection) | ast.ReturnClause(projection=projection):
            for item in projection.items:
                _visit(item.expression, bound, free)
            after = bound | _projected(projection)
            _visit((projection.order, projection.skip, projection.limit), after, free)
            if isinstance(clause, ast.WithClause):
                _visit(clause.predicate, after, free)
            return after
        case ast.UnwindClause(expression=expression, variable=variable):
            _visit(expression, bound, free)
            return bound | {variable.name}
        case ast.ForeachClause(variable=variable, source=source, clauses=clauses):
            _visit(source, bound, free)
            inner = bound | {variable.name}
            for part in clauses:
                inner = _visit_clause(part, inner, free)
            return bound
        case ast.LoadCsvClause(url=url, variable=variable):
            _visit(url, bound, free)
            return bound | {variable.name}
        case ast.CallProcedure(arguments=arguments, items=items, predicate=predicate):
            _visit(arguments, bound, free)
            after = bound | {item.name if item.alias is None else item.alias.name for item in items or ()}
            _visit(predicate, after, free)
            return after
        case ast.CallSubquery(query=query, imports=imports):
            _visit(imports, bound, free)
            # Only what is imported comes from outside; without a scope clause, a leading WITH imports.
            inner_free: set[str] = set()
            returned = _visit_query(query, frozenset(), inner_free)
            if imports is None:
                free.update(inner_free - bound)
            return bound | returned
        case _:
            _visit_below(clause, bound, free)
            return bound | _mentioned(clause)


def _mentioned(clause: ast.Clause) -> frozenset[str]:
    """The variables of a clause's patterns: bound after the clause, wherever they come from."""
    match clause:
        case ast.MatchClause(patterns=patterns) | ast.CreateClause(patterns=patterns):
            return free_variables(patterns)
        case ast.MergeClause(pattern=pattern):
            return free_variables(pattern)
        case _:
            return frozenset()
