"""Grouping and aggregation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.functions.aggregates import make_aggregation
from hoplite.engine.functions.group_states import Aggregation as State
from hoplite.engine.functions.weighted import make_weighted
from hoplite.engine.grouping import Grouping
from hoplite.engine.guard import interruptible
from hoplite.engine.memory import Held, column_bytes
from hoplite.engine.operators.base import Evaluator, Operator, evaluate
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.logical import ROW
from hoplite.values.columns import Column, Integers

_GATHERING = (  # functions that keep every value
    "collect", "percentilecont", "percentiledisc", "apoc.agg.slice", "apoc.agg.maxitems", "apoc.agg.minitems",
    "apoc.agg.median", "apoc.agg.percentiles", "apoc.agg.statistics",
)  # fmt: skip
_GROUP = 100  # bytes per group, besides its keys


@dataclass(slots=True, eq=False)
class AggregateCall:
    """One aggregating function with its arguments; if it is `weighted`, the last one says how many rows each row stands
    for."""

    name: str
    function: str
    distinct: bool
    arguments: tuple[Evaluator, ...]
    weighted: bool = False

    def state(self, context: Execution) -> State:
        """A fresh state."""
        if self.weighted:
            return make_weighted(self.function)
        return make_aggregation(self.function, self.distinct, context)


@dataclass(slots=True, eq=False)
class Aggregate(Operator):
    """One row for each group; without keys, one row for each row of the argument."""

    source: Operator
    key_names: tuple[str, ...]
    keys: tuple[Evaluator, ...]
    calls: tuple[AggregateCall, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Reads everything, then yields all groups."""
        numbered = ROW in argument
        grouping = Grouping()
        if numbered and not self.keys:  # a row of the argument for which nothing is found still has a group
            grouping.assign([argument[ROW]], argument.row_count)
        states = [call.state(context) for call in self.calls]
        with context.memory.holding() as held:
            self._read(context, argument, grouping, states, held)
            yield from self._groups(grouping, states, numbered)

    def _read(self, context: Execution, argument: Batch, grouping: Grouping, states: list[State], held: Held) -> None:
        """Add every row to its group. Memory is counted for the keys of groups and for collected values."""
        numbered = ROW in argument
        evaluators = [*self.keys, *(e for call in self.calls for e in call.arguments)]
        gathering = [call.function in _GATHERING or call.distinct for call in self.calls]
        for incoming in self.source.run(context, argument):
            context.check_time()
            batch, columns, error = evaluate(incoming, evaluators, context)
            if error is not None:
                raise error
            known = grouping.count
            key_columns: list[Column] = columns[: len(self.keys)]
            if numbered:
                key_columns = [batch[ROW], *key_columns]
            groups = grouping.assign(key_columns, batch.row_count)
            at = len(self.keys)
            for call, state in zip(self.calls, states, strict=True):
                count = len(call.arguments)
                try:
                    with interruptible():
                        state.update(groups, grouping.count, tuple(columns[at : at + count]))
                except RowError as failure:
                    raise failure.error from None
                at += count
            self._hold(held, columns, gathering, grouping.count - known, batch.row_count)

    def _hold(self, held: Held, columns: list[Column], gathering: list[bool], new_groups: int, row_count: int) -> None:
        if new_groups:
            key_bytes = sum(column_bytes(column) for column in columns[: len(self.keys)])
            held.add(new_groups * (_GROUP + key_bytes // row_count))
        at = len(self.keys)
        for call, gathers in zip(self.calls, gathering, strict=True):
            if gathers:
                held.add(sum(column_bytes(column) for column in columns[at : at + len(call.arguments)]))
            at += len(call.arguments)

    def _groups(self, grouping: Grouping, states: list[State], numbered: bool) -> Iterator[Batch]:
        count = grouping.count
        if not self.keys and not numbered:
            count = 1  # no rows are a group too: their count(*) is 0
        if not count:
            return
        names = (ROW, *self.key_names) if numbered else self.key_names
        columns: dict[str, Column] = dict(zip(names, grouping.keys(), strict=True)) if names else {}
        for call, state in zip(self.calls, states, strict=True):
            with interruptible():
                columns[call.name] = state.finish(count)
        batch = Batch(columns, count)
        if numbered:
            row = columns[ROW]
            assert isinstance(row, Integers)
            batch = batch.take(np.argsort(row.values, kind="stable"))
        yield batch
