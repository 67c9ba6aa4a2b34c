"""Folding a delta into a new base: positions are assigned anew, public ids stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import numpy as np

from hoplite.storage.base import Base
from hoplite.storage.delta import Delta, Values
from hoplite.storage.draft import Draft, FoldedColumn, RelationshipBlock
from hoplite.storage.incidence import label_type
from hoplite.storage.property_columns import KeyValues
from hoplite.values.columns import Int64s


def folded(delta: Delta) -> Draft:
    """Everything that the delta and the base beneath it hold."""
    base = delta.base
    node_labels = np.concatenate([base.node_labels, delta.new_labels.array()])
    if delta.relabelled:
        nodes = np.fromiter(delta.relabelled, np.int64, len(delta.relabelled))
        node_labels = node_labels.astype(np.int32, copy=False)
        node_labels[nodes] = np.fromiter(delta.relabelled.values(), np.int32, len(delta.relabelled))
    node_ids, next_node_id = _ids(base.node_ids, base.node_count, base.next_node_id, len(delta.new_labels))
    new_nodes = _renumbered(delta.node_count, delta.removed_nodes)
    if new_nodes is not None:
        alive = new_nodes >= 0
        node_labels = node_labels[alive]
        node_ids = np.flatnonzero(alive) if node_ids is None else node_ids[alive]
    new_relationships = _renumbered(delta.relationship_count, delta.removed_relationships)
    total = delta.relationship_count - len(delta.removed_relationships)
    next_id = base.next_relationship_id + len(delta.types)
    return Draft(
        base.tokens,
        node_labels.astype(label_type(len(node_labels), base.tokens.label_set_count), copy=False),
        node_ids,
        next_node_id,
        total,
        lambda: _blocks(delta, new_nodes, new_relationships),
        True,
        next_id,
        _columns(base.node_columns, base.node_count, new_nodes, delta.node_values, len(node_labels)),
        _columns(
            base.relationship_columns, base.relationship_count, new_relationships, delta.relationship_values, total
        ),
    )


def base_blocks(base: Base) -> Iterator[RelationshipBlock]:
    """The relationships of a base, partition by partition."""
    ids = base.relationship_ids
    for partition, incidence in enumerate(base.outgoing):
        nodes = base.nodes_of_partition(partition)
        starts = np.repeat(nodes, np.diff(incidence.indptr)[: len(nodes)])  # the last row is empty
        first = incidence.first_relationship
        mine = (
            np.arange(first, first + len(starts), dtype=np.int64) if ids is None else ids[first : first + len(starts)]
        )
        yield RelationshipBlock(starts, incidence.types, incidence.neighbours, mine)


def _blocks(delta: Delta, new_nodes: Int64s | None, new_relationships: Int64s | None) -> Iterator[RelationshipBlock]:
    base = delta.base
    first_id, count = base.next_relationship_id, len(delta.types)
    added = RelationshipBlock(
        delta.starts.array(), delta.types.array(), delta.ends.array(), np.arange(first_id, first_id + count)
    )
    first = 0
    for block in chain(base_blocks(base), (added,)):
        last = first + len(block.types)
        if new_relationships is not None:
            alive = np.flatnonzero(new_relationships[first:last] >= 0)
            assert block.ids is not None
            block = RelationshipBlock(block.starts[alive], block.types[alive], block.ends[alive], block.ids[alive])
        if new_nodes is not None:
            block = block._replace(starts=new_nodes[block.starts], ends=new_nodes[block.ends])
        first = last
        yield block


def _ids(ids: Int64s | None, count: int, next_id: int, new: int) -> tuple[Int64s | None, int]:
    """Public ids including those of new entities; None: the id is the position."""
    if ids is None and count == next_id:
        return None, next_id + new
    old = np.arange(count, dtype=np.int64) if ids is None else ids
    return np.concatenate([old, np.arange(next_id, next_id + new, dtype=np.int64)]), next_id + new


def _renumbered(count: int, removed: set[int]) -> Int64s | None:
    """Where each position moves when the removed ones are left out, -1 for those; None if nothing moves."""
    if not removed:
        return None
    alive = np.ones(count, np.bool_)
    alive[np.fromiter(removed, np.int64, len(removed))] = False
    return np.where(alive, np.cumsum(alive) - 1, -1)


def _columns(
    columns: Mapping[str, KeyValues], count: int, numbers: Int64s | None, written: Mapping[str, Values], total: int
) -> dict[str, FoldedColumn]:
    return {
        key: FoldedColumn(columns.get(key), count, numbers, written.get(key, {}), total)
        for key in dict.fromkeys([*columns, *written])
    }
