"""Grouping and aggregation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.functions.aggregates import make_aggregation
from hoplite.engine.functions.group_states import Aggregation as State
from hoplite.engine.grouping import Grouping
from hoplite.engine.operators.base import Evaluator, Operator, evaluate
from hoplite.planner.subquery import ROW
from hoplite.values.columns import Column, Integers


@dataclass(slots=True, eq=False)
class AggregateCall:
    """One aggregating function with its arguments."""

    name: str
    function: str
    distinct: bool
    arguments: tuple[Evaluator, ...]


@dataclass(slots=True, eq=False)
class Aggregate:
    """One row for each group; without keys one row, for each row of the argument."""

    source: Operator
    key_names: tuple[str, ...]
    keys: tuple[Evaluator, ...]
    calls: tuple[AggregateCall, ...]

    def run(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Reads everything, then hands on all groups."""
        numbered = ROW in argument
        grouping = Grouping()
        if numbered and not self.keys:  # a row of the argument that nothing is found for has a group all the same
            grouping.assign([argument[ROW]], argument.row_count)
        states = [make_aggregation(call.function, call.distinct, context) for call in self.calls]
        evaluators = [*self.keys, *(e for call in self.calls for e in call.arguments)]
        for incoming in self.source.run(context, argument):
            context.check()
            batch, columns, error = evaluate(incoming, evaluators, context)
            if error is not None:
                raise error
            key_columns: list[Column] = columns[: len(self.keys)]
            if numbered:
                key_columns = [batch[ROW], *key_columns]
            groups = grouping.assign(key_columns, batch.row_count)
            at = len(self.keys)
            for call, state in zip(self.calls, states, strict=True):
                count = len(call.arguments)
                try:
                    state.update(groups, grouping.count, tuple(columns[at : at + count]))
                except RowError as failure:
                    raise failure.error from None
                at += count
        yield from self._groups(grouping, states, numbered)

    def _groups(self, grouping: Grouping, states: list[State], numbered: bool) -> Iterator[Batch]:
        count = grouping.count
        if not self.keys and not numbered:
            count = 1  # nothing is a group too: count(*) over no rows is 0
        if not count:
            return
        names = (ROW, *self.key_names) if numbered else self.key_names
        columns: dict[str, Column] = dict(zip(names, grouping.keys(), strict=True)) if names else {}
        for call, state in zip(self.calls, states, strict=True):
            columns[call.name] = state.finish(count)
        batch = Batch(columns, count)
        if numbered:
            row = columns[ROW]
            assert isinstance(row, Integers)
            batch = batch.take(np.argsort(row.values, kind="stable"))
        yield batch
