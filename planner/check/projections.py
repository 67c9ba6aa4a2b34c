"""WITH and RETURN: columns, grouping keys, and what ORDER BY, SKIP, LIMIT and WHERE may refer to.

Without DISTINCT and aggregation, ORDER BY and WHERE see the projected names and the earlier ones. With either, they see
only what is projected: by its name, or as the same expression written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from hoplite.errors import cypher_error
from hoplite.gql_status import LARGEST, because, server_fault
from hoplite.grammar import ast
from hoplite.grammar.tree import children, transform, walk
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.check.expressions import PROJECTED, VALUE, check_predicate, forbid_misplaced, type_of
from hoplite.planner.check.functions import aggregates_in
from hoplite.planner.check.render import source
from hoplite.planner.check.scopes import Guard, Scope
from hoplite.planner.check.state import Check
from hoplite.planner.check.typespec import TypeSpec, exactly
from hoplite.planner.types import INTEGER

_INTEGERS = exactly(INTEGER)
_UNKNOWN_ERROR = "Neo.DatabaseError.General.UnknownError"


@dataclass(frozen=True, slots=True)
class Projected:
    """The outcome of a WITH or RETURN: its columns in order with their types, and the scope after it."""

    columns: dict[str, TypeSpec]
    scope: Scope


def check_projection(
    check: Check,
    projection: ast.Projection,
    predicate: ast.Expression | None,
    clause: ast.WithClause | ast.ReturnClause,
    scope: Scope,
    *,
    alias_rule: str | None = None,
) -> Projected:
    """Check what WITH and RETURN share. `alias_rule` names the clause in which expressions need a name."""
    keyword = "WITH" if isinstance(clause, ast.WithClause) else "RETURN"
    if projection.star and keyword == "RETURN" and not scope.names and not projection.items:
        message = "RETURN * is not allowed when there are no variables in scope"
        raise check.error(message, clause.span.start, because("42I37"))
    types = [type_of(check, item.expression, scope, PROJECTED) for item in projection.items]
    if alias_rule is not None:
        _require_aliases(check, projection, alias_rule)
    columns = _columns(check, projection, types, scope)
    aggregating = any(aggregates_in(check, item.expression) for item in projection.items)
    after = scope.replaced(columns)
    _check_order(check, projection, predicate, scope, after, aggregating=aggregating)
    _forbid_shadowing(check, projection, scope, returning=keyword == "RETURN")
    for name, value in (("LIMIT", projection.limit), ("SKIP", projection.skip)):
        if value is not None:
            check_count(check, value, name, "non-negative")
    if aggregating:
        _check_grouping(check, projection, _implicit_keys(projection, keyword, scope), scope)
    return Projected(columns, after)


def _require_aliases(check: Check, projection: ast.Projection, rule: str) -> None:
    for item in projection.items:
        if item.alias is None and not isinstance(item.expression, ast.Variable | ast.MapProjection):
            message = f"Expression in {rule} must be aliased (use AS)"
            raise check.error(message, item.span.start, because("42N21", rule))


def _columns(check: Check, projection: ast.Projection, types: list[TypeSpec], scope: Scope) -> dict[str, TypeSpec]:
    columns: dict[str, TypeSpec] = {}
    named = {item.name for item in projection.items}
    if projection.star:  # an item may replace a variable
        columns.update((name, types) for name, types in sorted(scope.names.items()) if name not in named)
    for item, item_types in zip(projection.items, types, strict=True):
        if item.name in columns:
            first = next(other for other in projection.items if other.name == item.name)
            raise check.error("Multiple result columns with the same name are not supported", first.span.start)
        columns[item.name] = item_types
    return columns


def _is_itself(item: ast.ReturnItem) -> bool:
    return isinstance(item.expression, ast.Variable) and item.expression.name == item.name


def _forbid_shadowing(check: Check, projection: ast.Projection, scope: Scope, *, returning: bool) -> None:
    for item in projection.items:
        if item.alias is not None and not _is_itself(item):
            if returning and scope.guard is Guard.IMPORTED:
                continue  # the enclosing clause reports that the name is taken
            check.forbid_shadowing(item.alias.name, item.alias.span.start, scope)


def forbid_unaggregated_order(check: Check, clause: ast.WithClause | ast.ReturnClause) -> None:
    """ORDER BY aggregates only where the clause does. Neo4j checks this before names and types."""
    projection = clause.projection
    if not any(aggregates_in(check, item.expression) for item in projection.order):
        return
    if not any(aggregates_in(check, item.expression) for item in projection.items):
        keyword = "WITH" if isinstance(clause, ast.WithClause) else "RETURN"
        message = f"Cannot use aggregation in ORDER BY if there are no aggregate expressions in the preceding {keyword}"
        raise check.error(message, clause.span.start)


# --- ORDER BY and WHERE --------------------------------------------------------------------------------------------


def _check_order(
    check: Check,
    projection: ast.Projection,
    predicate: ast.Expression | None,
    before: Scope,
    after: Scope,
    *,
    aggregating: bool,
) -> None:
    expressions = [item.expression for item in projection.order]
    narrowed = aggregating or projection.distinct
    if not narrowed:
        visible = Scope(after.names, Scope(before.names, before.outer))
        for expression in expressions:
            type_of(check, _by_column(expression, projection), visible, VALUE)
        if predicate is not None:
            check_predicate(check, _by_column(predicate, projection), visible)
        return
    if not expressions and predicate is None:
        return
    dropped = frozenset(before.visible().keys() - after.visible().keys())
    for expression in expressions:
        narrow = _by_column(expression, projection)
        _forbid_aggregates_over_lists(check, narrow)
        _forbid_left_behind(check, narrow, before, after)
        type_of(check, narrow, Scope({}, after, dropped=dropped), PROJECTED)
        _forbid_new_aggregates(check, narrow)
    if predicate is not None:
        narrow = _by_column(predicate, projection)
        _forbid_aggregates_over_lists(check, narrow)
        _forbid_left_behind(check, narrow, before, after)
        check_predicate(check, narrow, Scope({}, after, dropped=dropped))


def _by_column(expression: ast.Expression, projection: ast.Projection) -> ast.Expression:
    """The expression with projected parts replaced by the names of their columns.

    What has variables of its own is not looked into: Neo4j does not find a column inside it.
    """

    def column(node: Any) -> Any:
        for item in projection.items:
            if node == item.expression:
                return ast.Variable(item.name, node.span)
        match node:
            case ast.ListComprehension() | ast.Quantifier():
                return replace(node, source=_by_column(node.source, projection))
            case ast.Reduce():
                initial, over = _by_column(node.initial, projection), _by_column(node.source, projection)
                return replace(node, initial=initial, source=over)
            case ast.SubqueryExpression() | ast.PatternComprehension():
                return node
        return None

    changed: ast.Expression = transform(expression, column)
    return changed


def _forbid_left_behind(check: Check, expression: ast.Expression, before: Scope, after: Scope) -> None:
    """Raise if an expression needs a variable that DISTINCT or an aggregation has dropped."""
    for variable in free_variables(expression, frozenset()):
        if after.find(variable.name) is None and before.find(variable.name) is not None:
            raise check.dropped(variable)


def _forbid_aggregates_over_lists(check: Check, expression: ast.Expression) -> None:
    """Raise for `[x IN list | sum(n.k)]`, which is an error wherever it stands, whatever its names are."""
    for node in walk(expression, not_below=(ast.SubqueryExpression,)):
        match node:
            case ast.ListComprehension(predicate=predicate, result=result):
                inner = (predicate, result)
            case ast.Quantifier(predicate=predicate):
                inner = (predicate, None)
            case ast.Reduce(step=step):
                inner = (step, None)
            case _:
                continue
        for part in inner:
            for found in () if part is None else aggregates_in(check, part):
                if isinstance(found, ast.FunctionCall):
                    forbid_misplaced(check, found, VALUE)


def _forbid_new_aggregates(check: Check, expression: ast.Expression) -> None:
    found = aggregates_in(check, expression)
    if not found:
        return
    raise check.error(
        f"Illegal aggregation expression(s) in order by: {source(found[0], check.text)}. If an aggregation expression "
        "is used in order by, it also needs to be a projection item on it's own. For example, in 'RETURN n.a, 1 + "
        "count(*) ORDER BY count(*) + 1' the aggregation expression 'count(*) + 1' is not a projection item on its "
        "own, but it could be rewritten to 'RETURN n.a, 1 + count(*) AS cnt ORDER BY 1 + count(*)'.",
        found[0].span.start,
    )


def free_variables(node: object, bound: frozenset[str]) -> Iterator[ast.Variable]:
    """The variables that an expression takes from outside; those inside patterns are left out."""
    if isinstance(node, ast.Variable):
        if node.name not in bound:
            yield node
        return
    if isinstance(node, ast.SubqueryExpression | ast.PatternComprehension | ast.PatternExpression):
        return
    inner = bound
    if isinstance(node, ast.ListComprehension | ast.Quantifier):
        inner = bound | {node.variable.name}
    elif isinstance(node, ast.Reduce):
        inner = bound | {node.variable.name, node.accumulator.name}
    for child in children(node):
        yield from free_variables(child, inner)


# --- SKIP and LIMIT --------------------------------------------------------------------------------------------------


def check_count(check: Check, expression: ast.Expression, keyword: str, kind: str) -> None:
    """SKIP, LIMIT and the batch size: an integer that is known before the query runs."""
    static = f"so that the value for {keyword} can be statically calculated."
    for node in walk(expression):
        if isinstance(node, ast.SubqueryExpression | ast.PatternExpression | ast.PatternComprehension):
            message = f"It is not allowed to use patterns in the expression for {keyword}, {static}"
            raise check.error_at(message, expression)
        if isinstance(node, ast.CountStar):
            message = "Failed to evaluate expression CountStar()"
            raise cypher_error(_UNKNOWN_ERROR, message, server_fault(message))
    for variable in free_variables(expression, frozenset()):
        raise check.error_at(f"It is not allowed to refer to variables in {keyword}, {static}", variable)
    types = type_of(check, expression, Scope(), VALUE)
    literal = _constant(check, expression, folded=kind == "non-negative")
    if literal is not None:
        least = 0 if kind == "non-negative" else 1
        is_decimal = type(literal.value) is int and not literal.shown.startswith(("0x", "0o"))
        if is_decimal and cast(int, literal.value) >= least:
            return
        message = f"Invalid input. '{literal.shown}' is not a valid value. Must be a {kind} integer."
        cause = because("42N31", keyword, "INTEGER", least, LARGEST, literal.shown)
        raise check.error(message, literal.place, cause)
    check.expect(_INTEGERS, types, expression)


@dataclass(frozen=True, slots=True)
class _Constant:
    value: object
    shown: str
    place: int


def _constant(check: Check, expression: ast.Expression, folded: bool) -> _Constant | None:
    """A constant that is known before the query runs: a literal, or integers that operators connect if it is folded."""
    place = expression.span.start
    match expression:
        case ast.Literal(value=None):
            return _Constant(None, "NULL", place)
        case ast.Literal(value=str() as value):
            return _Constant(value, value, place)
        case ast.Literal(value=value):
            return _Constant(value, check.text[expression.span.start : expression.span.end], place)
        case ast.Unary(operator="-", operand=ast.Literal(value=int() | float() as number, span=span)):
            sign, digits = check.text[place : span.start].rstrip(), check.text[span.start : span.end]
            if sign == "-":
                return _Constant(-number, f"-{digits}", place)
            return _Constant(-number, str(-number), place) if folded and isinstance(number, int) else None
        case ast.Unary(operator="+", operand=operand) if folded:
            return _constant(check, operand, folded)
        case ast.Unary(operator="-", operand=operand) if folded:
            value = _folded("-", 0, _constant(check, operand, folded))
            return None if value is None else _Constant(value, str(value), place)
        case ast.Binary(operator=operator, left=left, right=right) if folded:
            first, second = _constant(check, left, folded), _constant(check, right, folded)
            value = None if first is None else _folded(operator, first.value, second)
            return None if value is None else _Constant(value, str(value), expression.operator_span.start)
        case _:
            return None


def _folded(operator: str, left: object, right: _Constant | None) -> int | None:
    """The integer that an operator makes of two; None where it does not, which is found out at run time."""
    if right is None or type(left) is not int or type(right.value) is not int:
        return None
    match operator:
        case "+":
            value = left + right.value
        case "-":
            value = left - right.value
        case "*":
            value = left * right.value
        case "/" | "%" if right.value:
            quotient = abs(left) // abs(right.value)
            quotient = quotient if (left < 0) == (right.value < 0) else -quotient
            value = quotient if operator == "/" else left - quotient * right.value
        case _:
            return None
    return value if -LARGEST <= value <= LARGEST else None


# --- grouping keys ---------------------------------------------------------------------------------------------------


def _implicit_keys(projection: ast.Projection, keyword: str, scope: Scope) -> Mapping[str, TypeSpec]:
    """The names that must be grouping keys when used next to an aggregation.

    What an EXISTS, COUNT or COLLECT takes from outside has one value for all its rows. Neo4j does not recognise this in
    a plain RETURN at its end; with an ORDER BY it treats a RETURN as a WITH and a RETURN.
    """
    visible = scope.visible()
    if scope.guard is Guard.SUBQUERY and scope.outer is not None and (keyword == "WITH" or projection.order):
        return {name: types for name, types in visible.items() if scope.outer.find(name) is None}
    return visible


def _check_grouping(check: Check, projection: ast.Projection, implicit: Mapping[str, TypeSpec], scope: Scope) -> None:
    """Only grouping keys may be used next to an aggregation: variables and properties that are projected by
    themselves."""
    names = set(scope.names) if projection.star else set()
    keys: list[ast.Expression] = []
    for item in projection.items:
        if isinstance(item.expression, ast.Variable):
            names.add(item.expression.name)
        elif isinstance(item.expression, ast.Property) and isinstance(item.expression.subject, ast.Variable):
            keys.append(item.expression)
    for item in projection.items:
        if not aggregates_in(check, item.expression):
            continue
        found = list(_ungrouped(check, item.expression, names, keys, implicit, frozenset()))
        if found:
            shown = dict.fromkeys(text for text, _ in found)
            message = (
                "Aggregation column contains implicit grouping expressions. For example, in "
                "'RETURN n.a, n.a + n.b + count(*)' the aggregation expression 'n.a + n.b + count(*)' includes the "
                "implicit grouping key 'n.b'. It may be possible to rewrite the query by extracting these "
                "grouping/aggregation expressions into a preceding WITH clause. "
                f"Illegal expression(s): {', '.join(shown)}"
            )
            cause = because("42I18", ", ".join(f"`{text}`" for text in shown))
            check.later(check.error(message, found[0][1], cause))


def _ungrouped(
    check: Check,
    node: object,
    names: set[str],
    keys: list[ast.Expression],
    visible: Mapping[str, TypeSpec],
    bound: frozenset[str],
) -> Iterator[tuple[str, int]]:
    """What an aggregating expression uses that is not a grouping key: its text and offset."""
    match node:
        case ast.CountStar():
            return
        case ast.FunctionCall() if check.is_aggregate(node):
            return
        case ast.Variable(name=name):
            if name not in bound and name not in names and name in visible:
                yield name, node.span.start
            return
        case ast.Property(subject=ast.Variable(name=name), key=key):
            if name not in bound and name not in names and node not in keys and name in visible:
                yield f"{name}.{key}", node.span.start
            return
        case ast.MapProjection(subject=subject, items=items):
            yield from _ungrouped(check, subject, names, keys, visible, bound)
            for item in items:
                if isinstance(item, ast.ProjectedProperty):
                    implied = ast.Property(subject, item.key, item.span)
                    yield from _ungrouped(check, implied, names, keys, visible, bound)
                else:
                    yield from _ungrouped(check, item, names, keys, visible, bound)
            return
        case ast.ListComprehension() | ast.Quantifier():
            bound |= {node.variable.name}
        case ast.Reduce():
            bound |= {node.variable.name, node.accumulator.name}
        case ast.SubqueryExpression():
            for inner in walk(node.query):
                if isinstance(inner, ast.Variable):
                    yield from _ungrouped(check, inner, names, keys, visible, bound)
            return
        case _:
            pass
    for child in children(node):
        yield from _ungrouped(check, child, names, keys, visible, bound)
