"""A base in files: every array is loaded when it is first read.

Reading one or a few relationships touches only the partitions that hold them; only a fold reads them all. Partitions
and columns come and go with the cache; the arrays over all nodes stay mapped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy import cached_property
from hoplite.storage.base import Base, Int32s, S, row_of_entry
from hoplite.storage.disk.blocks import CHECKSUMS, BlockReader
from hoplite.storage.disk.cache import Cache, Place
from hoplite.storage.disk.columns import StoredColumn
from hoplite.storage.disk.indexes import StoredNumbers, StoredPoints, StoredStrings
from hoplite.storage.disk.manifest import Manifest, StoredIndex, StoredKey, tokens_of
from hoplite.storage.disk.problems import damaged
from hoplite.storage.incidence import Incidence
from hoplite.storage.point_index import PointIndex
from hoplite.storage.schema import Entity, Index
from hoplite.storage.tokens import Tokens
from hoplite.storage.value_index import ValueIndex
from hoplite.values.columns import Floats, Int64s, Integers

NODES, RELATIONSHIPS = "nodes.bin", "relationships.bin"
COUNTED_NODES = 1_000_000
"""In a graph of up to this many nodes, the distinct values of a key without an index are counted for the planner."""


def partition_name(partition: int, outgoing: bool) -> str:
    """The file of one side of a partition."""
    return f"partition-{partition}.{'out' if outgoing else 'in'}"


def open_snapshot(folder: Path, manifest: Manifest, cache: Cache, tokens: Tokens | None = None) -> StoredBase:
    """The base that a manifest describes. With `tokens`, the base uses those, which include all its names."""
    path = folder / CHECKSUMS
    try:
        checksums = path.read_bytes()
    except FileNotFoundError:
        raise damaged(path, "it is missing") from None
    if crc32(checksums) != manifest.checksums_crc32:
        raise damaged(path, "its checksum does not match")
    blocks = sum(file.block_count for file in manifest.files)
    if len(checksums) != 4 * blocks:
        raise damaged(path, "its size does not match the manifest")
    files = {file.name: file for file in manifest.files}
    reader = BlockReader(folder, files, np.frombuffer(checksums, "<u4"))
    return StoredBase(reader, manifest, cache, tokens_of(manifest.names) if tokens is None else tokens)


class StoredSide:
    """The partitions of one side, each loaded when first used."""

    def __init__(self, reader: BlockReader, manifest: Manifest, cache: Cache, outgoing: bool) -> None:
        self._reader = reader
        self._cache = cache
        self._outgoing = outgoing
        self.first_relationships = manifest.first_relationships if outgoing else (0,) * manifest.partitions
        self.entry_count = manifest.relationships  # each is once on either side

    def __len__(self) -> int:
        return len(self.first_relationships)

    def __getitem__(self, number: int, /) -> Incidence:
        partition = int(number)
        if partition >= len(self.first_relationships):
            raise IndexError(partition)
        return self._cache.get((self._reader.serial, self._outgoing, partition), lambda: self._load(partition))

    def __iter__(self) -> Iterator[Incidence]:
        return (self[partition] for partition in range(len(self)))

    def new_kept(self) -> dict[Any, Any]:
        """A dictionary for what is derived from partitions; see `Cache`."""
        return self._cache.new_kept()

    def place_for(self, *about: Hashable) -> Place:
        """The place in the cache for something large that is derived from all partitions."""
        return Place(self._cache, (self._reader.serial, *about))

    def dtype_of(self, array: str) -> np.dtype[Any]:
        """The type of an array, which is the same in every partition."""
        return np.dtype(self._reader.file(partition_name(0, self._outgoing)).arrays[array].dtype)

    def _load(self, partition: int) -> tuple[Incidence, int]:
        name = partition_name(partition, self._outgoing)
        arrays = self._reader.arrays(name)
        indptr, neighbours, types = arrays["indptr"], arrays["neighbours"], arrays["types"]
        relationships = arrays.get("relationships")
        if not len(indptr) or not len(neighbours) == len(types) == indptr[-1]:
            raise damaged(self._reader.folder / name, "its arrays do not fit each other")
        incidence = Incidence(indptr, neighbours, types, relationships, self.first_relationships[partition])
        return incidence, self._reader.file(name).size


class StoredColumns(Mapping[str, StoredColumn]):
    """Property columns by key."""

    def __init__(self, reader: BlockReader, cache: Cache, keys: tuple[StoredKey, ...], total: int) -> None:
        self._columns = {key.key: StoredColumn(reader, cache, key.file, key.kind, key.is_sparse, total) for key in keys}

    def __getitem__(self, key: str) -> StoredColumn:
        return self._columns[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


class StoredBase(Base):
    """A base whose arrays are in files."""

    def __init__(self, reader: BlockReader, manifest: Manifest, cache: Cache, tokens: Tokens) -> None:
        self.tokens = tokens
        self.next_node_id = manifest.next_node_id
        self.next_relationship_id = manifest.next_relationship_id
        self.outgoing = StoredSide(reader, manifest, cache, True)
        self.incoming = StoredSide(reader, manifest, cache, False)
        self.node_columns: StoredColumns = StoredColumns(reader, cache, manifest.node_keys, manifest.nodes)
        self.relationship_columns: StoredColumns = StoredColumns(
            reader, cache, manifest.relationship_keys, manifest.relationships
        )
        self.reader = reader
        self._manifest = manifest
        self._cache = cache
        self._indexes = {}
        self._relationship_indexes = {}
        self._labelled = {}
        self._search_indexes = {}
        self.buildings = {}
        self.inherited = {}
        self.when_built = None

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return self._manifest.nodes

    @property
    def relationship_count(self) -> int:
        """How many relationships there are."""
        return self._manifest.relationships

    # --- arrays over all nodes or relationships: a `Base` is given these, this class loads them ---

    def _array(self, file: str, name: str) -> NDArray[Any] | None:
        return self.reader.array(file, name) if name in self.reader.file(file).arrays else None

    @property
    def cache_counts(self) -> tuple[int, int, int]:
        """How often something was found in the cache, loaded from disk and evicted so far."""
        counts = self._cache.statistics
        return counts.hits, counts.loads, counts.evictions

    @cached_property
    def node_labels(self) -> Int32s:  # type: ignore[override]
        """The code of each node's set of labels."""
        return self.reader.array(NODES, "labels")

    @cached_property
    def partition_of(self) -> Int32s | None:  # type: ignore[override]
        """The partition of each node."""
        return self._array(NODES, "partition_of")

    @cached_property
    def row_of(self) -> Int32s | None:  # type: ignore[override]
        """The row of each node in its partition."""
        return self._array(NODES, "row_of")

    @cached_property
    def node_ids(self) -> Int64s | None:  # type: ignore[override]
        """Public ids; None: the id is the position."""
        return self._array(NODES, "ids")

    @cached_property
    def node_of_id(self) -> Int64s | None:
        """The position of each public id."""
        return self._array(NODES, "positions")

    @cached_property
    def relationship_ids(self) -> Int64s | None:  # type: ignore[override]
        """Public ids; None: the id is the position."""
        return self._array(RELATIONSHIPS, "ids")

    @cached_property
    def relationship_of_id(self) -> Int64s | None:
        """The position of each public id."""
        return self._array(RELATIONSHIPS, "positions")

    # --- relationships: everything is in the outgoing partitions, in order ---

    @cached_property
    def _bounds(self) -> Int64s:
        """Where the relationships of each partition begin, without the zero of the first."""
        return np.array(self._manifest.first_relationships[1:], np.int64)

    def _routed(self, relationships: Int64s) -> Iterator[tuple[int, Incidence, Int64s, Int64s]]:
        """(partition, its arrays, which of the relationships, their entries there)"""
        if not len(self._bounds):
            yield 0, self.outgoing[0], np.arange(len(relationships)), relationships
            return
        partitions = np.searchsorted(self._bounds, relationships, "right")
        for partition in np.flatnonzero(np.bincount(partitions)).tolist():
            mine = np.flatnonzero(partitions == partition)
            incidence = self.outgoing[partition]
            yield partition, incidence, mine, relationships[mine] - incidence.first_relationship

    def starts_of(self, relationships: Int64s) -> NDArray[Any]:
        """The subjects of these relationships."""
        if self._cache.fits(4 * self.relationship_count):
            return self.starts[relationships]
        found = np.empty(len(relationships), np.int64)
        for partition, incidence, mine, entries in self._routed(relationships):
            rows = row_of_entry(incidence.indptr, entries)
            found[mine] = rows if self.partition_of is None else self.nodes_of_partition(partition)[rows]
        return found

    def ends_of(self, relationships: Int64s) -> NDArray[Any]:
        """The objects of these relationships."""
        found = np.empty(len(relationships), np.int64)
        for _, incidence, mine, entries in self._routed(relationships):
            found[mine] = incidence.neighbours[entries]
        return found

    def types_of(self, relationships: Int64s) -> Int32s:
        """The type codes of these relationships."""
        found = np.empty(len(relationships), np.int32)
        for _, incidence, mine, entries in self._routed(relationships):
            found[mine] = incidence.types[entries]
        return found

    def triple(self, relationship: int) -> tuple[int, int, int]:
        """Subject, type code and object of one relationship."""
        one = np.array([relationship], np.int64)
        return int(self.starts_of(one)[0]), int(self.types_of(one)[0]), int(self.ends_of(one)[0])

    def nodes_of_partition(self, partition: int) -> NDArray[Any]:
        """The node of each row."""
        if self.partition_of is None:
            return np.arange(self.node_count)
        name = partition_name(partition, True)
        return self._cache.get((self.reader.serial, "nodes", partition), lambda: (self.reader.array(name, "nodes"), 0))

    @cached_property
    def relationship_types(self) -> Int32s:  # type: ignore[override]
        """The type code of each relationship; reads all partitions."""
        if len(self.outgoing) == 1:
            return self.outgoing[0].types
        return np.concatenate([incidence.types for incidence in self.outgoing])

    def relationships_with_type(self, type_code: int) -> Int64s:
        """Positions, ascending."""
        parts = [
            np.flatnonzero(incidence.types == type_code) + incidence.first_relationship for incidence in self.outgoing
        ]
        return np.concatenate(parts)

    # --- indexes ---

    def node_index(self, label: int, key: str) -> ValueIndex:
        """Nodes with the label by the value of the key."""
        stored = self._stored_indexes.get((Entity.NODE, label, key))
        return super().node_index(label, key) if stored is None else self._index(stored, self.node_columns)

    def relationship_index(self, type_code: int, key: str) -> ValueIndex:
        """Relationships of the type by the value of the key."""
        stored = self._stored_indexes.get((Entity.RELATIONSHIP, type_code, key))
        if stored is None:
            return super().relationship_index(type_code, key)
        return self._index(stored, self.relationship_columns)

    @cached_property
    def _stored_indexes(self) -> dict[tuple[Entity, int, str], StoredIndex]:
        return {(index.entity, index.code, index.key): index for index in self._manifest.indexes}

    def _index(self, stored: StoredIndex, columns: StoredColumns) -> ValueIndex:
        def load() -> tuple[ValueIndex, int]:
            arrays = self.reader.arrays(stored.file)
            size = self._cache.searched(self.reader.file(stored.file).size)
            if stored.kind == "points":
                try:
                    return StoredPoints(PointIndex.of_arrays(arrays), stored.distinct), size
                except (ValueError, KeyError) as error:
                    raise damaged(self.reader.folder / stored.file, "its arrays do not fit each other") from error
            positions = arrays["positions"]
            if stored.kind == "strings":
                return StoredStrings(positions, columns[stored.key], stored.distinct), size
            values = arrays["values"]
            if len(values) != len(positions):
                raise damaged(self.reader.folder / stored.file, "its arrays do not fit each other")
            numbers = Integers(values) if stored.kind == "integers" else Floats(values)
            return StoredNumbers(positions, numbers, stored.distinct), size

        return self._cache.get((self.reader.serial, stored.file), load)

    def search_index(self, index: Index, kind: type[S]) -> S:
        """A vector or full-text index over this base: from its file, if there is one."""
        stored = self._stored_searches.get(index.id)
        if stored is None:
            return super().search_index(index, kind)

        def load() -> tuple[S, int]:
            try:
                found = kind.of_arrays(index, self.reader.arrays(stored))
            except (ValueError, KeyError, IndexError) as error:
                raise damaged(self.reader.folder / stored, "its arrays do not fit each other") from error
            return found, self._cache.searched(self.reader.file(stored).size)

        return self._cache.get((self.reader.serial, stored), load)

    def known_search_index(self, index: Index, kind: type[S]) -> S | None:
        """The same if it is in a file, or was made."""
        if index.id in self._stored_searches:
            return self.search_index(index, kind)
        return super().known_search_index(index, kind)

    def has_room_for(self, size: int) -> bool:
        """Within the cache's budget."""
        return self._cache.fits(size)

    def new_kept(self) -> dict[Any, Any]:
        """A dictionary for what readers keep; see `Cache`."""
        return self._cache.new_kept()

    @cached_property
    def _stored_searches(self) -> dict[int, str]:
        return {search.index: search.file for search in self._manifest.searches}

    def distinct_values(self, label: int, key: str) -> int | None:
        """How many different values the key has on nodes with the label; unknown if counting would mean reading
        many."""
        stored = self._stored_indexes.get((Entity.NODE, label, key))
        if stored is not None:
            return stored.distinct
        return super().distinct_values(label, key) if self.node_count <= COUNTED_NODES else None

    # --- statistics ---

    @cached_property
    def label_set_counts(self) -> Int64s:
        """How many nodes have each set of labels."""
        return np.array(self._manifest.statistics.label_sets, np.int64)

    @cached_property
    def type_counts(self) -> Int64s:  # type: ignore[override]
        """How many relationships have each type code."""
        return np.array(self._manifest.statistics.types, np.int64)

    @cached_property
    def pattern_counts(self) -> tuple[Int64s, Int64s]:  # type: ignore[override]
        """Which patterns of labels and types occur, packed, and how often."""
        table = np.array(self._manifest.statistics.patterns, np.int64).reshape(-1, 4)
        return Base.packed_patterns(table[:, 0], table[:, 1], table[:, 2]), table[:, 3]

    @cached_property
    def keys_by_label_set(self) -> dict[int, list[str]]:
        """Which keys occur on nodes with a set of labels."""
        return dict(self._manifest.statistics.keys_by_label_set)

    @cached_property
    def keys_by_type(self) -> dict[int, list[str]]:
        """Which keys occur on relationships of a type."""
        return dict(self._manifest.statistics.keys_by_type)
