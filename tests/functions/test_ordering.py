"""Sorted rows must agree with Python's sort over sort keys."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hoplite.engine.ordering import sort_rows, top_rows
from hoplite.values.columns import from_objects
from hoplite.values.order import sort_key

_VALUES: list[st.SearchStrategy[Any]] = [
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.floats(allow_nan=True),
    st.none() | st.text(max_size=3),
    st.none() | st.booleans(),
    st.sampled_from([None, 1, 1.5, True, "a", [1], [2], {"a": 1}, {}]),
]


@st.composite
def _columns(draw: st.DrawFn) -> tuple[list[list[Any]], list[bool]]:
    height = draw(st.integers(1, 8))
    width = draw(st.integers(1, 3))
    columns = [draw(st.lists(draw(st.sampled_from(_VALUES)), min_size=height, max_size=height)) for _ in range(width)]
    return columns, [draw(st.booleans()) for _ in range(width)]


@given(_columns())
def test_rows_come_in_cyphers_order(case: tuple[list[list[Any]], list[bool]]) -> None:
    columns, descending = case
    expected = list(range(len(columns[0])))
    for column, down in reversed(list(zip(columns, descending, strict=True))):
        expected.sort(key=lambda row, column=column: sort_key(column[row]), reverse=down)  # type: ignore[misc]
    made = [from_objects(column) for column in columns]
    got = sort_rows(made, descending).tolist()
    assert [[_comparable(c[r]) for c in columns] for r in got] == [
        [_comparable(c[r]) for c in columns] for r in expected
    ]
    for count in range(len(got) + 1):
        assert top_rows(made, descending, count).tolist() == got[:count]


def _comparable(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and value != value else value


def test_negative_zero_comes_before_zero() -> None:
    assert sort_rows([from_objects([0.0, -0.0, float("nan"), -1.0])], [False]).tolist() == [3, 1, 0, 2]
    assert sort_rows([from_objects([0.0, -0.0, None])], [True]).tolist() == [2, 0, 1]
