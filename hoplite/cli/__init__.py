"""The `hoplite` command: `query`, `shell`, `import`, `export`, `verify`, `recover`, `stats`, `compact`, `diff`, `mcp`,
`ask`, `eval`, `serve`, `ui`, `demo`. Each part loads what it needs on first use.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from hoplite import __version__
from hoplite.cli.arguments import Commands
from hoplite.cli.ask import add_ask_command
from hoplite.cli.diff import add_diff_command
from hoplite.cli.disk import add_disk_commands
from hoplite.cli.evaluate import add_eval_command
from hoplite.cli.exporting import add_export_command
from hoplite.cli.importing import add_import_command
from hoplite.cli.mcp import add_mcp_command
from hoplite.cli.opening import MEMORY, UsageError, add_database_options, add_limit_options, open_database, parameter
from hoplite.cli.serving import add_serve_commands


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, or 1 if it failed with one clear message on stderr."""
    options = _commands().parse(sys.argv[1:] if arguments is None else arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except UsageError as error:
        return _fail(str(error))
    except BrokenPipeError:
        # `hoplite query ... | head`: the reader has gone, which is not a failure. What is still buffered is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        return _fail("interrupted")
    except ModuleNotFoundError as missing:
        from hoplite.extras import missing_package

        message = missing_package(f"`hoplite {options.command_name}`", missing)
        if message is None:
            raise
        return _fail(message)
    except Exception as error:
        from neo4j.exceptions import DriverError, Neo4jError

        if isinstance(error, Neo4jError):
            return _fail(f"{error.code}\n{error.message}")
        if isinstance(error, DriverError | ValueError):
            return _fail(str(error))
        raise


def _fail(message: str) -> int:
    from hoplite.cli.render import visible

    print(f"hoplite: {visible(message)}", file=sys.stderr)
    return 1


def _commands() -> Commands:
    commands = Commands(__version__)
    query = commands.add_parser("query", help="run one query and print its rows")
    query.add_argument("database", nargs="?", default=MEMORY, metavar="DB", help=f"a folder, or {MEMORY} (the default)")
    query.add_argument("query", metavar="CYPHER", help="the query, or - to read it from standard input")
    query.add_argument("--format", choices=("table", "json", "jsonl", "csv"), default="table", help="table")
    query.add_argument("--param", type=parameter, action="append", default=[], metavar="NAME=VALUE",
                       help="a parameter; VALUE is parsed as JSON if possible, else it is text")  # fmt: skip
    add_database_options(query)
    add_limit_options(query)
    query.set_defaults(command=_query)

    shell = commands.add_parser("shell", help="run queries interactively")
    shell.add_argument("database", nargs="?", default=MEMORY, metavar="DB", help=f"a folder, or {MEMORY} (the default)")
    add_database_options(shell)
    add_limit_options(shell)
    shell.set_defaults(command=_shell)

    add_import_command(commands)
    add_export_command(commands)
    add_disk_commands(commands)
    add_diff_command(commands)
    add_mcp_command(commands)
    add_ask_command(commands)
    add_eval_command(commands)
    add_serve_commands(commands)

    warm = commands.add_parser("warm", help="compile the hop kernels before a query needs them")
    warm.set_defaults(command=_warm)

    demo = commands.add_parser("demo", help="a short tour on the sample graph")
    demo.set_defaults(command=_demo)
    return commands


def _query(options: argparse.Namespace) -> int:
    from hoplite.cli.answer import hops_text, notification_lines, write_plan, write_rows
    from hoplite.cli.render import visible
    from hoplite.cli.shown_values import showing_session, shown_rows

    text = sys.stdin.read() if options.query == "-" else options.query
    with (
        open_database(options) as db,
        showing_session(db, timeout=options.timeout, max_rows=options.max_rows, read_only=options.read_only) as session,
    ):
        result = session.run(text, dict(options.param))
        write_rows(result, shown_rows(result), options.format, sys.stdout)
        ending = result.end()
        hops = hops_text(db, result)
    write_plan(ending, hops, options.format, sys.stdout, sys.stderr)
    for line in notification_lines(ending):
        print(f"hoplite: {visible(line)}", file=sys.stderr)
    return 0


def _shell(options: argparse.Namespace) -> int:
    from hoplite.cli.shell import run_shell

    with open_database(options, create=not options.read_only) as db:
        return run_shell(db, timeout=options.timeout, max_rows=options.max_rows, read_only=options.read_only)


def _warm(options: argparse.Namespace) -> int:
    from hoplite.cli.progress import progress_bar
    from hoplite.engine.hops.compiling import fill_cache

    with progress_bar("Compiling kernels", "kernels") as progress:
        folder = fill_cache(progress)
    print(f"Compiled kernels are in {folder}")
    return 0


def _demo(options: argparse.Namespace) -> int:
    from hoplite.cli.demo import run_demo

    run_demo()
    return 0
