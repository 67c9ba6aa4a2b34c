"""The limit: the cost of a k-hop ball when nothing but the hops is done. Arrays and seeds in, node numbers out.

    ball(k) = seeds, and whatever a plain push loop adds to them in k rounds

starts   int32[n + 1]   where the ends of each node begin
ends     int32[m]       of the relationships, parallel ones kept
seen     uint64[n/64]   a bit for each node, all clear between calls
queue    int32[n]       the ball, in the order it was found

One core, no change of direction, no map of ids; the answer is copied from the queue as a NumPy array. Engines are
measured as a multiple of this, timed in the same process, query by query.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.shapes import Shape


@cache
def push_loop() -> Callable[..., int]:
    """The compiled loop: (starts, ends, seeds, k, seen, queue) -> how many nodes of the queue are the ball."""
    from numba import njit

    def push(
        starts: Any, ends: NDArray[np.int32], seeds: NDArray[np.int32], k: int, seen: Any, queue: NDArray[np.int32]
    ) -> int:
        one = np.uint64(1)
        tail = 0
        for seed in seeds:
            bit = one << np.uint64(seed & 63)
            if not seen[seed >> 6] & bit:
                seen[seed >> 6] |= bit
                queue[tail] = seed
                tail += 1
        head = 0
        for _ in range(k):
            level = tail
            while head < level:
                node = queue[head]
                head += 1
                for place in range(starts[node], starts[node + 1]):
                    end = ends[place]
                    bit = one << np.uint64(end & 63)
                    if not seen[end >> 6] & bit:
                        seen[end >> 6] |= bit
                        queue[tail] = end
                        tail += 1
            if tail == level:
                break
        for place in range(tail):
            seen[queue[place] >> 6] = np.uint64(0)
        return tail

    compiled: Callable[..., int] = njit(nogil=True)(push)
    return compiled


def out_arrays(shape: Shape) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Where the ends of each node begin, and the ends."""
    starts = np.zeros(shape.node_count + 1, np.int32)
    np.cumsum(np.bincount(shape.start, minlength=shape.node_count), out=starts[1:])
    return starts, shape.end[np.argsort(shape.start, kind="stable")].astype(np.int32)


class Limit:
    """The push loop over one shape."""

    def __init__(self, shape: Shape) -> None:
        self._push = push_loop()
        self._starts, self._ends = out_arrays(shape)
        self._seen = np.zeros(shape.node_count // 64 + 1, np.uint64)
        self._queue = np.empty(shape.node_count, np.int32)

    def ball(self, seeds: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        size = self._push(self._starts, self._ends, seeds, k, self._seen, self._queue)
        return self._queue[:size].copy()
