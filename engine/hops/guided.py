"""All trails from each row, cut off where they cannot reach a wanted end.

Where the ends are known, a search from them over the same relationships tells how far each node is from one (a
`Guide`). That search ignores masks, which may only be asked about steps that are actually reached: it follows a
superset of the steps, so its distances are still lower bounds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hoplite.engine.hops.interface import (
    UNLIMITED,
    Backend,
    Check,
    Excluded,
    Guide,
    Hop,
    Positions,
    TrailBatch,
    unchecked,
)
from hoplite.engine.hops.select import BackendName, backend_named

# Steps spent on searching from the ends of a block of rows, if the length of trails is bounded.
_GUIDE_BUDGET = 1 << 17
# Rows whose ends are searched from together: few at first, because LIMIT may stop after the first row.
_FEWEST_ROWS, _MOST_ROWS = 4, 256


def trails(
    hop: Hop,
    sources: Positions,
    lower: int,
    upper: int | None,
    *,
    ends: Positions | None = None,
    allowed_ends: Positions | None = None,
    excluded: Excluded | None = None,
    chunk: int = 1 << 16,
    check: Check = unchecked,
    backend: BackendName = "auto",
) -> Iterator[TrailBatch]:
    """The trails of lower .. upper relationships from each source, by ascending row, in batches that begin small.

    `ends` has the one node that the trails of each row end in; `allowed_ends`, the nodes that any of them may end in.
    `excluded` has the relationships that each row has already bound. Batches grow to about `chunk` relationships.
    """
    return guided_trails(backend_named(backend), hop, sources, lower, upper, ends, allowed_ends, excluded, chunk, check)


def guided_trails(
    backend: Backend,
    hop: Hop,
    sources: Positions,
    lower: int,
    upper: int | None,
    ends: Positions | None = None,
    allowed_ends: Positions | None = None,
    excluded: Excluded | None = None,
    chunk: int = 1 << 16,
    check: Check = unchecked,
) -> Iterator[TrailBatch]:
    """`trails` with a given backend."""
    assert ends is None or allowed_ends is None, "Ends are given per row or for all rows, not both."
    if upper is not None and upper < lower:
        return
    if ends is not None:
        yield from _trails_to_bound_ends(backend, hop, sources, ends, lower, upper, excluded, chunk, check)
        return
    guide = None
    if allowed_ends is not None:
        goals = np.unique(allowed_ends[allowed_ends >= 0])
        table = np.zeros(len(sources), dtype=np.int64)
        guide = _guide(backend, hop, np.zeros(len(goals), dtype=np.int64), goals, table, upper, check)
    yield from backend.trails(hop, sources, lower, upper, guide=guide, excluded=excluded, chunk=chunk, check=check)


def _trails_to_bound_ends(
    backend: Backend,
    hop: Hop,
    sources: Positions,
    ends: Positions,
    lower: int,
    upper: int | None,
    excluded: Excluded | None,
    chunk: int,
    check: Check,
) -> Iterator[TrailBatch]:
    """The trails of each row to its end, in blocks of rows: a block's guide has one table for each distinct end."""
    rows = np.flatnonzero((sources >= 0) & (ends >= 0))
    first, width = 0, _FEWEST_ROWS
    while first < len(rows):
        block = rows[first : first + width]
        goals, table = np.unique(ends[block], return_inverse=True)
        guide = _guide(backend, hop, np.arange(len(goals), dtype=np.int64), goals, table, upper, check)
        lists = None if excluded is None else excluded.take(block)
        found = backend.trails(hop, sources[block], lower, upper, guide=guide, excluded=lists, chunk=chunk, check=check)
        for batch in found:
            yield batch._replace(row=block[batch.row])
        first += len(block)
        width = min(2 * width, _MOST_ROWS)


def _guide(
    backend: Backend,
    hop: Hop,
    groups: Positions,
    goals: Positions,
    table: Positions,
    upper: int | None,
    check: Check,
) -> Guide:
    """The distances to the goals of each group."""
    n = hop.node_count
    if hop.can_turn and len(goals):
        # The guide is asked after the first step, with at most upper - 1 relationships left.
        depth = None if upper is None else max(upper - 1, 0)
        budget = None if upper is None else _GUIDE_BUDGET
        found = backend.bfs_levels(hop.turned(), groups, goals, depth, mark_starts=True, budget=budget, check=check)
        keys, level, known_depth = found.group * n + found.nodes, found.level, found.depth
    else:
        keys, level = groups * n + goals, np.zeros(len(goals), dtype=np.int64)
        known_depth = 0 if len(goals) else UNLIMITED
    order = np.argsort(keys)
    return Guide(n, table, keys[order], level[order], known_depth)


def count_trails(
    hop: Hop,
    sources: Positions,
    lower: int,
    upper: int | None,
    *,
    excluded: Excluded | None = None,
    check: Check = unchecked,
    backend: BackendName = "auto",
) -> Positions:
    """How many trails of lower .. upper relationships there are from each source."""
    if upper is not None and upper < lower:
        return np.zeros(len(sources), dtype=np.int64)
    return backend_named(backend).count_trails(hop, sources, lower, upper, excluded=excluded, check=check)
