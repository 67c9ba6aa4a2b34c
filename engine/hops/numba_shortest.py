"""Breadth-first search with parents, compiled: see `search.py`."""

from __future__ import annotations

import numpy as np

from hoplite.engine.hops.compiled import Bytes, Int32s, Ints, kernel
from hoplite.engine.hops.interface import Check, Hop, Positions
from hoplite.engine.hops.numba_kernels import Plain, fetch_both, run_end
from hoplite.engine.hops.scratch import Scratch
from hoplite.engine.hops.search import Search

# Entries looked at between two calls of a check.
_WORK = 1 << 22


@kernel
def enter(
    hop: Plain,
    queue: Ints,
    head: int,
    end: int,
    tail: int,
    level: int,
    work: int,
    mark: Bytes,
    levels: Int32s,
    owner: Ints,
    label: Ints,
) -> tuple[int, int]:
    """Enter the neighbours of queue[head:end] that are not marked, at `level`, from queue[tail] on.

    Returns the new head and tail, after a bounded amount of work or with head at the end.
    """
    flags = hop.flags
    while head < end and work > 0:
        fetch_both(hop, queue, head, end)
        node = queue[head]
        head += 1
        for side in range(2):
            if not hop.follows[side]:
                continue
            indptr, neighbours, types, relationships, first = hop.outgoing if side == 0 else hop.incoming
            at, last = indptr[node], indptr[node + 1]
            work -= last - at + 1
            while at < last:
                stop = last
                if len(flags) > 0:
                    stop = run_end(types, at, last)
                    if not flags[min(types[at], len(flags) - 1)]:
                        at = stop
                        continue
                for entry in range(at, stop):
                    neighbour = np.int64(neighbours[entry])
                    if mark[neighbour] == 0:
                        mark[neighbour] = 1
                        levels[neighbour] = level
                        owner[neighbour] = node
                        label[neighbour] = relationships[entry] if len(relationships) else first[0] + entry
                        queue[tail] = neighbour
                        tail += 1
                at = stop
    return head, tail


class CompiledSearch(Search):
    """`Search` over the arrays of a plain adjacency. The borrowed `queue` holds all levels one after another."""

    def __init__(self, arrays: Plain, hop: Hop, source: int | Positions, scratch: Scratch) -> None:
        super().__init__(hop, source, scratch)
        self._arrays = arrays
        self._head, self._tail = 0, len(self.frontier)
        scratch.queue[: self._tail] = self.frontier

    def step(self, check: Check) -> Positions:
        scratch, end = self.scratch, self._tail
        while self._head < end:
            check()
            self._head, self._tail = enter(
                self._arrays, scratch.queue, self._head, end, self._tail, len(self.levels), _WORK,
                scratch.mark, scratch.level, scratch.owner, scratch.label,
            )  # fmt: skip
        self.levels.append(scratch.queue[end : self._tail])
        return self.frontier
