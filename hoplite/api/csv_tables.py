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
from hoplite.storage.importers.plain_csv import CsvColumns, CsvTable, read_csv_table
from hoplite.storage.importers.table_columns import table_columns
from hoplite.storage.importers.tables import Labels, Loaded, Pattern, TableForm, load_tables
from hoplite.values.driver import to_driver

Tell: TypeAlias = Callable[[str], object]
Begin: TypeAlias = Callable[[], AbstractContextManager[RunsStatements]]
_ROWS_AT_ONCE = 10_000


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

    def read(self, bad_rows: BadRows) -> CsvTable:
        """The file as a table."""
        key = None if self.pattern is not None else self.form.key_of(self.node_labels)
        return read_csv_table(self.path, CsvColumns(self.kinds or {}, {}, key), self.delimiter, bad_rows)

    def intent(self) -> str:
        """What will be done, in words."""
        if self.pattern is not None:
            start, end = self.form.ends_of(self.pattern)
            start_key, end_key = self.form.key_of((self.pattern[0],)), self.form.key_of((self.pattern[2],))
            one, type, other = self.pattern
            return f"relationships (:{one} {{{start_key}: {start}}})-[:{type}]->(:{other} {{{end_key}: {end}}})"
        key = self.form.key_of(self.node_labels)
        verb = "added or changed" if self.upsert else "added"
        known = "" if key is None else f" known by {key}" + (", which becomes unique" if self.form.is_unique else "")
        return f"nodes (:{':'.join(self.node_labels)}) are {verb}{known}"


def load_csv(
    graph: Graph,
    begin: Callable[[], AbstractContextManager[RunsStatements]],
    load: CsvLoad,
    bad_rows: BadRows,
    tell: Tell,
) -> Loaded:
    """Load a file; returns how much was loaded."""
    read = load.read(bad_rows)
    tell(read.describe())
    tell(load.intent())
    if load.upsert:
        return _upsert(begin, load, read, bad_rows)
    if load.pattern is not None:
        return load_tables(graph, {}, {load.pattern: read.table}, load.form, bad_rows)
    return load_tables(graph, {load.node_labels: read.table}, {}, load.form, bad_rows)


def _upsert(begin: Begin, load: CsvLoad, read: CsvTable, bad_rows: BadRows) -> Loaded:
    """A row changes the node that has its key, or becomes a new node. Empty fields leave a property unchanged."""
    labels, key = load.node_labels, load.form.key_of(load.node_labels)
    assert key is not None
    if key not in read.kinds:
        raise argument_error(f"There is no key column {key!r}; the columns are {', '.join(read.kinds)}")
    named = ":".join(map(_quoted, labels))
    added = changed = constraints = 0
    with begin() as script:
        if load.form.is_unique:
            made = script.run(
                f"CREATE CONSTRAINT IF NOT EXISTS FOR (n:{_quoted(labels[0])}) REQUIRE n.{_quoted(key)} IS UNIQUE"
            )
            constraints = made.consume().counters.constraints_added
        merge = f"UNWIND $rows AS row MERGE (n:{named} {{{_quoted(key)}: row[$key]}}) SET n += row"
        waiting = _rows(read, key, bad_rows)
        while rows := list(islice(waiting, _ROWS_AT_ONCE)):
            counters = script.run(merge, {"rows": rows, "key": key}).consume().counters
            added += counters.nodes_created
            changed += len(rows) - counters.nodes_created
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
