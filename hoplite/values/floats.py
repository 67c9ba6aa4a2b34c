"""Floats as Java writes them: `100.0`, `1.0E10`, `1.0E-4`, `NaN`, `-Infinity`."""

from __future__ import annotations

import math


def float_text(value: float) -> str:
    """`Double.toString`: plain between 1e-3 and 1e7, else with an exponent."""
    if not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    if value == 0 or (1e-3 <= abs(value) < 1e7 and "e" not in text):
        return text
    sign = "-" if value < 0 else ""
    mantissa, _, exponent_text = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole + fraction) - len(digits)
    exponent = int(exponent_text or 0) + len(whole) - leading_zeros - 1
    digits = digits.rstrip("0")
    if len(digits) == 1:  # Java writes at least two digits, those closest to the value: 4.9E-324
        mantissa, _, exponent_text = f"{abs(value):.1e}".partition("e")
        digits, exponent = mantissa.replace(".", "").rstrip("0"), int(exponent_text)
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def float_description(value: float) -> str:
    """Java's `%e`, as used in messages: `1.500000e+00`."""
    return f"{value:e}" if math.isfinite(value) else float_text(value)
