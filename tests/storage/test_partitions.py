"""Dealing nodes to partitions, and that no number of partitions changes an answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.storage.graph import Graph
from hoplite.storage.partition import deal
from tests.storage.model import entries


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=60), st.integers(1, 5))
def test_no_partition_is_more_than_a_node_heavier_than_another(degrees: list[tuple[int, int]], partitions: int) -> None:
    outs, ins = np.array(degrees, np.int64).reshape(-1, 2).T
    dealt = deal(outs, ins, partitions)
    assert len(dealt) == len(degrees) and (not len(dealt) or int(dealt.max()) < partitions)
    for loads in (np.bincount(dealt, outs, partitions), np.bincount(dealt, ins, partitions)):
        assert loads.max() - loads.min() <= 12  # two of the largest


def test_one_hub_does_not_unbalance_either_side() -> None:
    """Hubs of a few per cent of all relationships on one side: small nodes make up for them on both."""
    random = np.random.default_rng(5)
    outs, ins = random.zipf(1.9, 50_000).clip(1, 300) - 1, random.zipf(1.9, 50_000).clip(1, 300) - 1
    outs[:3], ins[3:6] = outs.sum() // 30, ins.sum() // 40
    for partitions in (2, 7, 16):
        dealt = deal(outs, ins, partitions)
        for degrees in (outs, ins):
            loads = np.bincount(dealt, degrees, partitions)
            assert loads.max() <= 1.05 * loads.mean() and loads.min() >= 0.95 * loads.mean()


@pytest.mark.parametrize("partitions", [1, 2, 5])
def test_every_partition_count_holds_the_same_relationships(partitions: int) -> None:
    random = np.random.default_rng(3)
    graph = Graph(partitions)
    with graph.bulk() as load:
        nodes = load.add_nodes(("A",), 40, {})
        for type in ("R", "S"):
            load.add_relationships(type, random.choice(nodes, 200), random.choice(nodes, 200), {})
        load.commit()
    snapshot = graph.snapshot()
    random = np.random.default_rng(3)
    expected = [
        (int(start), int(end), type)
        for type in (0, 1)
        for start, end in zip(random.choice(nodes, 200), random.choice(nodes, 200), strict=True)
    ]
    outgoing, incoming = snapshot.adjacency(True), snapshot.adjacency(False)
    assert len(outgoing.partitions) == partitions and outgoing.is_plain == (partitions == 1)
    forwards = [(node, other, type) for node in range(40) for type, other, _ in entries(outgoing, node)]
    backwards = [(other, node, type) for node in range(40) for type, other, _ in entries(incoming, node)]
    assert sorted(forwards) == sorted(backwards) == sorted(expected)
    if partitions > 1:
        sizes = [
            len(part.neighbours) + len(other.neighbours)
            for part, other in zip(outgoing.partitions, incoming.partitions, strict=True)
        ]
        assert max(sizes) - min(sizes) <= 40
