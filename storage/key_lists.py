"""The keys of many nodes or relationships at once.

What nothing was written to since the base was made has the keys that its label set, or its type, has there, where its
values are not null. Few combinations occur, so a list is made for each and shared. Everything else is asked one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hoplite.storage.delta import Delta
from hoplite.values.columns import Column, Int64s, ObjectArray, object_array

Properties = Callable[[Int64s, str], Column]


def keys_of_nodes(delta: Delta, nodes: Int64s, values: Properties) -> ObjectArray:
    """The keys of nodes that exist, each in the order of `Delta.node_keys`; `values` reads a property of some."""
    base = delta.base
    rows = _rows_as_stored(nodes, base.node_count, delta.node_values)
    stored = nodes[rows]
    known = _stored_keys(stored, base.node_labels[stored], base.keys_by_label_set, values)
    return _completed(nodes, rows, known, delta.node_keys)


def keys_of_relationships(delta: Delta, relationships: Int64s, values: Properties) -> ObjectArray:
    """The same for relationships."""
    base = delta.base
    rows = _rows_as_stored(relationships, base.relationship_count, delta.relationship_values)
    stored = relationships[rows]
    known = _stored_keys(stored, base.types_of(stored), base.keys_by_type, values)
    return _completed(relationships, rows, known, delta.relationship_keys)


def _rows_as_stored(positions: Int64s, base_count: int, written: Mapping[str, Mapping[int, object]]) -> Int64s:
    """The rows of what was in the base and has not been written to since."""
    stored = positions < base_count
    for by_position in written.values():
        if by_position:
            stored &= ~np.isin(positions, np.fromiter(by_position, np.int64, len(by_position)))
    return np.flatnonzero(stored)


def _stored_keys(
    positions: Int64s, codes: NDArray[np.integer], keys_by_code: Mapping[int, Sequence[str]], values: Properties
) -> ObjectArray:
    """The keys that each position has of those that its code may have."""
    found = np.empty(len(positions), np.object_)
    for code in np.unique(codes).tolist():
        keys = keys_by_code.get(code, ())
        rows = np.flatnonzero(codes == code)
        combination = np.zeros(len(rows), np.int64)
        lists: list[list[str]] = [[]]
        for key in keys:  # a combination of keys so far becomes one of these with the key, or one without it
            present = ~values(positions[rows], key).null_mask()
            distinct, combination = np.unique(2 * combination + present, return_inverse=True)
            lists = [[*lists[number // 2], key] if number % 2 else lists[number // 2] for number in distinct.tolist()]
        found[rows] = object_array(lists, len(lists))[combination]
    return found


def _completed(positions: Int64s, rows: Int64s, known: ObjectArray, keys_of: Callable[[int], list[str]]) -> ObjectArray:
    """What is known for some rows, and the others asked one by one."""
    if len(rows) == len(positions):
        return known
    found = np.empty(len(positions), np.object_)
    found[rows] = known
    for row in np.setdiff1d(np.arange(len(positions)), rows).tolist():
        found[row] = keys_of(int(positions[row]))
    return found
