"""Function calls: does the function exist, is the number of arguments right, do the types fit, and what comes out.

Built-in functions are known from the start. Functions of the registry (the temporal ones, APOC, a user's own) are
looked up between the two rounds of the check, so the first round treats their results as values of any type.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from hoplite.errors import CypherError
from hoplite.gql_status import GqlStatus, because
from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.planner.check.state import Check
from hoplite.planner.check.typespec import ALL, LISTS, TypeSpec, any_of, exactly, list_spec
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
    POINT,
    RELATIONSHIP,
    STRING,
    TIME,
    Accepted,
    Argument,
    Signature,
    list_of,
    sql_name,
)

_TRIM_ARGUMENTS = 3  # `trim(BOTH 'x' FROM s)` is a call with three
_NORMAL_FORMS = ("NFC", "NFD", "NFKC", "NFKD")

# Functions whose argument is checked by a special rule, narrower than what SHOW FUNCTIONS says.
_OWN_ARGUMENTS = {
    "tostring": (
        exactly(BOOLEAN, FLOAT, INTEGER, POINT, STRING, DURATION, DATE, TIME, LOCAL_TIME, LOCAL_DATE_TIME, DATE_TIME),
        "argument to function toString()",
    ),
    "toboolean": (exactly(BOOLEAN, INTEGER, STRING), "argument of function toBoolean()"),
}


def aggregates_in(check: Check, expression: ast.Expression, *, subqueries: bool = False) -> list[ast.Expression]:
    """The aggregating calls anywhere in an expression; on request, inside its subqueries too."""
    inner = expression.subject if isinstance(expression, ast.Property) else expression
    if not check.aggregates or isinstance(inner, ast.Variable):  # most expressions
        return []
    nodes = walk(expression) if subqueries else walk(expression, not_below=(ast.SubqueryExpression,))
    return [node for node in nodes if check.is_aggregate(node)]


def from_registry(signature: Signature) -> bool:
    """Whether the function is looked up between the rounds of the check."""
    return signature.category == "Temporal" or not signature.built_in or signature.name.startswith("apoc.")


def check_known(check: Check, call: ast.FunctionCall) -> None:
    """Raise if a function does not exist; this is found out between the rounds."""
    name = call.name.lower()
    if name == "exists" or check.catalogue.function(call.name) is not None:
        return
    if name == "distance":
        raise check.error("'distance' has been replaced by 'point.distance'", call.span.start)
    raise check.error(f"Unknown function '{call.name}'", call.span.start)


def call_type(check: Check, call: ast.FunctionCall, arguments: Sequence[TypeSpec]) -> TypeSpec:
    """Check a call whose arguments have been checked; returns the types of its result."""
    name = call.name.lower()
    if name == "timestamp" and call.arguments:
        return _timestamp(check, call)
    signature = check.catalogue.function(call.name)
    if signature is None:
        return ALL
    if from_registry(signature):
        return _registry_call(check, call, signature, arguments) if check.resolved else ALL
    _check_count(check, call, signature)
    own = _own_rule(check, call, name, arguments)
    if own is not None:
        return own
    for index, (argument, types) in enumerate(zip(call.arguments, arguments, strict=True)):
        expected = _accepted(_argument(signature, index).types, registry=False)
        if not types.within(expected):
            name = call.name.rpartition(".")[2]  # statuses omit the namespace
            place = index + int(name.lower() == "trim" and len(arguments) == 1)  # trim(x) stands for trim(BOTH FROM x)
            raise check.mismatch(expected, types, argument, f"argument at index {place} of function {name}()")
    _check_values(check, call, name)
    return exactly(*signature.returns) if not _any(signature) else ALL


def _any(signature: Signature) -> bool:
    return any_of(signature.returns).everything


def _argument(signature: Signature, index: int) -> Argument:
    return signature.arguments[min(index, len(signature.arguments) - 1)]


@lru_cache(4096)
def _accepted(accepted: Accepted, *, registry: bool) -> TypeSpec:
    """The types an argument accepts. In the registry, `INTEGER | FLOAT` stands for all numbers, also in lists."""
    types = set(accepted)
    if registry and {INTEGER, FLOAT} <= types:
        types.add(NUMBER)
    if {list_of(INTEGER), list_of(FLOAT)} <= types:
        types.add(list_of(NUMBER))
    return any_of(types)


def _check_count(check: Check, call: ast.FunctionCall, signature: Signature) -> None:
    count = len(call.arguments)
    if call.name.lower() == "trim" and 1 <= count <= _TRIM_ARGUMENTS:
        return
    least, most = _counts(signature)
    if count < least:
        message = f"Insufficient parameters for function '{signature.name}'"
        raise check.error(message, call.span.start, wrong_count(call.name, least, count, _written(signature)))
    if most is not None and count > most:
        message = f"Too many parameters for function '{signature.name}'"
        raise check.error(message, call.span.start, wrong_count(call.name, most, count, _written(signature)))


def _counts(signature: Signature) -> tuple[int, int | None]:
    """The fewest and the most arguments; the form of trim with FROM counts as the call it stands for."""
    if signature.name == "trim":
        return _TRIM_ARGUMENTS - 1, _TRIM_ARGUMENTS
    return max(signature.least, int(signature.variadic)), signature.most


def _written(signature: Signature) -> list[str]:
    """The ways to call a function, the shortest first."""
    return sorted((form.signature for form in signature.forms), key=len)


def wrong_count(name: str, expected: int, given: int, forms: Sequence[str]) -> GqlStatus:
    """The GQL status of a call with too few or too many arguments."""
    return because("42I13", expected, given, name, " or ".join(forms))


def _own_rule(check: Check, call: ast.FunctionCall, name: str, arguments: Sequence[TypeSpec]) -> TypeSpec | None:
    """The result types of functions whose result depends on the argument; None for all others."""
    first = arguments[0] if arguments else ALL
    match name:
        case "point.distance" | "point.withinbbox":
            return exactly(FLOAT if name == "point.distance" else BOOLEAN)
        case "coalesce":
            result = first
            for types in arguments[1:]:
                result |= types
            return result
        case "head" | "last":
            return check.expect(LISTS, first, call.arguments[0]).unwrapped
        case "tail":
            return check.expect(LISTS, first, call.arguments[0])
        case "reverse":
            return check.expect(exactly(STRING) | LISTS, first, call.arguments[0])
        case "min" | "max":
            return first
        case "collect":
            return list_spec(first)
        case "tostring" | "toboolean":
            expected, place = _OWN_ARGUMENTS[name]
            if not first & expected:
                listed = str(first).replace(" or ", ", ")
                message = f"Type mismatch: expected {expected} but was {listed}"
                raise check.error_at(message, call.arguments[0], because("22N27", listed, place, expected))
            return exactly(STRING if name == "tostring" else BOOLEAN)
        case _:
            return None


# --- values that are known before the query runs -----------------------------------------------------------------


def _check_values(check: Check, call: ast.FunctionCall, name: str) -> None:
    match name:
        case "point" if isinstance(call.arguments[0], ast.MapLiteral):
            _check_point(check, call.arguments[0])
        case "percentilecont" | "percentiledisc":
            _check_percentile(check, call.arguments[1])
        case "normalize" if len(call.arguments) > 1:
            _check_normal_form(check, call.arguments[1])
        case _:
            return


def _check_point(check: Check, literal: ast.MapLiteral) -> None:
    keys = [key for key, _ in literal.entries]
    if {"x", "y"} <= set(keys) or {"latitude", "longitude"} <= set(keys):
        return
    names = ", ".join(f"'{key}'" for key in keys)
    raise check.error(
        f"A map with keys {names} is not describing a valid point, a point is described either by using cartesian "
        "coordinates e.g. {x: 2.3, y: 4.5, crs: 'cartesian'} or using geographic coordinates e.g. "
        "{latitude: 12.78, longitude: 56.7, crs: 'WGS-84'}.",
        literal.span.start,
    )


def _check_percentile(check: Check, argument: ast.Expression) -> None:
    value: object = None
    match argument:
        case ast.Literal(value=value):
            if isinstance(value, bool | str):
                return
        case ast.Unary(operator="-", operand=ast.Literal(value=int() | float() as number)):
            value = -number
        case _:
            return
    if isinstance(value, int | float) and 0 <= value <= 1:
        return
    shown = "NULL" if value is None else check.text[argument.span.start : argument.span.end]
    raise check.error(
        f"Invalid input '{shown}' is not a valid argument, must be a number in the range 0.0 to 1.0",
        argument.span.start,
        because("42N31", "percentile range", "FLOAT", "0.0", "1.0", shown),
    )


def _check_normal_form(check: Check, argument: ast.Expression) -> None:
    if isinstance(argument, ast.Variable) and argument.name.upper() in _NORMAL_FORMS:
        return
    if isinstance(argument, ast.Literal) and isinstance(argument.value, str) and argument.value in _NORMAL_FORMS:
        return
    raise check.error_at("Invalid normal form, expected NFC, NFD, NFKC, NFKD", argument)


# --- functions of the registry -------------------------------------------------------------------------------------


def _registry_call(
    check: Check, call: ast.FunctionCall, signature: Signature, arguments: Sequence[TypeSpec]
) -> TypeSpec:
    count = len(call.arguments)
    if count < signature.least or (signature.most is not None and count > signature.most):
        raise _wrong_count(check, call, signature)
    for index, (argument, types) in enumerate(zip(call.arguments, arguments, strict=True)):
        given = LISTS if _is_constant_list(argument) else types
        check.expect(_accepted(_argument(signature, index).types, registry=True), given, argument)
    return any_of(signature.returns)


def _is_constant_list(argument: ast.Expression) -> bool:
    """Lists of numbers are turned into parameters before the second round, which loses what they hold."""
    if isinstance(argument, ast.ConstantList):
        return {bool, int, float}.issuperset(map(type, argument.value))
    return isinstance(argument, ast.ListLiteral) and all(
        isinstance(item, ast.Literal) and isinstance(item.value, int | float) for item in argument.items
    )


def _timestamp(check: Check, call: ast.FunctionCall) -> TypeSpec:
    """`timestamp()` stands for `datetime().epochMillis` and passes its arguments on."""
    if check.resolved and len(call.arguments) > 1:
        datetime = check.catalogue.function("datetime")
        assert datetime is not None
        raise _wrong_count(check, call, datetime)
    return ALL


def _wrong_count(check: Check, call: ast.FunctionCall, signature: Signature) -> CypherError:
    most = len(signature.arguments)
    optional = most - signature.least
    got = len(call.arguments)
    # Arguments with a default are filled in before they are counted.
    counted = got if got > most else got + optional
    types = ", ".join(_type_name(argument) for argument in signature.arguments)
    takes = f"{most} argument{'' if most == 1 else 's'} of type {types}" if most else "no arguments"
    return check.error(
        f"Function call does not provide the required number of arguments: expected {most} got {counted}.\n\n"
        f"Function {signature.name} has signature: {_described(signature)}\nmeaning that it expects {takes}\n"
        f"Description: {signature.description}",
        call.span.start,
    )


def _type_name(argument: Argument) -> str:
    types = argument.types
    if MAP in types:  # entities pass for maps
        types = tuple(type for type in types if type not in (NODE, RELATIONSHIP))
    return " | ".join(sql_name(type) for type in types)


def _described(signature: Signature) -> str:
    """`date(input  =  'DEFAULT_TEMPORAL_ARGUMENT' :: ANY) :: DATE`"""
    shown = []
    for argument in signature.arguments:
        default = ""
        if argument.optional:
            filled = "NO_VALUE" if argument.name == "fields" else "'DEFAULT_TEMPORAL_ARGUMENT'"
            default = f"  =  {filled}"
        shown.append(f"{argument.name}{default} :: {_type_name(argument)}")
    returns = " | ".join(sql_name(type) for type in signature.returns)
    return f"{signature.name}({', '.join(shown)}) :: {returns}"
