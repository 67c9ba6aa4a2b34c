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

from hoplite.cli.opening import MEMORY, UsageError, open_database
from hoplite.cli.progress import BYTES, Bar, over_files, progress_bar

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
BY_ROW = ("jsonl", "triples", "ntriples", "csv", "table", "mapping")
"""Kinds with rows that can be read one by one, so that bad ones can be left out."""
_KINDS_OF: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("nodes", "relationships", "array_delimiter", "quote"), ("csv",)),
    "delimiter": ("csv", "table"),
    **dict.fromkeys(("key", "upsert", "relationship", "start", "end", "column", "no_constraint"), ("table",)),
    "label": ("table", "neo4j"),
    **dict.fromkeys(("type", "user", "server_database"), ("neo4j",)),
    "on_error": BY_ROW,
}
"""The kinds that an option is for; one that is not here is for all."""
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
    both = importing.add_argument_group("a plain CSV file, or a live Neo4j")
    both.add_argument("--label", action="append", metavar="NAME",
                      help="the label of a file's nodes; of a server, only nodes with it; repeatable")  # fmt: skip
    part = importing.add_argument_group("a live Neo4j")
    part.add_argument("--type", action="append", metavar="NAME", help="only relationships of this type; repeatable")
    add_server_options(part)
    defaults = {name: importing.get_default(name) for name in _KINDS_OF}
    importing.set_defaults(command=_import, sample=False, imported=None, defaults=defaults)


def add_csv_options(group: Any) -> None:
    for noun, names in (("nodes", "LABEL:LABEL"), ("relationships", "TYPE")):
        group.add_argument(f"--{noun}", action="append", default=[], metavar=f"[{names}=]FILE,FILE",
                           help="files of which the first begins with the header; may be repeated")  # fmt: skip
    group.add_argument("--delimiter", default=",", help="between fields, of plain CSV too; a comma, or TAB, or U+0009")
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
    with progress_bar(f"Importing {uri}", "nodes and relationships") as progress:
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
    _refuse_other_options(options)
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


def _refuse_other_options(options: argparse.Namespace) -> None:
    """Raise for an option that would have no effect: it belongs to another kind."""
    kind = options.kind
    if options.on_error != "fail" and kind not in BY_ROW:
        raise UsageError(f"--on-error is for forms with rows that can be read one by one, not {kind}.")
    given = [name for name in _KINDS_OF if getattr(options, name) != options.defaults[name]]
    for name in given:
        if kind not in _KINDS_OF[name]:
            flag = "--database" if name == "server_database" else f"--{name.replace('_', '-')}"
            kinds = " and ".join(_KINDS_OF[name])
            raise UsageError(f"{flag} is for {kinds}, not for {kind}: see `hoplite import --help`.")
    if kind == "csv" and options.source is not None:
        for name in {"delimiter", "array_delimiter", "quote"} & set(given):
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} is for --nodes and --relationships: a folder has its own in its import.args.")
    if options.relationship is None and ("start" in given or "end" in given):
        raise UsageError("--start and --end are for rows that are relationships: give --relationship too.")


def _import_files(db: Database, options: argparse.Namespace) -> None:
    units = {"parquet": "files", "table": "rows"}
    name = Path(options.source).name if options.source else "CSV"
    with progress_bar(f"Importing {name}", units.get(options.kind, BYTES)) as progress:
        made = _import_kind(db, options, progress)
    problems = made.get("problems", [])
    for problem in problems[:_SHOWN_PROBLEMS]:
        print(f"hoplite: {problem}", file=sys.stderr)
    if made.get("skipped"):
        more = made["skipped"] - min(len(problems), _SHOWN_PROBLEMS)
        rows = "1 row" if made["skipped"] == 1 else f"{made['skipped']} rows"
        print(f"hoplite: {rows} left out" + (f", {more} of them not shown" if more else ""), file=sys.stderr)


def _import_kind(db: Database, options: argparse.Namespace, progress: Bar) -> dict[str, Any]:
    if options.kind == "table":
        return _import_table(db, options, progress)
    if options.kind in ("csv", "mapping"):
        return _import_csv(db, options, progress)
    whole: dict[str, Callable[..., dict[str, Any]]] = {"parquet": db.import_parquet, "cypher": db.import_cypher}
    if options.kind in whole:
        return whole[options.kind](options.source, progress=progress)
    by_row: dict[str, Callable[..., dict[str, Any]]] = {
        "jsonl": db.import_jsonl,
        "triples": db.import_triples,
        "ntriples": db.import_ntriples,
    }
    return by_row[options.kind](options.source, on_error=options.on_error, progress=progress)


def _import_csv(db: Database, options: argparse.Namespace, progress: Bar) -> dict[str, Any]:
    from hoplite.errors import driver_errors
    from hoplite.storage.importers.csv import CsvFormat, read_arguments, read_mapping

    form = CsvFormat()
    with driver_errors():
        if options.kind == "mapping":
            nodes, relationships = read_mapping(options.source)
        elif options.source is not None:
            nodes, relationships, form = read_arguments(options.source)
        else:
            (nodes, relationships), form = _csv_files(options), _csv_format(options)
    paths = [os.fspath(path) for files in (*nodes, *relationships) for path in files.paths]
    return db.import_csv(
        nodes, relationships, format=form, on_error=options.on_error, progress=over_files(progress, paths)
    )


def _import_table(db: Database, options: argparse.Namespace, progress: Bar) -> dict[str, Any]:
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
        progress=progress,
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
