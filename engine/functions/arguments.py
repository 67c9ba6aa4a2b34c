"""Checks of function arguments at run time: each returns the argument with the wanted type, or raises Neo4j's error.

The semantic check rejects most wrong calls before a query runs; these are for values whose type it could not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hoplite.engine.expressions.java import TEXT_VALUE, expected
from hoplite.errors import CypherError, execution_failed, type_error
from hoplite.values.render import describe
from hoplite.values.value_types import wrong_value

_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


def is_number(value: Any) -> bool:
    """Whether the value is an Integer or a Float (a Boolean is a Python int, but not a number)."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_numbers(values: Sequence[Any]) -> bool:
    """Whether all of them are."""
    return set(map(type, values)) <= {int, float} or all(map(is_number, values))


def number(value: Any, function: str) -> int | float:
    """A number, or `abs() requires numbers`."""
    if not is_number(value):
        raise type_error(f"{function}() requires numbers")
    result: int | float = value
    return result


def text(value: Any, function: str) -> str:
    """A string, or `Expected a string value for ...`."""
    if not isinstance(value, str):
        raise type_error(
            f"Expected a string value for `{function}`, but got: {describe(value)}; "
            "consider converting it to a string with toString()."
        )
    return value


def text_value(value: Any) -> str:
    """A string, or `Expected Long(1) to be a org.neo4j.values.storable.TextValue, ...`."""
    if not isinstance(value, str):
        raise expected(TEXT_VALUE, value)
    return value


def wrong_input(function: str, wanted: str, value: Any) -> CypherError:
    """`Invalid input for function 'size()': Expected a String or List, got: Long(1)`"""
    return type_error(f"Invalid input for function '{function}()': Expected {wanted}, got: {describe(value)}")


def whole(value: Any, role: str, function: str) -> int:
    """An integer; a float is truncated, like a cast to long."""
    if not is_number(value):
        raise type_error(
            f"Invalid input for {role} value in function '{function}()': "
            f"Expected a numeric value but got: {describe(value)}",
            wrong_value(value, "INTEGER or FLOAT"),
        )
    return value if isinstance(value, int) else long_of(value)


def small_whole(value: Any, role: str, function: str) -> int:
    """An integer of 32 bits."""
    result = whole(value, role, function)
    if not _INT32_MIN <= result <= _INT32_MAX:
        raise execution_failed(
            f"Invalid input for {role} value in function '{function}()': "
            f"Expected an integer between {_INT32_MIN} and {_INT32_MAX}, but got: {result}"
        )
    return result


def long_of(value: float) -> int:
    """Java's `(long) value`: truncated, NaN is 0, and what is out of range becomes the nearest integer in range."""
    if value != value:
        return 0
    if value >= _INT64_MAX:
        return _INT64_MAX
    return _INT64_MIN if value <= _INT64_MIN else int(value)
