"""Expressions: every variable defined, every operand of a type that its operator accepts.

`type_of` checks an expression and returns the set of types it may have. `Place` says what the context allows: whether
aggregating functions may be used, and whether a boolean is expected (so that a pattern may be used).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, assert_never

from hoplite.allowance import check_time
from hoplite.errors import SYNTAX_ERROR, CypherError, execution_failed
from hoplite.gql_status import because
from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.check import functions, operators
from hoplite.planner.check.labels import check_label_predicate, note_labels
from hoplite.planner.check.patterns import check_pattern_expression, declare_comprehension
from hoplite.planner.check.scopes import Scope
from hoplite.planner.check.state import BOOLEANS, Check, wrong_type
from hoplite.planner.check.typespec import ALL, LISTS, NONE, TypeSpec, any_of, exactly, list_spec
from hoplite.planner.types import (
    BOOLEAN,
    DATE,
    DATE_TIME,
    DURATION,
    FLOAT,
    INTEGER,
    LOCAL_DATE_TIME,
    LOCAL_TIME,
    MAP,
    NODE,
    NUMBER,
    PATH,
    POINT,
    RELATIONSHIP,
    STRING,
    TIME,
)

_INTEGERS = exactly(INTEGER)
_TEXT = exactly(STRING)
_MAPS = any_of((MAP,))
_ENTITIES = exactly(NODE, RELATIONSHIP)
_STORED_VALUES = exactly(
    BOOLEAN, FLOAT, INTEGER, NUMBER, POINT, STRING, DURATION, DATE, TIME, LOCAL_TIME, LOCAL_DATE_TIME, DATE_TIME
)
STORED = _STORED_VALUES | list_spec(_STORED_VALUES)  # what a property of a node or relationship can be
_WITH_PROPERTIES = _MAPS | exactly(POINT, DURATION, DATE, TIME, LOCAL_TIME, LOCAL_DATE_TIME, DATE_TIME)
_NO_PATTERN = (
    "A pattern expression should only be used in order to test the existence of a pattern. It should therefore only "
    "be used in contexts that evaluate to a boolean, e.g. inside the function exists() or in a WHERE-clause. No other "
    "uses are allowed, instead they should be replaced by a pattern comprehension."
)
_NO_PATTERN_IN_SIZE = (
    "A pattern expression should only be used in order to test the existence of a pattern. It can no longer be used "
    "inside the function size(), an alternative is to replace size() with COUNT {}."
)


@dataclass(frozen=True, slots=True)
class Place:
    """The context of an expression.

    `aggregates`: aggregating functions are allowed. `truth`: a boolean is expected.
    """

    aggregates: bool = False
    truth: bool = False

    @property
    def value(self) -> Place:
        """The same place for an operand that need not be a boolean."""
        return PROJECTED if self.aggregates else VALUE

    @property
    def condition(self) -> Place:
        """The same place for an operand that must be true or false."""
        return _PROJECTED_PREDICATE if self.aggregates else PREDICATE


VALUE = Place()
PREDICATE = Place(truth=True)
PROJECTED = Place(aggregates=True)
_PROJECTED_PREDICATE = Place(aggregates=True, truth=True)


_CHECKED_EVERY = 4096  # items of a list


def check_predicate(check: Check, expression: ast.Expression, scope: Scope) -> None:
    """Check the predicate of a WHERE."""
    types = type_of(check, expression, scope, PREDICATE)
    check.expect_boolean(types, expression)


def type_of(check: Check, expression: ast.Expression, scope: Scope, place: Place = VALUE) -> TypeSpec:
    """Check an expression; returns the types that its value may have."""
    match expression:  # the most frequent kinds first
        case ast.Variable():
            return check.look_up(expression, scope)
        case ast.Property(subject=subject):
            types = check.expect(_WITH_PROPERTIES, type_of(check, subject, scope, place.value), subject)
            if types.everything or types.elements is not None or not types.simple <= _ENTITIES.simple:
                return ALL
            check.mentions.names[expression.key_span.start] = ("key", expression.key)
            return STORED
        case ast.FunctionCall():
            return _call(check, expression, scope, place)
        case ast.Literal(value=value):
            _forbid_old_hexadecimal(check, expression)
            return _literal(value)
        case ast.Parameter(name=name):
            return check.parameters.get(name, ALL) if check.resolved else ALL
        case ast.ListLiteral(items=items):
            return _list_of([type_of(check, item, scope, place.value) for item in items])
        case ast.ConstantList(value=value):
            return _constant(value)
        case ast.MapLiteral(entries=entries):
            for _, entry in entries:
                type_of(check, entry, scope, place.value)
            return exactly(MAP)
        case ast.Index():
            return _index(check, expression, scope, place)
        case ast.Slice():
            return _slice(check, expression, scope, place)
        case ast.Unary(operator=operator, operand=operand):
            inner = place.condition if operator == "NOT" else place.value
            return operators.unary(check, expression, type_of(check, operand, scope, inner))
        case ast.Binary():
            return _binary(check, expression, scope, place)
        case ast.Comparison(operands=operands):
            for operand in operands:
                type_of(check, operand, scope, place.value)
            return BOOLEANS
        case ast.IsType(operand=operand):
            _check_type_name(check, expression.type)
            type_of(check, operand, scope, place.value)
            return BOOLEANS if expression.negated else ALL  # the other form has no type of its own in Neo4j
        case ast.IsNull(operand=operand) | ast.IsNormalized(operand=operand):
            type_of(check, operand, scope, place.value)
            return BOOLEANS
        case ast.HasLabels(operand=operand):
            check_label_predicate(check, expression)
            types = type_of(check, operand, scope, place.value)
            check.expect(_ENTITIES, types, operand)
            note_labels(check, expression.labels, "type" if types == exactly(RELATIONSHIP) else "label")
            return BOOLEANS
        case ast.CountStar():
            if not place.aggregates:
                check.fails_when_run(execution_failed("Aggregations should not be used like this."))
            return _INTEGERS
        case ast.Case():
            return _case(check, expression, scope, place)
        case ast.CaseSubject():
            raise AssertionError("the subject of a CASE takes its place before a condition is checked")
        case ast.ListComprehension() | ast.Quantifier() | ast.Reduce():
            return _over_list(check, expression, scope, place)
        case ast.PatternComprehension():
            return _pattern_comprehension(check, expression, scope)
        case ast.MapProjection():
            return _map_projection(check, expression, scope, place)
        case ast.PatternExpression(pattern=pattern):
            check_pattern_expression(check, pattern, scope)
            if place.truth:
                return BOOLEANS
            check.later(check.error(_NO_PATTERN, expression.span.start))
            return list_spec(exactly(PATH))
        case ast.ShortestPathExpression(pattern=pattern):
            check_pattern_expression(check, pattern, scope)
            return list_spec(exactly(PATH)) if pattern.every else exactly(PATH)
        case ast.SubqueryExpression():
            return check.parts.check_subquery(check, expression, scope)
        case _:
            assert_never(expression)


def _forbid_old_hexadecimal(check: Check, literal: ast.Literal) -> None:
    start, end = literal.span.start, literal.span.end
    if isinstance(literal.value, int) and check.text.startswith(("0X", "-0X"), start):
        old = check.text[start:end]
        message = (
            f"The hex integer literal syntax `{old}` is no longer supported, "
            f"please use `{old.replace('X', 'x', 1)}` instead"
        )
        raise check.error(message, start)


def _literal(value: bool | int | float | str | None) -> TypeSpec:
    match value:
        case None:
            return ALL
        case bool():
            return exactly(BOOLEAN)
        case int():
            return exactly(INTEGER)
        case float():
            return exactly(FLOAT)
        case str():
            return exactly(STRING)
        case _:
            assert_never(value)


def _binary(check: Check, node: ast.Binary, scope: Scope, place: Place) -> TypeSpec:
    """A chain of operators leans to the left and may be long, so it is handled from its innermost operand, without
    recursion."""
    check_time()
    chain = [node]
    while isinstance(chain[-1].left, ast.Binary):
        chain.append(chain[-1].left)
    types = type_of(check, chain[-1].left, scope, _operand_place(chain[-1], place))
    for link in reversed(chain):
        check_time()
        right = type_of(check, link.right, scope, _operand_place(link, place))
        types = operators.binary(check, link, types, right)
    return types


def _operand_place(node: ast.Binary, place: Place) -> Place:
    return place.condition if node.operator in ("AND", "OR", "XOR") else place.value


def _nullability(type: ast.TypeName) -> Iterator[bool]:
    """Whether each type of a union is NOT NULL; NOTHING, and what remains of NULL NOT NULL, does not count."""
    if type.name == "UNION":
        for alternative in type.arguments:
            yield from _nullability(alternative)
    elif type.name != "NOTHING" and not (type.name == "NULL" and type.not_null):
        yield type.not_null


def _check_type_name(check: Check, type: ast.TypeName) -> None:
    if type.name == "UNION" and len(set(_nullability(type))) > 1:
        message = "All types in a Closed Dynamic Union must be nullable, or be appended with `NOT NULL`"
        raise check.error(message, type.span.start)
    for argument in type.arguments:
        _check_type_name(check, argument)


def _constant(value: Any) -> TypeSpec:
    """The type of a constant in a long list, which may itself be a list or a map."""
    if isinstance(value, dict):
        return exactly(MAP)
    if not isinstance(value, list):
        return _literal(value)
    kinds: set[type] = set()
    different: dict[object, TypeSpec] = {}  # one for each type, and for each set of types in lists
    for start in range(0, len(value), _CHECKED_EVERY):
        check_time()
        piece = value[start : start + _CHECKED_EVERY]
        if list not in (new := set(map(type, piece))) and new <= kinds:
            continue
        kinds |= new
        for item in piece:
            kind = _kind(item)
            if kind not in different:
                different[kind] = _constant(item)
    return _list_of(list(different.values()))


def _kind(value: Any) -> object:
    """The type of a constant; for a list, the types in it."""
    if type(value) is not list:
        return type(value)
    kinds: frozenset[object] = frozenset(map(type, value))
    return frozenset(map(_kind, value)) if list in kinds else kinds


def _list_of(types: list[TypeSpec]) -> TypeSpec:
    if not types:
        return LISTS
    common = types[0]
    for other in types[1:]:
        common = common.least_upper_bounds(other)
    return list_spec(common.covariant)


# --- parts of values -----------------------------------------------------------------------------------------------


def _index(check: Check, node: ast.Index, scope: Scope, place: Place) -> TypeSpec:
    subject = type_of(check, node.subject, scope, place.value)
    index = type_of(check, node.index, scope, place.value)
    check_index(check, node, subject, index)
    if subject.everything or subject & _MAPS:
        return ALL
    return subject.unwrapped or ALL


def check_index(check: Check, node: ast.Index, subject: TypeSpec, index: TypeSpec) -> None:
    """The key of a map or an entity is a string, that of a list an integer."""
    if not subject.everything and subject.simple and not subject.simple - _MAPS.simple and subject.elements is None:
        kind = "node or relationship property" if subject.simple <= _ENTITIES.simple else "map"
        literal = node.index.value if isinstance(node.index, ast.Literal) else None
        if subject.simple <= _ENTITIES.simple and isinstance(literal, str):
            check.mentions.names[node.index.span.start] = ("key", literal)
        _expect_key(check, f"{kind} key", _TEXT, index, node.index)
    elif subject.only_lists:
        _expect_key(check, "list index", _INTEGERS, index, node.index)
    elif not subject & (_WITH_PROPERTIES | LISTS) or not subject & (_MAPS | LISTS):
        if not index & (_TEXT | _INTEGERS):
            check.expect(_MAPS | LISTS, subject, node.subject)
        elif not index & _TEXT:
            check.expect(LISTS, subject, node.subject)
        elif not subject & _WITH_PROPERTIES:
            check.expect(_MAPS, subject, node.subject)


def _expect_key(check: Check, place: str, expected: TypeSpec, index: TypeSpec, expression: ast.Expression) -> None:
    if index & expected:
        return
    mismatch = "Type mismatch"
    if isinstance(expression, ast.Parameter):
        mismatch += f" for parameter '{expression.name}'"
    message = f"{mismatch}: {place} must be given as {expected}, but was {index}"
    raise check.error_at(message, expression, wrong_type(expected, index, expression, place))


def _slice(check: Check, node: ast.Slice, scope: Scope, place: Place) -> TypeSpec:
    lists = check.expect(LISTS, type_of(check, node.subject, scope, place.value), node.subject)
    bounds = [(b, type_of(check, b, scope, place.value)) for b in (node.start, node.end) if b is not None]
    if not bounds:
        message = "The start or end (or both) is required for a collection slice"
        raise check.error_at(message, node, because("42N20"))
    for bound, types in bounds:
        check.expect(_INTEGERS, types, bound)
    return lists


def _map_projection(check: Check, node: ast.MapProjection, scope: Scope, place: Place) -> TypeSpec:
    for item in node.items:
        if isinstance(item, ast.ProjectedVariable):
            check.look_up(item.variable, scope)
        elif isinstance(item, ast.ProjectedEntry):
            type_of(check, item.value, scope, place.value)
    types = check.expect(_MAPS, check.look_up(node.subject, scope), node.subject)
    if types.simple <= _ENTITIES.simple:
        for item in node.items:
            if isinstance(item, ast.ProjectedProperty):
                check.mentions.names[item.span.end - _written_length(check, item)] = ("key", item.key)
    return exactly(MAP)


def _written_length(check: Check, item: ast.ProjectedProperty) -> int:
    """The length of the key of `.key` in the text, including backticks."""
    return len(check.text[item.span.start : item.span.end].lstrip(". \t\r\n"))


# --- calls ---------------------------------------------------------------------------------------------------------


def _call(check: Check, call: ast.FunctionCall, scope: Scope, place: Place) -> TypeSpec:
    name = call.name.lower()
    if name == "exists":
        return _exists(check, call, scope, place)
    if call.distinct and ("." in name or not check.is_aggregate(call)):
        bare_name = call.name.rpartition(".")[2]
        raise check.error(f"Invalid use of DISTINCT with function '{bare_name}'", call.span.start)
    if check.is_aggregate(call):
        forbid_misplaced(check, call, place)
        for argument in call.arguments:
            _check_aggregated(check, argument)
    if name == "normalize" and len(call.arguments) == 2 and isinstance(call.arguments[1], ast.Variable):
        arguments = [type_of(check, call.arguments[0], scope, place.value), ALL]
    else:
        arguments = [_argument(check, name, argument, scope, place) for argument in call.arguments]
    return functions.call_type(check, call, arguments)


def _check_aggregated(check: Check, argument: ast.Expression) -> None:
    """What is aggregated must not itself aggregate or be random."""
    for node in walk(argument):
        if check.is_aggregate(node):
            message = "Can't use aggregate functions inside of aggregate functions."
            raise check.error(message, node.span.start)
        if isinstance(node, ast.FunctionCall) and node.name.lower() in ("rand", "randomuuid"):
            message = "Can't use non-deterministic (random) functions inside of aggregate functions."
            check.later(CypherError(SYNTAX_ERROR, message))


def _argument(check: Check, name: str, argument: ast.Expression, scope: Scope, place: Place) -> TypeSpec:
    if name == "size" and isinstance(argument, ast.PatternExpression):
        check_pattern_expression(check, argument.pattern, scope)
        check.later(check.error(_NO_PATTERN_IN_SIZE, argument.span.start))
        return ALL
    return type_of(check, argument, scope, place.value)


def _exists(check: Check, call: ast.FunctionCall, scope: Scope, place: Place) -> TypeSpec:
    types = [type_of(check, argument, scope, place.condition) for argument in call.arguments]
    if len(types) != 1:
        problem = "Insufficient" if not types else "Too many"
        cause = functions.wrong_count(call.name, 1, len(types), ("exists(input :: ANY) :: BOOLEAN",))
        raise check.error(f"{problem} parameters for function 'exists'", call.span.start, cause)
    argument = call.arguments[0]
    if isinstance(argument, ast.Property | ast.Index):
        message = (
            "The property existence syntax `... exists(variable.property)` is no longer supported. "
            "Please use `variable.property IS NOT NULL` instead."
        )
        raise check.error(message, call.span.start)
    if not isinstance(argument, ast.PatternExpression):
        cause = because("22N27", "argument", call.name, "pattern")
        raise check.error_at(f"Argument to {call.name}(...) is not a pattern", argument, cause)
    return BOOLEANS


def forbid_misplaced(check: Check, call: ast.FunctionCall, place: Place) -> None:
    """Raise if an aggregate is called where none may be."""
    if not place.aggregates:
        message = f"Invalid use of aggregating function {call.name}(...) in this context"
        raise check.error(message, call.span.start)


def _case(check: Check, node: ast.Case, scope: Scope, place: Place) -> TypeSpec:
    if node.subject is not None:
        type_of(check, node.subject, scope, place.value)
    for when in node.whens:
        for condition in when.conditions:
            _case_condition(check, node, condition, scope, place)
    result = NONE
    for when in node.whens:
        result |= type_of(check, when.result, scope, place.value)
    if node.default is not None:
        result |= type_of(check, node.default, scope, place.value)
    return result


def _case_condition(check: Check, node: ast.Case, condition: ast.Expression, scope: Scope, place: Place) -> None:
    if node.subject is None:
        types = type_of(check, condition, scope, place.condition)
        check.expect_boolean(types, condition)
        return
    type_of(check, _about(condition, node.subject), scope, place.value)


def _about(condition: ast.Expression, subject: ast.Expression) -> ast.Expression:
    """A condition of a simple CASE with the subject inserted."""
    match condition:
        case ast.CaseSubject():
            return subject
        case ast.Comparison(operands=operands):
            return replace(condition, operands=tuple(_about(operand, subject) for operand in operands))
        case ast.Binary(left=left):
            return replace(condition, left=_about(left, subject))
        case ast.IsNull(operand=operand) | ast.IsType(operand=operand) | ast.IsNormalized(operand=operand):
            return replace(condition, operand=_about(operand, subject))
        case _:
            return condition


# --- expressions over lists ----------------------------------------------------------------------------------------


def _over_list(
    check: Check, node: ast.ListComprehension | ast.Quantifier | ast.Reduce, scope: Scope, place: Place
) -> TypeSpec:
    if isinstance(node, ast.Reduce):
        return _reduce(check, node, scope, place)
    if isinstance(node, ast.Quantifier) and node.predicate is None:
        message = f"{node.kind}(...) requires a WHERE predicate"
        raise check.error(message, node.span.start, because("42N70", node.kind))
    source = type_of(check, node.source, scope, place.value)
    lists = check.expect(LISTS, source, node.source)
    inner = scope.inner()
    check.declare(node.variable, lists.unwrapped, inner)
    if node.predicate is not None:
        types = type_of(check, node.predicate, inner, PREDICATE)
        forbid_aggregates(check, node.predicate)
        check.expect_boolean(types, node.predicate)
    if isinstance(node, ast.Quantifier):
        return BOOLEANS
    if node.result is None:
        return lists
    types = type_of(check, node.result, inner, VALUE)
    forbid_aggregates(check, node.result)
    return list_spec(types)


def forbid_aggregates(check: Check, expression: ast.Expression, *, subqueries: bool = True) -> None:
    """Raise if an expression that is evaluated per element aggregates, or a subquery in it does."""
    found = functions.aggregates_in(check, expression, subqueries=subqueries)
    if found:
        message = "Can't use aggregating expressions inside of expressions executing over lists"
        raise check.error(message, found[0].span.start)


def _reduce(check: Check, node: ast.Reduce, scope: Scope, place: Place) -> TypeSpec:
    initial = type_of(check, node.initial, scope, place.value)
    lists = check.expect(LISTS, type_of(check, node.source, scope, place.value), node.source)
    inner = scope.inner()
    check.declare(node.variable, lists.unwrapped, inner)
    check.declare(node.accumulator, initial, inner)
    step = type_of(check, node.step, inner, VALUE)
    forbid_aggregates(check, node.step)
    if not step.within(initial) and not initial.within(step.covariant):
        message = f"Type mismatch: accumulator is {initial} but expression has type {step}"
        raise check.error_at(message, node.step, because("22N27", step, "accumulator", initial))
    return initial if initial.everything else initial.least_upper_bounds(step & initial or step)


def _pattern_comprehension(check: Check, node: ast.PatternComprehension, scope: Scope) -> TypeSpec:
    inner = declare_comprehension(check, node, scope)
    if node.predicate is not None:
        check_predicate(check, node.predicate, inner)
    return list_spec(type_of(check, node.result, inner))
