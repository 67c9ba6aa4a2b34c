"""Inverse trigonometric functions: known last digits of Java, and the C library within a unit in the last place."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.values import java_angles

_NUMBERS = st.floats(allow_nan=False)
_RATIOS = st.floats(min_value=-1, max_value=1)


@pytest.mark.parametrize(
    ("computed", "java"),
    [
        (java_angles.acos(0.5), 1.0471975511965979),
        (java_angles.asin(1.0), 1.5707963267948966),
        (java_angles.atan2(1.5, -1.0), 2.1587989303424644),
        (java_angles.atan2(-980736771719375.4, -4.202670710864331e-06), -1.5707963267948968),
        (java_angles.atan2(2.0, 1.0), 1.1071487177940904),
    ],
)
def test_last_digits_are_those_of_java(computed: float, java: float) -> None:
    assert computed == java


@given(_RATIOS)
def test_arcsine_and_arccosine_are_within_a_unit_of_the_c_library(x: float) -> None:
    assert abs(java_angles.asin(x) - math.asin(x)) <= math.ulp(math.asin(x))
    assert abs(java_angles.acos(x) - math.acos(x)) <= math.ulp(math.acos(x))


@given(_NUMBERS, _NUMBERS)
def test_arctangents_are_within_two_units_of_the_c_library(y: float, x: float) -> None:
    assert abs(java_angles.atan(x) - math.atan(x)) <= math.ulp(math.atan(x))
    expected = math.atan2(y, x)
    assert abs(java_angles.atan2(y, x) - expected) <= 2 * math.ulp(expected)
    assert math.copysign(1, java_angles.atan2(y, x)) == math.copysign(1, expected)


def test_what_is_outside_is_not_a_number() -> None:
    assert math.isnan(java_angles.asin(1.5))
    assert math.isnan(java_angles.acos(-1.5))
    assert math.isnan(java_angles.atan(math.nan))
    assert math.isnan(java_angles.atan2(math.nan, 1.0))
