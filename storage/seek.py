"""Finding nodes and relationships by the value of a property: the base's index, corrected by what was written since.

The base knows what had the value when it was made; the delta knows a superset of what may have it since. Everything
that was written to is checked again, so the answer is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.delta import Delta
from hoplite.storage.point_index import PointIndex
from hoplite.storage.value_index import Bound, ValueIndex, lookup_key
from hoplite.values.columns import Int64s
from hoplite.values.order import equals

__all__ = ["Bound", "Seek"]


@dataclass(frozen=True, slots=True)
class Seek:
    """Look-ups in one version of the graph."""

    delta: Delta

    def nodes(self, label: str, key: str, values: Sequence[Any] | Int64s) -> tuple[Int64s, Int64s]:
        """(index into values, node) for every node with the label and one of the values."""
        code = self.delta.base.tokens.labels.code(label)
        if code is None:
            return _pairs([], [])
        index = self.delta.base.node_index(code, key)
        if not self.delta.relabelled and not self.delta.node_values.get(key):
            return index.find_all(values)
        return self._nodes_with(code, key, values.tolist() if isinstance(values, np.ndarray) else values, index)

    def relationships(self, type: str, key: str, values: Sequence[Any]) -> tuple[Int64s, Int64s]:
        """(index into values, relationship) for every relationship of the type with one of the values."""
        code = self.delta.base.tokens.types.code(type)
        if code is None:
            return _pairs([], [])
        index = self.delta.base.relationship_index(code, key)
        written = self.delta.relationships_having(key) if self.delta.relationship_values.get(key) else {}
        return _collect(
            values, lambda value, wanted: self._relationships_with(code, key, value, wanted, index, written)
        )

    def node_range(self, label: str, key: str, low: Bound | None, high: Bound | None) -> Int64s:
        """Nodes with the label whose value is within the bounds, ascending."""
        code = self.delta.base.tokens.labels.code(label)
        if code is None:
            return np.zeros(0, np.int64)
        index = self.delta.base.node_index(code, key)
        return self._corrected(code, key, index.within(low, high), lambda written: written.within(low, high))

    def node_prefix(self, label: str, key: str, prefix: str) -> Int64s:
        """Nodes with the label whose value starts with the prefix, ascending."""
        code = self.delta.base.tokens.labels.code(label)
        if code is None:
            return np.zeros(0, np.int64)
        index = self.delta.base.node_index(code, key)
        return self._corrected(code, key, index.starting_with(prefix), lambda written: written.starting_with(prefix))

    def node_text(self, label: str, key: str, part: str, at_end: bool) -> Int64s:
        """Nodes with the label whose value is a text that contains the part, or ends with it, ascending."""
        code = self.delta.base.tokens.labels.code(label)
        if code is None:
            return np.zeros(0, np.int64)
        index = self.delta.base.node_index(code, key)
        found = index.containing(part, at_end)
        return self._corrected(code, key, found, lambda written: written.containing(part, at_end))

    def node_points(self, label: str, key: str, found_by: Callable[[PointIndex], Int64s]) -> Int64s:
        """Nodes with the label whose value is a point that may match a search, ascending."""
        code = self.delta.base.tokens.labels.code(label)
        if code is None:
            return np.zeros(0, np.int64)
        index = self.delta.base.node_index(code, key)
        return self._corrected(code, key, found_by(index.points), lambda written: found_by(written.points))

    def node_existing(self, label: str, key: str) -> Int64s:
        """Nodes with the label that have the property, ascending."""
        code = self.delta.base.tokens.labels.code(label)
        if code is None:
            return np.zeros(0, np.int64)
        index = self.delta.base.node_index(code, key)
        return self._corrected(code, key, np.asarray(index.positions), lambda written: written.positions)

    # --- one value ---

    def _nodes_written(self, key: str) -> bool:
        return bool(self.delta.relabelled or self.delta.node_values.get(key))

    def _nodes_with(self, label: int, key: str, values: Sequence[Any], index: ValueIndex) -> tuple[Int64s, Int64s]:
        """The base's answer for nodes that were not written to, and the written ones that have a value."""
        delta = self.delta
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
        self,
        type_code: int,
        key: str,
        value: Any,
        wanted: Hashable,
        index: ValueIndex,
        written: dict[Hashable, dict[int, None]],
    ) -> list[int]:
        delta = self.delta
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

    def _corrected(self, label: int, key: str, found: Int64s, among_written: Callable[[ValueIndex], Int64s]) -> Int64s:
        """The base's answer without what was written to since, and with the written entities that qualify."""
        delta = self.delta
        if not self._nodes_written(key):
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
