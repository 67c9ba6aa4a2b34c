"""A live Neo4j 5.26 LTS Community with APOC core for tests: no container, no root, no installation.

    python -m tests.neo4j.server start HOME [--port N] [--heap 1g] [--password P]    prints the Bolt URI once it answers
    python -m tests.neo4j.server stop HOME

    with running(Path("scratch")) as server:
        GraphDatabase.driver(server.uri)

Maven resolves the libraries listed in pom.xml (118 MB, once; kept in $HOPLITE_NEO4J_CACHE, default
~/.cache/hoplite/neo4j-VERSION) and Java 17 or newer runs them. Data, logs and configuration live in HOME. The server
listens on the loopback interface only, without authentication unless a password is given.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

POM = Path(__file__).with_name("pom.xml")
VERSION = re.findall(r"<neo4j.version>(.+?)<", POM.read_text(encoding="utf-8"))[0]
MAIN_CLASS = "org.neo4j.server.CommunityEntryPoint"
START_SECONDS = 180.0
STOP_SECONDS = 60.0
_STARTED: dict[Path, subprocess.Popen[bytes]] = {}
_OPENED = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch")


class Unavailable(Exception):
    """No Neo4j is available; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers."""

    uri: str
    home: Path
    pid: int


@contextmanager
def running(home: Path, port: int = 0, heap: str = "1g", password: str | None = None) -> Iterator[Server]:
    """A server for the length of a `with` block."""
    server = start(home, port, heap, password)
    try:
        yield server
    finally:
        stop(home)


def start(home: Path, port: int = 0, heap: str = "1g", password: str | None = None) -> Server:
    """Start a server with its data in `home`, on a free port unless one is given, and wait until Bolt answers."""
    java = java_command()
    libraries = resolved_libraries()
    home = home.resolve()
    port = port or _free_port()
    _lay_out(home, libraries, port, password)
    command = [java, f"-Xms{heap}", f"-Xmx{heap}", "-XX:+UseG1GC"]
    command += [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED]
    # APOC is wanted twice: in plugins/ for its procedures, and on the class path for the services it registers.
    command += ["-cp", f"{libraries}{os.sep}*", MAIN_CLASS, f"--home-dir={home}", f"--config-dir={home / 'conf'}"]
    with (home / "run" / "output").open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    _STARTED[home] = process
    (home / "run" / "pid").write_text(str(process.pid), encoding="utf-8")
    server = Server(f"bolt://127.0.0.1:{port}", home, process.pid)
    try:
        _wait_for_bolt(server, process, password)
    except BaseException:
        stop(home)
        raise
    return server


def stop(home: Path) -> None:
    """Stop the server of `home`; nothing where none runs."""
    home = home.resolve()
    pid_file = home / "run" / "pid"
    if not pid_file.exists():
        return
    pid = int(pid_file.read_text(encoding="utf-8"))
    deadline = time.monotonic() + STOP_SECONDS
    process = _STARTED.pop(home, None)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
        while _is_running(pid, process):
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)
    pid_file.unlink(missing_ok=True)


def _is_running(pid: int, process: subprocess.Popen[bytes] | None) -> bool:
    if process is not None:
        return process.poll() is None  # a child of ours would stay a zombie, did nobody ask
    os.kill(pid, 0)
    return True


# --- what it takes ----------------------------------------------------------------------------------------------


def java_command() -> str:
    """The Java to run, 17 or newer: of JAVA_HOME, or on the PATH."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    if java is None:
        raise Unavailable("Neo4j needs Java 17 or newer: there is no `java` on the PATH, nor in JAVA_HOME.")
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', shown)
    if found is None or int(found.group(1)) < 17:
        raise Unavailable(f"Neo4j needs Java 17 or newer: {java} is {(shown.splitlines() or ['of no version'])[0]}")
    return java


def resolved_libraries() -> Path:
    """The folder with the server's libraries, filled by Maven the first time."""
    default = Path.home() / ".cache" / "hoplite" / f"neo4j-{VERSION}"
    libraries = Path(os.environ.get("HOPLITE_NEO4J_CACHE", default)).resolve()
    complete = libraries / "complete"
    wanted = POM.read_text(encoding="utf-8")
    if complete.exists() and complete.read_text(encoding="utf-8") == wanted:
        return libraries
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable("The libraries of Neo4j are resolved with Maven: there is no `mvn` on the PATH.")
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={libraries}"]
    done = subprocess.run([maven, "-q", "-B", "-f", str(POM), *goal], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        raise Unavailable("Maven could not resolve Neo4j:\n" + "\n".join(lines[:5]))
    complete.write_text(wanted, encoding="utf-8")
    return libraries


def _lay_out(home: Path, libraries: Path, port: int, password: str | None) -> None:
    for folder in ("conf", "data", "import", "logs", "plugins", "run"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    for plugin in libraries.glob("apoc-*.jar"):
        shutil.copy(plugin, home / "plugins")
    settings = {
        "dbms.security.auth_enabled": "false" if password is None else "true",
        "dbms.security.procedures.unrestricted": "apoc.*",
        "dbms.usage_report.enabled": "false",
        "server.default_listen_address": "127.0.0.1",
        "server.bolt.listen_address": f"127.0.0.1:{port}",
        "server.http.enabled": "false",
        "server.directories.import": "import",
        # Some queries make this Neo4j fail while it writes its error, and never answer: notice that in ten seconds.
        "server.bolt.connection_keep_alive": "5s",
        "server.bolt.connection_keep_alive_for_requests": "ALL",
        "server.bolt.connection_keep_alive_probes": "2",
        "server.memory.pagecache.size": "256m",
        "db.tx_log.rotation.retention_policy": "keep_none",
    }
    text = "".join(f"{name}={value}\n" for name, value in settings.items())
    (home / "conf" / "neo4j.conf").write_text(text, encoding="utf-8")
    # Files are read and written in the import folder only, as LOAD CSV does.
    allowed = "".join(
        f"apoc.{what}=true\n" for what in ("export.file.enabled", "import.file.enabled", "import.file.use_neo4j_config")
    )
    (home / "conf" / "apoc.conf").write_text(allowed, encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for_bolt(server: Server, process: subprocess.Popen[bytes], password: str | None) -> None:
    from neo4j import GraphDatabase
    from neo4j.exceptions import DriverError, Neo4jError

    deadline = time.monotonic() + START_SECONDS
    while True:
        if process.poll() is not None:
            raise Unavailable(f"Neo4j stopped while it started:\n{_last_words(server.home)}")
        try:
            with GraphDatabase.driver(server.uri, auth=None if password is None else ("neo4j", "neo4j")) as driver:
                if password is None:
                    driver.verify_connectivity()
                else:
                    change = "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $new"
                    driver.execute_query(change, new=password, database_="system")
            return
        except (DriverError, Neo4jError) as error:
            if time.monotonic() > deadline:
                words = _last_words(server.home)
                raise Unavailable(f"Neo4j did not answer within {START_SECONDS:.0f} s: {error}\n{words}") from error
            time.sleep(0.3)


def _last_words(home: Path) -> str:
    lines: list[str] = []
    for name in ("logs/neo4j.log", "run/output"):
        path = home / name
        if path.exists():
            text = path.read_text(encoding="utf-8", errors="replace")
            lines += [line for line in text.splitlines() if not line.lstrip().startswith("at ")][-8:]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    starting = commands.add_parser("start", help="start a server and print its URI")
    starting.add_argument("home", type=Path, metavar="HOME")
    starting.add_argument("--port", type=int, default=0, help="0, the default, is a free one")
    starting.add_argument("--heap", default="1g")
    starting.add_argument("--password", help="of the user neo4j; without one there is no authentication")
    stopping = commands.add_parser("stop", help="stop the server of HOME")
    stopping.add_argument("home", type=Path, metavar="HOME")
    options = parser.parse_args()
    if options.command == "stop":
        stop(options.home)
        return 0
    try:
        print(start(options.home, options.port, options.heap, options.password).uri)
    except Unavailable as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
