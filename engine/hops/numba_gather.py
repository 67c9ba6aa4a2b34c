"""One hop over partitions and a delta, compiled: segments go in, steps come out by ascending row.

The segments of a hop (`expansion.py`) are read one partition after another, so that a graph on disk needs only one of
them in memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hoplite.engine.hops.compiled import Flags, Ints, kernel
from hoplite.engine.hops.expansion import Segments, allowed_steps
from hoplite.engine.hops.interface import Hop, Positions, Steps
from hoplite.engine.hops.numba_arrays import NO_FLAGS, as_compiled, flags_of, incidence_arrays
from hoplite.engine.hops.numba_kernels import IncidenceArrays, is_among
from hoplite.storage.value_index import NO_POSITIONS


def gather_compiled(hop: Hop, nodes: Positions, found: Sequence[Segments]) -> Steps:
    """As `expansion.gather`, for positions that fit 32 bits."""
    nodes = as_compiled(nodes)
    room = np.zeros(len(nodes), dtype=np.int64)
    for segments in found:
        np.add.at(room, segments.row, segments.count)
    ends = np.cumsum(room)
    # Where the next step of each row is written.
    place = ends - room
    relationships, neighbours = np.empty((2, int(room.sum())), dtype=np.int64)
    for segments in found:
        if len(segments.row):
            removed = segments.adjacency.removed
            read_segments(
                incidence_arrays(segments.incidence),
                NO_FLAGS if hop.types is None or segments.types_done else flags_of(hop),
                NO_POSITIONS if removed is None else as_compiled(removed),
                nodes,
                np.ascontiguousarray(segments.row, dtype=np.int64),
                np.ascontiguousarray(segments.start, dtype=np.int64),
                np.ascontiguousarray(segments.count, dtype=np.int64),
                segments.drop_loops,
                place,
                relationships,
                neighbours,
            )
    begins = ends - room
    counts = place - begins
    filled = close_up(begins, counts, relationships, neighbours)
    row = np.repeat(np.arange(len(nodes), dtype=np.int64), counts)
    return allowed_steps(hop, nodes, Steps(row, relationships[:filled], neighbours[:filled]))


@kernel
def read_segments(
    side: IncidenceArrays,
    flags: Flags,
    removed: Ints,
    nodes: Ints,
    rows: Ints,
    start: Ints,
    count: Ints,
    drop_loops: bool,
    place: Ints,
    found: Ints,
    neighbours_found: Ints,
) -> None:
    """Write the allowed entries among start .. start + count of each segment to the place of its row."""
    _, neighbours, types, relationships, first = side
    for number in range(len(rows)):
        row = rows[number]
        node, at = nodes[row], place[row]
        for entry in range(start[number], start[number] + count[number]):
            if len(flags) > 0 and not flags[min(types[entry], len(flags) - 1)]:
                continue
            neighbour = neighbours[entry]
            if drop_loops and neighbour == node:
                continue
            relationship = relationships[entry] if len(relationships) else first[0] + entry
            if is_among(removed, relationship):
                continue
            found[at] = relationship
            neighbours_found[at] = neighbour
            at += 1
        place[row] = at


@kernel
def close_up(begins: Ints, counts: Ints, relationships: Ints, neighbours: Ints) -> int:
    """Close the gaps between the steps of rows; returns how many there are."""
    filled = 0
    for row in range(len(begins)):
        first = begins[row]
        if first != filled:
            for step in range(counts[row]):
                relationships[filled + step] = relationships[first + step]
                neighbours[filled + step] = neighbours[first + step]
        filled += counts[row]
    return filled
