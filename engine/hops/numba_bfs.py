"""Breadth-first search from one set of nodes, compiled: every node once, in order of distance.

    near, far     the side that is followed, and the other one: the second side of an undirected hop, or the one that a
                  directed hop is pulled along
    options       whether both sides are followed, and whether levels may be pulled
    flags         bool[codes + 1] by type code, the last for every larger one; of length 0: any type
    marks         uint64[]       a bit for each node, 64 to a word; 1: the node was entered; all zero at the beginning
                                 and at the end
    queue         int32[n + 1]   the nodes, in the order they were entered
    state         int64[]        where the search stands, so that it can be left and continued

Most entries lead to nodes already entered, in an order that no processor predicts. So nothing depends on a branch: each
neighbour is written at the end of the queue, and the queue grows by one if its mark was 0. What is read here and there
is small, because it is seldom in the processor's cache: marks are bits, and offsets have 32 of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hoplite.engine.hops.compiled import Bytes, Flags, Int32s, Ints, Words, inlined, kernel, narrow_forms
from hoplite.engine.hops.numba_kernels import fetch_ahead, run_end

# Why a search returned before it was done.
WORKED, DEEP, DENSE, WIDE = -1, -2, -3, -4
_DONE = 0
# Places in the state: the frontier is queue[BEGIN:END], or the sources; HEAD is the next node in it to follow, over
# SIDE; SORTED is the last level whose frontier was sorted. From BOUNDS on: the number of nodes entered up to each
# level.
LEVEL, BEGIN, END, HEAD, TAIL, SIDE, FROM_SOURCES, AT_NODE, SORTED, BOUNDS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
# A frontier of this many nodes is followed in ascending order: it then reads the arrays from front to back.
SORTED_FROM = 4096

# If the frontier holds at least one in this many nodes, its entries are counted ...
_WIDE_SHARE = 64
# ... and if they are at least one in this many entries, the level is pulled.
_DENSE_SHARE = 5
_ONE = np.uint64(1)


class Entries(NamedTuple):
    """One side of a hop: node v has the entries indptr[v] .. indptr[v + 1]."""

    indptr: Int32s
    neighbours: Int32s
    types: Int32s


class NarrowEntries(NamedTuple):
    """The same for large graphs, which use smaller integers."""

    indptr: Int32s
    neighbours: Int32s
    types: Bytes


narrow_forms[Entries] = NarrowEntries


class Fused(NamedTuple):
    """A plain hop as these searches take it."""

    near: Entries
    far: Entries
    options: Flags
    flags: Flags


@inlined
def enter(neighbours: Int32s, at: int, end: int, marks: Words, queue: Int32s, tail: int) -> int:
    """Append the neighbours not entered yet to the queue; returns its new end."""
    for entry in range(at, end):
        neighbour = neighbours[entry]
        word, bit = marks[neighbour >> 6], np.uint64(neighbour & 63)
        queue[tail] = neighbour
        tail += int((word >> bit) & _ONE == 0)
        marks[neighbour >> 6] = word | (_ONE << bit)
    return tail


@inlined
def push(
    indptr: Int32s,
    neighbours: Int32s,
    frontier: Int32s,
    head: int,
    end: int,
    marks: Words,
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
        tail = enter(neighbours, at, stop, marks, queue, tail)
    return head, tail, work


@inlined
def push_typed(
    indptr: Int32s,
    neighbours: Int32s,
    types: Int32s,
    flags: Flags,
    frontier: Int32s,
    head: int,
    end: int,
    marks: Words,
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
                tail = enter(neighbours, at, run, marks, queue, tail)
            at = run
    return head, tail, work


@inlined
def is_dense(indptr: Int32s, entry_count: int, queue: Int32s, head: int, end: int) -> bool:
    """Whether the frontier queue[head:end] is better pulled."""
    if end - head < len(indptr) // _WIDE_SHARE:
        return False
    entries = 0
    for place in range(head, end):
        node = queue[place]
        entries += indptr[node + 1] - indptr[node]
    return entries * _DENSE_SHARE > entry_count


@kernel
def search(
    hop: Fused,
    sources: Int32s,
    upper: int,
    mark_starts: bool,
    begins: bool,
    marks: Words,
    queue: Int32s,
    state: Ints,
    work: int,
) -> int:
    """Begin or continue, until the search is done, has looked at `work` entries, needs more room for the bounds of its
    levels, or reaches a level that is better pulled or whose frontier has to be sorted. Returns which of these; when
    done, how many nodes it has entered. Their marks are cleared.

    Without `mark_starts`, the first step leads from the sources without entering them: they are entered like any other
    node.
    """
    flags, both, can_pull = hop.flags, hop.options[0], hop.options[1]
    level, begin, head, tail = state[LEVEL], state[BEGIN], state[HEAD], state[TAIL]
    end, side, from_sources = state[END], state[SIDE], state[FROM_SOURCES] == 1
    if begins:
        level, begin, head, tail, side = 0, 0, 0, 0, 0
        from_sources = not mark_starts
        if mark_starts:
            tail = enter(sources, 0, len(sources), marks, queue, 0)
        end = len(sources) if from_sources else tail
        state[BOUNDS], state[SORTED] = tail, -1
    typed = len(flags) > 0
    last_side = 1 if both else 0
    status = _DONE
    while begin < end and level < upper:
        if BOUNDS + level + 1 >= len(state):
            status = DEEP
            break
        may_pull = can_pull and not from_sources and side == 0
        if may_pull and is_dense(hop.near.indptr, len(hop.near.neighbours), queue, head, end):
            status = DENSE
            break
        if end - begin >= SORTED_FROM and state[SORTED] < level and not from_sources:
            status = WIDE
            break
        while side <= last_side:
            some = hop.near if side == 0 else hop.far
            frontier = sources if from_sources else queue
            if typed:
                head, tail, work = push_typed(
                    some.indptr, some.neighbours, some.types, flags, frontier, head, end, marks, queue, tail, work
                )
            else:
                head, tail, work = push(some.indptr, some.neighbours, frontier, head, end, marks, queue, tail, work)
            if head < end:
                status = WORKED
                break
            side += 1
            head = begin
        if status == WORKED:
            break
        level += 1
        state[BOUNDS + level] = tail
        side = 0
        begin = 0 if from_sources else end
        head, end, from_sources = begin, tail, False
    state[LEVEL], state[BEGIN], state[HEAD] = level, begin, head
    state[END], state[TAIL], state[SIDE], state[FROM_SOURCES] = end, tail, side, 1 if from_sources else 0
    if status != _DONE:
        return status
    for place in range(tail):
        marks[queue[place] >> 6] = 0
    return int(tail)


@inlined
def is_marked(marks: Words, node: int) -> bool:
    """Whether a node's bit is set."""
    return bool((marks[node >> 6] >> np.uint64(node & 63)) & _ONE != 0)


@kernel
def pull(hop: Fused, marks: Words, frontier: Words, queue: Int32s, state: Ints, work: int) -> bool:
    """One level from its far end: every node not entered yet looks for a neighbour in the frontier, and stops at the
    first. True when the level is done. `frontier` has marks like `marks`, of the nodes entered last.

    Pushing a frontier that reaches most of the graph meets each node many times; pulling enters it once. Untyped hops
    only.
    """
    indptr, neighbours, _ = hop.near
    far_indptr, far_neighbours, _ = hop.far
    both = hop.options[0]
    head, end, tail, node = state[HEAD], state[END], state[TAIL], state[AT_NODE]
    if node == 0:
        for place in range(head, end):
            frontier[queue[place] >> 6] |= _ONE << np.uint64(queue[place] & 63)
    node_count = len(indptr) - 1
    while node < node_count and work >= 0:
        if not is_marked(marks, node):
            entered = False
            for entry in range(far_indptr[node], far_indptr[node + 1]):
                work -= 1
                if is_marked(frontier, far_neighbours[entry]):
                    entered = True
                    break
            if both and not entered:
                for entry in range(indptr[node], indptr[node + 1]):
                    work -= 1
                    if is_marked(frontier, neighbours[entry]):
                        entered = True
                        break
            if entered:
                queue[tail] = node
                marks[node >> 6] |= _ONE << np.uint64(node & 63)
                tail += 1
        work -= 1
        node += 1
    state[TAIL] = tail
    if node < node_count:
        state[AT_NODE] = node
        return False
    for place in range(head, end):
        frontier[queue[place] >> 6] = 0
    level = state[LEVEL] + 1
    state[AT_NODE], state[LEVEL] = 0, level
    state[BEGIN], state[HEAD], state[END], state[BOUNDS + level] = end, end, tail, tail
    return True
