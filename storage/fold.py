"""Folding a delta into a new base: positions are dealt anew, public ids stay."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hoplite.storage.base import Base, build_base
from hoplite.storage.delta import Delta, Values
from hoplite.storage.property_columns import KeyValues, merged
from hoplite.values.columns import Int64s


def fold(delta: Delta, partitions: int) -> Base:
    """A base with everything that the delta and the base beneath it hold."""
    base = delta.base
    node_labels = np.concatenate([base.node_labels, delta.new_labels.array()]).astype(np.int32)
    if delta.relabelled:
        nodes = np.fromiter(delta.relabelled, np.int64, len(delta.relabelled))
        node_labels[nodes] = np.fromiter(delta.relabelled.values(), np.int32, len(delta.relabelled))
    node_ids, next_node_id = _ids(base.node_ids, base.node_count, base.next_node_id, len(delta.new_labels))
    new_nodes = _renumbered(delta.node_count, delta.removed_nodes)
    node_total = delta.node_count - len(delta.removed_nodes)
    if new_nodes is not None:
        alive = new_nodes >= 0
        node_labels, node_ids = node_labels[alive], node_ids[alive]

    starts = np.concatenate([base.starts, delta.starts.array()])
    ends = np.concatenate([base.ends, delta.ends.array()])
    types = np.concatenate([base.relationship_types, delta.types.array()]).astype(np.int32)
    ids, next_id = _ids(base.relationship_ids, base.relationship_count, base.next_relationship_id, len(delta.types))
    new_relationships = _renumbered(delta.relationship_count, delta.removed_relationships)
    total = delta.relationship_count - len(delta.removed_relationships)
    if new_relationships is not None:
        alive = new_relationships >= 0
        starts, ends, types, ids = starts[alive], ends[alive], types[alive], ids[alive]
    if new_nodes is not None:
        starts, ends = new_nodes[starts], new_nodes[ends]
    return build_base(
        base.tokens,
        node_labels,
        node_ids,
        next_node_id,
        starts,
        ends,
        types,
        ids,
        next_id,
        _merged(base.node_columns, new_nodes, delta.node_values, node_total),
        _merged(base.relationship_columns, new_relationships, delta.relationship_values, total),
        partitions,
    )


def _ids(ids: Int64s | None, count: int, next_id: int, new: int) -> tuple[Int64s, int]:
    old = np.arange(count, dtype=np.int64) if ids is None else ids
    return np.concatenate([old, np.arange(next_id, next_id + new, dtype=np.int64)]), next_id + new


def _renumbered(count: int, removed: set[int]) -> Int64s | None:
    """Where each position goes when the removed ones are left out, -1 for those; None if nothing moves."""
    if not removed:
        return None
    alive = np.ones(count, np.bool_)
    alive[np.fromiter(removed, np.int64, len(removed))] = False
    return np.where(alive, np.cumsum(alive) - 1, -1)


def _merged(
    columns: Mapping[str, KeyValues], positions: Int64s | None, written: Mapping[str, Values], total: int
) -> dict[str, KeyValues]:
    found = {}
    for key in dict.fromkeys([*columns, *written]):
        column = merged(columns.get(key), positions, written.get(key, {}), total)
        if column is not None:
            found[key] = column
    return found
