"""Rows of mixed kinds on their way into a bulk load: collected a few thousand at a time, passed on as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hoplite.storage.bulk import BulkLoad
from hoplite.storage.cells import Cells
from hoplite.values.columns import Int64s, from_objects

BATCH_ROWS = 20_000


class GrowingLoad:
    """Adds nodes and relationships one by one; values are those that a property can hold, or None if absent."""

    def __init__(self, load: BulkLoad) -> None:
        self._load = load
        self.node_count = 0
        self.relationship_count = 0
        self._first_position: int | None = None
        self._labels: list[tuple[str, ...]] = []
        self._types: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._node_values = _Values()
        self._relationship_values = _Values()

    def add_node(self, labels: tuple[str, ...], properties: Mapping[str, Any]) -> int:
        """Add a node; returns its row, by which relationships refer to it."""
        row = self.node_count
        self.node_count += 1
        self._labels.append(labels)
        self._node_values.add(row, properties)
        if len(self._labels) >= BATCH_ROWS:
            self._hand_over_nodes()
        return row

    def add_relationship(self, type: str, start: int, end: int, properties: Mapping[str, Any]) -> None:
        """Add a relationship between the nodes of two rows."""
        self._types.append(type)
        self._starts.append(start)
        self._ends.append(end)
        self._relationship_values.add(self.relationship_count, properties)
        self.relationship_count += 1
        if len(self._types) >= BATCH_ROWS:
            self._hand_over_relationships()

    def finish(self) -> None:
        """Pass on what is left; the caller commits."""
        self._hand_over_relationships()
        self._hand_over_nodes()

    def _hand_over_nodes(self) -> None:
        if not self._labels:
            return
        positions = self._load.add_mixed_nodes(self._labels)
        if self._first_position is None:
            self._first_position = int(positions[0])
        self._node_values.hand_to(self._load.add_node_cells)
        self._labels = []

    def _hand_over_relationships(self) -> None:
        if not self._types:
            return
        self._hand_over_nodes()
        assert self._first_position is not None  # relationships need the nodes
        first = self._first_position  # the positions of one load are consecutive
        self._load.add_mixed_relationships(self._types, _rows(self._starts) + first, _rows(self._ends) + first)
        self._relationship_values.hand_to(self._load.add_relationship_cells)
        self._types, self._starts, self._ends = [], [], []


class _Values:
    """Property values by key: the rows that have one, and the values."""

    def __init__(self) -> None:
        self._by_key: dict[str, tuple[list[int], list[Any]]] = {}

    def add(self, row: int, properties: Mapping[str, Any]) -> None:
        for key, value in properties.items():
            if value is None:
                continue
            held = self._by_key.get(key)
            if held is None:
                held = self._by_key[key] = ([], [])
            held[0].append(row)
            held[1].append(value)

    def hand_to(self, take: Callable[[str, Cells], None]) -> None:
        for key, (rows, values) in self._by_key.items():
            take(key, Cells(_rows(rows), from_objects(values)))
        self._by_key = {}


def _rows(rows: list[int]) -> Int64s:
    return np.array(rows, np.int64)
