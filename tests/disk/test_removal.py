"""Removing old snapshots while others are written: what is new is left alone, whenever it appears."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import hoplite
from hoplite.storage.disk.graph import DiskGraph
from hoplite.storage.disk.stored import StoredBase
from tests.disk.faults import QuickFiles


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[DiskGraph]:
    graph = DiskGraph(tmp_path / "graph.hop", files=QuickFiles())
    with graph.bulk() as load:
        load.add_nodes(("N",), 100, {})
        load.commit()
    yield graph
    graph.close()


def test_what_a_load_begins_to_write_is_left_alone(graph: DiskGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    current, forget = graph._manifest.snapshot, graph._cache.forget

    def meanwhile(about: Callable[[object], bool]) -> None:
        with graph._new_number() as number:
            (graph.root / f"snapshot-{number}").mkdir()
        forget(about)

    monkeypatch.setattr(graph._cache, "forget", meanwhile)
    graph._remove_all_but(current)
    assert (graph.root / f"snapshot-{current + 1}").exists()
    monkeypatch.undo()
    graph._remove_all_but(current)
    assert not (graph.root / f"snapshot-{current + 1}").exists()


def test_what_a_load_has_just_put_into_force_is_left_alone(graph: DiskGraph) -> None:
    """A load that ends at the moment in which the numbers being written are read."""
    current = graph._manifest.snapshot
    (graph.root / f"snapshot-{current + 1}").mkdir()
    base = graph._delta.base
    assert isinstance(base, StoredBase)
    reader = weakref.ref(base.reader)

    class Written:
        def __iter__(self) -> Iterator[int]:
            graph._readers.append((current + 1, reader))
            return iter(())

    graph._being_written = Written()  # type: ignore[assignment]
    graph._remove_all_but(current)
    assert (graph.root / f"snapshot-{current + 1}").exists()
    graph._being_written = set()


def test_loads_beside_checkpoints_find_all_their_files(tmp_path: Path) -> None:
    with hoplite.open(tmp_path / "graph.hop", durability="relaxed") as db:
        stop, failed = threading.Event(), list[BaseException]()

        def checkpoint() -> None:
            while not stop.is_set():
                try:
                    db.checkpoint()
                except Exception as error:
                    failed.append(error)

        threads = [threading.Thread(target=checkpoint) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for number in range(15):
                db.load(nodes={"N": {"id": np.arange(number * 200, number * 200 + 200)}}, key="id")
                db.run("CREATE (:M)").consume()
                assert db.run("MATCH (n:N) RETURN count(n), max(n.id)").values() == [
                    [number * 200 + 200, number * 200 + 199]
                ]
        finally:
            stop.set()
            for thread in threads:
                thread.join()
    assert failed == []
    with hoplite.open(tmp_path / "graph.hop") as db:
        assert db.run("MATCH (n) RETURN count(n)").value() == [15 * 201]
        assert db.verify() == []
