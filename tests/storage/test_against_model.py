"""Random writes, savepoints, commits, rollbacks and folds, compared with plain dictionaries after every step."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hoplite.storage.graph import Graph
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.transaction import Transaction
from hoplite.values.columns import from_objects
from tests.storage.model import (
    Model,
    ModelRelationship,
    assert_same,
    node_at,
    node_id,
    relationship_at,
    relationship_id,
)

LABELS = st.sampled_from(["A", "B", "C"])
KEYS = st.sampled_from(["k", "name", "w"])
TYPES = st.sampled_from(["R", "S"])
VALUES: st.SearchStrategy[Any] = st.sampled_from([0, 1, 1.0, 2.5, True, False, "a", "b", [1, 2], ["x"], float("nan")])
PROPERTIES = st.dictionaries(KEYS, VALUES, max_size=3)
PICK = st.integers(0, 10_000)


class GraphMachine(RuleBasedStateMachine):
    """The storage and the model beside each other. Entities are picked by a number modulo how many there are."""

    @initialize(partitions=st.integers(1, 4), fold_minimum=st.sampled_from([1, 5, 1000]))
    def start(self, partitions: int, fold_minimum: int) -> None:
        self.graph = Graph(partitions, fold_minimum=fold_minimum, fold_share=1000)
        self.committed = Model()
        self.model = Model()
        self.transaction: Transaction | None = None
        self.savepoints: list[tuple[int, Model]] = []
        self.readers: list[tuple[Snapshot, Model]] = []

    def tx(self) -> Transaction:
        if self.transaction is None:
            self.transaction = self.graph.begin()
            self.model = self.committed.copy()
            self.savepoints = []
        return self.transaction

    def pick_node(self, pick: int) -> int | None:
        ids = sorted(self.model.labels)
        return ids[pick % len(ids)] if ids else None

    def pick_relationship(self, pick: int) -> int | None:
        ids = sorted(self.model.relationships)
        return ids[pick % len(ids)] if ids else None

    @rule(labels=st.lists(LABELS, max_size=3), properties=PROPERTIES)
    def create_node(self, labels: list[str], properties: dict[str, Any]) -> None:
        tx = self.tx()
        public = node_id(tx, tx.create_node(labels, properties))
        assert public not in self.model.labels
        self.model.labels[public], self.model.properties[public] = set(labels), dict(properties)

    @rule(labels=st.lists(LABELS, max_size=2), key=KEYS, values=st.lists(VALUES | st.none(), max_size=5))
    def create_nodes(self, labels: list[str], key: str, values: list[Any]) -> None:
        tx = self.tx()
        nodes = tx.create_nodes(len(values), labels, {key: from_objects(values)})
        for public, value in zip(tx.node_ids(nodes).tolist(), values, strict=True):
            self.model.labels[public] = set(labels)
            self.model.properties[public] = {} if value is None else {key: value}

    @rule(first=PICK, second=PICK, type=TYPES, properties=PROPERTIES)
    def create_relationship(self, first: int, second: int, type: str, properties: dict[str, Any]) -> None:
        tx = self.tx()
        start, end = self.pick_node(first), self.pick_node(second)
        if start is None or end is None:
            return
        made = tx.create_relationship(node_at(tx, start), node_at(tx, end), type, properties)
        self.model.relationships[relationship_id(tx, made)] = ModelRelationship(start, end, type, dict(properties))

    @rule(pairs=st.lists(st.tuples(PICK, PICK), max_size=6), type=TYPES, key=KEYS, value=VALUES)
    def create_relationships(self, pairs: list[tuple[int, int]], type: str, key: str, value: Any) -> None:
        tx = self.tx()
        ends = [(self.pick_node(a), self.pick_node(b)) for a, b in pairs]
        known = [(a, b) for a, b in ends if a is not None and b is not None]
        sources = tx.node_positions(np.array([a for a, _ in known], np.int64))
        targets = tx.node_positions(np.array([b for _, b in known], np.int64))
        made = tx.create_relationships(sources, targets, type, {key: from_objects([value] * len(known))})
        for public, (start, end) in zip(tx.relationship_ids(made).tolist(), known, strict=True):
            self.model.relationships[public] = ModelRelationship(start, end, type, {key: value})

    @rule(pick=PICK, key=KEYS, value=VALUES | st.none())
    def set_node_property(self, pick: int, key: str, value: Any) -> None:
        tx = self.tx()
        public = self.pick_node(pick)
        if public is not None:
            tx.set_node_property(node_at(tx, public), key, value)
            self.model.properties[public].pop(key, None)
            if value is not None:
                self.model.properties[public][key] = value

    @rule(pick=PICK, key=KEYS, value=VALUES | st.none())
    def set_relationship_property(self, pick: int, key: str, value: Any) -> None:
        tx = self.tx()
        public = self.pick_relationship(pick)
        if public is not None:
            tx.set_relationship_property(relationship_at(tx, public), key, value)
            properties = self.model.relationships[public].properties
            properties.pop(key, None)
            if value is not None:
                properties[key] = value

    @rule(pick=PICK, label=LABELS, add=st.booleans())
    def change_label(self, pick: int, label: str, add: bool) -> None:
        tx = self.tx()
        public = self.pick_node(pick)
        if public is None:
            return
        labels = self.model.labels[public]
        if add:
            assert tx.add_label(node_at(tx, public), label) == (label not in labels)
            labels.add(label)
        else:
            assert tx.remove_label(node_at(tx, public), label) == (label in labels)
            labels.discard(label)

    @rule(pick=PICK)
    def delete_relationship(self, pick: int) -> None:
        tx = self.tx()
        public = self.pick_relationship(pick)
        if public is not None:
            position = relationship_at(tx, public)
            assert tx.delete_relationship(position)
            assert not tx.delete_relationship(position)
            assert not tx.relationship_exists(np.array([position]))[0]
            assert tx.relationship_properties(position) == {}
            del self.model.relationships[public]

    @rule(pick=PICK)
    def detach_delete_node(self, pick: int) -> None:
        tx = self.tx()
        public = self.pick_node(pick)
        if public is None:
            return
        node = node_at(tx, public)
        for relationship in tx.relationships_of(node).tolist():
            tx.delete_relationship(relationship)
        assert tx.delete_node(node)
        assert not tx.node_exists(np.array([node]))[0]
        assert tx.node_properties(node) == {} and tx.label_sets(np.array([node])) == [()]
        del self.model.labels[public], self.model.properties[public]
        gone = [key for key, r in self.model.relationships.items() if public in (r.start, r.end)]
        for key in gone:
            del self.model.relationships[key]

    @precondition(lambda self: self.transaction is not None)
    @rule()
    def savepoint(self) -> None:
        self.savepoints.append((self.tx().savepoint(), self.model.copy()))

    @precondition(lambda self: self.savepoints)
    @rule(pick=PICK)
    def rollback_to(self, pick: int) -> None:
        kept = pick % len(self.savepoints)
        point, model = self.savepoints[kept]
        self.tx().rollback_to(point)
        self.model = model.copy()
        self.savepoints = self.savepoints[: kept + 1]

    @precondition(lambda self: self.transaction is not None)
    @rule()
    def commit(self) -> None:
        version = self.tx().commit()
        self.committed = self.model.copy()
        self.readers.append((version, self.committed))
        self.transaction, self.savepoints = None, []

    @precondition(lambda self: self.transaction is not None)
    @rule()
    def commit_and_go_on(self) -> None:
        self.tx().commit_and_go_on()
        self.committed = self.model.copy()
        self.savepoints = []

    @precondition(lambda self: self.transaction is not None)
    @rule()
    def rollback(self) -> None:
        self.tx().rollback()
        self.model = self.committed.copy()
        self.transaction, self.savepoints = None, []

    @precondition(lambda self: self.transaction is None)
    @rule()
    def fold(self) -> None:
        self.graph.fold()

    @rule()
    def pin_a_reader(self) -> None:
        self.readers.append((self.graph.snapshot(), self.committed.copy()))

    @precondition(lambda self: self.readers)
    @rule()
    def release_readers(self) -> None:
        self.readers = []

    @invariant()
    def all_views_agree_with_their_models(self) -> None:
        if self.transaction is not None:
            assert_same(self.transaction, self.model)
        for snapshot, model in self.readers[-3:]:
            assert_same(snapshot, model)


GraphMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestGraphAgainstModel = GraphMachine.TestCase
