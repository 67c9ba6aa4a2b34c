"""Subqueries as values, with plans that are plain functions."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.compile import compile_expression
from hoplite.engine.functions.registry import FUNCTIONS
from hoplite.errors import arithmetic_error
from hoplite.planner import physical as pp
from hoplite.planner.logical import ROW
from hoplite.planner.parts import PlannedSubquery
from hoplite.values.columns import Integers, from_objects
from tests.expressions.small_graph import an_execution, batch_of

Plan = Callable[[Batch], Iterator[Batch]]


def count_up(argument: Batch) -> Iterator[Batch]:
    """Results 0, 1, ... x - 1 for each row, one batch for each number."""
    numbers, rows = argument["x"].objects(), argument[ROW]
    assert isinstance(rows, Integers)
    for value in range(max(numbers, default=0)):
        here = np.flatnonzero(numbers > value)
        yield Batch({ROW: rows.take(here), "v": from_objects([value] * len(here))}, len(here))


def fail_at_two(argument: Batch) -> Iterator[Batch]:
    if 2 in argument["x"].objects():
        raise arithmetic_error("/ by zero")
    yield argument


def values_of(kind: str, results: Plan, xs: list[int]) -> list[Any]:
    def run_plan(plan: Any, argument: Batch, context: Execution) -> Iterator[Batch]:
        return results(argument)

    node = PlannedSubquery(kind, pp.Argument(), ("x",), "v")
    run = compile_expression(node, FUNCTIONS)
    values: list[Any] = run(batch_of({"x": xs}), an_execution(run_plan=run_plan)).objects().tolist()
    return values


def test_each_kind_sorts_its_results_back_to_the_rows() -> None:
    xs = [2, 0, 3]
    assert values_of("exists", count_up, xs) == [True, False, True]
    assert values_of("collect", count_up, xs) == [[0, 1], [], [0, 1, 2]]
    assert values_of("single", count_up, [1, 0, 1]) == [0, None, 0]


def test_no_result_at_all() -> None:
    assert values_of("collect", count_up, [0, 0]) == [[], []]
    assert values_of("single", count_up, [0]) == [None]


def test_existence_is_known_before_all_results_are() -> None:
    asked = []

    def endless(argument: Batch) -> Iterator[Batch]:
        while True:
            asked.append(1)
            yield argument

    assert values_of("exists", endless, [1, 2]) == [True, True]
    assert len(asked) == 1


def test_a_failing_subquery_names_its_row() -> None:
    with pytest.raises(RowError) as raised:
        values_of("exists", fail_at_two, [1, 1, 2, 1])
    assert raised.value.row == 2
