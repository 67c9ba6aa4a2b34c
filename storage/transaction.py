"""Writing: a transaction reads its own uncommitted state and changes it step by step, each step O(1) and reversible.

A transaction changes the graph's delta in place while no reader holds it, and a copy of it from the moment one does;
the changes are in a journal, so that a rollback, a savepoint or a reader who arrives in between can go back.
"""

from __future__ import annotations

from collections.abc import Iterable, KeysView, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from hoplite.errors import CypherError, constraint_violation, lost_at_fork
from hoplite.storage import uniqueness
from hoplite.storage.delta import Delta, Journal
from hoplite.storage.index_options import checked_config
from hoplite.storage.property_values import are_scalars, storable
from hoplite.storage.schema import Entity, IndexKind, Schema
from hoplite.storage.schema_changes import (
    Outcome,
    duplicate_error,
    with_constraint,
    with_index,
    without_constraint,
    without_index,
)
from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import Column, Int64s

if TYPE_CHECKING:
    from hoplite.storage.graph import Graph


class Transaction(Snapshot):
    """The graph as one writer sees and changes it. Used from one thread; ended by `commit` or `rollback`."""

    def __init__(self, graph: Graph, start: Snapshot) -> None:
        super().__init__(start._delta, graph.uuid, start.version)
        self._graph = graph
        self._in_place = False  # the delta is the graph's
        self._holds_lock = False
        self._journal: Journal = []
        self._deleted_nodes: dict[int, None] = {}  # in the order of their deletion
        self._deleted_relationships: dict[int, None] = {}
        self._first_new_relationship = 0
        self._pin: Snapshot | None = (
            start  # keeps the delta unchanged while this transaction only reads, and after its end
        )
        self._open = True
        self._is_lost = False

    def keep(self, key: object, found: object) -> None:
        """Nothing is kept: it may change with the next write."""

    @property
    def is_open(self) -> bool:
        """Neither committed nor rolled back."""
        return self._open

    @property
    def is_lost(self) -> bool:
        """It was writing when the process was forked, and continues only in the parent."""
        return self._is_lost

    def prepare_write(self, statement: str = "") -> None:
        """Become the one writer, for a statement; waits as `Graph.begin` does.

        Moves to the latest committed version, so earlier positions become invalid: call it between statements, before
        the first that writes.
        """
        self._refuse_if_lost()
        if not self._holds_lock:
            self._become_writer(*self._graph._acquire_writer(self))
        self._graph._writer.use(statement)

    def _become_writer(self, delta: Delta, version: int) -> None:
        self._holds_lock, self._in_place, self._pin = True, True, None
        self._delta, self._version = delta, version
        self._first_new_relationship = delta.relationship_count

    # --- nodes ---

    def create_node(self, labels: Iterable[str], properties: Mapping[str, Any]) -> int:
        """Create a node; null properties are left out."""
        values = _storable_map(properties, self)
        with self._writing() as delta:
            mark = len(self._journal)
            node = delta.add_node(delta.base.tokens.label_set_of_names(labels), self._journal)
            for key, value in values.items():
                delta.base.tokens.keys.admit(key)
                delta.set_node_value(node, key, value, self._journal)
            self._check_node(delta, node, mark)
        return node

    def create_nodes(self, count: int, labels: Iterable[str], properties: Mapping[str, Column]) -> Int64s:
        """Create many nodes with the same labels; nulls in the columns are left out."""
        values = {key: _storable_column(column, self) for key, column in properties.items()}
        with self._writing() as delta:
            mark = len(self._journal)
            label_set = delta.base.tokens.label_set_of_names(labels)
            nodes = delta.add_nodes(np.full(count, label_set, np.int32), self._journal)
            for key, (rows, objects) in values.items():
                delta.base.tokens.keys.admit(key)
                delta.set_node_values(nodes[rows].tolist(), key, objects, self._journal)
            made, names = nodes.tolist(), delta.base.tokens.label_names_of(label_set)
            if not all(uniqueness.nodes_are_unique(delta, made, name) for name in names):
                for node in made:
                    self._check_node(delta, node, mark)
        return nodes

    def set_node_property(self, node: int, key: str, value: Any) -> None:
        """Set a property; None removes it. Does nothing for a node that is null or deleted."""
        value = storable(value, self)
        with self._writing() as delta:
            if node < 0 or node in delta.removed_nodes:
                return
            mark = len(self._journal)
            if value is None and delta.node_value(node, key) is None:
                return
            delta.base.tokens.keys.admit(key)
            delta.set_node_value(node, key, value, self._journal)
            if value is not None:
                self._check_node(delta, node, mark, key)

    def set_node_properties(self, nodes: Int64s, key: str, values: Column) -> None:
        """Set a property of existing nodes, for which no constraint has to be checked; nulls in the column remove
        it."""
        stored = _stored(values, self)
        with self._writing() as delta:
            delta.base.tokens.keys.admit(key)
            delta.set_node_values(nodes.tolist(), key, stored, self._journal)

    def add_label(self, node: int, label: str) -> bool:
        """Add a label; returns whether the node did not have it."""
        with self._writing() as delta:
            if node < 0 or node in delta.removed_nodes:
                return False
            tokens, mark = delta.base.tokens, len(self._journal)
            code = tokens.labels.admit(label)
            before = tokens.labels_of(delta.label_set(node))
            if code in before:
                return False
            delta.set_label_set(node, tokens.label_set((*before, code)), self._journal)
            self._check_node(delta, node, mark)
            return True

    def remove_label(self, node: int, label: str) -> bool:
        """Remove a label; returns whether the node had it."""
        with self._writing() as delta:
            if node < 0 or node in delta.removed_nodes:
                return False
            tokens = delta.base.tokens
            code = tokens.labels.code(label)
            before = tokens.labels_of(delta.label_set(node))
            if code not in before:
                return False
            delta.set_label_set(node, tokens.label_set(set(before) - {code}), self._journal)
            return True

    def delete_node(self, node: int) -> bool:
        """Delete a node; returns whether it existed. The commit checks that it has no relationships left."""
        with self._writing() as delta:
            if node < 0 or node in delta.removed_nodes:
                return False
            delta.remove_node(node, self._journal)
            self._deleted_nodes[node] = None
            return True

    def delete_nodes(self, nodes: Int64s) -> int:
        """Delete many nodes; returns how many of them existed."""
        nodes = _distinct(nodes[self.node_exists(nodes)])
        keys = self.node_property_columns(nodes)
        with self._writing() as delta:
            for key, column in keys.items():
                having = nodes[~column.null_mask()].tolist()
                delta.set_node_values(having, key, [None] * len(having), self._journal)
            gone = nodes.tolist()
            delta.remove_bare_nodes(gone, self._journal)
            self._deleted_nodes.update(dict.fromkeys(gone))
        return len(nodes)

    # --- relationships ---

    def create_relationship(self, start: int, end: int, type: str, properties: Mapping[str, Any]) -> int:
        """Create a relationship between existing nodes; null properties are left out."""
        values = _storable_map(properties, self)
        with self._writing() as delta:
            mark = len(self._journal)
            code = delta.base.tokens.types.admit(type)
            relationship = delta.add_relationship(start, end, code, self._journal)
            for key, value in values.items():
                delta.base.tokens.keys.admit(key)
                delta.set_relationship_value(relationship, key, value, self._journal)
            self._check_relationship(delta, relationship, mark)
        return relationship

    def create_relationships(self, starts: Int64s, ends: Int64s, type: str, properties: Mapping[str, Column]) -> Int64s:
        """Create many relationships of one type; nulls in the columns are left out."""
        values = {key: _storable_column(column, self) for key, column in properties.items()}
        with self._writing() as delta:
            mark = len(self._journal)
            code = delta.base.tokens.types.admit(type)
            relationships = delta.add_relationships(starts, ends, code, self._journal)
            for key, (rows, objects) in values.items():
                delta.base.tokens.keys.admit(key)
                delta.set_relationship_values(relationships[rows].tolist(), key, objects, self._journal)
            if delta.schema.unique(Entity.RELATIONSHIP, type):
                for relationship in relationships.tolist():
                    self._check_relationship(delta, relationship, mark)
        return relationships

    def set_relationship_property(self, relationship: int, key: str, value: Any) -> None:
        """Set a property; None removes it. Does nothing for a relationship that is null or deleted."""
        value = storable(value, self)
        with self._writing() as delta:
            if relationship < 0 or relationship in delta.removed_relationships:
                return
            mark = len(self._journal)
            if value is None and delta.relationship_value(relationship, key) is None:
                return
            delta.base.tokens.keys.admit(key)
            delta.set_relationship_value(relationship, key, value, self._journal)
            if value is not None:
                self._check_relationship(delta, relationship, mark, key)

    def set_relationship_properties(self, relationships: Int64s, key: str, values: Column) -> None:
        """The same for relationships."""
        stored = _stored(values, self)
        with self._writing() as delta:
            delta.base.tokens.keys.admit(key)
            delta.set_relationship_values(relationships.tolist(), key, stored, self._journal)

    def delete_relationship(self, relationship: int) -> bool:
        """Delete a relationship; returns whether it existed."""
        with self._writing() as delta:
            if relationship < 0 or relationship in delta.removed_relationships:
                return False
            delta.remove_relationship(relationship, self._journal)
            self._deleted_relationships[relationship] = None
            return True

    def delete_relationships(self, relationships: Int64s) -> int:
        """Delete many relationships; returns how many of them existed."""
        relationships = _distinct(relationships[self.relationship_exists(relationships)])
        keys, types = self.relationship_property_columns(relationships), self.relationship_types(relationships)
        with self._writing() as delta:
            for key, column in keys.items():
                having = relationships[~column.null_mask()].tolist()
                delta.set_relationship_values(having, key, [None] * len(having), self._journal)
            gone = relationships.tolist()
            delta.remove_bare_relationships(gone, types.tolist(), self._journal)
            self._deleted_relationships.update(dict.fromkeys(gone))
        return len(relationships)

    # --- deleted and new entities ---

    def deleted_here(self, *, nodes: bool) -> KeysView[int]:
        """The nodes or relationships deleted since the last `commit_and_go_on`."""
        return (self._deleted_nodes if nodes else self._deleted_relationships).keys()

    def made_here(self, relationship: int) -> bool:
        """Whether this transaction created the relationship and nothing else has seen it yet."""
        return relationship >= self._first_new_relationship

    # --- the end, and ways back ---

    def savepoint(self) -> int:
        """A point that `rollback_to` can go back to."""
        return len(self._journal)

    def rollback_to(self, savepoint: int) -> None:
        """Undo everything since the savepoint."""
        if len(self._journal) == savepoint:
            return
        with self._writing() as delta:
            self._take_back(delta, savepoint)
            self._deleted_nodes = {node: None for node in self._deleted_nodes if node in delta.removed_nodes}
            removed = delta.removed_relationships
            self._deleted_relationships = {gone: None for gone in self._deleted_relationships if gone in removed}

    def commit(self) -> Snapshot:
        """Make the changes visible to all. Returns the new version, in the transaction's positions.

        If a deleted node still has relationships, or the commit cannot be written to disk, it fails and everything is
        rolled back.
        """
        try:
            self._publish()
        except BaseException:
            self.rollback()
            raise
        if self._holds_lock:
            self._pin = self._graph.snapshot(fold=False)
        self._close()
        return self if self._pin is None else self._pin

    def commit_and_go_on(self) -> None:
        """Make the changes so far visible to all, and stay open with the same positions."""
        self._publish()
        self._deleted_nodes, self._deleted_relationships = {}, {}
        self._first_new_relationship = self._delta.relationship_count

    def _publish(self) -> None:
        self._refuse_if_lost()
        assert self._open, "The transaction is closed."
        deleted = np.fromiter(self._deleted_nodes, np.int64, len(self._deleted_nodes))
        if len(self.relationships_at(deleted)):
            left = next(node for node in self._deleted_nodes if len(self.relationships_of(node)))
            public = int(self.node_ids(np.array([left], np.int64))[0])
            raise constraint_violation(
                f"Cannot delete node<{public}>, because it still has relationships. "
                "To delete this node, you must first delete its relationships."
            )
        if self._journal:
            self._graph._record(self._delta, self._journal)
            with self._graph._guard:  # a reader who arrived in between would undo the changes
                self._version = self._graph._publish(self._delta)
                self._in_place = True
                self._journal = []

    def rollback(self) -> None:
        """Discard the changes."""
        if not self._open:
            return
        if self._journal:
            with self._graph._guard:
                if self._in_place:
                    self._take_back(self._delta, 0)
        self._close()

    def abandon(self) -> None:
        """Leave it to the next writer to roll this back. May be called at any moment."""
        if self._open and self._holds_lock:
            self._graph._writer.abandon(self)

    def let_go(self) -> None:
        """Release the version after the end: nothing can be read through this from now on."""
        assert not self._open
        self._pin = None
        del self._delta

    def _lose(self) -> None:
        """This is a copy in a forked process, which can only be read from."""
        self._open, self._holds_lock, self._is_lost = False, False, True

    def _refuse_if_lost(self) -> None:
        if self._is_lost:
            raise lost_at_fork("transaction")

    def _close(self) -> None:
        self._open = False
        if self._holds_lock:
            self._holds_lock = False
            self._graph._release_writer()

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._open:
            if kind is None:
                self.commit()
            else:
                self.rollback()

    # --- the delta to write to ---

    def _writing(self) -> AbstractContextManager[Delta]:
        self._refuse_if_lost()
        assert self._open, "The transaction is closed."
        if not self._holds_lock:
            self._take_lock_late()
        return _Writing(self)

    def _take_lock_late(self) -> None:
        """Become the writer in the middle of a statement: only possible if nothing was committed since this transaction
        began."""
        delta, version = self._graph._acquire_writer(self, fold=False)
        if version != self._version:
            self._graph._release_writer()
            raise CypherError(
                "Neo.TransientError.Transaction.Outdated",
                "Transaction has seen state which has been invalidated by applied updates while "
                "transaction was active. Transaction may succeed if retried.",
            )
        if delta is self._delta:
            self._become_writer(delta, version)
        else:  # folded since: the same content at other positions, while the caller holds those of the old base
            self._holds_lock, self._delta, self._pin = True, self._delta.copy(), None

    def _take_back(self, delta: Delta, kept: int) -> None:
        delta.undo(self._journal, kept)
        del self._journal[kept:]

    # --- constraints, checked as each write is made ---

    def _check_node(self, delta: Delta, node: int, mark: int, key: str | None = None) -> None:
        problem = uniqueness.node_violation(delta, node, key)
        if problem is not None:
            self._take_back(delta, mark)
            existing, label, values = problem
            public = int(self.node_ids(np.array([existing], np.int64))[0])
            raise constraint_violation(uniqueness.message("Node", public, f"label `{label}`", values))

    def _check_relationship(self, delta: Delta, relationship: int, mark: int, key: str | None = None) -> None:
        problem = uniqueness.relationship_violation(delta, relationship, key)
        if problem is not None:
            self._take_back(delta, mark)
            existing, type, values = problem
            public = int(self.relationship_ids(np.array([existing], np.int64))[0])
            raise constraint_violation(uniqueness.message("Relationship", public, f"type `{type}`", values))

    # --- schema ---

    def create_index(
        self,
        name: str | None,
        kind: IndexKind,
        entity: Entity,
        labels: Sequence[str],
        keys: Sequence[str],
        options: Mapping[str, Any] | None = None,
        if_not_exists: bool = False,
    ) -> Outcome:
        """Create an index; without a name it gets Neo4j's. `options` are those of the OPTIONS clause."""
        config = checked_config(kind, entity, options or {})
        outcome = with_index(self.schema, name, kind, entity, tuple(labels), tuple(keys), config, if_not_exists)
        if outcome.is_new:
            self._change_schema(outcome.schema, entity, labels, keys)
        return outcome

    def create_constraint(
        self,
        name: str | None,
        entity: Entity,
        label: str,
        keys: Sequence[str],
        options: Mapping[str, Any] | None = None,
        if_not_exists: bool = False,
    ) -> Outcome:
        """Create a uniqueness constraint, which the data must meet."""
        checked_config(IndexKind.RANGE, entity, options or {}, "uniqueness")
        outcome = with_constraint(self.schema, name, entity, label, tuple(keys), if_not_exists)
        if outcome.is_new:
            duplicate = uniqueness.first_duplicate(self, entity, label, tuple(keys))
            if duplicate is not None:
                first, second, values = duplicate
                pair = np.array([first, second], np.int64)
                ids = (self.node_ids(pair) if entity is Entity.NODE else self.relationship_ids(pair)).tolist()
                raise duplicate_error(outcome.rule.name, entity, label, tuple(keys), (ids[0], ids[1]), values)
            self._change_schema(outcome.schema, entity, (label,), keys)
        return outcome

    def drop_index(self, name: str, if_exists: bool = False) -> bool:
        """Drop an index; returns whether it existed."""
        return self._change_schema(without_index(self.schema, name, if_exists))

    def drop_constraint(self, name: str, if_exists: bool = False) -> bool:
        """Drop a constraint; returns whether it existed."""
        return self._change_schema(without_constraint(self.schema, name, if_exists))

    def admit(self, *, label: str | None = None, type: str | None = None, key: str | None = None) -> None:
        """Register a name before anything has it."""
        with self._writing() as delta:
            tokens = delta.base.tokens
            for names, name in ((tokens.labels, label), (tokens.types, type), (tokens.keys, key)):
                if name is not None:
                    names.admit(name)

    def _change_schema(
        self, schema: Schema, entity: Entity = Entity.NODE, labels: Sequence[str] = (), keys: Sequence[str] = ()
    ) -> bool:
        if schema is self.schema:
            return False
        with self._writing() as delta:
            tokens = delta.base.tokens
            for label in labels:
                (tokens.labels if entity is Entity.NODE else tokens.types).admit(label)
            for key in keys:
                tokens.keys.admit(key)
            delta.set_schema(schema, self._journal)
        return True


class _Writing:
    """Holds the graph's guard during one write, so that a reader who arrives finds whole steps; gives the delta to
    write to.
    """

    __slots__ = ("_transaction",)

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def __enter__(self) -> Delta:
        transaction = self._transaction
        transaction._graph._guard.acquire()
        if transaction._in_place and transaction._graph._is_pinned():
            transaction._delta = transaction._delta.copy()
            transaction._in_place = False
        return transaction._delta

    def __exit__(self, *_: object) -> None:
        self._transaction._graph._guard.release()


def _distinct(positions: Int64s) -> Int64s:
    """Each position once, in the order of its first occurrence."""
    return np.fromiter(dict.fromkeys(positions.tolist()), np.int64)


def _storable_map(properties: Mapping[str, Any], ids: Snapshot) -> dict[str, Any]:
    return {key: stored for key, value in properties.items() if (stored := storable(value, ids)) is not None}


def _storable_column(column: Column, ids: Snapshot) -> tuple[Int64s, Sequence[Any]]:
    """The rows that have a value, and the values as they are stored."""
    rows = np.flatnonzero(~column.null_mask())
    return rows, _stored(column.take(rows), ids)


def _stored(column: Column, ids: Snapshot) -> list[Any]:
    """The values as they are stored."""
    values: list[Any] = column.objects().tolist()
    return values if are_scalars(values) else [storable(value, ids) for value in values]
