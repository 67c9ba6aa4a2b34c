"""A draft goes in; a folder of files and the manifest that would put it into force come out. Partitions are written one
by one, as they are built.

nodes.bin            labels, and if needed: partition_of, row_of, ids, positions (by id)
relationships.bin    if needed: ids, positions (by id)
partition-P.out      indptr, neighbours, types; nodes (of each row) if there are several partitions
partition-P.in       indptr, neighbours, types, relationships
node-K.bin/.arrow    the K-th property key of nodes; relationship-K for relationships
index-K.bin          the K-th index of the schema
search-K.bin         the K-th vector or full-text index
checksums            the CRC-32 of every block of every file
manifest.json        a copy of the manifest
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.base import Base, counts_of, inverse
from hoplite.storage.build import Build, is_identity, spare_rows
from hoplite.storage.disk.blocks import CHECKSUMS, ArrayFile, BlockReader, FileWriter
from hoplite.storage.disk.cache import Cache
from hoplite.storage.disk.columns import ColumnWriter
from hoplite.storage.disk.files import Files, write_file
from hoplite.storage.disk.indexes import index_to_write, indexed_places
from hoplite.storage.disk.manifest import (
    MANIFEST,
    Manifest,
    Statistics,
    StoredIndex,
    StoredKey,
    StoredSearch,
    manifest_text,
    names_of,
    snapshot_name,
    tokens_of,
)
from hoplite.storage.disk.stored import NODES, RELATIONSHIPS, StoredBase, partition_name
from hoplite.storage.draft import ColumnDraft, Draft, GatheredColumn
from hoplite.storage.incidence import Incidence
from hoplite.storage.schema import Schema
from hoplite.storage.search.earlier import Earlier
from hoplite.storage.search.kinds import search_index
from hoplite.storage.spill import Spill
from hoplite.values.columns import Int64s

_READ_BYTES = 256 * 2**20
"""How much of the new files is held while indexes are built from them."""


def write_snapshot(
    files: Files,
    root: Path,
    number: int,
    draft: Draft,
    partitions: int,
    schema: Schema,
    uuid: str,
    commits: int,
    spill: Spill,
    earlier: Earlier | None = None,
) -> Manifest:
    """Write all files of a snapshot. They are on disk when this returns, except for the name of the folder itself.
    Search indexes are derived from those of an earlier state, if one is given."""
    folder = root / snapshot_name(number)
    files.make_folder(folder)
    writing = _Writing(files, folder)
    build = Build(draft, partitions, spill)
    first_relationships, types = _write_partitions(writing, build, bool(draft.relationship_columns))
    writing.file(NODES, partial(_write_nodes, draft, build))
    writing.file(RELATIONSHIPS, partial(_write_relationships, build.relationship_ids(), draft.next_relationship_id))
    node_keys, keys_by_label_set = _write_columns(writing, "node", draft.node_columns, draft.node_labels)
    new_numbers = build.new_numbers()
    relationship_columns = {
        key: GatheredColumn(column, draft.relationship_count, new_numbers)
        for key, column in draft.relationship_columns.items()
    }
    relationship_keys, keys_by_type = _write_columns(writing, "relationship", relationship_columns, types)
    statistics = Statistics(
        tuple(counts_of(draft.node_labels, draft.tokens.label_set_count).tolist()),
        tuple(build.type_counts.tolist()),
        _patterns(build.pattern_counts),
        keys_by_label_set,
        keys_by_type,
    )
    manifest = Manifest(
        uuid,
        number,
        commits,
        partitions,
        draft.node_count,
        draft.relationship_count,
        draft.next_node_id,
        draft.next_relationship_id,
        first_relationships,
        names_of(draft.tokens),
        schema,
        statistics,
        node_keys,
        relationship_keys,
        (),
        tuple(writing.written),
        0,
    )
    del build, draft
    indexes = _write_indexes(writing, manifest)
    searches = _write_searches(writing, manifest, earlier)
    checksums = np.array(writing.checksums, "<u4").tobytes()
    write_file(files, folder / CHECKSUMS, checksums)
    manifest = replace(
        manifest,
        indexes=indexes,
        searches=searches,
        files=tuple(writing.written),
        checksums_crc32=zlib.crc32(checksums),
    )
    write_file(files, folder / MANIFEST, manifest_text(manifest))
    files.sync_folder(folder)
    return manifest


@dataclass(slots=True)
class _Writing:
    """A folder that is being filled."""

    files: Files
    folder: Path
    written: list[ArrayFile] = field(default_factory=list)
    checksums: list[int] = field(default_factory=list)

    def file(self, name: str, fill: Callable[[FileWriter], None]) -> None:
        """Add a file."""
        writer = FileWriter(self.files, self.folder / name, len(self.checksums))
        try:
            fill(writer)
            self.written.append(writer.finish())
            self.checksums += writer.checksums
        finally:
            writer.close()

    def so_far(self, manifest: Manifest) -> StoredBase:
        """What has been written, to be read again."""
        reader = BlockReader(self.folder, {file.name: file for file in self.written}, np.array(self.checksums, "<u4"))
        return StoredBase(reader, manifest, Cache(_READ_BYTES), tokens_of(manifest.names))


def _write_partitions(writing: _Writing, build: Build, with_types: bool) -> tuple[tuple[int, ...], NDArray[Any]]:
    """Both sides of all partitions; the first relationship of each and, if requested, all types in order."""
    first_relationships, types = [], [np.zeros(0, build.layout.types)]
    for partition, outgoing in enumerate(build.outgoing()):
        nodes = None if build.partition_of is None else build.nodes_of_partition(partition)
        writing.file(partition_name(partition, True), partial(_write_incidence, outgoing, nodes))
        first_relationships.append(outgoing.first_relationship)
        if with_types:
            types.append(outgoing.types)
    for partition, incoming in enumerate(build.incoming()):
        writing.file(partition_name(partition, False), partial(_write_incidence, incoming, None))
    return tuple(first_relationships), np.concatenate(types)


def _write_nodes(draft: Draft, build: Build, writer: FileWriter) -> None:
    writer.add("labels", draft.node_labels)
    if build.partition_of is not None and build.row_of is not None:
        spare_partitions, spare = spare_rows(build)
        writer.add("partition_of", build.partition_of, spare_partitions)
        writer.add("row_of", build.row_of, spare)
    if draft.node_ids is not None and not is_identity(draft.node_ids):
        _write_ids(draft.node_ids, draft.next_node_id, writer)


def _write_relationships(ids: Int64s | None, next_id: int, writer: FileWriter) -> None:
    if ids is not None:
        _write_ids(ids, next_id, writer)


def _write_ids(ids: Int64s, next_id: int, writer: FileWriter) -> None:
    writer.add("ids", ids)
    positions = inverse(ids, next_id)
    assert positions is not None
    writer.add("positions", positions)


def _write_incidence(incidence: Incidence, nodes: NDArray[Any] | None, writer: FileWriter) -> None:
    writer.add("indptr", incidence.indptr)
    writer.add("neighbours", incidence.neighbours)
    writer.add("types", incidence.types)
    if incidence.relationships is not None:
        writer.add("relationships", incidence.relationships)
    if nodes is not None:
        writer.add("nodes", nodes.astype(incidence.neighbours.dtype, copy=False))


def _write_columns(
    writing: _Writing, entity: str, columns: Mapping[str, ColumnDraft], codes: NDArray[Any]
) -> tuple[tuple[StoredKey, ...], dict[int, list[str]]]:
    """The columns, and which keys occur with which codes (of a set of labels, or a type)."""
    written: list[StoredKey] = []
    keys_by_code: dict[int, list[str]] = {}
    total = len(codes)
    for key, draft in columns.items():
        found: dict[int, None] = {}

        def seen(numbers: Int64s, found: dict[int, None] = found) -> None:
            found.update(dict.fromkeys(np.flatnonzero(np.bincount(codes[numbers])).tolist()))

        column = ColumnWriter.of(draft, total, seen)
        if column.kind is None:
            continue
        for code in sorted(found):
            keys_by_code.setdefault(code, []).append(key)
        name = f"{entity}-{len(written)}.{'arrow' if column.kind == 'strings' else 'bin'}"
        stored = StoredKey(key, name, column.kind, column.is_sparse)
        writing.file(name, column.write)
        written.append(stored)
    return tuple(written), keys_by_code


def _write_indexes(writing: _Writing, manifest: Manifest) -> tuple[StoredIndex, ...]:
    """The indexes of the schema, built from the files written so far."""
    base = writing.so_far(manifest)
    written = []
    for number, place in enumerate(indexed_places(manifest.schema, base)):
        index = index_to_write(base, place)
        if index is not None:
            name = f"index-{number}.bin"
            writing.file(name, index.write)
            written.append(StoredIndex(place.entity, place.code, place.key, name, index.kind, index.distinct))
    return tuple(written)


def _write_searches(writing: _Writing, manifest: Manifest, earlier: Earlier | None) -> tuple[StoredSearch, ...]:
    """The vector and full-text indexes of the schema."""
    kinds = [(index, kind) for index in manifest.schema.indexes if (kind := search_index(index.kind))]
    if not kinds:
        return ()
    base = writing.so_far(manifest)
    written = []
    for number, (index, kind) in enumerate(kinds):
        arrays = kind.of(base, index, earlier).arrays()
        name = f"search-{number}.bin"

        def write(writer: FileWriter, arrays: Mapping[str, NDArray[Any]] = arrays) -> None:
            for array, values in arrays.items():
                writer.add(array, values)

        writing.file(name, write)
        written.append(StoredSearch(index.id, name))
    return tuple(written)


def _patterns(totals: Mapping[int, int]) -> tuple[tuple[int, int, int, int], ...]:
    ordered = sorted(totals)
    parts = Base.pattern_parts(np.array(ordered, np.int64))
    columns = (*(part.tolist() for part in parts), [totals[pattern] for pattern in ordered])
    return tuple(zip(*columns, strict=True))
