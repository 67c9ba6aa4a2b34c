"""Isolation, the one writer, commits that fail, savepoints, and writes that take turns with reads."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any

import numpy as np
import pytest

from hoplite.errors import CypherError
from hoplite.storage.graph import Graph
from hoplite.storage.snapshot import Snapshot


def total(snapshot: Snapshot, key: str = "k") -> int:
    """The sum of a property over all nodes."""
    return sum(value for value in snapshot.node_property(snapshot.nodes(), key).objects() if value is not None)


@pytest.mark.parametrize("fold_minimum", [1, 10_000])
def test_a_reader_keeps_its_version(fold_minimum: int) -> None:
    graph = Graph(fold_minimum=fold_minimum)
    with graph.begin() as tx:
        nodes = [tx.create_node(["A"], {"k": i}) for i in range(5)]
        tx.create_relationship(nodes[0], nodes[1], "R", {})
    reader = graph.snapshot()
    tx = graph.begin()
    first = int(tx.nodes_with_label("A")[0])
    for relationship in tx.relationships_of(first).tolist():
        tx.delete_relationship(relationship)
    tx.delete_node(first)
    tx.set_node_property(int(tx.nodes()[1]), "k", 100)
    tx.create_node(["A", "B"], {"k": 1000})
    during = graph.snapshot()
    assert during.node_count == reader.node_count == 5 and total(during) == 10
    tx.commit()
    assert (reader.node_count, reader.relationship_count, total(reader)) == (5, 1, 10)
    assert (during.node_count, during.relationship_count, total(during)) == (5, 1, 10)
    after = graph.snapshot()
    assert (after.node_count, after.relationship_count) == (5, 0)
    assert total(after) == total(tx) != 10
    assert after.label_count("A") == 5 and reader.label_count("B") == 0


def test_a_reader_that_comes_in_the_middle_sees_nothing_of_the_transaction() -> None:
    graph = Graph()
    with graph.begin() as tx:
        tx.create_node([], {"k": 1})
    tx = graph.begin()
    tx.set_node_property(0, "k", 2)
    tx.create_node(["New"], {"k": 3})
    reader = graph.snapshot()
    assert total(reader) == 1 and total(tx) == 5
    tx.set_node_property(0, "k", 7)
    tx.rollback()
    assert total(graph.snapshot()) == total(reader) == 1


def test_a_node_deleted_with_relationships_fails_the_commit() -> None:
    graph = Graph()
    with graph.begin() as tx:
        a, b = tx.create_node(["A"], {"k": 1}), tx.create_node(["A"], {})
        tx.create_relationship(a, b, "R", {})
    tx = graph.begin()
    tx.delete_node(1)
    tx.create_node(["B"], {})
    with pytest.raises(CypherError) as caught:
        tx.commit()
    assert caught.value.code == "Neo.ClientError.Schema.ConstraintValidationFailed"
    assert caught.value.message == (
        "Cannot delete node<1>, because it still has relationships. "
        "To delete this node, you must first delete its relationships."
    )
    snapshot = graph.snapshot()
    assert snapshot.node_count == 2 and snapshot.label_count("B") == 0
    with graph.begin() as tx:
        tx.delete_node(1)
        tx.delete_relationship(0)
    assert graph.snapshot().node_count == 1


def test_there_is_one_writer_at_a_time() -> None:
    graph = Graph(lock_timeout_s=0.05)
    first = graph.begin()
    codes: list[str] = []

    def begin() -> None:
        with pytest.raises(CypherError) as caught:
            graph.begin()
        codes.append(caught.value.code)

    other = threading.Thread(target=begin)
    other.start()
    other.join()
    begin()
    assert codes == [
        "Neo.TransientError.Transaction.LockAcquisitionTimeout",
        "Neo.ClientError.Transaction.TransactionAccessedConcurrently",  # this thread would wait for itself
    ]
    first.rollback()
    graph.begin().rollback()


def test_a_lazy_transaction_reads_without_being_the_writer() -> None:
    graph = Graph(lock_timeout_s=0.05)
    with graph.begin() as tx:
        tx.create_node([], {"k": 1})
    lazy, other = graph.begin(lazy=True), graph.begin(lazy=True)
    assert total(lazy) == total(other) == 1
    lazy.set_node_property(0, "k", 5)
    assert total(lazy) == 5 and total(other) == 1
    lazy.commit()
    with pytest.raises(CypherError) as caught:
        other.set_node_property(0, "k", 9)
    assert caught.value.code == "Neo.TransientError.Transaction.Outdated"
    other.prepare_write()
    assert total(other) == 5
    other.set_node_property(0, "k", 9)
    other.commit()
    assert total(graph.snapshot()) == 9


def test_an_exception_rolls_back() -> None:
    graph = Graph()
    with pytest.raises(RuntimeError), graph.begin() as tx:
        tx.create_node(["A"], {})
        raise RuntimeError
    assert graph.snapshot().node_count == 0
    assert graph.snapshot().known_label("A")


def test_a_savepoint_takes_back_one_statement() -> None:
    graph = Graph()
    with graph.begin() as tx:
        node = tx.create_node(["A"], {"k": 1})
        point = tx.savepoint()
        tx.delete_node(node)
        tx.create_node(["B"], {})
        tx.rollback_to(point)
        assert tx.node_properties(node) == {"k": 1} and tx.node_count == 1
    assert graph.snapshot().label_sets(np.array([0])) == [("A",)]


def test_public_ids_survive_folds_and_are_never_used_again() -> None:
    graph = Graph(3)
    with graph.begin() as tx:
        for i in range(6):
            tx.create_node([], {"k": i})
        for i in range(5):
            tx.create_relationship(5 - i, i, "R", {"k": i})
    with graph.begin() as tx:
        tx.delete_relationship(2)
        tx.delete_relationship(int(tx.relationship_positions(np.array([4]))[0]))
        for relationship in tx.relationships_of(5).tolist():
            tx.delete_relationship(relationship)
        tx.delete_node(5)
    graph.fold()
    with graph.begin() as tx:
        made = tx.create_node([], {"k": 6})
        assert tx.node_ids(np.array([made])).tolist() == [6]
    for _ in range(2):
        snapshot = graph.snapshot()
        asked = np.array([6, 5, 4, 0, 99, -1])
        assert snapshot.node_property(snapshot.node_positions(asked), "k").objects().tolist() == [
            6,
            None,
            4,
            0,
            None,
            None,
        ]
        relationships = snapshot.relationship_positions(np.array([3, 0, 1]))
        assert snapshot.relationship_property(relationships, "k").objects().tolist() == [3, None, 1]
        graph.fold()


def test_a_transaction_can_commit_in_batches_and_keep_its_positions() -> None:
    graph = Graph(fold_minimum=1)
    tx = graph.begin()
    node = tx.create_node(["A"], {"k": 1})
    tx.commit_and_go_on()
    assert total(graph.snapshot()) == 1
    tx.set_node_property(node, "k", 2)
    assert total(graph.snapshot()) == 1
    tx.rollback()
    assert total(graph.snapshot()) == 1


def test_writes_and_reads_in_turn_stay_cheap() -> None:
    def seconds(rows: int) -> float:
        graph = Graph()
        began = time.process_time()
        with graph.begin() as tx:
            hub = tx.create_node(["Hub"], {})
            for i in range(rows):
                _, found = tx.seek_nodes("X", "k", [i])
                node = int(found[0]) if len(found) else tx.create_node(["X"], {"k": i})
                relationships, _ = tx.neighbours(node, True)
                if not len(relationships):
                    tx.create_relationship(node, hub, "R", {})
        assert graph.snapshot().degree(np.array([hub]), False).tolist() == [rows]
        return time.process_time() - began

    seconds(200)
    assert seconds(8000) < 8 * seconds(2000) + 0.5


def test_readers_and_a_writer_in_threads_see_whole_commits() -> None:
    graph = Graph(2, fold_minimum=40)
    with graph.begin() as tx:
        tx.create_node(["Account"], {"k": 100})
        tx.create_node(["Account"], {"k": 100})
    stop = threading.Event()
    problems: list[Any] = []

    def read() -> None:
        try:
            while not stop.is_set():
                snapshot = graph.snapshot()
                assert total(snapshot) == 200
                assert snapshot.relationship_count == snapshot.node_count - 2
                assert len(snapshot.relationships_with_type("MOVED")) == snapshot.relationship_count
        except BaseException as problem:
            problems.append(problem)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for i in range(150):
        tx = graph.begin()
        accounts = tx.nodes_with_label("Account")
        a, b = tx.node_property(accounts, "k").objects().tolist()
        tx.set_node_property(int(accounts[0]), "k", a - i)
        tx.set_node_property(int(accounts[1]), "k", b + i)
        note = tx.create_node(["Note"], {})
        tx.create_relationship(note, int(accounts[0]), "MOVED", {"by": i})
        if i % 3 == 2:
            tx.rollback()
        else:
            tx.commit()
    stop.set()
    for reader in readers:
        reader.join()
    assert problems == []
    assert graph.snapshot().node_count == 102


def test_a_commit_without_readers_copies_nothing() -> None:
    graph = Graph()
    with graph.begin() as tx:
        tx.create_node([], {"k": 1})
    del tx
    gc.collect()
    delta = graph._delta
    with graph.begin() as tx:
        tx.set_node_property(0, "k", 2)
    assert graph._delta is delta
    reader = graph.snapshot()
    with graph.begin() as tx:
        tx.set_node_property(0, "k", 3)
    assert graph._delta is not delta and total(reader) == 2


def test_readers_share_a_snapshot_that_no_writer_waits_for() -> None:
    graph = Graph(fold_minimum=3)
    with graph.begin() as tx:
        tx.create_node([], {"k": 1})
    del tx
    first = id(graph.snapshot())
    assert id(graph.snapshot()) == first
    gc.collect()
    delta = graph._delta
    with graph.begin() as tx:
        tx.set_node_property(0, "k", 2)
        assert total(graph.snapshot()) == 1
    assert graph._delta is delta  # what is kept for readers is no reader
    assert total(graph.snapshot()) == 2
    with graph.begin() as tx:
        for value in (3, 4, 5):
            tx.create_node([], {"k": value})
    del tx
    gc.collect()
    assert total(graph.snapshot()) == 14
    assert graph._delta.size == 0  # a snapshot that a commit left behind does not put off a fold


def test_positions_of_a_lazy_transaction_outlast_a_fold() -> None:
    graph = Graph()
    with graph.begin() as tx:
        tx.create_node([], {"k": 0})
        tx.create_node([], {"k": 1})
    with graph.begin() as tx:
        tx.delete_node(0)
    lazy = graph.begin(lazy=True)
    (node,) = lazy.nodes().tolist()
    graph.fold()
    assert graph.snapshot().nodes().tolist() != [node]
    lazy.set_node_property(node, "k", 7)
    lazy.commit()
    assert total(graph.snapshot()) == 7 and graph.snapshot().node_count == 1
