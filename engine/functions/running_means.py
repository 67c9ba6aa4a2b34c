"""Running means by group: values in the order of rows go in, means and squared differences come out.

Neo4j adds one value after the other, so the last digits of an average and of a standard deviation depend on the order
of rows. Many groups take their next values together; the values of few groups go through a compiled loop, or through
Python until that is loaded.
"""

from __future__ import annotations

import numpy as np

from hoplite.engine.functions.group_states import Float64s, grown
from hoplite.values.columns import Int64s

_WORTH_AN_ARRAY = 32
"""Groups that take their next value in one step, where arrays are faster than a loop."""
_WORTH_LOADING = 20_000
"""Values after which the compiled loop is loaded."""


class RunningMeans:
    """The number of values, their mean and, with `with_squares`, the sum of their squared differences from it, for each
    group."""

    def __init__(self, *, with_squares: bool) -> None:
        self.counts = np.zeros(16, np.int64)
        self.means = np.zeros(16, np.float64)
        self.squares = np.zeros(16 if with_squares else 0, np.float64)
        self._with_squares = with_squares
        self._added = 0

    def make_room(self, group_count: int) -> None:
        """Have a state for each of so many groups."""
        self.counts, self.means = grown(self.counts, group_count), grown(self.means, group_count)
        if self._with_squares:
            self.squares = grown(self.squares, group_count)

    def add(self, groups: Int64s, values: Float64s) -> None:
        """Add each value to its group."""
        if not len(values):
            return
        self._added += len(values)
        if self._added < _WORTH_LOADING or not self._add_compiled(groups, values):
            self._add_in_turns(groups, values)

    def _add_compiled(self, groups: Int64s, values: Float64s) -> bool:
        from hoplite.engine.hops.compiled import is_loaded
        from hoplite.engine.hops.numba_means import add_values

        if not is_loaded(add_values):
            from hoplite.engine.hops.select import anticipate

            anticipate("auto", at_once=True)
            return False
        from hoplite.engine.hops.numba_arrays import as_compiled

        add_values(as_compiled(groups), as_compiled(values), self.counts, self.means, self.squares)
        return True

    def _add_in_turns(self, groups: Int64s, values: Float64s) -> None:
        """All groups take their next value together as long as many have one; the rest is added group by group."""
        order = np.argsort(groups, kind="stable")
        in_groups, values = groups[order], values[order]
        starts = np.flatnonzero(np.diff(in_groups, prepend=-1))
        ends = np.append(starts[1:], len(values))
        while len(starts) >= _WORTH_AN_ARRAY:
            self._add_to_each(in_groups[starts], values[starts])
            starts = starts + 1
            left = starts < ends
            starts, ends = starts[left], ends[left]
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            self._add_all(int(in_groups[start]), values[start:end].tolist())

    def _add_to_each(self, groups: Int64s, values: Float64s) -> None:
        self.counts[groups] += 1
        means = self.means[groups]
        with np.errstate(invalid="ignore", over="ignore"):
            shifted = means + (values - means) / self.counts[groups]
            if self._with_squares:
                self.squares[groups] += (values - means) * (values - shifted)
        self.means[groups] = shifted

    def _add_all(self, group: int, values: list[float]) -> None:
        count, mean, squares = int(self.counts[group]), float(self.means[group]), 0.0
        if self._with_squares:
            squares = float(self.squares[group])
        for value in values:
            count += 1
            shifted = mean + (value - mean) / count
            squares += (value - mean) * (value - shifted)
            mean = shifted
        self.counts[group], self.means[group] = count, mean
        if self._with_squares:
            self.squares[group] = squares
