"""Tables: node tables with a key column, relationship tables whose `start` and `end` refer to those keys.

    load_tables(graph, nodes={"Drug": drugs, ("Person", "Actor"): actors},
                relationships={("Drug", "TREATS", "Disease"): treats}, TableForm(key="id"))

A table is an Arrow table, a pandas or Polars frame, or a dict of arrays or lists; or an iterator over such tables,
which are read one after another, so that a graph need not fit into memory. Every column except those of the ends is a
property, including the key; nulls are left out. Keys refer to nodes of this load, or to existing nodes with that label.
The key of a node table's first label gets a uniqueness constraint, unless that is turned off.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from hoplite.errors import CONSTRAINT_VALIDATION_FAILED, CypherError
from hoplite.storage.bulk import BulkLoad
from hoplite.storage.graph import Graph
from hoplite.storage.importers.bad_rows import BadRows
from hoplite.storage.importers.csv_kinds import with_article
from hoplite.storage.importers.key_kinds import kind_of
from hoplite.storage.importers.keys import Keys, Part
from hoplite.storage.importers.lines import Progress
from hoplite.storage.importers.problem import bad_table
from hoplite.storage.importers.table_columns import table_columns
from hoplite.storage.importers.table_form import Labels, Pattern, TableForm, pattern_name, refuse_malformed
from hoplite.values.columns import Column, Int64s, from_objects
from hoplite.values.order import group_key


class Loaded(dict[str, Any]):
    """How many nodes and relationships were loaded, and what was left out; and the `constraints` created for keys, as
    pairs of a label and a property."""

    def __init__(self, counts: Mapping[str, Any], constraints: tuple[tuple[str, str], ...]) -> None:
        super().__init__(counts)
        self.constraints = constraints

    def __repr__(self) -> str:
        made = "".join(f", unique (:{label} {{{key}}})" for label, key in self.constraints)
        return f"<Loaded {dict.__repr__(self)}{made}>"


def load_tables(
    graph: Graph,
    nodes: Mapping[Labels, Any],
    relationships: Mapping[Pattern, Any],
    form: TableForm = TableForm(),  # noqa: B008 - immutable
    bad_rows: BadRows | None = None,
    progress: Progress | None = None,
) -> Loaded:
    """Add all rows of all tables, or none; returns how many nodes and relationships there were. Progress is in
    tables."""
    refuse_malformed(nodes, relationships, form)
    form.refuse_unknown(nodes, relationships)
    bad_rows = bad_rows or BadRows()
    total = len(nodes) + len(relationships)
    with graph.bulk(keeps_order=False) as load:
        loading = _Loading(load, form, bad_rows)
        for done, (labels, table) in enumerate(nodes.items(), 1):
            loading.add_nodes((labels,) if isinstance(labels, str) else labels, table)
            if progress is not None:
                progress(done, total)
        for done, (pattern, table) in enumerate(relationships.items(), 1 + len(nodes)):
            loading.add_relationships(pattern, table)
            if progress is not None:
                progress(done, total)
        counts = bad_rows.summary(loading.node_count, loading.relationship_count)
        constraints = tuple(loading.constraints)
        del loading  # its keys are no longer needed while the graph is built
        try:
            load.commit()
        except CypherError as error:
            if error.code == CONSTRAINT_VALIDATION_FAILED and not bad_rows.skips:  # which leave out duplicate keys
                _refuse_duplicate(_Directory(load, form), nodes, constraints, bad_rows, error)
            raise
    return Loaded(counts, constraints)


def _refuse_duplicate(
    before: _Directory,
    nodes: Mapping[Labels, Any],
    constraints: tuple[tuple[str, str], ...],
    bad_rows: BadRows,
    cause: CypherError,
) -> None:
    """Raise for the first row whose key another node has; the error of the constraint only knows nodes, not rows."""
    taken: dict[tuple[str, Hashable], str] = {}
    for labels, table in nodes.items():
        labels = (labels,) if isinstance(labels, str) else labels
        key = before.key_of(labels)
        if key is None or not ((labels[0], key) in constraints or before.is_unique(labels[0], key)):
            continue
        if isinstance(table, Iterator):  # which cannot be read again
            continue
        name, keys = _node_table_name(labels), table_columns(table)[1][key]
        for row, (value, old) in enumerate(zip(keys.objects(), before.keys_before(labels[0]).find(keys), strict=True)):
            place = bad_rows.place(name, row)
            other = "" if old >= 0 else taken.setdefault((labels[0], group_key(value)), place)
            if other != place:
                known = f"is also in {other}" if other else "already exists"
                reason = f"a node with label {labels[0]!r} and {key!r} = {value!r} {known}"
                raise CypherError(cause.code, f"{place}: {reason}", cause.gql_status) from cause


class _Loading:
    """Adds one table after another."""

    def __init__(self, load: BulkLoad, form: TableForm, bad_rows: BadRows) -> None:
        self.node_count = self.relationship_count = 0
        self.constraints: list[tuple[str, str]] = []
        self._load = load
        self._form = form
        self._bad_rows = bad_rows
        self._directory = _Directory(load, form)

    def add_nodes(self, labels: tuple[str, ...], table: Any) -> None:
        name = _node_table_name(labels)
        key = self._form.key_of(labels)
        first_row, taken = 0, set[Hashable]()
        for count, columns in _read(name, table):
            if key is None:
                self._load.add_nodes(labels, count, columns)
                self.node_count += count
                continue
            if key not in columns:
                raise bad_table(name, f"there is no key column {key!r}; the columns are {', '.join(columns)}")
            kept = self._usable(name, labels[0], key, columns[key], first_row, taken)
            first_row += count
            columns = {name: column.take(kept) for name, column in columns.items()} if len(kept) < count else columns
            positions = self._load.add_nodes(labels, len(kept), columns)
            self._directory.add(labels, columns[key], positions)
            self.node_count += len(kept)
        if key is not None and self._form.is_unique and self._load.make_unique(labels[0], key):
            self.constraints.append((labels[0], key))

    def _usable(self, name: str, label: str, key: str, keys: Column, first_row: int, taken: set[Hashable]) -> Int64s:
        """The rows with a usable key. If bad rows fail the load, constraints find duplicate keys."""
        missing = keys.null_mask()
        for row in np.flatnonzero(missing).tolist():
            self._bad_rows.take_row(name, first_row + row, f"the key {key!r} is null")
        kept = np.flatnonzero(~missing)
        if not self._bad_rows.skips or not self._form.is_unique or not len(kept):
            return kept
        values = keys.take(kept)
        is_new = self._directory.keys_before(label).find(values) < 0
        for place, value in enumerate(map(group_key, values.objects())):
            is_new[place] &= value not in taken
            taken.add(value)
        for place in np.flatnonzero(~is_new).tolist():
            reason = f"there is another node with label {label!r} and {key!r} = {values.objects()[place]!r}"
            self._bad_rows.take_row(name, first_row + int(kept[place]), reason)
        return kept[is_new]

    def add_relationships(self, pattern: Pattern, table: Any) -> None:
        start_label, type, end_label = pattern
        name = pattern_name(pattern)
        start, end = self._form.ends_of(pattern)
        first_row = 0
        for count, columns in _read(name, table):
            for needed in (start, end):
                if needed not in columns:
                    raise bad_table(name, f"there is no column {needed!r}; the columns are {', '.join(columns)}")
            starts, ends = columns[start], columns[end]
            properties = {name: column for name, column in columns.items() if name not in (start, end)}
            from_nodes = self._found(start_label, starts, name, start, first_row)
            to_nodes = self._found(end_label, ends, name, end, first_row, from_nodes >= 0)
            kept = np.flatnonzero((from_nodes >= 0) & (to_nodes >= 0))
            if len(kept) < count:
                from_nodes, to_nodes = from_nodes[kept], to_nodes[kept]
                properties = {name: column.take(kept) for name, column in properties.items()}
            self._load.add_relationships(type, from_nodes, to_nodes, properties)
            self.relationship_count += len(kept)
            first_row += count

    def _found(self, label: str, wanted: Column, name: str, column: str, first_row: int, told: Any = None) -> Int64s:
        """The positions of the nodes with these keys, below 0 if there is none. Only rows for which `told` is true are
        reported here: the others already were."""
        positions = self._directory.find(label, wanted)
        missing = positions < 0
        rows = np.flatnonzero(missing if told is None else missing & told).tolist()
        if not rows:
            return positions
        key, values = self._form.key_of((label,)), wanted.objects()
        there = self._directory.kinds(label)
        for row in rows:
            if not there:
                reason = f"no node has the label {label!r} and a property {key!r}"
            elif values[row] is None:
                reason = "it is null"
            else:
                reason = f"no node with label {label!r} has {key!r} = {values[row]!r}{_other_kind(values[row], there)}"
            self._bad_rows.take_row(name, first_row + row, f"{column}: {reason}")
        return positions


def _other_kind(value: Any, there: set[str | None]) -> str:
    """That keys are of another type than this value, if so: then none of them can be equal."""
    kind = kind_of(from_objects([value]))
    (only,) = there if len(there) == 1 else (None,)
    if kind is None or only is None or kind == only or {kind, only} == {"integer", "float"}:
        return ""
    return f", which is {with_article(kind)}; the values of these nodes are of the type {only}"


def _node_table_name(labels: tuple[str, ...]) -> str:
    return f"nodes[{labels[0] if len(labels) == 1 else labels!r}]"


def _read(name: str, table: Any) -> Iterator[tuple[int, dict[str, Column]]]:
    """The columns of a table, or of several one after another."""
    for part in table if isinstance(table, Iterator) else (table,):
        try:
            yield table_columns(part)
        except (CypherError, TypeError, ValueError, OverflowError) as error:
            raise bad_table(name, str(error)) from error


class _Directory:
    """Nodes by key, for each label that a relationship table refers to."""

    def __init__(self, load: BulkLoad, form: TableForm) -> None:
        self._load = load
        self._form = form
        self._added: dict[str, list[Part]] = {}
        self._made: dict[str, Keys] = {}
        self._before: dict[str, Keys] = {}

    def key_of(self, labels: tuple[str, ...]) -> str | None:
        """The name of the key of a node table."""
        return self._form.key_of(labels)

    def is_unique(self, label: str, key: str) -> bool:
        """Whether there was a constraint before this load."""
        return self._load.snapshot.is_unique(label, key)

    def kinds(self, label: str) -> set[str | None]:
        """The types of the keys of all nodes with a label."""
        return {kind_of(part.column()) for part in (*self._added.get(label, []), *self._old(label))}

    def add(self, labels: tuple[str, ...], keys: Column, positions: Int64s) -> None:
        """Add nodes of this load."""
        if len(keys):
            part = Part.of(keys, positions)
            for label in dict.fromkeys(labels):
                self._added.setdefault(label, []).append(part)
                self._made.pop(label, None)

    def find(self, label: str, wanted: Column) -> Int64s:
        """The positions of the nodes with these keys, below 0 if there is none."""
        keys = self._made.get(label)
        if keys is None:
            keys = self._made[label] = Keys([*self._added.get(label, []), *self._old(label)])
        return keys.find(wanted)

    def keys_before(self, label: str) -> Keys:
        """The nodes that existed before this load."""
        if label not in self._before:
            self._before[label] = Keys(self._old(label))
        return self._before[label]

    def _old(self, label: str) -> list[Part]:
        before = self._load.snapshot
        old = before.nodes_with_label(label)
        key = self._form.key_of((label,))
        if key is None:
            return []
        keys = before.node_property(old, key)
        present = np.flatnonzero(~keys.null_mask())
        return [Part.of(keys.take(present), old[present])] if len(present) else []
