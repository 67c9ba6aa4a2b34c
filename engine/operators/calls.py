"""Rows from procedures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.operators.base import Evaluator, Operator, column_of, evaluate, null_column
from hoplite.engine.procedures.registry import Procedure
from hoplite.lazy_dataclass import dataclass

_ROWS_AT_ONCE = 4096


@dataclass(slots=True, eq=False)
class CallProcedure(Operator):
    """Call a procedure for each row; a procedure without outputs passes the row on."""

    source: Operator
    procedure: str
    arguments: tuple[Evaluator, ...]
    outputs: tuple[tuple[str, str], ...]
    yields: bool
    optional: bool

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """A row for each row that the procedure yields."""
        procedure = context.procedures[self.procedure]
        for incoming in self.source.run(context, argument):
            batch, columns, error = evaluate(incoming, self.arguments, context)
            values = [column.objects() for column in columns]
            for row in range(batch.row_count):
                context.check_time()
                yield from self._called(context, procedure, batch, row, [v[row] for v in values])
            if error is not None:
                raise error

    def _called(
        self, context: Execution, procedure: Procedure, batch: Batch, row: int, arguments: list[Any]
    ) -> Iterator[Batch]:
        """What one call yields, a few rows at a time: a procedure may never end."""
        anything = False
        records: list[Mapping[str, Any]] = []
        for record in procedure.call(context, arguments):
            context.check_time()
            anything = anything or not isinstance(record, Batch) or record.row_count > 0
            if self.yields and isinstance(record, Batch):
                if records:
                    yield self._joined(batch, row, records)
                    records = []
                repeated = batch.take(np.full(record.row_count, row, np.int64))
                yield repeated.with_columns({column: record[name] for name, column in self.outputs})
            elif self.yields and isinstance(record, Mapping):
                records.append(record)
                if len(records) == _ROWS_AT_ONCE:
                    yield self._joined(batch, row, records)
                    records = []
        if records:
            yield self._joined(batch, row, records)
        if not self.yields:
            yield batch.rows(row, row + 1)
        elif self.optional and not anything:
            alone = batch.rows(row, row + 1)
            yield alone.with_columns({column: null_column(1) for _, column in self.outputs})

    def _joined(self, batch: Batch, row: int, records: list[Mapping[str, Any]]) -> Batch:
        repeated = batch.take(np.full(len(records), row, np.int64))
        new = {column: column_of([record.get(name) for record in records]) for name, column in self.outputs}
        return repeated.with_columns(new)
