"""The entries of a hop, stored once per version of the graph: those of a node in order of their neighbours, so that
pairs of nodes are looked up instead of searched for; and sums over the neighbours of all nodes. The entries of a graph
on disk are in its cache, and count towards the budget.

    begins         int32[nodes + 1]   node v has the entries begins[v] .. begins[v + 1]
    neighbours     int32[entries]     ascending for each node
    relationships  int32[entries]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops.compiled import Flags, Int32s, Ints, inlined, kernel
from hoplite.engine.hops.exact_sums import LARGEST
from hoplite.engine.hops.expansion import chunked
from hoplite.engine.hops.interface import Check, Hop, Positions, Side
from hoplite.engine.hops.numba_arrays import plain_arrays
from hoplite.engine.hops.numba_gather import gather_compiled
from hoplite.engine.hops.numba_kernels import IncidenceArrays, Plain
from hoplite.engine.hops.threads import Worker, share
from hoplite.engine.memory import has_room
from hoplite.storage.disk.cache import Place

_PREPARED = "relation"
_WORTH, _WORTH_PLAIN = 8, 64  # stored after one partial match for this many nodes, or nodes and entries
_LARGEST, _MOST_ENTRIES = 1 << 24, 1 << 30  # nodes and entries; beyond that, memory would be short
_MOST_FROM_DISK = 1 << 26  # bytes: with what was written since, entries are not in the cache
_GATHERED = 5  # times their memory is in use while entries of several partitions are gathered and sorted
_PIECE = 1 << 20  # entries read at once
_NODES = 1 << 17  # nodes that one thread takes at a time


class Relation(NamedTuple):
    """The entries of a hop."""

    begins: Int32s
    neighbours: Int32s
    relationships: Int32s


def _place_of(hop: Hop) -> Place | None:
    """Where the entries of a graph on disk are held. None for a graph in memory, and for one with changes that are not
    in its partitions yet: entries are then kept with the hop."""
    if not _lasts(hop):
        return None
    types = None if hop.types is None else hop.types.tobytes()
    return hop.sides[0].place_for(_PREPARED, hop.side, types, hop.node_count)


def _lasts(hop: Hop) -> bool:
    """Whether nothing is above the partitions: otherwise they will soon be others."""
    return all(side.delta is None and side.removed is None for side in hop.sides)


def known_relation(hop: Hop) -> Relation | None:
    """The entries, if they are already stored."""
    known = hop.prepared.get(_PREPARED)
    if isinstance(known, Relation):
        return known
    place = _place_of(hop)
    held: Relation | None = None if place is None else place.held()
    if held is not None:
        hop.prepared[_PREPARED] = held
    return held


def _stored(hop: Hop, check: Check) -> Relation:
    """The entries, which are now written down."""
    place = _place_of(hop)

    def load() -> tuple[Relation, int]:
        made = written(hop, check)
        return made, sum(array.nbytes for array in made)

    relation = load()[0] if place is None else place.get(load)
    hop.prepared[_PREPARED] = relation
    return relation


def relation_of(hop: Hop, check: Check) -> Relation | None:
    """The entries; None if there are too many, or if storing them does not pay."""
    known = known_relation(hop)
    return _stored(hop, check) if known is None and is_worth_writing(hop) else known


def wide_relation_of(hop: Hop, check: Check) -> Relation | None:
    """The entries, for work over most of them, which makes storing them pay at once; above partitions that will soon be
    others, it does not."""
    known = known_relation(hop)
    return _stored(hop, check) if known is None and _lasts(hop) and _can_be_written(hop) else known


def note_work(hop: Hop, amount: int) -> None:
    """Record partial matches followed without stored entries: from some number on, storing them pays."""
    known = hop.prepared.get(_PREPARED, 0)
    if isinstance(known, int):
        hop.prepared[_PREPARED] = known + amount


def is_worth_writing(hop: Hop) -> bool:
    """Whether enough work was recorded, or they are already stored."""
    known = hop.prepared.get(_PREPARED, 0)
    if not isinstance(known, int):
        return True
    if hop.is_plain:
        is_worth_it = known * _WORTH_PLAIN >= hop.node_count + _entry_count(hop)
    else:
        is_worth_it = known * _WORTH >= hop.node_count
    return is_worth_it and _can_be_written(hop)


def from_far_end(hop: Hop) -> Hop:
    """The hop from its far end, the same one each time."""
    if hop.side is Side.BOTH:
        return hop
    other = hop.prepared.setdefault("turned", hop.turned())
    assert isinstance(other, Hop)
    return other


def _entry_count(hop: Hop) -> int:
    """An upper bound on the number of entries."""
    return sum(side.entry_count for side in hop.sides)


def _can_be_written(hop: Hop) -> bool:
    """Whether the hop has no masks, and the graph is not too large: one on disk may be larger than memory."""
    if hop.has_mask or hop.node_count > _LARGEST:
        return False
    entries = _entry_count(hop)
    size = 4 * hop.node_count + 8 * entries
    place = _place_of(hop)
    if place is not None:
        fits = place.cache.fits(size)
    else:
        fits = size <= _MOST_FROM_DISK or all(isinstance(side.partitions, tuple) for side in hop.sides)
    return fits and entries < _MOST_ENTRIES and has_room(size if hop.is_plain else _GATHERED * size)


def written(hop: Hop, check: Check) -> Relation:
    """The entries of a hop."""
    arrays = plain_arrays(hop)
    return _gathered(hop, check) if arrays is None else _copied(arrays, hop.node_count, check)


def _copied(arrays: Plain, node_count: int, check: Check) -> Relation:
    begins = np.zeros(node_count + 1, np.int32)

    def count(number: int, _: Check) -> None:
        count_entries(arrays, begins, number * _NODES, min((number + 1) * _NODES, node_count))

    def write(number: int, _: Check) -> None:
        write_entries(
            arrays, begins, neighbours, relationships, number * _NODES, min((number + 1) * _NODES, node_count)
        )

    _for_all_nodes(node_count, count, check)
    np.cumsum(begins, out=begins)
    neighbours, relationships = np.empty(int(begins[-1]), np.int32), np.empty(int(begins[-1]), np.int32)
    _for_all_nodes(node_count, write, check)
    return Relation(begins, neighbours, relationships)


def _for_all_nodes(node_count: int, worker: Worker, check: Check) -> None:
    share(-(-node_count // _NODES), lambda: worker, check)


def _gathered(hop: Hop, check: Check) -> Relation:
    """The same over partitions and a delta."""
    nodes = np.arange(hop.node_count, dtype=np.int64)
    keys, relationships = [nodes[:0]], [np.zeros(0, np.int32)]
    for piece in chunked(hop, nodes, _PIECE):
        check()
        steps = gather_compiled(hop, nodes, piece.segments)
        keys.append(steps.row * hop.node_count + steps.neighbours)
        relationships.append(steps.relationships.astype(np.int32))
    key, relationship = np.concatenate(keys), np.concatenate(relationships)
    if (key[1:] < key[:-1]).any():
        order = np.argsort(key, kind="stable")  # fast for what consists of sorted pieces
        key, relationship = key[order], relationship[order]
    node, neighbour = np.divmod(key, hop.node_count)
    begins = np.zeros(hop.node_count + 1, np.int32)
    np.cumsum(np.bincount(node, minlength=hop.node_count), out=begins[1:])
    return Relation(begins, neighbour.astype(np.int32), relationship)


def sums_for_all(hop: Hop, weights: NDArray[np.int64] | None, check: Check) -> Positions | None:
    """For each node, the sum of its neighbours' weights, or without weights their number; parallel relationships count.
    None if sums might not fit, or if the entries are not available."""
    relation = wide_relation_of(hop, check)
    if relation is None:
        return None
    if weights is None:
        return np.diff(relation.begins).astype(np.int64)
    if int(weights.max(initial=0)) * len(relation.neighbours) >= LARGEST:
        return None
    sums = np.empty(hop.node_count, np.int64)

    def add(number: int, _: Check) -> None:
        add_weights(*relation[:2], weights, sums, number * _NODES, min((number + 1) * _NODES, hop.node_count))

    _for_all_nodes(hop.node_count, add, check)
    return sums


@kernel
def add_weights(begins: Int32s, neighbours: Int32s, weights: Ints, sums: Ints, first: int, last: int) -> None:
    """The sums of weights for some nodes."""
    for node in range(first, last):
        found = 0
        for entry in range(begins[node], begins[node + 1]):
            found += weights[neighbours[entry]]
        sums[node] = found


@inlined
def _next_kept(side: IncidenceArrays, flags: Flags, at: int, end: int, dropped: int) -> int:
    """The first entry from `at` on whose type is allowed and whose neighbour is not the dropped one."""
    _, neighbours, types, _, _ = side
    beyond = len(flags) - 1
    while at < end:
        if len(flags) > 0:
            if types[at] >= beyond:  # types ascend
                return end
            if not flags[types[at]]:
                at += 1
                continue
        if neighbours[at] != dropped:
            break
        at += 1
    return at


@kernel
def count_entries(arrays: Plain, begins: Int32s, first: int, last: int) -> None:
    """Count the entries of some nodes, each at the next place."""
    outgoing, incoming, follows, flags = arrays
    for node in range(first, last):
        found = 0
        if follows[0]:
            end = outgoing.indptr[node + 1]
            at = _next_kept(outgoing, flags, outgoing.indptr[node], end, -1)
            while at < end:
                found += 1
                at = _next_kept(outgoing, flags, at + 1, end, -1)
        if follows[1]:
            dropped = node if follows[0] else -1  # a loop is an entry on both sides
            end = incoming.indptr[node + 1]
            at = _next_kept(incoming, flags, incoming.indptr[node], end, dropped)
            while at < end:
                found += 1
                at = _next_kept(incoming, flags, at + 1, end, dropped)
        begins[node + 1] = found


@inlined
def _relationship_at(side: IncidenceArrays, entry: int) -> int:
    _, _, _, relationships, first = side
    return int(relationships[entry]) if len(relationships) else int(first[0]) + entry


@kernel
def write_entries(
    arrays: Plain, begins: Int32s, neighbours: Int32s, relationships: Int32s, first: int, last: int
) -> None:
    """The entries of some nodes. Each side has them in order of their types and then of their neighbours, so with one
    type it is enough to merge both sides."""
    outgoing, incoming, follows, flags = arrays
    for node in range(first, last):
        place, one, one_end, two, two_end = begins[node], 0, 0, 0, 0
        dropped = node if follows[0] else -1
        if follows[0]:
            one_end = outgoing.indptr[node + 1]
            one = _next_kept(outgoing, flags, outgoing.indptr[node], one_end, -1)
        if follows[1]:
            two_end = incoming.indptr[node + 1]
            two = _next_kept(incoming, flags, incoming.indptr[node], two_end, dropped)
        is_ordered = True
        while one < one_end or two < two_end:
            if two >= two_end or (one < one_end and outgoing.neighbours[one] <= incoming.neighbours[two]):
                neighbours[place] = outgoing.neighbours[one]
                relationships[place] = _relationship_at(outgoing, one)
                one = _next_kept(outgoing, flags, one + 1, one_end, -1)
            else:
                neighbours[place] = incoming.neighbours[two]
                relationships[place] = _relationship_at(incoming, two)
                two = _next_kept(incoming, flags, two + 1, two_end, dropped)
            if place > begins[node] and neighbours[place] < neighbours[place - 1]:
                is_ordered = False
            place += 1
        if not is_ordered:
            _sort(neighbours, relationships, begins[node], place)


@inlined
def _sort(keys: Int32s, values: Int32s, begin: int, end: int) -> None:
    """Sort the entries by key: insertion sort over ever smaller gaps."""
    gap = end - begin
    while gap > 1:
        gap = max(gap * 5 // 11, 1)
        for at in range(begin + gap, end):
            key, value, place = keys[at], values[at], at
            while place - gap >= begin and keys[place - gap] > key:
                keys[place], values[place] = keys[place - gap], values[place - gap]
                place -= gap
            keys[place], values[place] = key, value
