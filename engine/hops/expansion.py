"""One hop in plain NumPy, over any adjacency: nodes go in, the steps from them come out.

A node's entries are found as segments of the arrays, one for each partition, delta and side that has any:

    row    int64[s]   which of the given nodes, ascending
    start  int64[s]   its entries are start .. start + count of the incidence
    count  int64[s]

Segments are cheap to find (no entry is read), so they serve to count, to split up work, and to gather.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.grouping import distinct
from hoplite.engine.hops.interface import Booleans, Hop, Positions, Side, Steps
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.incidence import Adjacency, Incidence

# Below this many entries, looking at the type of each is cheaper than searching for where a type begins.
_NARROW_AT = 4096
_DELTA = -1
_NOTHING: Positions = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Where the entries of some nodes are in one partition of an adjacency, or in its delta. The arrays are fetched
    when they are read, so that a wide hop does not hold all partitions of a graph on disk at once."""

    adjacency: Adjacency
    partition: int
    row: Positions
    start: Positions
    count: Positions
    drop_loops: bool
    types_done: bool = False

    @property
    def incidence(self) -> Incidence:
        """The arrays."""
        adjacency = self.adjacency
        if self.partition == _DELTA:
            assert adjacency.delta is not None
            return adjacency.delta
        return adjacency.partitions[self.partition]


def segments_of(hop: Hop, nodes: Positions) -> list[Segments]:
    """All segments of the nodes for one hop. A self-loop is on both sides of a node: the second side drops it."""
    found: list[Segments] = []
    for number, adjacency in enumerate(hop.sides):
        for partition, incidence, row, place in _places(adjacency, nodes):
            start = incidence.indptr[place]
            count = incidence.indptr[place + 1] - start
            segments = Segments(adjacency, partition, row, start, count, drop_loops=number == 1)
            found.append(segments if hop.types is None else _narrowed(segments, hop.types, place))
    return found


def _places(adjacency: Adjacency, nodes: Positions) -> Iterator[tuple[int, Incidence, Positions, Positions]]:
    """(partition, its arrays, indexes into nodes, rows of the partition) wherever any of the nodes has entries."""
    if adjacency.partition_of is None:
        for number, incidence in enumerate(adjacency.partitions):
            index = np.flatnonzero((nodes >= 0) & (nodes < len(incidence.indptr) - 1))
            yield number, incidence, index, nodes[index]
    else:
        assert adjacency.row_of is not None
        known = np.flatnonzero((nodes >= 0) & (nodes < len(adjacency.partition_of)))
        partition = adjacency.partition_of[nodes[known]]
        for number in distinct(partition).tolist():
            if number >= 0:
                incidence = adjacency.partitions[number]
                index = known[partition == number]
                place = adjacency.row_of[nodes[index]].astype(np.int64)
                covered = (place >= 0) & (place < len(incidence.indptr) - 1)
                yield number, incidence, index[covered], place[covered]
    if adjacency.delta is not None and adjacency.delta_rows is not None and len(adjacency.delta_rows):
        place = np.searchsorted(adjacency.delta_rows, nodes)
        index = np.flatnonzero(adjacency.delta_rows[np.minimum(place, len(adjacency.delta_rows) - 1)] == nodes)
        yield _DELTA, adjacency.delta, index, place[index]


def _narrowed(segments: Segments, types: NDArray[np.int32], place: Positions) -> Segments:
    """The parts of the segments with one of the types: types ascend within a row, so each type is a range.

    Stored ranges are looked up; otherwise, ranges within large segments are found by search. `place` holds the rows.
    """
    if len(types) == 1:
        incidence = segments.incidence
        known = incidence.ranges.of(int(types[0]), incidence.indptr, incidence.types, len(place))
        if known is not None:
            start, count = known[0][place], known[1][place]
            return replace(segments, start=start, count=count, types_done=True)
    entries = int(segments.count.sum())
    if entries < _NARROW_AT or entries < 16 * len(segments.count) * len(types):
        return segments
    wanted = distinct(types)
    start = np.empty((len(segments.row), len(wanted)), dtype=np.int64)
    end = np.empty_like(start)
    stop = segments.start + segments.count
    held = segments.incidence.types
    for column, code in enumerate(wanted):
        start[:, column] = _first_at_least(held, segments.start, stop, int(code))
        end[:, column] = _first_at_least(held, segments.start, stop, int(code) + 1)
    row = np.repeat(segments.row, len(wanted))
    return Segments(
        segments.adjacency,
        segments.partition,
        row,
        start.reshape(-1),
        (end - start).reshape(-1),
        segments.drop_loops,
        types_done=True,
    )


def _first_at_least(values: NDArray[np.int32], start: Positions, stop: Positions, wanted: int) -> Positions:
    """For each range start .. stop of ascending values, the first place with a value of at least `wanted`, or stop."""
    low, high = start.copy(), stop.copy()
    while True:
        searching = low < high
        if not searching.any():
            return low
        middle = (low + high) // 2
        below = searching & (values[np.where(searching, middle, 0)] < wanted)
        low = np.where(below, middle + 1, low)
        high = np.where(searching & ~below, middle, high)


def gather(hop: Hop, nodes: Positions, found: Sequence[Segments], relationships_used: bool = True) -> Steps:
    """The steps in the given segments that the hop allows, by ascending row. Without `relationships_used`,
    relationships may be omitted."""
    relationships_used = relationships_used or hop.has_mask or any(s.adjacency.removed is not None for s in found)
    pieces = [_gather_one(hop, nodes, segments, relationships_used) for segments in found if len(segments.row)]
    if not pieces:
        none = np.zeros(0, dtype=np.int64)
        return Steps(none, none, none)
    row, relationships, neighbours = pieces[0]
    if len(pieces) > 1:
        row, relationships, neighbours = (np.concatenate(columns) for columns in zip(*pieces, strict=True))
        order = np.argsort(row, kind="stable")
        row, neighbours = row[order], neighbours[order]
        if relationships_used:
            relationships = relationships[order]
    return allowed_steps(hop, nodes, Steps(row, relationships, neighbours))


def allowed_steps(hop: Hop, nodes: Positions, steps: Steps) -> Steps:
    """The steps from the nodes that the hop's masks allow."""
    row, relationships, neighbours = steps
    if hop.relationship_mask is not None and len(row):
        kept = hop.relationship_mask(relationships, nodes[row], neighbours)
        row, relationships, neighbours = row[kept], relationships[kept], neighbours[kept]
    if hop.node_mask is not None and len(row):
        kept = hop.node_mask(neighbours)
        row, relationships, neighbours = row[kept], relationships[kept], neighbours[kept]
    return Steps(row, relationships, neighbours)


def _gather_one(
    hop: Hop, nodes: Positions, segments: Segments, relationships_used: bool = True
) -> tuple[Positions, Positions, Positions]:
    """The steps of one incidence, before masks."""
    incidence = segments.incidence
    entries = concatenated_ranges(segments.start, segments.count)
    row = np.repeat(segments.row, segments.count)
    if hop.types is not None and not segments.types_done:
        kept = is_among(incidence.types[entries], hop.types)
        entries, row = entries[kept], row[kept]
    neighbours = incidence.neighbours[entries].astype(np.int64, copy=False)
    if segments.drop_loops:
        kept = neighbours != nodes[row]
        entries, row, neighbours = entries[kept], row[kept], neighbours[kept]
    if not relationships_used:
        return row, _NOTHING, neighbours
    if incidence.relationships is None:
        relationships = entries + incidence.first_relationship
    else:
        relationships = incidence.relationships[entries]
    removed = segments.adjacency.removed
    if removed is not None and len(removed):
        kept = ~in_sorted(relationships, removed)
        row, relationships, neighbours = row[kept], relationships[kept], neighbours[kept]
    return row, relationships, neighbours


def concatenated_ranges(start: Positions, count: Positions) -> Positions:
    """start[0] .. start[0] + count[0], then start[1] .. start[1] + count[1], and so on."""
    if len(start) == 1:
        return np.arange(start[0], start[0] + count[0], dtype=np.int64)
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int64) + np.repeat(start - ends + count, count)


def is_among(codes: NDArray[np.int32], wanted: NDArray[np.int32]) -> Booleans:
    """Which of the type codes are wanted."""
    if len(wanted) == 1:
        same: Booleans = codes == wanted[0]
        return same
    flags = type_flags(wanted)
    return flags[np.minimum(codes, len(flags) - 1)]


def type_flags(wanted: NDArray[np.int32]) -> Booleans:
    """A table by type code; its last entry is False and stands for every larger code."""
    flags = np.zeros(int(wanted.max(initial=0)) + 2, dtype=np.bool_)
    flags[wanted[wanted >= 0]] = True
    return flags


def in_sorted(values: Positions, ordered: Positions) -> Booleans:
    """Which of the values are in a sorted array."""
    if not len(ordered):
        return np.zeros(len(values), dtype=np.bool_)
    place = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    found: Booleans = ordered[place] == values
    return found


def breadth(hop: Hop, nodes: Positions) -> int:
    """An upper bound on the number of steps from the nodes, without reading any entries."""
    return sum(int(segments.count.sum()) for segments in segments_of(hop, nodes))


def is_wide(hop: Hop, nodes: Positions, share: int) -> bool:
    """Whether some nodes have at least one in `share` of the entries that there are, of whatever type."""
    if hop.has_mask:
        return False
    every = sum(side.entry_count for side in hop.sides)
    if not hop.is_plain:
        return breadth(hop, nodes) * share >= every > 0
    around = 0
    for side in hop.sides:
        indptr = side.partitions[0].indptr
        around += int((indptr[nodes + 1] - indptr[nodes]).sum(dtype=np.int64))
    return around * share >= every > 0


def degrees_by_segments(hop: Hop, nodes: Positions) -> Positions | None:
    """The number of steps from each node if the segments alone tell; None if entries must be read."""
    if hop.side is Side.BOTH or hop.has_mask or any(side.removed is not None for side in hop.sides):
        return None
    counts = np.zeros(len(nodes), dtype=np.int64)
    for segments in segments_of(hop, nodes):
        if hop.types is None or segments.types_done:
            np.add.at(counts, segments.row, segments.count)
        else:
            row, _, _ = _gather_one(hop, nodes, segments)
            counts += np.bincount(row, minlength=len(nodes))
    return counts


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """The segments of the nodes first .. last; for a hub, possibly only some of them."""

    first: int
    last: int
    segments: list[Segments]
    is_whole: bool

    @property
    def is_narrow(self) -> bool:
        """Whether the segments hold only entries of the types followed, so that every entry read counts."""
        return all(segments.types_done for segments in self.segments)


def chunked(hop: Hop, nodes: Positions, limit: int) -> Iterator[Piece]:
    """The segments of the nodes in pieces of at most `limit` entries, by ascending row; even a hub is split."""
    found = segments_of(hop, nodes)
    total = sum(int(segments.count.sum()) for segments in found)
    if total <= limit:
        if total:
            yield Piece(0, len(nodes), found, is_whole=True)
        return
    per_row = np.zeros(len(nodes), dtype=np.int64)
    for segments in found:
        np.add.at(per_row, segments.row, segments.count)
    ends = np.cumsum(per_row)
    first = 0
    while first < len(nodes):
        before = int(ends[first - 1]) if first else 0
        last = int(np.searchsorted(ends, before + limit, side="right"))
        if last > first:
            if ends[last - 1] > before:
                parts = [_between(segments, first, last) for segments in found]
                yield Piece(first, last, parts, is_whole=True)
        else:
            last = first + 1
            for segments in found:
                for part in _cut(_between(segments, first, last), limit):
                    yield Piece(first, last, [part], is_whole=False)
        first = last


def _between(segments: Segments, first: int, last: int) -> Segments:
    """The segments of rows first .. last."""
    low, high = np.searchsorted(segments.row, (first, last))
    return _slice(segments, segments.row[low:high], segments.start[low:high], segments.count[low:high])


def _cut(hub: Segments, limit: int) -> Iterator[Segments]:
    """The segments of one row, in pieces of at most `limit` entries."""
    for number in range(len(hub.row)):
        start, count = int(hub.start[number]), int(hub.count[number])
        for offset in range(0, count, limit):
            size = np.array([min(limit, count - offset)], dtype=np.int64)
            yield _slice(hub, hub.row[number : number + 1], np.array([start + offset], dtype=np.int64), size)


def _slice(segments: Segments, row: Positions, start: Positions, count: Positions) -> Segments:
    return Segments(segments.adjacency, segments.partition, row, start, count, segments.drop_loops, segments.types_done)
