"""Aggregating functions: group numbers and argument columns in, batch after batch; one value for each group out.

`make_aggregation("sum", distinct=False)` returns an `Aggregation`; its `update` is called once per batch with the group
number of every row, its `finish` once at the end. States are arrays indexed by group, grown as groups appear. Typed
columns go through NumPy; `Objects`, and the rare cases where the order of additions matters (integer overflow,
infinities), go row by row.

Nulls never count. With DISTINCT, only the first row of each (group, value) is passed on; values are compared as in
grouping.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.context import RowError
from hoplite.engine.functions.group_states import SAFE_FLOAT, Aggregation, Float64s, grown, present, row_error
from hoplite.engine.functions.registry import AGGREGATES, Aggregate
from hoplite.engine.functions.running_means import RunningMeans
from hoplite.engine.functions.statistics import Percentile, StandardDeviation
from hoplite.engine.grouping import ColumnEncoder, Grouping, distinct
from hoplite.engine.ordering import float_from_order, float_order
from hoplite.errors import CypherError, type_error
from hoplite.planner.types import (
    ANY,
    DURATION,
    FLOAT,
    INTEGER,
    LIST,
    Accepted,
    Argument,
    Signature,
)
from hoplite.values.columns import (
    Column,
    EntityLists,
    Floats,
    Int64s,
    Integers,
    Nodes,
    Objects,
    Relationships,
    Strings,
    concatenate,
    from_objects,
    object_array,
)
from hoplite.values.order import sort_key
from hoplite.values.temporal import Duration

_INTEGER_LIMIT = 2**63
_SMALLEST_PILE = 1 << 20
_FITS_32_BITS = 1 << 31
_NANOS_PER_DAY, _NANOS_PER_SECOND = 86_400_000_000_000, 1_000_000_000
_SECONDS_PER_DAY = 86_400
_NANOS_PER_MONTH = 2_629_746 * _NANOS_PER_SECOND


class Count:
    """count(*) and count(x)."""

    def __init__(self) -> None:
        self._counts = np.zeros(16, np.int64)

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        self._counts = grown(self._counts, group_count)
        if columns:
            groups = present(groups, columns[0])[0]
        self._counts[:group_count] += np.bincount(groups, minlength=group_count)

    def finish(self, group_count: int) -> Column:
        return Integers(grown(self._counts, group_count)[:group_count].copy())


class CountDistinct:
    """count(DISTINCT x): the distinct pairs (group, number of the value), as codes `group << 32 | number`.

    Nodes and relationships are numbered by their positions, as long as there are no other values.

    Codes pile up and are deduplicated whenever their number has doubled, which in total costs about as much as one sort
    of all of them. If groups and values are few enough they are sorted as 32-bit numbers: half the memory, half the
    time.
    """

    def __init__(self) -> None:
        self._values: ColumnEncoder | None = None
        self._entities: type[Nodes | Relationships] | None = None  # the class of all values so far
        self._number_count = 0
        self._unique = np.zeros(0, np.int64)
        self._pile: list[Int64s] = []
        self._piled = 0

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        groups, column, _ = present(groups, columns[0])
        if not len(column):
            return
        numbers = self._numbers(column, group_count)
        self._pile.append(groups << 32 | numbers)
        self._piled += len(column)
        if self._piled > max(len(self._unique), _SMALLEST_PILE):
            self._flatten(group_count)

    def _numbers(self, column: Column, group_count: int) -> Int64s:
        if self._values is None and isinstance(column, Nodes | Relationships):
            above = int(column.positions.max()) + 1
            if self._entities in (None, type(column)) and above < _FITS_32_BITS:
                self._entities = type(column)
                self._number_count = max(self._number_count, above)
                return column.positions
        if self._values is None:
            self._values = ColumnEncoder()
            if self._entities is not None:
                self._flatten(group_count)
                groups, positions = self._unique >> 32, self._unique & (1 << 32) - 1
                self._unique = groups << 32 | self._values.assign(self._entities(positions))
        numbers = self._values.assign(column)
        self._number_count = self._values.count
        return numbers

    def _flatten(self, group_count: int) -> None:
        if not self._pile:
            return
        codes = np.concatenate([self._unique, *self._pile])
        bits = max(self._number_count, 1).bit_length()
        if group_count << bits <= _FITS_32_BITS:
            short = distinct(((codes >> 32) << bits | codes & ((1 << bits) - 1)).astype(np.int32)).astype(np.int64)
            self._unique = (short >> bits) << 32 | short & ((1 << bits) - 1)
        else:
            self._unique = distinct(codes)
        self._pile, self._piled = [], 0

    def finish(self, group_count: int) -> Column:
        self._flatten(group_count)
        return Integers(np.bincount(self._unique >> 32, minlength=group_count)[:group_count])


class Sum:
    """sum.

    Integers stay integers until they overflow, then become a float; durations add up field by field.
    """

    def __init__(self, argument: str) -> None:
        self._argument = argument
        self._integers = np.zeros(16, np.int64)
        self._floats = np.zeros(16, np.float64)
        self._is_float = np.zeros(16, np.bool_)
        self._has_number = np.zeros(16, np.bool_)
        self._durations: dict[int, Duration] = {}

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        self._integers = grown(self._integers, group_count)
        self._floats = grown(self._floats, group_count)
        self._is_float = grown(self._is_float, group_count)
        self._has_number = grown(self._has_number, group_count)
        groups, column, rows = present(groups, columns[0])
        if len(column) == 0:
            return
        if not self._durations and isinstance(column, Floats):
            self._has_number[groups] = True
            self._turn_to_floats(groups)
            with np.errstate(all="ignore"):  # infinity minus infinity is NaN, which needs no warning
                np.add.at(self._floats, groups, column.values)
        elif not self._durations and isinstance(column, Integers) and self._cannot_overflow(column.values):
            self._has_number[groups] = True
            if self._is_float.any():
                in_float = self._is_float[groups]
                np.add.at(self._floats, groups[in_float], column.values[in_float].astype(np.float64))
                groups, values = groups[~in_float], column.values[~in_float]
                np.add.at(self._integers, groups, values)
            else:
                np.add.at(self._integers, groups, column.values)
        else:
            self._update_rows(groups, column, rows)

    def _cannot_overflow(self, values: Int64s) -> bool:
        largest = max(abs(int(values.max())), abs(int(values.min())))
        reached = max(abs(int(self._integers.max())), abs(int(self._integers.min())))
        return largest * len(values) + reached < _INTEGER_LIMIT

    def _turn_to_floats(self, groups: Int64s) -> None:
        turning = distinct(groups[~self._is_float[groups]])
        self._floats[turning] = self._integers[turning].astype(np.float64)
        self._is_float[turning] = True

    def _update_rows(self, groups: Int64s, column: Column, rows: Int64s | None) -> None:
        for index, (group, value) in enumerate(zip(groups.tolist(), column.objects(), strict=True)):
            match value:
                case bool():
                    raise row_error(index, rows, self._wrong_type())
                case int() | float():
                    if group in self._durations:
                        raise row_error(index, rows, self._mixed())
                    self._has_number[group] = True
                    self._add_number(group, value)
                case Duration():
                    if self._has_number[group]:
                        raise row_error(index, rows, self._mixed())
                    self._durations[group] = _added(self._durations.get(group, Duration()), value)
                case _:
                    raise row_error(index, rows, self._wrong_type())

    def _add_number(self, group: int, value: int | float) -> None:
        if self._is_float[group]:
            self._floats[group] += float(value)
            return
        before = int(self._integers[group])
        total = before + value
        if isinstance(total, int) and -_INTEGER_LIMIT <= total < _INTEGER_LIMIT:
            self._integers[group] = total
        else:
            self._floats[group] = float(before) + float(value)
            self._is_float[group] = True

    def _wrong_type(self) -> CypherError:
        return type_error(f"SUM({self._argument}) can only handle numerical values, duration, or null.")

    def _mixed(self) -> CypherError:
        return type_error(f"SUM({self._argument}) cannot mix number and duration")

    def finish(self, group_count: int) -> Column:
        integers = grown(self._integers, group_count)[:group_count]
        floats = grown(self._floats, group_count)[:group_count]
        is_float = grown(self._is_float, group_count)[:group_count]
        if not self._durations and not is_float.any():
            return Integers(integers.copy())
        if not self._durations and is_float.all():
            return Floats(floats.copy())
        totals = object_array(integers.tolist(), group_count)
        for group in np.flatnonzero(is_float).tolist():
            totals[group] = float(floats[group])
        for group, total in self._durations.items():
            totals[group] = total
        return from_objects(totals)


def _added(left: Duration, right: Duration) -> Duration:
    carry, nanoseconds = divmod(left.nanoseconds + right.nanoseconds, _NANOS_PER_SECOND)
    return Duration(
        left.months + right.months, left.days + right.days, left.seconds + right.seconds + carry, nanoseconds
    )


class Average:
    """avg, always a float: a running mean in the order of rows, as in Neo4j, whose last digits depend on it.

    A second column, if there is one, says how many rows each row stands for: then sum / count, or a running mean once a
    value is so large that sums might overflow. Infinities and NaN are summed separately: if there are any, their sum is
    the average.
    """

    def __init__(self, argument: str) -> None:
        self._argument = argument
        self._states = RunningMeans(with_squares=False)
        self._weighted_sums: Float64s | None = None
        self._beyond: dict[int, float] = {}
        self._durations: dict[int, list[float]] = {}

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        self._states.make_room(group_count)
        groups, column, rows = present(groups, columns[0])
        if len(column) == 0:
            return
        weights: Int64s | None = None
        for given in columns[1:]:
            assert isinstance(given, Integers)
            weights = given.values if rows is None else given.values[rows]
        if isinstance(column, Integers | Floats) and not self._durations:
            values = column.values.astype(np.float64)
            if weights is None and bool(np.isfinite(values).all()):
                self._states.add(groups, values)
                return
            if weights is not None and bool((np.abs(values) < SAFE_FLOAT).all()):
                self._add_weighted(groups, group_count, values, weights)
                return
        self._update_rows(groups, column, rows, [1] * len(column) if weights is None else weights.tolist())

    def _add_weighted(self, groups: Int64s, group_count: int, values: Float64s, weights: Int64s) -> None:
        if self._weighted_sums is None:
            self._weighted_sums = self._states.means * self._states.counts
        self._weighted_sums = grown(self._weighted_sums, group_count)
        np.add.at(self._weighted_sums, groups, values * weights)
        np.add.at(self._states.counts, groups, weights)

    def _update_rows(self, groups: Int64s, column: Column, rows: Int64s | None, weights: list[int]) -> None:
        if self._weighted_sums is not None:
            self._states.means = grown(self._weighted_sums, len(self._states.counts)) / np.maximum(
                self._states.counts, 1
            )
            self._weighted_sums = None
        for index, (group, value, weight) in enumerate(zip(groups.tolist(), column.objects(), weights, strict=True)):
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number and not isinstance(value, Duration):
                message = f"AVG({self._argument}) can only handle numerical values, duration, or null."
                raise row_error(index, rows, type_error(message))
            if self._states.counts[group] and is_number == (group in self._durations):
                raise row_error(index, rows, type_error(f"AVG({self._argument}) cannot mix number and duration"))
            self._states.counts[group] += weight
            count = int(self._states.counts[group])
            if is_number and not math.isfinite(value):
                self._beyond[group] = self._beyond.get(group, 0.0) + float(value)
            elif is_number:
                mean = float(self._states.means[group])
                self._states.means[group] = mean + (float(value) - mean) * weight / count
            else:
                fields = self._durations.setdefault(group, [0.0, 0.0, 0.0, 0.0])
                parts = (value.months, value.days, value.seconds, value.nanoseconds)
                for position, part in enumerate(parts):
                    fields[position] += (part - fields[position]) * weight / count

    def finish(self, group_count: int) -> Column:
        self._states.make_room(group_count)
        counts = self._states.counts[:group_count]
        if self._weighted_sums is not None:
            means = grown(self._weighted_sums, group_count)[:group_count] / np.maximum(counts, 1)
        else:
            means = self._states.means[:group_count].copy()
        for group, total in self._beyond.items():
            means[group] = total
        nulls = counts == 0
        if not self._durations:
            return Floats(means, nulls if nulls.any() else None)
        values = Floats(means, nulls).objects()
        for group, fields in self._durations.items():
            values[group] = _approximate_duration(*fields)
        return from_objects(values)


def _approximate_duration(months: float, days: float, seconds: float, nanos: float) -> Duration:
    """Whole fields; the fraction of each carries over into the next smaller one (a month is 30.436875 days)."""
    whole_months = int(months)
    days += (_NANOS_PER_MONTH * months - _NANOS_PER_MONTH * whole_months) / _NANOS_PER_DAY
    whole_days = int(days)
    seconds += (_NANOS_PER_DAY * days - _NANOS_PER_DAY * whole_days) / _NANOS_PER_SECOND
    whole_seconds = int(seconds)
    nanos += _NANOS_PER_SECOND * seconds - _NANOS_PER_SECOND * whole_seconds
    mean = _added(Duration(whole_months, whole_days, whole_seconds), Duration(nanoseconds=int(nanos)))
    extra_days = max(mean.seconds, 0) // _SECONDS_PER_DAY  # an average, unlike a quotient, normalises whole days
    return Duration(mean.months, mean.days + extra_days, mean.seconds - extra_days * _SECONDS_PER_DAY, mean.nanoseconds)


class Extreme:
    """min and max in Cypher's order over all values; the first of equal values wins."""

    def __init__(self, largest: bool) -> None:
        self._largest = largest
        self._kind: type[Column] | None = None  # the class of all columns so far, as long as it is the same
        self._best: NDArray[Any] = np.zeros(16, np.int64)
        self._known = np.zeros(16, np.bool_)
        self._objects: list[Any] = []
        self._keys: list[Any] = []

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        groups, column, _ = present(groups, columns[0])
        if len(column) == 0:
            return
        if self._kind is None and not self._objects and isinstance(column, Integers | Floats | Strings):
            self._kind = type(column)
        if self._kind is not None and type(column) is not self._kind:
            self._generalise()
        if isinstance(column, Integers | Floats) and self._kind is not None:
            self._update_numbers(groups, group_count, column)
        else:
            self._update_objects(groups, group_count, column)

    def _update_numbers(self, groups: Int64s, group_count: int, column: Integers | Floats) -> None:
        start = np.iinfo(np.int64).min if self._largest else np.iinfo(np.int64).max
        if not self._known.any():
            self._best[:] = start
        self._best = grown(self._best, group_count, start)
        self._known = grown(self._known, group_count)
        values = column.values if isinstance(column, Integers) else float_order(column.values)
        (np.maximum if self._largest else np.minimum).at(self._best, groups, values)
        self._known[groups] = True

    def _update_objects(self, groups: Int64s, group_count: int, column: Column) -> None:
        missing = group_count - len(self._objects)
        self._objects += [None] * missing
        self._keys += [None] * missing
        best, keys, largest = self._objects, self._keys, self._largest
        # Cypher orders text as Python does, so a column of text needs no sort keys.
        as_is = self._kind is Strings
        for group, value in zip(groups.tolist(), column.objects(), strict=True):
            key = value if as_is else sort_key(value)
            known = keys[group]
            if known is None or (known < key if largest else key < known):
                best[group], keys[group] = value, key

    def _generalise(self) -> None:
        self._objects = list(
            self.finish(len(self._known) if self._kind is not Strings else len(self._objects)).objects()
        )
        self._keys = [None if value is None else sort_key(value) for value in self._objects]
        self._kind = None

    def finish(self, group_count: int) -> Column:
        if self._kind in (Integers, Floats):
            best = grown(self._best, group_count)[:group_count]
            known = grown(self._known, group_count)[:group_count]
            nulls = None if known.all() else ~known
            return Integers(best.copy(), nulls) if self._kind is Integers else Floats(float_from_order(best), nulls)
        return from_objects(self._objects[:group_count] + [None] * (group_count - len(self._objects)))


class Collect:
    """collect: the values of each group, in the order they came."""

    def __init__(self) -> None:
        self._groups: list[Int64s] = []
        self._columns: list[Column] = []

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        groups, column, _ = present(groups, columns[0])
        if len(column):
            self._groups.append(groups)
            self._columns.append(column)

    def finish(self, group_count: int) -> Column:
        offsets = np.zeros(group_count + 1, np.int64)
        if not self._columns:
            return Objects(object_array(([] for _ in range(group_count)), group_count))
        groups, column = np.concatenate(self._groups), concatenate(self._columns)
        np.cumsum(np.bincount(groups, minlength=group_count), out=offsets[1:])
        if group_count > 1:
            column = column.take(np.argsort(groups, kind="stable"))
        if isinstance(column, Nodes | Relationships):
            return EntityLists(offsets, column.positions, isinstance(column, Nodes))
        values: list[Any] = column.objects().tolist()
        bounds = offsets.tolist()
        lists = (values[start:stop] for start, stop in pairwise(bounds))
        return Objects(object_array(lists, group_count))


class Distinct:
    """Passes on only the first row of each (group, value)."""

    def __init__(self, inner: Aggregation) -> None:
        self._inner = inner
        self._seen = Grouping.without_keys()

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        groups, column, rows = present(groups, columns[0])
        _, opened = self._seen.assign_first((Integers(groups), column))
        taken = opened if rows is None else rows[opened]
        others = tuple(other.take(taken) for other in columns[1:])
        try:
            self._inner.update(groups[opened], group_count, (column.take(opened), *others))
        except RowError as failure:
            raise RowError(int(taken[failure.row]), failure.error) from None

    def finish(self, group_count: int) -> Column:
        return self._inner.finish(group_count)


def _register(
    name: str, arguments: tuple[Argument, ...], returns: Accepted, description: str, make: Callable[[str], Aggregation]
) -> None:
    signature = Signature(name, arguments, returns, "Aggregating", description, aggregating=True)
    AGGREGATES[name.lower()] = Aggregate(signature, make)


_ANYTHING = Argument((ANY,))
_SUMMABLE = Argument((INTEGER, FLOAT, DURATION))
_PERCENTILE = Argument((FLOAT,), name="percentile")

_register(
    "avg",
    (_SUMMABLE,),
    (INTEGER, FLOAT, DURATION),
    "Returns the average of a set of `INTEGER`, `FLOAT` or `DURATION` values.",
    Average,
)
_register(
    "collect",
    (_ANYTHING,),
    (LIST,),
    "Returns a list containing the values returned by an expression.",
    lambda argument: Collect(),
)
_register("count", (_ANYTHING,), (INTEGER,), "Returns the number of values or rows.", lambda argument: Count())
_register(
    "max", (_ANYTHING,), (ANY,), "Returns the maximum value in a set of values.", lambda argument: Extreme(largest=True)
)
_register(
    "min",
    (_ANYTHING,),
    (ANY,),
    "Returns the minimum value in a set of values.",
    lambda argument: Extreme(largest=False),
)
_register(
    "percentileCont",
    (Argument((FLOAT,)), _PERCENTILE),
    (FLOAT,),
    "Returns the percentile of a value over a group using linear interpolation.",
    lambda argument: Percentile(argument, continuous=True),
)
_register(
    "percentileDisc",
    (Argument((INTEGER, FLOAT)), _PERCENTILE),
    (INTEGER, FLOAT),
    "Returns the nearest `INTEGER` or `FLOAT` value to the given percentile over a group using a rounding method.",
    lambda argument: Percentile(argument, continuous=False),
)
_register(
    "stdev",
    (Argument((FLOAT,)),),
    (FLOAT,),
    "Returns the standard deviation for the given value over a group for a sample of a population.",
    lambda argument: StandardDeviation(argument, population=False),
)
_register(
    "stdevp",
    (Argument((FLOAT,)),),
    (FLOAT,),
    "Returns the standard deviation for the given value over a group for an entire population.",
    lambda argument: StandardDeviation(argument, population=True),
)
_register(
    "sum",
    (_SUMMABLE,),
    (INTEGER, FLOAT, DURATION),
    "Returns the sum of a set of `INTEGER`, `FLOAT` or `DURATION` values",
    Sum,
)


def make_aggregation(
    name: str, distinct: bool, context: object = None, argument: str = "ReferenceFromSlot(0)"
) -> Aggregation:
    """A fresh state for one call of an aggregating function.

    `argument` is what Neo4j's messages call the argument.
    """
    if distinct and name.lower() == "count":
        return CountDistinct()
    function = AGGREGATES[name.lower()]
    inner = function.make(argument, context) if function.needs_context else function.make(argument)
    return Distinct(inner) if distinct else inner
