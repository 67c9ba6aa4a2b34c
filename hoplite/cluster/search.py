"""A search for shortest paths whose wide levels are entered by workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from hoplite.cluster.pool import Check
from hoplite.cluster.worker import Entered
from hoplite.engine.hops.interface import Hop, Positions
from hoplite.engine.hops.scratch import Scratch
from hoplite.engine.hops.search import Search


class Owning(Protocol):
    """Whoever has workers to ask."""

    def shares_level(self, hop: Hop, frontier: Positions) -> bool:
        """Whether a level is worth a message to each worker."""
        ...

    def entered(self, hop: Hop, frontier: Positions, check: Check) -> Sequence[Entered] | None:
        """What each worker finds one hop from its share of a frontier; None if a condition fails in one of them."""
        ...


class SharedSearch(Search):
    """`Search`, with each wide level sent to the owners of its nodes."""

    def __init__(self, workers: Owning, hop: Hop, source: int | Positions, scratch: Scratch) -> None:
        super().__init__(hop, source, scratch)
        self._workers = workers

    def step(self, check: Check) -> Positions:
        frontier, scratch, level = self.frontier, self.scratch, len(self.levels)
        if not self._workers.shares_level(self.hop, frontier):
            return super().step(check)
        answers = self._workers.entered(self.hop, frontier, check)
        if answers is None:
            return super().step(check)
        entered = [frontier[:0]]
        for found in answers:
            new = np.flatnonzero(scratch.mark[found.nodes] == 0)
            nodes = found.nodes[new].astype(np.int64)
            scratch.mark[nodes] = 1
            scratch.level[nodes] = level
            scratch.owner[nodes] = found.owners[new]
            scratch.label[nodes] = found.relationships[new]
            entered.append(nodes)
        self.levels.append(np.concatenate(entered))
        return self.frontier
