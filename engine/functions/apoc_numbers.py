"""apoc.math.*, apoc.number.*, apoc.bitwise.* and apoc.scoring.*: numbers, their text, and exact arithmetic."""

from __future__ import annotations

import decimal
import math
import re
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.memory import refuse_text

_LONG = 2**64
_MODES = {
    "UP": decimal.ROUND_UP,
    "DOWN": decimal.ROUND_DOWN,
    "CEILING": decimal.ROUND_CEILING,
    "FLOOR": decimal.ROUND_FLOOR,
    "HALF_UP": decimal.ROUND_HALF_UP,
    "HALF_DOWN": decimal.ROUND_HALF_DOWN,
    "HALF_EVEN": decimal.ROUND_HALF_EVEN,
}
_COMMA_LANGUAGES = {"it", "de", "es", "pt", "nl", "da", "id", "tr", "el"}


# --- hyperbolic functions and limits --------------------------------------------------------------------------------


def _exponential_function(signature: str, description: str, compute: Callable[[Any, Any], Any], has_pole: bool) -> None:
    """Register a function of e^x and e^-x, by APOC's formula, whose rounding the usual functions do not share.

    A function with a pole is null at 0.0, and infinite at -0.0 and where the number is lost in the sum.
    """

    @apoc_function(signature, description)
    def of_value(value: float | None) -> float | None:
        if value is None:
            return None
        if has_pole and value == 0 and math.copysign(1, value) > 0:
            return None
        with np.errstate(all="ignore"):
            return float(compute(*np.exp(np.array((value, -value), np.longdouble)).astype(np.float64)))


for _name, _description, _compute in (
    ("sinh", "Returns the hyperbolic sine.", lambda up, down: (up - down) / 2),
    ("cosh", "Returns the hyperbolic cosine.", lambda up, down: (up + down) / 2),
    ("tanh", "Returns the hyperbolic tangent.", lambda up, down: (up - down) / (up + down)),
    ("coth", "Returns the hyperbolic cotangent.", lambda up, down: (up + down) / (up - down)),
    ("csch", "Returns the hyperbolic cosecant.", lambda up, down: 2 / (up - down)),
    ("sech", "Returns the hyperbolic secant.", lambda up, down: 2 / (up + down)),
    ("sigmoid", "Returns the logistic function of a number.", lambda _, down: 1 / (1 + down)),
    (
        "sigmoidPrime",
        "Returns the derivative of the logistic function.",
        lambda _, down: 1 / (1 + down) * (1 - 1 / (1 + down)),
    ),
):
    _exponential_function(
        f"apoc.math.{_name}(value :: FLOAT) :: FLOAT", _description, _compute, _name in ("coth", "csch")
    )


@apoc_function("apoc.math.maxLong() :: INTEGER", "Returns the largest integer.")
def max_long() -> int:
    """Of 64 bits."""
    return 2**63 - 1


@apoc_function("apoc.math.minLong() :: INTEGER", "Returns the smallest integer.")
def min_long() -> int:
    """Of 64 bits."""
    return -(2**63)


@apoc_function("apoc.math.maxInt() :: INTEGER", "Returns the largest integer of 32 bits.")
def max_int() -> int:
    """Java's."""
    return 2**31 - 1


@apoc_function("apoc.math.minInt() :: INTEGER", "Returns the smallest integer of 32 bits.")
def min_int() -> int:
    """Java's."""
    return -(2**31)


@apoc_function("apoc.math.maxByte() :: INTEGER", "Returns the largest integer of 8 bits.")
def max_byte() -> int:
    """Java's."""
    return 127


@apoc_function("apoc.math.minByte() :: INTEGER", "Returns the smallest integer of 8 bits.")
def min_byte() -> int:
    """Java's."""
    return -128


@apoc_function("apoc.math.maxDouble() :: FLOAT", "Returns the largest float.")
def max_double() -> float:
    """The largest finite one."""
    return sys.float_info.max


@apoc_function("apoc.math.minDouble() :: FLOAT", "Returns the smallest positive float.")
def min_double() -> float:
    """A subnormal number."""
    return 5e-324


# --- exact arithmetic -------------------------------------------------------------------------------------------------


def _exact(function: str, text: str) -> Decimal:
    try:
        return Decimal(text)
    except decimal.InvalidOperation:
        wrong = next((character for character in text if character not in "+-.0123456789eE"), None)
        mark = 'neither a decimal digit number, decimal point, nor "e" notation exponential mark.'
        what = f"Not a number: {text}" if wrong is None else f"Character {wrong} is {mark}"
        raise function_failed(function, "java.lang.NumberFormatException", what) from None


def _rounded(function: str, value: Decimal, digits: int | None, mode: str | None) -> Decimal:
    """Round to a number of significant digits; 0 keeps all of them."""
    if not digits or digits < 0:
        return value
    if digits >= 2**31:
        raise function_failed(function, "java.lang.IllegalArgumentException", "Digits < 0")
    if (mode or "HALF_UP") not in _MODES:
        raise function_failed(function, "java.lang.IllegalArgumentException", f"No rounding mode {mode}")
    return decimal.Context(prec=digits, rounding=_MODES[mode or "HALF_UP"]).plus(value)


def _plain(value: Decimal) -> str:
    return format(value, "f")


_WIDE = decimal.Context(prec=2_000)
_MOST_DIGITS = 5_000


@apoc_function(
    "apoc.number.exact.add(stringA :: STRING, stringB :: STRING) :: STRING", "Adds two large numbers, given as strings."
)
def exact_add(left: str | None, right: str | None) -> str | None:
    """The result is a string; null for null and for an empty string."""
    if not left or not right:
        return None
    name = "apoc.number.exact.add"
    return _plain(_WIDE.add(_exact(name, left), _exact(name, right)))


@apoc_function(
    "apoc.number.exact.sub(stringA :: STRING, stringB :: STRING) :: STRING",
    "Subtracts two large numbers, given as strings.",
)
def exact_sub(left: str | None, right: str | None) -> str | None:
    """The result is a string; null for null and for an empty string."""
    if not left or not right:
        return None
    name = "apoc.number.exact.sub"
    return _plain(_WIDE.subtract(_exact(name, left), _exact(name, right)))


_EXACT = "stringA :: STRING, stringB :: STRING, precision = 0 :: INTEGER, roundingMode = HALF_UP :: STRING"


@apoc_function(f"apoc.number.exact.mul({_EXACT}) :: STRING", "Multiplies two large numbers, given as strings.")
def exact_mul(left: str | None, right: str | None, digits: int | None, mode: str | None) -> str | None:
    """The result is a string; null for null and for an empty string."""
    if not left or not right:
        return None
    name = "apoc.number.exact.mul"
    return _plain(_rounded(name, _WIDE.multiply(_exact(name, left), _exact(name, right)), digits, mode))


@apoc_function(f"apoc.number.exact.div({_EXACT}) :: STRING", "Divides two large numbers, given as strings.")
def exact_div(left: str | None, right: str | None, digits: int | None, mode: str | None) -> str | None:
    """The result is a string; null for null and for an empty string."""
    if not left or not right:
        return None
    name = "apoc.number.exact.div"
    divisor = _exact(name, right)
    if not divisor:
        raise function_failed(name, "java.lang.ArithmeticException", "/ by zero")
    return _plain(_rounded(name, _WIDE.divide(_exact(name, left), divisor), digits, mode))


_EXACT_TEXT = "string :: STRING, precision = 0 :: INTEGER, roundingMode = HALF_UP :: STRING"


@apoc_function(
    f"apoc.number.exact.toInteger({_EXACT_TEXT}) :: INTEGER",
    "Converts a large number, given as a string, to an integer.",
)
def exact_to_integer(text: str | None, digits: int | None, mode: str | None) -> int | None:
    """Null for null and for an empty string; precision and rounding mode make no difference. What is too large loses
    its upper bits."""
    if not text:
        return None
    name = "apoc.number.exact.toInteger"
    value = _exact(name, text)
    _rounded(name, value, digits, mode)
    if value.adjusted() > _MOST_DIGITS:
        return 0  # a multiple of 2 ** 64
    return (int(value) + 2**63) % 2**64 - 2**63


@apoc_function(
    f"apoc.number.exact.toFloat({_EXACT_TEXT}) :: FLOAT", "Converts a large number, given as a string, to a float."
)
def exact_to_float(text: str | None, digits: int | None, mode: str | None) -> float | None:
    """Null for null."""
    name = "apoc.number.exact.toFloat"
    return None if not text else float(_rounded(name, _exact(name, text), digits, mode))


@apoc_function("apoc.number.exact.toExact(number :: INTEGER) :: INTEGER", "Returns an integer as it is.")
def exact_to_exact(number: int | None) -> int | None:
    """Null for null."""
    return number


# --- texts ------------------------------------------------------------------------------------------------------------


def separators(language: str | None) -> tuple[str, str]:
    """The thousands separator and the decimal separator."""
    return (".", ",") if (language or "").lower() in _COMMA_LANGUAGES else (",", ".")


@apoc_function(
    "apoc.number.format(number :: ANY, pattern =  :: STRING, language =  :: STRING) :: STRING", "Writes a number."
)
def format_number(number: Any, pattern: str | None, language: str | None) -> str | None:
    """Formatted with a pattern such as `#,##0.00` and the separators of a language. Null for anything but a number."""
    if not isinstance(number, int | float) or isinstance(number, bool):
        return None
    if pattern and pattern.lower() in _COMMA_LANGUAGES | {"en", "fr"} and not language:
        pattern, language = "", pattern
    form = (pattern or "#,##0.###").split(";")[0]
    body = re.search(r"[#0,.]+", form)
    if body is None:
        raise function_failed("apoc.number.format", "java.lang.IllegalArgumentException", f"Malformed pattern {form}")
    whole, _, fraction = body.group().partition(".")
    least, most = fraction.count("0"), len(fraction)
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    rounded = exact.quantize(Decimal(1).scaleb(-most), rounding=decimal.ROUND_HALF_EVEN, context=_WIDE)
    digits, _, decimals = format(abs(rounded), "f").partition(".")
    decimals = decimals.rstrip("0").ljust(least, "0")
    digits = digits.rjust(whole.count("0"), "0")
    if digits == "0" and "0" not in whole and decimals:
        digits = ""
    thousands, point = separators(language)
    if "," in whole:
        size = len(whole) - whole.rindex(",") - 1
        head = len(digits) % size or size
        digits = thousands.join([digits[:head], *(digits[i : i + size] for i in range(head, len(digits), size))])
    sign = "-" if rounded < 0 else ""
    shown = digits + (point + decimals if decimals else "")
    return sign + form[: body.start()] + shown + form[body.end() :]


def _parsed(text: str | None, language: str | None) -> Decimal | None:
    """The number that a text begins with, in the notation of a language; None if there is none."""
    thousands, point = separators(language)
    found = re.match(rf"-?[0-9{re.escape(thousands)}]*(?:{re.escape(point)}[0-9]+)?", text or "")
    shown = found.group().replace(thousands, "").replace(point, ".") if found else ""
    return Decimal(shown) if re.search("[0-9]", shown) else None


@apoc_function(
    "apoc.number.parseInt(text :: STRING, pattern =  :: STRING, language =  :: STRING) :: INTEGER", "Parses an integer."
)
def parse_integer(text: str | None, pattern: str | None, language: str | None) -> int | None:
    """Null if there is none."""
    number = _parsed(text, language)
    return None if number is None else int(number)


@apoc_function(
    "apoc.number.parseFloat(text :: STRING, pattern =  :: STRING, language =  :: STRING) :: FLOAT", "Reads a float."
)
def parse_float(text: str | None, pattern: str | None, language: str | None) -> float | None:
    """Null if there is none."""
    number = _parsed(text, language)
    return None if number is None else float(number)


# --- bits, scores -----------------------------------------------------------------------------------------------------


def _signed(number: int) -> int:
    return (number + 2**63) % _LONG - 2**63


@apoc_function(
    "apoc.bitwise.op(a :: INTEGER, operator :: STRING, b :: INTEGER) :: INTEGER", "Combines the bits of two integers."
)
def bitwise(left: int | None, operator: str | None, right: int | None) -> int | None:
    """`&`, `|`, `^`, `~`, `<<`, `>>`, `>>>` and their names."""
    if left is None or operator is None or (right is None and operator not in ("~", "not")):
        return None
    other = right or 0
    match operator.lower():
        case "&" | "and":
            return left & other
        case "|" | "or":
            return left | other
        case "^" | "xor":
            return left ^ other
        case "~" | "not":
            return ~left
        case "<<" | "left shift":
            return _signed(left << (other & 63))
        case ">>" | "right shift":
            return left >> (other & 63)
        case ">>>" | "right shift unsigned":
            return _signed((left % _LONG) >> (other & 63))
    raise function_failed("apoc.bitwise.op", "java.lang.Exception", f"Invalid bitwise operator : '{operator}'")


@apoc_function("apoc.scoring.existence(score :: INTEGER, exists :: BOOLEAN) :: FLOAT", "Returns a score, or 0.")
def existence(score: int | None, exists: bool | None) -> float:
    """The score if something exists, else 0."""
    return float(score or 0) if exists else 0.0


@apoc_function(
    "apoc.scoring.pareto(minimumThreshold :: INTEGER, eightyPercentValue :: INTEGER, maximumValue :: INTEGER, score :: "
    "INTEGER) :: FLOAT",
    "Returns a score on a scale where a given value reaches 80% of the maximum.",
)
def pareto(least: int, at_eighty: int, most: int, score: int) -> float:
    """0 below the minimum."""
    if score < least:
        return 0.0
    return most * (1 - math.exp(-(math.log(5) / at_eighty) * score))


# --- Roman numerals ---

_ROMAN = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
_SUBTRACTED = {"CM": 900, "CD": 400, "XC": 90, "XL": 40, "IX": 9, "IV": 4}
_WRITTEN = sorted(
    {**_ROMAN, **_SUBTRACTED, "XM": 990, "XD": 490}.items(), key=lambda entry: entry[1], reverse=True
)  # APOC writes XM and XD but does not read them


@apoc_function("apoc.number.arabicToRoman(number :: ANY) :: STRING", "Returns a number in Roman numerals.")
def arabic_to_roman(number: Any) -> str | None:
    """Null for anything but a number; empty if there is no numeral for it."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    left = 0 if isinstance(number, float) and not math.isfinite(number) else int(number)
    refuse_text(max(left, 0) // 1000)
    written = []
    for numeral, value in _WRITTEN:
        times, left = divmod(left, value) if left > 0 else (0, 0)
        written.append(numeral * times)
    return "".join(written)


@apoc_function(
    "apoc.number.romanToArabic(romanNumber :: STRING) :: INTEGER | FLOAT",
    "Returns the number that Roman numerals denote.",
)
def roman_to_arabic(text: str | None) -> int:
    """Up to the first character that is not a numeral."""
    numerals, place, number = (text or "").upper(), 0, 0
    while place < len(numerals):
        value = _SUBTRACTED.get(numerals[place : place + 2])
        if value is None:
            value = _ROMAN.get(numerals[place])
            if value is None:
                break
            place -= 1
        number += value
        place += 2
    return number
