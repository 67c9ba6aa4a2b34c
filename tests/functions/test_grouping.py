"""Group numbers must agree with a dictionary over grouping keys, whatever classes the columns have."""

from __future__ import annotations

import random
import tracemalloc
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.engine.grouping import ColumnEncoder, Grouping
from hoplite.values.columns import Column, Integers, Nodes, Objects, Strings, from_objects, object_array
from hoplite.values.order import group_key

_VALUES: list[st.SearchStrategy[Any]] = [
    st.none() | st.integers(-5, 5),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.sampled_from([0.0, -0.0, 1.0, 2.5]),
    st.none() | st.sampled_from(["", "a", "b"]),
    st.none() | st.booleans(),
    st.sampled_from([None, 1, 1.0, True, "a", [1], [1.0], {"a": 1}, 2**53 + 1, float(2**53)]),
]


@st.composite
def _batches(draw: st.DrawFn) -> list[list[tuple[Any, ...]]]:
    width = draw(st.integers(1, 3))
    kinds = [draw(st.sampled_from(_VALUES)) for _ in range(width)]
    return draw(st.lists(st.lists(st.tuples(*kinds), max_size=8), max_size=4))


@given(_batches())
def test_numbers_follow_the_first_appearance_of_each_key(batches: list[list[tuple[Any, ...]]]) -> None:
    grouping = Grouping()
    seen: dict[Any, int] = {}
    first: list[tuple[Any, ...]] = []
    for rows in batches:
        if not rows:
            continue
        columns = [from_objects(list(values)) for values in zip(*rows, strict=True)]
        numbers = grouping.assign(columns).tolist()
        for row, number in zip(rows, numbers, strict=True):
            key = tuple(map(group_key, row))
            if key not in seen:
                first.append(row)
            assert number == seen.setdefault(key, len(seen))
    assert grouping.count == len(seen)
    if seen:
        columns = grouping.keys()
        keys = zip(*(column.objects() for column in columns), strict=True)
        assert [tuple(map(group_key, key)) for key in keys] == [tuple(map(group_key, row)) for row in first]


def test_every_nan_is_a_group_of_its_own() -> None:
    grouping = Grouping()
    assert grouping.assign([from_objects([float("nan"), 1.0, float("nan")])]).tolist() == [0, 1, 2]


def test_distinct_keeps_the_rows_that_open_a_group() -> None:
    grouping = Grouping()
    grouping.assign([Nodes(np.array([7, 3]))])
    _, opened = grouping.assign_first([Nodes(np.array([3, 9, 7, 9, -1]))])
    assert opened.tolist() == [1, 4]


def test_codes_that_spread_move_from_the_table_to_a_dictionary() -> None:
    grouping = Grouping()
    grouping.assign([Integers(np.array([1, 2, 3]))])
    assert grouping.assign([Integers(np.array([2, 10**12, -(10**12), 3]))]).tolist() == [1, 3, 4, 2]


def test_without_keys_all_rows_are_one_group() -> None:
    grouping = Grouping()
    assert grouping.count == 0
    assert grouping.assign([], row_count=3).tolist() == [0, 0, 0]
    assert grouping.count == 1


def test_thousands_of_key_columns_do_not_each_take_a_large_table() -> None:
    columns = [Integers(np.array([30_000 + number])) for number in range(2_000)]
    tracemalloc.start()
    try:
        assert Grouping.without_keys().assign(columns, 1).tolist() == [0]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 << 20


@pytest.mark.parametrize("more", [[], [[float("nan")]]])
@pytest.mark.parametrize("seed", range(5))
def test_rows_that_share_objects_get_the_numbers_of_their_values(seed: int, more: list[Any]) -> None:
    chance = random.Random(seed)
    distinct: list[Any] = [["a"], ["a", "b"], ["a"], None, [1], [1.0], {"k": [1]}, *more]
    shared, apart = ColumnEncoder(), ColumnEncoder()
    for size in (200, 3, 500):
        rows = chance.choices(distinct, k=size)
        numbers = shared.assign_first(Objects(object_array(rows, size)))
        expected = apart.assign_first(Objects(object_array(map(deepcopy, rows), size)))
        assert [some.tolist() for some in numbers] == [some.tolist() for some in expected]


@pytest.mark.parametrize("seed", range(20))
def test_texts_of_several_pools_and_of_none_get_the_numbers_of_their_values(seed: int) -> None:
    chance = random.Random(seed)
    pools = [Strings(object_array(chance.choices(["a", "b", "c", "", None, "d"], k=6), 6)) for _ in range(3)]
    encoder, known = ColumnEncoder(), dict[Any, int]()
    for _ in range(12):
        slots = np.array(chance.choices(range(6), k=chance.choice([1, 3, 40])), np.int64)
        pool = chance.choice(pools)
        column: Column = pool.look_up(slots)
        if chance.random() < 0.2:
            column = Strings(column.objects().copy())
        elif chance.random() < 0.05:
            column = Objects(object_array([["a"], 1, None], 3))
        values = column.objects().tolist()
        expected = [known.setdefault(repr(value), len(known)) for value in values]
        assert encoder.assign(column).tolist() == expected
        assert encoder.count == len(known)
