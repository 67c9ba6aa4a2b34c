"""What was written since the base was made: new nodes and relationships, changed values and labels, tombstones.

One writer at a time owns a delta and changes it in place; while a reader pins it, the writer continues with a `copy`.
Every change is one small reversible step: it appends its inverse to a `Journal`, so that a rollback, and a reader who
arrives in the middle of a transaction, can go back to the committed state.

New nodes and relationships continue the positions of the base. Structures that only speed up reads (adjacency, value
index) are built on first use and extended after further writes.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hoplite import forks
from hoplite.storage.base import Base
from hoplite.storage.delta_side import DeltaSide
from hoplite.storage.growing import Growing
from hoplite.storage.schema import Schema
from hoplite.storage.search.changes import Watch
from hoplite.storage.tokens import NO_LABELS
from hoplite.storage.value_index import lookup_key
from hoplite.values.columns import Int64s

Undo: TypeAlias = tuple[Callable[..., None], tuple[Any, ...]]
"""An unbound method of Delta and its arguments."""
Journal: TypeAlias = list[Undo]

_serials = itertools.count()

Values: TypeAlias = dict[int, Any]
"""Values written, by position; None: removed."""
_NOT_WRITTEN = object()


class Delta:
    """Writes above a base; see the top of the file."""

    def __init__(self, base: Base, schema: Schema) -> None:
        self.serial = next(_serials)  # identifies deltas in caches; an address could be reused
        self.base = base
        self.schema = schema
        self.new_labels = Growing(np.int32)  # label codes of new nodes
        self.starts = Growing(np.int64)  # of new relationships
        self.ends = Growing(np.int64)
        self.types = Growing(np.int32)
        self.relabelled: dict[int, int] = {}  # label codes of nodes of the base
        self.node_values: dict[str, Values] = {}
        self.relationship_values: dict[str, Values] = {}
        self.removed_nodes: set[int] = set()
        self.removed_relationships: set[int] = set()
        self.label_changes: dict[int, int] = {}  # label -> how many more nodes have it than in the base
        self.type_changes: dict[int, int] = {}
        self.writes = 0  # grows with every change; caches compare it
        self.topology = 0  # grows when relationships are removed or undone
        self.node_set = 0  # grows when nodes are removed, relabelled or undone
        self.outgoing = DeltaSide()
        self.incoming = DeltaSide()
        self.by_value: dict[str, dict[Hashable, dict[int, None]]] = {}
        self.relationships_by_value: dict[str, dict[Hashable, dict[int, None]]] = {}
        self.watches: dict[int, Watch] = {}  # of search indexes, by their ids
        self.cache: dict[Hashable, tuple[Any, Any]] = {}  # derived by readers: what -> (state it is from, result)
        self.lock = forks.brief_lock()  # readers of one delta share the structures they extend

    def copy(self) -> Delta:
        """An independent delta with the same content."""
        twin = Delta(self.base, self.schema)
        twin.new_labels = self.new_labels.copy()
        twin.starts, twin.ends, twin.types = self.starts.copy(), self.ends.copy(), self.types.copy()
        twin.relabelled = dict(self.relabelled)
        twin.node_values = {key: dict(values) for key, values in self.node_values.items()}
        twin.relationship_values = {key: dict(values) for key, values in self.relationship_values.items()}
        twin.removed_nodes = set(self.removed_nodes)
        twin.removed_relationships = set(self.removed_relationships)
        twin.label_changes = dict(self.label_changes)
        twin.type_changes = dict(self.type_changes)
        twin.writes = self.writes
        twin.watches = {index: watch.copy() for index, watch in self.watches.items()}
        return twin

    @property
    def node_count(self) -> int:
        """The number of node positions, including those of removed nodes."""
        return self.base.node_count + len(self.new_labels)

    @property
    def relationship_count(self) -> int:
        """The number of relationship positions, including those of removed relationships."""
        return self.base.relationship_count + len(self.types)

    @property
    def size(self) -> int:
        """How much there is to fold."""
        values = sum(map(len, self.node_values.values())) + sum(map(len, self.relationship_values.values()))
        removed = len(self.removed_nodes) + len(self.removed_relationships)
        return values + removed + len(self.new_labels) + len(self.types) + len(self.relabelled)

    # --- reading one entity ---

    def label_set(self, node: int) -> int:
        """The code of a node's labels."""
        base_count = self.base.node_count
        if node >= base_count:
            return self.new_labels[node - base_count]
        changed = self.relabelled.get(node)
        return int(self.base.node_labels[node]) if changed is None else changed

    def node_value(self, node: int, key: str) -> Any:
        """A property of a node, or None."""
        written = self.node_values.get(key)
        if written is not None and node in written:
            return written[node]
        column = self.base.node_columns.get(key)
        return None if column is None else column.value(node)

    def relationship_value(self, relationship: int, key: str) -> Any:
        """A property of a relationship, or None."""
        written = self.relationship_values.get(key)
        if written is not None and relationship in written:
            return written[relationship]
        column = self.base.relationship_columns.get(key)
        return None if column is None else column.value(relationship)

    def node_keys(self, node: int) -> list[str]:
        """The keys that a node has a value for."""
        written = self.node_values
        keys = [key for key, values in written.items() if values.get(node) is not None]
        if node < self.base.node_count:
            for key in self.base.keys_by_label_set.get(int(self.base.node_labels[node]), ()):
                if node not in written.get(key, ()) and self.base.node_columns[key].value(node) is not None:
                    keys.append(key)
        return keys

    def relationship_keys(self, relationship: int) -> list[str]:
        """The keys that a relationship has a value for."""
        written = self.relationship_values
        keys = [key for key, values in written.items() if values.get(relationship) is not None]
        if relationship < self.base.relationship_count:
            for key in self.base.keys_by_type.get(self.type_of(relationship), ()):
                column = self.base.relationship_columns[key]
                if relationship not in written.get(key, ()) and column.value(relationship) is not None:
                    keys.append(key)
        return keys

    def type_of(self, relationship: int) -> int:
        """The type code of a relationship."""
        base_count = self.base.relationship_count
        if relationship >= base_count:
            return self.types[relationship - base_count]
        return self.base.triple(relationship)[1]

    def ends_of(self, relationship: int) -> tuple[int, int]:
        """The start and the end of a relationship."""
        base_count = self.base.relationship_count
        if relationship >= base_count:
            return self.starts[relationship - base_count], self.ends[relationship - base_count]
        start, _, end = self.base.triple(relationship)
        return start, end

    def relationships_of(self, node: int, outgoing: bool) -> list[int]:
        """The relationships of a node on one side."""
        found: list[int] = []
        if node < self.base.node_count:
            incidence, first, last = self.base.row(node, outgoing)
            if incidence.relationships is None:
                found.extend(range(incidence.first_relationship + first, incidence.first_relationship + last))
            else:
                found.extend(incidence.relationships[first:last].tolist())
        if len(self.types):
            found.extend(self.side(outgoing).relationships_of(node))
        if self.removed_relationships:
            return [relationship for relationship in found if relationship not in self.removed_relationships]
        return found

    def side(self, outgoing: bool) -> DeltaSide:
        """The new relationships by node, brought up to date."""
        side = self.outgoing if outgoing else self.incoming
        if side.seen < len(self.types):
            with self.lock:
                keys, others = (self.starts, self.ends) if outgoing else (self.ends, self.starts)
                side.extend(keys.array(), others.array(), self.types.array(), self.base.relationship_count)
        return side

    def nodes_by_value(self, key: str) -> dict[Hashable, dict[int, None]]:
        """Written nodes by the value of a key. A superset: entries may be outdated, and labels are not checked."""
        found = self.by_value.get(key)
        if found is None:
            found = _by_lookup_key(self.node_values.get(key, {}))
            column = self.base.node_columns.get(key)
            if column is not None:
                for node in self.relabelled:
                    if (wanted := lookup_key(column.value(node))) is not None:
                        found.setdefault(wanted, {})[node] = None
            self.by_value[key] = found
        return found

    def relationships_having(self, key: str) -> dict[Hashable, dict[int, None]]:
        """Written relationships by the value of a key; a superset as well."""
        found = self.relationships_by_value.get(key)
        if found is None:
            found = _by_lookup_key(self.relationship_values.get(key, {}))
            self.relationships_by_value[key] = found
        return found

    # --- writing: each step records its inverse in the journal ---

    def add_nodes(self, label_sets: NDArray[np.int32], journal: Journal) -> Int64s:
        """Add nodes without properties; returns their positions."""
        first = self.node_count
        journal.append((Delta._drop_nodes, (len(self.new_labels),)))
        self.new_labels.extend(label_sets)
        codes, counts = np.unique(label_sets, return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            self._count_labels(code, count)
        self.writes += 1
        return np.arange(first, self.node_count, dtype=np.int64)

    def add_node(self, label_set: int, journal: Journal) -> int:
        """Add a node without properties."""
        journal.append((Delta._drop_nodes, (len(self.new_labels),)))
        self.new_labels.append(label_set)
        self._count_labels(label_set, 1)
        self.writes += 1
        return self.node_count - 1

    def _drop_nodes(self, kept: int) -> None:
        codes, counts = np.unique(self.new_labels.array()[kept:], return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            self._count_labels(code, -count)
        self.new_labels.truncate(kept)
        self.writes += 1
        self.node_set += 1

    def add_relationships(self, starts: Int64s, ends: Int64s, type_code: int, journal: Journal) -> Int64s:
        """Add relationships without properties; returns their positions."""
        first = self.relationship_count
        journal.append((Delta._drop_relationships, (len(self.types),)))
        self.starts.extend(starts)
        self.ends.extend(ends)
        self.types.extend(np.full(len(starts), type_code, np.int32))
        self.type_changes[type_code] = self.type_changes.get(type_code, 0) + len(starts)
        self.writes += 1
        return np.arange(first, self.relationship_count, dtype=np.int64)

    def add_relationship(self, start: int, end: int, type_code: int, journal: Journal) -> int:
        """Add a relationship without properties."""
        journal.append((Delta._drop_relationships, (len(self.types),)))
        self.starts.append(start)
        self.ends.append(end)
        self.types.append(type_code)
        self.type_changes[type_code] = self.type_changes.get(type_code, 0) + 1
        self.writes += 1
        return self.relationship_count - 1

    def _drop_relationships(self, kept: int) -> None:
        codes, counts = np.unique(self.types.array()[kept:], return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            self.type_changes[code] -= count
        for growing in (self.starts, self.ends, self.types):
            growing.truncate(kept)
        self.outgoing, self.incoming = DeltaSide(), DeltaSide()
        self.writes += 1
        self.topology += 1

    def set_node_value(self, node: int, key: str, value: Any, journal: Journal) -> None:
        """Write a property; None removes it."""
        written = self.node_values.setdefault(key, {})
        _remember(journal, Delta._restore_node_value, written, node, key)
        written[node] = value
        self._index_node(node, key, value)
        self.writes += 1
        if self.watches:
            self._touch((node,), key, True)

    def set_node_values(self, nodes: Sequence[int], key: str, values: Sequence[Any], journal: Journal) -> None:
        """Write a property of many; of two values for one the later stays. None removes it."""
        if not nodes:
            return
        written = self.node_values.setdefault(key, {})
        journal.append((Delta._restore_node_values, (key, _before(written, nodes))))
        written.update(zip(nodes, values, strict=True))
        if key in self.by_value:
            for node, value in zip(nodes, values, strict=True):
                self._index_node(node, key, value)
        self.writes += 1
        self._touch(nodes, key, True)

    def _restore_node_value(self, node: int, key: str, had: bool, value: Any) -> None:
        _restore(self.node_values, node, key, had, value)
        if had:
            self._index_node(node, key, value)
        self.writes += 1
        self._touch((node,), key, True)

    def _restore_node_values(self, key: str, before: Values) -> None:
        _put_back(self.node_values, key, before, self._index_node)
        self.writes += 1
        self._touch(before, key, True)

    def _index_node(self, node: int, key: str, value: Any) -> None:
        if value is not None and (index := self.by_value.get(key)) is not None:
            wanted = lookup_key(value)
            if wanted is not None:
                index.setdefault(wanted, {})[node] = None

    def set_relationship_value(self, relationship: int, key: str, value: Any, journal: Journal) -> None:
        """Write a property; None removes it."""
        written = self.relationship_values.setdefault(key, {})
        _remember(journal, Delta._restore_relationship_value, written, relationship, key)
        written[relationship] = value
        self._index_relationship(relationship, key, value)
        self.writes += 1
        if self.watches:
            self._touch((relationship,), key, False)

    def set_relationship_values(
        self, relationships: Sequence[int], key: str, values: Sequence[Any], journal: Journal
    ) -> None:
        """Write a property of many; of two values for one the later stays. None removes it."""
        if not relationships:
            return
        written = self.relationship_values.setdefault(key, {})
        journal.append((Delta._restore_relationship_values, (key, _before(written, relationships))))
        written.update(zip(relationships, values, strict=True))
        if key in self.relationships_by_value:
            for relationship, value in zip(relationships, values, strict=True):
                self._index_relationship(relationship, key, value)
        self.writes += 1
        self._touch(relationships, key, False)

    def _restore_relationship_value(self, relationship: int, key: str, had: bool, value: Any) -> None:
        _restore(self.relationship_values, relationship, key, had, value)
        if had:
            self._index_relationship(relationship, key, value)
        self.writes += 1
        self._touch((relationship,), key, False)

    def _restore_relationship_values(self, key: str, before: Values) -> None:
        _put_back(self.relationship_values, key, before, self._index_relationship)
        self.writes += 1
        self._touch(before, key, False)

    def _index_relationship(self, relationship: int, key: str, value: Any) -> None:
        if value is not None and (index := self.relationships_by_value.get(key)) is not None:
            wanted = lookup_key(value)
            if wanted is not None:
                index.setdefault(wanted, {})[relationship] = None

    def _touch(self, positions: Iterable[int], key: str, is_of_nodes: bool) -> None:
        """Make search indexes over the key look at these entities again."""
        for watch in self.watches.values():
            if watch.is_of_nodes is is_of_nodes and key in watch.keys:
                watch.touched.update(dict.fromkeys(positions))

    def set_label_set(self, node: int, label_set: int, journal: Journal) -> None:
        """Give a node another set of labels."""
        before = self.label_set(node)
        base_count = self.base.node_count
        if node >= base_count:
            journal.append((Delta._put_label_set, (node, before)))
        else:
            journal.append((Delta._put_label_set, (node, before if node in self.relabelled else None)))
        self._put_label_set(node, label_set)

    def _put_label_set(self, node: int, label_set: int | None) -> None:
        self._count_labels(self.label_set(node), -1)
        if node >= self.base.node_count:
            assert label_set is not None
            self.new_labels[node - self.base.node_count] = label_set
        elif label_set is None:
            del self.relabelled[node]
        else:
            self.relabelled[node] = label_set
            for key, index in self.by_value.items():
                if (wanted := lookup_key(self.node_value(node, key))) is not None:
                    index.setdefault(wanted, {})[node] = None
        self._count_labels(self.label_set(node), 1)
        self.writes += 1
        self.node_set += 1
        for watch in self.watches.values():
            if watch.is_of_nodes:
                watch.touched[node] = None

    def remove_node(self, node: int, journal: Journal) -> None:
        """Delete a node with its labels and properties; its relationships are left to the caller."""
        for key in self.node_keys(node):
            self.set_node_value(node, key, None, journal)
        self.remove_bare_nodes((node,), journal)

    def remove_bare_nodes(self, nodes: Sequence[int], journal: Journal) -> None:
        """Delete nodes that have no properties any more, with their labels."""
        for node in nodes:
            if self.label_set(node) != NO_LABELS:
                self.set_label_set(node, NO_LABELS, journal)
        journal.append((Delta._revive_nodes, (nodes,)))
        self.removed_nodes.update(nodes)
        self.writes += 1
        self.node_set += 1

    def _revive_nodes(self, nodes: Sequence[int]) -> None:
        self.removed_nodes.difference_update(nodes)
        self.writes += 1
        self.node_set += 1

    def remove_relationship(self, relationship: int, journal: Journal) -> None:
        """Delete a relationship with its properties. It keeps its type and ends."""
        for key in self.relationship_keys(relationship):
            self.set_relationship_value(relationship, key, None, journal)
        self.remove_bare_relationships((relationship,), (self.type_of(relationship),), journal)

    def remove_bare_relationships(
        self, relationships: Sequence[int], type_codes: Sequence[int], journal: Journal
    ) -> None:
        """Delete relationships, of these types, that have no properties any more."""
        journal.append((Delta._revive_relationships, (relationships, type_codes)))
        self.removed_relationships.update(relationships)
        self._count_types(type_codes, -1)

    def _revive_relationships(self, relationships: Sequence[int], type_codes: Sequence[int]) -> None:
        self.removed_relationships.difference_update(relationships)
        self._count_types(type_codes, 1)

    def _count_types(self, type_codes: Sequence[int], change: int) -> None:
        for code, count in Counter(type_codes).items():
            self.type_changes[code] = self.type_changes.get(code, 0) + change * count
        self.writes += 1
        self.topology += 1

    def set_schema(self, schema: Schema, journal: Journal) -> None:
        """Replace the indexes and constraints."""
        journal.append((Delta._put_schema, (self.schema,)))
        self._put_schema(schema)

    def _put_schema(self, schema: Schema) -> None:
        self.schema = schema
        self.writes += 1

    def undo(self, journal: Journal, kept: int = 0) -> None:
        """Undo the steps of a journal after the first `kept`, last one first. The journal itself is not changed."""
        for step, arguments in reversed(journal[kept:]):
            step(self, *arguments)

    def _count_labels(self, label_set: int, change: int) -> None:
        for label in self.base.tokens.labels_of(label_set):
            self.label_changes[label] = self.label_changes.get(label, 0) + change


def _remember(journal: Journal, step: Callable[..., None], written: Values, position: int, key: str) -> None:
    if position in written:
        journal.append((step, (position, key, True, written[position])))
    else:
        journal.append((step, (position, key, False, None)))


def _before(written: Values, positions: Iterable[int]) -> Values:
    return {position: written.get(position, _NOT_WRITTEN) for position in positions}


def _put_back(values: dict[str, Values], key: str, before: Values, index: Callable[[int, str, Any], None]) -> None:
    written = values[key]
    for position, value in before.items():
        if value is _NOT_WRITTEN:
            del written[position]
        else:
            written[position] = value
            index(position, key, value)
    if not written:
        del values[key]


def _restore(values: dict[str, Values], position: int, key: str, had: bool, value: Any) -> None:
    if had:
        values[key][position] = value
        return
    del values[key][position]
    if not values[key]:
        del values[key]


def _by_lookup_key(values: Values) -> dict[Hashable, dict[int, None]]:
    found: dict[Hashable, dict[int, None]] = {}
    for position, value in values.items():
        if (wanted := lookup_key(value)) is not None:
            found.setdefault(wanted, {})[position] = None
    return found
