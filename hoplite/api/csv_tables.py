"""Plain CSV files into a database: what was inferred is reported first, then rows are added, or matched by their
key."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any, TypeAlias

from hoplite.api.cypher_script import RunsStatements
from hoplite.errors import argument_error
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.graph import Graph
from hoplite.storage.importers.bad_rows import BadRows
from hoplite.storage.importers.key_kinds import stored_kind
from hoplite.storage.importers.lines import Progress
from hoplite.storage.importers.plain_csv import CsvColumns, CsvTable, read_csv_table
from hoplite.storage.importers.problem import bad_file
from hoplite.storage.importers.table_columns import table_columns
from hoplite.storage.importers.table_form import Labels, Pattern, TableForm, refuse_malformed
from hoplite.storage.importers.tables import Loaded, load_tables
from hoplite.values.driver import to_driver

Tell: TypeAlias = Callable[[str], object]
Begin: TypeAlias = Callable[[], AbstractContextManager[RunsStatements]]
_ROWS_AT_ONCE = 10_000
_ROWS_OF_PART = 100_000


@dataclass(frozen=True, slots=True)
class CsvLoad:
    """How to load a file: as nodes with labels, or as relationships of a pattern."""

    path: str | os.PathLike[str]
    labels: Labels | None
    pattern: Pattern | None
    form: TableForm
    upsert: bool
    kinds: Mapping[str, str] | None
    delimiter: str

    def __post_init__(self) -> None:
        tables: tuple[Any, Any] = ({self.node_labels: None}, {})
        if self.pattern is not None:
            tables = ({}, {self.pattern: None})
        refuse_malformed(*tables, self.form)
        self.form.refuse_unknown(*tables)
        if self.pattern is not None and (self.labels is not None or self.upsert):
            raise argument_error("label and upsert are for files of nodes, not of relationships.")
        if self.upsert and self.form.key_of(self.node_labels) is None:
            raise argument_error("upsert needs a key: the column that identifies the node of a row.")

    @property
    def node_labels(self) -> tuple[str, ...]:
        """The given labels, or one named after the file: `movie_stars.csv` has nodes with the label MovieStars."""
        if self.labels is not None:
            return (self.labels,) if isinstance(self.labels, str) else self.labels
        stem = os.path.basename(os.fspath(self.path)).partition(".")[0]
        return ("".join(part[:1].upper() + part[1:] for part in re.split(r"[^0-9A-Za-z]+", stem)) or "Row",)

    def read(self, graph: Graph, bad_rows: BadRows) -> CsvTable:
        """The file as a table. Columns that refer to nodes of the graph are read in the type of what is there."""
        key = None if self.pattern is not None else self.form.key_of(self.node_labels)
        columns = CsvColumns(self.kinds or {}, self._stored_kinds(graph), key)
        return read_csv_table(self.path, columns, self.delimiter, bad_rows)

    def _stored_kinds(self, graph: Graph) -> dict[str, tuple[str, str]]:
        if self.pattern is not None:
            start, end = self.form.ends_of(self.pattern)
            ends = {start: self.pattern[0], end: self.pattern[2]}
            refers = [(column, label, self.form.key_of((label,))) for column, label in ends.items()]
        elif self.upsert:
            key = self.form.key_of(self.node_labels)
            refers = [(key or "", self.node_labels[0], key)]
        else:
            return {}
        found: dict[str, tuple[str, str]] = {}
        for column, label, key in refers:
            kind = None if key is None else stored_kind(graph.snapshot(), label, key)
            if kind is not None:
                found[column] = kind, f":{label}.{key}"
        return found

    def refuse_missing(self, read: CsvTable) -> None:
        """Raise if a column that is needed to find nodes is not there."""
        keys = [self.form.key_of(self.node_labels)]
        for needed in keys if self.pattern is None else self.form.ends_of(self.pattern):
            if needed is not None and needed not in read.kinds:
                raise bad_file(read.file, f"there is no column {needed!r}; the columns are {', '.join(read.kinds)}")

    def intent(self) -> str:
        """What will be done, in words."""
        if self.pattern is not None:
            start, end = self.form.ends_of(self.pattern)
            start_key, end_key = self.form.key_of((self.pattern[0],)), self.form.key_of((self.pattern[2],))
            one, type, other = self.pattern
            return f"relationships (:{one} {{{start_key}: {start}}})-[:{type}]->(:{other} {{{end_key}: {end}}})"
        key = self.form.key_of(self.node_labels)
        verb = "added or changed" if self.upsert else "added"
        nodes = f"nodes (:{':'.join(self.node_labels)})"
        if key is None:
            return f"{nodes} are {verb}"
        return f"{nodes}, identified by {key}, are {verb}" + (f"; {key} becomes unique" if self.form.is_unique else "")


def load_csv(
    graph: Graph,
    begin: Callable[[], AbstractContextManager[RunsStatements]],
    load: CsvLoad,
    bad_rows: BadRows,
    tell: Tell,
    progress: Progress | None = None,
) -> Loaded:
    """Load a file; returns how much was loaded."""
    read = load.read(graph, bad_rows)
    load.refuse_missing(read)
    tell(read.describe())
    tell(load.intent())
    if load.upsert:
        return _upsert(begin, load, read, bad_rows, progress)
    rows = read.table if progress is None else _parts(read, progress)
    if load.pattern is not None:
        return load_tables(graph, {}, {load.pattern: rows}, load.form, bad_rows)
    return load_tables(graph, {load.node_labels: rows}, {}, load.form, bad_rows)


def _parts(read: CsvTable, progress: Progress) -> Iterator[Any]:
    """The table in parts; a part that is asked for means that the one before it is done."""
    total = read.table.num_rows
    for first in range(0, max(total, 1), _ROWS_OF_PART):
        progress(first, total)
        yield read.table.slice(first, _ROWS_OF_PART)
    progress(total, total)


def _upsert(begin: Begin, load: CsvLoad, read: CsvTable, bad_rows: BadRows, progress: Progress | None = None) -> Loaded:
    """A row changes the node that has its key, or becomes a new node. Empty fields leave a property unchanged."""
    labels, key = load.node_labels, load.form.key_of(load.node_labels)
    assert key is not None
    others = "".join(f":{_quoted(label)}" for label in labels[1:])
    added = changed = constraints = 0
    with begin() as script:
        if load.form.is_unique:
            made = script.run(
                f"CREATE CONSTRAINT IF NOT EXISTS FOR (n:{_quoted(labels[0])}) REQUIRE n.{_quoted(key)} IS UNIQUE"
            )
            constraints = made.consume().counters.constraints_added
        # An existing node may have the first label only, the one that its key is unique for.
        merge = f"UNWIND $rows AS row MERGE (n:{_quoted(labels[0])} {{{_quoted(key)}: row[$key]}}) SET n += row"
        if others:
            merge += f", n{others}"
        waiting = _rows(read, key, bad_rows)
        while rows := list(islice(waiting, _ROWS_AT_ONCE)):
            counters = script.run(merge, {"rows": rows, "key": key}).consume().counters
            added += counters.nodes_created
            changed += len(rows) - counters.nodes_created
            if progress is not None:
                progress(added + changed, read.table.num_rows)
    counts = {**bad_rows.summary(added, 0), "changed": changed}
    return Loaded(counts, ((labels[0], key),) if constraints else ())


def _rows(read: CsvTable, key: str, bad_rows: BadRows) -> Iterator[dict[str, Any]]:
    _, columns = table_columns(read.table)
    values = {name: column.objects() for name, column in columns.items()}
    for row in range(read.table.num_rows):
        made = {name: to_driver(column[row]) for name, column in values.items() if column[row] is not None}
        if key in made:
            yield made
        else:
            bad_rows.take_row(read.file, row, f"the key {key!r} is null")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
