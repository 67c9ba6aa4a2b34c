"""The nodes that trails end in, without making the trails: sources and bounds go in, distinct ends come out.

Cypher binds trails, a frontier computes walks. The two have the same ends in these cases:

    directed, lower 0 or 1    everywhere: cut the loops out of a shortest walk. With lower 1 the start is an end only
                              if a walk comes back to it, so it is not marked beforehand.
    undirected, lower 0 or 1  everywhere except at the starts. With lower 1 a start needs a closed trail through it (out
                              and back over one relationship is not a trail), or, where starts are merged, a trail
                              from another start.
    lower 2 or more           where the shortest distance lies within the bounds. A nearer node needs a search for one
                              trail that is long enough.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hoplite.engine.grouping import distinct
from hoplite.engine.hops.expansion import in_sorted
from hoplite.engine.hops.guided import guided_trails
from hoplite.engine.hops.interface import (
    Backend,
    Booleans,
    Check,
    Ends,
    Excluded,
    Hop,
    Levels,
    Positions,
    SettledSearch,
    Side,
    unchecked,
)
from hoplite.engine.hops.select import BackendName, backend_named

# The fewest and the most rows searched in one kernel call.
_FEWEST_ROWS, _MOST_ROWS = 64, 4096
# If one call finds more nodes than this, the next one takes fewer rows.
_MANY_ENDS = 1 << 20
# Relationships in the trails made before the remaining candidates are searched for one by one.
_TRAIL_BUDGET = 1 << 16
_TRAILS_FOR_EACH = 32
# How far beyond the lower bound unbounded trails are first followed, before the search is unbounded as well.
_DEEPEST = 16


def reach(
    hop: Hop,
    sources: Positions,
    lower: int,
    upper: int | None,
    *,
    excluded: Excluded | None = None,
    check: Check = unchecked,
    backend: BackendName = "auto",
) -> Ends:
    """For each row, the distinct nodes that a trail of lower .. upper relationships ends in."""
    return _reach(backend_named(backend), hop, sources, lower, upper, excluded, check)


def _reach(
    backend: Backend,
    hop: Hop,
    sources: Positions,
    lower: int,
    upper: int | None,
    excluded: Excluded | None,
    check: Check,
) -> Ends:
    none = np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(sources >= 0)
    if (upper is not None and upper < lower) or not len(rows):
        return Ends(none, none)
    if excluded is None:
        # Rows with the same source have the same ends.
        starts, which = np.unique(sources[rows], return_inverse=True)
        found = _reach_separately(backend, hop, starts, lower, upper, None, check)
        if len(starts) == len(rows) and (which[:-1] < which[1:]).all():
            return Ends(rows[found.row], found.nodes)
        first = np.searchsorted(found.row, np.arange(len(starts) + 1))
        count = np.diff(first)[which]
        entries = np.arange(count.sum()) + np.repeat(first[which] - np.cumsum(count) + count, count)
        return Ends(np.repeat(rows, count), found.nodes[entries])
    found = _reach_separately(backend, hop, sources[rows], lower, upper, excluded.take(rows), check)
    return Ends(rows[found.row], found.nodes)


def _reach_separately(
    backend: Backend,
    hop: Hop,
    starts: Positions,
    lower: int,
    upper: int | None,
    excluded: Excluded | None,
    check: Check,
) -> Ends:
    pieces: list[Ends] = []
    first, width = 0, _FEWEST_ROWS
    while first < len(starts):
        numbers = np.arange(first, min(first + width, len(starts)), dtype=np.int64)
        lists = None if excluded is None else excluded.take(numbers)
        found = _ends(backend, hop, starts[numbers], lower, upper, lists, check)
        pieces.append(Ends(found.row + first, found.nodes))
        first += len(numbers)
        width = min(2 * width, _MOST_ROWS) if len(found.row) < _MANY_ENDS else max(width // 2, 1)
    if len(pieces) == 1:
        return pieces[0]
    return Ends(np.concatenate([piece.row for piece in pieces]), np.concatenate([piece.nodes for piece in pieces]))


def _ends(
    backend: Backend,
    hop: Hop,
    starts: Positions,
    lower: int,
    upper: int | None,
    excluded: Excluded | None,
    check: Check,
) -> Ends:
    """The ends of a few rows."""
    groups = np.arange(len(starts), dtype=np.int64)
    undirected = hop.side is Side.BOTH
    mark_starts = undirected or lower == 0
    found = backend.bfs_levels(hop, groups, starts, upper, mark_starts=mark_starts, excluded=excluded, check=check)
    row, nodes, level = found.group, found.nodes, found.level
    if lower == 0:
        return Ends(row, nodes)
    if undirected:
        away = level > 0
        row, nodes, level = row[away], nodes[away], level[away]
        if hop.relationship_mask is None or hop.symmetric_mask:
            closed = backend.closing_lengths(hop, groups, starts, upper, excluded=excluded, check=check)
            closed[~_may_enter(hop, starts, closed > 0)] = 0
            back = np.flatnonzero(closed)
            back_level = closed[back]
        else:
            # Steps that cannot be reversed do not prove a closed trail: it must be searched for.
            back = groups
            back_level = np.zeros(len(back), dtype=np.int64)
        row, nodes, level = (
            np.concatenate((row, back)),
            np.concatenate((nodes, starts[back])),
            np.concatenate((level, back_level)),
        )
    near = level < lower
    if near.any():
        kept = ~near
        kept[near] = _is_end_of_longer(
            backend, hop, starts, row[near], nodes[near], lower, upper, excluded=excluded, check=check
        )
        row, nodes = row[kept], nodes[kept]
    order = np.argsort(row, kind="stable")
    return Ends(row[order], nodes[order])


def _may_enter(hop: Hop, nodes: Positions, asked: Booleans) -> Booleans:
    """Which of the nodes at `asked` the node mask lets in."""
    if hop.node_mask is None:
        return asked
    allowed = asked.copy()
    allowed[asked] = hop.node_mask(nodes[asked])
    return allowed


def _is_end_of_longer(
    backend: Backend,
    hop: Hop,
    starts: Positions,
    row: Positions,
    candidates: Positions,
    lower: int,
    upper: int | None,
    *,
    excluded: Excluded | None,
    check: Check,
) -> Booleans:
    """For each pair of row and candidate, whether a trail of lower .. upper relationships leads there.

    Trails are made for all rows, shortest first, which finds most candidates early. Once that has cost enough, the
    remaining candidates are searched for one by one, guided by distance.
    """
    n = hop.node_count
    order = np.argsort(row * n + candidates)
    keys = (row * n + candidates)[order]
    found = np.zeros(len(row), dtype=np.bool_)
    budget = _TRAIL_BUDGET + _TRAILS_FOR_EACH * len(row)
    known = lower - 1
    for bound in _deepening(lower, upper):
        rows = distinct(row[~found])
        lists = None if excluded is None else excluded.take(rows)
        for batch in backend.trails(hop, starts[rows], known + 1, bound, excluded=lists, check=check):
            met = rows[batch.row] * n + batch.nodes[batch.offsets[1:] - 1]
            found[order[np.searchsorted(keys, met[in_sorted(met, keys)])]] = True
            budget -= len(batch.relationships)
            if budget < 0 or found.all():
                break
        if found.all() or (bound == upper and budget >= 0):
            return found
        if budget < 0 or bound is None:
            break
        known = bound
    for number in np.flatnonzero(~found):
        own = row[number : number + 1]
        lists = None if excluded is None else excluded.take(own)
        found[number] = any(
            next(
                guided_trails(
                    backend,
                    hop,
                    starts[own],
                    lower,
                    bound,
                    candidates[number : number + 1],
                    excluded=lists,
                    check=check,
                ),
                None,
            )
            is not None
            for bound in _deepening(lower, upper)
        )
    return found


def _deepening(lower: int, upper: int | None) -> Iterator[int | None]:
    """Increasing bounds from lower to upper: near nodes are searched before far ones."""
    bound, step = lower, 1
    while upper is None or bound < upper:
        if step > _DEEPEST:
            break
        yield bound
        bound, step = bound + step, 2 * step
    yield upper


def reach_merged(
    hop: Hop,
    sources: Positions,
    lower: int,
    upper: int | None,
    *,
    check: Check = unchecked,
    backend: BackendName = "auto",
) -> Positions:
    """The distinct nodes that a trail of lower .. upper relationships from any of the sources ends in."""
    kernels = backend_named(backend)
    starts = sources[sources >= 0]
    if (upper is not None and upper < lower) or not len(starts):
        return starts[:0]
    undirected = hop.side is Side.BOTH
    if lower == 0 or (lower == 1 and not undirected):
        return kernels.bfs_nodes(hop, starts, upper, mark_starts=lower == 0, check=check)
    starts = distinct(starts)
    if lower > 1 or (hop.relationship_mask is not None and not hop.symmetric_mask):
        return distinct(_reach(kernels, hop, starts, lower, upper, None, check).nodes)
    together = np.zeros(len(starts), dtype=np.int64)
    # With the starts marked, they come first and the other ends follow.
    away = kernels.bfs_nodes(hop, starts, upper, mark_starts=True, check=check)[len(starts) :]
    closed = kernels.closing_lengths(hop, together, starts, upper, check=check)
    return np.concatenate((away, starts[_may_enter(hop, starts, closed > 0)]))


def settled_search(hop: Hop, lower: int, upper: int | None, *, backend: BackendName = "auto") -> SettledSearch | None:
    """`reach_merged` from nodes, with everything looked up that depends on the hop alone; None if there is no such
    thing, or not yet."""
    if lower > 1 or (lower == 1 and hop.side is Side.BOTH) or (upper is not None and upper < lower):
        return None
    return backend_named(backend).settled_search(hop, upper, mark_starts=lower == 0)


def levels(
    hop: Hop, sources: Positions, upper: int | None, *, check: Check = unchecked, backend: BackendName = "auto"
) -> Levels:
    """The distance from the nearest source of every node within `upper` relationships; sources are at 0."""
    starts = sources[sources >= 0]
    if not len(starts):
        return Levels(starts, starts)
    together = np.zeros(len(starts), dtype=np.int64)
    found = backend_named(backend).bfs_levels(hop, together, starts, upper, mark_starts=True, check=check)
    return Levels(found.nodes, found.level)
