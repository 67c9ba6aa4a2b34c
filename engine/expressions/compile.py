"""Compiling expressions: an AST goes in, an evaluator from batches to columns comes out, once per query.

Each case names what computes it; the computations are in the other files. Sub-expressions that are the same in every
row are evaluated once per execution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions import access, arithmetic, comparison, lists, maps, text, types
from hoplite.engine.expressions.calls import call
from hoplite.engine.expressions.conditional import coalesce, searched_case
from hoplite.engine.expressions.evaluator import (
    Compiled,
    Evaluator,
    broadcast,
    map_rows,
    once_per_execution,
    up_to_first_failure,
)
from hoplite.engine.expressions.labels import has_labels, label_test
from hoplite.engine.expressions.logic import conjunction, disjunction, exclusive_or, negation
from hoplite.engine.expressions.ranges import Iterate, compile_with_range, iterated_range
from hoplite.engine.expressions.subqueries import is_in_collected, subquery
from hoplite.engine.functions.registry import Function
from hoplite.errors import execution_failed
from hoplite.grammar import ast
from hoplite.grammar.hidden import HIDDEN
from hoplite.planner.parts import PlannedSubquery
from hoplite.values.columns import Column
from hoplite.values.map_order import visiting_order

__all__ = ["Evaluator", "compile_expression"]

Functions = Mapping[str, Function]

_SUBJECT = HIDDEN + "subject"  # the column that holds the subject of a CASE; no variable has this name

_BINARY: dict[str, Callable[[Column, Column], Column]] = {
    "+": arithmetic.add,
    "-": arithmetic.subtract,
    "*": arithmetic.multiply,
    "/": arithmetic.divide,
    "%": arithmetic.modulo,
    "^": arithmetic.power,
    "||": arithmetic.join,
    "STARTS WITH": text.starts_with,
    "ENDS WITH": text.ends_with,
    "CONTAINS": text.contains_text,
    "XOR": exclusive_or,
}
_CHAINED = frozenset(_BINARY) - {"/"}  # Neo4j divides literals differently
_LONG_CHAIN = 50


def compile_expression(expression: ast.Expression | PlannedSubquery, functions: Functions) -> Evaluator:
    """The evaluator of an expression; it raises `RowError` for the first row that fails."""
    evaluate = _compile(expression, functions).evaluate

    def evaluate_in_order(batch: Batch, execution: Execution) -> Column:
        return up_to_first_failure(evaluate, batch, execution)

    return evaluate_in_order


def _compile(expression: ast.Expression | PlannedSubquery, functions: Functions) -> Compiled:
    compiled = _compile_node(expression, functions)
    if compiled.constant and not isinstance(expression, ast.Literal | ast.ConstantList | ast.Parameter):
        return Compiled(once_per_execution(compiled.evaluate))
    return compiled


def _compile_node(expression: ast.Expression | PlannedSubquery, functions: Functions) -> Compiled:
    def part(inner: ast.Expression) -> Compiled:
        return _compile(inner, functions)

    if isinstance(expression, ast.Slice | ast.Index | ast.FunctionCall | ast.Binary):
        looking = compile_with_range(expression, part)
        if looking is not None:
            return looking
    match expression:
        case ast.Literal(value=value) | ast.ConstantList(value=value):
            return Compiled(lambda batch, _: broadcast(value, batch.row_count))
        case ast.Parameter(name=name):
            return Compiled(lambda batch, execution: broadcast(execution.parameters[name], batch.row_count))
        case ast.Variable(name=name):
            return Compiled(lambda batch, _: batch[name], frozenset([name]))
        case ast.CaseSubject():
            return Compiled(lambda batch, _: batch[_SUBJECT], frozenset([_SUBJECT]))
        case ast.ListLiteral(items=items):
            return _over(
                [part(item) for item in items], lambda batch, columns, _: lists.list_of(columns, batch.row_count)
            )
        case ast.MapLiteral(entries=entries):
            place = {
                key: number for number, (key, _) in enumerate(entries)
            }  # of two entries with the same key, the last one wins
            keys = visiting_order(place)
            return _over(
                [part(value) for _, value in entries],
                lambda batch, columns, _: maps.map_of(keys, [columns[place[key]] for key in keys], batch.row_count),
            )
        case ast.Property(subject=subject, key=key):
            return _over([part(subject)], lambda _, columns, execution: access.property_of(columns[0], key, execution))
        case ast.Index(subject=subject, index=index):
            return _over(
                [part(subject), part(index)],
                lambda _, columns, execution: access.element_of(columns[0], columns[1], execution),
            )
        case ast.Slice():
            return _compile_slice(expression, functions)
        case ast.Unary():
            return _compile_unary(expression, functions)
        case ast.Binary():
            return _compile_binary(expression, functions)
        case ast.Comparison():
            return _compile_comparison(expression, functions)
        case ast.IsNull(operand=operand, negated=negated):
            return _unary(part(operand), lambda column: types.is_null(column, negated))
        case ast.IsType(operand=operand, type=type_name, negated=negated):
            return _unary(part(operand), types.is_type(type_name, negated))
        case ast.IsNormalized(operand=operand, form=form, negated=negated):
            return _unary(part(operand), lambda column: types.is_normalized(column, form, negated))
        case ast.HasLabels():
            return _compile_labels(expression, functions)
        case ast.FunctionCall():
            return _compile_call(expression, functions)
        case ast.Case():
            return _compile_case(expression, functions)
        case ast.ListComprehension() | ast.Quantifier() | ast.Reduce():
            return _compile_iteration(expression, functions)
        case ast.MapProjection():
            return _compile_projection(expression, functions)
        case PlannedSubquery(imports=imports):
            return Compiled(subquery(expression), frozenset(imports), stable=False)
        case ast.CountStar():
            return Compiled(_misplaced_aggregate)  # the check lets it pass where Neo4j fails only at run time
        case (
            ast.PatternComprehension()
            | ast.PatternExpression()
            | ast.ShortestPathExpression()
            | ast.SubqueryExpression()
        ):
            raise AssertionError(f"the planner replaces every {type(expression).__name__}")
        case _:
            assert_never(expression)


# --- combining parts -----------------------------------------------------------------------------------------------


def _joined(evaluate: Evaluator, parts: Sequence[Compiled], bound: frozenset[str] = frozenset()) -> Compiled:
    """An evaluator composed of parts; `bound` are the names it binds for them."""
    uses = frozenset(name for p in parts for name in p.uses)
    return Compiled(evaluate, uses - bound, all(p.stable for p in parts))


def _over(parts: Sequence[Compiled], combine: Callable[[Batch, list[Column], Execution], Column]) -> Compiled:
    """All parts evaluated from left to right, then combined."""

    def evaluate(batch: Batch, execution: Execution) -> Column:
        return combine(batch, [p.evaluate(batch, execution) for p in parts], execution)

    return _joined(evaluate, parts)


def _unary(operand: Compiled, function: Callable[[Column], Column]) -> Compiled:
    return _joined(lambda batch, execution: function(operand.evaluate(batch, execution)), [operand])


def _binary(left: Compiled, right: Compiled, function: Callable[[Column, Column], Column]) -> Compiled:
    def evaluate(batch: Batch, execution: Execution) -> Column:
        return function(left.evaluate(batch, execution), right.evaluate(batch, execution))

    return _joined(evaluate, [left, right])


# --- operators -----------------------------------------------------------------------------------------------------


def _compile_unary(expression: ast.Unary, functions: Functions) -> Compiled:
    operand = expression.operand
    match expression.operator:
        case "-":
            return _unary(_compile(operand, functions), arithmetic.negate)
        case "NOT" if isinstance(operand, ast.Unary) and operand.operator == "NOT":
            return _compile_bare(operand.operand, functions)
        case "NOT":
            return _unary(_compile(operand, functions), negation)
        case _:
            return _compile(operand, functions)


def _compile_binary(expression: ast.Binary, functions: Functions) -> Compiled:
    if expression.operator in ("AND", "OR"):
        return _compile_connective(expression, functions)
    links = _chain(expression)
    if len(links) > _LONG_CHAIN:
        return _compile_chain(links, functions)
    left, right = _compile(expression.left, functions), _compile(expression.right, functions)
    if expression.operator == "IN":
        if isinstance(expression.right, PlannedSubquery) and expression.right.kind == "collect":
            return _joined(is_in_collected(left, expression.right), [left, right])
        by_list = comparison.is_in_constant if right.constant and not left.constant else comparison.is_in_lists
        return _joined(by_list(left, right), [left, right])
    if expression.operator == "/" and _is_literal_number(expression.left) and _is_literal_number(expression.right):
        return _binary(left, right, arithmetic.divide_literals)
    if expression.operator == "=~":
        return _joined(text.matching(left.evaluate, right.evaluate), [left, right])
    return _binary(left, right, _BINARY[expression.operator])


def _chain(expression: ast.Expression) -> list[ast.Binary]:
    """The operators of `a + b - c`, the first one first."""
    links: list[ast.Binary] = []
    while isinstance(expression, ast.Binary) and expression.operator in _CHAINED:
        links.append(expression)
        expression = expression.left
    links.reverse()
    return links


def _compile_chain(links: list[ast.Binary], functions: Functions) -> Compiled:
    """A long chain from left to right, without nesting a call for each operator."""
    first = _compile(links[0].left, functions)
    steps = [(_BINARY[link.operator], _compile(link.right, functions)) for link in links]

    def evaluate(batch: Batch, execution: Execution) -> Column:
        column = first.evaluate(batch, execution)
        for combine, operand in steps:
            execution.check_time()
            column = combine(column, operand.evaluate(batch, execution))
        return column

    return _joined(evaluate, [first, *(operand for _, operand in steps)])


def _is_literal_number(expression: ast.Expression) -> bool:
    """A number, or arithmetic on numbers: what Neo4j computes before it runs the query."""
    match expression:
        case ast.Literal(value=value):
            return type(value) in (int, float)
        case ast.Unary(operator="-" | "+", operand=operand):
            return _is_literal_number(operand)
        case ast.Binary(operator="+" | "-" | "*" | "/" | "%" | "^", left=left, right=right):
            return _is_literal_number(left) and _is_literal_number(right)
        case _:
            return False


def _compile_connective(expression: ast.Binary, functions: Functions) -> Compiled:
    """AND and OR, simplified as Neo4j does: `x AND true` and `x AND x` are x itself, whatever x is."""
    decisive = expression.operator == "OR"
    flat = dict.fromkeys(_flattened(expression, expression.operator))
    if ast.Literal(decisive) in flat:
        return _compile_node(ast.Literal(decisive), functions)
    flat.pop(ast.Literal(not decisive), None)
    if not flat:
        return _compile_node(ast.Literal(not decisive), functions)
    if len(flat) == 1:
        return _compile_bare(next(iter(flat)), functions)
    operands = [_compile(operand, functions) for operand in flat]
    return _joined((disjunction if decisive else conjunction)(operands), operands)


def _compile_bare(operand: ast.Expression, functions: Functions) -> Compiled:
    """The rest of a predicate that Neo4j has simplified, which no longer has to be true or false.

    Only a parameter is known to be a list before the query runs; it is then made a predicate.
    """
    compiled = _compile(operand, functions)
    if not isinstance(operand, ast.Parameter):
        return compiled
    return _unary(compiled, lambda column: map_rows(lambda v: bool(v) if isinstance(v, list) else v, column))


def _misplaced_aggregate(batch: Batch, execution: Execution) -> Column:
    raise RowError(0, execution_failed("Aggregations should not be used like this."))


def _flattened(expression: ast.Expression, operator: str) -> list[ast.Expression]:
    """The operands of a chain of one operator, from left to right; machine-written chains may be long."""
    operands: list[ast.Expression] = []
    waiting = [expression]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, ast.Binary) and inner.operator == operator:
            waiting += [inner.right, inner.left]
        else:
            operands.append(inner)
    return operands


def _compile_comparison(expression: ast.Comparison, functions: Functions) -> Compiled:
    """A chain `a < b < c` is `a < b AND b < c`."""
    operands = [_compile(operand, functions) for operand in expression.operands]
    pairs = zip(operands, operands[1:], expression.operators, strict=False)
    links = [_binary(left, right, comparison.COMPARATORS[operator]) for left, right, operator in pairs]
    return links[0] if len(links) == 1 else _joined(conjunction(links), links)


def _compile_slice(expression: ast.Slice, functions: Functions) -> Compiled:
    bounds = [bound for bound in (expression.start, expression.end) if bound is not None]
    parts = [_compile(inner, functions) for inner in (expression.subject, *bounds)]
    if expression.start is not None and expression.end is not None:
        function: Callable[..., object] = access.slice_value
    elif expression.start is not None:
        function = access.slice_from
    elif expression.end is not None:
        function = access.slice_to
    else:
        function = comparison.as_list
    return _over(parts, lambda _, columns, __: map_rows(function, *columns))


def _compile_labels(expression: ast.HasLabels, functions: Functions) -> Compiled:
    operand = _compile(expression.operand, functions)
    parts = [operand]

    def dynamic(inner: ast.Expression) -> Compiled:
        parts.append(_compile(inner, functions))
        return parts[-1]

    test = label_test(expression.labels, dynamic)
    return _joined(has_labels(operand, test), parts)


# --- calls, CASE, iteration ------------------------------------------------------------------------------------------


def _compile_call(expression: ast.FunctionCall, functions: Functions) -> Compiled:
    arguments = [_compile(argument, functions) for argument in expression.arguments]
    name = expression.name.lower()
    if name == "coalesce":
        return _joined(coalesce(arguments), arguments)
    if name == "exists":
        return arguments[0]  # a pattern, which is already a predicate
    function = functions[name]
    compiled = _joined(call(function, arguments), arguments)
    stable = compiled.stable and function.signature.deterministic and function.signature.built_in
    return Compiled(compiled.evaluate, compiled.uses, stable)


def _compile_case(expression: ast.Case, functions: Functions) -> Compiled:
    default = None if expression.default is None else _compile(expression.default, functions)
    subject = ast.CaseSubject()
    whens, parts = [], [] if default is None else [default]
    for when in expression.whens:
        conditions = [_compile(condition, functions) for condition in when.conditions]
        if expression.subject is not None:
            # A condition is a value to compare with, unless it is a predicate that mentions the subject.
            conditions = [
                c if _SUBJECT in c.uses else _binary(_compile(subject, functions), c, comparison.equal)
                for c in conditions
            ]
        result = _compile(when.result, functions)
        whens.append((conditions, result))
        parts += [*conditions, result]
    choose = searched_case(whens, default)
    if expression.subject is None:
        return _joined(choose, parts)
    value = _compile(expression.subject, functions)

    def evaluate(batch: Batch, execution: Execution) -> Column:
        return choose(batch.with_columns({_SUBJECT: value.evaluate(batch, execution)}), execution)

    inner = _joined(choose, parts, frozenset([_SUBJECT]))
    return Compiled(evaluate, inner.uses | value.uses, inner.stable and value.stable)


def _compile_iteration(
    expression: ast.ListComprehension | ast.Quantifier | ast.Reduce, functions: Functions
) -> Compiled:
    source = _compile(expression.source, functions)
    variable = expression.variable.name
    bound = frozenset([variable])

    def over_range(kind: str, iterate: Iterate) -> Evaluator:
        """The same over a range that is too long for a list, where the source is one."""
        found = iterated_range(expression.source, kind, iterate, lambda inner: _compile(inner, functions))
        return iterate(source) if found is None else found

    def optional(inner: ast.Expression | None) -> Compiled | None:
        return None if inner is None else _compile(inner, functions)

    match expression:
        case ast.ListComprehension():
            condition, result = optional(expression.predicate), optional(expression.result)
            evaluate = over_range("list", lambda given: lists.comprehension(variable, given, condition, result))
            inside = [p for p in (condition, result) if p is not None]
            outside = [source]
        case ast.Quantifier(kind=kind):
            test = _compile(expression.predicate or ast.Literal(True), functions)
            folded = kind.lower()
            evaluate = over_range(folded, lambda given: lists.quantifier(folded, variable, given, test))
            inside, outside = [test], [source]
        case ast.Reduce(accumulator=accumulator):
            initial, step = _compile(expression.initial, functions), _compile(expression.step, functions)
            evaluate = lists.reduction(accumulator.name, initial, variable, source, step)
            inside, outside = [step], [source, initial]
            bound |= {accumulator.name}
    inner, outer = _joined(evaluate, inside, bound), _joined(evaluate, outside)
    return Compiled(evaluate, inner.uses | outer.uses, inner.stable and outer.stable)


def _compile_projection(expression: ast.MapProjection, functions: Functions) -> Compiled:
    subject = _compile(expression.subject, functions)
    entries: list[maps.Entry] = []
    everything = False
    for item in expression.items:
        match item:
            case ast.ProjectedProperty(key=key):
                entries.append(maps.Entry(key, None))
            case ast.AllProperties():
                everything = True
            case ast.ProjectedVariable(variable=variable):
                entries.append(maps.Entry(variable.name, _compile(variable, functions)))
            case ast.ProjectedEntry(key=key, value=value):
                entries.append(maps.Entry(key, _compile(value, functions)))
            case _:
                assert_never(item)
    parts = [subject, *(entry.value for entry in entries if entry.value is not None)]
    return _joined(maps.projection(subject, entries, everything), parts)
