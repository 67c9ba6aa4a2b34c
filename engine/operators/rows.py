"""Operators on rows: filter, project, select, unwind, sort, skip and limit, distinct, union."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hoplite.engine.batch import Batch, concatenate_batches
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.comparison import as_list
from hoplite.engine.expressions.logic import as_predicate
from hoplite.engine.functions.lists import length_of_range, numbers_of_range
from hoplite.engine.grouping import Grouping
from hoplite.engine.operators.base import (
    LARGEST_BATCH,
    Evaluator,
    Operator,
    argument_rows,
    column_of,
    evaluate,
    with_row,
)
from hoplite.engine.ordering import sort_rows, top_rows
from hoplite.errors import CypherError, argument_error, type_error
from hoplite.gql_status import LARGEST, because, status
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.logical import ROW
from hoplite.values.columns import Booleans, Column, EntityLists, Int64s, Integers, Nodes, Relationships
from hoplite.values.render import to_string

_MUCH = 256  # from this many rows found for each row of an argument on, those are processed one by one


def _true_rows(column: Column) -> Int64s:
    """The rows whose predicate is true; anything that is neither true, false nor null is an error."""
    return as_predicate(column).true_rows()


@dataclass(slots=True, eq=False)
class Filter(Operator):
    """The rows for which a predicate is true."""

    source: Operator
    predicate: Evaluator
    lenient: bool  # anything but true counts as false, for conditions that were never predicates

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Part of each batch."""
        for incoming in self.source.run(context, argument):
            context.check_time()
            batch, (column,), error = evaluate(incoming, (self.predicate,), context)
            if self.lenient and not isinstance(column, Booleans):
                column = Booleans(np.fromiter((v is True for v in column.objects()), np.bool_, batch.row_count))
            try:
                kept = _true_rows(column)
            except RowError as failure:
                batch, error = batch.head(failure.row), failure.error
                kept = _true_rows(column.take(np.arange(failure.row)))
            if len(kept) == batch.row_count:
                if batch.row_count:
                    yield batch
            elif len(kept):
                yield batch.take(kept)
            if error is not None:
                raise error


@dataclass(slots=True, eq=False)
class Project(Operator):
    """Computed columns added to the existing ones, or only those of `kept`."""

    source: Operator
    names: tuple[str, ...]
    evaluators: tuple[Evaluator, ...]
    kept: tuple[str, ...] | None = None

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Each batch with the new columns; a failing row raises once the rows before it are consumed."""
        for incoming in self.source.run(context, argument):
            batch, columns, error = evaluate(incoming, self.evaluators, context)
            if batch.row_count or error is None:
                made = batch.with_columns(dict(zip(self.names, columns, strict=True)))
                yield made if self.kept is None else with_row(made, self.kept)
            if error is not None:
                raise error


@dataclass(slots=True, eq=False)
class Select(Operator):
    """Only these columns."""

    source: Operator
    names: tuple[str, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Each batch with fewer columns."""
        for batch in self.source.run(context, argument):
            yield with_row(batch, self.names)


@dataclass(slots=True, eq=False)
class Reimport(Operator):
    """Columns of the argument added to the rows that belong to them."""

    source: Operator
    names: tuple[str, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Each batch with more columns."""
        for batch in self.source.run(context, argument):
            places = argument_rows(batch)
            assert places is not None, "Only subqueries import."
            yield batch.with_columns({name: argument[name].take(places) for name in self.names})


@dataclass(slots=True, eq=False)
class Unwind(Operator):
    """A row for each element of a list."""

    source: Operator
    expression: Evaluator
    variable: str

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The rows in the order of the lists; null gives none, anything but a list gives one."""
        for incoming in self.source.run(context, argument):
            batch, (column,), error = evaluate(incoming, (self.expression,), context)
            for rows, elements in _element_batches(column):
                context.check_time()
                yield batch.take(rows).with_columns({self.variable: elements})
            if error is not None:
                raise error


@dataclass(slots=True, eq=False)
class UnwindRange(Operator):
    """A row for each number of `range(start, end, step)`, without making a list, which might not fit into memory."""

    source: Operator
    arguments: tuple[Evaluator, ...]
    variable: str

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The rows in the order of the numbers, at most LARGEST_BATCH at a time."""
        for incoming in self.source.run(context, argument):
            batch, columns, error = evaluate(incoming, self.arguments, context)
            ranges: list[range] = []
            try:
                for values in zip(*(column.objects() for column in columns), strict=True):
                    ranges.append(numbers_of_range(*values))
            except CypherError as failure:
                error = failure
            for rows, numbers in _number_batches(ranges):
                context.check_time()
                yield batch.take(rows).with_columns({self.variable: Integers(numbers)})
            if error is not None:
                raise error


def _number_batches(ranges: list[range]) -> Iterator[tuple[Int64s, Int64s]]:
    """The row of each number and the numbers of all ranges, at most LARGEST_BATCH at a time."""
    row_of: list[Int64s] = []
    pieces: list[Int64s] = []
    held = 0
    for row, numbers in enumerate(ranges):
        for begin in range(0, length_of_range(numbers), LARGEST_BATCH):
            piece = numbers[begin : begin + LARGEST_BATCH]
            if held + len(piece) > LARGEST_BATCH:
                yield np.concatenate(row_of), np.concatenate(pieces)
                row_of, pieces, held = [], [], 0
            row_of.append(np.full(len(piece), row, np.int64))
            pieces.append(np.arange(len(piece), dtype=np.int64) * numbers.step + piece.start)
            held += len(piece)
    if held:
        yield np.concatenate(row_of), np.concatenate(pieces)


def _element_batches(column: Column) -> Iterator[tuple[Int64s, Column]]:
    """The row of each element and the elements of all lists of a column, at most LARGEST_BATCH at a time."""
    if isinstance(column, EntityLists):
        rows = np.repeat(np.arange(len(column), dtype=np.int64), np.diff(column.offsets))
        elements = Nodes(column.positions) if column.of_nodes else Relationships(column.positions)
        for start in range(0, len(rows), LARGEST_BATCH):
            part = np.arange(start, min(start + LARGEST_BATCH, len(rows)), dtype=np.int64)
            yield rows[part], elements.take(part)
        return
    if len(column) == 1 and isinstance(value := column.objects()[0], list) and len(value) <= LARGEST_BATCH:
        if value:
            yield np.zeros(len(value), np.int64), column_of(value)
        return
    row_of: list[int] = []
    flat: list[object] = []
    for row, value in enumerate(column.objects()):
        items = value if isinstance(value, tuple) else as_list(value) or ()
        for start in range(0, len(items), LARGEST_BATCH):
            piece = items[start : start + LARGEST_BATCH]
            if flat and len(flat) + len(piece) > LARGEST_BATCH:
                yield np.array(row_of, np.int64), column_of(flat)
                row_of, flat = [], []
            flat.extend(piece)
            row_of.extend([row] * len(piece))
    if flat:
        yield np.array(row_of, np.int64), column_of(flat)


def row_count_of(value: object, clause: str) -> int:
    """The argument of SKIP or LIMIT."""
    return checked_count(value, clause, 0)


def checked_count(value: object, clause: str, least: int) -> int:
    """The integer argument of a clause, which is at least 0, or 1."""
    if value is None:
        cause = because("22N01", "NULL", "INTEGER or FLOAT", "NULL")
        raise type_error(f"Expected a numeric value for {clause}, but got null", cause)
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    shown = to_string(value)
    kind = "positive" if least else "non-negative"
    cause = status("22N03", "value", "INTEGER", least, LARGEST, shown).under("22003", "$value")
    raise argument_error(f"{clause}: Invalid input. '{shown}' is not a valid value. Must be a {kind} integer.", cause)


def constant_of(evaluator: Evaluator, context: Execution) -> object:
    """The value of an expression without variables."""
    try:
        return evaluator(Batch({}, 1), context).objects()[0]
    except RowError as failure:
        raise failure.error from None


@dataclass(slots=True, eq=False)
class Cut(Operator):
    """SKIP and LIMIT: rows `skip` up to `skip + limit`, separately for each row of the argument."""

    source: Operator
    skip: Evaluator | None
    limit: Evaluator | None
    writes: bool  # the source writes: that is done for all rows, however few are kept

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The rows in between; the source is not read beyond them."""
        skip = 0 if self.skip is None else row_count_of(constant_of(self.skip, context), "SKIP")
        limit = None if self.limit is None else row_count_of(constant_of(self.limit, context), "LIMIT")
        if limit == 0 and not self.writes:
            return
        if ROW in argument:
            yield from self._for_each_row(context, argument, skip, limit)
            return
        seen = 0
        batches = self.source.run(context, argument)
        for batch in list(batches) if self.writes else batches:
            start = max(0, skip - seen)
            stop = batch.row_count if limit is None else min(batch.row_count, skip + limit - seen)
            seen += batch.row_count
            if start < stop:
                yield batch.rows(start, stop)
            if limit is not None and seen >= skip + limit:
                return

    def _for_each_row(self, context: Execution, argument: Batch, skip: int, limit: int | None) -> Iterator[Batch]:
        """A few rows of the argument at a time, so that the source can be abandoned when they have enough.

        Their number grows as long as they find little, which is held back; if it becomes too much, what was held is
        dropped and rows are processed one by one for a while.
        """
        if limit is None or self.writes:
            yield from self._cut(self.source.run(context, argument), argument, skip, limit)
            return
        first, width, alone_until, patience = 0, 1, 0, 4
        while first < argument.row_count:
            width = 1 if first < alone_until else width
            part = argument.rows(first, first + width)
            if width == 1:
                yield from self._cut(self.source.run(context, part), part, skip, limit)
            else:
                source = _Counted(self.source.run(context, part), _MUCH * width)
                held = list(self._cut(source, part, skip, limit))
                if source.is_cut_off:
                    # If one row finds much, others do as well: the next try comes later and later.
                    alone_until, patience = first + max(width, patience), 4 * patience
                    continue
                yield from held
            first += width
            width = min(2 * width, LARGEST_BATCH)

    def _cut(self, batches: Iterator[Batch], argument: Batch, skip: int, limit: int | None) -> Iterator[Batch]:
        """The wanted rows for each row of the argument; the source is abandoned when all of them have enough."""
        numbers = argument_rows(argument)
        assert numbers is not None
        order = np.argsort(numbers)
        seen = np.zeros(len(numbers), np.int64)
        for batch in batches:
            rows = argument_rows(batch)
            assert rows is not None
            place = order[np.searchsorted(numbers, rows, sorter=order)]
            number = seen[place] + _occurrence(place)
            seen += np.bincount(place, minlength=len(seen))
            kept = number >= skip if limit is None else (number >= skip) & (number < skip + limit)
            if kept.any():
                yield batch.take(np.flatnonzero(kept))
            if limit is not None and not self.writes and bool((seen >= skip + limit).all()):
                return


class _Counted:
    """Batches, up to a number of rows."""

    def __init__(self, batches: Iterator[Batch], most: int) -> None:
        self._batches = batches
        self._left = most
        self.is_cut_off = False

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        if self._left < 0:
            self.is_cut_off = True
            raise StopIteration
        batch = next(self._batches)
        self._left -= batch.row_count
        return batch


def _occurrence(values: Int64s) -> Int64s:
    """For each value, how many equal ones come before it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    counts = np.empty_like(values)
    counts[order] = np.arange(len(values)) - np.searchsorted(ordered, ordered)
    return counts


@dataclass(slots=True, eq=False)
class Sort(Operator):
    """All rows sorted, within each row of the argument if there are several."""

    source: Operator
    keys: tuple[str, ...]
    descending: tuple[bool, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """One batch."""
        with context.memory.holding() as held:
            batches = [held.add_batch(batch) for batch in self.source.run(context, argument)]
            if batches:
                yield self._sorted(batches, context)

    def _sorted(self, batches: list[Batch], context: Execution) -> Batch:
        """The rows of all batches, sorted. The list is emptied, so that rows are held only once while a reader is
        slow."""
        batch = concatenate_batches(batches)
        batches.clear()
        context.check_time()
        return batch.take(sort_rows(*_sort_keys(batch, self.keys, self.descending)))


def _sort_keys(batch: Batch, keys: Sequence[str], descending: Sequence[bool]) -> tuple[list[Column], list[bool]]:
    columns, directions = [batch[key] for key in keys], list(descending)
    if ROW in batch:
        return [batch[ROW], *columns], [False, *directions]
    return columns, directions


@dataclass(slots=True, eq=False)
class Top(Operator):
    """The first rows in an order, without sorting all."""

    source: Operator
    keys: tuple[str, ...]
    descending: tuple[bool, ...]
    count: Evaluator
    skip: Evaluator | None
    writes: bool  # the source writes

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """One batch of at most `count` rows."""
        count = row_count_of(constant_of(self.count, context), "LIMIT")
        skip = 0 if self.skip is None else row_count_of(constant_of(self.skip, context), "SKIP")
        if ROW in argument:
            ordered = Sort(self.source, self.keys, self.descending)
            yield from Cut(ordered, self.skip, self.count, self.writes).run(context, argument)
            return
        best: list[Batch] = []
        held = 0
        for batch in self.source.run(context, argument):
            best.append(batch)
            held += batch.row_count
            if held > 4 * (count + skip) + LARGEST_BATCH:
                best = [self._best(best, count + skip)]
                held = best[0].row_count
        if best and count:
            top = self._best(best, count + skip)
            best.clear()
            if top.row_count > skip:
                yield top.rows(skip, top.row_count)

    def _best(self, batches: list[Batch], count: int) -> Batch:
        batch = concatenate_batches(batches)
        return batch.take(top_rows(*_sort_keys(batch, self.keys, self.descending), count))


@dataclass(slots=True, eq=False)
class Drain(Operator):
    """Run the source for its effects, and yield nothing."""

    source: Operator

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """No rows."""
        for _ in self.source.run(context, argument):
            context.check_time()
        yield from ()


@dataclass(slots=True, eq=False)
class Distinct(Operator):
    """The first of the rows that agree in these columns."""

    source: Operator
    names: tuple[str, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The rows that are new, with only these columns."""
        grouping = Grouping.without_keys()
        with context.memory.holding() as held:
            for incoming in self.source.run(context, argument):
                context.check_time()
                batch = with_row(incoming, self.names)
                if not batch.columns:  # no columns to compare: the first row stands for all
                    if batch.row_count:
                        yield batch.head(1)
                        return
                    continue
                _, first = grouping.assign_first(list(batch.columns.values()), batch.row_count)
                if len(first):
                    yield held.add_batch(batch.take(first))


@dataclass(slots=True, eq=False)
class Union(Operator):
    """The rows of several plans over the same argument."""

    sources: tuple[Operator, ...]
    names: tuple[str, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """One plan after another; for a numbered argument, in the order of its rows."""
        if ROW not in argument:
            for source in self.sources:
                for batch in source.run(context, argument):
                    yield batch.only(self.names)
            return
        batches = [with_row(b, self.names) for s in self.sources for b in s.run(context, argument)]
        if batches:
            batch = concatenate_batches(batches)
            row = batch[ROW]
            assert isinstance(row, Integers)
            yield batch.take(np.argsort(row.values, kind="stable"))
