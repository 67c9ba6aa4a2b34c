"""The types of operators: which operands they take and what comes out.

Arithmetic has a table of signatures: operands are read from left to right, and each narrows down the signatures that
remain. `+` also concatenates strings and lists, and has its own rules.
"""

from __future__ import annotations

from functools import lru_cache

from hoplite.grammar import ast
from hoplite.planner.check.state import BOOLEANS, Check
from hoplite.planner.check.typespec import ALL, LISTS, NONE, TypeSpec, exactly, list_spec
from hoplite.planner.types import (
    DATE,
    DATE_TIME,
    DURATION,
    FLOAT,
    INTEGER,
    LOCAL_DATE_TIME,
    LOCAL_TIME,
    STRING,
    TIME,
    CypherType,
)

_Row = tuple[CypherType, CypherType, CypherType]  # left, right, result

_NUMERIC: tuple[_Row, ...] = (
    (INTEGER, INTEGER, INTEGER),
    (INTEGER, FLOAT, FLOAT),
    (FLOAT, INTEGER, FLOAT),
    (FLOAT, FLOAT, FLOAT),
)
_INSTANTS = (DATE, TIME, LOCAL_TIME, LOCAL_DATE_TIME, DATE_TIME)

SIGNATURES: dict[str, tuple[_Row, ...]] = {
    "-": (
        *_NUMERIC,
        (DURATION, DURATION, DURATION),
        *((instant, DURATION, instant) for instant in _INSTANTS),
    ),
    "*": (
        *_NUMERIC,
        (DURATION, INTEGER, DURATION),
        (DURATION, FLOAT, DURATION),
        (INTEGER, DURATION, DURATION),
        (FLOAT, DURATION, DURATION),
    ),
    "/": (*_NUMERIC, (DURATION, INTEGER, DURATION), (DURATION, FLOAT, DURATION)),
    "%": _NUMERIC,
    "^": ((FLOAT, FLOAT, FLOAT),),
    "=~": ((STRING, STRING, STRING),),
}

_NUMBERS = exactly(INTEGER, FLOAT)
_TEXT = exactly(STRING)
_DURATIONS = exactly(DURATION)


def unary(check: Check, node: ast.Unary, operand: TypeSpec) -> TypeSpec:
    """The type of `-x`, `+x` and `NOT x`."""
    if node.operator == "NOT":
        check.expect_boolean(operand, node.operand, operand=True)
        return BOOLEANS
    if node.operator == "+" and check.resolved:
        return operand
    left = operand & _NUMBERS
    if not left:
        raise check.mismatch(_NUMBERS, operand, node.operand)
    return left


def binary(check: Check, node: ast.Binary, left: TypeSpec, right: TypeSpec) -> TypeSpec:
    """The type of an operator between two operands whose types are known."""
    match node.operator:
        case "AND" | "OR" | "XOR":
            check.expect_boolean(left, node.left, operand=True)
            check.expect_boolean(right, node.right, operand=True)
            return BOOLEANS
        case "STARTS WITH" | "ENDS WITH" | "CONTAINS":
            return BOOLEANS
        case "IN":
            check.expect(LISTS, right, node.right)
            return BOOLEANS
        case "+":
            return _plus(check, node, left, right)
        case "||":
            return _concatenate(check, node, left, right)
        case _:
            result = _by_signature(check, node, left, right)
            return BOOLEANS if node.operator == "=~" else result


def _by_signature(check: Check, node: ast.Binary, left: TypeSpec, right: TypeSpec) -> TypeSpec:
    rows = SIGNATURES[node.operator]
    expected = exactly(*(row[0] for row in rows))
    actual = left.within(expected)
    if not actual:
        raise check.mismatch(expected, left, node.left)
    rows = tuple(row for row in rows if actual & exactly(row[0]))
    expected = exactly(*(row[1] for row in rows))
    actual = right.within(expected)
    if not actual:
        raise check.mismatch(expected, right, node.right)
    return exactly(*(row[2] for row in rows if actual & exactly(row[1])))


def _plus(check: Check, node: ast.Binary, left: TypeSpec, right: TypeSpec) -> TypeSpec:
    expected = LISTS
    if left & (_NUMBERS | _TEXT):
        expected |= _NUMBERS | _TEXT
    if left & LISTS:
        expected = ALL
    if left & exactly(*_INSTANTS):
        expected |= _DURATIONS
    if left & _DURATIONS:
        expected |= exactly(*_INSTANTS) | _DURATIONS
    if not right & expected:
        raise check.mismatch(expected, right, node.right)
    return _sum(left, right)


@lru_cache(4096)
def _sum(left: TypeSpec, right: TypeSpec) -> TypeSpec:
    result = NONE

    def pair(one: TypeSpec, other: TypeSpec, outcome: TypeSpec) -> None:
        nonlocal result
        if (left & one and right & other) or (left & other and right & one):
            result |= outcome

    integers, floats = exactly(INTEGER), exactly(FLOAT)
    pair(_TEXT, _TEXT | _NUMBERS, _TEXT)
    pair(integers, integers, integers)
    pair(floats, _NUMBERS, floats)
    pair(_DURATIONS, _DURATIONS, _DURATIONS)
    for instant in _INSTANTS:
        pair(exactly(instant), _DURATIONS, exactly(instant))
    if left.everything or right.everything:
        return result | LISTS
    if left.elements is not None and right.elements is not None:
        result |= list_spec(left.elements.least_upper_bounds(right.elements).covariant)
    if left.elements is not None and right.simple:
        result |= list_spec(left.elements.least_upper_bounds(TypeSpec(right.simple)))
    if right.elements is not None and left.simple:
        result |= list_spec(right.elements.least_upper_bounds(TypeSpec(left.simple)))
    return result or ALL


def _concatenate(check: Check, node: ast.Binary, left: TypeSpec, right: TypeSpec) -> TypeSpec:
    expected = _TEXT | LISTS
    if not left & expected:
        raise check.mismatch(expected, left, node.left)
    expected = (_TEXT if left & _TEXT else NONE) | (LISTS if left & LISTS else NONE)
    if not right & expected:
        raise check.mismatch(expected, right, node.right)
    text = _TEXT if left & _TEXT and right & _TEXT else NONE
    lists = LISTS if left & LISTS and right & LISTS else NONE
    return text | lists
