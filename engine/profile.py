"""PROFILE: what every operator did, counted while it runs. The operators are the same as in any other run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hoplite.engine.batch import Batch
from hoplite.planner.explain import NOT_RUN, Measurement
from hoplite.planner.physical import Shown

if TYPE_CHECKING:
    from hoplite.engine.context import Execution


class Profile:
    """Rows, time and cache use by the identity of the operator's plan. Time and cache include the operators below."""

    def __init__(self) -> None:
        self.measured: dict[int, Measurement] = {}

    def watched(self, plan: Shown, batches: Iterator[Batch], context: Execution) -> Iterator[Batch]:
        """The same batches, counted."""
        while True:
            watch = Watch(self, context)
            batch = next(batches, None)
            watch.note(plan, 0 if batch is None else batch.row_count)
            if batch is None:
                return
            yield batch

    def add(self, plan: Shown, seen: Measurement) -> None:
        """Count what an operator did."""
        known = self.measured.get(id(plan), NOT_RUN)
        cache = seen.cache
        if cache is not None and known.cache is not None:
            cache = (cache[0] + known.cache[0], cache[1] + known.cache[1], cache[2] + known.cache[2])
        self.measured[id(plan)] = Measurement(known.rows + seen.rows, known.seconds + seen.seconds, cache)


class Watch:
    """Starts when it is made; `note` records what an operator did since then. Does nothing without a profile."""

    __slots__ = ("_before", "_began", "_context", "_profile")

    def __init__(self, profile: Profile | None, context: Execution) -> None:
        self._profile = profile
        self._context = context
        if profile is not None:
            self._began, self._before = time.perf_counter(), context.graph.cache_counts

    def note(self, plan: Shown | None, rows: int) -> None:
        """Record that an operator has yielded some rows."""
        if self._profile is None or plan is None:
            return
        seconds, before, cache = time.perf_counter() - self._began, self._before, None
        if before is not None and (after := self._context.graph.cache_counts) is not None:
            cache = after[0] - before[0], after[1] - before[1], after[2] - before[2]
        self._profile.add(plan, Measurement(rows, seconds, cache))
