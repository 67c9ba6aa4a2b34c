"""Aggregates over batches: typed columns and the general path, group by group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.engine.context import RowError
from hoplite.engine.functions.aggregates import make_aggregation
from hoplite.values.columns import EntityLists, Integers, Nodes, Relationships, constant, from_objects
from hoplite.values.temporal import Duration

NAN, INFINITY = math.nan, math.inf
LARGEST = 2**63 - 1


def aggregate(
    name: str,
    values: Sequence[Any],
    groups: Sequence[int] | None = None,
    distinct: bool = False,
    *others: Any,
    parts: int = 2,
) -> list[Any]:
    """The result of each group, the values being handed over in several batches."""
    aggregation = make_aggregation(name, distinct)
    numbers = [0] * len(values) if groups is None else groups
    count = 0
    for part in range(parts):
        rows = slice(part * len(values) // parts, (part + 1) * len(values) // parts)
        some = np.array(numbers[rows], np.int64)
        count = max(count, int(some.max()) + 1 if len(some) else 0)
        columns = (from_objects(list(values[rows])), *(constant(other, len(some)) for other in others))
        aggregation.update(some, count, columns)
    results: list[Any] = aggregation.finish(max(count, 1)).objects().tolist()
    return results


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("count", [1, None, "a"], 2),
        ("sum", [], 0),
        ("sum", [1, 2, None], 3),
        ("sum", [1, 2.5], 3.5),
        ("sum", [LARGEST, 1], 9.223372036854776e18),
        ("sum", [LARGEST, 1, -5], 9.223372036854776e18),
        ("sum", [Duration(days=1), Duration(seconds=-1, nanoseconds=5)], Duration(days=1, seconds=-1, nanoseconds=5)),
        ("avg", [], None),
        ("avg", [1, 2], 1.5),
        ("avg", [1e308, 1e308], 1e308),
        ("avg", [1e308, -1e308], -INFINITY),
        ("avg", [Duration(days=1), Duration(months=2, days=3)], Duration(months=1, days=2)),
        ("avg", [Duration(days=1), Duration(seconds=129600)], Duration(days=1, seconds=21600)),
        ("avg", [Duration(seconds=-129600)], Duration(seconds=-129600)),
        ("min", [1, "a", True, None, [1]], [1]),
        ("max", [1, "a", True, None, [1]], 1),
        ("min", [0.0, -0.0], -0.0),
        ("max", ["b", "a", "c"], "c"),
        ("max", [1.0, 1], 1.0),
        ("min", [NAN, 1.0], 1.0),
        ("stdev", [3, 1, 2, 2], 0.816496580927726),
        ("stdev", [5], 0.0),
        ("stdevp", [LARGEST, 1], 4.611686018427388e18),
        ("collect", [1, None, 2], [1, 2]),
    ],
)
def test_one_group(name: str, values: list[Any], expected: Any) -> None:
    for parts in (1, 2, 3):
        (result,) = aggregate(name, values, parts=parts)
        assert type(result) is type(expected)
        assert result == pytest.approx(expected) if isinstance(expected, float) else result == expected


@pytest.mark.parametrize(
    ("name", "values", "percentile", "expected"),
    [
        ("percentileCont", [1, 2, 3, 4], 0.3, 1.9),
        ("percentileCont", [10, 20], 0, 10),
        ("percentileCont", [5], 0.9, 5),
        ("percentileDisc", [10, 20, 30, 40, 50], 0.25, 20),
        ("percentileDisc", [1.0, 2.0], 1, 2.0),
        ("percentileDisc", [NAN, 1], 0.5, 1),
    ],
)
def test_percentiles(name: str, values: list[Any], percentile: float, expected: Any) -> None:
    assert aggregate(name, values, None, False, percentile) == [pytest.approx(expected)]


def test_distinct_compares_as_grouping_does() -> None:
    assert aggregate("count", [1, 1.0, None, NAN, NAN, True], None, True) == [4]
    assert aggregate("collect", [1, 2, 1.0, 2], None, True, parts=4) == [[1, 2]]
    assert aggregate("sum", [1, 1, 2, 1], [0, 1, 0, 0], True) == [3, 1]


entities = st.lists(
    st.tuples(
        st.sampled_from([Nodes, Nodes, Nodes, Relationships, Integers]),
        st.lists(st.tuples(st.integers(0, 2), st.sampled_from([-1, 0, 1, 2, 3, 70_000, 2**31 - 1, 2**33])), max_size=8),
    ),
    max_size=5,
)


@given(batches=entities, wide=st.booleans())
def test_distinct_entities_are_counted_whatever_comes_with_them(batches: list[Any], wide: bool) -> None:
    """Nodes alone are counted by position; a relationship or a number may follow, or a position of more than 31 bits.
    A position of -1 is null."""
    aggregation = make_aggregation("count", True)
    group_count = 2**20 if wide else 3
    seen: set[tuple[int, type, int]] = set()
    for kind, rows in batches:
        groups, values = (np.array([row[part] for row in rows], dtype=np.int64) for part in (0, 1))
        aggregation.update(groups, group_count, (kind(values),))
        seen.update((group, kind, value) for group, value in rows if kind is Integers or value >= 0)
    counts = aggregation.finish(group_count).objects().tolist()
    assert counts[:3] == [sum(group == one for group, _, _ in seen) for one in range(3)]


def test_a_group_without_values_has_the_result_of_nothing() -> None:
    assert aggregate("min", [None, 3], [0, 1]) == [None, 3]
    assert aggregate("sum", [None, 2.5], [0, 1]) == [0, 2.5]
    assert aggregate("collect", [None, "a"], [0, 1]) == [[], ["a"]]


def test_nodes_are_collected_without_making_values() -> None:
    aggregation = make_aggregation("collect", False)
    aggregation.update(np.array([1, 0, 1]), 2, (Nodes(np.array([5, 6, 7])),))
    lists = aggregation.finish(2)
    assert isinstance(lists, EntityLists)
    assert lists.offsets.tolist() == [0, 1, 3]
    assert lists.positions.tolist() == [6, 5, 7]


@pytest.mark.parametrize(
    ("name", "values", "row", "message"),
    [
        ("sum", [1, None, "a"], 2, "SUM(ReferenceFromSlot(0)) can only handle numerical values, duration, or null."),
        ("sum", [1, Duration()], 1, "SUM(ReferenceFromSlot(0)) cannot mix number and duration"),
        ("avg", [Duration(), 1], 1, "AVG(ReferenceFromSlot(0)) cannot mix number and duration"),
        (
            "stdev",
            [True],
            0,
            "STDEV(ReferenceFromSlot(0)) can only handle numerical values or null, but received: "
            "org.neo4j.values.storable.BooleanValue$1",
        ),
    ],
)
def test_errors_name_their_row(name: str, values: list[Any], row: int, message: str) -> None:
    with pytest.raises(RowError) as failure:
        aggregate(name, values, parts=1)
    assert failure.value.row == row
    assert failure.value.error.message == message


def test_a_percentile_out_of_range_is_an_error() -> None:
    with pytest.raises(RowError) as failure:
        aggregate("percentileCont", [1.0], None, False, 1.1, parts=1)
    assert "'1.1' is not a valid argument" in failure.value.error.message


@given(st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(-(2**62), 2**62)), min_size=1, max_size=12))
def test_sums_agree_with_adding_one_by_one(rows: list[tuple[int, int | None]]) -> None:
    expected: dict[int, int | float] = {}
    for group, value in rows:
        total = expected.get(group, 0)
        if value is not None:
            total = total + value
            if isinstance(total, int) and not -(2**63) <= total < 2**63:
                total = float(expected.get(group, 0)) + float(value)
        expected[group] = total
    got = aggregate("sum", [value for _, value in rows], [group for group, _ in rows], parts=3)
    assert got == [pytest.approx(expected.get(group, 0)) for group in range(len(got))]
