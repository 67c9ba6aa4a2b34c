"""The immutable part of a version: partitions, label codes, property columns, and what is derived from them on
first use.

Arrays for n nodes and m relationships, by position:

    node_labels        int32[n]            code of the node's set of labels; uint8 in large graphs
    node_ids           int64[n] or None    public ids; None: the id is the position
    relationship_ids   int64[m] or None    the same for relationships
    outgoing, incoming                     Sides: one Incidence for each partition
    partition_of       uint8[n + spare]    partition and row of each node; None for a single partition
    row_of             int32[n + spare]

Relationships are numbered in the order (partition, subject, type, object); which `build.py` takes care of. The spare
entries of `partition_of` and `row_of` point to an empty row, for nodes that are made later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy import cached_property
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.incidence import COMPACT_AT, Incidence, Partitions, position_type
from hoplite.storage.property_columns import KeyValues
from hoplite.storage.schema import Index, Schema
from hoplite.storage.tokens import Tokens
from hoplite.storage.value_index import ValueIndex
from hoplite.values.columns import Int64s, Integers

if TYPE_CHECKING:
    from hoplite.storage.search.building import Building
    from hoplite.storage.search.earlier import Earlier

Int32s = NDArray[np.int32]

_COUNTED = 1 << 16  # codes at once


class SearchIndex(Protocol):
    """A vector or full-text index over a base, stored as arrays."""

    @classmethod
    def of(cls: type[S], base: Base, index: Index, earlier: Earlier | None = None) -> S:
        """Build the index from the columns of a base, reusing the index of the state it was folded from, if any."""
        ...

    def agrees_with(self: S, expected: S) -> bool:
        """Whether this holds the same as an index that was built from the columns."""
        ...

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays of the index, by name."""
        ...

    @classmethod
    def of_arrays(cls: type[S], index: Index, arrays: Mapping[str, NDArray[Any]]) -> S:
        """The index from its arrays. Raises ValueError if they do not fit each other, KeyError if one is missing."""
        ...


S = TypeVar("S", bound=SearchIndex)


@dataclass(eq=False)
class Base:
    """A graph as of the last fold; see the top of the file. Never changed; a fold derives a new one."""

    tokens: Tokens
    node_labels: NDArray[Any]
    node_ids: Int64s | None
    next_node_id: int
    relationship_types: NDArray[Any]
    relationship_ids: Int64s | None
    next_relationship_id: int
    outgoing: Partitions
    incoming: Partitions
    partition_of: NDArray[Any] | None
    row_of: Int32s | None
    node_columns: Mapping[str, KeyValues]
    relationship_columns: Mapping[str, KeyValues]
    type_counts: Int64s
    """How many relationships have each type code."""
    pattern_counts: tuple[Int64s, Int64s]
    """The (set of start labels, type, set of end labels) that occur, packed into one integer, and how often."""
    _indexes: dict[tuple[int, str], ValueIndex] = field(default_factory=dict)
    _relationship_indexes: dict[tuple[int, str], ValueIndex] = field(default_factory=dict)
    _labelled: dict[int, Int64s] = field(default_factory=dict)
    _search_indexes: dict[int, Any] = field(default_factory=dict)
    buildings: dict[tuple[int, int], Building] = field(default_factory=dict)
    """Graphs of neighbours that are made in the background, by index and length of vectors."""
    inherited: dict[tuple[int, int], Building] = field(default_factory=dict)
    """Those that were under way when what this base was made of was folded."""
    when_built: Callable[[], None] | None = None
    """Called when one of them is there."""

    @property
    def cache_counts(self) -> tuple[int, int, int] | None:
        """How often something was found in the cache, loaded from disk and evicted so far; None in memory."""
        return None

    @property
    def node_count(self) -> int:
        """How many nodes there are; their positions start at 0."""
        return len(self.node_labels)

    @property
    def relationship_count(self) -> int:
        """How many relationships there are; their positions start at 0."""
        return len(self.relationship_types)

    # --- relationships ---

    @cached_property
    def starts(self) -> NDArray[Any]:
        """The subject of each relationship."""
        parts = []
        for partition, incidence in enumerate(self.outgoing):
            nodes = self.nodes_of_partition(partition)
            lengths = np.diff(incidence.indptr)[: len(nodes)]  # the last row is empty
            parts.append(np.repeat(nodes, lengths))
        return np.concatenate(parts)

    def nodes_of_partition(self, partition: int) -> NDArray[Any]:
        """The node of each row of a partition."""
        if self.partition_of is None:
            return np.arange(self.node_count, dtype=position_type(self.node_count))
        members = np.flatnonzero(self.partition_of[: self.node_count] == partition)
        return members.astype(position_type(self.node_count))

    @cached_property
    def ends(self) -> NDArray[Any]:
        """The object of each relationship."""
        if len(self.outgoing) == 1:
            return self.outgoing[0].neighbours
        return np.concatenate([incidence.neighbours for incidence in self.outgoing])

    def starts_of(self, relationships: Int64s) -> NDArray[Any]:
        """The subjects of these relationships, all of them in the base."""
        if self.partition_of is None and self.relationship_count >= COMPACT_AT:
            return row_of_entry(self.outgoing[0].indptr, relationships)
        return self.starts[relationships]

    def ends_of(self, relationships: Int64s) -> NDArray[Any]:
        """The objects of these relationships."""
        return self.ends[relationships]

    def types_of(self, relationships: Int64s) -> NDArray[Any]:
        """The type codes of these relationships."""
        return self.relationship_types[relationships]

    def triple(self, relationship: int) -> tuple[int, int, int]:
        """The subject, type code and object of one relationship."""
        return (
            int(self.starts[relationship]),
            int(self.relationship_types[relationship]),
            int(self.ends[relationship]),
        )

    def row(self, node: int, outgoing: bool) -> tuple[Incidence, int, int]:
        """The partition that holds a node's relationships, and the range of its entries there."""
        side = self.outgoing if outgoing else self.incoming
        if self.partition_of is None or self.row_of is None:
            incidence, row = side[0], node
        else:
            incidence, row = side[self.partition_of[node]], int(self.row_of[node])
        return incidence, int(incidence.indptr[row]), int(incidence.indptr[row + 1])

    def degrees(self, nodes: Int64s, outgoing: bool) -> Int64s:
        """How many relationships each of these nodes (all of them in the base) has on one side."""
        side = self.outgoing if outgoing else self.incoming
        if self.partition_of is None or self.row_of is None:
            counts: Int64s = (side[0].indptr[nodes + 1] - side[0].indptr[nodes]).astype(np.int64, copy=False)
            return counts
        found = np.zeros(len(nodes), np.int64)
        partitions, rows = self.partition_of[nodes], self.row_of[nodes].astype(np.int64)
        for partition, incidence in enumerate(side):
            mine = np.flatnonzero(partitions == partition)
            found[mine] = incidence.indptr[rows[mine] + 1] - incidence.indptr[rows[mine]]
        return found

    def relationships_at(self, nodes: Int64s, outgoing: bool) -> Int64s:
        """The relationships of these nodes (all of them in the base) on one side."""
        side = self.outgoing if outgoing else self.incoming
        if self.partition_of is None or self.row_of is None:
            return side[0].relationships_in(nodes)
        partitions, rows = self.partition_of[nodes], self.row_of[nodes].astype(np.int64)
        needed = np.unique(partitions).tolist()
        return np.concatenate(
            [np.zeros(0, np.int64), *(side[number].relationships_in(rows[partitions == number]) for number in needed)]
        )

    def relationships_with_type(self, type_code: int) -> Int64s:
        """Positions, ascending."""
        return np.flatnonzero(self.relationship_types == type_code)

    @staticmethod
    def packed_patterns(start_sets: NDArray[Any], types: NDArray[Any], end_sets: NDArray[Any]) -> Int64s:
        """Set of start labels, type and set of end labels in one integer."""
        return start_sets.astype(np.int64) << 42 | types.astype(np.int64) << 21 | end_sets.astype(np.int64)

    @staticmethod
    def pattern_parts(packed: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Set of start labels, type, set of end labels."""
        mask = (1 << 21) - 1
        return packed >> 42, packed >> 21 & mask, packed & mask

    # --- labels ---

    @cached_property
    def label_set_counts(self) -> Int64s:
        """How many nodes have each set of labels."""
        return counts_of(self.node_labels, self.tokens.label_set_count)

    def label_count(self, label: int) -> int:
        """How many nodes have the label."""
        counts = self.label_set_counts
        return int(counts[self.tokens.sets_having(label)[: len(counts)]].sum())

    def nodes_with_label(self, label: int) -> Int64s:
        """Positions, ascending."""
        nodes = self._labelled.get(label)
        if nodes is None:
            nodes = np.flatnonzero(self.tokens.sets_having(label)[self.node_labels])
            self._labelled[label] = nodes
        return nodes

    # --- properties ---

    @cached_property
    def keys_by_label_set(self) -> dict[int, list[str]]:
        """Which keys occur on nodes with a set of labels."""
        return _keys_by_code(self.node_columns, self.node_labels, self.label_set_counts)

    @cached_property
    def keys_by_type(self) -> dict[int, list[str]]:
        """Which keys occur on relationships of a type."""
        return _keys_by_code(self.relationship_columns, self.relationship_types, self.type_counts)

    def node_index(self, label: int, key: str) -> ValueIndex:
        """Nodes with the label by the value of the key; made on first use."""
        index = self._indexes.get((label, key))
        if index is None:
            index = _index_of(self.node_columns.get(key), self.tokens.sets_having(label)[self.node_labels])
            self._indexes[label, key] = index
        return index

    def distinct_values(self, label: int, key: str) -> int | None:
        """How many different values the key has on nodes with the label; None if unknown."""
        return self.node_index(label, key).distinct

    def relationship_index(self, type_code: int, key: str) -> ValueIndex:
        """Relationships of the type by the value of the key; made on first use."""
        index = self._relationship_indexes.get((type_code, key))
        if index is None:
            index = _index_of(self.relationship_columns.get(key), self.relationship_types == type_code)
            self._relationship_indexes[type_code, key] = index
        return index

    def search_index(self, index: Index, kind: type[S]) -> S:
        """A vector or full-text index over this base; made on first use."""
        found: S | None = self._search_indexes.get(index.id)
        if found is None:
            found = self._search_indexes[index.id] = kind.of(self, index)
        return found

    def known_search_index(self, index: Index, kind: type[S]) -> S | None:
        """The same if it is there; it is not made."""
        found: S | None = self._search_indexes.get(index.id)
        return found

    def carry_over(self, earlier: Earlier, schema: Schema) -> None:
        """Make those of the search indexes that were there before a fold."""
        for index in schema.indexes:
            before = earlier.delta.base._search_indexes.get(index.id)
            if before is not None:
                self._search_indexes[index.id] = type(before).of(self, index, earlier)
        self.when_built = earlier.delta.base.when_built
        self.inherit(earlier.delta.base)

    def inherit(self, before: Base) -> None:
        """Wait for what is being built over the previous base, instead of starting again."""
        both = before.inherited | before.buildings
        self.inherited = {key: building for key, building in both.items() if building.is_under_way}

    def has_room_for(self, size: int) -> bool:
        """Whether this many bytes may be held for something optional."""
        return True

    def new_kept(self) -> dict[Any, Any]:
        """A dictionary for what readers keep of this base."""
        return {}

    def stop_building(self) -> None:
        """Give up what is made in the background."""
        for building in (*self.inherited.values(), *self.buildings.values()):
            building.stop()

    # --- public ids ---

    @cached_property
    def node_of_id(self) -> Int64s | None:
        """The position of each public id, -1 for ids whose node is gone; None: the id is the position."""
        return inverse(self.node_ids, self.next_node_id)

    @cached_property
    def relationship_of_id(self) -> Int64s | None:
        """The same for relationships."""
        return inverse(self.relationship_ids, self.next_relationship_id)


def counts_of(codes: NDArray[Any], count: int) -> Int64s:
    """How often each of the numbers below `count` occurs. Done a piece at a time, because NumPy counts in 64 bits."""
    counts = np.zeros(count, np.int64)
    for first in range(0, len(codes), _COUNTED):
        counts += np.bincount(codes[first : first + _COUNTED], minlength=count)
    return counts


def row_of_entry(indptr: NDArray[Any], entries: Int64s) -> Int64s:
    """The row that each entry is in. NumPy would convert all of `indptr` to compare it with other integers."""
    return np.searchsorted(indptr, entries.astype(indptr.dtype), "right") - 1


def _index_of(column: KeyValues | None, included: NDArray[np.bool_]) -> ValueIndex:
    if column is None:
        return ValueIndex.empty()
    if column.positions is None and bool(included.all()):
        whole = column.whole().column
        if isinstance(whole, Integers) and whole.nulls is None:
            return ValueIndex.of_all(whole)
    positions, values = column.entries()
    kept = np.flatnonzero(included[positions])
    if len(kept) == len(positions):
        return ValueIndex.of(positions, values)
    return ValueIndex.of(positions[kept], values.take(kept))


def _keys_by_code(columns: Mapping[str, KeyValues], codes: NDArray[Any], counts: Int64s) -> dict[int, list[str]]:
    every = np.flatnonzero(counts).tolist()
    found: dict[int, list[str]] = {}
    for key, column in columns.items():
        for code in column.codes_of_holders(codes, every):
            found.setdefault(code, []).append(key)
    return found


def inverse(ids: Int64s | None, next_id: int) -> Int64s | None:
    """The position of each id, -1 if there is none."""
    if ids is None:
        return None
    positions = np.full(next_id, -1, np.int64)
    positions[ids] = np.arange(len(ids))
    return positions
