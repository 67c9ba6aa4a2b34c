"""Values as bytes and back, and bytes that are not values."""

from __future__ import annotations

import contextlib
import random
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.server.packstream import MAX_DEPTH, PackStreamError, Structure, packed, unpacked
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

_NANOS = st.integers(0, 999_999_999)
_CLOCKS = st.integers(0, 86_400 * 10**9 - 1)
_DAYS = st.integers(-365_243_219_162, 365_241_780_471)
_SECONDS = st.integers(-(10**16), 10**16)
_OFFSETS = st.integers(-18 * 3600, 18 * 3600)
_LONGS = st.integers(-(2**63), 2**63 - 1)
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    _LONGS,
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.binary(),
    st.builds(Date, _DAYS),
    st.builds(LocalTime, _CLOCKS),
    st.builds(Time, _CLOCKS, _OFFSETS),
    st.builds(LocalDateTime.of_second, _SECONDS, _NANOS),
    st.builds(DateTime.of_instant, _SECONDS, _NANOS, _OFFSETS),
    st.builds(DateTime.of_instant, _SECONDS, _NANOS, st.sampled_from(["Europe/Paris", "UTC", "America/New_York"])),
    st.builds(Duration, _LONGS, _LONGS, _LONGS, _NANOS),
    st.builds(Point, st.just(7203), st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 2)),
    st.builds(Point, st.just(9157), st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 3)),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text("abc\u00e9", max_size=5), inner, max_size=40),
    max_leaves=60,
)


@given(_VALUES)
def test_what_was_packed_is_unpacked(value: Any) -> None:
    message = Structure(0x10, (value,))
    assert unpacked(packed(message)) == message


@pytest.mark.parametrize(
    ("value", "size"),
    [(0, 1), (127, 1), (-16, 1), (-17, 2), (128, 3), (-129, 3), (40_000, 5), (2**31, 9), (-(2**63), 9), (2**63 - 1, 9)],
)
def test_integers_take_the_fewest_bytes(value: int, size: int) -> None:
    assert len(packed(value)) == size
    assert unpacked(packed(value)) == value


@pytest.mark.parametrize("size", [0, 15, 16, 255, 256, 65_535, 65_536])
def test_lengths_of_every_width(size: int) -> None:
    for value in ("x" * size, b"x" * size, [1] * size, {str(n): n for n in range(size)}):
        assert unpacked(packed(value)) == value


def test_half_of_a_surrogate_pair_becomes_a_question_mark() -> None:
    assert unpacked(packed("a\ud83d")) == "a?"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc9\x00",
        b"\xd0\x05abc",
        b"\x83ab",
        b"\xd2\xff\xff\xff\xff",
        b"\xd6\xff\xff\xff\xff",
        b"\xda\xff\xff\xff\xff",
        b"\xce\x7f\xff\xff\xff",
        b"\xc4",
        b"\xdf",
        b"\x81\xff",
        b"\xa1\x01\x01",
        b"\xa2\x81a\x01\x81a\x02",
        b"\x01\x01",
        b"\xb1",
        packed([Structure(ord("D"), ("x",))]),
        packed([Structure(ord("D"), (10**15,))]),
        packed([Structure(ord("t"), (-1,))]),
        packed([Structure(ord("T"), (0, 10**6))]),
        packed([Structure(ord("i"), (0, 0, "Nowhere/At_All"))]),
        packed([Structure(ord("X"), (1, 0.0, 0.0))]),
        packed([Structure(ord("X"), (4326, 0.0, 91.0))]),
        packed([Structure(ord("X"), (7203, float("nan"), 0.0))]),
        b"\x91" * (MAX_DEPTH + 1) + b"\x01",
    ],
)
def test_bytes_that_are_not_a_value_are_refused(data: bytes) -> None:
    with pytest.raises(PackStreamError):
        unpacked(data)


def test_any_bytes_are_a_value_or_refused() -> None:
    dice = random.Random(7)
    base = packed(Structure(0x10, ("RETURN $x", {"x": [1, 2.5, "text", {"k": Date(3)}, b"ab"]}, {"db": "neo4j"})))
    for _ in range(20_000):
        data = bytearray(base)
        for _ in range(dice.randint(1, 6)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        if dice.random() < 0.3:
            del data[dice.randrange(len(data)) :]
        with contextlib.suppress(PackStreamError):
            unpacked(bytes(data))


def test_the_deepest_value_is_read() -> None:
    value: Any = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    assert unpacked(packed(value)) == value


def test_floats_keep_every_bit() -> None:
    for bits in (0, 1 << 63, 0x7FF0000000000000, 0x3FF0000000000001, 1):
        (number,) = struct.unpack(">d", bits.to_bytes(8, "big"))
        assert struct.pack(">d", unpacked(packed(number))) == bits.to_bytes(8, "big")
