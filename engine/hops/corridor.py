"""The nodes on the walks along a chain of hops from some starts to some ends, level by level.

Frontiers of distinct nodes go from both sides, always from the one with fewer relationships to follow, until they meet
at a level. Back from there, each level keeps what leads to the next one: a node that remains is on a walk from a start
to an end. The cost is the number of relationships of the distinct nodes passed, however many walks there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hoplite.engine.hops.interface import Check, Hop, Positions, unchecked
from hoplite.engine.hops.pairs import neighbours_of_all
from hoplite.engine.hops.select import BackendName
from hoplite.engine.hops.steps import degrees

# (level, distinct nodes) -> those of them that a walk may pass through at this level, or end in at the last one.
Allowed = Callable[[int, Positions], Positions]


def corridor(
    hops: Sequence[Hop],
    starts: Positions,
    ends: Positions | None,
    allowed: Allowed,
    *,
    check: Check = unchecked,
    backend: BackendName = "auto",
) -> list[Positions]:
    """The distinct nodes of each level that are on a walk: of the starts first, of the ends last. Without given ends,
    a walk ends in whatever is allowed at the last level. `starts` and `ends` are distinct; ends are allowed already.
    """

    def forwards(level: int, nodes: Positions) -> Positions:
        return neighbours_of_all(hops[level], nodes, check=check, backend=backend).astype(np.int64, copy=False)

    def backwards(level: int, nodes: Positions) -> Positions:
        turned = hops[level - 1].turned()
        return neighbours_of_all(turned, nodes, check=check, backend=backend).astype(np.int64, copy=False)

    def work(hop: Hop, nodes: Positions) -> int:
        return int(degrees(hop, nodes, check=check, backend=backend).sum())

    first, final = 0, len(hops)  # the levels that the two frontiers are at
    known = {first: starts}
    if ends is not None:
        known[final] = ends
    while first < final:
        if any(not len(nodes) for nodes in known.values()):
            return [starts[:0]] * (len(hops) + 1)
        back = ends is not None and work(hops[final - 1].turned(), known[final]) < work(hops[first], known[first])
        reached = backwards(final, known[final]) if back else forwards(first, known[first])
        first, final = (first, final - 1) if back else (first + 1, final)
        level = final if back else first
        known[level] = _both(known[level], reached) if level in known else allowed(level, reached)
    for level in range(first - 1, -1, -1):
        known[level] = _both(known[level], backwards(level + 1, known[level + 1]))
    for level in range(first + 1, len(hops) + 1):
        known[level] = _both(known[level], forwards(level - 1, known[level - 1]))
    return [known[level] for level in range(len(hops) + 1)]


def _both(one: Positions, other: Positions) -> Positions:
    """The nodes that are among both."""
    return np.intersect1d(one, other, assume_unique=True)
