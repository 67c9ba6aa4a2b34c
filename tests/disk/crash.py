"""Processes that write and are killed, again and again, on one database: nothing that was acknowledged may be lost, and
nothing may be half there.

Commit n makes an item and its pair with a relationship between them, points from the item before it, and removes the
items of forty commits ago; every eleventh is a bulk load instead. So the number of the last commit says what must be in
the graph, to the last property. Items are in a vector, a full-text, a text and a point index, each of which must answer
as one that is made anew.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from hoplite.storage.disk.graph import DiskGraph
from hoplite.storage.graph import Graph
from hoplite.storage.schema import Entity, IndexKind
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.transaction import Transaction
from hoplite.values.columns import from_objects
from hoplite.values.spatial import Point
from tests.disk.searches import answers_of

LIFE = 40
"""So many commits later an item is removed."""
LOG_LIMIT_BYTES = 4_000
"""Small, so that checkpoints are as frequent as commits are."""
MOST_COMMITS, LAST_MOMENTS_S = 8, 0.02
"""A process is killed after up to so many commits, and up to so many seconds after the last of them."""
LONGEST_LIFE_S = 5.0

_processes = multiprocessing.get_context("forkserver")


@dataclass
class Toll:
    """What came of it."""

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    unacknowledged: int = 0  # commits that exist although they were not acknowledged
    checkpoints: int = 0

    def __str__(self) -> str:
        return (
            f"{self.kills:,} kills, {self.acknowledged:,} commits acknowledged, {self.lost} lost, "
            f"{self.unacknowledged:,} kept that were not yet acknowledged, {self.checkpoints:,} snapshots"
        )


# --- the process that writes ---


def write_until_killed(path: Path, acknowledged: Connection) -> None:
    """Commit as fast as it goes, and tell the number of each commit; 0 to say that it begins."""
    acknowledged.send_bytes(bytes(8))
    graph = DiskGraph(path, log_limit_bytes=LOG_LIMIT_BYTES)
    number = last_commit(graph.snapshot())
    while True:
        number += 1
        commit(graph, number)
        acknowledged.send_bytes(number.to_bytes(8, "little"))


def commit(graph: Graph, number: int) -> None:
    """The commit with this number."""
    if _is_load(number):
        with graph.bulk() as load:
            column = from_objects([number])
            items = load.add_nodes(("Item",), 1, {key: from_objects([value]) for key, value in _item(number).items()})
            pairs = load.add_nodes(("Pair",), 1, {"n": column})
            load.add_relationships("OF", items, pairs, {"n": column})
            load.commit()
        return
    with graph.begin() as tx:
        item = tx.create_node(["Item"], _item(number))
        pair = tx.create_node(["Pair"], {"n": number})
        tx.create_relationship(item, pair, "OF", {"n": number})
        for before in _items(tx, number - 1):
            for key, value in _changed(number - 1).items():
                tx.set_node_property(before, key, value)
        for old in (number - LIFE, number - LIFE - 1):
            for node in _items(tx, old):
                for gone in (*tx.neighbours(node, True)[1].tolist(), node):
                    for relationship in tx.relationships_of(gone).tolist():
                        tx.delete_relationship(relationship)
                    tx.delete_node(gone)


def _item(number: int) -> dict[str, Any]:
    """The properties of an item when it is made; later `next` is set, and its text and vector are changed."""
    return {
        "n": number,
        "name": f"item {number}",
        "about": f"thing {number} of {number // 10}",
        "v": [float(number), 1.0, 0.5],
        "home": Point(7203, (float(number), 1.0)),
    }


def _changed(number: int) -> dict[str, Any]:
    """What the commit after it sets."""
    return {"next": number + 1, "about": f"thing {number} before {number + 1}", "v": [float(number), -1.0, 0.5]}


def _is_load(number: int) -> bool:
    return number % 11 == 0


def _items(tx: Transaction, number: int) -> list[int]:
    found: list[int] = tx.seek_nodes("Item", "n", [number])[1].tolist()
    return found


# --- the process that looks at what is left ---


def last_commit(snapshot: Snapshot) -> int:
    """The number of the last commit in a graph; 0 in a new one."""
    items = snapshot.nodes_with_label("Item")
    return max(snapshot.node_property(items, "n").objects().tolist(), default=0)


def create(path: Path) -> None:
    """A new database, with an index to find items by."""
    graph = DiskGraph(path)
    with graph.begin() as tx:
        tx.create_constraint("numbers", Entity.NODE, "Item", ["n"])
    with graph.begin() as tx:
        vectors = {"indexConfig": {"vector.dimensions": 3, "vector.similarity_function": "EUCLIDEAN"}}
        tx.create_index("vectors", IndexKind.VECTOR, Entity.NODE, ["Item"], ["v"], vectors)
        tx.create_index("words", IndexKind.FULLTEXT, Entity.NODE, ["Item"], ["name", "about"])
        tx.create_index("texts", IndexKind.TEXT, Entity.NODE, ["Item"], ["about"])
        tx.create_index("points", IndexKind.POINT, Entity.NODE, ["Item"], ["home"])
    graph.close()


def as_made_anew(snapshot: Snapshot) -> Snapshot:
    """The nodes of a graph, with its indexes, written into an empty graph in memory."""
    graph = Graph()
    with graph.begin() as tx:
        for index in snapshot.schema.indexes:
            if index.labels and index.owning_constraint is None:
                settings = {"indexConfig": dict(index.config)} if index.kind is IndexKind.VECTOR else None
                tx.create_index(index.name, index.kind, index.entity, index.labels, index.keys, settings)
    with graph.begin() as tx:
        for node in snapshot.nodes_with_label("Item").tolist():
            tx.create_node(["Item"], snapshot.node_properties(node))
    return graph.snapshot()


def _by_number(snapshot: Snapshot) -> tuple[Any, ...]:
    """What the search indexes answer, with the numbers of items for ids."""
    items = snapshot.nodes_with_label("Item")
    ids, numbers = snapshot.node_ids(items).tolist(), snapshot.node_property(items, "n").objects().tolist()
    return answers_of(snapshot, dict(zip(ids, numbers, strict=True)))


def check(path: Path) -> tuple[int, int]:
    """The number of the last commit, and of the snapshot. Raises AssertionError if anything is not as it must be."""
    graph = DiskGraph(path, read_only=True)
    snapshot = graph.snapshot()
    last = last_commit(snapshot)
    alive = [number for number in range(1, last + 1) if _removed_by(number) > last]
    items, pairs = snapshot.nodes_with_label("Item"), snapshot.nodes_with_label("Pair")
    assert snapshot.node_count == len(items) + len(pairs)
    numbers = snapshot.node_property(items, "n").objects().tolist()
    assert sorted(numbers) == alive
    assert sorted(snapshot.node_property(pairs, "n").objects().tolist()) == alive
    for item, number in zip(items.tolist(), numbers, strict=True):
        expected = _item(number)
        if number < last and not _is_load(number + 1):
            expected |= _changed(number)
        assert snapshot.node_properties(item) == expected
        assert snapshot.seek_nodes("Item", "n", [number])[1].tolist() == [item]
        relationships, ends = snapshot.neighbours(item, True)
        assert len(relationships) == 1 and snapshot.relationship_properties(int(relationships[0])) == {"n": number}
        assert snapshot.node_properties(int(ends[0])) == {"n": number}
        assert snapshot.neighbours(int(ends[0]), False)[0].tolist() == relationships.tolist()
    assert snapshot.relationship_count == len(alive)
    assert _by_number(snapshot) == _by_number(as_made_anew(snapshot))
    assert graph.verify() == []
    number = graph._manifest.snapshot
    graph.close()
    return last, number


def _removed_by(number: int) -> int:
    """The commit that removes an item: a bulk load leaves it to the next one."""
    return number + LIFE + _is_load(number + LIFE)


def kill_repeatedly(path: Path, kills: int, seconds: float, seed: int) -> Toll:
    """Start, kill and check, up to a number of kills or until the time is up."""
    toll, moments = Toll(), random.Random(seed)
    create(path)
    before, end = 0, time.monotonic() + seconds
    while toll.kills < kills and time.monotonic() < end:
        told = _one_life(path, moments.randrange(MOST_COMMITS + 1), moments.uniform(0, LAST_MOMENTS_S))
        toll.kills += 1
        last, toll.checkpoints = check(path)
        acknowledged = max(told, before)
        toll.acknowledged = acknowledged
        toll.lost += max(acknowledged - last, 0)
        toll.unacknowledged += max(last - acknowledged, 0)
        assert before <= last <= acknowledged + 1
        before = last
    return toll


def _one_life(path: Path, commits: int, last_moments_s: float) -> int:
    """A process that writes for a while and is killed; the last commit that it reported, 0 if none."""
    receiving, sending = _processes.Pipe(duplex=False)
    process = _processes.Process(target=write_until_killed, args=(path, sending), daemon=True)
    process.start()
    sending.close()
    told = int.from_bytes(receiving.recv_bytes(), "little")
    with suppress(EOFError):  # it ended by itself, which is found below
        for _ in range(commits):
            if receiving.poll(LONGEST_LIFE_S):
                told = int.from_bytes(receiving.recv_bytes(), "little")
    time.sleep(last_moments_s)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert process.exitcode == -signal.SIGKILL, "the writer ended by itself"
    while True:
        try:
            told = int.from_bytes(receiving.recv_bytes(), "little")
        except (EOFError, OSError):
            receiving.close()
            return told


@contextmanager
def prepared(*, on_disk: bool) -> Iterator[Path]:
    """A folder for the database, in memory where that is possible and will do: to a process that is killed, a disk is
    only slower. Processes start with everything loaded."""
    _processes.set_forkserver_preload(["tests.disk.crash", "pyarrow"])
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="hoplite-crash-", dir=shared if shared.is_dir() and not on_disk else None))
    try:
        yield folder / "graph.hop"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
