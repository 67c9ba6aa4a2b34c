"""`hoplite export`: a database in, files out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from hoplite.cli.opening import UsageError, add_database_options, open_database
from hoplite.cli.progress import progress_bar

KINDS = ("jsonl", "csv", "parquet", "cypher", "triples", "ntriples")
FOLDERS = ("csv", "parquet")
ENTITIES = "nodes and relationships"


def add_export_command(commands: Any) -> None:
    exporting = commands.add_parser(
        "export",
        help="write a graph to files",
        description="Write a graph as JSON lines (.jsonl, .jsonl.gz), as CSV files for neo4j-admin or Parquet files in"
        " a folder, as a script of Cypher statements (.cypher, .cypher.gz), as triples separated by tabs, of names"
        " under the key `id`, or as N-Triples (.nt, .nt.gz). `hoplite import` reads them all.",
    )
    exporting.add_argument("kind", choices=KINDS)
    exporting.add_argument("database", metavar="DB", help="a folder, or :memory: with --import or --sample")
    exporting.add_argument(
        "target", metavar="TARGET", help="a file, or - for standard output; for csv and parquet a folder"
    )
    exporting.add_argument("--gzip", action="store_true", help="compress CSV files")
    add_database_options(exporting)
    exporting.set_defaults(command=_export, read_only=True)


def _export(options: argparse.Namespace) -> int:
    from hoplite.cli.render import counted
    from hoplite.storage.exporters.files import is_special

    streamed = options.target == "-"
    if streamed and options.kind in FOLDERS:
        raise UsageError(f"{options.kind} is written to a folder of files: name one instead of -.")
    target = sys.stdout if streamed else options.target
    with open_database(options) as db, progress_bar(f"Exporting to {options.target}", ENTITIES) as progress:
        exporters: dict[str, Callable[..., Any]] = {
            "jsonl": db.export_jsonl,
            "parquet": db.export_parquet,
            "cypher": db.export_cypher,
            "triples": db.export_triples,
            "ntriples": db.export_ntriples,
        }
        if options.kind == "csv":
            done = db.export_csv(options.target, compress=options.gzip, progress=progress)
        else:
            done = exporters[options.kind](target, progress=progress)
    for note in done.get("notes", []):
        print(f"hoplite: {note}", file=sys.stderr)
    if not streamed:
        # /dev/stdout, or a pipe that another program reads: what was written must not be followed by words.
        out = sys.stderr if is_special(options.target) and options.kind not in FOLDERS else sys.stdout
        what = f"{counted(done['nodes'], 'node')} and {counted(done['relationships'], 'relationship')}"
        print(f"{what} written to {options.target}", file=out)
    return 0
