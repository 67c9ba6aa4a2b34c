"""Numeric, logarithmic and trigonometric functions: numbers in, numbers out, as Java's Math gives them.

Undefined results are NaN or an infinity, never an error. Typed columns go through NumPy in one call.
"""

from __future__ import annotations

import decimal
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.functions.arguments import is_number, long_of, number
from hoplite.engine.functions.registry import cypher_function, named, over_columns
from hoplite.errors import argument_error, execution_failed, type_error
from hoplite.gql_status import LARGEST, because, status
from hoplite.planner.types import BOOLEAN, FLOAT, INTEGER, NUMBER, STRING
from hoplite.values import java_angles
from hoplite.values.columns import Booleans, Column, Floats, Integers
from hoplite.values.render import describe
from hoplite.values.value_types import wrong_value

Float64s = NDArray[np.float64]

# Below this, a number times a power of ten is off by less than what is taken for close to a half.
_CLEAR_BELOW, _CLOSE_TO_HALF = 2.0**40, 1e-3
_MOST_PLACES = 15
_INT64_MIN = -(2**63)
_NUMBER = named("input", INTEGER, FLOAT)
_FLOAT = named("input", FLOAT)


# --- functions that keep the kind of number ---


@cypher_function(
    "abs",
    args=(_NUMBER,),
    returns=(INTEGER, FLOAT),
    category="Numeric",
    description="Returns the absolute value of an `INTEGER` or `FLOAT`.",
)
def absolute(value: Any) -> int | float:
    """`abs(-1)` is 1; the smallest integer, which has no positive counterpart, stays as it is."""
    value = number(value, "abs")
    return value if value == _INT64_MIN and isinstance(value, int) else abs(value)


@over_columns("abs")
def absolute_of_column(column: Column) -> Column | None:
    """The same for typed columns."""
    if isinstance(column, Integers):
        return Integers(np.abs(column.values), column.nulls)
    return Floats(np.abs(column.values), column.nulls) if isinstance(column, Floats) else None


@cypher_function(
    "sign",
    args=(_NUMBER,),
    returns=INTEGER,
    category="Numeric",
    description="Returns the signum of an `INTEGER` or "
    "`FLOAT`: 0 if the number is 0, -1 for any negative number, and 1 "
    "for any positive number.",
)
def sign(value: Any) -> int:
    """`sign(-2.5)` is -1; the sign of NaN is 0."""
    if not is_number(value):
        raise type_error(
            f"Expected a numeric value for sign, but got: {describe(value)}", wrong_value(value, "INTEGER or FLOAT")
        )
    return int(value > 0) - int(value < 0)


@cypher_function(
    "isNaN",
    args=(_NUMBER,),
    returns=BOOLEAN,
    category="Numeric",
    description="Returns whether the given `INTEGER` or `FLOAT` is NaN.",
)
def is_nan(value: Any) -> bool:
    """`isNaN(0.0 / 0.0)` is true."""
    return math.isnan(number(value, "isNaN"))


@over_columns("isNaN")
def is_nan_of_column(column: Column) -> Column | None:
    """The same for typed columns."""
    return Booleans(np.isnan(column.values), column.nulls) if isinstance(column, Floats) else None


# --- functions of one float ---


def _float_function(
    name: str,
    compute: Callable[[Float64s], Float64s],
    category: str,
    description: str,
    message_name: str | None = None,
) -> None:
    """Register a function from floats to floats; `message_name` is what its messages call it."""
    called = message_name or name

    @cypher_function(name, args=(_FLOAT,), returns=FLOAT, category=category, description=description)
    def of_value(value: Any) -> float:
        with np.errstate(all="ignore"):
            return float(compute(np.asarray(float(number(value, called)))))

    @over_columns(name)
    def of_column(column: Column) -> Column | None:
        if not isinstance(column, Integers | Floats):
            return None
        with np.errstate(all="ignore"):
            return Floats(compute(column.values.astype(np.float64, copy=False)), column.nulls)


def _in_extended_precision(compute: Callable[[Any], Any]) -> Callable[[Float64s], Float64s]:
    """The function rounded once, as in Java: NumPy's vector instructions are off by more than half a unit."""
    return lambda values: compute(values.astype(np.longdouble)).astype(np.float64)


def _one_by_one(compute: Callable[[float], float]) -> Callable[[Float64s], Float64s]:
    return lambda values: np.asarray(list(map(compute, values.ravel().tolist()))).reshape(values.shape)


_tangent = _in_extended_precision(np.tan)


def _cotangent(values: Float64s) -> Float64s:
    result: Float64s = 1.0 / _tangent(values)
    return result


def _half_versine(values: Float64s) -> Float64s:
    result: Float64s = (1.0 - np.cos(values)) / 2.0
    return result


for _name, _compute, _category, _description in (
    (
        "ceil",
        np.ceil,
        "Numeric",
        "Returns the smallest `FLOAT` that is greater than or equal to a number and equal to an `INTEGER`.",
    ),
    (
        "floor",
        np.floor,
        "Numeric",
        "Returns the largest `FLOAT` that is less than or equal to a number and equal to an `INTEGER`.",
    ),
    (
        "exp",
        _in_extended_precision(np.exp),
        "Logarithmic",
        "Returns e^n, where e is the base of the natural logarithm, and n is the value of the argument expression.",
    ),
    ("log", np.log, "Logarithmic", "Returns the natural logarithm of a `FLOAT`."),
    ("log10", np.log10, "Logarithmic", "Returns the common logarithm (base 10) of a `FLOAT`."),
    ("sqrt", np.sqrt, "Logarithmic", "Returns the square root of a `FLOAT`."),
    ("acos", _one_by_one(java_angles.acos), "Trigonometric", "Returns the arccosine of a `FLOAT` in radians."),
    ("asin", _one_by_one(java_angles.asin), "Trigonometric", "Returns the arcsine of a `FLOAT` in radians."),
    ("atan", _one_by_one(java_angles.atan), "Trigonometric", "Returns the arctangent of a `FLOAT` in radians."),
    ("cos", np.cos, "Trigonometric", "Returns the cosine of a `FLOAT`."),
    ("sin", np.sin, "Trigonometric", "Returns the sine of a `FLOAT`."),
    ("tan", _tangent, "Trigonometric", "Returns the tangent of a `FLOAT`."),
    ("cot", _cotangent, "Trigonometric", "Returns the cotangent of a `FLOAT`."),
    ("haversin", _half_versine, "Trigonometric", "Returns half the versine of a number."),
):
    _float_function(_name, _compute, _category, _description)

_float_function("degrees", np.degrees, "Trigonometric", "Converts radians to degrees.", message_name="toDegrees")
_float_function("radians", np.radians, "Trigonometric", "Converts degrees to radians.", message_name="toRadians")


@cypher_function(
    "atan2",
    args=(named("y", FLOAT), named("x", FLOAT)),
    returns=FLOAT,
    category="Trigonometric",
    description="Returns the arctangent2 of a set of coordinates in radians.",
)
def atan2(y: Any, x: Any) -> float:
    """The angle of the point (x, y)."""
    return java_angles.atan2(float(number(y, "atan2")), float(number(x, "atan2")))


@cypher_function(
    "e",
    returns=FLOAT,
    category="Logarithmic",
    description="Returns the base of the natural logarithm, e.",
)
def euler() -> float:
    """2.718281828459045"""
    return math.e


@cypher_function("pi", returns=FLOAT, category="Trigonometric", description="Returns the mathematical constant pi.")
def pi() -> float:
    """3.141592653589793"""
    return math.pi


@cypher_function(
    "rand",
    returns=FLOAT,
    category="Numeric",
    description="Returns a random `FLOAT` in the range from 0 (inclusive) to 1 (exclusive).",
    deterministic=False,
)
def rand() -> float:
    """A new number for every row."""
    return random.random()


# --- rounding ---

_ROUNDINGS = {
    "UP": decimal.ROUND_UP,
    "DOWN": decimal.ROUND_DOWN,
    "CEILING": decimal.ROUND_CEILING,
    "FLOOR": decimal.ROUND_FLOOR,
    "HALF_UP": decimal.ROUND_HALF_UP,
    "HALF_DOWN": decimal.ROUND_HALF_DOWN,
    "HALF_EVEN": decimal.ROUND_HALF_EVEN,
    "UNNECESSARY": None,
}
_ANY_PRECISION = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


@cypher_function(
    "round",
    args=(named("value", FLOAT), named("precision", NUMBER, optional=True), named("mode", STRING, optional=True)),
    returns=FLOAT,
    category="Numeric",
    description="Returns the value of a number rounded to the nearest `INTEGER`.",
    forms=(
        ("round(value :: FLOAT) :: FLOAT", "Returns the value of a number rounded to the nearest `INTEGER`."),
        (
            "round(value :: FLOAT, precision :: INTEGER | FLOAT) :: FLOAT",
            "Returns the value of a number rounded to the specified precision using rounding mode HALF_UP.",
        ),
        (
            "round(value :: FLOAT, precision :: INTEGER | FLOAT, mode :: STRING) :: FLOAT",
            "Returns the value of a number rounded to the specified precision with the specified rounding mode.",
        ),
    ),
)
def round_number(value: Any, precision: Any = 0, *mode: Any) -> float:
    """`round(2.5)` is 3.0, `round(-2.5)` is -2.0 (halves round up).

    `round(1.005, 2)` is 1.01: rounded as decimal text, halves away from 0.
    """
    rounding = _rounding(mode[0]) if mode else decimal.ROUND_HALF_UP
    exactly, given = float(number(value, "round")), number(precision, "round")
    places = long_of(given) if isinstance(given, float) else given
    if places < 0:
        cause = status("22N03", "precision", "INTEGER", 0, LARGEST, places).under("22N38", "round")
        raise argument_error("Precision argument to 'round()' cannot be negative", cause)
    if not math.isfinite(exactly):
        return exactly
    if places == 0 and not mode:
        return _rounded_up_at_half(exactly)
    exact = decimal.Decimal(repr(exactly))
    exponent = exact.as_tuple().exponent
    if isinstance(exponent, int) and -exponent <= places:
        return exactly + 0.0  # nothing to round; -0.0 becomes 0.0, because decimals have no negative zero
    if rounding is None:
        raise execution_failed("Rounding necessary")
    return float(exact.quantize(decimal.Decimal(1).scaleb(-places), rounding, _ANY_PRECISION)) + 0.0


@over_columns("round")
def round_column(column: Column, precision: Column | None = None, *mode: Column) -> Column | None:
    """The same for typed columns and one precision. Multiplied by a power of ten, a number that is not close to a half
    shows where it is rounded to, and the quotient is the float nearest to that; the few others are rounded as text."""
    places = _one_precision(precision, len(column))
    if not isinstance(column, Integers | Floats) or places is None or mode:
        return None
    values = column.values.astype(np.float64)
    with np.errstate(all="ignore"):
        scaled = np.abs(values) * 10.0**places
        whole = np.floor(scaled + 0.5)
        is_clear = (scaled < _CLEAR_BELOW) & (np.abs(scaled - np.floor(scaled) - 0.5) > _CLOSE_TO_HALF)
    rounded: Float64s = np.copysign(whole / 10.0**places, values) + 0.0  # no negative zero
    for row in np.flatnonzero(~is_clear).tolist():
        rounded[row] = round_number(float(values[row]), places)
    return Floats(rounded, column.nulls)


def _one_precision(precision: Column | None, count: int) -> int | None:
    """The precision that all rows share; None if they do not, or if it is beyond what a float holds exactly."""
    if precision is None:
        return 0
    if not isinstance(precision, Integers) or precision.nulls is not None or not count:
        return None
    places = int(precision.values[0])
    is_shared = 0 <= places <= _MOST_PLACES and bool((precision.values == places).all())
    return places if is_shared else None


def _rounding(mode: Any) -> str | None:
    if not isinstance(mode, str):
        raise type_error(f"Expected a string value for `round`, but got: {describe(mode)}.")
    if mode not in _ROUNDINGS:
        raise argument_error(
            "Unknown rounding mode. Valid values are: CEILING, FLOOR, UP, DOWN, HALF_EVEN, HALF_UP, HALF_DOWN, "
            "UNNECESSARY.",
            because("22N26"),
        )
    return _ROUNDINGS[mode]


def _rounded_up_at_half(value: float) -> float:
    """Java's Math.round: to a 64-bit integer, and back to a float."""
    below = math.floor(value)
    return float(long_of(float(below + 1 if value - below >= 0.5 else below)))
