"""Java's `String.format` over Cypher's values: `%s %5d %,.2f %2$s`.

    %[place$][flags][width][.precision]conversion

A format that Java would reject raises `FormatError` with the class and message of Java's exception. A text too large
for memory is refused before it is built.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from hoplite.engine.functions.strings import string_of
from hoplite.engine.memory import refuse_text
from hoplite.errors import unsupported
from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass

_SPECIFIER = lazy_pattern(r"%(?:(\d+)\$)?([-#+ 0,(<]*)(\d+)?(?:\.(\d+))?([tT])?([a-zA-Z%])")
_WIDE = decimal.Context(prec=1 << 20)
JAVA_CLASSES = {
    str: "java.lang.String",
    int: "java.lang.Long",
    float: "java.lang.Double",
    bool: "java.lang.Boolean",
    list: "java.util.ArrayList",
    dict: "java.util.HashMap",
}


class FormatError(Exception):
    """What Java would have thrown."""

    def __init__(self, java_class: str, message: str) -> None:
        super().__init__(message)
        self.java_class = f"java.util.{java_class}"
        self.message = message


@dataclass(frozen=True, slots=True)
class _Specifier:
    text: str
    place: str | None
    flags: str
    width: int | None
    precision: int | None
    conversion: str

    def has(self, flag: str) -> bool:
        return flag in self.flags


def java_format(text: str, values: Sequence[Any], thousands: str = ",", point: str = ".") -> str:
    """The text with the values filled in; separators are those of a language."""
    parts: list[str] = []
    place, ordinary, last, size = 0, 0, -1, 0
    for found in _SPECIFIER.finditer(text):
        _refuse_stray(text[place : found.start()])
        parts.append(text[place : found.start()])
        place = found.end()
        specifier = _checked(found)
        if specifier.conversion in "n%":
            made = "\n" if specifier.conversion == "n" else _padded("%", specifier)
        else:
            if specifier.has("<"):
                chosen = last
            elif specifier.place is not None:
                chosen = int(specifier.place) - 1
            else:
                chosen, ordinary = ordinary, ordinary + 1
            if not 0 <= chosen < len(values):
                raise FormatError("MissingFormatArgumentException", f"Format specifier '{specifier.text}'")
            last = chosen
            made = _written(specifier, values[chosen], thousands, point)
        size += len(made)
        refuse_text(size)
        parts.append(made)
    _refuse_stray(text[place:])
    return "".join([*parts, text[place:]])


def _refuse_stray(text: str) -> None:
    """Raise an error for a percent sign that does not begin a specifier."""
    found = text.find("%")
    if found >= 0:
        raise FormatError("UnknownFormatConversionException", f"Conversion = '{(text[found + 1 :] or '%')[0]}'")


def _checked(found: re.Match[str]) -> _Specifier:
    place, flags, width, precision, is_time, conversion = found.groups()
    if is_time or conversion in "aA":
        raise unsupported(f"the conversion {found[0]} of a format")
    if conversion not in "sSdoxXfeEgGbBhHcCn%":
        raise FormatError("UnknownFormatConversionException", f"Conversion = '{conversion}'")
    for flag in flags:
        if flags.count(flag) > 1:
            raise FormatError("DuplicateFormatFlagsException", f"Flags = '{flag}'")
    specifier = _Specifier(
        found[0],
        place,
        flags,
        None if width is None else int(width),
        None if precision is None else int(precision),
        conversion,
    )
    wrong = [flag for flag in flags if flag in "#+ 0,("] if conversion in "sSbBhHcC" else []
    if wrong:
        raise FormatError("FormatFlagsConversionMismatchException", f"Conversion = {conversion}, Flags = {wrong[0]}")
    if width is None and not {"-", "0"}.isdisjoint(flags):
        raise FormatError("MissingFormatWidthException", found[0])
    if {"-", "0"} <= set(flags) or {"+", " "} <= set(flags):
        raise FormatError("IllegalFormatFlagsException", f"Flags = '{flags}'")
    if precision is not None and conversion in "doxXcCn%":
        raise FormatError("IllegalFormatPrecisionException", precision)
    refuse_text((specifier.width or 0) + (specifier.precision or 0))
    return specifier


def _written(specifier: _Specifier, value: Any, thousands: str, point: str) -> str:
    kind = specifier.conversion.lower()
    if kind in "sbhc" or value is None:
        shown = _GENERAL[kind](value) if kind in "sbh" else _character(value, specifier)
        if specifier.precision is not None and kind in "sbh":
            shown = shown[: specifier.precision]
        shown = _padded(shown, specifier)
    elif kind in "dox":
        if type(value) is not int:
            raise _wrong(specifier, value)
        shown = _numeric(specifier, value < 0, _whole(specifier, value), thousands)
    else:
        if type(value) is not float:
            raise _wrong(specifier, value)
        shown = _floating(specifier, value, thousands, point)
    return shown.upper() if specifier.conversion.isupper() else shown


def _wrong(specifier: _Specifier, value: Any) -> FormatError:
    found = JAVA_CLASSES.get(type(value), type(value).__name__)
    return FormatError("IllegalFormatConversionException", f"{specifier.conversion} != {found}")


def _character(value: Any, specifier: _Specifier) -> str:
    """`%c`: no Cypher value is a character, so only null fits."""
    if value is None:
        return "null"
    raise _wrong(specifier, value)


def java_text(value: Any) -> str:
    """`String.valueOf`: `[1, a]`, `{a=1}`, `null`."""
    match value:
        case None:
            return "null"
        case list():
            return f"[{', '.join(map(java_text, value))}]"
        case dict():
            return f"{{{', '.join(f'{key}={java_text(item)}' for key, item in value.items())}}}"
        case _:
            return str(string_of(value))


def _hash(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            number = 1231 if value else 1237
        case int():
            number = (value ^ (value >> 32)) & 0xFFFFFFFF
        case str():
            number = 0
            for unit in value.encode("utf-16-be", "surrogatepass")[1::2]:
                number = (31 * number + unit) & 0xFFFFFFFF
        case _:
            raise unsupported("the conversion %h of such a value")
    return format(number, "x")


_GENERAL: dict[str, Callable[[Any], str]] = {
    "s": java_text,
    "b": lambda value: str(value).lower() if isinstance(value, bool) else str(value is not None).lower(),
    "h": _hash,
}


def _padded(shown: str, specifier: _Specifier) -> str:
    if specifier.width is None:
        return shown
    return shown.ljust(specifier.width) if specifier.has("-") else shown.rjust(specifier.width)


def _whole(specifier: _Specifier, value: int) -> str:
    """The digits without a sign; bases other than 10 show all 64 bits."""
    if specifier.conversion == "d":
        return str(abs(value))
    digits = format(value & 0xFFFFFFFFFFFFFFFF, "o" if specifier.conversion == "o" else "x")
    return (("0" if specifier.conversion == "o" else "0x") if specifier.has("#") else "") + digits


def _numeric(specifier: _Specifier, negative: bool, digits: str, thousands: str, rest: str = "") -> str:
    """The digits with sign, separators and padding."""
    signed = specifier.conversion not in "oxX"
    if specifier.has(",") and signed:
        digits = f"{int(digits):,}".replace(",", thousands)
    before, after = "", ""
    if negative and signed:
        before, after = ("(", ")") if specifier.has("(") else ("-", "")
    elif signed:
        before = "+" if specifier.has("+") else " " if specifier.has(" ") else ""
    if specifier.has("0") and specifier.width is not None:
        digits = digits.rjust(specifier.width - len(before) - len(after) - len(rest), "0")
    return _padded(before + digits + rest + after, specifier)


def _floating(specifier: _Specifier, value: float, thousands: str, point: str) -> str:
    if value != value:
        return _padded("NaN", specifier)
    negative = str(value).startswith("-")
    if value in (float("inf"), float("-inf")):
        sign = ("(", ")") if negative and specifier.has("(") else ("-" if negative else "+" * specifier.has("+"), "")
        return _padded(f"{sign[0]}Infinity{sign[1]}", specifier)
    exact = abs(Decimal(repr(value)))
    precision = 6 if specifier.precision is None else specifier.precision
    kind = specifier.conversion.lower()
    if kind == "g":
        precision = precision or 1
        rounded = _scientific(exact, precision - 1)
        if rounded == 0 or Decimal("0.0001") <= rounded < Decimal(10) ** precision:
            kind, precision = "f", precision - 1 - (rounded.adjusted() if rounded else 0)
        else:
            kind, precision = "e", precision - 1
    if kind == "f":
        rounded = exact.quantize(Decimal(1).scaleb(-precision), decimal.ROUND_HALF_UP, _WIDE)
        digits, _, decimals = format(rounded, "f").partition(".")
        exponent = ""
    else:
        rounded = _scientific(exact, precision)
        power = rounded.adjusted() if rounded else 0
        digits, _, decimals = format(rounded.scaleb(-power, _WIDE), "f").partition(".")
        decimals = decimals[:precision].ljust(precision, "0")
        exponent = f"e{'-' if power < 0 else '+'}{abs(power):02d}"
    rest = (point + decimals if decimals else point if specifier.has("#") else "") + exponent
    return _numeric(specifier, negative, digits, thousands, rest)


def _scientific(exact: Decimal, decimals: int) -> Decimal:
    """Rounded to this many decimals after the first digit."""
    if not exact:
        return exact
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - decimals), decimal.ROUND_HALF_UP, _WIDE)
