"""`hoplite import`: files of many formats, or a live Neo4j, in; counts on the screen."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hoplite.cli.opening import MEMORY, UsageError, open_database, progress_bar

if TYPE_CHECKING:
    from hoplite.api.database import Database
    from hoplite.storage.importers.csv import CsvFiles, CsvFormat

KINDS: Mapping[str, str] = {
    "jsonl": "JSON lines, as APOC exports them",
    "triples": "subject, type and object, separated by tabs",
    "ntriples": "N-Triples (RDF)",
    "csv": "neo4j-admin's CSV: a folder with an import.args, or --nodes and --relationships",
    "table": "a plain CSV file; the types of its columns are inferred, and shown before anything is written",
    "mapping": "plain CSV files that a mapping in JSON describes",
    "parquet": "a folder that `hoplite export parquet` wrote",
    "cypher": "a script of Cypher statements",
    "neo4j": "a live server, such as bolt://localhost:7687",
}
PASSWORD_VARIABLE = "NEO4J_PASSWORD"
UNFINISHED = ".importing"
"""The suffix of a new database until it is complete."""
_SHOWN_PROBLEMS = 20


def add_import_command(commands: Any) -> None:
    importing = commands.add_parser(
        "import",
        help="load a graph and print its counts",
        description="Load a graph into DB, which is created if it does not exist, and print its counts. If the import"
        " fails, DB is unchanged. What was fetched from a live Neo4j is kept in DB.fetched until the import is"
        " complete: repeat the command to continue from there. A graph in memory lives as long as this"
        " command: give --query to query it.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="kinds:\n" + "\n".join(f"  {kind:10}{text}" for kind, text in KINDS.items()),
    )
    importing.add_argument("kind", choices=KINDS, metavar="KIND", help="see below")
    importing.add_argument("source", nargs="?", metavar="SOURCE", help="a file or folder; for neo4j a URI")
    importing.add_argument(
        "database", nargs="?", default=MEMORY, metavar="DB", help=f"a folder, or {MEMORY} (the default)"
    )
    importing.add_argument("--to", metavar="DB", help="the same as DB")
    importing.add_argument("--query", metavar="CYPHER", help="run this query on the imported graph")
    importing.add_argument("--on-error", choices=("fail", "skip", "report"), default="fail",
                           help="what to do with rows of files that cannot be read")  # fmt: skip
    add_csv_options(importing.add_argument_group("neo4j-admin's CSV"))
    _add_table_options(importing.add_argument_group("a plain CSV file"))
    part = importing.add_argument_group("part of a live Neo4j")
    part.add_argument("--label", action="append", metavar="NAME",
                      help="only nodes with this label; for plain CSV, the label of its nodes; repeatable")  # fmt: skip
    part.add_argument("--type", action="append", metavar="NAME", help="only relationships of this type; repeatable")
    add_server_options(part)
    importing.set_defaults(command=_import, sample=False, imported=None)


def add_csv_options(group: Any) -> None:
    for noun, names in (("nodes", "LABEL:LABEL"), ("relationships", "TYPE")):
        group.add_argument(f"--{noun}", action="append", default=[], metavar=f"[{names}=]FILE,FILE",
                           help="files of which the first begins with the header; may be repeated")  # fmt: skip
    group.add_argument("--delimiter", default=",", help="between fields; a comma, or TAB, or U+0009")
    group.add_argument("--array-delimiter", default=";", help="between the values of a list; ;")
    group.add_argument("--quote", default='"', help='around fields; "')


def _add_table_options(group: Any) -> None:
    group.add_argument("--key", action="append", default=[], type=_key, metavar="[LABEL=]NAME",
                       help="the property that identifies nodes (of a label; may be repeated); of new nodes, it"
                       " becomes unique")  # fmt: skip
    group.add_argument("--upsert", action="store_true", help="change nodes whose key already exists")
    group.add_argument("--relationship", type=_pattern, metavar="LABEL:TYPE:LABEL",
                       help="rows are relationships between existing nodes")  # fmt: skip
    group.add_argument("--start", default="start", metavar="COLUMN", help="the key of the node it begins at; start")
    group.add_argument("--end", default="end", metavar="COLUMN", help="the key of the node it ends at; end")
    group.add_argument("--column", action="append", default=[], type=_column, metavar="NAME=KIND",
                       help="what a column holds: text, integer, float, boolean, date; may be repeated")  # fmt: skip
    group.add_argument("--no-constraint", action="store_true", help="the key need not be unique")


def _pattern(text: str) -> tuple[str, str, str]:
    parts = text.split(":")
    if len(parts) != 3 or not all(parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form LABEL:TYPE:LABEL")
    return parts[0], parts[1], parts[2]


def _key(text: str) -> tuple[str | None, str]:
    label, equals, name = text.partition("=")
    if not equals:
        label, name = "", text
    if not name or (equals and not label):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME or LABEL=NAME")
    return label or None, name


def _column(text: str) -> tuple[str, str]:
    name, equals, kind = text.rpartition("=")
    if not (name and equals and kind):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=KIND")
    return name, kind


def add_server_options(group: Any) -> None:
    group.add_argument("--user", default="neo4j", help=f"with the password in ${PASSWORD_VARIABLE}")
    group.add_argument("--database", dest="server_database", metavar="NAME", help="the server's database")


def server_auth(options: argparse.Namespace) -> tuple[str, str] | None:
    """Credentials for the server; None if there is no password."""
    password = os.environ.get(PASSWORD_VARIABLE)
    return None if password is None else (options.user, password)


def import_from_server(db: Database, uri: str, options: argparse.Namespace, staging: Path | None = None) -> None:
    """Import with a progress bar; what could not be imported is reported on stderr."""
    with progress_bar(f"Importing {uri}") as progress:
        done = db.import_neo4j(
            uri,
            auth=server_auth(options),
            database=options.server_database,
            labels=getattr(options, "label", None),
            types=getattr(options, "type", None),
            progress=progress,
            staging=staging,
        )
    if done.kept_batches:
        batches = done.kept_batches + done.fetched_batches
        print(f"hoplite: {done.kept_batches} of {batches} batches had been fetched before", file=sys.stderr)
    for note in done.notes:
        print(f"hoplite: {note}", file=sys.stderr)
    for rule in done.skipped_rules:
        print(f"hoplite: left out: {rule}", file=sys.stderr)
    for change in done.changes:
        print(f"hoplite: the graph changed while it was imported: {change}", file=sys.stderr)


def _import(options: argparse.Namespace) -> int:
    from hoplite.cli.answer import write_rows
    from hoplite.cli.schema import print_schema
    from hoplite.cli.shown_values import showing_session, shown_rows

    _settle_places(options)
    with _filled(options) as db:
        print_schema(db)
        if options.query:
            result = showing_session(db).run(options.query)
            write_rows(result, shown_rows(result), "table", sys.stdout)
    return 0


@contextmanager
def _filled(options: argparse.Namespace) -> Iterator[Database]:
    """The database with the graph in it. A new one gets its name once it is complete."""
    place = Path(options.database)
    if options.database == MEMORY or place.exists():
        with open_database(options, create=True) as db:
            _fill(db, options)
            yield db
        return
    _make(place, options)
    with open_database(options) as db:
        yield db


def _make(place: Path, options: argparse.Namespace) -> None:
    import hoplite
    from hoplite.errors import driver_errors
    from hoplite.storage.disk.files import Files
    from hoplite.storage.disk.graph import DiskGraph
    from hoplite.storage.importers.fetched import fetched_path

    unfinished = place.with_name(place.name + UNFINISHED)
    if unfinished.exists():  # left by a killed process
        with driver_errors():
            DiskGraph(unfinished).close()  # refuses if an import is still running, or if it is not a database
        shutil.rmtree(unfinished)
    db = hoplite.open(unfinished)
    try:
        with db:
            _fill(db, options, fetched_path(place))
        Files().rename(unfinished, place)
        Files().sync_folder(place.parent)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _fill(db: Database, options: argparse.Namespace, staging: Path | None = None) -> None:
    if options.kind == "neo4j":
        import_from_server(db, options.source, options, staging)
    else:
        _import_files(db, options)


def _settle_places(options: argparse.Namespace) -> None:
    """Decide which of the two places is the source and which the database."""
    listed = bool(options.nodes or options.relationships)
    if listed and options.kind != "csv":
        raise UsageError("--nodes and --relationships are for CSV: hoplite import csv --nodes FILE ...")
    if listed and options.source is not None:
        if options.database != MEMORY:
            raise UsageError("Give either a folder or --nodes and --relationships.")
        options.source, options.database = None, options.source
    if options.source is None and not listed:
        raise UsageError(f"What is to be imported? hoplite import {options.kind} SOURCE")
    if options.to is not None:
        if options.database != MEMORY:
            raise UsageError("Give the database once: as DB, or with --to.")
        options.database = options.to


def _import_files(db: Database, options: argparse.Namespace) -> None:
    on_error = options.on_error
    with progress_bar(f"Importing {Path(options.source).name if options.source else 'CSV'}") as progress:
        if options.nodes or options.relationships:
            made = db.import_csv(
                *_csv_files(options), format=_csv_format(options), on_error=on_error, progress=progress
            )
        elif options.kind == "table":
            made = _import_table(db, options)
        elif options.kind in ("parquet", "cypher"):
            if on_error != "fail":
                raise UsageError(f"--on-error is for forms with rows that can be read one by one, not {options.kind}.")
            whole: dict[str, Callable[..., Any]] = {"parquet": db.import_parquet, "cypher": db.import_cypher}
            made = whole[options.kind](options.source, progress=progress)
        else:
            by_row: dict[str, Callable[..., Any]] = {
                "jsonl": db.import_jsonl,
                "triples": db.import_triples,
                "ntriples": db.import_ntriples,
                "csv": db.import_csv_folder,
                "mapping": db.import_csv_mapping,
            }
            made = by_row[options.kind](options.source, on_error=on_error, progress=progress)
    problems = made.get("problems", [])
    for problem in problems[:_SHOWN_PROBLEMS]:
        print(f"hoplite: {problem}", file=sys.stderr)
    if made.get("skipped"):
        more = made["skipped"] - min(len(problems), _SHOWN_PROBLEMS)
        rows = "1 row" if made["skipped"] == 1 else f"{made['skipped']} rows"
        print(f"hoplite: {rows} left out" + (f", {more} of them not shown" if more else ""), file=sys.stderr)


def _import_table(db: Database, options: argparse.Namespace) -> dict[str, Any]:
    from hoplite.storage.importers.csv import read_sign

    return db.load_csv(
        options.source,
        tuple(options.label) if options.label else None,
        key=_keys(options),
        upsert=options.upsert,
        relationship=options.relationship,
        start=options.start,
        end=options.end,
        types=dict(options.column),
        delimiter=read_sign(options.delimiter),
        unique=not options.no_constraint,
        on_error=options.on_error,
        tell=lambda text: print(f"hoplite: {text}", file=sys.stderr),
    )


def _keys(options: argparse.Namespace) -> str | dict[str, str] | None:
    """One key for all labels, or each label's; what is given without a label is for the ends that have no other."""
    for_all = [name for label, name in options.key if label is None]
    by_label = {label: name for label, name in options.key if label is not None}
    if len(for_all) + len(by_label) < len(options.key) or len(for_all) > 1:
        raise UsageError("Give --key once for each label, as in --key Person=name --key Movie=id.")
    if not by_label:
        return for_all[0] if for_all else None
    if for_all and options.relationship:
        by_label = {label: by_label.get(label, for_all[0]) for label in (*options.relationship[::2], *by_label)}
    elif for_all:
        raise UsageError("Give --key once for a file of nodes.")
    return by_label


def _csv_files(options: argparse.Namespace) -> tuple[list[CsvFiles], list[CsvFiles]]:
    from hoplite.storage.importers.csv import CsvFiles

    def split(text: str) -> tuple[str, list[str]]:
        names, _, files = text.rpartition("=")
        return names, files.split(",")

    nodes = [(tuple(filter(None, names.split(":"))), files) for names, files in map(split, options.nodes)]
    relationships = [(names or None, files) for names, files in map(split, options.relationships)]
    return (
        [CsvFiles(files, labels) for labels, files in nodes],
        [CsvFiles(files, type=type) for type, files in relationships],
    )


def _csv_format(options: argparse.Namespace) -> CsvFormat:
    from hoplite.storage.importers.csv import CsvFormat, read_sign

    return CsvFormat(*map(read_sign, (options.delimiter, options.array_delimiter, options.quote)))
