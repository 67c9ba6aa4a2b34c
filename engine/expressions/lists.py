"""Lists: literals, comprehensions, any/all/none/single and reduce.

The lists of all rows are concatenated into one inner batch, with the outer columns that the inner expressions use
repeated for each element; predicate and result are evaluated over it as columns, and the results are split into lists
again.

    xs        [1, 2], null, [3]         elements  1 2 3
    offsets   0 2 2 3                   rows      0 0 2
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.comparison import as_list
from hoplite.engine.expressions.evaluator import Compiled, Evaluator, holding_errors, narrowed, scattered
from hoplite.engine.expressions.logic import as_predicate, predicate
from hoplite.errors import CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import (
    Booleans,
    Bools,
    Column,
    EntityLists,
    Int64s,
    Nodes,
    Objects,
    Relationships,
    concatenate,
    from_objects,
    nulls,
    object_array,
)

_PIECE = 1 << 16  # elements evaluated together
_SLICE = 1 << 18  # elements of concatenated lists


def list_of(columns: Sequence[Column], row_count: int) -> Column:
    """`[a, b, c]`"""
    if not columns:
        return Objects(object_array(([] for _ in range(row_count)), row_count))
    rows = zip(*(c.objects() for c in columns), strict=True)
    return Objects(object_array((list(row) for row in rows), row_count))


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """The elements of a column of lists: those of row i are `column[offsets[i]:offsets[i + 1]]`."""

    column: Column
    offsets: Int64s
    nulls: Bools | None  # rows whose list is null

    @property
    def rows(self) -> Int64s:
        """The row of each element."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int64), np.diff(self.offsets))

    def piece(self, first: int) -> Piece:
        """A bounded number of elements, from this one on."""
        count = len(self.column)
        if count <= _PIECE:
            return Piece(self.column, self.rows)
        places = np.arange(first, min(first + _PIECE, count), dtype=np.int64)
        return Piece(self.column.take(places), np.searchsorted(self.offsets, places, side="right") - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some of the elements, and the row that each of them belongs to."""

    column: Column
    rows: Int64s


def elements_of(column: Column) -> Elements:
    """The lists concatenated; a value that is not a list counts as a list of one element."""
    if isinstance(column, EntityLists):
        first, last = int(column.offsets[0]), int(column.offsets[-1])
        ids = column.positions[first:last]
        return Elements(Nodes(ids) if column.of_nodes else Relationships(ids), column.offsets - first, column.nulls)
    lists = [as_list(value) for value in column.objects()]
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum(np.fromiter((0 if v is None else len(v) for v in lists), np.int64, len(lists)), out=offsets[1:])
    flat = from_objects([item for items in lists if items is not None for item in items])
    empty = np.fromiter((v is None for v in lists), np.bool_, len(lists))
    return Elements(flat, offsets, empty if empty.any() else None)


ListsEvaluator: TypeAlias = Callable[[Batch, Column, Execution], Column]


def by_slices(evaluate: ListsEvaluator, lists: Column, batch: Batch, execution: Execution) -> Column:
    """Evaluate a batch with its lists, a few rows at a time if the lists are long: concatenated, they may be far longer
    than any of them (a list of all nodes, for each node)."""
    bounds = _slices(lists)
    if bounds is None:
        return evaluate(batch, lists, execution)
    pieces: list[Column] = []
    for first, last in pairwise(bounds):
        execution.check_time()
        try:
            some = lists.take(np.arange(first, last, dtype=np.int64))
            pieces.append(evaluate(batch.rows(first, last), some, execution))
        except RowError as failure:
            raise RowError(first + failure.row, failure.error) from None
    return concatenate(pieces)


def _slices(lists: Column) -> list[int] | None:
    """Where slices of bounded length begin and end; None if one is enough."""
    if len(lists) < 2:
        return None
    if isinstance(lists, EntityLists):
        lengths = np.diff(lists.offsets)
    else:
        sizes = (len(items) if isinstance(items, list | bytes) else 1 for items in lists.objects())
        lengths = np.fromiter(sizes, np.int64, len(lists))
    ends = np.cumsum(lengths)
    if ends[-1] <= _SLICE:
        return None
    first_of_next = np.flatnonzero(np.diff(ends // _SLICE)) + 1
    return [0, *first_of_next.tolist(), len(lists)]


def lists_from(column: Column, offsets: Int64s, empty: Bools | None) -> Column:
    """The column split into lists at the offsets."""
    if isinstance(column, Nodes | Relationships) and len(column) and int(column.positions.min()) >= 0:
        return EntityLists(offsets, column.positions, isinstance(column, Nodes), empty)
    items = column.objects().tolist()
    bounds = offsets.tolist()
    lists = object_array((items[a:b] for a, b in pairwise(bounds)), len(bounds) - 1)
    if empty is not None:
        lists[empty] = None
    return Objects(lists)


def _inner_batch(batch: Batch, variable: str, elements: Column, rows: Int64s, uses: frozenset[str]) -> Batch:
    columns = {name: batch.columns[name].take(rows) for name in uses if name != variable}
    return Batch({**columns, variable: elements}, len(rows))


def checked_steps(count: int, execution: Execution) -> Iterator[int]:
    """Where each piece begins, for at least one; the statement may be stopped between pieces."""
    for first in range(0, max(count, 1), _PIECE):
        if first:
            execution.check_time()
        yield first


def comprehension(variable: str, source: Compiled, condition: Compiled | None, result: Compiled | None) -> Evaluator:
    """`[variable IN source WHERE condition | result]`"""
    uses = (condition.uses if condition else frozenset()) | (result.uses if result else frozenset())
    outer = uses - {variable}
    test = predicate(condition) if condition is not None else None

    def evaluate(batch: Batch, execution: Execution) -> Column:
        return by_slices(evaluate_lists, source.evaluate(batch, execution), narrowed(batch, outer), execution)

    def evaluate_lists(batch: Batch, lists: Column, execution: Execution) -> Column:
        elements = elements_of(lists)
        pieces = [
            evaluate_piece(batch, elements.piece(first), execution)
            for first in checked_steps(len(elements.column), execution)
        ]
        rows = np.concatenate([rows for rows, _ in pieces])
        offsets = np.searchsorted(rows, np.arange(batch.row_count + 1)).astype(np.int64)
        return lists_from(concatenate([column for _, column in pieces]), offsets, elements.nulls)

    def evaluate_piece(batch: Batch, elements: Piece, execution: Execution) -> tuple[Int64s, Column]:
        """The rows and results of some elements, without those that the condition rejects."""
        rows = elements.rows
        inner = _inner_batch(batch, variable, elements.column, rows, uses)
        try:
            if test is not None:
                kept = as_predicate(test.evaluate(inner, execution)).true_rows()
                if len(kept) < inner.row_count:
                    inner, rows = inner.take(kept), rows[kept]
            return rows, inner[variable] if result is None else result.evaluate(inner, execution)
        except RowError as failure:
            raise RowError(int(rows[failure.row]), failure.error) from None

    return evaluate


# --- quantifiers ---------------------------------------------------------------------------------------------------


def quantifier(kind: str, variable: str, source: Compiled, condition: Compiled) -> Evaluator:
    """`any(variable IN source WHERE condition)`, and all, none, single.

    Elements are tested in order until one decides, so an error after that one is never raised.
    """
    test = predicate(condition)
    outer = condition.uses - {variable}

    def evaluate(batch: Batch, execution: Execution) -> Column:
        return by_slices(evaluate_lists, source.evaluate(batch, execution), narrowed(batch, outer), execution)

    def evaluate_lists(batch: Batch, lists: Column, execution: Execution) -> Column:
        elements = elements_of(lists)
        rows = elements.rows
        try:
            known = as_predicate(concatenate(list(tested(batch, elements, execution))))
        except RowError:
            inner = _inner_batch(batch, variable, elements.column, rows, condition.uses)
            column, errors = holding_errors(test, inner, execution)
            known = as_predicate(column)
            _raise_undecided(kind, known, errors, rows)
        count = batch.row_count
        unknown = np.bincount(rows[known.null_mask()], minlength=count)
        true = np.bincount(rows[known.true_rows()], minlength=count)
        false = np.diff(elements.offsets) - true - unknown
        return _quantified(kind, true, false, unknown, elements.nulls)

    def tested(batch: Batch, elements: Elements, execution: Execution) -> Iterator[Booleans]:
        for first in checked_steps(len(elements.column), execution):
            piece = elements.piece(first)
            inner = _inner_batch(batch, variable, piece.column, piece.rows, condition.uses)
            yield as_predicate(test.evaluate(inner, execution))

    return evaluate


def _quantified(kind: str, true: Int64s, false: Int64s, unknown: Int64s, empty: Bools | None) -> Booleans:
    """The three-valued answer for each row, from the number of its elements that pass, fail, and are unknown."""
    match kind:
        case "any":
            values, open_ = true > 0, (true == 0) & (unknown > 0)
        case "all":
            values, open_ = (false == 0) & (unknown == 0), (false == 0) & (unknown > 0)
        case "none":
            values, open_ = (true == 0) & (unknown == 0), (true == 0) & (unknown > 0)
        case _:
            values, open_ = (true == 1) & (unknown == 0), (true <= 1) & (unknown > 0)
    if empty is not None:
        open_ = open_ | empty
    return Booleans(values, open_ if open_.any() else None)


def _raise_undecided(kind: str, known: Booleans, errors: dict[int, CypherError], rows: Int64s) -> None:
    """Raise the error of a list in which nothing before the failing element decides."""
    empty = known.null_mask()
    decisive = known.values != (kind == "all")
    needed = 2 if kind == "single" else 1
    for element in sorted(errors):
        row = rows[element]
        before = slice(int(np.searchsorted(rows, row)), element)
        if np.count_nonzero(decisive[before] & ~empty[before]) < needed:
            raise RowError(int(row), errors[element])


# --- reduce --------------------------------------------------------------------------------------------------------


def reduction(accumulator: str, initial: Compiled, variable: str, source: Compiled, step: Compiled) -> Evaluator:
    """`reduce(accumulator = initial, variable IN source | step)`: step by step for all rows at once."""
    outer = step.uses - {accumulator, variable}

    def evaluate(batch: Batch, execution: Execution) -> Column:
        lists = source.evaluate(batch, execution)
        return by_slices(evaluate_lists, lists, narrowed(batch, outer | initial.uses), execution)

    def evaluate_lists(batch: Batch, lists: Column, execution: Execution) -> Column:
        elements = elements_of(lists)
        every = np.arange(batch.row_count, dtype=np.int64)
        lengths = np.diff(elements.offsets)
        present = every if elements.nulls is None else every[~elements.nulls]
        pieces: list[tuple[Int64s, Column]] = []
        if elements.nulls is not None:
            empty = every[elements.nulls]
            pieces.append((empty, nulls(len(empty))))
        rows, total = present, initial.on_rows(batch, present, execution)
        place = 0
        while len(rows):
            going = lengths[rows] > place
            if not going.all():
                done = np.flatnonzero(~going)
                pieces.append((rows[done], total.take(done)))
                still = np.flatnonzero(going)
                rows, total = rows[still], total.take(still)
                if not len(rows):
                    break
            columns = {name: batch.columns[name].take(rows) for name in outer}
            columns[variable] = elements.column.take(elements.offsets[rows] + place)
            columns[accumulator] = total
            try:
                total = step.evaluate(Batch(columns, len(rows)), execution)
            except RowError as failure:
                raise RowError(int(rows[failure.row]), failure.error) from None
            place += 1
            execution.check_time()
        return scattered(pieces, batch.row_count)

    return evaluate
