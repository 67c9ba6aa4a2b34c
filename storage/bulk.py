"""Loading whole tables at once: nodes and relationships as columns go in, a new base with all of them comes out.

A bulk load is a transaction of its own: the one writer, nothing visible before the commit, and nothing left
behind without it.

    with graph.bulk() as load:
        drugs = load.add_nodes(("Drug",), 3, {"id": ids})
        load.add_relationships("INTERACTS", drugs[:2], drugs[1:], {})
        load.commit()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hoplite.errors import constraint_violation
from hoplite.storage import uniqueness
from hoplite.storage.base import Base, build_base
from hoplite.storage.delta import Delta
from hoplite.storage.index_options import checked_config
from hoplite.storage.property_columns import KeyValues, narrowed, property_column, without_nulls
from hoplite.storage.schema import Entity, IndexKind
from hoplite.storage.schema_changes import with_constraint, with_index
from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import Column, Int64s, concatenate

if TYPE_CHECKING:
    from hoplite.storage.graph import Graph


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Values of one key: the i-th is that of entity rows[i], counted from the first one of a load. No nulls."""

    rows: Int64s
    values: Column


def cells(column: Column, first: int = 0) -> Cells:
    """A column with nulls, for entities from number `first` on."""
    present = np.flatnonzero(~column.null_mask())
    if len(present) == len(column):
        return Cells(present + first, column)
    return Cells(present + first, without_nulls(column.take(present)))


class BulkLoad:
    """Collects what is to be added, and adds it in one step."""

    def __init__(self, graph: Graph, snapshot: Snapshot) -> None:
        self.snapshot = snapshot  # what was there before; its positions stay good until the commit
        self._graph = graph
        self._base = snapshot._delta.base
        self._schema = snapshot.schema
        self._labels: list[tuple[tuple[str, ...], int]] = []  # labels and how many nodes have them
        self._node_count = 0
        self._node_cells: dict[str, list[Cells]] = {}
        self._types: list[tuple[str, int]] = []
        self._starts: list[Int64s] = []
        self._ends: list[Int64s] = []
        self._relationship_count = 0
        self._relationship_cells: dict[str, list[Cells]] = {}
        self._open = True

    # --- what to add ---

    def add_nodes(self, labels: tuple[str, ...], count: int, properties: Mapping[str, Column]) -> Int64s:
        """New nodes; the positions they will have."""
        for key, column in properties.items():
            self.add_node_cells(key, cells(column, self._node_count))
        return self._number_nodes([(labels, count)])

    def add_mixed_nodes(self, label_sets: Iterable[tuple[str, ...]]) -> Int64s:
        """New nodes, each with labels of its own, and no properties (`add_node_cells` gives them some)."""
        return self._number_nodes((labels, len(list(same))) for labels, same in groupby(label_sets))

    def _number_nodes(self, runs: Iterable[tuple[tuple[str, ...], int]]) -> Int64s:
        first = self._base.node_count + self._node_count
        for labels, count in runs:
            self._labels.append((labels, count))
            self._node_count += count
        return np.arange(first, self._base.node_count + self._node_count, dtype=np.int64)

    def add_node_cells(self, key: str, values: Cells) -> None:
        """Values of one key for new nodes, which count from the first one of this load."""
        if len(values.rows):
            self._node_cells.setdefault(key, []).append(values)

    def add_relationships(self, type: str, starts: Int64s, ends: Int64s, properties: Mapping[str, Column]) -> None:
        """New relationships between positions, old ones or those that `add_nodes` gave."""
        for key, column in properties.items():
            self.add_relationship_cells(key, cells(column, self._relationship_count))
        self._types.append((type, len(starts)))
        self._add_ends(starts, ends)

    def add_mixed_relationships(self, types: Iterable[str], starts: Int64s, ends: Int64s) -> None:
        """New relationships, each with a type of its own, and no properties."""
        self._types.extend((type, len(list(same))) for type, same in groupby(types))
        self._add_ends(starts, ends)

    def _add_ends(self, starts: Int64s, ends: Int64s) -> None:
        self._starts.append(starts)
        self._ends.append(ends)
        self._relationship_count += len(starts)

    def add_relationship_cells(self, key: str, values: Cells) -> None:
        """Values of one key for new relationships, which count from the first one of this load."""
        if len(values.rows):
            self._relationship_cells.setdefault(key, []).append(values)

    def make_unique(self, label: str, key: str) -> None:
        """Ask for a uniqueness constraint on nodes, unless there is one, or an index."""
        if not self._schema.has_index(Entity.NODE, label, key):
            self._schema = with_constraint(self._schema, None, Entity.NODE, label, (key,), False).schema

    def add_index(
        self,
        name: str | None,
        kind: IndexKind,
        entity: Entity,
        labels: tuple[str, ...],
        keys: tuple[str, ...],
        options: Mapping[str, Any],
    ) -> bool:
        """Ask for an index, unless there is one like it; whether it is new."""
        config = checked_config(kind, entity, options, False)
        outcome = with_index(self._schema, name, kind, entity, labels, keys, config, True)
        self._schema = outcome.schema
        return outcome.is_new

    def add_constraint(self, name: str | None, entity: Entity, label: str, keys: tuple[str, ...]) -> bool:
        """Ask for a uniqueness constraint, unless there is one like it; whether it is new."""
        outcome = with_constraint(self._schema, name, entity, label, keys, True)
        self._schema = outcome.schema
        return outcome.is_new

    # --- what it will be called ---

    @property
    def first_node_id(self) -> int:
        """The public id of the first new node; those after it count on."""
        return self._base.next_node_id

    @property
    def first_relationship_id(self) -> int:
        """The public id of the first new relationship; those after it count on."""
        return self._base.next_relationship_id

    # --- the end ---

    def commit(self) -> None:
        """Make it all visible, if it meets the constraints."""
        assert self._open, "The bulk load is closed."
        base = self._merged()
        delta = Delta(base, self._schema)
        self._check_constraints(Snapshot(delta, self._graph.uuid, 0))
        self._graph._publish_load(delta)
        self.close()

    def close(self) -> None:
        """Give up what is not committed."""
        if self._open:
            self._open = False
            self._graph._release_writer()

    def __enter__(self) -> BulkLoad:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _merged(self) -> Base:
        base, tokens = self._base, self._base.tokens
        for rule in self._schema.indexes:  # those of constraints among them
            names = tokens.labels if rule.entity is Entity.NODE else tokens.types
            for label in rule.labels:
                names.intern(label)
            for key in rule.keys:
                tokens.keys.intern(key)
        for key in (*self._node_cells, *self._relationship_cells):
            tokens.keys.intern(key)
        label_codes = [tokens.label_set_of_names(labels) for labels, _ in self._labels]
        type_codes = [tokens.types.intern(type) for type, _ in self._types]
        node_labels = _extended(base.node_labels, label_codes, [count for _, count in self._labels])
        types = _extended(base.relationship_types, type_codes, [count for _, count in self._types])
        return build_base(
            tokens,
            node_labels,
            _more_ids(base.node_ids, base.node_count, base.next_node_id, self._node_count),
            base.next_node_id + self._node_count,
            np.concatenate([base.starts, *self._starts]),
            np.concatenate([base.ends, *self._ends]),
            types,
            _more_ids(
                base.relationship_ids, base.relationship_count, base.next_relationship_id, self._relationship_count
            ),
            base.next_relationship_id + self._relationship_count,
            _more_columns(base.node_columns, self._node_cells, base.node_count, len(node_labels)),
            _more_columns(base.relationship_columns, self._relationship_cells, base.relationship_count, len(types)),
            self._graph.partitions_for(len(node_labels), len(types)),
        )

    def _check_constraints(self, after: Snapshot) -> None:
        added = {Entity.NODE: {label for labels, _ in self._labels for label in labels}}
        added[Entity.RELATIONSHIP] = {type for type, _ in self._types}
        for constraint in self._schema.constraints:
            label = constraint.labels[0]
            if label not in added[constraint.entity]:
                continue
            duplicate = uniqueness.first_duplicate(after, constraint.entity, label, constraint.keys)
            if duplicate is not None:
                first, _, values = duplicate
                is_node = constraint.entity is Entity.NODE
                position = np.array([first], np.int64)
                public = int((after.node_ids(position) if is_node else after.relationship_ids(position))[0])
                noun, token = ("Node", "label") if is_node else ("Relationship", "type")
                raise constraint_violation(uniqueness.message(noun, public, f"{token} `{label}`", values))


def _extended(codes: NDArray[np.int32], new: list[int], counts: list[int]) -> NDArray[np.int32]:
    return np.concatenate([codes, np.repeat(np.array(new, np.int32), np.array(counts, np.int64))])


def _more_ids(ids: Int64s | None, count: int, next_id: int, new: int) -> Int64s | None:
    if ids is None and next_id == count:
        return None
    old = np.arange(count, dtype=np.int64) if ids is None else ids
    return np.concatenate([old, np.arange(next_id, next_id + new, dtype=np.int64)])


def _more_columns(
    columns: Mapping[str, KeyValues], added: Mapping[str, Iterable[Cells]], first: int, total: int
) -> dict[str, KeyValues]:
    merged: dict[str, Any] = {}
    for key in dict.fromkeys([*columns, *added]):
        parts = [columns[key].entries()] if key in columns else []
        parts += [(part.rows + first, part.values) for part in added.get(key, ())]
        positions = np.concatenate([rows for rows, _ in parts])
        column = narrowed(concatenate([values for _, values in parts]))
        if len(positions) > 1 and not bool((positions[1:] > positions[:-1]).all()):
            order = np.argsort(positions)
            positions, column = positions[order], column.take(order)
        merged[key] = property_column(positions, column, total)
    return merged
