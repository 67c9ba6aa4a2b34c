"""The keys of many entities at once are those of each, in the same order, whatever was written and folded."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hoplite.storage.graph import Graph
from hoplite.storage.snapshot import Snapshot

_KEYS = ("a", "b", "c", "d")


def some_properties(chance: random.Random) -> dict[str, object]:
    """A few keys, in any order, with values of several kinds."""
    return {key: chance.choice((1, 2.5, "text", True, [1, 2])) for key in chance.sample(_KEYS, chance.randrange(5))}


def check(graph: Snapshot, chance: random.Random) -> None:
    """Compare both ways for a sample in which entities come several times."""
    nodes = np.array(chance.choices(graph.nodes().tolist(), k=20), np.int64)
    assert graph.keys_of_nodes(nodes).tolist() == [graph.node_keys(node) for node in nodes.tolist()]
    all_relationships = graph.relationships().tolist()
    relationships = np.array(chance.choices(all_relationships, k=20) if all_relationships else [], np.int64)
    assert graph.keys_of_relationships(relationships).tolist() == [
        graph.relationship_keys(r) for r in relationships.tolist()
    ]


@pytest.mark.parametrize("seed", range(20))
def test_all_at_once_is_as_one_by_one(seed: int) -> None:
    chance = random.Random(seed)
    graph = Graph(partitions=chance.choice((1, 3)), fold_minimum=10_000)
    for _ in range(6):
        with graph.begin() as tx:
            nodes = [
                tx.create_node(chance.sample(("L", "M"), chance.randrange(3)), some_properties(chance))
                for _ in range(chance.randrange(1, 8))
            ]
            nodes += tx.nodes().tolist()
            for _ in range(chance.randrange(6)):
                start, end = chance.choices(nodes, k=2)
                tx.create_relationship(start, end, chance.choice("RS"), some_properties(chance))
            for node in chance.sample(nodes, min(3, len(nodes))):
                tx.set_node_property(node, chance.choice(_KEYS), chance.choice((None, 3, "other")))
            for relationship in tx.relationships().tolist()[:2]:
                tx.set_relationship_property(relationship, chance.choice(_KEYS), chance.choice((None, 3, "other")))
            check(tx, chance)
        del tx
        if chance.random() < 0.5:
            graph.fold()
        check(graph.snapshot(), chance)
