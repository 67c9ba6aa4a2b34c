"""A breadth-first search whose levels may be taken by others: nodes are entered one hop from a frontier, or because
another process found them.

Nodes on their way between processes may be bits: bit i of word w is node 64 * w + i.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops.expansion import chunked, gather
from hoplite.engine.hops.interface import Check, Hop, Positions
from hoplite.engine.hops.scratch import Scratch, distinct

# Steps looked at between two calls of a check.
_PIECE = 1 << 18
# Marks are cleared all at once if one node in this many is marked.
_CLEARED_SHARE = 32


class Spread:
    """The nodes entered so far, in plain NumPy, over any adjacency and with masks. Whoever makes it clears it when
    done, and returns the arrays."""

    def __init__(self, hop: Hop, scratch: Scratch) -> None:
        self.hop = hop
        self.scratch = scratch
        self.count = 0
        self._mark = scratch.mark[: hop.node_count]

    @property
    def queue(self) -> NDArray[np.int32] | Positions:
        """The nodes, in the order they were entered."""
        return self.scratch.queue[: self.count]

    def step(self, frontier: NDArray[np.int32] | Positions, check: Check) -> None:
        """Enter the nodes one hop from a frontier, which may itself be part of the queue."""
        nodes = frontier.astype(np.int64)
        for piece in chunked(self.hop, nodes, _PIECE):
            check()
            self.enter(gather(self.hop, nodes, piece.segments).neighbours)

    def enter(self, nodes: NDArray[np.int32] | Positions) -> None:
        """Enter nodes that have not been entered yet."""
        new = nodes[self._mark[nodes] == 0]
        new = new[distinct(new, self.scratch.owner)]
        self._mark[new] = 1
        self.scratch.queue[self.count : self.count + len(new)] = new
        self.count += len(new)

    def enter_bits(self, bits: NDArray[np.uint64]) -> None:
        """The same for nodes that are bits."""
        self.enter(from_bits(bits))

    def as_bits(self) -> NDArray[np.uint64]:
        """All nodes entered."""
        return to_bits(self._mark)

    def clear(self) -> None:
        """Restore the borrowed arrays."""
        if self.count * _CLEARED_SHARE > len(self._mark):
            self._mark[:] = 0
        else:
            self._mark[self.queue] = 0


def to_bits(marked: NDArray[np.uint8] | NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The places that are not zero as bits."""
    words = np.zeros(-(-len(marked) // 64), dtype=np.uint64)
    packed = np.packbits(marked, bitorder="little")
    words.view(np.uint8)[: len(packed)] = packed
    return words


def from_bits(bits: NDArray[np.uint64]) -> Positions:
    """The places of bits that are set, ascending."""
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little").view(np.bool_))
