"""A procedure call that is the whole statement: it returns all its outputs, and may take its arguments from parameters.

CALL db.awaitIndexes          the arguments are $timeOutSeconds, or the default where no such parameter is given
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from hoplite.grammar import ast
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.types import Field


def standalone_call(query: ast.Query) -> ast.CallProcedure | None:
    """The procedure call that a query consists of, apart from a USE; None if there is more to it."""
    if isinstance(query, ast.Union):
        return None
    match [clause for clause in query.clauses if not isinstance(clause, ast.UseClause)]:
        case [ast.CallProcedure() as call]:
            return call
        case _:
            return None


def with_implicit_arguments(query: ast.Query, catalogue: Catalogue, given: Collection[str]) -> ast.Query:
    """The query with the arguments of a standalone call written out; `given` are the names of the parameters."""
    call = standalone_call(query)
    if call is None or call.arguments is not None or not isinstance(query, ast.SingleQuery):
        return query
    signature = catalogue.procedure(call.name)
    assert signature is not None, "the check refuses unknown procedures"
    explicit = replace(call, arguments=tuple(_argument(field, given) for field in signature.inputs))
    return replace(query, clauses=tuple(explicit if clause is call else clause for clause in query.clauses))


def _argument(field: Field, given: Collection[str]) -> ast.Expression:
    if field.name in given or not field.has_default:
        return ast.Parameter(field.name)
    return _literal(field.default)


def _literal(value: Any) -> ast.Expression:
    if isinstance(value, list):
        return ast.ListLiteral(tuple(map(_literal, value)))
    if isinstance(value, dict):
        return ast.MapLiteral(tuple((key, _literal(item)) for key, item in value.items()))
    return ast.Literal(value)
