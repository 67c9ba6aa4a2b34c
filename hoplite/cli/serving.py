"""`hoplite serve` and `hoplite ui`: a database for every driver, and in the browser."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hoplite.cli.arguments import positive, seconds
from hoplite.cli.opening import MEMORY, UsageError, add_database_options, add_limit_options, open_database
from hoplite.collector import held_back

if TYPE_CHECKING:
    from hoplite.server.server import Server
    from hoplite.server.settings import Settings

_LOOPBACK, _PORT = "127.0.0.1", 7687


def add_serve_commands(commands: Any) -> None:
    serve = commands.add_parser("serve", help="serve a database over Bolt, to every driver and to the browser")
    _add_common(serve, _PORT)
    serve.add_argument(
        "--host", default=_LOOPBACK, help="the address to listen on; 127.0.0.1, which only this machine can reach"
    )
    access = serve.add_argument_group("access")
    access.add_argument("--auth-file", type=Path, metavar="FILE",
                        help="lines user:password; or HOPLITE_AUTH=user/password in the environment")  # fmt: skip
    access.add_argument(
        "--no-auth", action="store_true", help="do not authenticate clients, even if other machines can connect"
    )
    access.add_argument("--tls-cert", type=Path, metavar="FILE", help="a certificate with its chain, in PEM")
    access.add_argument("--tls-key", type=Path, metavar="FILE", help="its key, in PEM")
    access.add_argument("--host-name", action="append", default=[], metavar="NAME",
                        help="a host name by which browsers may address this server")  # fmt: skip
    access.add_argument("--allow-origin", action="append", default=[], metavar="ORIGIN",
                        help="pages from this origin may connect too: https://example.org")  # fmt: skip
    access.add_argument("--diff", action="store_true", help="let clients compare queries with a Neo4j that they name")
    more = serve.add_argument_group("limits of connections")
    more.add_argument("--max-connections", type=positive, default=400, metavar="N", help="400")
    more.add_argument(
        "--idle-timeout", type=seconds, metavar="SECONDS", help="close a connection that is silent for this long"
    )
    more.add_argument("--grace", type=seconds, default=10.0, metavar="SECONDS",
                      help="for running statements when the server stops; 10")  # fmt: skip
    serve.set_defaults(command=_serve)

    ui = commands.add_parser("ui", help="open a database in the browser")
    _add_common(ui, 0)
    ui.add_argument("--no-browser", action="store_true", help="print the address, and open nothing")
    ui.set_defaults(command=_ui)


def _add_common(parser: argparse.ArgumentParser, port: int) -> None:
    parser.add_argument("database", nargs="?", default=MEMORY, metavar="DB",
                        help=f"a folder, created if missing, or {MEMORY} (the default)")  # fmt: skip
    shown = f"{port}" if port else "any that is free"
    parser.add_argument(
        "--port", type=int, default=port, help=f"the port to listen on, 0 for any that is free; {shown}"
    )
    parser.add_argument("--model", metavar="NAME@URL",
                        help="an OpenAI-compatible endpoint to ask: qwen3:4b@http://localhost:11434/v1")  # fmt: skip
    add_database_options(parser)
    add_limit_options(parser)
    parser.add_argument("--query-memory", metavar="SIZE", help="how much a statement may hold, such as 512MB")


def _serve(options: argparse.Namespace) -> int:
    with held_back():
        from hoplite.server.settings import Settings

    access, neighbours = _access(options), _neighbours(options)
    settings = Settings(
        host=options.host,
        port=options.port,
        access=access,
        neighbours=neighbours,
        tls=_tls(options),
        most_connections=options.max_connections,
        idle=options.idle_timeout,
        grace=options.grace,
    )

    def ready(server: Server) -> None:
        if options.host != _LOOPBACK or not access.is_required:
            who = "clients must authenticate" if access.is_required else "clients need not authenticate"
            print(f"hoplite: listening on {options.host}, {who}", file=sys.stderr)
        print(f"{server.uri}", flush=True)

    return _run(options, settings, options.diff, ready)


def _ui(options: argparse.Namespace) -> int:
    with held_back():
        from hoplite.server.settings import Settings

    def ready(server: Server) -> None:
        address = f"http://{_LOOPBACK}:{server.port}/"
        print(address, flush=True)
        if not options.no_browser:
            import webbrowser

            webbrowser.open(address)

    return _run(options, Settings(port=options.port), True, ready)


def _run(options: argparse.Namespace, settings: Settings, diff: bool, ready: Callable[[Server], None]) -> int:
    """Serve until interrupted."""
    import asyncio
    import logging
    from dataclasses import replace

    with held_back():
        from hoplite.server.procedures import Offer, add_procedures
        from hoplite.server.server import Server
        from hoplite.storage.disk.cache import byte_count

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="hoplite: %(message)s")
    with open_database(options, create=not options.read_only) as db:
        limits = db._limits.within(options.timeout, options.max_rows, options.read_only)
        if options.query_memory is not None:
            limits = replace(limits, memory_bytes=byte_count(options.query_memory, "query_memory"))
        add_procedures(db, Offer(limits.read_only, options.model, diff))
        asyncio.run(_until_ended(Server(db, settings, limits), ready))
    return 0


async def _until_ended(server: Server, ready: Callable[[Server], None]) -> None:
    import asyncio
    import signal

    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, ended.set)
        except NotImplementedError:  # Windows: Ctrl-C raises KeyboardInterrupt there
            break
    await server.start()
    ready(server)
    try:
        await ended.wait()
    finally:
        await server.stop()


def _access(options: argparse.Namespace) -> Any:
    from hoplite.server.access import VARIABLE, Access, users_from_environment, users_from_file

    users = users_from_environment() if options.auth_file is None else users_from_file(options.auth_file)
    if not users and not options.no_auth and not _is_loopback(options.host):
        raise UsageError(
            f"Other machines can reach {options.host}: set {VARIABLE}=user/password, or --auth-file, or --no-auth."
        )
    return Access({} if options.no_auth else users)


def _is_loopback(host: str) -> bool:
    import ipaddress

    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _neighbours(options: argparse.Namespace) -> Any:
    from hoplite.server.http import Neighbours

    return Neighbours(
        frozenset(name.lower() for name in options.host_name),
        frozenset(origin.lower().rstrip("/") for origin in options.allow_origin),
    )


def _tls(options: argparse.Namespace) -> Any:
    if options.tls_cert is None and options.tls_key is None:
        return None
    if options.tls_cert is None:
        raise UsageError("--tls-key needs --tls-cert.")
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(options.tls_cert, options.tls_key)
    except OSError as error:  # the error does not say which file it is about
        files = " and ".join(str(file) for file in (options.tls_cert, options.tls_key) if file is not None)
        raise UsageError(f"{files}: cannot read a certificate and key ({error.strerror or error})") from None
    return context
