"""CASE and coalesce: each part is evaluated only on the rows that reach it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.expressions.evaluator import Compiled, Evaluator, scattered
from hoplite.engine.expressions.logic import predicate
from hoplite.values.columns import Booleans, Column, Int64s, nulls


def searched_case(whens: Sequence[tuple[Sequence[Compiled], Compiled]], default: Compiled | None) -> Evaluator:
    """`CASE WHEN condition THEN result ... ELSE default END`; each result may have several conditions."""
    branches = [([predicate(condition) for condition in conditions], result) for conditions, result in whens]

    def evaluate(batch: Batch, execution: Execution) -> Column:
        waiting: Int64s = np.arange(batch.row_count, dtype=np.int64)
        pieces: list[tuple[Int64s, Column]] = []
        for conditions, result in branches:
            for condition in conditions:
                if not len(waiting):
                    break
                holds = condition.on_rows(batch, waiting, execution)
                assert isinstance(holds, Booleans)
                chosen = holds.true_rows()
                if len(chosen):
                    rows = waiting[chosen]
                    pieces.append((rows, result.on_rows(batch, rows, execution)))
                    waiting = np.delete(waiting, chosen)
        if default is not None and len(waiting):
            pieces.append((waiting, default.on_rows(batch, waiting, execution)))
        elif len(waiting):
            pieces.append((waiting, nulls(len(waiting))))
        return scattered(pieces, batch.row_count)

    return evaluate


def coalesce(arguments: Sequence[Compiled]) -> Evaluator:
    """The first argument that is not null; the ones after it are not evaluated."""

    def evaluate(batch: Batch, execution: Execution) -> Column:
        waiting: Int64s = np.arange(batch.row_count, dtype=np.int64)
        pieces: list[tuple[Int64s, Column]] = []
        for argument in arguments:
            if not len(waiting):
                break
            column = argument.on_rows(batch, waiting, execution)
            empty = column.null_mask()
            if not empty.any():
                pieces.append((waiting, column))
                waiting = waiting[:0]
                break
            found = np.flatnonzero(~empty)
            if len(found):
                pieces.append((waiting[found], column.take(found)))
            waiting = waiting[empty]
        if len(waiting):
            pieces.append((waiting, nulls(len(waiting))))
        return scattered(pieces, batch.row_count)

    return evaluate
