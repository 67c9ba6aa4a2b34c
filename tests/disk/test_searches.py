"""Search indexes on disk: nothing is made anew when a database is opened, and they answer as those in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hoplite.storage.disk.graph import DiskGraph
from hoplite.storage.disk.indexes import StoredPoints
from hoplite.storage.point_index import PointIndex
from hoplite.storage.search.fulltext import FullTextIndex
from hoplite.storage.search.vectors import VectorIndex
from hoplite.values.spatial import Point
from tests.disk import crash
from tests.disk.faults import QuickFiles
from tests.disk.script import STEPS, state_after, state_of
from tests.disk.searches import answers_of


def _reopened(path: Path) -> DiskGraph:
    graph = DiskGraph(path, files=QuickFiles())
    for step in STEPS:
        step(graph)
    graph.checkpoint()
    graph.close()
    return DiskGraph(path, files=QuickFiles())


def test_nothing_is_made_anew_when_a_database_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = _reopened(tmp_path / "graph.hop")
    expected = state_after(STEPS)

    def refuse(*_: Any) -> Any:
        raise AssertionError("an index was made anew")

    for kind in (VectorIndex, FullTextIndex):
        monkeypatch.setattr(kind, "of", refuse)
    # What was written since is looked at, and that is nothing here.
    monkeypatch.setattr(PointIndex, "of", refuse)
    assert answers_of(graph.snapshot()) == expected[-len(answers_of(graph.snapshot())) :]
    graph.close()


def test_compacting_and_recovering_keep_what_they_answer(tmp_path: Path) -> None:
    graph = _reopened(tmp_path / "graph.hop")
    with graph.begin() as tx:
        tx.create_node(["Person"], {"name": "Ed", "about": "talks of graphs", "v": [1.0, 1.0, 1.0]})
    before = state_of(graph.snapshot())
    for _ in range(2):
        graph.checkpoint()
        assert state_of(graph.snapshot()) == before
    assert graph.verify() == []
    graph.close()


def test_stored_points_are_found_by_place_and_by_value(tmp_path: Path) -> None:
    path = tmp_path / "graph.hop"
    crash.create(path)
    graph = DiskGraph(path, files=QuickFiles())
    for number in range(1, 30):
        crash.commit(graph, number)
    with graph.begin() as tx:
        tx.create_node(["Item"], {"n": 1000, "home": Point(9157, (1.0, 2.0, 3.0))})
        tx.create_node(["Item"], {"n": 1001, "home": Point(4326, (1.0, 2.0))})
    graph.checkpoint()
    snapshot = graph.snapshot()
    code = snapshot._delta.base.tokens.labels.code("Item")
    assert code is not None
    index = snapshot._delta.base.node_index(code, "home")
    assert isinstance(index, StoredPoints) and len(index) == 31 and index.distinct == 31
    for point in (Point(9157, (1.0, 2.0, 3.0)), Point(4326, (1.0, 2.0)), Point(7203, (7.0, 1.0))):
        (node,) = snapshot.seek_nodes("Item", "home", [point])[1].tolist()
        assert snapshot.node_properties(node)["home"] == point
        assert node in snapshot.seek_near("Item", "home", point, 0.5)
    assert len(snapshot.seek_box("Item", "home", Point(7203, (3.0, 0.0)), Point(7203, (5.0, 2.0)))) == 3
    assert graph.verify() == []
    graph.close()
