"""Running means by group, compiled: each depends, in its last digits, on the order of its values.

groups    int64[n]       the group of each value
values    float64[n]
counts    int64[]        by group, as are the next two: how many values it has had
means     float64[]      their mean
squares   float64[]      the sum of their squared differences from it; of length 0 if that is not wanted
"""

from __future__ import annotations

from hoplite.engine.hops.compiled import Floats, Ints, kernel


@kernel
def add_values(groups: Ints, values: Floats, counts: Ints, means: Floats, squares: Floats) -> None:
    """Add every value to its group, by Welford's formula."""
    for place in range(len(values)):
        group, value = groups[place], values[place]
        counts[group] += 1
        mean = means[group]
        shifted = mean + (value - mean) / counts[group]
        if len(squares):
            squares[group] += (value - mean) * (value - shifted)
        means[group] = shifted
