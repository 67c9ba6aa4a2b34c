"""Arithmetic: + - * / % ^ and ||, over columns.

Two columns go in and one comes out. Numbers are computed in NumPy; everything else (text, lists, temporal values) goes
value by value through the functions at the end, which also define the result.

    integers   64 bits, overflow in + - * raises "long overflow"; / and % truncate toward zero, as in Java, and
               raise "/ by zero"
    floats     IEEE; only division by an integer zero is an error
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.context import RowError
from hoplite.engine.expressions.evaluator import either_null, is_all_null, map_rows
from hoplite.engine.expressions.java import type_name
from hoplite.engine.memory import refuse_list, refuse_text
from hoplite.errors import CypherError, arithmetic_error, type_error
from hoplite.values.columns import (
    INT64_MAX,
    INT64_MIN,
    Bools,
    Column,
    Floats,
    Int64s,
    Integers,
    Strings,
    nulls,
    object_array,
)
from hoplite.values.floats import float_text
from hoplite.values.order import signed_bytes
from hoplite.values.spatial import Point
from hoplite.values.temporal import INSTANT_TYPES, Duration
from hoplite.values.temporal_arithmetic import (
    add_duration,
    add_durations,
    divide_duration,
    multiply_duration,
    subtract_duration,
    subtract_durations,
)
from hoplite.values.value_types import value_type, wrong_value

Doubles = NDArray[np.float64]

# --- columns -----------------------------------------------------------------------------------------------------


_LONG = 1 << 20  # from this many characters or elements on, the memory for them is checked


def add(left: Column, right: Column) -> Column:
    """`left + right`"""
    if isinstance(left, Integers) and isinstance(right, Integers):
        empty = either_null(left.nulls, right.nulls)
        total = left.values + right.values
        _refuse_overflow((left.values ^ total) & (right.values ^ total) < 0, empty)
        return Integers(total, empty)
    if isinstance(left, Strings) and isinstance(right, Strings):
        pairs = zip(left.values, right.values, strict=True)
        return Strings(object_array((None if a is None or b is None else joined(a, b) for a, b in pairs), len(left)))
    return _floats(np.add, left, right) or _by_value(add_values, left, right)


def subtract(left: Column, right: Column) -> Column:
    """`left - right`"""
    if isinstance(left, Integers) and isinstance(right, Integers):
        empty = either_null(left.nulls, right.nulls)
        difference = left.values - right.values
        _refuse_overflow((left.values ^ right.values) & (left.values ^ difference) < 0, empty)
        return Integers(difference, empty)
    return _floats(np.subtract, left, right) or _by_value(subtract_values, left, right)


def multiply(left: Column, right: Column) -> Column:
    """`left * right`"""
    if isinstance(left, Integers) and isinstance(right, Integers):
        empty = either_null(left.nulls, right.nulls)
        _refuse_overflow(_product_overflows(left.values, right.values), empty)
        return Integers(left.values * right.values, empty)
    return _floats(np.multiply, left, right) or _by_value(multiply_values, left, right)


def divide(left: Column, right: Column) -> Column:
    """`left / right`: the integer 0 is refused before anything is known about what it divides, which may be null."""
    if isinstance(right, Integers):
        divisor = _refuse_zero(right.values, right.nulls)
    if isinstance(left, Integers) and isinstance(right, Integers):
        empty = either_null(left.nulls, right.nulls)
        with np.errstate(all="ignore"):  # the smallest integer divided by -1 is itself, as in Java
            quotient = left.values // divisor
        inexact = quotient * divisor != left.values
        return Integers(quotient + (inexact & ((left.values < 0) != (divisor < 0))), empty)
    return _floats(np.divide, left, right) or map_rows(divide_values, left, right)


def divide_literals(left: Column, right: Column) -> Column:
    """`left / right` between literals: if one is a float, an integer zero is not an error."""
    if isinstance(left, Floats) or isinstance(right, Floats):
        return _floats(np.divide, left, right) or divide(left, right)
    return divide(left, right)


def modulo(left: Column, right: Column) -> Column:
    """`left % right`"""
    if isinstance(left, Integers) and isinstance(right, Integers):
        empty = either_null(left.nulls, right.nulls)
        divisor = _refuse_zero(right.values, empty)
        return Integers(np.fmod(left.values, np.where(divisor == -1, 1, divisor)), empty)
    return _floats(np.fmod, left, right) or _by_value(modulo_values, left, right)


def power(left: Column, right: Column) -> Column:
    """`left ^ right`"""
    if isinstance(left, Integers) and isinstance(right, Integers):
        left = Floats(left.values.astype(np.float64), left.nulls)
    return _floats(_java_power, left, right) or _by_value(power_values, left, right)


def join(left: Column, right: Column) -> Column:
    """`left || right`"""
    return map_rows(join_values, left, right)


def negate(column: Column) -> Column:
    """`-column`, which is `0 - column`."""
    if isinstance(column, Integers):
        _refuse_overflow(column.values == INT64_MIN, column.nulls)
        return Integers(-column.values, column.nulls)
    if isinstance(column, Floats):
        return Floats(0.0 - column.values, column.nulls)
    return map_rows(negate_value, column)


def _floats(operation: Callable[[Any, Any], Doubles], left: Column, right: Column) -> Floats | None:
    """The operation in floating point if both are numbers, else None."""
    if not isinstance(left, Integers | Floats) or not isinstance(right, Integers | Floats):
        return None
    with np.errstate(all="ignore"):
        values = operation(left.values.astype(np.float64), right.values.astype(np.float64))
    return Floats(values, either_null(left.nulls, right.nulls))


def _by_value(function: Callable[[Any, Any], Any], left: Column, right: Column) -> Column:
    if is_all_null(left) or is_all_null(right):
        return nulls(len(left))
    return map_rows(function, left, right)


def _refuse_overflow(overflows: Bools, empty: Bools | None) -> None:
    if empty is not None:
        overflows = overflows & ~empty
    if overflows.any():
        raise RowError(int(np.argmax(overflows)), _overflow())


def _refuse_zero(divisor: Int64s, empty: Bools | None) -> Int64s:
    """The divisor, with 1 for the zeros of null rows; any other zero is an error."""
    zero = divisor == 0
    if not zero.any():
        return divisor
    failing = zero if empty is None else zero & ~empty
    if failing.any():
        raise RowError(int(np.argmax(failing)), _division_by_zero())
    return np.where(zero, 1, divisor)


def _product_overflows(left: Int64s, right: Int64s) -> Bools:
    """Where the product exceeds 64 bits: decided in floats, and exactly where those are too coarse."""
    with np.errstate(all="ignore"):
        estimate = np.abs(left.astype(np.float64) * right.astype(np.float64))
    overflows = estimate > 1e19
    for row in np.flatnonzero((estimate > 9e18) & ~overflows):
        overflows[row] = not INT64_MIN <= int(left[row]) * int(right[row]) <= INT64_MAX
    return overflows


def _java_power(base: Any, exponent: Any) -> Doubles:
    """`Math.pow`, in which, unlike C's, 1 to the power of NaN or infinity is NaN."""
    unknown = np.isnan(exponent) | (np.isinf(exponent) & (np.abs(base) == 1.0))
    # In extended precision, because NumPy's vector instructions are off by more than half a unit.
    exact = np.power(np.asarray(base, np.longdouble), np.asarray(exponent, np.longdouble))
    result: Doubles = np.where(unknown, np.nan, exact.astype(np.float64))
    return result


# --- single values -----------------------------------------------------------------------------------------------


def add_values(left: Any, right: Any) -> Any:
    """`left + right`"""
    if left is None or right is None:
        return None
    if _is_number(left) and _is_number(right):
        return _checked(left + right)
    if isinstance(left, bytes):
        left = signed_bytes(left)
    if isinstance(right, bytes):
        right = signed_bytes(right)
    if isinstance(left, list):
        return joined_lists(left, right) if isinstance(right, list) else [*left, right]
    if isinstance(right, list):
        return [left, *right]
    if isinstance(left, str) or isinstance(right, str):
        first, second = _text(left), _text(right)
        if first is not None and second is not None:
            return joined(first, second)
    if isinstance(right, Duration):
        if isinstance(left, INSTANT_TYPES):
            return add_duration(left, right)
        if isinstance(left, Duration):
            return add_durations(left, right)
    elif isinstance(left, Duration) and isinstance(right, INSTANT_TYPES):
        return add_duration(right, left)
    raise _refused("add `{0}` and `{1}`", left, right)


def joined(first: str, second: str) -> str:
    """Two texts joined, if memory allows: a text repeatedly added to itself soon does not fit."""
    if len(first) + len(second) > _LONG:
        refuse_text(len(first) + len(second))
    return first + second


def joined_lists(first: list[Any], second: list[Any]) -> list[Any]:
    """Two lists joined, if memory allows."""
    if len(first) + len(second) > _LONG:
        refuse_list(len(first) + len(second))
    return first + second


def subtract_values(left: Any, right: Any) -> Any:
    """`left - right`"""
    if left is None or right is None:
        return None
    if _is_number(left) and _is_number(right):
        return _checked(left - right)
    if isinstance(right, Duration):
        if isinstance(left, INSTANT_TYPES):
            return subtract_duration(left, right)
        if isinstance(left, Duration):
            return subtract_durations(left, right)
    raise _refused("subtract `{1}` from `{0}`", left, right)


def multiply_values(left: Any, right: Any) -> Any:
    """`left * right`"""
    if left is None or right is None:
        return None
    if _is_number(left) and _is_number(right):
        return _checked(left * right)
    if isinstance(left, Duration) and _is_number(right):
        return multiply_duration(left, right)
    if isinstance(right, Duration) and _is_number(left):
        return multiply_duration(right, left)
    raise _refused("multiply `{0}` and `{1}`", left, right)


def divide_values(left: Any, right: Any) -> Any:
    """`left / right`"""
    if type(right) is int and right == 0:
        raise _division_by_zero()
    if left is None or right is None:
        return None
    if type(left) is int and type(right) is int:
        quotient = abs(left) // abs(right)
        return _wrapped(quotient if (left < 0) == (right < 0) else -quotient)
    if _is_number(left) and _is_number(right):
        with np.errstate(all="ignore"):
            return float(np.divide(float(left), float(right)))
    if isinstance(left, Duration) and _is_number(right):
        return divide_duration(left, right)
    raise _refused("divide `{0}` by `{1}`", left, right)


def modulo_values(left: Any, right: Any) -> Any:
    """`left % right`"""
    if left is None or right is None:
        return None
    if type(left) is int and type(right) is int:
        if right == 0:
            raise _division_by_zero()
        return int(math.copysign(1, left)) * (abs(left) % abs(right))
    if _is_number(left) and _is_number(right):
        with np.errstate(all="ignore"):
            return float(np.fmod(float(left), float(right)))
    raise _refused("calculate modulus of `{0}` and `{1}`", left, right)


def power_values(left: Any, right: Any) -> Any:
    """`left ^ right`"""
    if left is None or right is None:
        return None
    if _is_number(left) and _is_number(right):
        with np.errstate(all="ignore"):
            return float(_java_power(np.float64(left), np.float64(right)))
    raise _refused("raise `{0}` to the power of `{1}`", left, right)


def join_values(left: Any, right: Any) -> Any:
    """`left || right`: two strings or two lists; null may stand for either."""
    if isinstance(left, str) and isinstance(right, str):
        return joined(left, right)
    if isinstance(left, bytes):
        left = signed_bytes(left)
    if isinstance(right, bytes):
        right = signed_bytes(right)
    if isinstance(left, list) and isinstance(right, list):
        return joined_lists(left, right)
    nullable = (str, list, type(None))
    if None in (left, right) and isinstance(left, nullable) and isinstance(right, nullable):
        return None
    raise type_error(f"Cannot concatenate `{type_name(left)}` and `{type_name(right)}`")


def negate_value(value: Any) -> Any:
    """`-value`, which Neo4j reads as `0 - value`: the negative of 0.0 is 0.0."""
    if value is None:
        return None
    if _is_number(value):
        return _checked(0 - value)
    raise _refused("subtract `{1}` from `{0}`", 0, value)


def _is_number(value: Any) -> bool:
    kind = type(value)
    return kind is int or kind is float


def _checked(number: int | float) -> int | float:
    if type(number) is int and not INT64_MIN <= number <= INT64_MAX:
        raise _overflow()
    return number


def _wrapped(number: int) -> int:
    return (number - INT64_MIN) % 2**64 + INT64_MIN


def _text(value: Any) -> str | None:
    """The text of a value that is added to a string; None if it cannot be added."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return float_text(value)
        case int() | Point() | Duration():
            return str(value)
        case _:
            return str(value) if isinstance(value, INSTANT_TYPES) else None


def _overflow() -> CypherError:
    return arithmetic_error("long overflow")


def _division_by_zero() -> CypherError:
    return arithmetic_error("/ by zero")


def _refused(operation: str, left: Any, right: Any) -> CypherError:
    message = "Cannot " + operation.format(type_name(left), type_name(right))
    return type_error(message, wrong_value(left, value_type(right)))
