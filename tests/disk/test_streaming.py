"""Bulk loads and checkpoints in bounded memory: what goes through files on its way is the same graph in the end."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hoplite
from hoplite.errors import CypherError
from hoplite.storage import incidence
from hoplite.storage.bulk import BulkLoad
from hoplite.storage.disk.graph import DiskGraph
from hoplite.storage.graph import Graph
from hoplite.storage.importers.tables import load_tables
from hoplite.storage.ordering import order_of, sorted_columns
from hoplite.storage.spill import PlainArrays, Spill, joined
from hoplite.values.columns import from_objects
from tests.disk.faults import FailOnce, QuickFiles
from tests.disk.script import state_of

VALUES: list[Any] = [None, 1, -5, 2**40, 1.5, float("inf"), True, "text", "é😀", "\ud800", "", [1, 2], ["a"], b"bytes"]


def add(load: BulkLoad, seed: int) -> None:
    """Nodes and relationships of several kinds, with values of one kind, of mixed kinds, and hardly any."""
    random = np.random.default_rng(seed)
    for count in (30, 1, 25):
        numbers = list(range(count))
        load.add_nodes(
            ("A", "B")[: int(random.integers(0, 3))],
            count,
            {
                "number": from_objects([seed * 1000 + number for number in numbers]),
                "text": from_objects([f"text {number % 7}" for number in numbers]),
                "some": from_objects([number * 0.5 if number % 3 else None for number in numbers]),
                "rare": from_objects([True if number == 17 else None for number in numbers]),
                "mixed": from_objects([VALUES[int(choice)] for choice in random.integers(0, len(VALUES), count)]),
            },
        )
    total = load.snapshot.node_count + 56
    for type in ("R", "S", "R"):
        ends = random.integers(0, total, (2, 40))
        load.add_relationships(
            type,
            ends[0],
            ends[1],
            {
                "weight": from_objects(random.random(40).tolist()),
                "word": from_objects([None if number % 2 else f"w{number}" for number in range(40)]),
                "odd": from_objects([VALUES[int(choice)] for choice in random.integers(0, len(VALUES), 40)]),
            },
        )


def write(graph: Graph) -> None:
    """New, changed and removed entities."""
    with graph.begin() as tx:
        node = tx.create_node(["A", "C"], {"number": 7, "text": 5})
        tx.create_relationship(node, 3, "T", {"weight": 1})
        tx.set_node_property(4, "text", None)
        tx.set_node_property(5, "mixed", "now a text")
        for relationship in tx.relationships_of(9).tolist():
            tx.delete_relationship(relationship)
        tx.delete_node(9)


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("keeps_order", [True, False])
def test_a_graph_that_goes_through_files_is_the_same(
    compact: bool, partitions: int, keeps_order: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compact:
        monkeypatch.setattr(incidence, "COMPACT_AT", 0)
    stored = DiskGraph(tmp_path / "g.hop", files=QuickFiles(), partitions=partitions, memory=1, spill_bytes=0)
    plain = Graph()
    for seed in (1, 2):
        for graph in (stored, plain):
            with graph.bulk(keeps_order=keeps_order) as load:
                add(load, seed)
                load.commit()
    if keeps_order:
        assert state_of(stored.snapshot()) == state_of(plain.snapshot())
    assert _content(stored) == _content(plain)
    for graph in (stored, plain):
        write(graph)
        graph.checkpoint()
    assert _content(stored) == _content(plain)
    assert stored.verify() == []
    assert sorted(path.name for path in (tmp_path / "g.hop").iterdir() if path.name.startswith("scratch")) == []
    stored.close()
    again = DiskGraph(tmp_path / "g.hop", files=QuickFiles(), memory=1)
    assert _content(again) == _content(plain)
    again.close()


def _content(graph: Graph) -> list[Any]:
    """Nodes by id; relationships without their ids, which need not be the same."""
    snapshot = graph.snapshot()
    nodes, relationships = snapshot.nodes(), snapshot.relationships()
    ids = snapshot.node_ids(nodes).tolist()
    starts, ends = (snapshot.node_ids(side).tolist() for side in snapshot.endpoints(relationships))
    names = snapshot.type_names
    types = [names[code] for code in snapshot.relationship_types(relationships).tolist()]
    maps = snapshot.relationship_property_maps(relationships)
    described = sorted(
        repr((start, type, end, sorted(held.items())))
        for start, type, end, held in zip(starts, types, ends, maps, strict=True)
    )
    labels = [sorted(some) for some in snapshot.label_sets(nodes)]
    held = [repr(sorted(some.items())) for some in snapshot.node_property_maps(nodes)]
    return [sorted(zip(ids, labels, held, strict=True)), described]


def test_tables_come_in_batches(tmp_path: Path) -> None:
    def nodes() -> Iterator[dict[str, Any]]:
        for first in range(0, 100, 10):
            yield {"id": np.arange(first, first + 10), "name": [f"n{number}" for number in range(first, first + 10)]}

    def relationships() -> Iterator[dict[str, Any]]:
        for first in range(0, 90, 30):
            yield {"start": np.arange(first, first + 30), "end": np.arange(first + 1, first + 31)}

    with hoplite.open(tmp_path / "g.hop") as db:
        made = db.load(nodes={"N": nodes()}, relationships={("N", "NEXT", "N"): relationships()})
        assert (made["nodes"], made["relationships"]) == (100, 90)
        assert db.run("MATCH (:N {id: 42})-[:NEXT*2]->(n) RETURN n.name").value() == ["n44"]
        bad = iter([{"id": [1000]}, {"id": [1001, None]}])
        with pytest.raises(Exception, match="row 2: the key 'id' is null"):
            db.load(nodes={"N": bad}, relationships={})
        assert db.run("MATCH (n) RETURN count(n)").value() == [100]


class FullAfter(QuickFiles):
    """The disk is full after this many bytes."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, file: int, data: bytes | memoryview, offset: int) -> None:
        self.room -= len(data)
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().write(file, data, offset)


@pytest.mark.parametrize("room", [20_000, 60_000, 100_000, 150_000])
def test_a_disk_that_fills_up_on_the_way_leaves_nothing_behind(room: int, tmp_path: Path) -> None:
    files = FullAfter(10**9)
    graph = DiskGraph(tmp_path / "g.hop", files=files, partitions=2, spill_bytes=0)
    before = state_of(graph.snapshot())
    files.room = room
    numbers = np.arange(3_000)
    tables: Any = {"N": {"id": numbers}}, {("N", "R", "N"): {"start": numbers, "end": numbers[::-1]}}
    with pytest.raises(CypherError, match=r"No space left on device.*The load was rolled back"):
        load_tables(graph, *tables)
    files.room = 10**9
    assert state_of(graph.snapshot()) == before and graph.verify() == []
    assert {path.name for path in graph.root.iterdir()} == {"manifest.json", "snapshot-1", "wal-1.log", "lock"}
    load_tables(graph, *tables)
    assert graph.snapshot().node_count == 3_000
    graph.close()


@pytest.mark.parametrize("first", range(1, 8))
def test_any_step_of_a_load_through_files_may_fail(first: int, tmp_path: Path) -> None:
    numbers = np.arange(50)
    tables: Any = {"N": {"id": numbers}}, {("N", "R", "N"): {"start": numbers, "end": numbers[::-1]}}
    failed = 0
    for step in range(first, 10_000, 7):
        path = tmp_path / f"{step}.hop"
        DiskGraph(path, files=QuickFiles(), partitions=2).close()
        files = FailOnce(step)
        try:
            graph = DiskGraph(path, files=files, partitions=2, spill_bytes=0)
        except CypherError:
            continue
        try:
            load_tables(graph, *tables)
            expected = 50
        except CypherError:
            failed += 1
            expected = 0
        assert graph.snapshot().node_count == expected, files.failed
        graph.close()
        again = DiskGraph(path, files=QuickFiles())
        assert again.snapshot().node_count == expected and again.verify() == [], files.failed
        assert not list(path.glob("scratch-*"))
        again.close()
        if not files.failed:
            break
    assert failed > 5


def test_what_a_crash_left_of_a_load_is_removed_at_the_next_opening(tmp_path: Path) -> None:
    path = tmp_path / "g.hop"
    DiskGraph(path, files=QuickFiles()).close()
    (path / "scratch-7").mkdir()
    (path / "scratch-7" / "spill-0").write_bytes(b"half of it")
    DiskGraph(path, files=QuickFiles()).close()
    assert not (path / "scratch-7").exists()


class MemoryScratch:
    """A place for files that is not on disk."""

    def __init__(self) -> None:
        self.files: dict[str, bytearray] = {}

    def append(self, name: str, array: np.ndarray[Any, Any]) -> int:
        held = self.files.setdefault(name, bytearray())
        held += array.tobytes()
        return len(held) - array.nbytes

    def read(self, name: str, offset: int, into: np.ndarray[Any, Any]) -> None:
        into[:] = np.frombuffer(self.files[name], into.dtype, len(into), offset)

    def remove(self, name: str) -> None:
        del self.files[name]


@pytest.mark.parametrize("limit", [0, 100, 10**9])
def test_what_is_put_aside_comes_back_in_order(limit: int) -> None:
    scratch = MemoryScratch()
    spill = Spill(limit, scratch)
    first, second = spill.queue(PlainArrays()), spill.queue(PlainArrays())
    for number in range(5):
        first.put((np.full(number, number, np.int32), np.full(number, -number, np.int64)))
        second.put((np.array([number], np.int64),))
    assert [len(left) for left, _ in first] == [0, 1, 2, 3, 4]
    left, right = joined(first, (np.int64, np.int32))
    assert left.tolist() == [1, 2, 2, 3, 3, 3, 4, 4, 4, 4] == (-right).tolist()
    assert len(first) == 0 and [int(only[0]) for (only,) in second] == [0, 1, 2, 3, 4]
    second.clear()
    assert scratch.files == {} and (limit > 100 or spill._held_bytes == 0)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**40), st.integers(0, 2**58)), max_size=40), st.data())
def test_packed_words_are_in_the_order_of_their_keys(rows: list[tuple[int, int, int]], data: st.DataObject) -> None:
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)] or [np.zeros(0, np.int64)] * 3
    width = data.draw(st.integers(1, 3))
    keys = [(column, int(column.max(initial=0)) + 1) for column in columns[:width]]
    expected = np.lexsort([column for column, _ in reversed(keys)])
    order = order_of(*keys)
    assert np.array_equal(np.arange(len(rows)) if order is None else order, expected)
    ordered = sorted_columns(*keys)
    if ordered is not None:
        assert all(np.array_equal(found, column[expected]) for found, (column, _) in zip(ordered, keys, strict=True))
