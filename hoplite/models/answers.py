"""The kind of answer a query gives: one that always exists, or one of nothing but nulls and zeros."""

from __future__ import annotations

from typing import Any

from hoplite.engine.functions.registry import AGGREGATES
from hoplite.grammar import ast
from hoplite.grammar.tree import children, walk


def aggregates(node: Any) -> bool:
    """Whether an expression aggregates."""
    return any(is_aggregate(inner) for inner in walk(node, (ast.SubqueryExpression,)))


def is_aggregate(node: Any) -> bool:
    """Whether a node is the call of an aggregating function."""
    return isinstance(node, ast.CountStar) or (isinstance(node, ast.FunctionCall) and node.name.lower() in AGGREGATES)


def always_answers(query: ast.Query) -> bool:
    """Whether a query returns one row whatever the graph holds: all of its columns aggregate.

    A count of nothing is 0, which may be the right answer.
    """
    parts = query.queries if isinstance(query, ast.Union) else (query,)
    return all(_single_row(part) for part in parts)


def _single_row(query: ast.SingleQuery) -> bool:
    whole: set[str] = set()  # names that stand for aggregates over everything
    for clause in query.clauses:
        if isinstance(clause, ast.WithClause | ast.ReturnClause):
            items = clause.projection.items
            if items and all(aggregates(item.expression) or _names(item.expression) & whole for item in items):
                whole = {item.name for item in items}
            else:
                whole = set()
        elif not isinstance(clause, ast.MatchClause) or not clause.optional:
            whole = set()
    return bool(whole)


def _names(node: Any) -> set[str]:
    return {inner.name for inner in walk(node) if isinstance(inner, ast.Variable)}


def gives_nothing(query: ast.Query, missing: set[int]) -> bool:
    """Whether every column is null or zero, given the properties (by identity) that do not exist."""
    parts = query.queries if isinstance(query, ast.Union) else (query,)
    return all(_void(part, missing) for part in parts)


def _void(query: ast.SingleQuery, missing: set[int]) -> bool:
    names: set[str] = set()
    for clause in query.clauses:
        if isinstance(clause, ast.WithClause | ast.ReturnClause):
            projection = clause.projection
            void = {item.name for item in projection.items if _is_void(item.expression, names, missing)}
            if isinstance(clause, ast.ReturnClause):
                return len(void) == len(projection.items) and not projection.star
            names = names | void if projection.star else void
        elif isinstance(clause, ast.CallSubquery) and gives_nothing(clause.query, missing):
            last = clause.query.queries[-1] if isinstance(clause.query, ast.Union) else clause.query
            for inner in last.clauses:
                if isinstance(inner, ast.ReturnClause):
                    names |= {item.name for item in inner.projection.items}
    return False


def _is_void(node: Any, names: set[str], missing: set[int]) -> bool:
    """Whether a value is null, zero or an empty list, as far as the text tells."""
    if id(node) in missing or (isinstance(node, ast.Variable) and node.name in names):
        return True
    match node:
        case ast.FunctionCall(name=name) if name.lower() == "coalesce":
            return False
        case ast.MapProjection(items=items):
            return all(id(item) in missing for item in items)
        case ast.Case() | ast.MapLiteral() | ast.ListLiteral() | ast.Literal() | ast.Parameter() | ast.IsNull():
            return False
        case ast.Binary(operator="AND" | "OR" | "XOR"):
            return False
        case ast.SubqueryExpression() | ast.PatternExpression() | ast.PatternComprehension():
            return False
    return any(_is_void(child, names, missing) for child in children(node))
