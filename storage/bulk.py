"""Loading whole tables at once: columns of nodes and relationships go in, a new base with all of them comes out.

A bulk load is a transaction: it is the one writer, nothing is visible before its commit, and nothing remains without
one.

    with graph.bulk() as load:
        drugs = load.add_nodes(("Drug",), 3, {"id": ids})
        load.add_relationships("INTERACTS", drugs[:2], drugs[1:], {})
        load.commit()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hoplite.errors import constraint_violation, lost_at_fork
from hoplite.storage import uniqueness
from hoplite.storage.cells import AddedColumn, Cells, CellsCodec, cells
from hoplite.storage.draft import Draft, FoldedColumn, RelationshipBlock
from hoplite.storage.fold import base_blocks
from hoplite.storage.incidence import label_type
from hoplite.storage.index_options import checked_config
from hoplite.storage.property_columns import KeyValues
from hoplite.storage.schema import Entity, IndexKind
from hoplite.storage.schema_changes import with_constraint, with_index
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.spill import PlainArrays, Spill, SpillFailed
from hoplite.values.columns import Column, Int64s

if TYPE_CHECKING:
    from hoplite.storage.graph import Graph


class BulkLoad:
    """Collects what is to be added, and adds it in one step.

    What exceeds the memory of `spill` is collected in files. With `keeps_order`, new relationships get public ids in
    the order in which they are added; without it, in any order, which saves the map from ids to positions.
    """

    def __init__(self, graph: Graph, snapshot: Snapshot, spill: Spill, keeps_order: bool) -> None:
        self.snapshot = snapshot  # what existed before; its positions stay valid until the commit
        self.spill = spill
        self._graph = graph
        self._base = snapshot._delta.base
        self._schema = snapshot.schema
        self._keeps_ids = keeps_order or self._base.next_relationship_id > 0
        self._label_sets: dict[tuple[str, ...], int] = {}  # local numbers: names only become known if the load succeeds
        self._label_runs: list[tuple[int, int]] = []  # (set of labels, how many nodes have it)
        self._node_count = 0
        self._node_columns: dict[str, AddedColumn] = {}
        self._types: dict[str, int] = {}
        self._relationships = spill.queue(PlainArrays())  # starts, types, ends
        self._relationship_count = 0
        self._relationship_columns: dict[str, AddedColumn] = {}
        self._names: tuple[Sequence[str], ...] = ((), (), ())
        self._open = True
        self._is_lost = False

    # --- what to add ---

    def name_first(self, labels: Sequence[str], types: Sequence[str], keys: Sequence[str]) -> None:
        """Register these names in this order, in which labels, types and keys are listed."""
        self._names = (labels, types, keys)

    def add_nodes(self, labels: tuple[str, ...], count: int, properties: Mapping[str, Column]) -> Int64s:
        """Add nodes; returns the positions they will have."""
        for key, column in properties.items():
            self.add_node_cells(key, cells(column, self._node_count))
        return self._number_nodes([(labels, count)])

    def add_mixed_nodes(self, label_sets: Iterable[tuple[str, ...]]) -> Int64s:
        """Add nodes with individual labels and no properties (`add_node_cells` adds some)."""
        return self._number_nodes((labels, len(list(same))) for labels, same in groupby(label_sets))

    def _number_nodes(self, runs: Iterable[tuple[tuple[str, ...], int]]) -> Int64s:
        first = self._base.node_count + self._node_count
        for labels, count in runs:
            code = self._label_sets.setdefault(labels, len(self._label_sets))
            if self._label_runs and self._label_runs[-1][0] == code:
                self._label_runs[-1] = (code, self._label_runs[-1][1] + count)
            else:
                self._label_runs.append((code, count))
            self._node_count += count
        return np.arange(first, self._base.node_count + self._node_count, dtype=np.int64)

    def add_node_cells(self, key: str, values: Cells) -> None:
        """Values of one key for new nodes, numbered from the first one of this load."""
        self._add_cells(self._node_columns, key, values)

    def add_relationships(self, type: str, starts: Int64s, ends: Int64s, properties: Mapping[str, Column]) -> None:
        """Add relationships between positions: existing ones or those returned by `add_nodes`."""
        for key, column in properties.items():
            self.add_relationship_cells(key, cells(column, self._relationship_count))
        code = self._types.setdefault(type, len(self._types))
        self._add_ends(starts, np.full(len(starts), code, np.uint8 if code < 2**8 else np.int32), ends)

    def add_mixed_relationships(self, types: Iterable[str], starts: Int64s, ends: Int64s) -> None:
        """Add relationships with individual types and no properties."""
        numbers = self._types
        codes = (numbers.setdefault(type, len(numbers)) for type in types)
        self._add_ends(starts, np.fromiter(codes, np.int32, len(starts)), ends)

    def add_numbered_relationships(
        self, types: Sequence[str], numbers: NDArray[Any], starts: Int64s, ends: Int64s
    ) -> None:
        """Add relationships without properties; `types` gives the type that each number stands for."""
        codes = np.array([self._types.setdefault(type, len(self._types)) for type in types], np.int32)
        self._add_ends(starts, codes[numbers], ends)

    def _add_ends(self, starts: Int64s, types: NDArray[Any], ends: Int64s) -> None:
        if len(starts):
            self._relationships.put((_small(starts), types, _small(ends)))
            self._relationship_count += len(starts)

    def add_relationship_cells(self, key: str, values: Cells) -> None:
        """Values of one key for new relationships, numbered from the first one of this load."""
        self._add_cells(self._relationship_columns, key, values)

    def _add_cells(self, columns: dict[str, AddedColumn], key: str, values: Cells) -> None:
        if len(values.rows):
            column = columns.get(key)
            if column is None:
                column = columns[key] = AddedColumn(self.spill.queue(CellsCodec()))
            column.add(values)

    def make_unique(self, label: str, key: str) -> bool:
        """Request a uniqueness constraint on nodes, unless there is one, or an index; whether it is new."""
        if self._schema.has_index(Entity.NODE, label, key):
            return False
        self._schema = with_constraint(self._schema, None, Entity.NODE, label, (key,), False).schema
        return True

    def add_index(
        self,
        name: str | None,
        kind: IndexKind,
        entity: Entity,
        labels: tuple[str, ...],
        keys: tuple[str, ...],
        options: Mapping[str, Any],
    ) -> bool:
        """Request an index, unless an equal one exists; whether it is new."""
        config = checked_config(kind, entity, options)
        outcome = with_index(self._schema, name, kind, entity, labels, keys, config, True)
        self._schema = outcome.schema
        return outcome.is_new

    def add_constraint(self, name: str | None, entity: Entity, label: str, keys: tuple[str, ...]) -> bool:
        """Request a uniqueness constraint, unless an equal one exists; whether it is new."""
        outcome = with_constraint(self._schema, name, entity, label, keys, True)
        self._schema = outcome.schema
        return outcome.is_new

    # --- what it will be called ---

    @property
    def first_node_id(self) -> int:
        """The public id of the first new node; the others follow it."""
        return self._base.next_node_id

    @property
    def first_relationship_id(self) -> int:
        """The public id of the first new relationship; the others follow it."""
        return self._base.next_relationship_id

    # --- the end ---

    def commit(self) -> None:
        """Make everything visible, if it meets the constraints."""
        if self._is_lost:
            raise lost_at_fork("load")
        assert self._open, "The bulk load is closed."
        self._graph._finish_load(self._draft(), self._schema, self._check_constraints, self.spill)
        self.close()

    def close(self) -> None:
        """Discard what is not committed."""
        if self._open:
            self._open = False
            self._graph._end_of_load(self.spill)

    def _lose(self) -> None:
        """This is a copy in a forked process: the load continues in the parent, which also owns its files."""
        self._open, self._is_lost = False, True

    def __enter__(self) -> BulkLoad:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self.close()
        if isinstance(error, SpillFailed):
            raise self._graph._load_failed(error) from error

    def _draft(self) -> Draft:
        base, tokens = self._base, self._base.tokens
        for known, first in zip((tokens.labels, tokens.types, tokens.keys), self._names, strict=True):
            for name in first:
                known.intern(name)
        for rule in self._schema.indexes:  # including those of constraints
            names = tokens.labels if rule.entity is Entity.NODE else tokens.types
            for label in rule.labels:
                names.intern(label)
            for key in rule.keys:
                tokens.keys.intern(key)
        for key in (*self._node_columns, *self._relationship_columns):
            tokens.keys.intern(key)
        label_sets = np.array([tokens.label_set_of_names(labels) for labels in self._label_sets], np.int32)
        type_codes = np.array([tokens.types.intern(type) for type in self._types], np.int32)
        node_total = base.node_count + self._node_count
        relationship_total = base.relationship_count + self._relationship_count
        node_labels = np.empty(node_total, label_type(node_total, tokens.label_set_count))
        node_labels[: base.node_count] = base.node_labels
        at = base.node_count
        for code, count in self._label_runs:
            node_labels[at : at + count] = label_sets[code]
            at += count
        return Draft(
            tokens,
            node_labels,
            _more_ids(base.node_ids, base.node_count, base.next_node_id, self._node_count),
            base.next_node_id + self._node_count,
            relationship_total,
            lambda: self._blocks(type_codes),
            self._keeps_ids,
            base.next_relationship_id + self._relationship_count,
            _more_columns(base.node_columns, self._node_columns, base.node_count, node_total),
            _more_columns(
                base.relationship_columns, self._relationship_columns, base.relationship_count, relationship_total
            ),
            self._relationships.clear,
        )

    def _blocks(self, type_codes: NDArray[np.int32]) -> Iterator[RelationshipBlock]:
        first_id = self._base.next_relationship_id
        for block in base_blocks(self._base):
            yield block if self._keeps_ids else block._replace(ids=None)
        for starts, types, ends in self._relationships:
            ids = np.arange(first_id, first_id + len(starts), dtype=np.int64) if self._keeps_ids else None
            first_id += len(starts)
            yield RelationshipBlock(starts, type_codes[types], ends, ids)

    def _check_constraints(self, after: Snapshot) -> None:
        added = {Entity.NODE: {label for labels in self._label_sets for label in labels}}
        added[Entity.RELATIONSHIP] = set(self._types)
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


def _small(positions: Int64s) -> NDArray[Any]:
    """In 32 bits if they fit."""
    return positions.astype(np.int32) if int(positions.max()) < 2**31 else positions


def _more_ids(ids: Int64s | None, count: int, next_id: int, new: int) -> Int64s | None:
    if ids is None and next_id == count:
        return None
    old = np.arange(count, dtype=np.int64) if ids is None else ids
    return np.concatenate([old, np.arange(next_id, next_id + new, dtype=np.int64)])


def _more_columns(
    columns: Mapping[str, KeyValues], added: Mapping[str, AddedColumn], first: int, total: int
) -> dict[str, FoldedColumn | AddedColumn]:
    found: dict[str, FoldedColumn | AddedColumn] = {}
    for key in dict.fromkeys([*columns, *added]):
        old = FoldedColumn(columns[key], first, None, {}, total) if key in columns else None
        new = added.get(key)
        if new is not None:
            new.old, new.first = old, first
            found[key] = new
        elif old is not None:
            found[key] = old
    return found
