"""Dealing nodes to partitions, and that no number of partitions changes an answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.storage.graph import Graph
from hoplite.storage.partition import deal
from tests.storage.model import entries


@given(st.lists(st.integers(0, 6), max_size=60), st.integers(1, 5))
def test_the_largest_go_first_and_to_the_lightest(degrees: list[int], partitions: int) -> None:
    dealt = deal(np.array(degrees, np.int64), partitions)
    loads = [0] * partitions
    for node in np.argsort(-np.array(degrees, np.int64), kind="stable").tolist():
        assert loads[dealt[node]] == min(loads)
        loads[dealt[node]] += max(degrees[node], 1)


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
