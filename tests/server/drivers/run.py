"""The official drivers of other languages and cypher-shell against `hoplite serve`.

    python -m tests.server.drivers.run [--only javascript --only go] [--rows 1000000]

Everything is installed into build/drivers. What is missing on this machine is left out, and named.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCES = Path(__file__).parent
ROOT = SOURCES.parents[2]
BUILD = ROOT / "build" / "drivers"
_SHELL = "org.neo4j:cypher-shell:5.26.12"
_LIMIT_S = 1200
_SERVE = "import sys; from hoplite.cli import main; raise SystemExit(main(['serve', '--port', '0', *sys.argv[1:]]))"


class Unavailable(Exception):
    """A driver that cannot be had here; the message says what is missing."""


@contextmanager
def serving(*options: str) -> Iterator[tuple[str, int]]:
    """A server of its own process: its address, and its process id."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _SERVE, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()
            process.wait(60)


def _need(*tools: str) -> None:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        raise Unavailable(f"{', '.join(missing)} is not installed")


def _call(command: list[str], folder: Path, what: str, given: str | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_LIMIT_S, input=given)
    if done.returncode:
        raise AssertionError(f"{what} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def _install(command: list[str], folder: Path, stamp: str) -> None:
    """Once; where it fails, the driver is not to be had."""
    done = folder / f".{stamp}"
    if not done.exists():
        made = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_LIMIT_S)
        if made.returncode:
            raise Unavailable(f"{' '.join(command)} failed: {made.stdout[-500:]}{made.stderr[-500:]}")
        done.touch()


def _laid_out(name: str, build: Path) -> Path:
    folder = build / name
    shutil.copytree(SOURCES / name, folder, dirs_exist_ok=True)
    return folder


def javascript(uri: str, rows: int, build: Path = BUILD) -> None:
    """Under node over TCP, and the build for browsers over a WebSocket."""
    _need("node", "npm")
    folder = _laid_out("javascript", build)
    _install(["npm", "install", "--no-audit", "--no-fund"], folder, "installed")
    _call(["node", "common.js", uri, str(rows)], folder, "common.js")
    _call(["node", "browser.js", uri], folder, "browser.js")


def go(uri: str, rows: int, build: Path = BUILD) -> None:
    """Go's driver."""
    _need("go")
    folder = _laid_out("go", build)
    _install(["go", "mod", "tidy"], folder, "tidied")
    _install(["go", "build", "-o", "common", "."], folder, "built")
    _call([str(folder / "common"), uri, str(rows)], folder, "main.go")


def java(uri: str, rows: int, build: Path = BUILD) -> None:
    """Java's driver."""
    _need("java", "mvn")
    folder = _laid_out("java", build)
    _install(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libraries"], folder, "installed")
    _call(["java", "-cp", "libraries/*", "Common.java", uri, str(rows)], folder, "Common.java")


def cypher_shell(uri: str, rows: int, build: Path = BUILD) -> None:
    """Neo4j's own shell: statements, a transaction, and a long result."""
    _need("java", "mvn")
    folder = build / "cypher-shell"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(_SHELL_POM, encoding="utf-8")
    _install(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libraries"], folder, "installed")
    script = (
        "CREATE (:Shell {name: 'Grüße'});\n:begin\nCREATE (:Shell);\n:rollback\n"
        "MATCH (n:Shell) RETURN count(n) AS n;\nSHOW INDEXES;\nCALL db.labels();\n"
        f"UNWIND range(1, {rows}) AS x RETURN x;\n"
    )
    command = ["java", "-cp", "libraries/*", "org.neo4j.shell.Main", "-a", uri, "-u", "neo4j", "-p", "any"]
    printed = _call([*command, "--format", "plain"], folder, "cypher-shell", script).splitlines()
    if printed[:2] != ["n", "1"] or printed[-1] != str(rows):
        raise AssertionError(f"cypher-shell printed {printed[:6]} ... {printed[-2:]}")


_SHELL_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>hoplite</groupId><artifactId>shell</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>{_SHELL.split(":")[0]}</groupId><artifactId>{_SHELL.split(":")[1]}</artifactId>
    <version>{_SHELL.split(":")[2]}</version>
  </dependency></dependencies>
</project>
"""

DRIVERS: dict[str, Callable[[str, int], None]] = {
    "javascript": javascript, "go": go, "java": java, "cypher-shell": cypher_shell,
}  # fmt: skip


def _megabytes(pid: int) -> str:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return "?"
    return str(int(status.partition("VmRSS:")[2].split()[0]) // 1024)


def main() -> None:
    """Run them one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=DRIVERS, default=[])
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    failed = False
    for name in options.only or DRIVERS:
        with serving() as (uri, pid):
            before = _megabytes(pid)
            try:
                DRIVERS[name](uri, options.rows)
                said = f"ok, the server held {before} MB before and {_megabytes(pid)} MB after"
            except Unavailable as problem:
                said = f"left out: {problem}"
            except AssertionError as problem:
                failed, said = True, f"FAILED: {problem}"
        print(f"{name}: {said}", flush=True)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
