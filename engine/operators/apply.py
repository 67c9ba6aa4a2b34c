"""Nested plans: run the right side over the rows of the left, all rows of a batch at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from hoplite.engine.batch import UNIT, Batch, concatenate_batches
from hoplite.engine.context import Execution
from hoplite.engine.memory import Held
from hoplite.engine.operators.base import (
    Operator,
    argument_rows,
    batch_limit,
    null_column,
    pairs,
)
from hoplite.grammar.hidden import HIDDEN
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.logical import ROW
from hoplite.values.columns import Int64s, Integers, Nodes, Relationships

_PLACE = HIDDEN + "place"  # the left row that a row belongs to, for sorting


def numbered(batch: Batch, imports: tuple[str, ...]) -> Batch:
    """The argument for a right side: the imported columns and the number of each row."""
    columns = batch.only(imports).columns
    return Batch({**columns, ROW: Integers(np.arange(batch.row_count, dtype=np.int64))}, batch.row_count)


@dataclass(slots=True, eq=False)
class Apply(Operator):
    """The left rows, extended by what the right side finds for them."""

    left: Operator
    right: Operator
    imports: tuple[str, ...]
    added: tuple[str, ...]
    optional: bool
    row_by_row: bool
    once_for: tuple[str, ...] = ()

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """In the order of the left rows; if optional, a row without a partner comes with nulls."""
        if self.row_by_row:
            # A right side that writes runs after everything is read: its later rows see earlier writes, but neither the
            # left side nor what follows may see some of them.
            written: list[Batch] = []
            for batch in list(self.left.run(context, argument)):
                for row in range(batch.row_count):
                    alone = batch.rows(row, row + 1)
                    written.extend(self._completed(context, alone) if self.optional else self._joined(context, alone))
            yield from written
            return
        for batch in self.left.run(context, argument):
            context.check_time()
            yield from self._completed(context, batch) if self.optional else self._joined(context, batch)

    def _joined(self, context: Execution, batch: Batch) -> Iterator[Batch]:
        """The rows for which the right side finds partners, in its order."""
        asked = self._first_of_alike(batch) if self.once_for else None
        for right in self.right.run(context, numbered(batch if asked is None else batch.take(asked), self.imports)):
            rows = argument_rows(right)
            assert rows is not None
            if asked is not None:
                rows = asked[rows]
            if len(rows):
                joined = batch.take(rows).with_columns({name: right[name] for name in self.added})
                yield joined.with_columns({_PLACE: Integers(rows)}) if self.optional else joined

    def _first_of_alike(self, batch: Batch) -> Int64s | None:
        """The first of each run of rows that are the same in `once_for`; None if that cannot be told quickly."""
        starts = np.zeros(batch.row_count, np.bool_)
        starts[:1] = True
        for name in (*self.once_for, *((ROW,) if ROW in batch else ())):
            match batch[name]:
                case Nodes(positions=values) | Relationships(positions=values):
                    starts[1:] |= values[1:] != values[:-1]
                case Integers(values=values, nulls=None):
                    starts[1:] |= values[1:] != values[:-1]
                case _:
                    return None
        return np.flatnonzero(starts)

    def _completed(self, context: Execution, batch: Batch) -> Iterator[Batch]:
        """The rows with partners and, with nulls, those without, in the order of the left rows.

        The right side may find rows in any order, so which rows have none is known only at its end. Until then what it
        finds is held, so a batch is passed to it in parts if each row finds many.
        """
        first, width = 0, batch.row_count
        while first < batch.row_count:
            context.check_time()
            part = batch.rows(first, first + width)
            together = self._ordered(part, list(self._joined(context, part)))
            first += width
            most = batch_limit(context)
            if together.row_count > most:
                width = max(1, width * most // together.row_count)
            for start in range(0, together.row_count, most):
                yield together.rows(start, start + most)

    def _ordered(self, batch: Batch, found: list[Batch]) -> Batch:
        matched = np.zeros(batch.row_count, np.bool_)
        for part in found:
            column = part[_PLACE]
            assert isinstance(column, Integers)
            matched[column.values] = True
        without = np.flatnonzero(~matched)
        if len(without) or not found:
            alone = batch.take(without).with_columns({name: null_column(len(without)) for name in self.added})
            found.append(alone.with_columns({_PLACE: Integers(without)}))
        together = concatenate_batches(found)
        place = together[_PLACE]
        assert isinstance(place, Integers)
        names = [name for name in together.columns if name != _PLACE]
        return together.only(names).take(np.argsort(place.values, kind="stable"))


@dataclass(slots=True, eq=False)
class ForEachRow(Operator):
    """Run the right side for its effects; the left rows come out unchanged."""

    left: Operator
    right: Operator
    imports: tuple[str, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The left rows, once everything is done."""
        batches = list(self.left.run(context, argument))
        for batch in batches:
            for row in range(batch.row_count):
                for _ in self.right.run(context, numbered(batch.rows(row, row + 1), self.imports)):
                    context.check_time()
        yield from batches


@dataclass(slots=True, eq=False)
class Product(Operator):
    """Every pair of rows; the right side is read, and kept, during the first batch of the left."""

    left: Operator
    right: Operator
    added: tuple[str, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The pairs in bounded batches."""
        read: list[Batch] | None = None
        with context.memory.holding() as held:
            for batch in self.left.run(context, argument):
                found: Iterable[Batch]
                if read is None:
                    read = []
                    found = self._read(context, read, held)
                else:
                    found = read
                for right in found:
                    for rows, items in pairs(context, batch.row_count, right.row_count):
                        columns = {name: right[name].take(items) for name in self.added}
                        yield batch.take(rows).with_columns(columns)

    def _read(self, context: Execution, read: list[Batch], held: Held) -> Iterator[Batch]:
        for batch in self.right.run(context, UNIT):
            read.append(held.add_batch(batch))
            yield batch
