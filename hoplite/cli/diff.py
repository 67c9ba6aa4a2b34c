"""`hoplite diff`: the same queries on Hoplite and on a live Neo4j, with a table, a JSON file or an HTML page of the
differences. The exit status is 1 if there are any."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hoplite.cli.arguments import seconds
from hoplite.cli.importing import add_server_options, import_from_server, server_auth
from hoplite.cli.opening import MEMORY, UsageError, import_file, open_database
from hoplite.cli.progress import progress_bar


def add_diff_command(commands: Any) -> None:
    diff = commands.add_parser(
        "diff",
        help="run queries here and on a live Neo4j, and compare",
        description="Run each query on both, in transactions that are rolled back, and compare columns, rows, errors "
        "and counters. The exit status is 1 if something differs.",
    )
    diff.add_argument("database", nargs="?", default=MEMORY, metavar="DB", help=f"{MEMORY} (the default)")
    diff.add_argument("--neo4j", required=True, metavar="URI", help="such as bolt://localhost:7687")
    diff.add_argument("--queries", required=True, type=Path, metavar="PATH",
                      help="a file of Cypher or JSON lines, or a folder of them")  # fmt: skip
    graph = diff.add_mutually_exclusive_group()
    graph.add_argument("--import", dest="import_graph", action="store_true", help="import the server's graph first")
    graph.add_argument("--graph", type=Path, metavar="FILE", help="load this graph here; the server has it already")
    add_server_options(diff.add_argument_group("server"))
    report = diff.add_argument_group("report")
    report.add_argument("--json", type=Path, metavar="FILE", help="write the report as JSON")
    report.add_argument("--html", type=Path, metavar="FILE", help="write it as a page with rows side by side")
    report.add_argument("--all", action="store_true", help="show equal answers too")
    report.add_argument("--notifications", action="store_true", help="compare notifications too")
    report.add_argument("--timeout", type=seconds, default=60.0, metavar="SECONDS", help="for each query; 60")
    diff.set_defaults(command=_diff, sample=False, imported=None)


def _diff(options: argparse.Namespace) -> int:
    from hoplite.differ.run import diff

    if options.database == MEMORY and not (options.import_graph or options.graph):
        raise UsageError("The graph is empty, so there is nothing to compare: give --import, or --graph FILE.")
    with open_database(options) as db:
        if options.import_graph:
            import_from_server(db, options.neo4j, options)
        elif options.graph:
            import_file(db, options.graph)
        with progress_bar("Comparing", "queries") as progress:
            report = diff(
                db,
                options.neo4j,
                options.queries,
                auth=server_auth(options),
                database=options.server_database,
                notifications=options.notifications,
                timeout=options.timeout,
                progress=progress,
            )
    report.print(sys.stdout, everything=options.all)
    if options.json:
        options.json.write_text(report.to_json(), encoding="utf-8")
    if options.html:
        options.html.write_text(report.to_html(), encoding="utf-8")
    return report.exit_code
