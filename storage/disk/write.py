"""A base goes in, a folder of files comes out, with the manifest that would put it in force.

nodes.bin            labels, and where needed: partition_of, row_of, ids, positions (by id)
relationships.bin    where needed: ids, positions (by id)
partition-P.out      indptr, neighbours, types; nodes (of each row) if there are several partitions
partition-P.in       indptr, neighbours, types, relationships
node-K.bin/.arrow    the K-th property key of nodes; relationship-K for relationships
index-K.bin          the K-th index of the schema
checksums            the CRC-32 of every block of every file
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.storage.base import Base
from hoplite.storage.disk.blocks import CHECKSUMS, ArrayFile, FileWriter
from hoplite.storage.disk.columns import column_kind, write_column
from hoplite.storage.disk.files import Files, write_file
from hoplite.storage.disk.indexes import index_at, index_kind, indexed_places, write_index
from hoplite.storage.disk.manifest import Manifest, Statistics, StoredIndex, StoredKey, names_of, snapshot_name
from hoplite.storage.incidence import Incidence
from hoplite.storage.property_columns import KeyValues
from hoplite.storage.schema import Schema

NODES, RELATIONSHIPS = "nodes.bin", "relationships.bin"
_CHUNK = 1 << 22


def partition_name(partition: int, outgoing: bool) -> str:
    """The file of one side of a partition."""
    return f"partition-{partition}.{'out' if outgoing else 'in'}"


def write_snapshot(
    files: Files, root: Path, number: int, base: Base, schema: Schema, uuid: str, commits: int
) -> Manifest:
    """Write all files of a snapshot. They are on disk when this returns, but for the name of the folder itself."""
    folder = root / snapshot_name(number)
    files.make_folder(folder)
    writing = _Writing(files, folder)
    writing.file(NODES, partial(_write_nodes, base))
    writing.file(RELATIONSHIPS, partial(_write_relationships, base))
    first_relationships = []
    for partition in range(len(base.outgoing)):
        outgoing = base.outgoing[partition]
        nodes = None if base.partition_of is None else base.nodes_of_partition(partition)
        writing.file(partition_name(partition, True), partial(_write_incidence, outgoing, nodes))
        writing.file(partition_name(partition, False), partial(_write_incidence, base.incoming[partition], None))
        first_relationships.append(outgoing.first_relationship)
    node_keys = _write_columns(writing, "node", base.node_columns)
    relationship_keys = _write_columns(writing, "relationship", base.relationship_columns)
    indexes = _write_indexes(writing, base, schema)
    checksums = np.array(writing.checksums, "<u4").tobytes()
    write_file(files, folder / CHECKSUMS, checksums)
    files.sync_folder(folder)
    return Manifest(
        uuid,
        number,
        commits,
        len(base.outgoing),
        base.node_count,
        base.relationship_count,
        base.next_node_id,
        base.next_relationship_id,
        tuple(first_relationships),
        names_of(base.tokens),
        schema,
        _statistics(base),
        node_keys,
        relationship_keys,
        indexes,
        tuple(writing.written),
        zlib.crc32(checksums),
    )


@dataclass(slots=True)
class _Writing:
    """A folder that is being filled."""

    files: Files
    folder: Path
    written: list[ArrayFile] = field(default_factory=list)
    checksums: list[int] = field(default_factory=list)

    def file(self, name: str, fill: Callable[[FileWriter], None]) -> None:
        """One more file."""
        writer = FileWriter(self.files, self.folder / name, len(self.checksums))
        try:
            fill(writer)
            self.written.append(writer.finish())
            self.checksums += writer.checksums
        finally:
            writer.close()


def _write_nodes(base: Base, writer: FileWriter) -> None:
    writer.add("labels", base.node_labels)
    if base.partition_of is not None and base.row_of is not None:
        writer.add("partition_of", base.partition_of)
        writer.add("row_of", base.row_of)
    if base.node_ids is not None and base.node_of_id is not None:
        writer.add("ids", base.node_ids)
        writer.add("positions", base.node_of_id)


def _write_relationships(base: Base, writer: FileWriter) -> None:
    if base.relationship_ids is not None and base.relationship_of_id is not None:
        writer.add("ids", base.relationship_ids)
        writer.add("positions", base.relationship_of_id)


def _write_incidence(incidence: Incidence, nodes: NDArray[Any] | None, writer: FileWriter) -> None:
    writer.add("indptr", incidence.indptr)
    writer.add("neighbours", incidence.neighbours)
    writer.add("types", incidence.types)
    if incidence.relationships is not None:
        writer.add("relationships", incidence.relationships)
    if nodes is not None:
        writer.add("nodes", nodes.astype(incidence.neighbours.dtype))


def _write_columns(writing: _Writing, entity: str, columns: Mapping[str, KeyValues]) -> tuple[StoredKey, ...]:
    written = []
    for number, (key, values) in enumerate(columns.items()):
        column = values.whole()
        kind = column_kind(column.column)
        name = f"{entity}-{number}.{'arrow' if kind == 'strings' else 'bin'}"
        writing.file(name, partial(write_column, kind, column))
        written.append(StoredKey(key, name, kind, column.positions is not None))
    return tuple(written)


def _write_indexes(writing: _Writing, base: Base, schema: Schema) -> tuple[StoredIndex, ...]:
    written = []
    for number, place in enumerate(indexed_places(schema, base)):
        index = index_at(base, place)
        kind = index_kind(index)
        if kind is not None:
            name = f"index-{number}.bin"
            writing.file(name, partial(write_index, index))
            written.append(StoredIndex(place.entity, place.code, place.key, name, kind, index.distinct))
    return tuple(written)


def _statistics(base: Base) -> Statistics:
    return Statistics(
        tuple(base.label_set_counts.tolist()),
        tuple(base.type_counts.tolist()),
        _patterns(base),
        base.keys_by_label_set,
        base.keys_by_type,
    )


def _patterns(base: Base) -> tuple[tuple[int, int, int, int], ...]:
    """The counts of `Base.pattern_counts`, made piece by piece."""
    totals: dict[int, int] = {}
    labels = base.node_labels
    for first in range(0, base.relationship_count, _CHUNK):
        relationships = np.arange(first, min(first + _CHUNK, base.relationship_count), dtype=np.int64)
        starts, ends = labels[base.starts_of(relationships)], labels[base.ends_of(relationships)]
        packed, counts = np.unique(Base.packed_patterns(starts, base.types_of(relationships), ends), return_counts=True)
        for pattern, count in zip(packed.tolist(), counts.tolist(), strict=True):
            totals[pattern] = totals.get(pattern, 0) + count
    ordered = sorted(totals)
    parts = Base.pattern_parts(np.array(ordered, np.int64))
    columns = (*(part.tolist() for part in parts), [totals[pattern] for pattern in ordered])
    return tuple(zip(*columns, strict=True))
