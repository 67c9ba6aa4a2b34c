"""A breadth-first search, one level at a time: one source or several distinct ones go in, the nodes at each distance
come out.

For each node, the search remembers in borrowed arrays

    mark    uint8   1: it was entered
    level   int32   after how many relationships
    owner   int64   the node it was entered from
    label   int64   the relationship it was entered by

so that one shortest path to each node can be read off, and all of them found by asking which steps lead from one level
to the next. Whoever makes a search clears it when done, and returns the arrays.
"""

from __future__ import annotations

import numpy as np

from hoplite.engine.hops.expansion import breadth, chunked, gather
from hoplite.engine.hops.interface import Check, Hop, Positions
from hoplite.engine.hops.scratch import Scratch, distinct

# Steps looked at between two calls of a check.
_PIECE = 1 << 18


class Search:
    """The search in plain NumPy, over any adjacency and with masks."""

    def __init__(self, hop: Hop, source: int | Positions, scratch: Scratch) -> None:
        self.hop = hop
        self.scratch = scratch
        # The nodes of each level so far.
        self.levels: list[Positions] = [np.atleast_1d(np.asarray(source, dtype=np.int64))]
        scratch.mark[source] = 1
        scratch.level[source] = 0

    @property
    def frontier(self) -> Positions:
        """The nodes entered last; none once the search has ended."""
        return self.levels[-1]

    @property
    def depth(self) -> int:
        """How many levels were entered after the sources."""
        return len(self.levels) - 1

    def breadth(self) -> int:
        """About how many steps the next level has to look at."""
        return breadth(self.hop, self.frontier)

    def step(self, check: Check) -> Positions:
        """Enter the next level and return its nodes."""
        scratch, frontier, level = self.scratch, self.frontier, len(self.levels)
        entered = [frontier[:0]]
        for piece in chunked(self.hop, frontier, _PIECE):
            check()
            found = gather(self.hop, frontier, piece.segments)
            new = np.flatnonzero(scratch.mark[found.neighbours] == 0)
            new = new[distinct(found.neighbours[new], scratch.owner)]
            nodes = found.neighbours[new]
            scratch.mark[nodes] = 1
            scratch.level[nodes] = level
            scratch.owner[nodes] = frontier[found.row[new]]
            scratch.label[nodes] = found.relationships[new]
            entered.append(nodes)
        self.levels.append(entered[1] if len(entered) == 2 else np.concatenate(entered))
        return self.frontier

    def paths_to(self, nodes: Positions, level: int) -> tuple[Positions, Positions]:
        """One shortest path to each node of a level, a row each: its relationships, and the nodes they lead to."""
        relationships = np.empty((len(nodes), level), dtype=np.int64)
        along = np.empty((len(nodes), level), dtype=np.int64)
        for place in range(level - 1, -1, -1):
            along[:, place] = nodes
            relationships[:, place] = self.scratch.label[nodes]
            nodes = self.scratch.owner[nodes]
        return relationships, along

    def clear(self) -> None:
        """Restore the borrowed arrays."""
        for nodes in self.levels:
            self.scratch.mark[nodes] = 0
