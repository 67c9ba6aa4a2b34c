"""The commits of a damaged log: records that match their checksums, including those after a damaged one, applied as far
as what they refer to exists.

Ids and numbers of names tell how much a lost record contained: its nodes and relationships leave a gap, and its names
are not known. What depends on them is left out, and counted.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.delta import Delta, Journal
from hoplite.storage.disk.changes import unpacked
from hoplite.storage.disk.codec import BadEncoding, decode
from hoplite.storage.disk.log import HEADER_BYTES, RECORD_BYTES, Record, next_record, record_fields
from hoplite.storage.disk.manifest import Names, read_schema
from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import Int64s


@dataclass(slots=True)
class SalvagedLog:
    """The records that can be read, and what is wrong with the others. `commits_lost` counts gaps in their numbers."""

    records: list[Record] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    commits_lost: int = 0
    is_end_lost: bool = False  # an unknown number of commits may have followed


def read_log(path: Path, commits: int, header: bytes | None) -> SalvagedLog:
    """Every record of a log, in order; `commits` are those before the first."""
    found = SalvagedLog()
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        found.damage.append(f"{path}: it is missing")
        found.is_end_lost = True
        return found
    if header is not None and data[:HEADER_BYTES] != header:
        found.damage.append(f"{path}: its header is not the one that was written")
    at = HEADER_BYTES
    while at < len(data):
        record = _record_at(data, at)
        if record is None:
            following = next_record(data, at + 1)
            _judge_gap(found, path, data, at, following)
            at = following
        else:
            if record.commit > commits:
                found.commits_lost += record.commit - commits - 1
                commits = record.commit
                found.records.append(record)
            at = record.end
    return found


def _record_at(data: bytes, offset: int) -> Record | None:
    fields = record_fields(data, offset)
    if fields is None:
        return None
    length, commit, content_crc = fields
    end = offset + RECORD_BYTES + length
    content = data[offset + RECORD_BYTES : end]
    return (
        Record(commit, content, offset, end) if len(content) == length and zlib.crc32(content) == content_crc else None
    )


def _judge_gap(found: SalvagedLog, path: Path, data: bytes, start: int, end: int) -> None:
    """Bytes between two records are damage; at the end they may be a record that was never finished."""
    if end < len(data):
        found.damage.append(f"{path}: bytes {start} to {end} are damaged")
        return
    fields = record_fields(data, start)
    is_short = fields is not None and start + RECORD_BYTES + fields[0] > len(data)
    if len(data) - start < RECORD_BYTES or is_short or not any(data[start:]):
        found.notes.append(f"{path}: it ends in {len(data) - start} bytes of a record that was never finished")
    else:
        found.damage.append(f"{path}: bytes {start} to {end}, the end of it, are damaged")
        found.is_end_lost = True


@dataclass(slots=True)
class LogLosses:
    """What could not be applied."""

    nodes: int = 0  # created by lost commits; some may have been deleted again
    relationships: int = 0
    dangling: int = 0  # relationships whose start or end is lost
    without_type: int = 0  # relationships of a type whose name is lost
    without_labels: int = 0  # nodes some of whose labels are lost
    changes: int = 0  # of entities that their ids no longer identify
    records: list[str] = field(default_factory=list)  # whose content is invalid


class LogApplier:
    """Applies records to a delta. `known` are the names of the base; ids below these limits belong to the base, and are
    useless if its ids are lost."""

    def __init__(
        self, delta: Delta, known: Names, lost_node_ids: int | None = None, lost_relationship_ids: int | None = None
    ) -> None:
        self.losses = LogLosses()
        self._delta = delta
        self._labels = dict(enumerate(known.labels))
        self._types = dict(enumerate(known.types))
        self._sets = {
            number: (tuple(known.labels[label] for label in labels), True)
            for number, labels in enumerate(known.label_sets)
        }
        self._lost_node_ids = lost_node_ids
        self._lost_relationship_ids = lost_relationship_ids
        self._journal: Journal = []

    def apply(self, record: Record) -> None:
        """Apply what can be applied."""
        try:
            content = decode(record.content)
            self._names(content.get("names", {}))
            self._nodes(content)
            self._relationships(content)
            self._values(content)
            self._removals(content)
            if "schema" in content:
                self._delta.set_schema(read_schema(content["schema"]), self._journal)
        except (BadEncoding, KeyError, TypeError, ValueError, IndexError, AttributeError, struct.error) as error:
            self.losses.records.append(f"commit {record.commit} ({type(error).__name__}: {error})")
        self._journal.clear()

    def _names(self, content: dict[str, Any]) -> None:
        for kind, known in (("labels", self._labels), ("types", self._types)):
            first, names = content.get(kind, (0, ()))
            known.update(enumerate(names, first))
        first, sets = content.get("label_sets", (0, ()))
        for number, labels in enumerate(sets, first):
            names = tuple(self._labels[label] for label in labels if label in self._labels)
            self._sets[number] = (names, len(names) == len(labels))
        tokens = self._delta.base.tokens
        for key in content.get("keys", (0, ()))[1]:
            tokens.keys.intern(key)

    def _label_set(self, number: int) -> int:
        names, is_whole = self._sets.get(number, ((), False))
        self.losses.without_labels += not is_whole
        return self._delta.base.tokens.label_set_of_names(names)

    def _nodes(self, content: dict[str, Any]) -> None:
        delta = self._delta
        if "nodes" in content:
            first, codes = content["nodes"]
            lost = _gap(first, delta.base.next_node_id + len(delta.new_labels))
            self._fill_nodes(lost)
            sets = [self._label_set(code) for code in np.frombuffer(codes, "<i4").tolist()]
            delta.add_nodes(np.array(sets, np.int32), self._journal)
        if "relabelled" in content:
            ids, codes = content["relabelled"]
            for node, code in zip(
                self._node_positions(ids).tolist(), np.frombuffer(codes, "<i4").tolist(), strict=True
            ):
                if node >= 0:
                    delta.set_label_set(node, self._label_set(code), self._journal)

    def _fill_nodes(self, count: int) -> None:
        """Add deleted nodes in place of lost ones, so that later nodes keep their ids."""
        if count:
            self.losses.nodes += count
            for node in self._delta.add_nodes(np.zeros(count, np.int32), self._journal).tolist():
                self._delta.remove_node(node, self._journal)

    def _relationships(self, content: dict[str, Any]) -> None:
        if "relationships" not in content:
            return
        delta, tokens = self._delta, self._delta.base.tokens
        first, start_ids, end_ids, codes = content["relationships"]
        lost = _gap(first, delta.base.next_relationship_id + len(delta.types))
        self.losses.relationships += lost
        filler = tokens.types.intern(next(iter(self._types.values()), "lost"))
        self._fill_relationships(lost, filler)
        starts, ends = self._node_positions(start_ids), self._node_positions(end_ids)
        for start, end, code in zip(starts.tolist(), ends.tolist(), np.frombuffer(codes, "<i4").tolist(), strict=True):
            if start < 0 or end < 0:
                self.losses.dangling += 1
                self._fill_relationships(1, filler)
            elif code not in self._types:
                self.losses.without_type += 1
                self._fill_relationships(1, filler)
            else:
                delta.add_relationship(start, end, tokens.types.intern(self._types[code]), self._journal)

    def _fill_relationships(self, count: int, type_code: int) -> None:
        """Add deleted relationships in place of lost ones, so that later ones keep their ids."""
        if count:
            node = np.zeros(count, np.int64)
            for made in self._delta.add_relationships(node, node, type_code, self._journal).tolist():
                self._delta.remove_relationship(made, self._journal)

    def _values(self, content: dict[str, Any]) -> None:
        delta = self._delta
        for key, ids, kind, packed in content.get("node_values", ()):
            delta.base.tokens.keys.intern(key)
            for node, value in zip(self._node_positions(ids).tolist(), unpacked(kind, packed), strict=True):
                if node >= 0:
                    delta.set_node_value(node, key, value, self._journal)
        for key, ids, kind, packed in content.get("relationship_values", ()):
            delta.base.tokens.keys.intern(key)
            positions = self._relationship_positions(ids).tolist()
            for relationship, value in zip(positions, unpacked(kind, packed), strict=True):
                if relationship >= 0:
                    delta.set_relationship_value(relationship, key, value, self._journal)

    def _removals(self, content: dict[str, Any]) -> None:
        for position in self._relationship_positions(content.get("removed_relationships", b"")).tolist():
            if position >= 0:
                self._delta.remove_relationship(position, self._journal)
        for position in self._node_positions(content.get("removed_nodes", b"")).tolist():
            if position >= 0:
                self._delta.remove_node(position, self._journal)

    def _node_positions(self, data: bytes) -> Int64s:
        delta, ids = self._delta, np.frombuffer(data, "<i8")
        if len(ids):  # those that no record created were in a lost record
            self._fill_nodes(max(0, int(ids.max()) + 1 - delta.base.next_node_id - len(delta.new_labels)))
        return self._told_apart(Snapshot(delta, "", 0).node_positions, ids, self._lost_node_ids)

    def _relationship_positions(self, data: bytes) -> Int64s:
        positions = Snapshot(self._delta, "", 0).relationship_positions
        return self._told_apart(positions, np.frombuffer(data, "<i8"), self._lost_relationship_ids)

    def _told_apart(self, positions: Any, ids: Int64s, lost_below: int | None) -> Int64s:
        """Positions; -1 for what is lost, or not identifiable because the ids of the base are lost."""
        found: Int64s = positions(ids.astype(np.int64))
        if lost_below is not None:
            unknown = ids < lost_below
            self.losses.changes += int(unknown.sum())
            found = np.where(unknown, -1, found)
        return found

    def drop_dangling(self) -> None:
        """Remove relationships of nodes that were deleted without them."""
        delta = self._delta
        for node in list(delta.removed_nodes):
            for outgoing in (True, False):
                for relationship in delta.relationships_of(node, outgoing):
                    if relationship not in delta.removed_relationships:
                        self.losses.dangling += 1
                        delta.remove_relationship(relationship, self._journal)
        self._journal.clear()


def _gap(first: int, expected: int) -> int:
    """How many ids were assigned by lost records."""
    if first < expected:
        raise ValueError(f"id {first} is given twice")
    return first - expected
