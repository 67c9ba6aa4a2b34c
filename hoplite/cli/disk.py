"""`hoplite verify`, `recover`, `stats` and `compact`: a database as files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hoplite.cli.opening import UsageError
from hoplite.cli.progress import BYTES, progress_bar


def add_disk_commands(commands: Any) -> None:
    verify = commands.add_parser(
        "verify",
        help="check a database on disk for damage",
        description="Read every file of a database and check it. Exits with 1 if anything is damaged.",
    )
    verify.set_defaults(command=_verify)
    stats = commands.add_parser("stats", help="show the size of a database on disk, and what it consists of")
    stats.set_defaults(command=_stats)
    compact = commands.add_parser(
        "compact",
        help="fold the log of a database on disk into a new snapshot",
        description="Write one new snapshot of everything, begin a new log, and remove what is no longer needed.",
    )
    compact.set_defaults(command=_compact)
    recover = commands.add_parser(
        "recover",
        help="rescue what a damaged database still holds into a new one",
        description="Create a new database from everything in a damaged one that can still be read, checked by "
        "checksums, and report what is missing. Nothing is written to the damaged one. Exits with 0 if everything is "
        "there, with 3 if something is missing or could not be checked.",
    )
    recover.set_defaults(command=_recover)
    for command in (verify, recover, stats, compact):
        command.add_argument("database", type=Path, metavar="DB", help="the folder")
    recover.add_argument("to", type=Path, metavar="TO", help="the new folder, which must not exist yet")
    for command in (stats, compact):
        command.add_argument("--memory", metavar="SIZE", help="how much of it to hold at once, such as 512MB")


def _existing(path: Path) -> Path:
    if not path.is_dir():
        raise UsageError(f"{path}: there is no database here.")
    return path


def _verify(options: argparse.Namespace) -> int:
    from hoplite.storage.disk.verify import problems_of

    path = _existing(options.database)
    with progress_bar(f"Verifying {path.name}", BYTES) as progress:
        problems = problems_of(path, progress)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    print(f"{path}: no damage found")
    return 0


def _recover(options: argparse.Namespace) -> int:
    import hoplite
    from hoplite.cli.render import counted

    path = _existing(options.database)
    with progress_bar(f"Reading {path.name}", BYTES) as progress:
        done = hoplite.recover(path, options.to, progress)
    print(f"{options.to}: {counted(done.nodes, 'node')} and {counted(done.relationships, 'relationship')}")
    for title, lines in (
        ("Damaged:", done.damage),
        ("Missing:", done.missing),
        ("Recovered unchecked:", done.unchecked_files),
        ("Also:", done.notes),
    ):
        if lines:
            print(title, *(f"  {line}" for line in lines), sep="\n", file=sys.stderr)
    if done.is_complete:
        print("Everything was recovered.")
    return 0 if done.is_complete else 3


def _stats(options: argparse.Namespace) -> int:
    import hoplite

    with hoplite.open(_existing(options.database), read_only=True, memory=options.memory) as db:
        for name, value in db.stats().items():
            if isinstance(value, dict):
                value = ", ".join(f"{part} {_shown(number)}" for part, number in value.items())
            print(f"{name.replace('_', ' '):18} {_shown(value)}")
    return 0


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else "-" if value is None else str(value)


def _compact(options: argparse.Namespace) -> int:
    import hoplite

    path = _existing(options.database)
    before = _size(path)
    with hoplite.open(path, memory=options.memory) as db:
        db.checkpoint()
    print(f"{path}: {before:,} bytes before, {_size(path):,} after")
    return 0


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
