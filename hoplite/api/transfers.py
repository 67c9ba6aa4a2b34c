"""Graphs in and out of a database: tables, files of many formats, other libraries, a live Neo4j.

An import is all or nothing: if it fails, the database is unchanged. With `on_error` "skip" or "report", rows that
cannot be read are left out instead and counted under `skipped`; "report" also lists them under `problems`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from hoplite.errors import driver_errors
from hoplite.storage.importers.bad_rows import BadRows, OnError

if TYPE_CHECKING:
    from hoplite.api.cypher_script import RunsStatements
    from hoplite.storage.exporters.files import Target
    from hoplite.storage.graph import Graph
    from hoplite.storage.importers.csv import CsvFiles, CsvFormat
    from hoplite.storage.importers.neo4j_server import Neo4jImport
    from hoplite.storage.importers.source_ids import SourceIds
    from hoplite.storage.importers.tables import Loaded

File: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[int, int | None], None]


def _silent(_text: str) -> None:
    """Report nothing."""


class Transfers:
    """The part of a database that does bulk imports and exports."""

    source_ids: SourceIds | None

    @property
    def _graph(self) -> Graph:
        raise NotImplementedError

    def _begin_script(self) -> AbstractContextManager[RunsStatements]:
        """A transaction that may change both data and the schema."""
        raise NotImplementedError

    def _refuse_if_read_only(self) -> None:
        raise NotImplementedError

    def _anticipate_hops(self, coming: int = 0, at_once: bool = True) -> None:
        """Hops over what was loaded, or is coming now, are likely to follow."""
        raise NotImplementedError

    @contextmanager
    def _filling(self) -> Iterator[Graph]:
        self._refuse_if_read_only()
        with driver_errors():
            yield self._graph
        self._anticipate_hops()

    # --- in ----------------------------------------------------------------------------------------------------

    def load(
        self,
        nodes: Mapping[str | tuple[str, ...], Any] | None = None,
        relationships: Mapping[tuple[str, str, str], Any] | None = None,
        key: str | Mapping[Any, str] | None = "id",
        *,
        start: str | Mapping[tuple[str, str, str], str] = "start",
        end: str | Mapping[tuple[str, str, str], str] = "end",
        unique: bool = True,
        on_error: OnError = "fail",
        progress: Progress | None = None,
    ) -> Loaded:
        """Bulk load from Arrow, pandas or Polars tables, or dicts of arrays; returns how much was loaded.

        `key` is the column by which relationships find their nodes, `start` and `end` are the columns that refer to it:
        one name for all tables, or a dictionary, `key={"Drug": "drugbank", "Disease": "mesh"}`. With None, nodes have
        no key. The first label of each node table gets a uniqueness constraint on its key, which is also the index that
        queries find nodes by; `constraints` of the result lists the new ones, and `unique=False` creates none. With
        `on_error` "skip" or "report", rows without a key or with a duplicate one, and relationships whose ends do not
        exist, are left out. `progress` is called with the number of tables done and the total.
        """
        from hoplite.storage.importers.table_form import TableForm, refuse_malformed
        from hoplite.storage.importers.tables import load_tables

        form = TableForm(key, start, end, unique)
        nodes, relationships = {} if nodes is None else nodes, {} if relationships is None else relationships
        with self._filling() as graph:
            refuse_malformed(nodes, relationships, form)
            self._anticipate_hops(sum(map(_row_count, relationships.values())))  # ready when the graph is
            return load_tables(graph, nodes, relationships, form, BadRows(on_error), progress)

    def load_csv(
        self,
        path: File,
        label: str | tuple[str, ...] | None = None,
        *,
        key: str | Mapping[Any, str] | None = None,
        upsert: bool = False,
        relationship: tuple[str, str, str] | None = None,
        start: str = "start",
        end: str = "end",
        types: Mapping[str, str] | None = None,
        delimiter: str = ",",
        unique: bool = True,
        on_error: OnError = "fail",
        tell: Callable[[str], object] | None = print,
        progress: Progress | None = None,
    ) -> Loaded:
        """Load a plain CSV file whose first line names its columns, gzipped or not; returns how much was loaded.

        The types of the columns are inferred from all of their values, and passed to `tell` before anything is written;
        `types={"zip": "text"}` sets them (`KINDS` of `hoplite.storage.importers.plain_csv`). Rows become nodes with
        `label`, by default named after the file. A `key` makes its values unique, as in `load`; with `upsert`, a row
        whose key exists changes that node, and its empty fields change nothing.

        With `relationship=("Person", "ACTED_IN", "Movie")` rows become relationships, from the node whose key is in the
        column `start` to the one in the column `end`; `key` may give a name for each label. `progress` is called with
        the number of rows done and the total.
        """
        from hoplite.api.csv_tables import CsvLoad, load_csv
        from hoplite.storage.importers.table_form import TableForm

        with self._filling() as graph:
            form = TableForm("id" if key is None and relationship else key, start, end, unique)
            load = CsvLoad(path, label, relationship, form, upsert, types, delimiter)
            return load_csv(graph, self._begin_script, load, BadRows(on_error), tell or _silent, progress)

    def import_jsonl(
        self, path: File, progress: Progress | None = None, *, on_error: OnError = "fail"
    ) -> dict[str, Any]:
        """Import JSON lines (nodes first), as APOC exports them; gzip is recognised."""
        from hoplite.storage.importers.jsonl import import_jsonl

        with self._filling() as graph:
            return import_jsonl(graph, path, progress, bad_rows=BadRows(on_error))

    def import_triples(
        self,
        path: File,
        progress: Progress | None = None,
        *,
        on_error: OnError = "fail",
        label: str = "Entity",
        separator: str = "\t",
        header: bool | None = None,
        block_bytes: int = 32 << 20,
    ) -> dict[str, Any]:
        """Import triples: subject, predicate and object, between separators. `header` says whether the first line names
        these columns; None: it does if it looks like that. `block_bytes` are read at a time."""
        from hoplite.storage.importers.triples import import_triples

        form: Any = {"label": label, "separator": separator, "header": header, "block_bytes": block_bytes}
        with self._filling() as graph:
            return import_triples(graph, path, progress, bad_rows=BadRows(on_error), **form)

    def import_ntriples(
        self, path: File, progress: Progress | None = None, *, on_error: OnError = "fail"
    ) -> dict[str, Any]:
        """Import N-Triples: resources become nodes, literals properties."""
        from hoplite.storage.importers.ntriples import import_ntriples

        with self._filling() as graph:
            return import_ntriples(graph, path, progress, bad_rows=BadRows(on_error))

    def import_csv(
        self,
        nodes: Sequence[CsvFiles | File] = (),
        relationships: Sequence[CsvFiles | File] = (),
        *,
        format: CsvFormat | None = None,
        on_error: OnError = "fail",
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Import CSV files with the headers of `neo4j-admin database import`; gzip is recognised."""
        from hoplite.storage.importers.csv import CsvFiles, CsvFormat, import_csv

        def files(given: Sequence[CsvFiles | File]) -> list[CsvFiles]:
            return [one if isinstance(one, CsvFiles) else CsvFiles([one]) for one in given]

        with self._filling() as graph:
            return import_csv(
                graph,
                files(nodes),
                files(relationships),
                format=format or CsvFormat(),
                bad_rows=BadRows(on_error),
                progress=progress,
            )

    def import_csv_folder(
        self, folder: File, *, on_error: OnError = "fail", progress: Progress | None = None
    ) -> dict[str, Any]:
        """Import what `export_csv` wrote, or any folder with an `import.args` for neo4j-admin."""
        from hoplite.storage.importers.csv import read_arguments

        with driver_errors():
            nodes, relationships, form = read_arguments(folder)
        return self.import_csv(nodes, relationships, format=form, on_error=on_error, progress=progress)

    def import_csv_mapping(
        self, path: File, *, on_error: OnError = "fail", progress: Progress | None = None
    ) -> dict[str, Any]:
        """Import plain CSV files that a mapping in JSON describes."""
        from hoplite.storage.importers.csv import read_mapping

        with driver_errors():
            nodes, relationships = read_mapping(path)
        return self.import_csv(nodes, relationships, on_error=on_error, progress=progress)

    def import_parquet(
        self,
        folder: File | None = None,
        *,
        nodes: Mapping[str | tuple[str, ...], File] | None = None,
        relationships: Mapping[tuple[str, str, str], File] | None = None,
        key: str = "id",
        progress: Progress | None = None,
    ) -> dict[str, int]:
        """Import a folder that `export_parquet` wrote; or files of node and relationship tables, like `load`."""
        from hoplite.storage.importers.parquet import import_parquet, import_parquet_tables

        with self._filling() as graph:
            if folder is not None:
                return import_parquet(graph, folder, progress)
            return import_parquet_tables(graph, nodes or {}, relationships or {}, key, progress)

    def import_networkx(
        self, network: Any, *, key: str | None = "id", label: str = "Node", type: str = "RELATED"
    ) -> dict[str, int]:
        """Import a NetworkX graph. `key` is the property for a node's key; `label` and `type` are for nodes and edges
        that have none."""
        from hoplite.storage.importers.networks import import_networkx

        with self._filling() as graph:
            return import_networkx(graph, network, key=key, label=label, type=type)

    def import_igraph(
        self, network: Any, *, key: str | None = "id", label: str = "Node", type: str = "RELATED"
    ) -> dict[str, int]:
        """Import an igraph graph. The names are as in `import_networkx`."""
        from hoplite.storage.importers.networks import import_igraph

        with self._filling() as graph:
            return import_igraph(graph, network, key=key, label=label, type=type)

    def import_cypher(self, path: File, progress: Progress | None = None) -> dict[str, int]:
        """Run a script of Cypher statements in one transaction."""
        from hoplite.api.cypher_script import import_cypher

        with self._filling(), self._begin_script() as transaction:
            return import_cypher(transaction, path, progress)

    def import_neo4j(
        self,
        server: Any,
        *,
        auth: Any = None,
        database: str | None = None,
        labels: Sequence[str] | None = None,
        types: Sequence[str] | None = None,
        progress: Progress | None = None,
        staging: File | None = None,
        batch: int = 5_000,
        patience_seconds: float = 30.0,
    ) -> Neo4jImport:
        """Import the graph of a live Neo4j, given as a URI or an open driver: all of it or nothing.

        What is fetched is kept in the file `staging` until the import is complete, so that repeating the same import
        continues from there; by default, a database on disk has such a file next to it (`kg.hop.fetched`).
        `db.source_ids` then maps each imported node or relationship to the one on the server. `batch` nodes or
        relationships are read at a time; a lost connection is retried for `patience_seconds`.
        """
        from hoplite.storage.importers.neo4j_server import import_neo4j

        with self._filling() as graph:
            done = import_neo4j(
                graph,
                server,
                auth=auth,
                database=database,
                labels=labels,
                types=types,
                progress=progress,
                staging=staging,
                batch=batch,
                patience_seconds=patience_seconds,
            )
        self.source_ids = done.source_ids
        return done

    # --- out ---------------------------------------------------------------------------------------------------

    def export_jsonl(self, path: Target, progress: Progress | None = None) -> dict[str, int]:
        """Write the graph as JSON lines, which `import_jsonl` reads; gzip if the name ends in .gz.

        This and the other single-file formats can also be written to an open text stream.
        """
        from hoplite.storage.exporters.jsonl import export_jsonl

        with driver_errors():
            return export_jsonl(self._graph.snapshot(), path, progress)

    def export_csv(self, folder: File, *, compress: bool = False, progress: Progress | None = None) -> dict[str, Any]:
        """Write the graph as CSV files for `neo4j-admin database import` to a folder."""
        from hoplite.storage.exporters.csv import export_csv

        with driver_errors():
            return export_csv(self._graph.snapshot(), folder, compress=compress, progress=progress)

    def export_parquet(self, folder: File, progress: Progress | None = None) -> dict[str, int]:
        """Write the graph as Parquet files to a folder."""
        from hoplite.storage.exporters.parquet import export_parquet

        with driver_errors():
            return export_parquet(self._graph.snapshot(), folder, progress)

    def export_cypher(self, path: Target, progress: Progress | None = None) -> dict[str, Any]:
        """Write the graph as a script of Cypher statements, indexes and constraints included."""
        from hoplite.api.cypher_script import export_cypher

        with driver_errors():
            return export_cypher(self._graph.snapshot(), path, progress)

    def export_triples(self, path: Target, *, key: str = "id", progress: Progress | None = None) -> dict[str, Any]:
        """Write all relationships as triples of names, separated by tabs; a node's name is its property `key`. What
        triples cannot express is left out, and listed under `notes`."""
        from hoplite.storage.exporters.triples import export_triples

        with driver_errors():
            return export_triples(self._graph.snapshot(), path, key, progress)

    def export_ntriples(self, path: Target, progress: Progress | None = None) -> dict[str, Any]:
        """Write the graph as N-Triples (RDF), which `import_ntriples` reads back without loss."""
        from hoplite.storage.exporters.ntriples import export_ntriples

        with driver_errors():
            return export_ntriples(self._graph.snapshot(), path, progress)

    def to_igraph(self) -> Any:
        """The graph as a directed igraph Graph."""
        from hoplite.storage.exporters.igraph import to_igraph

        return to_igraph(self._graph.snapshot())

    def to_networkx(self) -> Any:
        """The graph as a NetworkX MultiDiGraph."""
        from hoplite.storage.exporters.networkx import to_networkx

        return to_networkx(self._graph.snapshot())


def _row_count(table: Any) -> int:
    """The rows of a table; 0 for one that is read piece by piece."""
    first = next(iter(table.values()), ()) if isinstance(table, Mapping) else table
    return len(first) if isinstance(first, Sized) else 0
