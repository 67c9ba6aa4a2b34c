"""Command-line options in, an open database out."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hoplite.cli.arguments import count, seconds
from hoplite.cli.progress import BYTES, progress_bar

if TYPE_CHECKING:
    from hoplite.api.database import Database

MEMORY = ":memory:"


class UsageError(Exception):
    """Something that cannot be done; the message says what can."""


def add_database_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("database")
    group.add_argument("--sample", action="store_true", help="the biomedical sample graph that comes with Hoplite")
    formats = "JSON lines (.jsonl) or triples (.tsv), also gzipped"
    group.add_argument(
        "--import", dest="imported", type=Path, metavar="FILE", help=f"load a graph into memory first: {formats}"
    )
    group.add_argument("--memory", metavar="SIZE", help="how much of a database on disk to hold, such as 512MB")
    group.add_argument(
        "--import-folder",
        type=Path,
        metavar="FOLDER",
        help="the folder that LOAD CSV and APOC may read files from, and APOC write to",
    )


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits")
    group.add_argument("--timeout", type=seconds, metavar="SECONDS", help="stop a query after this many seconds")
    group.add_argument("--max-rows", type=count, metavar="N", help="stop a query that gives more rows")
    group.add_argument("--read-only", action="store_true", help="refuse queries that would change the graph")


def open_database(arguments: argparse.Namespace, *, create: bool = False) -> Database:
    """The database of the options; one on disk must exist, unless it is to be created."""
    import hoplite

    place: str = arguments.database
    options = vars(arguments)
    import_folder = options.get("import_folder")
    if arguments.sample:
        if arguments.imported or place != MEMORY:
            raise UsageError("--sample opens a separate database in memory: do not give a path or --import with it.")
        from hoplite.sample import load_sample

        return load_sample(import_folder=import_folder)
    if arguments.imported and place != MEMORY:
        raise UsageError(
            "--import loads a graph into memory: do not give a path with it. To add a file to a database, use"
            f" `hoplite import KIND {arguments.imported} {place}`."
        )
    if place == MEMORY:
        db = hoplite.open(import_folder=import_folder)
    elif create or Path(place).exists():
        read_only, memory = options.get("read_only", False), options.get("memory")
        db = hoplite.open(place, read_only=read_only, memory=memory, import_folder=import_folder)
    else:
        raise UsageError(f"{place}: there is no database here. `hoplite import` or `hoplite shell` creates one.")
    if arguments.imported:
        import_file(db, arguments.imported)
    return db


def import_file(db: Database, path: Path, kind: str | None = None) -> None:
    """Load a file with a progress bar on stderr (only if that is a terminal)."""
    kind = kind or ("triples" if {".tsv", ".txt"} & set(path.suffixes) else "jsonl")
    with progress_bar(f"Importing {path.name}", BYTES) as progress:
        if kind == "triples":
            db.import_triples(path, progress=progress)
        else:
            db.import_jsonl(path, progress=progress)


def parameter(text: str) -> tuple[str, Any]:
    """`name=value`; the value is JSON if it can be parsed as such, else text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form name=value")
    from hoplite.values.driver import from_driver

    try:
        parsed = json.loads(value)
        from_driver(parsed)
    except json.JSONDecodeError:
        return name, value
    except (ValueError, TypeError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"${name}: {error}") from None
    except RecursionError:
        raise argparse.ArgumentTypeError(f"${name}: lists and maps are nested too deeply") from None
    return name, parsed
