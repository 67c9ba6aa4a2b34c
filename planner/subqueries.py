"""Plan the subqueries inside an expression: EXISTS {}, COUNT {}, COLLECT {}, patterns as predicates and
comprehensions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hoplite.grammar import ast
from hoplite.grammar.hidden import HIDDEN
from hoplite.grammar.tree import contains, transform
from hoplite.planner import logical as lp
from hoplite.planner.aggregates import is_aggregate
from hoplite.planner.csv_place import PLACES
from hoplite.planner.determinism import is_deterministic
from hoplite.planner.parts import AggregateCall, PlannedSubquery
from hoplite.planner.projections import Imported
from hoplite.planner.variables import free_variables

if TYPE_CHECKING:
    from hoplite.planner.build import Builder

_SUBQUERIES = (
    ast.SubqueryExpression,
    ast.PatternExpression,
    ast.PatternComprehension,
    ast.ShortestPathExpression,
)


def plan_subqueries(expression: Any, scope: frozenset[str], builder: Builder) -> Any:
    """The expression with each subquery replaced by its plan; `scope` has the names it may refer to."""
    if not contains(expression, lambda node: isinstance(node, _SUBQUERIES)):
        return expression

    def change(node: Any) -> Any:
        match node:
            case ast.SubqueryExpression():
                return _subquery(node, scope, builder)
            case ast.PatternExpression(pattern=pattern, span=span):
                match = ast.MatchClause((ast.PathPattern(None, None, pattern),))
                return _matched("exists", node, match, None, scope, builder, span)
            case ast.FunctionCall(name=name, arguments=(ast.PatternComprehension() as inside,)) if (
                name.lower() == "size" and _cannot_fail(inside.result)
            ):
                path = ast.PathPattern(inside.path_variable, None, inside.pattern)
                match = ast.MatchClause((path,), inside.predicate)
                return _matched("count", inside, match, None, scope, builder, inside.span)
            case ast.PatternComprehension():
                path = ast.PathPattern(node.path_variable, None, node.pattern)
                match = ast.MatchClause((path,), node.predicate)
                return _matched("collect", node, match, node.result, scope, builder, node.span)
            case ast.ShortestPathExpression(pattern=pattern, span=span):
                path_name = builder.names.unnamed()
                match = ast.MatchClause((ast.PathPattern(ast.Variable(path_name), None, pattern),))
                kind = "collect" if pattern.every else "single"
                return _matched(kind, node, match, ast.Variable(path_name), scope, builder, span)
            # Expressions that bind a variable, which is in scope inside them.
            case ast.ListComprehension():
                inner = scope | {node.variable.name}
                return replace(
                    node,
                    source=plan_subqueries(node.source, scope, builder),
                    predicate=plan_subqueries(node.predicate, inner, builder),
                    result=plan_subqueries(node.result, inner, builder),
                )
            case ast.Quantifier():
                inner = scope | {node.variable.name}
                return replace(
                    node,
                    source=plan_subqueries(node.source, scope, builder),
                    predicate=plan_subqueries(node.predicate, inner, builder),
                )
            case ast.Reduce():
                inner = scope | {node.variable.name, node.accumulator.name}
                return replace(
                    node,
                    initial=plan_subqueries(node.initial, scope, builder),
                    source=plan_subqueries(node.source, scope, builder),
                    step=plan_subqueries(node.step, inner, builder),
                )
            case _:
                return None

    return transform(expression, change)


def _cannot_fail(result: ast.Expression) -> bool:
    """Whether an expression has a value in every row, so that it makes no difference whether it is computed."""
    return isinstance(result, ast.Variable | ast.Literal) or (
        isinstance(result, ast.Property) and isinstance(result.subject, ast.Variable)
    )


def _imports(node: Any, scope: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(free_variables(node) & scope))


def _subquery(node: ast.SubqueryExpression, scope: frozenset[str], builder: Builder) -> PlannedSubquery:
    imports = _imports(node, scope)
    kept = Imported(frozenset(imports) - PLACES, are_keys=True)
    query = node.query if node.kind == "COLLECT" else _without_values(node.query, builder)
    built = builder.query(query, lp.Argument(imports), frozenset(imports), kept)
    value = built.columns[0] if node.kind == "COLLECT" and built.columns else None
    return _planned(node.kind.lower(), built.plan, imports, value, node.span, builder)


def _without_values(query: ast.Query, builder: Builder) -> ast.Query:
    """A query of which only the number of rows counts: the values of a plain RETURN at its end are not computed."""
    if not isinstance(query, ast.SingleQuery) or not isinstance(last := query.clauses[-1], ast.ReturnClause):
        return query
    returned = last.projection
    is_plain = not (returned.star or returned.distinct or returned.order or returned.skip or returned.limit)
    if not is_plain or contains(returned, lambda inner: is_aggregate(inner, builder.catalogue)):
        return query
    items = (ast.ReturnItem(ast.Literal(1), None, "1"),)
    return replace(query, clauses=(*query.clauses[:-1], replace(last, projection=replace(returned, items=items))))


def _planned(
    kind: str, plan: lp.Plan, imports: tuple[str, ...], value: str | None, span: ast.Span, builder: Builder
) -> PlannedSubquery:
    repeatable = is_deterministic(plan, builder.catalogue)
    if kind == "exists":  # one result per row is as good as many; this tells the rules
        plan = lp.Distinct(plan, ())
    elif kind == "count":  # rules can count without making rows
        value = HIDDEN + "count"
        plan = lp.EagerAggregation(plan, (), (AggregateCall(value, "count", False, ()),))
    return PlannedSubquery(kind, builder.physical(plan), imports, value, span, repeatable)


def _matched(
    kind: str,
    node: Any,
    match: ast.MatchClause,
    result: ast.Expression | None,
    scope: frozenset[str],
    builder: Builder,
    span: ast.Span,
) -> PlannedSubquery:
    """A MATCH over the outer row, and the value of `result` for each match."""
    imports = _imports(node, scope)
    plan, inner = builder.match((match,), lp.Argument(imports), frozenset(imports))
    value = None
    if result is not None:
        value = HIDDEN + "value"
        plan = lp.Projection(plan, ((value, plan_subqueries(result, inner, builder)),))
        plan = lp.Select(plan, (value,))
    return _planned(kind, plan, imports, value, span, builder)
