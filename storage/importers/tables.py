"""Tables: node tables with a key column, relationship tables whose `start` and `end` refer to those keys.

    load_tables(graph, nodes={"Drug": drugs, ("Person", "Actor"): actors},
                relationships={("Drug", "TREATS", "Disease"): treats}, key="id")

A table is an Arrow table, a pandas or Polars frame, or a dict of arrays or lists. Every column but `start` and `end`
is a property, the key too; nulls are absent. The key of a node table's first label gets a uniqueness constraint. Keys
refer to nodes of this load, or to nodes with that label that were there before.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import repeat
from typing import Any

import numpy as np

from hoplite.errors import CypherError
from hoplite.storage.bulk import BulkLoad
from hoplite.storage.graph import Graph
from hoplite.storage.importers.lines import Progress
from hoplite.storage.importers.problem import bad_table
from hoplite.storage.importers.table_columns import table_columns
from hoplite.values.columns import Column, Int64s, Integers, Strings, concatenate
from hoplite.values.order import group_key

START, END = "start", "end"
_ARROW_MINIMUM = 10_000
"""More string keys than this are looked up by Arrow."""
_TABLE_SHARE = 8
"""Integer keys are looked up in a table if at least one number in this many is a key."""


def load_tables(
    graph: Graph,
    nodes: Mapping[str | tuple[str, ...], Any],
    relationships: Mapping[tuple[str, str, str], Any],
    key: str = "id",
    progress: Progress | None = None,
) -> dict[str, int]:
    """Add all rows of all tables, or none; how many nodes and relationships there were. Progress is in tables."""
    total = len(nodes) + len(relationships)
    made = {"nodes": 0, "relationships": 0}
    done = 0
    with graph.bulk() as load:
        directory = _Directory(load, key)
        for labels, table in nodes.items():
            made["nodes"] += _add_nodes(load, directory, (labels,) if isinstance(labels, str) else labels, table, key)
            done += 1
            if progress is not None:
                progress(done, total)
        for pattern, table in relationships.items():
            made["relationships"] += _add_relationships(load, directory, pattern, table)
            done += 1
            if progress is not None:
                progress(done, total)
        load.commit()
    return made


def _add_nodes(load: BulkLoad, directory: _Directory, labels: tuple[str, ...], table: Any, key: str) -> int:
    name = f"nodes[{labels[0] if len(labels) == 1 else labels!r}]"
    count, columns = _read(name, table)
    if not labels:
        raise bad_table(name, "no label")
    if key not in columns:
        raise bad_table(name, f"there is no key column {key!r}; the columns are {', '.join(columns)}")
    missing = np.flatnonzero(columns[key].null_mask())
    if len(missing):
        raise bad_table(name, f"the key {key!r} is null", int(missing[0]))
    positions = load.add_nodes(labels, count, columns)
    load.make_unique(labels[0], key)
    for label in labels:
        directory.add(label, columns[key], positions)
    return count


def _add_relationships(load: BulkLoad, directory: _Directory, pattern: tuple[str, str, str], table: Any) -> int:
    start_label, type, end_label = pattern
    name = f"relationships[({start_label})-[{type}]->({end_label})]"
    count, columns = _read(name, table)
    for needed in (START, END):
        if needed not in columns:
            raise bad_table(name, f"there is no column {needed!r}; the columns are {', '.join(columns)}")
    starts = directory.find(start_label, columns.pop(START), name, START)
    ends = directory.find(end_label, columns.pop(END), name, END)
    load.add_relationships(type, starts, ends, columns)
    return count


def _read(name: str, table: Any) -> tuple[int, dict[str, Column]]:
    try:
        return table_columns(table)
    except (CypherError, TypeError, ValueError, OverflowError) as error:
        raise bad_table(name, str(error)) from error


class _Directory:
    """Nodes by key, for each label that a relationship table asks about."""

    def __init__(self, load: BulkLoad, key: str) -> None:
        self._load = load
        self._key = key
        self._added: dict[str, list[tuple[Column, Int64s]]] = {}
        self._made: dict[str, _Keys] = {}

    def add(self, label: str, keys: Column, positions: Int64s) -> None:
        """Nodes that this load adds."""
        self._added.setdefault(label, []).append((keys, positions))

    def find(self, label: str, wanted: Column, table: str, column: str) -> Int64s:
        """The positions of the nodes with these keys."""
        keys = self._made.get(label)
        if keys is None:
            keys = self._made[label] = self._keys(label)
        positions = keys.find(wanted)
        missing = np.flatnonzero(positions < 0)
        if len(missing):
            row = int(missing[0])
            value = wanted.objects()[row]
            raise bad_table(table, f"{column}: no node with label {label!r} has {self._key!r} = {value!r}", row)
        return positions

    def _keys(self, label: str) -> _Keys:
        before = self._load.snapshot
        old = before.nodes_with_label(label)
        old_keys = before.node_property(old, self._key)
        present = np.flatnonzero(~old_keys.null_mask())
        parts = [*self._added.get(label, [])]
        if len(present):
            parts.append((old_keys.take(present), old[present]))
        if not parts:
            return _Keys(Integers(np.zeros(0, np.int64)), np.zeros(0, np.int64))
        return _Keys(concatenate([keys for keys, _ in parts]), np.concatenate([positions for _, positions in parts]))


class _Keys:
    """Positions by key: a table of integers that lie close together, sorted integers, or a dictionary."""

    def __init__(self, keys: Column, positions: Int64s) -> None:
        self._sorted: tuple[Int64s, Int64s] | None = None
        self._table: tuple[int, Int64s] | None = None
        self._strings: tuple[Strings, Int64s] | None = None
        self._by_key: dict[Hashable, int] = {}
        if isinstance(keys, Integers) and len(keys) and np.ptp(keys.values) < _TABLE_SHARE * len(keys):
            first = int(keys.values.min())
            table = np.full(int(keys.values.max()) - first + 1, -1, np.int64)
            table[keys.values - first] = positions
            self._table = first, table
        elif isinstance(keys, Integers):
            order = np.argsort(keys.values, kind="stable")
            self._sorted = keys.values[order], positions[order]
        elif isinstance(keys, Strings) and len(keys) > _ARROW_MINIMUM:
            self._strings = keys, positions
        elif isinstance(keys, Strings):
            self._by_key = dict(zip(keys.values.tolist(), positions.tolist(), strict=True))
        else:
            self._by_key = {group_key(k): p for k, p in zip(keys.objects(), positions.tolist(), strict=True)}

    def find(self, wanted: Column) -> Int64s:
        """The position of each key, -1 where there is none."""
        if (self._sorted or self._table) and not isinstance(wanted, Integers):
            return np.full(len(wanted), -1, np.int64)
        if self._table is not None and isinstance(wanted, Integers):
            first, table = self._table
            inside = (wanted.values >= first) & (wanted.values - first < len(table)) & ~wanted.null_mask()
            return np.where(inside, table[np.where(inside, wanted.values - first, 0)], -1)
        if self._sorted is not None and isinstance(wanted, Integers):
            values, positions = self._sorted
            if not len(values):
                return np.full(len(wanted), -1, np.int64)
            slots = np.minimum(np.searchsorted(values, wanted.values), len(values) - 1)
            found = np.where(values[slots] == wanted.values, positions[slots], -1)
            found[wanted.null_mask()] = -1
            return found
        if self._strings is not None:
            if isinstance(wanted, Strings):
                return _find_strings(*self._strings, wanted)
            return np.full(len(wanted), -1, np.int64)
        get = self._by_key.get
        if isinstance(wanted, Strings):
            return np.fromiter(map(get, wanted.values.tolist(), repeat(-1)), np.int64, len(wanted))
        return np.fromiter((get(group_key(k), -1) for k in wanted.objects()), np.int64, len(wanted))


def _find_strings(keys: Strings, positions: Int64s, wanted: Strings) -> Int64s:
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array(keys.values, pa.large_string())
    slots = pc.index_in(pa.array(wanted.values, pa.large_string()), value_set=known)
    rows = slots.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where(rows < 0, -1, positions[rows])
