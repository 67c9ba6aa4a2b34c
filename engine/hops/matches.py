"""Count matches of a pattern: a pattern and the rows' bindings go in, each row's number of matches comes out. Sum along
a hop: weights of all nodes go in, sums over the neighbours of all nodes come out."""

from __future__ import annotations

from collections.abc import Iterator

from hoplite.engine.hops.interface import Check, Hop, Positions, unchecked
from hoplite.engine.hops.pattern import EndCounts, Given, Pattern
from hoplite.engine.hops.select import BackendName, backend_named


def count_matches(
    pattern: Pattern, given: Given, row_count: int, *, check: Check = unchecked, backend: BackendName = "auto"
) -> Positions:
    """The weighted number of matches from each row."""
    return backend_named(backend).count_matches(pattern, given, row_count, check=check)


def count_matches_by_end(
    pattern: Pattern, given: Given, row_count: int, *, check: Check = unchecked, backend: BackendName = "auto"
) -> Iterator[EndCounts]:
    """The weighted number of matches from each row to each node at the end of the pattern."""
    return backend_named(backend).count_matches_by_end(pattern, given, row_count, check=check)


def sums_for_all(
    hop: Hop, weights: Positions | None, *, check: Check = unchecked, backend: BackendName = "auto"
) -> Positions | None:
    """For each node of the graph the sum of its neighbours' weights, as `Backend.sums_for_all` says."""
    return backend_named(backend).sums_for_all(hop, weights, check=check)
