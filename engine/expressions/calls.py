"""Function calls: a whole column at a time where the function can, else value by value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.evaluator import Compiled, Evaluator
from hoplite.engine.functions.registry import Function
from hoplite.engine.guard import interruptible
from hoplite.errors import CypherError
from hoplite.values.columns import Column, from_objects


def call(function: Function, arguments: Sequence[Compiled]) -> Evaluator:
    """`function(arguments)`"""

    def evaluate(batch: Batch, execution: Execution) -> Column:
        columns = [argument.evaluate(batch, execution) for argument in arguments]
        if function.column_call is not None:
            context = (execution,) if function.needs_context else ()
            try:
                if function.is_pure:
                    with interruptible():
                        column = function.column_call(*columns)
                else:
                    column = function.column_call(*context, *columns)
                if column is not None:
                    return column
            except CypherError:
                pass  # value by value it shows which row fails
        return _by_value(function, columns, batch.row_count, execution)

    return evaluate


def _by_value(function: Function, columns: Sequence[Column], row_count: int, execution: Execution) -> Column:
    rows = zip(*(c.objects() for c in columns), strict=True) if columns else [()] * row_count
    results: list[Any] = []
    try:
        if function.is_pure:
            with interruptible():
                _call_for_each(function, rows, (), results, execution)
        else:
            _call_for_each(function, rows, (execution,) if function.needs_context else (), results, execution)
    except CypherError as error:
        raise RowError(len(results), error) from None
    return from_objects(results)


def _call_for_each(
    function: Function,
    rows: Iterable[tuple[Any, ...]],
    context: tuple[Execution, ...],
    results: list[Any],
    execution: Execution,
) -> None:
    for values in rows:
        if len(results) % 16 == 15:
            execution.check_time()
        if function.null_in_null_out and None in values:
            results.append(None)
        else:
            results.append(function.call(*context, *values))
