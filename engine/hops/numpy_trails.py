"""Trails in plain NumPy: sources go in, batches of trails come out, in bounded memory.

A depth-first search over blocks. A block holds trails of the same length,

    row            int64[p]      which source
    relationships  int64[p, d]
    nodes          int64[p, d]   the node after each relationship

and is extended a bounded piece at a time; each piece is finished before the next is begun, so that only as many pieces
are alive as a trail is long. Pieces start small, so that the first trails come at once, and grow.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hoplite.engine.hops.expansion import Piece, Segments, chunked, degrees_by_segments, gather
from hoplite.engine.hops.interface import (
    UNLIMITED,
    Booleans,
    Check,
    Excluded,
    Guide,
    Hop,
    Positions,
    TrailBatch,
    TrailQuota,
)
from hoplite.lazy_dataclass import dataclass

_FIRST_PIECE = 64
_LARGEST_PIECE = 1 << 15
# About how many relationships all living blocks hold together.
_HELD = 1 << 22
_MOST_ROWS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    row: Positions
    relationships: Positions
    nodes: Positions
    last: Positions

    @property
    def depth(self) -> int:
        return int(self.relationships.shape[1])


class _TooMany(Exception):
    """Rows searched together have more trails than may be held back."""


def enumerate_trails(
    hop: Hop,
    sources: Positions,
    lower: int,
    upper: int | None,
    guide: Guide | None,
    excluded: Excluded | None,
    quota: TrailQuota | None,
    chunk: int,
    check: Check,
) -> Iterator[TrailBatch]:
    """All trails of lower .. upper relationships from each source, rows ascending.

    Rows are searched together as long as they have few trails, which are held back and sorted. If they become too many,
    they are dropped and the rows are searched one by one.
    """
    rows = np.flatnonzero(sources >= 0)
    first, width, wanted = 0, 1, _FIRST_PIECE
    alone_until = 0
    while first < len(rows):
        width = 1 if first < alone_until else width
        together = rows[first : first + width]
        beyond = None if quota is None else quota.beyond
        search = _blocks(hop, together, sources, lower, upper, guide, excluded, beyond, check)
        if len(together) == 1:
            held: list[TrailBatch] = []
            size = 0
            for block in search:
                batch = _batch(block)
                if quota is not None:
                    batch = _rationed(batch, quota.left)
                held.append(batch)
                size += len(batch.row) * (block.depth + 1)
                if quota is not None and quota.left[together[0]] <= 0:
                    break
                if size >= wanted:
                    yield concatenated(held)
                    held, size, wanted = [], 0, min(2 * wanted, chunk)
            if held:
                yield concatenated(held)
            few = size < chunk
        else:
            try:
                held = _held(search, 4 * chunk)
            except _TooMany:
                alone_until = first + width
                width = 1
                continue
            if held:
                batch = by_row(concatenated(held))
                yield batch if quota is None else _rationed(batch, quota.left)
            few = sum(len(batch.relationships) for batch in held) < chunk
        first += len(together)
        width = min(2 * width, _MOST_ROWS) if few else max(width // 2, 1)


def _held(search: Iterator[_Block], most: int) -> list[TrailBatch]:
    held: list[TrailBatch] = []
    size = 0
    for block in search:
        size += len(block.row) * (block.depth + 1)
        if size > most:
            raise _TooMany
        held.append(_batch(block))
    return held


def _blocks(
    hop: Hop,
    rows: Positions,
    sources: Positions,
    lower: int,
    upper: int | None,
    guide: Guide | None,
    excluded: Excluded | None,
    beyond: Positions | None,
    check: Check,
    piece: int = _FIRST_PIECE,
) -> Iterator[_Block]:
    """Blocks of finished trails, in search order. `beyond` records what the upper bound cut off; `piece` is how many
    steps are taken at once at first."""
    limit = UNLIMITED if upper is None else upper
    none = np.zeros((len(rows), 0), dtype=np.int64)
    start = _Block(rows, none, none, sources[rows])
    if guide is not None:
        remaining: Positions | None = guide.remaining(start.row, start.last)
        assert remaining is not None
        if beyond is not None:
            _note_cut(beyond, start, remaining, limit)
        start = _filtered(start, remaining <= limit)
    if lower == 0:
        accepted = start if guide is None else _filtered(start, guide.remaining(start.row, start.last) == 0)
        if len(accepted.row):
            yield accepted
    if upper == 0:
        if beyond is not None:
            np.minimum.at(beyond, start.row, 1)
        return
    pending: list[tuple[_Block, Iterator[Piece]]] = [(start, chunked(hop, start.last, piece))]
    while pending:
        block, pieces = pending[-1]
        part = next(pieces, None)
        if part is None:
            pending.pop()
            continue
        check()
        extended, remaining = _extended(hop, block, part.segments, guide, excluded)
        depth = extended.depth
        if remaining is not None:
            if beyond is not None:
                _note_cut(beyond, extended, remaining, limit)
            fits = remaining <= limit - depth
            extended, remaining = _filtered(extended, fits), remaining[fits]
        if not len(extended.row):
            continue
        if depth >= lower:
            accepted = extended if remaining is None else _filtered(extended, remaining == 0)
            if len(accepted.row):
                yield accepted
        if depth < limit:
            piece = min(2 * piece, _LARGEST_PIECE)
            size = max(min(piece, _HELD // (depth * depth)), 16)
            pending.append((extended, chunked(hop, extended.last, size)))


def _extended(
    hop: Hop, block: _Block, segments: list[Segments], guide: Guide | None, excluded: Excluded | None
) -> tuple[_Block, Positions | None]:
    """The trails of a block, each extended by one unused relationship, and how far they have to go."""
    steps = gather(hop, block.last, segments)
    parent, relationship, node = steps
    fresh = np.ones(len(parent), dtype=np.bool_)
    if block.depth <= 8:
        for column in range(block.depth):
            fresh &= block.relationships[parent, column] != relationship
    else:
        fresh &= (block.relationships[parent] != relationship[:, None]).all(axis=1)
    if excluded is not None:
        fresh &= ~excluded.contains(block.row[parent], relationship)
    parent, relationship, node = parent[fresh], relationship[fresh], node[fresh]
    row = block.row[parent]
    remaining = None if guide is None else guide.remaining(row, node)
    relationships = np.concatenate((block.relationships[parent], relationship[:, None]), axis=1)
    nodes = np.concatenate((block.nodes[parent], node[:, None]), axis=1)
    return _Block(row, relationships, nodes, node), remaining


def _note_cut(beyond: Positions, block: _Block, remaining: Positions, limit: int) -> None:
    """Record the least possible length of trails of a block that the limit cuts off."""
    least = block.depth + remaining
    if block.depth == limit:
        least = np.maximum(least, limit + 1)
    cut = least > limit
    np.minimum.at(beyond, block.row[cut], least[cut])


def _rationed(batch: TrailBatch, left: Positions) -> TrailBatch:
    """The trails that are within their rows' quotas; rows ascend."""
    place = np.arange(len(batch.row)) - np.searchsorted(batch.row, batch.row)
    kept = place < left[batch.row]
    np.subtract.at(left, batch.row[kept], 1)
    return batch if kept.all() else picked(batch, np.flatnonzero(kept))


def _filtered(block: _Block, keep: Booleans) -> _Block:
    if keep.all():
        return block
    return _Block(block.row[keep], block.relationships[keep], block.nodes[keep], block.last[keep])


def _batch(block: _Block) -> TrailBatch:
    offsets = np.arange(len(block.row) + 1, dtype=np.int64) * block.depth
    return TrailBatch(block.row, offsets, block.relationships.reshape(-1), block.nodes.reshape(-1))


def concatenated(batches: list[TrailBatch]) -> TrailBatch:
    """The batches joined into one, in order."""
    if len(batches) == 1:
        return batches[0]
    lengths = np.concatenate([np.diff(batch.offsets) for batch in batches])
    return TrailBatch(
        np.concatenate([batch.row for batch in batches]),
        np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths))),
        np.concatenate([batch.relationships for batch in batches]),
        np.concatenate([batch.nodes for batch in batches]),
    )


def by_row(batch: TrailBatch) -> TrailBatch:
    """The same trails by ascending row."""
    return picked(batch, np.argsort(batch.row, kind="stable"))


def picked(batch: TrailBatch, numbers: Positions) -> TrailBatch:
    """The trails at these indexes, in this order."""
    lengths = np.diff(batch.offsets)[numbers]
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
    entries = np.arange(offsets[-1], dtype=np.int64) + np.repeat(batch.offsets[:-1][numbers] - offsets[:-1], lengths)
    return TrailBatch(batch.row[numbers], offsets, batch.relationships[entries], batch.nodes[entries])


def turned_round(batch: TrailBatch, starts: Positions) -> TrailBatch:
    """The trails reversed: trail i, which led from starts[i], now leads to it."""
    lengths = np.diff(batch.offsets)
    before = np.empty_like(batch.nodes)
    before[1:] = batch.nodes[:-1]
    some = lengths > 0
    before[batch.offsets[:-1][some]] = starts[some]
    mirrored = np.repeat(batch.offsets[:-1] + batch.offsets[1:] - 1, lengths) - np.arange(len(before), dtype=np.int64)
    return TrailBatch(batch.row, batch.offsets, batch.relationships[mirrored], before[mirrored])


def count_trails(
    hop: Hop, sources: Positions, lower: int, upper: int | None, excluded: Excluded | None, check: Check
) -> Positions:
    """How many trails there are from each source.

    The last step of a trail need not be made: a trail of upper - 1 relationships can be extended by as many as lead
    from its end, less those it has used itself. In a directed hop, these are the ones by which it left that node
    before.
    """
    counts = np.zeros(len(sources), dtype=np.int64)
    rows = np.flatnonzero(sources >= 0)
    by_degree = upper is not None and upper >= 1 and excluded is None and _has_cheap_degrees(hop)
    deepest = upper - 1 if by_degree and upper is not None else upper
    if deepest is not None and deepest < 0:
        return counts
    shortest = lower if not by_degree or deepest is None else min(lower, deepest)
    for first in range(0, len(rows), _MOST_ROWS):
        together = rows[first : first + _MOST_ROWS]
        low, high = int(together[0]), int(together[-1]) + 1
        # Nobody waits for the first trail.
        search = _blocks(hop, together, sources, shortest, deepest, None, excluded, None, check, piece=_LARGEST_PIECE)
        for block in search:
            if block.depth >= lower:
                counts[low:high] += np.bincount(block.row - low, minlength=high - low)
            if by_degree and block.depth == deepest:
                last_steps = degrees_by_segments(hop, block.last)
                assert last_steps is not None
                last_steps -= _departures(block, sources)
                np.add.at(counts, block.row, last_steps)
    return counts


def _has_cheap_degrees(hop: Hop) -> bool:
    return degrees_by_segments(hop, np.zeros(0, dtype=np.int64)) is not None


def _departures(block: _Block, sources: Positions) -> Positions:
    """How often each trail has already left its last node."""
    if block.depth == 0:
        return np.zeros(len(block.row), dtype=np.int64)
    times: Positions = (block.nodes[:, :-1] == block.last[:, None]).sum(axis=1)
    times += sources[block.row] == block.last
    return times
