"""CALL { } IN TRANSACTIONS: the left rows in batches, each committed separately."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from hoplite.engine.batch import Batch, concatenate_batches
from hoplite.engine.context import Execution
from hoplite.engine.operators.apply import Apply, ForEachRow
from hoplite.engine.operators.base import Evaluator, Operator, column_of, null_column
from hoplite.engine.operators.rows import checked_count, constant_of
from hoplite.engine.operators.scans import Argument
from hoplite.errors import CypherError, execution_failed
from hoplite.lazy_dataclass import dataclass

_NUMBERS = itertools.count(1)  # ids of the transactions in a status report


@dataclass(slots=True, eq=False)
class InTransactions(Operator):
    """Run the right side for batches of rows, and commit what each batch wrote."""

    left: Operator
    right: Operator
    imports: tuple[str, ...]
    added: tuple[str, ...]
    rows: Evaluator
    on_error: str
    status: str | None
    returns: bool
    optional: bool

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """All rows after the last commit, so that they see what every batch wrote. Rows of a failed batch have
        nulls."""
        batches = list(self.left.run(context, argument))
        if not batches:
            return
        if context.explicit or context.writer is None:
            raise CypherError(
                "Neo.DatabaseError.Transaction.TransactionStartFailed",
                "A query with 'CALL { ... } IN TRANSACTIONS' can only be executed in an implicit transaction, "
                "but tried to execute in an explicit transaction.",
            )
        try:
            size = checked_count(constant_of(self.rows, context), "OF ... ROWS", 1)
        except CypherError as wrong:
            raise CypherError(wrong.code, f"{wrong.message} (Transactions committed: 0)") from None
        yield from list(self._batches(context, concatenate_batches(batches), size))

    def _batches(self, context: Execution, everything: Batch, size: int) -> Iterator[Batch]:
        broken, committed = False, 0
        for start in range(0, everything.row_count, size):
            batch = everything.rows(start, start + size)
            if broken:
                yield self._reported(self._without(batch), started=False, committed=False, error=None)
                continue
            error, found = self._attempt(context, batch)
            if error is None:
                committed += 1
                for part in found:
                    yield self._reported(part, started=True, committed=True, error=None)
                continue
            if self.on_error == "FAIL" or error.is_internal:
                raise error.failure(committed)
            broken = self.on_error == "BREAK"
            yield self._reported(self._without(batch), started=True, committed=False, error=error.error)

    def _attempt(self, context: Execution, batch: Batch) -> tuple[_Failed | None, list[Batch]]:
        """Run one batch and commit it; if it fails, its writes are rolled back."""
        writer = context.writer
        assert writer is not None
        mark = writer.savepoint()
        counters = context.counters.copy()
        inner: Operator
        if self.returns:
            inner = Apply(Argument(), self.right, self.imports, self.added, self.optional, row_by_row=True)
        else:
            inner = ForEachRow(Argument(), self.right, self.imports)
        ran = False
        try:
            found = list(inner.run(context, batch))
            ran = True
            writer.commit_and_go_on()
        except CypherError as error:
            if writer.is_open:
                writer.rollback_to(mark)
            context.counters.restore(counters)
            return _Failed(error, at_commit=ran), []
        return None, [concatenate_batches(found)] if found else []

    def _without(self, batch: Batch) -> Batch:
        return batch.with_columns({name: null_column(batch.row_count) for name in self.added})

    def _reported(self, batch: Batch, *, started: bool, committed: bool, error: CypherError | None) -> Batch:
        if self.status is None:
            return batch
        report: dict[str, Any] = {
            "started": started,
            "committed": committed,
            "transactionId": f"neo4j-transaction-{next(_NUMBERS)}" if started else None,
            "errorMessage": None if error is None else error.message,
        }
        return batch.with_columns({self.status: column_of([report] * batch.row_count)})


@dataclass(frozen=True, slots=True)
class _Failed:
    """Why a batch was not committed."""

    error: CypherError
    at_commit: bool

    @property
    def is_internal(self) -> bool:
        """Whether it ends the statement whatever ON ERROR says."""
        return self.error.code.startswith("Neo.DatabaseError.")

    def failure(self, committed: int) -> CypherError:
        """The error of the statement."""
        if self.at_commit:
            return execution_failed(self.error.message or "")
        if self.is_internal:  # Java's exceptions are passed on as they are
            return self.error
        message = f"{(self.error.message or '').removesuffix(' ()')} (Transactions committed: {committed})"
        return CypherError(self.error.code, message)  # without its GQL status, as in Neo4j
