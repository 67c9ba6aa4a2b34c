"""Conversions between types: toInteger, toFloat, toBoolean, their forms for lists, and those that give null instead of
an error."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from hoplite.engine.functions.arguments import long_of, wrong_input
from hoplite.engine.functions.registry import cypher_function, named, over_columns
from hoplite.engine.functions.strings import string_of
from hoplite.errors import CypherError, type_error
from hoplite.lazy import lazy_pattern
from hoplite.planner.types import ANY, BOOLEAN, FLOAT, INTEGER, LIST, STRING, CypherType, list_of
from hoplite.values.columns import Booleans, Column, Floats, Integers

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_DECIMAL = lazy_pattern(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
# What java.lang.Double.parseDouble accepts, surrounded by any characters up to U+0020.
_JAVA_DOUBLE = lazy_pattern(
    r"([+-]?)(?:(NaN|Infinity)|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?"
    r"|(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?)"
)
_UP_TO_SPACE = "".join(map(chr, range(0x21)))
_CONVERTIBLE = named("input", ANY)


# --- one value ---


def integer_of(value: Any) -> Any:
    """The value as an integer; None for text that is not a number; NotImplemented for types that do not convert."""
    match value:
        case bool():
            return int(value)
        case int():
            return value
        case float():
            return long_of(value)
        case str():
            return _integer_of_text(value)
        case _:
            return NotImplemented


def _integer_of_text(value: str) -> int | None:
    if not _DECIMAL.fullmatch(value):
        return None
    exact = Decimal(value)
    if exact.is_zero():
        return 0
    # The bounds are those of the number as written: Java compares before it cuts.
    if _INT64_MIN <= exact <= _INT64_MAX:
        return int(exact)
    raise type_error(f"integer, {value}, is too large")


def float_of(value: Any) -> Any:
    """The value as a float; None for text that is not a number; NotImplemented for types that do not convert."""
    match value:
        case bool():
            return NotImplemented
        case int() | float():
            return float(value)
        case str():
            found = _JAVA_DOUBLE.fullmatch(value.strip(_UP_TO_SPACE))
            if found is None:
                return None
            sign, word, digits, hexadecimal = found.groups()
            parsed = float.fromhex(hexadecimal) if hexadecimal else float(digits or word)
            return -parsed if sign == "-" else parsed
        case _:
            return NotImplemented


def boolean_of(value: Any) -> Any:
    """The value as a boolean; None for text that is neither true nor false; NotImplemented for types that do not
    convert."""
    match value:
        case bool():
            return value
        case int():
            return value != 0
        case str():
            return {"true": True, "false": False}.get(value.strip().lower())
        case _:
            return NotImplemented


def _or_null(convert: Callable[[Any], Any], value: Any) -> Any:
    """The converted value, or null if it cannot be converted."""
    try:
        result = convert(value)
    except CypherError:
        return None
    return None if result is NotImplemented else result


# --- the functions ---


@cypher_function(
    "toInteger",
    args=(named("input", BOOLEAN, STRING, INTEGER, FLOAT),),
    returns=INTEGER,
    category="Scalar",
    description="Converts a `BOOLEAN`, `STRING`, `INTEGER` or `FLOAT` value to an `INTEGER` value. For `BOOLEAN` "
    "values, "
    "true is defined to be 1 and false is defined to be 0.",
)
def to_integer(value: Any) -> Any:
    """`toInteger('1.9')` is 1, `toInteger('x')` null."""
    result = integer_of(value)
    if result is NotImplemented:
        raise wrong_input("toInteger", "a String, Float, Integer or Boolean", value)
    return result


@cypher_function(
    "toFloat",
    args=(named("input", STRING, INTEGER, FLOAT),),
    returns=FLOAT,
    category="Scalar",
    description="Converts a `STRING`, `INTEGER` or `FLOAT` value to a `FLOAT` value.",
)
def to_float(value: Any) -> Any:
    """`toFloat('1e3')` is 1000.0, `toFloat('x')` null."""
    result = float_of(value)
    if result is NotImplemented:
        raise wrong_input("toFloat", "a String, Float or Integer", value)
    return result


@cypher_function(
    "toBoolean",
    args=(named("input", BOOLEAN, STRING, INTEGER),),
    returns=BOOLEAN,
    category="Scalar",
    description="Converts a `BOOLEAN`, `STRING` or `INTEGER` value to a `BOOLEAN` value. For `INTEGER` values, 0 is "
    "defined to be false and any other `INTEGER` is defined to be true.",
)
def to_boolean(value: Any) -> Any:
    """`toBoolean('TRUE')` is true, `toBoolean('yes')` null."""
    result = boolean_of(value)
    if result is NotImplemented:
        raise wrong_input("toBoolean", "a Boolean, Integer or String", value)
    return result


def _register_lenient(name: str, type: CypherType, convert: Callable[[Any], Any]) -> None:
    """Register `toIntegerOrNull` and the like, which never fail."""

    @cypher_function(
        f"to{name}OrNull",
        args=(_CONVERTIBLE,),
        returns=type,
        category="Scalar",
        description=f"Converts a value to "
        f"{'an' if name == 'Integer' else 'a'} `{name.upper()}` value, or null if the value "
        "cannot be converted.",
    )
    def convert_or_null(value: Any) -> Any:
        return _or_null(convert, value)


_register_lenient("Integer", INTEGER, integer_of)
_register_lenient("Float", FLOAT, float_of)
_register_lenient("Boolean", BOOLEAN, boolean_of)


def _register_list(name: str, type: CypherType, convert: Callable[[Any], Any], description: str) -> None:
    """Register `toIntegerList` and the like: elements that cannot be converted become null."""

    @cypher_function(
        name, args=(named("input", LIST),), returns=list_of(type), category="List", description=description
    )
    def convert_list(values: Any) -> list[Any]:
        if not isinstance(values, list):
            raise wrong_input(name, "a List", values)
        return [None if value is None else _or_null(convert, value) for value in values]


_register_list(
    "toBooleanList",
    BOOLEAN,
    boolean_of,
    "Converts a `LIST<ANY>` of values to a `LIST<BOOLEAN>` values. If any "
    "values are not convertible to `BOOLEAN` they will "
    "be null in the `LIST<BOOLEAN>` returned.",
)
for _name, _type, _convert in (
    ("Float", FLOAT, float_of),
    ("Integer", INTEGER, integer_of),
    ("String", STRING, string_of),
):
    _register_list(
        f"to{_name}List",
        _type,
        _convert,
        f"Converts a `LIST<ANY>` to a `LIST<{_name.upper()}>` values. If any values are not convertible to "
        f"`{_name.upper()}` they will be null in the `LIST<{_name.upper()}>` returned.",
    )


# --- whole columns ---


@over_columns("toInteger")
def to_integer_of_column(column: Column) -> Column | None:
    """Numbers and booleans at once."""
    match column:
        case Integers():
            return column
        case Booleans():
            return Integers(column.values.astype(np.int64), column.nulls)
        case Floats() if bool((np.abs(column.values) < 2.0**62).all()):
            return Integers(column.values.astype(np.int64), column.nulls)
        case _:
            return None


@over_columns("toFloat")
def to_float_of_column(column: Column) -> Column | None:
    """Numbers at once."""
    match column:
        case Floats():
            return column
        case Integers():
            return Floats(column.values.astype(np.float64), column.nulls)
        case _:
            return None
