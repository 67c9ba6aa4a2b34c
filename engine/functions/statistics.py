"""Statistical aggregations: standard deviations and percentiles."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.context import RowError
from hoplite.engine.expressions.java import class_name
from hoplite.engine.functions.group_states import present, row_error
from hoplite.engine.functions.running_means import RunningMeans
from hoplite.engine.ordering import float_order
from hoplite.errors import argument_error, type_error
from hoplite.gql_status import status
from hoplite.values.columns import Column, Floats, Int64s, Integers, Objects, concatenate, from_objects, object_array
from hoplite.values.floats import float_text
from hoplite.values.render import describe


def _java_class(value: Any) -> str:
    """What messages call the class of a value; aggregated text is mostly still in UTF-8, as it was sent."""
    return "org.neo4j.values.storable.UTF8StringValue" if isinstance(value, str) else class_name(value)


def _numbers_of(name: str, argument: str, column: Column, rows: Int64s | None) -> Integers | Floats | Objects:
    """The column, if it holds only numbers; else an error."""
    if isinstance(column, Integers | Floats):
        return column
    for index, value in enumerate(column.objects()):
        if isinstance(value, bool) or not isinstance(value, int | float):
            only = f"{name}({argument}) can only handle numerical values or null"
            message = f"{only}, but received: {_java_class(value)}"
            raise row_error(index, rows, type_error(message))
    return Objects(column.objects())


class StandardDeviation:
    """stDev and stDevP: count, mean and sum of squared differences per group, by Welford's formula as in Neo4j."""

    def __init__(self, argument: str, population: bool) -> None:
        self._argument = argument
        self._population = population
        self._states = RunningMeans(with_squares=True)

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        self._states.make_room(group_count)
        groups, column, rows = present(groups, columns[0])
        name = "STDEVP" if self._population else "STDEV"
        numbers = _numbers_of(name, self._argument, column, rows)
        self._states.add(groups, numbers.values.astype(np.float64))

    def finish(self, group_count: int) -> Column:
        self._states.make_room(group_count)
        counts, squares = self._states.counts[:group_count], self._states.squares[:group_count]
        divisors = np.maximum(counts if self._population else counts - 1, 1)
        with np.errstate(invalid="ignore"):
            deviations = np.sqrt(squares / divisors)
        return Floats(np.where(counts < 2, 0.0, deviations))


class Percentile:
    """percentileCont and percentileDisc; the percentile is read from the first non-null row of each group."""

    def __init__(self, argument: str, continuous: bool) -> None:
        self._argument = argument
        self._continuous = continuous
        self._percentiles: dict[int, float] = {}
        self._groups: list[Int64s] = []
        self._columns: list[Column] = []

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        groups, column, rows = present(groups, columns[0])
        if len(column) == 0:
            return
        name = "PERCENTILE_CONT" if self._continuous else "PERCENTILE_DISC"
        column = _numbers_of(name, self._argument, column, rows)
        first_groups, first = np.unique(groups, return_index=True)
        for group, index in zip(first_groups.tolist(), first.tolist(), strict=True):
            if group not in self._percentiles:
                row = index if rows is None else int(rows[index])
                self._percentiles[group] = _percentile(columns[1].take(np.array([row])).objects()[0], row)
        self._groups.append(groups)
        self._columns.append(column)

    def finish(self, group_count: int) -> Column:
        results = object_array([None] * group_count, group_count)
        if self._columns:
            groups, column = np.concatenate(self._groups), concatenate(self._columns)
            order = np.lexsort((_number_ranks(column), groups))
            bounds = np.searchsorted(groups[order], np.arange(group_count + 1)).tolist()
            for group, (start, stop) in enumerate(pairwise(bounds)):
                if stop > start:
                    results[group] = self._pick(column, order[start:stop], self._percentiles[group])
        return from_objects(results)

    def _pick(self, column: Column, rows: Int64s, percentile: float) -> Any:
        """The percentile of the values at these rows, which are sorted by value."""

        def value(place: int) -> Any:
            return column.take(rows[place : place + 1]).objects()[0]

        count = len(rows)
        if percentile == 1.0 or count == 1:
            return value(count - 1)
        if not self._continuous:
            place = percentile * count
            index = _java_int(place)
            return value(index if place != index or index == 0 else index - 1)
        place = percentile * (count - 1)
        below, above = _java_int(place), _java_int(math.ceil(place) if math.isfinite(place) else place)
        if below == above or below == count - 1:
            return value(below)
        return value(below) * (above - place) + value(above) * (place - below)


def _number_ranks(column: Column) -> NDArray[Any]:
    """An array that sorts like the numbers of a column, NaN last."""
    if isinstance(column, Integers):
        return column.values
    if isinstance(column, Floats):
        return float_order(column.values)
    return float_order(np.array([float(value) for value in column.objects()], np.float64))


def _java_int(value: float) -> int:
    return int(value) if value == value else 0


def _percentile(value: Any, row: int) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RowError(row, type_error(f"Can't coerce `{describe(value)}` to Number"))
    percentile = float(value)
    if percentile < 0.0 or percentile > 1.0:
        found = f"Invalid input '{float_text(percentile)}' is not a valid argument"
        cause = status("22N03", "percentage", "FLOAT", 0, 1, float_text(percentile)).under("22003", "$value")
        raise RowError(row, argument_error(f"{found}, must be a number in the range 0.0 to 1.0", cause))
    return percentile
