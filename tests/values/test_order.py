"""Equality, comparison, the order of ORDER BY, and groups."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.order import UNORDERED, compare, equals, group_key, less_or_equal, less_than, sort_key
from hoplite.values.spatial import CARTESIAN, WGS_84, Point
from hoplite.values.temporal import Date, Duration, LocalDateTime, LocalTime, Time
from hoplite.values.temporal_parse import parse_date_time

_NAN = float("nan")
_UTC = parse_date_time("2020-01-01T12:00Z", 0)
_PARIS = parse_date_time("2020-01-01T13:00[Europe/Paris]", 0)
_NAMED_UTC = parse_date_time("2020-01-01T12:00[UTC]", 0)

# Ascending, one of every kind and the fine points within some.
_ORDERED: list[Any] = [
    *[{}, {"a": 1}, {"a": 2}, {"a": None}, {"b": 1}, {"a": 1, "b": 2}],
    *[NodeRef(1), NodeRef(2), RelationshipRef(0)],
    *[[], ["a"], [1], [1, 2], [2], [None]],
    PathValue((0, 1), (0,)),
    *[Point(WGS_84, (1.0, 2.0)), Point(CARTESIAN, (1.0, 2.0)), Point(CARTESIAN, (1.0, 3.0))],
    *[_UTC, _PARIS],
    LocalDateTime(0, 0),
    *[Date(0), Date(1)],
    *[Time(0, 3600), Time(0, 0)],
    *[LocalTime(0), LocalTime(1)],
    *[Duration(seconds=86400), Duration(days=1), Duration(seconds=90000), Duration(months=1)],
    *["", "B", "a", "z", "é", "😀"],
    *[False, True],
    *[float("-inf"), -1, -0.0, 0, 1.5, 9007199254740992.0, 9007199254740993, float("inf"), _NAN],
    None,
]


def test_every_value_has_its_place() -> None:
    shuffled = list(_ORDERED)
    random.Random(1).shuffle(shuffled)
    assert [repr(value) for value in sorted(shuffled, key=sort_key)] == [repr(value) for value in _ORDERED]


_SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.text("ab", max_size=2)
_VALUES: st.SearchStrategy[Any] = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


@given(_VALUES, _VALUES)
def test_the_notions_agree_where_all_apply(left: Any, right: Any) -> None:
    if equals(left, right) is True:
        assert group_key(left) == group_key(right)
    order = compare(left, right)
    if order in (-1, 1):
        assert (sort_key(left) < sort_key(right)) == (order == -1)
        assert compare(right, left) == -order
    if group_key(left) != group_key(right):
        assert equals(left, right) is not True


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (1, "1", False),
        (1, True, False),
        (None, None, None),
        (_NAN, _NAN, False),
        ([1, 2], [1, None], None),
        ([1, 2], [2, None], False),
        ([1], [1, None], False),
        ({"a": None}, {"a": None}, None),
        ({"a": 1}, {"b": 1}, False),
        (_UTC, _PARIS, False),
        (_UTC, _NAMED_UTC, False),
        (Duration(days=1), Duration(seconds=86400), False),
        (NodeRef(1), NodeRef(1), True),
        (NodeRef(1), RelationshipRef(1), False),
    ],
)
def test_equality(left: Any, right: Any, same: bool | None) -> None:
    assert equals(left, right) is same


@pytest.mark.parametrize(
    ("left", "right", "less"),
    [
        (1, 2.5, True),
        ("a", "b", True),
        (False, True, True),
        (1, "a", None),
        (1, None, None),
        (_NAN, 1, False),
        (_NAN, "a", None),
        ([1, 2], [1, 3], True),
        ([1], [1, None], True),
        ([1, 2], [1, None], None),
        ([_NAN], [1], None),
        ({"a": 1}, {"b": 1}, True),
        (Date(0), Date(1), True),
        (Date(0), LocalDateTime(1, 0), None),
        (Duration(days=1), Duration(days=2), None),
    ],
)
def test_comparison(left: Any, right: Any, less: bool | None) -> None:
    assert less_than(left, right) is less


def test_the_same_instant_in_other_zones_is_ordered_by_offset() -> None:
    assert (less_than(_UTC, _PARIS), less_than(_PARIS, _UTC)) == (True, False)


def test_nan_has_no_order_and_is_not_null() -> None:
    assert compare(_NAN, 1) == UNORDERED
    assert less_or_equal(_NAN, _NAN) is False


def test_groups() -> None:
    assert group_key(1) == group_key(1.0)
    assert group_key(0.0) == group_key(-0.0)
    assert group_key(None) == group_key(None)
    assert group_key([1, {"a": 2.0}]) == group_key([1.0, {"a": 2}])
    assert group_key(1) != group_key(True)
    assert group_key(_NAN) != group_key(_NAN)
    assert group_key(_UTC) != group_key(_PARIS)
    assert group_key(9007199254740993) != group_key(9007199254740992.0)
    empty: list[Any] = [[], {}, "", None, False, 0]
    assert len({group_key(value) for value in empty}) == 6
