"""Counts for the planner: of types, of (label, type, label) patterns, of distinct values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from hoplite.storage.base import Base
from hoplite.storage.delta import Delta
from hoplite.values.columns import Bools, Int64s

if TYPE_CHECKING:
    from hoplite.storage.snapshot import Snapshot


def type_count(delta: Delta, type_code: int) -> int:
    """How many relationships have a type."""
    counts = delta.base.type_counts
    old = int(counts[type_code]) if type_code < len(counts) else 0
    return old + delta.type_changes.get(type_code, 0)


def pattern_count(
    snapshot: Snapshot, delta: Delta, start_label: str | None, type: str | None, end_label: str | None
) -> int:
    """How many relationships match `(:start_label)-[:type]->(:end_label)`."""
    tokens = delta.base.tokens
    if start_label is None and end_label is None:
        return snapshot.relationship_count if type is None else snapshot.type_count(type)
    codes = tokens.labels.code(start_label or ""), tokens.labels.code(end_label or "")
    type_code = None if type is None else tokens.types.code(type)
    if (start_label and codes[0] is None) or (end_label and codes[1] is None) or (type and type_code is None):
        return 0
    every = np.ones(tokens.label_set_count, np.bool_)
    from_sets: Bools = every if codes[0] is None else tokens.sets_having(codes[0])
    to_sets: Bools = every if codes[1] is None else tokens.sets_having(codes[1])
    found = _count(delta.base.pattern_counts, from_sets, type_code, to_sets)
    if len(delta.types) or delta.removed_relationships:
        found += _count(_change_counts(snapshot, delta), from_sets, type_code, to_sets)
    return max(found, 0)


def _count(patterns: tuple[Int64s, Int64s], from_sets: Bools, type_code: int | None, to_sets: Bools) -> int:
    keys, counts = patterns
    if not len(keys):
        return 0
    starts, types, ends = Base.pattern_parts(keys)
    matching = from_sets[starts] & to_sets[ends]
    if type_code is not None:
        matching &= types == type_code
    return int(counts[matching].sum())


def _change_counts(snapshot: Snapshot, delta: Delta) -> tuple[Int64s, Int64s]:
    """Which patterns new and removed relationships belong to, and how many more than in the base there are of each, in
    the form of `Base.pattern_counts`. Worked out once for a state of the delta: a plan asks many times."""
    state = (delta.serial, delta.topology, delta.types.count, delta.node_set, delta.new_labels.count)
    known = delta.cache.get("pattern changes")
    if known is None or known[0] != state:
        packed, signs = [], []
        for relationships, sign in _changes(delta):
            sides = [snapshot.label_set_codes(side) for side in snapshot.endpoints(relationships)]
            packed.append(Base.packed_patterns(sides[0], snapshot.relationship_types(relationships), sides[1]))
            signs.append(np.full(len(relationships), sign, np.int64))
        keys, places = np.unique(np.concatenate(packed), return_inverse=True)
        counts = np.zeros(len(keys), np.int64)
        np.add.at(counts, places, np.concatenate(signs))
        known = delta.cache["pattern changes"] = (state, (keys, counts))
    found: tuple[Int64s, Int64s] = known[1]
    return found


def _changes(delta: Delta) -> Iterator[tuple[Int64s, int]]:
    """Relationships added since the base was made, with 1, and removed ones, with -1."""
    yield np.arange(delta.base.relationship_count, delta.relationship_count, dtype=np.int64), 1
    yield np.fromiter(delta.removed_relationships, np.int64, len(delta.removed_relationships)), -1


def patterns(snapshot: Snapshot, delta: Delta) -> dict[tuple[str | None, str, str | None], int]:
    """How many relationships match each `(:start)-[:type]->(:end)` that occurs. A node with several labels counts for
    each of them, one without labels as None."""
    both = delta.base.pattern_counts, _change_counts(snapshot, delta)
    keys, changes = (np.concatenate(parts) for parts in zip(*both, strict=True))
    kinds, places = np.unique(keys, return_inverse=True)
    totals = np.zeros(len(kinds), np.int64)
    np.add.at(totals, places, changes)
    found: dict[tuple[str | None, str, str | None], int] = {}
    parts = (part.tolist() for part in Base.pattern_parts(kinds))
    for start, type_code, end, total in zip(*parts, totals.tolist(), strict=True):
        for pattern in product(
            delta.base.tokens.label_names_of(start) or (None,),
            (snapshot.type_names[type_code],),
            delta.base.tokens.label_names_of(end) or (None,),
        ):
            found[pattern] = found.get(pattern, 0) + total
    return {pattern: total for pattern, total in found.items() if total > 0}


def distinct_values(delta: Delta, label: str, key: str) -> int | None:
    """How many different values the nodes with a label have for a key: those of the base, and those written since."""
    code = delta.base.tokens.labels.code(label)
    if code is None:
        return 0
    known = delta.base.distinct_values(code, key)
    return None if known is None else known + len(delta.node_values.get(key, ()))
