"""Finding nodes and relationships by the value of a property: the base's index, corrected by what was written since.

The base knows what had the value when it was made; the delta knows a superset of what may have it since. Everything
that was written to is checked again, so the answer is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from hoplite.storage.delta import Delta
from hoplite.storage.point_index import PointIndex
from hoplite.storage.value_index import Bound, ValueIndex, lookup_key
from hoplite.values.columns import Int64s
from hoplite.values.order import equals


def nodes(delta: Delta, label: str, key: str, values: Sequence[Any] | Int64s) -> tuple[Int64s, Int64s]:
    """(index into values, node) for every node with the label and one of the values."""
    code = delta.base.tokens.labels.code(label)
    if code is None:
        return _pairs([], [])
    index = delta.base.node_index(code, key)
    if not _nodes_written(delta, key):
        return index.find_all(values)
    return _nodes_with(delta, code, key, values.tolist() if isinstance(values, np.ndarray) else values, index)


def node_index(delta: Delta, label: str, key: str) -> ValueIndex | None:
    """The base's index, if it needs no correction."""
    code = delta.base.tokens.labels.code(label)
    if code is None or _nodes_written(delta, key):
        return None
    return delta.base.node_index(code, key)


def relationships(delta: Delta, type: str, key: str, values: Sequence[Any]) -> tuple[Int64s, Int64s]:
    """(index into values, relationship) for every relationship of the type with one of the values."""
    code = delta.base.tokens.types.code(type)
    if code is None:
        return _pairs([], [])
    index = delta.base.relationship_index(code, key)
    written = delta.relationships_having(key) if delta.relationship_values.get(key) else {}
    return _collect(values, lambda value, wanted: _relationships_with(delta, code, key, value, wanted, index, written))


def node_range(delta: Delta, label: str, key: str, low: Bound | None, high: Bound | None) -> Int64s:
    """Nodes with the label whose value is within the bounds, ascending."""
    code = delta.base.tokens.labels.code(label)
    if code is None:
        return np.zeros(0, np.int64)
    index = delta.base.node_index(code, key)
    return _corrected(delta, code, key, index.within(low, high), lambda written: written.within(low, high))


def node_prefix(delta: Delta, label: str, key: str, prefix: str) -> Int64s:
    """Nodes with the label whose value starts with the prefix, ascending."""
    code = delta.base.tokens.labels.code(label)
    if code is None:
        return np.zeros(0, np.int64)
    index = delta.base.node_index(code, key)
    return _corrected(delta, code, key, index.starting_with(prefix), lambda written: written.starting_with(prefix))


def node_text(delta: Delta, label: str, key: str, part: str, at_end: bool) -> Int64s:
    """Nodes with the label whose value is a text that contains the part, or ends with it, ascending."""
    code = delta.base.tokens.labels.code(label)
    if code is None:
        return np.zeros(0, np.int64)
    index = delta.base.node_index(code, key)
    found = index.containing(part, at_end)
    return _corrected(delta, code, key, found, lambda written: written.containing(part, at_end))


def node_points(delta: Delta, label: str, key: str, found_by: Callable[[PointIndex], Int64s]) -> Int64s:
    """Nodes with the label whose value is a point that may match a search, ascending."""
    code = delta.base.tokens.labels.code(label)
    if code is None:
        return np.zeros(0, np.int64)
    index = delta.base.node_index(code, key)
    return _corrected(delta, code, key, found_by(index.points), lambda written: found_by(written.points))


def node_existing(delta: Delta, label: str, key: str) -> Int64s:
    """Nodes with the label that have the property, ascending."""
    code = delta.base.tokens.labels.code(label)
    if code is None:
        return np.zeros(0, np.int64)
    index = delta.base.node_index(code, key)
    return _corrected(delta, code, key, np.asarray(index.positions), lambda written: written.positions)


# --- one value -----------------------------------------------------------------------------------------------


def _nodes_written(delta: Delta, key: str) -> bool:
    return bool(delta.relabelled or delta.node_values.get(key))


def _nodes_with(delta: Delta, label: int, key: str, values: Sequence[Any], index: ValueIndex) -> tuple[Int64s, Int64s]:
    """The base's answer for nodes that were not written to, and the written ones that have a value."""
    changed, relabelled = delta.node_values.get(key, {}), delta.relabelled
    rows, found = index.find_all(values) if len(index) else _pairs([], [])
    if len(found):
        kept = np.array([node not in changed and node not in relabelled for node in found.tolist()], np.bool_)
        rows, found = rows[kept], found[kept]
    written, having, node_count = delta.nodes_by_value(key), delta.base.tokens.sets_having(label), delta.node_count
    new_rows: list[int] = []
    new_nodes: list[int] = []
    for row, value in enumerate(values):
        wanted = lookup_key(value)
        for node in written.get(wanted, ()) if wanted is not None else ():
            if (
                node < node_count
                and having[delta.label_set(node)]
                and equals(delta.node_value(node, key), value)
                and (node in changed or node in relabelled)
            ):
                new_rows.append(row)
                new_nodes.append(node)
    if not len(found):
        return _pairs(new_rows, new_nodes)
    rows, found = (
        np.concatenate([rows, new_rows]).astype(np.int64),
        np.concatenate([found, new_nodes]).astype(np.int64),
    )
    order = np.argsort(rows, kind="stable")
    return rows[order], found[order]


def _relationships_with(
    delta: Delta,
    type_code: int,
    key: str,
    value: Any,
    wanted: Hashable,
    index: ValueIndex,
    written: dict[Hashable, dict[int, None]],
) -> list[int]:
    found = index.find(value)
    changed = delta.relationship_values.get(key, {})
    if found and changed:
        found = [relationship for relationship in found if relationship not in changed]
    for relationship in written.get(wanted, ()):
        if (
            relationship in changed
            and delta.type_of(relationship) == type_code
            and equals(changed[relationship], value)
        ):
            found.append(relationship)
    return found


def _corrected(
    delta: Delta, label: int, key: str, found: Int64s, among_written: Callable[[ValueIndex], Int64s]
) -> Int64s:
    """The base's answer without what was written to since, and with the written entities that qualify."""
    if not _nodes_written(delta, key):
        return np.sort(found)
    touched = dict.fromkeys([*delta.node_values.get(key, ()), *delta.relabelled])
    positions = np.fromiter(touched, np.int64, len(touched))
    found = found[~np.isin(found, positions)]
    having = delta.base.tokens.sets_having(label)
    present = [
        (node, value)
        for node in touched
        if having[delta.label_set(node)] and (value := delta.node_value(node, key)) is not None
    ]
    gained = among_written(ValueIndex.of_pairs(present))
    return np.sort(np.concatenate([found, gained]))


def _collect(values: Sequence[Any], find: Callable[[Any, Hashable], list[int]]) -> tuple[Int64s, Int64s]:
    rows: list[int] = []
    found: list[int] = []
    for row, value in enumerate(values):
        wanted = lookup_key(value)
        if wanted is None:
            continue
        hits = find(value, wanted)
        rows.extend([row] * len(hits))
        found.extend(hits)
    return _pairs(rows, found)


def _pairs(rows: list[int], found: list[int]) -> tuple[Int64s, Int64s]:
    return np.array(rows, np.int64), np.array(found, np.int64)
