"""The inverse trigonometric functions of `java.lang.StrictMath`, to the last bit.

Java specifies `asin`, `acos`, `atan` and `atan2` by fdlibm's polynomials, whose rounding differs from the C library's.
"""

from __future__ import annotations

import math
import struct

_PI_LOW = 1.2246467991473531772e-16
_HALF_PI, _HALF_PI_LOW = 1.57079632679489655800e00, 6.12323399573676603587e-17
_QUARTER_PI = 7.85398163397448278999e-01
# (asin(x) - x) / x**3, as the quotient of two polynomials in x squared.
_NUMERATOR = (
    1.66666666666666657415e-01,
    -3.25565818622400915405e-01,
    2.01212532134862925881e-01,
    -4.00555345006794114027e-02,
    7.91534994289814532176e-04,
    3.47933107596021167570e-05,
)
_DENOMINATOR = (
    1.0,
    -2.40339491173441421878e00,
    2.02094576023350569471e00,
    -6.88283971605453293030e-01,
    7.70381505559019352791e-02,
)
# The arctangents of 1/2, 1, 3/2 and infinity, and what their floats leave out.
_AT_HALF = (4.63647609000806093515e-01, 2.26987774529616870924e-17)
_AT_ONE = (_QUARTER_PI, 3.06161699786838301793e-17)
_AT_THREE_HALVES = (9.82793723247329054082e-01, 1.39033110312309984516e-17)
_AT_INFINITY = (_HALF_PI, _HALF_PI_LOW)
# (x - atan(x)) / x**3, as a polynomial in x squared.
_ATAN = (
    3.33333333333329318027e-01,
    -1.99999999998764832476e-01,
    1.42857142725034663711e-01,
    -1.11111104054623557880e-01,
    9.09088713343650656196e-02,
    -7.69187620504482999495e-02,
    6.66107313738753120669e-02,
    -5.83357013379057348645e-02,
    4.97687799461593236017e-02,
    -3.65315727442169155270e-02,
    1.62858201153657823623e-02,
)


def asin(x: float) -> float:
    """`Math.asin`; NaN outside -1 to 1."""
    size = abs(x)
    if not size <= 1.0:
        return math.nan
    if size == 1.0:
        return x * _HALF_PI + x * _HALF_PI_LOW
    if size < 0.5:
        return x if size < 2.0**-27 else x + x * _ratio(x * x)
    rest = (1.0 - size) * 0.5
    root, ratio = math.sqrt(rest), _ratio(rest)
    if _high_word(size) >= 0x3FEF3333:  # about 0.975
        angle = _HALF_PI - (2.0 * (root + root * ratio) - _HALF_PI_LOW)
    else:
        high, low = _split(root, rest)
        angle = _QUARTER_PI - ((2.0 * root * ratio - (_HALF_PI_LOW - 2.0 * low)) - (_QUARTER_PI - 2.0 * high))
    return math.copysign(angle, x)


def acos(x: float) -> float:
    """`Math.acos`; NaN outside -1 to 1."""
    size = abs(x)
    if not size <= 1.0:
        return math.nan
    if size == 1.0:
        return 0.0 if x > 0 else math.pi
    if size < 0.5:
        return _HALF_PI - (x - (_HALF_PI_LOW - x * _ratio(x * x)))
    rest = (1.0 - size) * 0.5
    root, ratio = math.sqrt(rest), _ratio(rest)
    if x < 0:
        return math.pi - 2.0 * (root + (ratio * root - _HALF_PI_LOW))
    high, low = _split(root, rest)
    return 2.0 * (high + (ratio * root + low))


def atan(x: float) -> float:
    """`Math.atan`."""
    size = abs(x)
    if size < 0.4375:
        return x if size < 2.0**-29 else x - _atan_rest(x)
    if size < 0.6875:
        known, reduced = _AT_HALF, (2.0 * size - 1.0) / (2.0 + size)
    elif size < 1.1875:
        known, reduced = _AT_ONE, (size - 1.0) / (size + 1.0)
    elif size < 2.4375:
        known, reduced = _AT_THREE_HALVES, (size - 1.5) / (1.0 + 1.5 * size)
    elif size < 2.0**66:
        known, reduced = _AT_INFINITY, -1.0 / size
    else:
        return math.nan if math.isnan(x) else math.copysign(_HALF_PI, x)
    return math.copysign(known[0] - ((_atan_rest(reduced) - known[1]) - reduced), x)


def atan2(y: float, x: float) -> float:
    """`Math.atan2`: the angle of the point (x, y)."""
    if not (x and y and math.isfinite(x) and math.isfinite(y)):
        return math.atan2(y, x)
    if x == 1.0:
        return atan(y)
    exponents = (_high_word(abs(y)) - _high_word(abs(x))) >> 20
    if exponents > 60:
        angle = _HALF_PI
    elif x < 0 and exponents < -60:
        angle = 0.0
    else:
        angle = atan(abs(y / x))
    if x < 0:
        angle = math.pi - (angle - _PI_LOW)
    return math.copysign(angle, y)


def _ratio(t: float) -> float:
    return t * _polynomial(t, _NUMERATOR) / _polynomial(t, _DENOMINATOR)


def _atan_rest(x: float) -> float:
    square = x * x
    fourth = square * square
    return x * (square * _polynomial(fourth, _ATAN[::2]) + fourth * _polynomial(fourth, _ATAN[1::2]))


def _polynomial(t: float, coefficients: tuple[float, ...]) -> float:
    result = 0.0
    for coefficient in reversed(coefficients):
        result = coefficient + t * result
    return result


def _split(root: float, square: float) -> tuple[float, float]:
    """The upper half of the bits of a root, and what is missing from it to the root of the exact square."""
    high: float = struct.unpack("<d", struct.pack("<q", _bits(root) & -(2**32)))[0]
    return high, (square - high * high) / (root + high)


def _high_word(x: float) -> int:
    """The upper half of the bits, by which fdlibm compares numbers."""
    return _bits(x) >> 32


def _bits(x: float) -> int:
    bits: int = struct.unpack("<q", struct.pack("<d", x))[0]
    return bits
