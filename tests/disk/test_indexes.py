"""Indexes in files find what indexes in memory find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hoplite
from hoplite.storage.disk.graph import DiskGraph
from hoplite.storage.disk.indexes import StoredStrings
from hoplite.storage.graph import Graph
from hoplite.storage.importers.tables import load_tables
from hoplite.storage.schema import Entity, IndexKind
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.value_index import Bound
from tests.disk.faults import QuickFiles

TEXTS = st.text(st.sampled_from("ab\u00e9\U0001f600\uffff"), max_size=3)
VALUES = (
    st.lists(TEXTS | st.none(), max_size=30)
    | st.lists(st.integers(-3, 3) | st.none(), max_size=30)
    | st.lists(st.sampled_from([-0.0, 0.0, 1.5, float("nan"), float("inf")]) | st.none(), max_size=30)
    | st.lists(st.sampled_from([1, "a", True, 2.5]), max_size=10)
)
PROBES: list[Any] = [
    "",
    "a",
    "b",
    "ab",
    "\u00e9",
    "\U0001f600",
    "\uffff",
    "a\ud800",
    0,
    1,
    1.5,
    float("nan"),
    True,
    None,
    [1],
]


def fill(graph: Graph, values: list[Any]) -> None:
    with graph.begin() as tx:
        tx.create_index("i", IndexKind.RANGE, Entity.NODE, ["N"], ["v"])
        tx.create_index("r", IndexKind.RANGE, Entity.RELATIONSHIP, ["R"], ["v"])
    with graph.begin() as tx:
        for number, value in enumerate(values):
            node = tx.create_node(["N"] if number % 3 else ["N", "M"], {} if value is None else {"v": value})
            tx.create_node(["M"], {"v": "a"})
            tx.create_relationship(node, node, "R", {} if value is None else {"v": value})


def answers(snapshot: Snapshot) -> list[Any]:
    found: list[Any] = []
    for probe in PROBES:
        for seek, ids in (
            (snapshot.seek_nodes, snapshot.node_ids),
            (snapshot.seek_relationships, snapshot.relationship_ids),
        ):
            positions = seek("N" if ids == snapshot.node_ids else "R", "v", [probe])[1]
            found.append(sorted(ids(positions).tolist()))
        if isinstance(probe, str):
            found.append(sorted(snapshot.node_ids(snapshot.seek_prefix("N", "v", probe)).tolist()))
        for bound in (Bound(probe, True), Bound(probe, False)):
            for low, high in ((bound, None), (None, bound)):
                found.append(sorted(snapshot.node_ids(snapshot.seek_range("N", "v", low, high)).tolist()))
    return found


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=VALUES, partitions=st.integers(1, 3))
def test_seeks_on_disk_find_what_seeks_in_memory_find(
    values: list[Any], partitions: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    memory = Graph()
    disk = DiskGraph(tmp_path_factory.mktemp("graph") / "graph.hop", files=QuickFiles(), partitions=partitions)
    for graph in (memory, disk):
        fill(graph, values)
    memory.fold()
    disk.checkpoint()
    assert answers(disk.snapshot()) == answers(memory.snapshot())
    assert disk.snapshot().distinct_values("N", "v") == memory.snapshot().distinct_values("N", "v")
    assert disk.verify() == []
    disk.close()


def test_a_look_up_of_a_string_reads_few_of_them(tmp_path: Path) -> None:
    graph = DiskGraph(tmp_path / "graph.hop", files=QuickFiles(), memory=1)
    names = [f"name {number}" for number in range(5_000)]
    load_tables(graph, {"N": {"id": names}}, {})
    snapshot = graph.snapshot()
    index = snapshot._delta.base.node_index(0, "id")
    assert isinstance(index, StoredStrings)
    assert snapshot.seek_nodes("N", "id", ["name 4321"])[1].tolist() == [4321]
    assert "column" not in index.__dict__
    assert np.array_equal(snapshot.seek_prefix("N", "id", "name 499"), [499, *range(4990, 5000)])
    graph.close()


def test_the_planner_uses_them(tmp_path: Path) -> None:
    with hoplite.open(tmp_path / "graph.hop") as db:
        db.load(nodes={"Drug": {"id": ["a", "b", "c"]}})
        assert "Unique" in db.explain("MATCH (d:Drug {id: 'b'}) RETURN d")
        assert db.run("MATCH (d:Drug {id: 'b'}) RETURN d.id").value() == ["b"]
