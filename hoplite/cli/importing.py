"""`hoplite import`: a file or a live Neo4j in, counts on the screen."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hoplite.cli.opening import MEMORY, UsageError, import_file, open_database, progress_bar

if TYPE_CHECKING:
    from hoplite.database import Database

KINDS = ("jsonl", "triples", "neo4j")
PASSWORD_VARIABLE = "NEO4J_PASSWORD"


def add_import_command(commands: Any) -> None:
    importing = commands.add_parser(
        "import",
        help="load a graph and say what is in it",
        description="Load a graph and print its counts. There is no format on disk yet: the graph lives as long as this"
        " command, so give --query to ask it something, or use `hoplite shell --import FILE`.",
    )
    importing.add_argument(
        "kind", choices=KINDS, help="JSON lines (APOC's export), subject-type-object, or a live Neo4j"
    )
    importing.add_argument("source", metavar="SOURCE", help="a file; for neo4j a URI such as bolt://localhost:7687")
    importing.add_argument("database", nargs="?", default=MEMORY, metavar="DB", help=f"{MEMORY} (the default)")
    importing.add_argument("--to", metavar="DB", help="the same as DB")
    importing.add_argument("--query", metavar="CYPHER", help="run this query on the imported graph")
    part = importing.add_argument_group("a part of a live Neo4j")
    part.add_argument("--label", action="append", metavar="NAME", help="only nodes with it; may be repeated")
    part.add_argument("--type", action="append", metavar="NAME", help="only relationships of it; may be repeated")
    add_server_options(part)
    importing.set_defaults(command=_import, sample=False, imported=None)


def add_server_options(group: Any) -> None:
    group.add_argument("--user", default="neo4j", help=f"with the password in ${PASSWORD_VARIABLE}")
    group.add_argument("--database", dest="server_database", metavar="NAME", help="the server's database")


def server_auth(options: argparse.Namespace) -> tuple[str, str] | None:
    """Who asks the server; None where there is no password to give."""
    password = os.environ.get(PASSWORD_VARIABLE)
    return None if password is None else (options.user, password)


def import_from_server(db: Database, uri: str, options: argparse.Namespace) -> None:
    """Import with a progress bar; what could not be taken over is said on stderr."""
    with progress_bar(f"Importing {uri}") as progress:
        done = db.import_neo4j(
            uri,
            auth=server_auth(options),
            database=options.server_database,
            labels=getattr(options, "label", None),
            types=getattr(options, "type", None),
            progress=progress,
        )
    for rule in done.skipped_rules:
        print(f"hoplite: left out: {rule}", file=sys.stderr)
    for change in done.changes:
        print(f"hoplite: the graph changed while it was imported: {change}", file=sys.stderr)


def _import(options: argparse.Namespace) -> int:
    from hoplite.cli.render import write
    from hoplite.cli.schema import print_schema

    if options.to is not None:
        if options.database != MEMORY:
            raise UsageError("Give the database once: as DB, or with --to.")
        options.database = options.to
    with open_database(options) as db:
        if options.kind == "neo4j":
            import_from_server(db, options.source, options)
        else:
            import_file(db, Path(options.source), options.kind)
        print_schema(db)
        if options.query:
            result = db.run(options.query)
            write(result.keys(), (record.values() for record in result), "table", sys.stdout)
    return 0
