"""`file()` and `linenumber()`: hidden columns that LOAD CSV adds to its variable.

Neo4j keeps the position in the file with the row, through WITH and into subqueries, until rows are aggregated. So in a
statement with LOAD CSV the calls become variables that projections carry along.
"""

from __future__ import annotations

from typing import Any

from hoplite.grammar import ast
from hoplite.grammar.hidden import HIDDEN
from hoplite.grammar.tree import contains, transform

FILE, LINE = HIDDEN + "file", HIDDEN + "line"
PLACES = frozenset((FILE, LINE))
_COLUMNS = {"file": FILE, "linenumber": LINE}


def with_places(query: ast.Query) -> ast.Query:
    """The query with its calls of `file()` and `linenumber()` replaced, if it has a LOAD CSV."""
    if not contains(query, lambda node: isinstance(node, ast.LoadCsvClause)):
        return query

    def column(node: Any) -> ast.Expression | None:
        match node:
            case ast.FunctionCall(name=name, arguments=()) if name.lower() in _COLUMNS:
                return ast.Variable(_COLUMNS[name.lower()], node.span)
            case _:
                return None

    replaced: ast.Query = transform(query, column)
    return replaced


def without_places(expression: ast.Expression, scope: frozenset[str]) -> ast.Expression:
    """The expression with null for a position that no row has here."""
    missing = PLACES - scope

    def nothing(node: Any) -> ast.Expression | None:
        return ast.Literal(None, node.span) if isinstance(node, ast.Variable) and node.name in missing else None

    if not contains(expression, lambda node: isinstance(node, ast.Variable) and node.name in missing):
        return expression
    replaced: ast.Expression = transform(expression, nothing)
    return replaced
