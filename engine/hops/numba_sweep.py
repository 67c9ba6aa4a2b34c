"""One level of a breadth-first search over one piece of an adjacency, compiled: for graphs with several partitions, a
delta or removed relationships, and for hops with masks.

    nodes, rows       the nodes stepped from, and the row that each has in the incidence
    flags             by type code, the last for every larger one; of length 0: any type
    removed, excluded  ascending: relationships that do not exist, or must not be used
    known_nodes       answers of the masks, by node; known_relationships by relationship and direction, see `masks.py`
    masked            whether there is a node mask, and a relationship mask
    mark              uint8[n]: 1 if the node was entered; all zero at the beginning and at the end. Bytes, unlike in
                      `numba_bfs.py`, for several kernels and processes share them.
    queue             as in `numba_bfs.py`
    asked             int64[4, size]: steps that a mask has to be asked about: relationship, from, to, groups
    state             where the sweep stands

Masks are asked in Python, about many steps at once; the kernel collects those whose answer is not known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hoplite.engine.hops.compiled import Bytes, Flags, Int32s, Ints, Table, Words, inlined, kernel, unfolded
from hoplite.engine.hops.numba_kernels import IncidenceArrays, fetch_ahead, is_among, place_of, run_end


class Piece(NamedTuple):
    """A piece of an adjacency, and the part of a frontier that has entries in it."""

    incidence: IncidenceArrays
    nodes: Int32s
    rows: Int32s


class Allowed(NamedTuple):
    """Which entries of a piece may be followed."""

    flags: Flags
    removed: Ints
    excluded: Ints
    known_nodes: Bytes
    known_relationships: Bytes
    masked: Flags


class Groups(NamedTuple):
    """Up to 64 simultaneous searches, each a bit in every node's words."""

    seen: Words
    front: Words
    coming: Words


# Places in the state: the next node and its next entry, the end of the queue, the number of steps in `asked`.
PLACE, ENTRY, TAIL, ASKED = 0, 1, 2, 3
STATE_SIZE = 4
# What `judge` says of a step: the answers in `masks.py`.
UNKNOWN, REFUSED, ALLOWED = 0, 1, 2


@kernel
def enter(neighbours: Int32s, at: int, end: int, mark: Bytes, queue: Int32s, tail: int) -> int:
    """Append the neighbours not entered yet to the queue; returns its new end."""
    for entry in range(at, end):
        neighbour = neighbours[entry]
        queue[tail] = neighbour
        tail += int(mark[neighbour] == 0)
        mark[neighbour] = 1
    return tail


@inlined
def push(
    indptr: Ints,
    neighbours: Int32s,
    frontier: Int32s,
    head: int,
    end: int,
    mark: Bytes,
    queue: Int32s,
    tail: int,
    work: int,
) -> tuple[int, int, int]:
    """Enter the neighbours of frontier[head:end] until `work` entries are used up; returns the new head, tail and work.
    A node newer than the arrays has no entries in them."""
    row_count = len(indptr) - 1
    while head < end and work >= 0:
        fetch_ahead(indptr, neighbours, neighbours, False, frontier, head, end)
        node = frontier[head]
        head += 1
        if node >= row_count:
            continue
        at, stop = indptr[node], indptr[node + 1]
        work -= stop - at + 1
        for entry in range(at, stop):
            neighbour = neighbours[entry]
            queue[tail] = neighbour
            tail += int(mark[neighbour] == 0)
            mark[neighbour] = 1
    return head, tail, work


@inlined
def push_typed(
    indptr: Ints,
    neighbours: Int32s,
    types: Int32s,
    flags: Flags,
    frontier: Int32s,
    head: int,
    end: int,
    mark: Bytes,
    queue: Int32s,
    tail: int,
    work: int,
) -> tuple[int, int, int]:
    """`push` over relationships of some types. Types ascend within a row, so each is a run."""
    row_count = len(indptr) - 1
    while head < end and work >= 0:
        fetch_ahead(indptr, neighbours, types, True, frontier, head, end)
        node = frontier[head]
        head += 1
        if node >= row_count:
            continue
        at, stop = indptr[node], indptr[node + 1]
        work -= stop - at + 1
        while at < stop:
            run = run_end(types, at, stop)
            if flags[min(types[at], len(flags) - 1)]:
                tail = enter(neighbours, at, run, mark, queue, tail)
            at = run
    return head, tail, work


@inlined
def judge(allowed: Allowed, relationship: int, node: int, neighbour: int) -> int:
    """What the masks say of a step, as far as they have been asked."""
    answer = ALLOWED
    if allowed.masked[1]:
        key = 2 * relationship + (1 if node > neighbour else 0)
        known = allowed.known_relationships
        answer = int(known[key]) if key < len(known) else UNKNOWN
        if answer == REFUSED:
            return REFUSED
    if allowed.masked[0]:
        known = allowed.known_nodes
        other = int(known[neighbour]) if neighbour < len(known) else UNKNOWN
        if other != ALLOWED:
            return other
    return answer


@inlined
def route_by(
    partition_of: Any, row_of: Int32s, frontier: Int32s, begins: Ints, ends: Ints, nodes: Int32s, rows: Int32s
) -> None:
    """Distribute the frontier: partition p gets nodes[begins[p]:ends[p]], in order, with their rows. Nodes in no
    partition are left out."""
    for partition in range(len(begins)):
        ends[partition] = 0
    for node in frontier:
        if node < len(partition_of) and partition_of[node] >= 0:
            ends[partition_of[node]] += 1
    filled = 0
    for partition in range(len(begins)):
        begins[partition] = filled
        filled += ends[partition]
        ends[partition] = begins[partition]
    for node in frontier:
        if node < len(partition_of) and partition_of[node] >= 0:
            place = ends[partition_of[node]]
            nodes[place] = node
            rows[place] = row_of[node]
            ends[partition_of[node]] = place + 1


@kernel
def route(
    partition_of: Bytes, row_of: Int32s, frontier: Int32s, begins: Ints, ends: Ints, nodes: Int32s, rows: Int32s
) -> None:
    """`route_by` for up to 256 partitions."""
    route_by(partition_of, row_of, frontier, begins, ends, nodes, rows)


@kernel
def route_to_many(
    partition_of: Int32s, row_of: Int32s, frontier: Int32s, begins: Ints, ends: Ints, nodes: Int32s, rows: Int32s
) -> None:
    """`route_by` for more partitions."""
    route_by(partition_of, row_of, frontier, begins, ends, nodes, rows)


@kernel
def rows_among(listed: Ints, frontier: Int32s, nodes: Int32s, rows: Int32s) -> int:
    """The nodes of the frontier that an ascending list holds, and where; returns how many."""
    filled = 0
    for node in frontier:
        row = place_of(listed, node)
        if row < len(listed) and listed[row] == node:
            nodes[filled] = node
            rows[filled] = row
            filled += 1
    return filled


@kernel
def sweep(piece: Piece, allowed: Allowed, mark: Bytes, queue: Int32s, asked: Table, state: Ints, work: int) -> bool:
    """Enter the neighbours of the nodes. False: call it again, because `work` entries were looked at or the masks must
    be asked about the steps in `asked`."""
    indptr, neighbours, types, relationships, first = piece.incidence
    nodes, rows, flags = piece.nodes, piece.rows, allowed.flags
    place, entry, tail, pending = state[PLACE], state[ENTRY], state[TAIL], state[ASKED]
    row_count = len(indptr) - 1
    typed = len(flags) > 0
    if not by_entry(allowed):
        if typed:
            place, tail, work = push_typed(
                indptr, neighbours, types, flags, rows, place, len(rows), mark, queue, tail, work
            )
        else:
            place, tail, work = push(indptr, neighbours, rows, place, len(rows), mark, queue, tail, work)
        state[PLACE], state[TAIL] = place, tail
        return bool(place >= len(nodes))
    room = asked.shape[1]
    while place < len(nodes) and work >= 0:
        row = rows[place]
        if row >= row_count:
            place += 1
            continue
        at, end = indptr[row], indptr[row + 1]
        work -= end - at + 1
        node = int(nodes[place])
        at = max(at, entry)
        while at < end and pending < room:
            neighbour = int(neighbours[at])
            if mark[neighbour] == 0 and (not typed or flags[min(types[at], len(flags) - 1)]):
                relationship = relationships[at] if len(relationships) else first[0] + at
                if not is_among(allowed.removed, relationship) and not is_among(allowed.excluded, relationship):
                    answer = judge(allowed, relationship, node, neighbour)
                    if answer == ALLOWED:
                        mark[neighbour] = 1
                        queue[tail] = neighbour
                        tail += 1
                    elif answer == UNKNOWN:
                        asked[0, pending], asked[1, pending], asked[2, pending] = relationship, node, neighbour
                        pending += 1
            at += 1
        if at < end:
            entry = at
            break
        entry = 0
        place += 1
    state[PLACE], state[ENTRY], state[TAIL], state[ASKED] = place, entry, tail, pending
    return bool(place >= len(nodes))


@inlined
def push_groups(
    indptr: Ints,
    neighbours: Int32s,
    nodes: Int32s,
    rows: Int32s,
    place: int,
    words: Groups,
    queue: Int32s,
    tail: int,
    work: int,
) -> tuple[int, int]:
    """The common case of `sweep_groups`: every entry may be followed."""
    seen, front, coming = words
    row_count = len(indptr) - 1
    while place < len(nodes) and work >= 0:
        fetch_ahead(indptr, neighbours, neighbours, False, rows, place, len(nodes))
        row = rows[place]
        groups = front[nodes[place]]
        place += 1
        if row >= row_count:
            continue
        at, end = indptr[row], indptr[row + 1]
        work -= end - at + 1
        for entry in range(at, end):
            neighbour = neighbours[entry]
            new = groups & ~seen[neighbour]
            if new != 0:
                before = coming[neighbour]
                queue[tail] = neighbour
                tail += int(before == 0)
                coming[neighbour] = before | new
    return place, tail


@inlined
def by_entry(allowed: Allowed) -> bool:
    """Whether each relationship has to be checked, not only its type."""
    return allowed.masked[0] or allowed.masked[1] or len(allowed.removed) > 0 or len(allowed.excluded) > 0


@unfolded
def permitted(allowed: Allowed, excluded_from: Words, relationship: int, groups: Any) -> Any:
    """The groups among these that may use a relationship."""
    if is_among(allowed.removed, relationship):
        groups = np.uint64(0)
    if len(allowed.excluded) > 0:
        listed = place_of(allowed.excluded, relationship)
        if listed < len(allowed.excluded) and allowed.excluded[listed] == relationship:
            groups &= ~excluded_from[listed]
    return groups


@inlined
def admit(node: int, groups: Any, coming: Words, queue: Int32s, tail: int) -> int:
    """Let groups enter a node at this level; returns the new end of the queue."""
    if coming[node] == 0:
        queue[tail] = node
        tail += 1
    coming[node] |= groups
    return tail


@kernel
def sweep_groups(
    piece: Piece,
    allowed: Allowed,
    excluded_from: Words,
    words: Groups,
    queue: Int32s,
    asked: Table,
    state: Ints,
    work: int,
) -> bool:
    """`sweep` for up to 64 groups: seen[node] are the groups that have entered it, front[node] those that step from it
    now, coming[node] those that enter it at this level. A node entered by any group goes into the queue once. The
    groups in excluded_from[i] may not use relationship excluded[i].
    """
    indptr, neighbours, types, relationships, first = piece.incidence
    nodes, rows, flags = piece.nodes, piece.rows, allowed.flags
    seen, front, coming = words
    place, entry, tail, pending = state[PLACE], state[ENTRY], state[TAIL], state[ASKED]
    row_count = len(indptr) - 1
    typed = len(flags) > 0
    each = by_entry(allowed)
    if not each and not typed:
        place, tail = push_groups(indptr, neighbours, nodes, rows, place, words, queue, tail, work)
        state[PLACE], state[TAIL] = place, tail
        return bool(place >= len(nodes))
    room = asked.shape[1]
    while place < len(nodes) and work >= 0:
        row = rows[place]
        if row >= row_count:
            place += 1
            continue
        node = int(nodes[place])
        groups = front[node]
        begin, end = indptr[row], indptr[row + 1]
        at = max(begin, entry)
        work -= end - begin + 1
        while at < end and pending < room:
            neighbour = int(neighbours[at])
            new = groups & ~seen[neighbour]
            if new != 0 and (not typed or flags[min(types[at], len(flags) - 1)]):
                answer = ALLOWED
                relationship = at
                if each:
                    relationship = relationships[at] if len(relationships) else first[0] + at
                    new = permitted(allowed, excluded_from, relationship, new)
                    answer = judge(allowed, relationship, node, neighbour)
                if answer == ALLOWED and new != 0:
                    tail = admit(neighbour, new, coming, queue, tail)
                elif answer == UNKNOWN and new != 0:
                    asked[0, pending], asked[1, pending], asked[2, pending] = relationship, node, neighbour
                    asked[3, pending] = np.int64(new)
                    pending += 1
            at += 1
        if at < end:
            entry = at
            break
        entry = 0
        place += 1
    state[PLACE], state[ENTRY], state[TAIL], state[ASKED] = place, entry, tail, pending
    return bool(place >= len(nodes))


@kernel
def admit_groups(entered: Ints, groups: Words, words: Groups, queue: Int32s, tail: int) -> int:
    """Let the groups enter nodes, as `sweep_groups` does; returns the new end of the queue."""
    seen, _, coming = words
    for place in range(len(entered)):
        node = entered[place]
        new = groups[place] & ~seen[node]
        if new != 0:
            tail = admit(node, new, coming, queue, tail)
    return tail


@kernel
def settle(queue: Int32s, words: Groups, groups: Words) -> None:
    """End a level: groups that entered a node step from it next. Writes the groups of each node of the queue to
    `groups`."""
    seen, front, coming = words
    for place in range(len(queue)):
        node = queue[place]
        new = coming[node]
        groups[place] = new
        front[node] = new
        seen[node] |= new
        coming[node] = 0


@kernel
def clear_groups(nodes: Int32s, seen: Words) -> None:
    for node in nodes:
        seen[node] = 0


# De Bruijn's sequence: the six highest bits of its product with a power of two tell which power.
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
_NUMBERS = np.zeros(64, dtype=np.int64)
for _bit in range(64):
    _NUMBERS[((0x03F79D71B4CB0A89 << _bit) & (2**64 - 1)) >> 58] = _bit


@inlined
def bit_number(power: Any) -> int:
    """Which bit a power of two is."""
    return int(_NUMBERS[(power * _SEQUENCE) >> np.uint64(58)])


@kernel
def enter_bits(bits: Words, mark: Bytes, queue: Int32s, tail: int) -> int:
    """Append the nodes not entered yet to the queue; returns its new end. Bit i of word w is node 64 * w + i."""
    for place in range(len(bits)):
        left = bits[place]
        while left != 0:
            lowest = left & (~left + np.uint64(1))
            node = 64 * place + bit_number(lowest)
            queue[tail] = node
            tail += int(mark[node] == 0)
            mark[node] = 1
            left ^= lowest
    return tail


@kernel
def count_by_group(groups: Words, offsets: Ints) -> None:
    """Where each group's nodes begin in the list of all groups' nodes, and where the last ones end."""
    for group in range(len(offsets)):
        offsets[group] = 0
    for word in groups:
        left = word
        while left != 0:
            lowest = left & (~left + np.uint64(1))
            offsets[bit_number(lowest) + 1] += 1
            left ^= lowest
    for group in range(len(offsets) - 1):
        offsets[group + 1] += offsets[group]


@kernel
def by_group(nodes: Int32s, groups: Words, levels: Int32s, filled: Ints, found: Int32s, found_levels: Int32s) -> None:
    """The nodes and levels of each group, in order, from filled[group] on. `levels` of length 0: no levels are
    wanted."""
    for place in range(len(nodes)):
        left = groups[place]
        while left != 0:
            lowest = left & (~left + np.uint64(1))
            group = bit_number(lowest)
            found[filled[group]] = nodes[place]
            if len(levels):
                found_levels[filled[group]] = levels[place]
            filled[group] += 1
            left ^= lowest
