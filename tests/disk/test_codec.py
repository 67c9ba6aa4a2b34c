"""Values as bytes and back; invalid bytes."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.storage.disk.codec import BadEncoding, decode, encode
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

INTEGERS = st.integers(-(2**63), 2**63 - 1)
NANOSECONDS = st.integers(0, 86_400_000_000_000 - 1)
OFFSETS = st.integers(-64_800, 64_800)
SCALARS = st.one_of(
    st.booleans(),
    INTEGERS,
    st.floats(allow_nan=False),
    st.text(st.characters()),  # lone surrogates too
    st.binary(),
    st.builds(Date, INTEGERS),
    st.builds(LocalTime, NANOSECONDS),
    st.builds(Time, NANOSECONDS, OFFSETS),
    st.builds(LocalDateTime, INTEGERS, NANOSECONDS),
    st.builds(DateTime, INTEGERS, NANOSECONDS, OFFSETS, st.none() | st.sampled_from(["Europe/Berlin", "UTC"])),
    st.builds(Duration, INTEGERS, INTEGERS, INTEGERS, st.integers(0, 999_999_999)),
    st.builds(Point, st.sampled_from([4326, 7203]), st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False))),
)
VALUES = st.none() | SCALARS | st.lists(SCALARS) | st.dictionaries(st.text(), SCALARS | st.lists(SCALARS))


def same(left: Any, right: Any) -> bool:
    """Equal and of one type, all the way down."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, float):
        return math.copysign(1, left) == math.copysign(1, right) and left == right
    return bool(left == right)


@given(VALUES)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert same(decode(encode(value)), value)


def test_nan_comes_back() -> None:
    assert math.isnan(decode(encode(float("nan"))))


@given(st.binary(max_size=40))
def test_any_bytes_are_a_value_or_refused(data: bytes) -> None:
    with suppress(BadEncoding):
        decode(data)


@given(VALUES, st.data())
def test_a_value_that_ends_early_is_refused(value: Any, data: st.DataObject) -> None:
    whole = encode(value)
    with pytest.raises(BadEncoding):
        decode(whole[: data.draw(st.integers(0, len(whole) - 1))])


def test_a_length_beyond_the_end_allocates_nothing() -> None:
    for tag in (5, 6, 7, 8):
        with pytest.raises(BadEncoding):
            decode(bytes([tag]) + b"\xff\xff\xff\xff\xff\xff\xff\x7f")


def test_nesting_has_an_end() -> None:
    with pytest.raises(BadEncoding, match="nested"):
        decode(b"\x07\x01" * 10_000 + b"\x00")


def test_other_objects_are_refused() -> None:
    with pytest.raises(TypeError):
        encode(object())
