"""`round` of a column is, to the bit, `round` of each of its values."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from hoplite.engine.functions.mathematical import round_column, round_number
from hoplite.values.columns import Floats, Integers

_HALVES = st.builds(
    lambda whole, places, steps: _moved((whole + 0.5) / 10**places, steps),
    st.integers(-(10**7), 10**7),
    st.integers(0, 6),
    st.integers(-2, 2),
)
_NUMBERS = st.one_of(
    st.floats(), _HALVES, st.floats(-1000, 1000), st.builds(round, st.floats(-100, 100), st.integers(0, 6))
)


def _moved(value: float, steps: int) -> float:
    """The float that is this many floats away."""
    for _ in range(abs(steps)):
        value = math.nextafter(value, math.copysign(math.inf, steps))
    return value


def _bits(value: Any) -> bytes:
    return b"NaN" if math.isnan(value) else struct.pack("d", value)


@given(values=st.lists(_NUMBERS, min_size=1), places=st.none() | st.integers(0, 15))
@example(values=[-0.0, -0.2, 0.5, -0.5, 1.005, 2.675, 1e15, 2.0**53, math.inf, math.nan], places=2)
@example(values=[72181849230844.17, 95229221083590.25, -92226637390741.75], places=2)  # a product loses digits of these
@example(values=[-0.0, -0.2, 0.5, -0.5, -2.5, 4503599627370495.5, 1e300, -1e300], places=None)
def test_a_column_is_rounded_as_its_values(values: list[float], places: int | None) -> None:
    given_places = () if places is None else (Integers(np.full(len(values), places)),)
    found = round_column(Floats(np.array(values)), *given_places)
    assert isinstance(found, Floats)
    expected = [round_number(value) if places is None else round_number(value, places) for value in values]
    assert list(map(_bits, found.values.tolist())) == list(map(_bits, expected))


def test_what_differs_from_row_to_row_is_left_to_them() -> None:
    two = Floats(np.array([1.25, 1.25]))
    assert round_column(two, Integers(np.array([1, 2]))) is None
    assert round_column(two, Integers(np.array([-1, -1]))) is None
    assert round_column(two, Integers(np.array([1, 1]), np.array([True, False]))) is None
