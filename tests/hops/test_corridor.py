"""The nodes between some starts and some ends, against all walks one by one."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hoplite.engine.hops import BackendName, Hop, Positions, Side, expand
from hoplite.engine.hops.corridor import corridor
from tests.hops.test_bfs import few_backends, parted
from tests.hops.test_work import random_hop

_NODES = 40


def walks(hops: list[Hop], start: int) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [(start,)]
    for hop in hops:
        found = [
            (*walk, end)
            for walk in found
            for end in sorted(set(expand(hop, np.array(walk[-1:]), backend="numpy").neighbours.tolist()))
        ]
    return found


@few_backends
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("gives_ends", [True, False])
def test_a_corridor_has_the_nodes_on_walks_and_no_others(backend: BackendName, seed: int, gives_ends: bool) -> None:
    chance = random.Random(seed)
    sides = [chance.choice(list(Side)) for _ in range(chance.randint(1, 4))]
    hops = [random_hop(_NODES, 50, side, chance.choice((None, [1, 2]))) for side in sides]
    hops = [parted(hop, 3) for hop in hops] if seed % 2 else hops
    starts = np.array(sorted(chance.sample(range(_NODES), 3)))
    ends = np.array(sorted(chance.sample(range(_NODES), chance.choice((1, 12)))))
    refused = set(chance.sample(range(_NODES), 10))

    def allowed(level: int, nodes: Positions) -> Positions:
        among = set(ends.tolist()) if level == len(hops) else set(range(_NODES)) - refused
        return nodes[[node in among for node in nodes.tolist()]]

    expected: list[set[int]] = [set() for _ in range(len(hops) + 1)]
    for walk in (walk for start in starts.tolist() for walk in walks(hops, start)):
        if walk[-1] in ends and not refused.intersection(walk[1:-1]):
            for level, node in enumerate(walk):
                expected[level].add(node)
    found = corridor(hops, starts, ends if gives_ends else None, allowed, backend=backend)
    assert [sorted(nodes.tolist()) for nodes in found] == [sorted(nodes) for nodes in expected]
