"""Pairs of a row and a node in plain NumPy: a pair is one number, and equal ones are found by sorting."""

from __future__ import annotations

import numpy as np

from hoplite.engine import grouping
from hoplite.engine.hops.expansion import chunked, gather
from hoplite.engine.hops.interface import Check, Counts, Hop, Neighbourhoods, Positions, unchecked

_PIECE = 1 << 18  # steps looked at between two calls of a check
_FITS_32_BITS = 1 << 31
_MARKED_SHARE = 8  # up to this many nodes of the graph for each one found, distinct ones are marked rather than sorted


def neighbourhoods(
    hop: Hop, offsets: Positions, sources: Positions, most: int, check: Check = unchecked
) -> Neighbourhoods | None:
    """The distinct neighbours of the sources of each group."""
    groups = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    found: list[Positions] = []
    for piece in chunked(hop, sources, _PIECE):
        check()
        steps = gather(hop, sources, piece.segments, False)
        found.append(grouping.distinct(groups[steps.row] * hop.node_count + steps.neighbours))
        most -= len(found[-1])
        if most < 0:
            return None
    if not found:
        return Neighbourhoods(np.zeros(len(offsets), dtype=np.int64), sources[:0], sources[:0])
    pairs = found[0] if len(found) == 1 else grouping.distinct(np.concatenate(found))
    group, nodes = np.divmod(pairs, hop.node_count)
    return Neighbourhoods(np.searchsorted(group, np.arange(len(offsets))), nodes, _different(nodes, hop.node_count))


def _different(nodes: Positions, node_count: int) -> Positions:
    if len(nodes) * _MARKED_SHARE < node_count:
        return grouping.distinct(nodes)
    marked = np.zeros(node_count, np.bool_)
    marked[nodes] = True
    return np.flatnonzero(marked)


def count_pairs(
    pairs: Neighbourhoods, row_numbers: Positions, node_numbers: Positions, counts: Counts, *, by_rows: bool
) -> Positions:
    """The distinct pairs of numbers, counted by one of the two."""
    left = np.repeat(row_numbers, np.diff(pairs.offsets))
    right = node_numbers[pairs.nodes]
    kept = (left >= 0) & (right >= 0)
    if not kept.all():
        left, right = left[kept], right[kept]
    row_count, width = counts
    codes = left * width + right
    if row_count * width <= _FITS_32_BITS:
        codes = grouping.distinct(codes.astype(np.int32)).astype(np.int64)  # half the bytes, half the time
    else:
        codes = grouping.distinct(codes)
    return np.bincount(codes // width, minlength=row_count) if by_rows else np.bincount(codes % width, minlength=width)
