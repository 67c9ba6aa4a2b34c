"""What a transaction changed, as the content of a log record, and the way back: a record applied to a delta.

A record refers to nodes and relationships by their public ids, so that it means the same over any base, and holds the
state of everything it touched as of the end of the transaction:

    names         labels, types, keys and sets of labels that are new, with the number of the first of each
    nodes         id of the first new node, and the sets of labels of all new nodes
    relationships id of the first new relationship; starts, ends and types of all of them
    relabelled    ids of nodes, and their sets of labels
    node_values   for each key: ids, and values (null: removed); relationship_values alike
    removed_nodes, removed_relationships          ids
    schema        all indexes and constraints, if they changed
"""

from __future__ import annotations

from dataclasses import field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.delta import Delta, Journal, Values
from hoplite.storage.disk.codec import BadEncoding, decode, encode
from hoplite.storage.disk.manifest import Names, read_schema, schema_content
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.tokens import Tokens
from hoplite.values.columns import Int64s

_ARRAYS = {"I": "<i8", "F": "<f8"}
"""Values that are all integers, or all floats, are written as an array: its letter and its bytes."""


# --- from a transaction ---


@dataclass(slots=True)
class _Touched:
    """The positions that a journal mentions."""

    first_node: int
    first_relationship: int
    relabelled: dict[int, None] = field(default_factory=dict)
    node_values: dict[str, dict[int, None]] = field(default_factory=dict)
    relationship_values: dict[str, dict[int, None]] = field(default_factory=dict)
    removed_nodes: dict[int, None] = field(default_factory=dict)
    removed_relationships: dict[int, None] = field(default_factory=dict)
    schema: bool = False


def _touched(delta: Delta, journal: Journal) -> _Touched:
    found = _Touched(delta.node_count, delta.relationship_count)
    base = delta.base
    for step, arguments in journal:
        if step is Delta._restore_node_value:
            found.node_values.setdefault(arguments[1], {})[arguments[0]] = None
        elif step is Delta._restore_relationship_value:
            found.relationship_values.setdefault(arguments[1], {})[arguments[0]] = None
        elif step is Delta._drop_nodes:
            found.first_node = min(found.first_node, base.node_count + arguments[0])
        elif step is Delta._drop_relationships:
            found.first_relationship = min(found.first_relationship, base.relationship_count + arguments[0])
        elif step is Delta._restore_node_values:
            found.node_values.setdefault(arguments[0], {}).update(dict.fromkeys(arguments[1]))
        elif step is Delta._restore_relationship_values:
            found.relationship_values.setdefault(arguments[0], {}).update(dict.fromkeys(arguments[1]))
        elif step is Delta._put_label_set:
            found.relabelled[arguments[0]] = None
        elif step is Delta._revive_nodes:
            found.removed_nodes.update(dict.fromkeys(arguments[0]))
        elif step is Delta._revive_relationships:
            found.removed_relationships.update(dict.fromkeys(arguments[0]))
        else:
            assert step is Delta._put_schema, step
            found.schema = True
    return found


@dataclass(frozen=True, slots=True)
class NameCounts:
    """The numbers of labels, types, keys and label sets."""

    labels: int
    types: int
    keys: int
    label_sets: int

    @staticmethod
    def of(tokens: Tokens) -> NameCounts:
        """Those of the database."""
        sets = tokens.label_set_count  # first: no set may contain a label that is not counted
        return NameCounts(len(tokens.labels), len(tokens.types), len(tokens.keys), sets)

    @staticmethod
    def of_names(names: Names) -> NameCounts:
        """Those of a manifest."""
        return NameCounts(len(names.labels), len(names.types), len(names.keys), len(names.label_sets))

    def widest(self, other: NameCounts | None) -> NameCounts:
        """The larger of each number."""
        if other is None:
            return self
        return NameCounts(
            max(self.labels, other.labels),
            max(self.types, other.types),
            max(self.keys, other.keys),
            max(self.label_sets, other.label_sets),
        )


def _new_names(tokens: Tokens, known: NameCounts, now: NameCounts) -> dict[str, Any]:
    new: dict[str, Any] = {}
    if now.labels > known.labels:
        new["labels"] = [known.labels, [tokens.labels.name(code) for code in range(known.labels, now.labels)]]
    if now.types > known.types:
        new["types"] = [known.types, [tokens.types.name(code) for code in range(known.types, now.types)]]
    if now.keys > known.keys:
        new["keys"] = [known.keys, [tokens.keys.name(code) for code in range(known.keys, now.keys)]]
    if now.label_sets > known.label_sets:
        codes = range(known.label_sets, now.label_sets)
        new["label_sets"] = [known.label_sets, [list(tokens.labels_of(code)) for code in codes]]
    return new


def record_of(delta: Delta, journal: Journal, known: NameCounts) -> tuple[bytes, NameCounts]:
    """The record of a journal's changes, and the names known once it is written. `known` are those already in the log
    and the snapshot beneath it."""
    touched = _touched(delta, journal)
    snapshot = Snapshot(delta, "", 0)
    base = delta.base
    names = NameCounts.of(base.tokens)
    content: dict[str, Any] = {}
    if names != known:
        content["names"] = _new_names(base.tokens, known, names)
    if touched.first_node < delta.node_count:
        new = np.arange(touched.first_node, delta.node_count, dtype=np.int64)
        labels = delta.new_labels.array()[touched.first_node - base.node_count :]
        content["nodes"] = [int(snapshot.node_ids(new[:1])[0]), _int32_bytes(labels)]
    if touched.first_relationship < delta.relationship_count:
        first = touched.first_relationship - base.relationship_count
        new = np.arange(touched.first_relationship, touched.first_relationship + 1, dtype=np.int64)
        content["relationships"] = [
            int(snapshot.relationship_ids(new)[0]),
            _int64_bytes(snapshot.node_ids(delta.starts.array()[first:])),
            _int64_bytes(snapshot.node_ids(delta.ends.array()[first:])),
            _int32_bytes(delta.types.array()[first:]),
        ]
    relabelled = [node for node in touched.relabelled if node < touched.first_node and node not in delta.removed_nodes]
    if relabelled:
        codes = np.array([delta.label_set(node) for node in relabelled], np.int32)
        content["relabelled"] = [_int64_bytes(snapshot.node_ids(_positions(relabelled))), _int32_bytes(codes)]
    for name, positions, values, removed, ids in (
        ("node_values", touched.node_values, delta.node_values, delta.removed_nodes, snapshot.node_ids),
        (
            "relationship_values",
            touched.relationship_values,
            delta.relationship_values,
            delta.removed_relationships,
            snapshot.relationship_ids,
        ),
    ):
        written = []
        for key, mine in positions.items():
            kept = [position for position in mine if position not in removed] if removed else list(mine)
            if kept:
                held: Values = values.get(key, {})
                written.append([key, _int64_bytes(ids(_positions(kept))), *_packed([held.get(p) for p in kept])])
        if written:
            content[name] = written
    for name, gone, ids in (
        ("removed_nodes", touched.removed_nodes, snapshot.node_ids),
        ("removed_relationships", touched.removed_relationships, snapshot.relationship_ids),
    ):
        if gone:
            content[name] = _int64_bytes(ids(_positions(gone)))
    if touched.schema:
        content["schema"] = schema_content(delta.schema)
    return encode(content), names


def _positions(positions: Any) -> Int64s:
    return np.fromiter(positions, np.int64, len(positions))


def _int64_bytes(values: NDArray[Any]) -> bytes:
    return values.astype("<i8").tobytes()


def _int32_bytes(values: NDArray[Any]) -> bytes:
    return values.astype("<i4").tobytes()


def _packed(values: list[Any]) -> tuple[str, Any]:
    """Values as the record holds them: a letter, and bytes or a list."""
    kinds = set(map(type, values))
    if kinds == {int}:
        return "I", np.array(values, "<i8").tobytes()
    if kinds == {float}:
        return "F", np.array(values, "<f8").tobytes()
    return "V", values


# --- to a delta ---


def apply(content: bytes, delta: Delta) -> None:
    """Make the changes of a record. Raises `BadEncoding` for content that no record can have."""
    try:
        _apply(decode(content), delta)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BadEncoding(f"its content is invalid ({type(error).__name__}: {error})") from error


def _apply(content: dict[str, Any], delta: Delta) -> None:
    journal: Journal = []  # nothing is undone
    tokens, base = delta.base.tokens, delta.base
    _add_names(content.get("names", {}), tokens)
    if "nodes" in content:
        first_id, codes = content["nodes"]
        _expect(first_id, base.next_node_id + len(delta.new_labels))
        delta.add_nodes(_codes(codes, tokens.label_set_count), journal)
    snapshot = Snapshot(delta, "", 0)
    if "relationships" in content:
        first_id, starts, ends, codes = content["relationships"]
        _expect(first_id, base.next_relationship_id + len(delta.types))
        types = _codes(codes, len(tokens.types))
        places = [_existing(snapshot.node_positions(_int64s(side))) for side in (starts, ends)]
        for start, end, run in _runs(types):
            delta.add_relationships(places[0][start:end], places[1][start:end], run, journal)
    if "relabelled" in content:
        ids, codes = content["relabelled"]
        nodes = _existing(snapshot.node_positions(_int64s(ids))).tolist()
        for node, code in zip(nodes, _codes(codes, tokens.label_set_count).tolist(), strict=True):
            delta.set_label_set(node, code, journal)
    for key, ids, kind, packed in content.get("node_values", ()):
        nodes = _existing(snapshot.node_positions(_int64s(ids))).tolist()
        delta.set_node_values(nodes, _text(key), unpacked(kind, packed), journal)
    for key, ids, kind, packed in content.get("relationship_values", ()):
        relationships = _existing(snapshot.relationship_positions(_int64s(ids))).tolist()
        delta.set_relationship_values(relationships, _text(key), unpacked(kind, packed), journal)
    if "removed_relationships" in content:
        for position in _existing(snapshot.relationship_positions(_int64s(content["removed_relationships"]))).tolist():
            delta.remove_relationship(position, journal)
    if "removed_nodes" in content:
        for position in _existing(snapshot.node_positions(_int64s(content["removed_nodes"]))).tolist():
            delta.remove_node(position, journal)
    if "schema" in content:
        delta.set_schema(read_schema(content["schema"]), journal)


def _add_names(content: dict[str, Any], tokens: Tokens) -> None:
    """Names may be known already, if the snapshot was written after they were first used."""
    for kind, names in (("labels", tokens.labels), ("types", tokens.types), ("keys", tokens.keys)):
        first, new = content.get(kind, (0, ()))
        for number, name in enumerate(new, first):
            _expect(names.intern(_text(name)), number)
    first, new_sets = content.get("label_sets", (0, ()))
    for number, labels in enumerate(new_sets, first):
        _expect(tokens.label_set(_codes_of_list(labels, len(tokens.labels))), number)


def _expect(found: Any, expected: int) -> None:
    if found != expected:
        raise ValueError(f"{found} where {expected} should be")


def _existing(positions: Int64s) -> Int64s:
    if bool((positions < 0).any()):
        raise ValueError("an id that does not exist")
    return positions


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a name must be text")
    return value


def _int64s(data: bytes) -> Int64s:
    return np.frombuffer(data, "<i8").astype(np.int64)


def _codes(data: bytes, count: int) -> NDArray[np.int32]:
    codes = np.frombuffer(data, "<i4").astype(np.int32)
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < count:
        raise ValueError("an unknown name number")
    return codes


def _codes_of_list(codes: list[int], count: int) -> list[int]:
    if not all(isinstance(code, int) and 0 <= code < count for code in codes):
        raise ValueError("an unknown name number")
    return codes


def unpacked(kind: str, packed: Any) -> list[Any]:
    """The values of a key: a letter, and bytes or a list."""
    if kind == "V":
        return list(packed)
    values: list[Any] = np.frombuffer(packed, _ARRAYS[kind]).tolist()
    return values


def _runs(codes: NDArray[np.int32]) -> list[tuple[int, int, int]]:
    """(first, last, code) for each run of equal codes."""
    bounds = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
    return [(a, b, int(codes[a])) for a, b in pairwise(bounds) if a < b]
