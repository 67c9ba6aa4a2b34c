"""`hoplite mcp`: a Model Context Protocol server for a database, for one client on stdio or many over HTTP."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from hoplite.cli.arguments import count, positive, seconds
from hoplite.cli.arguments import port as port_number
from hoplite.cli.opening import MEMORY, add_database_options, open_database


def add_mcp_command(commands: Any) -> None:
    mcp = commands.add_parser(
        "mcp",
        help="serve a database to models over the Model Context Protocol",
        description="Serve a database over the Model Context Protocol: on standard input and output, or with --http.",
    )
    mcp.add_argument("database", nargs="?", default=MEMORY, metavar="DB", help=f"a folder, or {MEMORY} (the default)")
    mcp.add_argument("--write", action="store_true", help="offer write_neo4j_cypher too")
    mcp.add_argument("--http", type=_address, metavar="[HOST:]PORT",
                     help="serve streamable HTTP at http://HOST:PORT/mcp; HOST is 127.0.0.1 if not given")  # fmt: skip
    add_database_options(mcp)
    limits = mcp.add_argument_group("limits of each call")
    limits.add_argument("--tokens", type=positive, default=6_000, metavar="N", help="of an answer; 6,000")
    limits.add_argument("--max-rows", type=count, default=1_000, metavar="N", help="of an answer; 1,000")
    limits.add_argument("--timeout", type=seconds, default=10.0, metavar="SECONDS", help="10")
    limits.add_argument("--query-memory", default="256MB", metavar="SIZE", help="256MB")
    limits.add_argument("--estimated-rows", type=float, default=10_000_000, metavar="N",
                        help="refuse statements that are expected to make more; 10,000,000")  # fmt: skip
    mcp.set_defaults(command=_mcp)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    try:
        return host or "127.0.0.1", port_number(port)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form HOST:PORT: {error}") from None


def _mcp(options: argparse.Namespace) -> int:
    import_module("mcp")  # before the packages that come with it, so that an error names the one of the extra
    from hoplite.models.mcp_server import make_server
    from hoplite.models.mcp_tools import Settings

    options.read_only = not options.write
    settings = Settings(
        options.write, options.tokens, options.max_rows, options.timeout, options.query_memory, options.estimated_rows
    )
    with open_database(options) as db:
        server = make_server(db, settings)
        if options.http is None:
            server.run("stdio")
        else:
            host, port = options.http
            server.run("streamable-http", host=host, port=port)
    return 0
