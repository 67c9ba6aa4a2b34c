"""PROFILE: run a plan and measure the rows and the time of every operator."""

from __future__ import annotations

import time
from collections.abc import Iterator

from hoplite.engine.batch import UNIT, Batch
from hoplite.engine.context import Execution
from hoplite.engine.lower import Functions, Lowering
from hoplite.engine.operators.base import Operator
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp


@dataclass(slots=True, eq=False)
class Measured:
    """An operator that is watched: rows handed on, and seconds spent in it and below it. On disk, also how much of the
    graph was found in the cache meanwhile, how much was loaded, and how much was evicted.
    """

    operator: Operator
    rows: int = 0
    seconds: float = 0.0
    cache: tuple[int, int, int] | None = None

    def run(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """What the operator yields."""
        batches = self.operator.run(context, argument)
        while True:
            began, before = time.perf_counter(), context.graph.cache_counts
            batch = next(batches, None)
            self.seconds += time.perf_counter() - began
            if before is not None and (after := context.graph.cache_counts) is not None:
                hits, loads, evictions = self.cache or (0, 0, 0)
                self.cache = hits + after[0] - before[0], loads + after[1] - before[1], evictions + after[2] - before[2]
            if batch is None:
                return
            self.rows += batch.row_count
            yield batch


class MeasuringLowering(Lowering):
    """Lowers plans with every operator watched."""

    def __init__(self, functions: Functions) -> None:
        super().__init__(functions)
        self.measured: dict[int, Measured] = {}

    def lower(self, plan: lp.Plan) -> Operator:
        """The operator, watched."""
        operator = Measured(super().lower(plan))
        self.measured[id(plan)] = operator
        return operator


def watched(lowering: Lowering, plan: lp.Plan, context: Execution) -> Operator:
    """The operator of a plan with everything in it watched; the execution shows what was measured so far."""
    measuring = MeasuringLowering(lowering.functions)
    context.run_plan = lambda inner, argument, run: measuring.operator_for(inner).run(run, argument)
    context.measured = measuring.measured
    return measuring.lower(plan)


def profiled(lowering: Lowering, plan: lp.Plan, context: Execution) -> dict[int, tuple[int, float]]:
    """Run the plan to its end; rows and seconds of each operator by the identity of its plan."""
    for _ in watched(lowering, plan, context).run(context, UNIT):
        pass
    return {key: (operator.rows, operator.seconds) for key, operator in context.measured.items()}
