"""Joins on values: whatever kinds of columns the keys come in, every pair of equal keys is found, and in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hoplite.engine.context import Execution, Setting
from hoplite.engine.operators import value_join
from hoplite.engine.operators.value_join import KeyTable
from hoplite.storage.graph import Graph
from hoplite.values.columns import Column, Floats, Integers, Objects, Strings, from_objects, object_array
from hoplite.values.order import equals

_KINDS = {
    "integers": st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, -(2**63)])),
    "floats": st.one_of(
        st.none(), st.sampled_from([0.0, -0.0, 1.0, 2.5, float("nan"), float("inf"), 2.0**53, 2.0**63])
    ),
    "texts": st.one_of(st.none(), st.sampled_from(["", "a", "b", "ab", "ä"])),
    "any": st.one_of(
        st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([1.0, "a", float("nan")]), st.just([1, 2.0])
    ),
}
_KEYS = st.sampled_from(sorted(_KINDS)).flatmap(lambda kind: st.tuples(st.just(kind), st.lists(_KINDS[kind])))


def column(kind: str, values: list[Any]) -> Column:
    """The values in a column of their kind."""
    if kind == "any":
        return Objects(object_array(values, len(values)))
    if kind == "texts":
        return Strings(object_array(values, len(values)))
    nulls = np.array([value is None for value in values], np.bool_)
    known = [0 if value is None else value for value in values]
    if kind == "integers":
        return Integers(np.array(known, np.int64), nulls if nulls.any() else None)
    return Floats(np.array(known, np.float64), nulls if nulls.any() else None)


@pytest.fixture(scope="module")
def context() -> Execution:
    """A statement that may run for ever."""
    return Execution(Graph().snapshot(), {}, Setting({}, lambda *_: iter(())), 0)


@pytest.mark.parametrize("piece", [1, 3, 65_536])
@given(left=_KEYS, right=_KEYS)
@example(left=("floats", [2.0**53]), right=("integers", [2**53 + 1, 2**53]))
def test_all_pairs_of_equal_keys_are_found_in_order(
    context: Execution, piece: int, left: tuple[str, list[Any]], right: tuple[str, list[Any]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(value_join, "LARGEST_BATCH", piece)
        pieces = list(KeyTable(column(*right)).partners(column(*left), context))
    assert all(0 < len(rows) == len(partners) < 2 * piece for rows, partners in pieces)
    found = [pair for rows, partners in pieces for pair in zip(rows.tolist(), partners.tolist(), strict=True)]
    assert found == sorted(set(found))
    expected = [
        (row, partner)
        for row, one in enumerate(left[1])
        for partner, other in enumerate(right[1])
        if equals(one, other) is True
    ]
    assert [pair for pair in found if equals(left[1][pair[0]], right[1][pair[1]]) is True] == expected


def test_a_table_serves_batches_of_several_kinds(context: Execution) -> None:
    table = KeyTable(Integers(np.array([2, 1, 2], np.int64)))
    for keys in (
        from_objects(object_array([2, None, 1], 3)),
        Floats(np.array([2.0, 7.0, 1.0])),
        Objects(object_array([2, "a", 1.0], 3)),
    ):
        ((rows, partners),) = table.partners(keys, context)
        assert (rows.tolist(), partners.tolist()) == ([0, 0, 2], [0, 2, 1])
    assert list(table.partners(Strings(object_array(["2"], 1)), context)) == []


def test_nan_has_no_partner(context: Execution) -> None:
    some = Floats(np.array([float("nan"), 1.0]))
    assert [(rows.tolist(), partners.tolist()) for rows, partners in KeyTable(some).partners(some, context)] == [
        ([1], [1])
    ]
