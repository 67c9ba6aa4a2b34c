"""Tables: node tables with a key column, relationship tables whose `start` and `end` refer to those keys.

    load_tables(graph, nodes={"Drug": drugs, ("Person", "Actor"): actors},
                relationships={("Drug", "TREATS", "Disease"): treats}, key="id")

A table is an Arrow table, a pandas or Polars frame, or a dict of arrays or lists; or an iterator over such tables, of
which one after another is read, so that a graph need not fit into memory. Every column but `start` and `end` is a
property, the key too; nulls are absent. The key of a node table's first label gets a uniqueness constraint. Keys refer
to nodes of this load, or to nodes with that label that were there before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hoplite.errors import CypherError
from hoplite.storage.bulk import BulkLoad
from hoplite.storage.graph import Graph
from hoplite.storage.importers.keys import Keys, Part
from hoplite.storage.importers.lines import Progress
from hoplite.storage.importers.problem import bad_table
from hoplite.storage.importers.table_columns import table_columns
from hoplite.values.columns import Column, Int64s

START, END = "start", "end"


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
    with graph.bulk(keeps_order=False) as load:
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
        del directory  # its keys are no longer needed while the graph is built
        load.commit()
    return made


def _add_nodes(load: BulkLoad, directory: _Directory, labels: tuple[str, ...], table: Any, key: str) -> int:
    name = f"nodes[{labels[0] if len(labels) == 1 else labels!r}]"
    if not labels:
        raise bad_table(name, "no label")
    total = 0
    for count, columns in _read(name, table):
        if key not in columns:
            raise bad_table(name, f"there is no key column {key!r}; the columns are {', '.join(columns)}")
        missing = np.flatnonzero(columns[key].null_mask())
        if len(missing):
            raise bad_table(name, f"the key {key!r} is null", total + int(missing[0]))
        positions = load.add_nodes(labels, count, columns)
        directory.add(labels, columns[key], positions)
        total += count
    load.make_unique(labels[0], key)
    return total


def _add_relationships(load: BulkLoad, directory: _Directory, pattern: tuple[str, str, str], table: Any) -> int:
    start_label, type, end_label = pattern
    name = f"relationships[({start_label})-[{type}]->({end_label})]"
    total = 0
    for count, columns in _read(name, table):
        for needed in (START, END):
            if needed not in columns:
                raise bad_table(name, f"there is no column {needed!r}; the columns are {', '.join(columns)}")
        starts = directory.find(start_label, columns.pop(START), name, START, total)
        ends = directory.find(end_label, columns.pop(END), name, END, total)
        load.add_relationships(type, starts, ends, columns)
        total += count
    return total


def _read(name: str, table: Any) -> Iterator[tuple[int, dict[str, Column]]]:
    """The columns of a table, or of one after another."""
    for part in table if isinstance(table, Iterator) else (table,):
        try:
            yield table_columns(part)
        except (CypherError, TypeError, ValueError, OverflowError) as error:
            raise bad_table(name, str(error)) from error


class _Directory:
    """Nodes by key, for each label that a relationship table asks about."""

    def __init__(self, load: BulkLoad, key: str) -> None:
        self._load = load
        self._key = key
        self._added: dict[str, list[Part]] = {}
        self._made: dict[str, Keys] = {}

    def add(self, labels: tuple[str, ...], keys: Column, positions: Int64s) -> None:
        """Nodes that this load adds."""
        if len(keys):
            part = Part.of(keys, positions)
            for label in dict.fromkeys(labels):
                self._added.setdefault(label, []).append(part)
                self._made.pop(label, None)

    def find(self, label: str, wanted: Column, table: str, column: str, first_row: int) -> Int64s:
        """The positions of the nodes with these keys."""
        keys = self._made.get(label)
        if keys is None:
            keys = self._made[label] = self._keys(label)
        positions = keys.find(wanted)
        missing = np.flatnonzero(positions < 0)
        if len(missing):
            row = int(missing[0])
            value = wanted.objects()[row]
            reason = f"{column}: no node with label {label!r} has {self._key!r} = {value!r}"
            raise bad_table(table, reason, first_row + row)
        return positions

    def _keys(self, label: str) -> Keys:
        before = self._load.snapshot
        old = before.nodes_with_label(label)
        old_keys = before.node_property(old, self._key)
        present = np.flatnonzero(~old_keys.null_mask())
        parts = [*self._added.get(label, [])]
        if len(present):
            parts.append(Part.of(old_keys.take(present), old[present]))
        return Keys(parts)
