"""Recover what a damaged database still holds into a new one.

The manifest says what the files mean; if it is damaged, the copy in the snapshot's folder does. Files are checked
against their checksums block by block. Every relationship is stored twice, at its start and at its end, so one can be
restored from the other. Indexes are rebuilt. The log is read past its damage (`salvage_log.py`). What is left out is
counted and reported; nothing is written to the damaged database.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.errors import CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.storage import uniqueness
from hoplite.storage.delta import Delta
from hoplite.storage.disk.cache import Cache
from hoplite.storage.disk.codec import BadEncoding
from hoplite.storage.disk.files import Files, remove_tree, write_file
from hoplite.storage.disk.lock import LOCK
from hoplite.storage.disk.log import header
from hoplite.storage.disk.manifest import (
    MANIFEST,
    Manifest,
    StoredKey,
    log_name,
    manifest_at,
    manifest_text,
    snapshot_name,
    tokens_of,
    write_manifest,
)
from hoplite.storage.disk.problems import cannot_open, in_use
from hoplite.storage.disk.salvage_columns import salvaged_column
from hoplite.storage.disk.salvage_files import Progress, SalvageReader
from hoplite.storage.disk.salvage_log import LogApplier, LogLosses, SalvagedLog, read_log
from hoplite.storage.disk.scratch import ScratchFolder, scratch_name
from hoplite.storage.disk.stored import NODES, RELATIONSHIPS, open_snapshot, partition_name
from hoplite.storage.disk.write import write_snapshot
from hoplite.storage.draft import Draft, FoldedColumn, RelationshipBlock
from hoplite.storage.fold import folded
from hoplite.storage.schema import Entity, Schema
from hoplite.storage.schema_changes import without_constraint
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.spill import Spill
from hoplite.storage.tokens import NO_LABELS
from hoplite.values.columns import Int64s

_BUDGET = 256 * 2**20
_UNREADABLE = (CypherError, BadEncoding, KeyError, ValueError, IndexError, OverflowError)


@dataclass(slots=True)
class Recovery:
    """What was recovered into the new database, and what was not."""

    nodes: int = 0
    relationships: int = 0
    damage: list[str] = field(default_factory=list)
    """What is wrong with the files, a sentence each; not all of it causes losses."""
    missing: list[str] = field(default_factory=list)
    """What could not be recovered, a sentence each."""
    notes: list[str] = field(default_factory=list)
    unchecked_files: list[str] = field(default_factory=list)
    """Recovered although there is no checksum left to check them against."""
    lost_commits: int = 0
    """As far as known; more may be lost with the end of a log."""
    lost_nodes: int = 0
    lost_relationships: int = 0
    dangling_relationships: int = 0
    """Left out because a node at one end is lost."""
    nodes_without_labels: int = 0
    lost_node_properties: list[str] = field(default_factory=list)
    lost_relationship_properties: list[str] = field(default_factory=list)
    dropped_constraints: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether everything committed is in the new database, as far as can be told."""
        return not self.missing and not self.unchecked_files


def recover(source: Path, target: Path, progress: Progress | None = None) -> Recovery:
    """Recover what a damaged database holds, into a new one."""
    if not source.is_dir():
        raise cannot_open(source, "there is no database here")
    if os.path.lexists(target):
        raise cannot_open(target, "something of that name exists already; recovery creates a new database")
    if target.resolve().is_relative_to(source.resolve()):
        raise cannot_open(target, "it would be inside the damaged database, which must not be changed")
    files, report = Files(), Recovery()
    with _Unused(source):
        files.make_folder(target)
        try:
            _recover(files, source, target, report, progress)
        except BaseException:
            for inside in list(target.iterdir()):
                remove_tree(files, inside)
            remove_tree(files, target)
            raise
    return report


class _Unused:
    """Nothing writes to the database meanwhile."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._file: int | None = None

    def __enter__(self) -> None:
        try:
            self._file = os.open(self._root / LOCK, os.O_RDONLY)
        except OSError:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._file, 32, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            raise in_use(self._root, f"process {holder}" if holder else "another") from None
        except OSError:
            pass

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.close(self._file)


def _recover(files: Files, source: Path, target: Path, report: Recovery, progress: Progress | None) -> None:
    manifest = _manifest_of(source, report)
    reader = SalvageReader(source / manifest.folder, manifest, progress)
    report.damage += reader.damage
    report.unchecked_files += reader.unchecked
    base = _SalvagedBase(reader, manifest, report)
    commits = manifest.commits
    written = _write(files, target, 1, base.draft(), manifest.schema, manifest, commits)
    log = read_log(source / manifest.log, commits, header(manifest.snapshot, commits, manifest.uuid))
    report.damage += log.damage
    report.notes += log.notes
    if log.records:
        commits = log.records[-1].commit
    delta = Delta(open_snapshot(target / written.folder, written, Cache(_BUDGET)), manifest.schema)
    applier = LogApplier(
        delta,
        manifest.names,
        manifest.next_node_id if base.has_lost_node_ids else None,
        manifest.next_relationship_id if base.has_lost_relationship_ids else None,
    )
    for record in log.records:
        applier.apply(record)
    applier.drop_dangling()
    _tell_of_log(report, log, applier.losses)
    schema = _kept_schema(delta, manifest.uuid, report)
    if log.records or schema is not manifest.schema:
        _intern_names(delta, schema)
        written = _write(files, target, 2, folded(delta), schema, manifest, commits)
        remove_tree(files, target / snapshot_name(1))
    report.nodes, report.relationships = written.nodes, written.relationships
    write_file(files, target / written.log, header(written.snapshot, commits, written.uuid))
    files.sync_folder(target)
    write_manifest(files, target, written)
    files.sync_folder(target.resolve().parent)


def _manifest_of(source: Path, report: Recovery) -> Manifest:
    """The manifest in force, or else the copy that gives access to the most commits."""
    try:
        manifest = manifest_at(source / MANIFEST)
        problem = "it is missing"
    except CypherError as error:
        manifest, problem = None, error.message
        if "format" in problem and "reads formats" in problem:
            raise
    if manifest is not None:
        second = source / manifest.folder / MANIFEST
        if manifest.has_copy and (not second.exists() or second.read_bytes() != manifest_text(manifest)):
            report.damage.append(f"{second}: it is not a copy of the manifest")
        return manifest
    report.damage.append(problem if str(source) in problem else f"{source / MANIFEST}: {problem}")
    found: list[tuple[int, int, Manifest]] = []
    for path in sorted(source.glob(f"snapshot-*/{MANIFEST}")):
        try:
            copy = manifest_at(path)
        except CypherError as error:
            report.damage.append(error.message)
            continue
        if copy is not None and path.parent.name == copy.folder:
            log = read_log(source / log_name(copy.snapshot), copy.commits, None)
            commits = log.records[-1].commit if log.records else copy.commits
            found.append((commits, copy.snapshot, copy))
    if not found:
        raise cannot_open(source, "no manifest is left to tell what is in the files; nothing can be recovered")
    chosen = max(found, key=lambda candidate: candidate[:2])[2]
    report.notes.append(f"The copy of the manifest in {chosen.folder} was used.")
    return chosen


def _write(
    files: Files, target: Path, number: int, draft: Draft, schema: Schema, manifest: Manifest, commits: int
) -> Manifest:
    scratch = ScratchFolder(files, target / scratch_name(number))
    try:
        return write_snapshot(
            files, target, number, draft, manifest.partitions, schema, manifest.uuid, commits, Spill(_BUDGET, scratch)
        )  # fmt: skip
    finally:
        scratch.close()


def _intern_names(delta: Delta, schema: Schema) -> None:
    """Names of schema rules that came with a lost commit."""
    tokens = delta.base.tokens
    for rule in schema.indexes:  # including those of constraints
        for label in rule.labels:
            (tokens.labels if rule.entity is Entity.NODE else tokens.types).intern(label)
        for key in rule.keys:
            tokens.keys.intern(key)


def _kept_schema(delta: Delta, uuid: str, report: Recovery) -> Schema:
    """The schema without the constraints that the remaining data does not meet."""
    schema = delta.schema
    if not report.missing and not report.unchecked_files:
        return schema
    snapshot = Snapshot(delta, uuid, 0)
    for constraint in schema.constraints:
        if uniqueness.first_duplicate(snapshot, constraint.entity, constraint.labels[0], constraint.keys) is not None:
            report.dropped_constraints.append(constraint.name)
            report.missing.append(f"The constraint `{constraint.name}`, which the remaining data does not meet")
            schema = without_constraint(schema, constraint.name, True)
    return schema


def _tell_of_log(report: Recovery, log: SalvagedLog, losses: LogLosses) -> None:
    report.lost_commits += log.commits_lost
    report.lost_nodes += losses.nodes
    report.lost_relationships += losses.relationships + losses.without_type
    report.dangling_relationships += losses.dangling
    report.nodes_without_labels += losses.without_labels
    for count, what in (
        (log.commits_lost, "{} commits in the log"),
        (losses.nodes, "{} nodes created there, judging by their ids (some may have been deleted later)"),
        (losses.relationships, "{} relationships created there, judging by their ids (some may have been deleted)"),
        (losses.dangling, "{} relationships of nodes that are lost, or were deleted in a commit that is lost"),
        (losses.without_type, "{} relationships of types whose names are lost"),
        (losses.without_labels, "some labels of {} nodes, whose names are lost"),
        (losses.changes, "{} changes in the log to entities that cannot be identified without their ids"),
    ):
        if count:
            report.missing.append(what.format(f"{count:,}"))
    if log.is_end_lost:
        report.missing.append("an unknown number of commits at the end of the log")
    report.missing += [f"part of a record of the log: {problem}" for problem in losses.records]


class _SalvagedBase:
    """What can be read of a snapshot."""

    def __init__(self, reader: SalvageReader, manifest: Manifest, report: Recovery) -> None:
        self._reader = reader
        self._manifest = manifest
        self._report = report
        self._cache = Cache(_BUDGET)
        self._labels = self._read_labels()
        self._node_ids = self._read_ids(NODES, manifest.nodes, manifest.next_node_id)
        self._relationship_ids = self._read_ids(RELATIONSHIPS, manifest.relationships, manifest.next_relationship_id)
        self.has_lost_node_ids = self._tell_of_ids(NODES, self._node_ids, "nodes")
        self.has_lost_relationship_ids = self._tell_of_ids(RELATIONSHIPS, self._relationship_ids, "relationships")
        self._sound = [self._is_sound(partition) for partition in range(manifest.partitions)]
        self._kept = self._find_relationships()

    def draft(self) -> Draft:
        """All of it."""
        manifest = self._manifest
        total = manifest.relationships if self._kept is None else int(self._kept.sum())
        numbers = None if self._kept is None else np.where(self._kept, np.cumsum(self._kept) - 1, -1)
        node_columns = self._columns(
            manifest.node_keys, manifest.nodes, None, manifest.nodes, self._report.lost_node_properties, "nodes"
        )
        relationship_columns = self._columns(
            manifest.relationship_keys,
            manifest.relationships,
            numbers,
            total,
            self._report.lost_relationship_properties,
            "relationships",
        )
        return Draft(
            tokens_of(manifest.names),
            self._labels,
            self._node_ids,
            manifest.next_node_id,
            total,
            self._blocks,
            True,
            manifest.next_relationship_id,
            node_columns,
            relationship_columns,
        )

    # --- nodes and ids ---

    def _read_labels(self) -> NDArray[Any]:
        count, sets = self._manifest.nodes, len(self._manifest.names.label_sets)
        labels = self._array(NODES, "labels")
        if labels is not None and len(labels) == count and _within(labels, sets):
            return labels
        labels, are_sound = self._reader.part(NODES, "labels")
        are_sound = are_sound & (labels >= 0) & (labels < sets)
        lost = int((~are_sound).sum())
        if lost:
            self._report.nodes_without_labels += lost
            self._report.missing.append(f"the labels of {lost:,} of the {count:,} nodes of the snapshot")
        return np.where(are_sound, labels, NO_LABELS)

    def _read_ids(self, file: str, count: int, next_id: int) -> Int64s | None:
        ids = self._array(file, "ids")
        if ids is None or len(ids) != count or not _within(ids, next_id) or len(np.unique(ids)) != count:
            return None
        return ids

    def _tell_of_ids(self, file: str, ids: Int64s | None, what: str) -> bool:
        """Whether there were ids that are lost: the position replaces them."""
        is_lost = ids is None and "ids" in self._reader.file(file).arrays
        if is_lost:
            self._report.missing.append(f"the ids of the {what} of the snapshot, which now have new ones")
        return is_lost

    def _array(self, file: str, name: str) -> NDArray[Any] | None:
        if name not in self._reader.file(file).arrays:
            return None
        try:
            return self._reader.array(file, name)
        except _UNREADABLE:
            return None

    # --- relationships ---

    def _bounds(self, partition: int) -> tuple[int, int]:
        firsts = (*self._manifest.first_relationships, self._manifest.relationships)
        return firsts[partition], firsts[partition + 1]

    def _nodes_of(self, partition: int) -> NDArray[Any] | None:
        """The node of each row of a partition."""
        count = self._manifest.nodes
        if self._manifest.partitions == 1:
            return np.arange(count)
        nodes = self._array(partition_name(partition, True), "nodes")
        if nodes is not None and _within(nodes, count):
            return nodes
        partition_of, row_of = self._array(NODES, "partition_of"), self._array(NODES, "row_of")
        if partition_of is None or row_of is None:
            return None
        mine = np.flatnonzero(partition_of[:count] == partition)
        return mine[np.argsort(row_of[mine], kind="stable")]

    def _side(self, partition: int, outgoing: bool) -> tuple[NDArray[Any], ...] | None:
        """(node of each entry, types, other node of each entry, relationships) of one side; None if it is damaged."""
        name = partition_name(partition, outgoing)
        indptr, neighbours, types = (self._array(name, part) for part in ("indptr", "neighbours", "types"))
        nodes = self._nodes_of(partition)
        if indptr is None or neighbours is None or types is None or nodes is None:
            return None
        first, last = self._bounds(partition)
        relationships = np.arange(first, last) if outgoing else self._array(name, "relationships")
        degrees = np.diff(indptr)[: len(nodes)]
        if (
            relationships is None
            or not len(indptr)
            or bool((degrees < 0).any())
            or not int(degrees.sum()) == len(neighbours) == len(types) == len(relationships)
            or len(degrees) != len(nodes)
            or not _within(neighbours, self._manifest.nodes)
            or not _within(types, len(self._manifest.names.types))
            or not _within(relationships, self._manifest.relationships)
        ):
            return None
        return np.repeat(nodes, degrees), types, neighbours, relationships

    def _is_sound(self, partition: int) -> bool:
        """Whether the outgoing side of a partition can be read."""
        return self._side(partition, True) is not None

    def _block(self, partition: int) -> tuple[NDArray[Any], ...]:
        """Starts, types, ends and positions of the relationships of a partition, ascending by position."""
        found = self._side(partition, True) if self._sound[partition] else None
        if found is not None:
            return found
        first, last = self._bounds(partition)
        parts = []
        for other in range(self._manifest.partitions):
            side = self._side(other, False)
            if side is not None:
                ends, types, starts, relationships = side
                mine = np.flatnonzero((relationships >= first) & (relationships < last))
                parts.append((starts[mine], types[mine], ends[mine], relationships[mine]))
        if not parts:
            return (np.zeros(0, np.int64),) * 4
        starts, types, ends, relationships = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.argsort(relationships, kind="stable")
        return starts[order], types[order], ends[order], relationships[order]

    def _find_relationships(self) -> NDArray[np.bool_] | None:
        """Which relationships can be recovered; None if none is lost."""
        if all(self._sound):
            return None
        kept = np.ones(self._manifest.relationships, np.bool_)
        for partition, is_sound in enumerate(self._sound):
            if not is_sound:
                first, last = self._bounds(partition)
                kept[first:last] = False
                kept[self._block(partition)[3]] = True
        lost = int((~kept).sum())
        if not lost:
            return None
        self._report.lost_relationships += lost
        self._report.missing.append(f"{lost:,} of the {len(kept):,} relationships of the snapshot")
        return kept

    def _blocks(self) -> Iterator[RelationshipBlock]:
        ids = self._relationship_ids
        for partition in range(self._manifest.partitions):
            starts, types, ends, positions = self._block(partition)
            yield RelationshipBlock(starts, types, ends, positions.astype(np.int64) if ids is None else ids[positions])

    # --- properties ---

    def _columns(
        self,
        keys: tuple[StoredKey, ...],
        count: int,
        numbers: Int64s | None,
        total: int,
        lost: list[str],
        what: str,
    ) -> dict[str, FoldedColumn]:
        found = {}
        for key in keys:
            column, unknown = salvaged_column(self._reader, self._cache, key, count)
            if column is not None:
                found[key.key] = FoldedColumn(column, count, numbers, {}, total)
            if unknown != 0:
                lost.append(key.key)
                share = "all values" if unknown is None else f"the values for {unknown:,} entities"
                self._report.missing.append(f"{share} of `{key.key}` of {what} in the snapshot")
        return found


def _within(numbers: NDArray[Any], count: int) -> bool:
    return not len(numbers) or (int(numbers.min()) >= 0 and int(numbers.max()) < count)
