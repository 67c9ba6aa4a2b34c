"""Running means: in turns, group by group and compiled, they have the same last digits as one value after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.engine.functions import running_means
from hoplite.engine.functions.running_means import RunningMeans
from hoplite.engine.hops import numba_means
from hoplite.engine.hops.compiled import is_loaded
from hoplite.engine.hops.select import backend_named

_Values = list[tuple[int, float]]


def one_by_one(values: _Values, group_count: int) -> list[tuple[int, float, float]]:
    """Count, mean and squared differences of each group."""
    states = [(0, 0.0, 0.0)] * group_count
    for group, value in values:
        count, mean, squares = states[group]
        shifted = mean + (value - mean) / (count + 1)
        states[group] = count + 1, shifted, squares + (value - mean) * (value - shifted)
    return states


@pytest.fixture(scope="module", autouse=True)
def kernels() -> None:
    """Load the compiled loop."""
    backend_named("numba")
    assert is_loaded(numba_means.add_values)


@contextmanager
def compiled_from(count: int) -> Iterator[None]:
    """Values after which they are added by the compiled loop."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running_means, "_WORTH_LOADING", count)
        yield


@pytest.mark.parametrize("with_squares", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
@given(
    values=st.lists(st.tuples(st.integers(0, 40), st.floats(-1e9, 1e9)), max_size=200),
    cuts=st.lists(st.integers(0, 200), max_size=3),
)
def test_every_way_adds_one_value_after_the_other(
    with_squares: bool, compiled: bool, values: _Values, cuts: list[int]
) -> None:
    states = RunningMeans(with_squares=with_squares)
    for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(values)], strict=True):
        piece = values[begin:end]
        groups = np.array([group for group, _ in piece], np.int64)
        numbers = np.array([value for _, value in piece], np.float64)
        states.make_room(41)
        with compiled_from(0 if compiled else len(values) + 1):
            states.add(groups, numbers)
    expected = one_by_one(values, 41)
    assert states.counts[:41].tolist() == [count for count, _, _ in expected]
    assert states.means[:41].tolist() == [mean for _, mean, _ in expected]
    if with_squares:
        assert states.squares[:41].tolist() == [squares for _, _, squares in expected]


def test_many_values_are_added_by_the_compiled_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    monkeypatch.setattr(RunningMeans, "_add_in_turns", lambda *_: called.append("in turns"))
    states = RunningMeans(with_squares=False)
    states.add(
        np.zeros(running_means._WORTH_LOADING, np.int64), np.arange(running_means._WORTH_LOADING, dtype=np.float64)
    )
    assert called == []
    assert states.means[0] == (running_means._WORTH_LOADING - 1) / 2
    states = RunningMeans(with_squares=False)
    states.add(np.zeros(3, np.int64), np.ones(3))
    assert called == ["in turns"]
