"""Compiled kernels over the arrays of a plain adjacency: one fused loop for a whole search.

Incidences.relationships  of length 0: entry e is relationship first[0] + e
Plain.follows             whether a step reads outgoing entries, and whether it reads incoming ones; a side that is not
                          read is represented by the other
flags                     by type code, the last for every larger code; of length 0: any type
Lists.offsets             int64[groups + 1]; of length 0: nothing is excluded
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hoplite.engine.hops.compiled import Bytes, Flags, Int32s, Ints, inlined, kernel, narrow_forms, prefetch, unfolded

UNLIMITED = 1 << 40
_SEEN = 1
# How many nodes before its turn the entries of a node are fetched; see `fetch_ahead`.
_AHEAD = 4


class IncidenceArrays(NamedTuple):
    """The arrays of one incidence: node v has the entries indptr[v] .. indptr[v + 1]."""

    indptr: Ints
    neighbours: Int32s
    types: Int32s
    relationships: Ints
    first: Ints


class NarrowIncidenceArrays(NamedTuple):
    """The same for large graphs, which use smaller integers."""

    indptr: Int32s
    neighbours: Int32s
    types: Bytes
    relationships: Int32s
    first: Ints


narrow_forms[IncidenceArrays] = NarrowIncidenceArrays


class Plain(NamedTuple):
    """A plain hop: one partition, no delta, no masks."""

    outgoing: IncidenceArrays
    incoming: IncidenceArrays
    follows: Flags
    flags: Flags


class Lists(NamedTuple):
    """A list of relationships for each group."""

    offsets: Ints
    relationships: Ints


@inlined
def run_end(types: Int32s, at: int, end: int) -> int:
    """The first entry in at .. end with another type than the one at `at`, or `end`: galloping, then halving."""
    code = types[at]
    low, step = at + 1, 1
    while low < end and types[min(low + step, end) - 1] == code:
        low = min(low + step, end)
        step *= 2
    high = min(low + step, end)
    while low < high:
        middle = (low + high) // 2
        if types[middle] == code:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def fetch_ahead(indptr: Any, neighbours: Any, types: Any, typed: bool, nodes: Any, place: int, end: int) -> None:
    """Before nodes[place] has its turn: have the processor fetch the entries of a later one, and the offsets of one
    later still. Otherwise each node would wait for both, one after the other."""
    if place + 2 * _AHEAD < end:
        prefetch(indptr, nodes[place + 2 * _AHEAD])
        later = nodes[place + _AHEAD]
        if 0 <= later < len(indptr) - 1:
            prefetch(neighbours, indptr[later])
            if typed:
                prefetch(types, indptr[later])


@inlined
def fetch_both(hop: Plain, nodes: Any, place: int, end: int) -> None:
    """`fetch_ahead` on the sides that a hop follows."""
    out, back, typed = hop.outgoing, hop.incoming, len(hop.flags) > 0
    if hop.follows[0]:
        fetch_ahead(out.indptr, out.neighbours, out.types, typed, nodes, place, end)
    if hop.follows[1]:
        fetch_ahead(back.indptr, back.neighbours, back.types, typed, nodes, place, end)


@inlined
def place_of(ordered: Ints, wanted: int) -> int:
    """Where an ascending array holds the value, or else the first larger one."""
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def is_among(ordered: Ints, wanted: int) -> bool:
    """Whether an ascending array holds the value."""
    place = place_of(ordered, wanted)
    return place < len(ordered) and ordered[place] == wanted


@inlined
def is_listed(lists: Lists, number: int, relationship: int) -> bool:
    """Whether a list holds the relationship. Lists are short."""
    offsets, relationships = lists
    for place in range(offsets[number], offsets[number + 1]):  # noqa: SIM110
        if relationships[place] == relationship:
            return True
    return False


@inlined
def count_allowed(side: IncidenceArrays, flags: Flags, node: int) -> int:
    """How many entries of a node have an allowed type."""
    indptr, _, types, _, _ = side
    at, end = indptr[node], indptr[node + 1]
    if len(flags) == 0:
        return int(end - at)
    total = 0
    while at < end:
        stop = run_end(types, at, end)
        if flags[min(types[at], len(flags) - 1)]:
            total += stop - at
        at = stop
    return total


@inlined
def fill_steps(
    side: IncidenceArrays,
    flags: Flags,
    node: int,
    drop_loops: bool,
    number: int,
    row: Ints,
    found: Ints,
    neighbours_found: Ints,
    filled: int,
) -> int:
    """Write the steps from one node over one side; returns the total written so far."""
    indptr, neighbours, types, relationships, first = side
    at, end = indptr[node], indptr[node + 1]
    while at < end:
        stop = end
        if len(flags) > 0:
            stop = run_end(types, at, end)
            if not flags[min(types[at], len(flags) - 1)]:
                at = stop
                continue
        for entry in range(at, stop):
            neighbour = neighbours[entry]
            if drop_loops and neighbour == node:
                continue
            row[filled] = number
            found[filled] = relationships[entry] if len(relationships) else first[0] + entry
            neighbours_found[filled] = neighbour
            filled += 1
        at = stop
    return filled


@kernel
def count_steps(hop: Plain, nodes: Ints) -> int:
    """An upper bound on the steps from these nodes: self-loops are met from both sides and counted twice."""
    total = 0
    for number in range(len(nodes)):
        fetch_both(hop, nodes, number, len(nodes))
        node = nodes[number]
        if 0 <= node < len(hop.outgoing.indptr) - 1:
            if hop.follows[0]:
                total += count_allowed(hop.outgoing, hop.flags, node)
            if hop.follows[1]:
                total += count_allowed(hop.incoming, hop.flags, node)
    return total


@kernel
def expand(hop: Plain, nodes: Ints, row: Ints, found: Ints, neighbours: Ints) -> int:
    """One hop from each node: row, relationships, neighbours. Returns how many steps there are."""
    filled = 0
    for number in range(len(nodes)):
        fetch_both(hop, nodes, number, len(nodes))
        node = nodes[number]
        if 0 <= node < len(hop.outgoing.indptr) - 1:
            if hop.follows[0]:
                filled = fill_steps(hop.outgoing, hop.flags, node, False, number, row, found, neighbours, filled)
            if hop.follows[1]:
                filled = fill_steps(
                    hop.incoming, hop.flags, node, hop.follows[0], number, row, found, neighbours, filled
                )
    return filled


@inlined
def push(side: IncidenceArrays, flags: Flags, node: int, mark: Bytes, queue: Int32s, tail: int) -> int:
    """Append the neighbours not seen yet to the queue; returns its new end."""
    indptr, neighbours, types, _, _ = side
    at, end = indptr[node], indptr[node + 1]
    while at < end:
        stop = end
        if len(flags) > 0:
            stop = run_end(types, at, end)
            if not flags[min(types[at], len(flags) - 1)]:
                at = stop
                continue
        for entry in range(at, stop):
            # Without a branch: see `numba_bfs.py`.
            neighbour = neighbours[entry]
            queue[tail] = neighbour
            tail += int(mark[neighbour] == 0)
            mark[neighbour] = _SEEN
        at = stop
    return tail


@inlined
def push_allowed(
    side: IncidenceArrays,
    flags: Flags,
    excluded: Lists,
    group: int,
    node: int,
    mark: Bytes,
    queue: Int32s,
    tail: int,
) -> int:
    """`push`, without the relationships that the group excludes."""
    indptr, neighbours, types, relationships, first = side
    for entry in range(indptr[node], indptr[node + 1]):
        neighbour = neighbours[entry]
        if mark[neighbour] == 0 and (len(flags) == 0 or flags[min(types[entry], len(flags) - 1)]):
            relationship = relationships[entry] if len(relationships) else first[0] + entry
            if not is_listed(excluded, group, relationship):
                mark[neighbour] = _SEEN
                queue[tail] = neighbour
                tail += 1
    return tail


@inlined
def enter_sources(sources: Ints, first: int, last: int, mark: Bytes, queue: Int32s) -> int:
    """Put the distinct nodes of sources[first:last] into the queue; returns its end."""
    tail = 0
    for place in range(first, last):
        source = sources[place]
        if mark[source] == 0:
            mark[source] = _SEEN
            queue[tail] = source
            tail += 1
    return tail


@unfolded
def entries_at(hop: Plain, node: int) -> int:
    """How many entries a step from a node reads."""
    count = 0
    if hop.follows[0]:
        count += hop.outgoing.indptr[node + 1] - hop.outgoing.indptr[node]
    if hop.follows[1]:
        count += hop.incoming.indptr[node + 1] - hop.incoming.indptr[node]
    return count


@unfolded
def push_both(hop: Plain, excluded: Lists, group: int, node: int, mark: Bytes, queue: Int32s, tail: int) -> int:
    """`push` or `push_allowed` over the sides that the hop follows."""
    if len(excluded.offsets) > 0:
        if hop.follows[0]:
            tail = push_allowed(hop.outgoing, hop.flags, excluded, group, node, mark, queue, tail)
        if hop.follows[1]:
            tail = push_allowed(hop.incoming, hop.flags, excluded, group, node, mark, queue, tail)
    else:
        if hop.follows[0]:
            tail = push(hop.outgoing, hop.flags, node, mark, queue, tail)
        if hop.follows[1]:
            tail = push(hop.incoming, hop.flags, node, mark, queue, tail)
    return tail


@kernel
def bfs_levels(
    hop: Plain,
    excluded: Lists,
    first_of: Ints,
    sources: Ints,
    begin: int,
    upper: int,
    mark_starts: bool,
    budget: int,
    mark: Bytes,
    queue: Int32s,
    counts: Ints,
    found: Ints,
    levels: Ints,
) -> tuple[int, int, int, int]:
    """Breadth-first searches of the groups from `begin` on, until there is no more room for what they find.

    Group g starts from sources[first_of[g]:first_of[g + 1]]. Returns the next group, the depth up to which all of these
    searches are complete, how many nodes and levels were found (counts[g] for each group), and how much room the next
    group may need.
    """
    used, largest, depth = 0, 0, UNLIMITED
    group = begin
    # A group that runs out of room is searched again: better to stop where one like those before would not fit.
    while group < len(first_of) - 1 and used + largest <= len(found):
        head, tail, level, left = 0, 0, 0, budget
        # The sources are the first frontier, marked or not.
        from_sources = not mark_starts
        if mark_starts:
            tail = enter_sources(sources, first_of[group], first_of[group + 1], mark, queue)
        filled = used
        while (head < tail or from_sources) and level < upper:
            level_end = tail
            size = first_of[group + 1] - first_of[group] if from_sources else level_end - head
            if budget >= 0:
                for number in range(size):
                    node = int(sources[first_of[group] + number] if from_sources else queue[head + number])
                    left -= entries_at(hop, node)
                if left < 0:
                    break
            filled = write_level(queue, head, tail, level, found, levels, filled)
            level += 1
            for number in range(size):
                if not from_sources:
                    fetch_both(hop, queue, head + number, level_end)
                node = int(sources[first_of[group] + number] if from_sources else queue[head + number])
                tail = push_both(hop, excluded, group, node, mark, queue, tail)
            head = level_end
            from_sources = False
        filled = write_level(queue, head, tail, level, found, levels, filled)
        for place in range(tail):
            mark[queue[place]] = 0
        if filled > len(found):
            return group, depth, used, filled - used
        if head < tail:
            depth = min(depth, level)
        counts[group] = filled - used
        largest = max(largest, filled - used)
        used = filled
        group += 1
    return group, depth, used, largest


@inlined
def write_level(queue: Int32s, head: int, tail: int, level: int, found: Ints, levels: Ints, filled: int) -> int:
    """Append the nodes of one level to what was found, as far as there is room; returns where they end, or would."""
    for place in range(head, min(tail, head + len(found) - filled)):
        found[filled + place - head] = queue[place]
        levels[filled + place - head] = level
    return filled + tail - head


@inlined
def join(
    side: IncidenceArrays,
    flags: Flags,
    excluded: Lists,
    group: int,
    node: int,
    level: int,
    limit: int,
    drop_loops: bool,
    mark: Bytes,
    queue: Ints,
    levels: Int32s,
    origins: Ints,
    labels: Ints,
    shortest: Ints,
    tail: int,
) -> int:
    """One node of `closing_lengths`: enter its neighbours, and note the trails that its relationships close."""
    indptr, neighbours, types, relationships, first = side
    at, end = indptr[node], indptr[node + 1]
    origin = origins[node]
    while at < end:
        stop = end
        if len(flags) > 0:
            stop = run_end(types, at, end)
            if not flags[min(types[at], len(flags) - 1)]:
                at = stop
                continue
        for entry in range(at, stop):
            neighbour = neighbours[entry]
            relationship = relationships[entry] if len(relationships) else first[0] + entry
            if drop_loops and neighbour == node:
                continue
            if len(excluded.offsets) > 0 and is_listed(excluded, group, relationship):
                continue
            label = relationship if level == 0 else labels[node]
            if mark[neighbour] == 0:
                mark[neighbour] = _SEEN
                levels[neighbour] = level + 1
                origins[neighbour] = origin
                labels[neighbour] = label
                queue[tail] = neighbour
                tail += 1
                continue
            other = origins[neighbour]
            if other != origin:
                closes = True
            elif labels[neighbour] < 0:
                closes = level == 0 or relationship != label
            else:
                closes = label != labels[neighbour]
            length = level + levels[neighbour] + 1
            if closes and length <= limit:
                shortest[origin] = min(shortest[origin], length)
                shortest[other] = min(shortest[other], length)
        at = stop
    return tail


@kernel
def closing_lengths(
    hop: Plain,
    excluded: Lists,
    first_of: Ints,
    sources: Ints,
    begin: int,
    limit: int,
    work: int,
    mark: Bytes,
    queue: Ints,
    levels: Int32s,
    origins: Ints,
    labels: Ints,
    shortest: Ints,
) -> int:
    """Undirected: the shortest trail into each source from a source of its group, into `shortest` (UNLIMITED: none).

    Returns the group to continue with. The search is described in numpy_backend.py.
    """
    group, done = begin, 0
    while group < len(first_of) - 1 and done <= work:
        tail = 0
        for place in range(first_of[group], first_of[group + 1]):
            node = sources[place]
            queue[tail] = node
            mark[node] = _SEEN
            levels[node] = 0
            origins[node] = place
            labels[node] = -1
            tail += 1
        head, level = 0, 0
        while head < tail and 2 * level + 1 <= limit:
            level_end = tail
            for place in range(head, level_end):
                node = queue[place]
                tail = join(
                    hop.outgoing, hop.flags, excluded, group, node, level, limit, False,
                    mark, queue, levels, origins, labels, shortest, tail,
                )  # fmt: skip
                tail = join(
                    hop.incoming, hop.flags, excluded, group, node, level, limit, True,
                    mark, queue, levels, origins, labels, shortest, tail,
                )  # fmt: skip
            head = level_end
            level += 1
            is_open = False
            for place in range(first_of[group], first_of[group + 1]):
                if shortest[place] == UNLIMITED:
                    is_open = True
            if not is_open:
                break
        for place in range(tail):
            mark[queue[place]] = 0
        done += tail
        group += 1
    return group
