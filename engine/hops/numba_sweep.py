"""One level of a breadth-first search over one piece of an adjacency, compiled: for graphs in several partitions, with
a delta above them, with removed relationships, and for hops with masks.

    incidence     (indptr int64[rows + 1], neighbours int32[m], types int32[m], relationships int64[m or 0], first)
    nodes, rows   int32[f]     the nodes stepped from, and the row that each has in the incidence
    flags         bool[]       by type code, the last for every larger one; of length 0: any type
    dropped       (removed int64[], excluded int64[]), ascending: relationships that are not there, or not to be used
    known         (by node uint8[], by relationship and way uint8[]): answers of the masks, see `masks.py`
    masked        (nodes, relationships) whether there is such a mask
    mark, queue   as in `numba_ball.py`
    asked         int64[4, size]  steps on which a mask has to be asked: relationship, from, to, groups
    state         int64[]      where the sweep stands

A mask is asked in Python about all steps of a piece at once; the kernel notes down those whose answer is not known.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops.numba_ball import Bytes, Int32s, push, push_typed
from hoplite.engine.hops.numba_kernels import Flags, Ints, SideArrays, kernel

Words: TypeAlias = NDArray[np.uint64]
Dropped: TypeAlias = tuple[Ints, Ints]
Known: TypeAlias = tuple[Bytes, Bytes]
Masked: TypeAlias = tuple[bool, bool]

# Places in the state: which of the nodes is next, and which of its entries; the end of the queue; how many are asked.
PLACE, ENTRY, TAIL, ASKED = 0, 1, 2, 3
STATE_SIZE = 4
# What `judge` says of a step: these are the answers of `masks.py`.
UNKNOWN, REFUSED, ALLOWED = 0, 1, 2


@kernel
def is_among(ordered: Ints, wanted: int) -> bool:
    """Whether an ascending array holds the value."""
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low < len(ordered) and ordered[low] == wanted


@kernel
def judge(known: Known, masked: Masked, relationship: int, node: int, neighbour: int) -> int:
    """What the masks say of a step, as far as they were asked."""
    by_node, by_relationship = known
    answer = ALLOWED
    if masked[1]:
        key = 2 * relationship + (1 if node > neighbour else 0)
        answer = int(by_relationship[key]) if key < len(by_relationship) else UNKNOWN
        if answer == REFUSED:
            return REFUSED
    if masked[0]:
        other = int(by_node[neighbour]) if neighbour < len(by_node) else UNKNOWN
        if other != ALLOWED:
            return other
    return answer


@kernel
def route(partition_of: Int32s, row_of: Int32s, frontier: Int32s, partition_count: int) -> tuple[Ints, Int32s, Int32s]:
    """The frontier by partition: those of partition p are nodes[begins[p]:begins[p + 1]], in their order, with their
    rows. Nodes that are in none are left out."""
    begins = np.zeros(partition_count + 1, np.int64)
    for node in frontier:
        if node < len(partition_of) and partition_of[node] >= 0:
            begins[partition_of[node] + 1] += 1
    for partition in range(partition_count):
        begins[partition + 1] += begins[partition]
    filled = begins[:-1].copy()
    nodes = np.empty(begins[partition_count], np.int32)
    rows = np.empty(begins[partition_count], np.int32)
    for node in frontier:
        if node < len(partition_of) and partition_of[node] >= 0:
            partition = partition_of[node]
            nodes[filled[partition]] = node
            rows[filled[partition]] = row_of[node]
            filled[partition] += 1
    return begins, nodes, rows


@kernel
def rows_among(listed: Ints, frontier: Int32s) -> tuple[Int32s, Int32s]:
    """The nodes of the frontier that are in an ascending list, and where."""
    nodes = np.empty(len(frontier), np.int32)
    rows = np.empty(len(frontier), np.int32)
    filled = 0
    for node in frontier:
        row = np.searchsorted(listed, node)
        if row < len(listed) and listed[row] == node:
            nodes[filled] = node
            rows[filled] = row
            filled += 1
    return nodes[:filled], rows[:filled]


@kernel
def sweep(
    incidence: SideArrays,
    nodes: Int32s,
    rows: Int32s,
    flags: Flags,
    dropped: Dropped,
    known: Known,
    masked: Masked,
    mark: Bytes,
    queue: Int32s,
    asked: Ints,
    state: Ints,
    work: int,
) -> bool:
    """Enter the neighbours of the nodes. False: it is to be called again, after `work` entries, or with the steps in
    `asked` answered."""
    indptr, neighbours, types, relationships, first = incidence
    removed, excluded = dropped
    place, entry, tail, pending = state[PLACE], state[ENTRY], state[TAIL], state[ASKED]
    row_count = len(indptr) - 1
    typed = len(flags) > 0
    if not (masked[0] or masked[1] or len(removed) > 0 or len(excluded) > 0):
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
                relationship = relationships[at] if len(relationships) else first + at
                if not is_among(removed, relationship) and not is_among(excluded, relationship):
                    answer = judge(known, masked, relationship, node, neighbour)
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


@kernel
def push_groups(
    indptr: Ints,
    neighbours: Int32s,
    nodes: Int32s,
    rows: Int32s,
    place: int,
    seen: Words,
    front: Words,
    coming: Words,
    queue: Int32s,
    tail: int,
    work: int,
) -> tuple[int, int]:
    """The common case of `sweep_groups`: every entry may be followed."""
    row_count = len(indptr) - 1
    while place < len(nodes) and work >= 0:
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


@kernel
def sweep_groups(
    incidence: SideArrays,
    nodes: Int32s,
    rows: Int32s,
    flags: Flags,
    dropped: Dropped,
    excluded_from: Words,
    known: Known,
    masked: Masked,
    seen: Words,
    front: Words,
    coming: Words,
    queue: Int32s,
    asked: Ints,
    state: Ints,
    work: int,
) -> bool:
    """`sweep` for up to 64 groups, each a bit of a word: seen[node] are the groups that have entered it, front[node]
    those that step from it now, coming[node] those that enter it with this level. A node that is entered by some group
    goes into the queue once. The groups in excluded_from[i] may not use relationship excluded[i].
    """
    indptr, neighbours, types, relationships, first = incidence
    removed, excluded = dropped
    place, entry, tail, pending = state[PLACE], state[ENTRY], state[TAIL], state[ASKED]
    row_count = len(indptr) - 1
    typed = len(flags) > 0
    by_entry = masked[0] or masked[1] or len(removed) > 0 or len(excluded) > 0
    if not by_entry and not typed:
        place, tail = push_groups(indptr, neighbours, nodes, rows, place, seen, front, coming, queue, tail, work)
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
                if by_entry:
                    relationship = relationships[at] if len(relationships) else first + at
                    if is_among(removed, relationship):
                        new = np.uint64(0)
                    if len(excluded) > 0:
                        listed = np.searchsorted(excluded, relationship)
                        if listed < len(excluded) and excluded[listed] == relationship:
                            new &= ~excluded_from[listed]
                    answer = judge(known, masked, relationship, node, neighbour)
                if answer == ALLOWED and new != 0:
                    if coming[neighbour] == 0:
                        queue[tail] = neighbour
                        tail += 1
                    coming[neighbour] |= new
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
def admit_groups(entered: Ints, groups: Words, seen: Words, coming: Words, queue: Int32s, tail: int) -> int:
    """Let the groups enter nodes, as `sweep_groups` does; returns the new end of the queue."""
    for place in range(len(entered)):
        node = entered[place]
        new = groups[place] & ~seen[node]
        if new != 0:
            if coming[node] == 0:
                queue[tail] = node
                tail += 1
            coming[node] |= new
    return tail


@kernel
def settle(queue: Int32s, front: Words, coming: Words, seen: Words) -> Words:
    """The end of a level: what was coming steps from there next. Returns the groups of each node of the queue."""
    groups = np.empty(len(queue), np.uint64)
    for place in range(len(queue)):
        node = queue[place]
        new = coming[node]
        groups[place] = new
        front[node] = new
        seen[node] |= new
        coming[node] = 0
    return groups


@kernel
def clear_groups(nodes: Int32s, seen: Words) -> None:
    for node in nodes:
        seen[node] = 0


# De Bruijn's sequence: the six highest bits of its product with a power of two tell which power.
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
_NUMBERS = np.zeros(64, dtype=np.int64)
for _bit in range(64):
    _NUMBERS[((0x03F79D71B4CB0A89 << _bit) & (2**64 - 1)) >> 58] = _bit


@kernel
def bit_number(power: np.uint64) -> int:
    """Which bit a power of two is."""
    return int(_NUMBERS[(power * _SEQUENCE) >> np.uint64(58)])


@kernel
def by_group(nodes: Int32s, groups: Words, levels: Int32s, group_count: int) -> tuple[Ints, Int32s, Int32s]:
    """Nodes with the groups that entered them, as offsets and the nodes and levels of each group, in their order.
    `levels` of length 0: none are wanted."""
    offsets = np.zeros(group_count + 1, np.int64)
    for word in groups:
        left = word
        while left != 0:
            lowest = left & (~left + np.uint64(1))
            offsets[bit_number(lowest) + 1] += 1
            left ^= lowest
    for group in range(group_count):
        offsets[group + 1] += offsets[group]
    filled = offsets[:-1].copy()
    found = np.empty(offsets[group_count], np.int32)
    found_levels = np.empty(offsets[group_count] if len(levels) else 0, np.int32)
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
    return offsets, found, found_levels
