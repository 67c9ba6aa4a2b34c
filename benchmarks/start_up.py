"""The cost of the first answer: fresh processes that import a library, open a database, ask once and end.

    python -m benchmarks.start_up                      # with a folder of 10 million relationships, 170 MB
    python -m benchmarks.start_up --relationships 0    # without one

All programs run in turn, round after round, so that a slow minute of the machine affects all. Reported are the CPU time
of the whole process, the minimum of all rounds, and its ratio to `import numpy`. Bytecode is compiled beforehand, as in
an install, into a separate folder. Engines that are not installed are skipped.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import hoplite

_ASK = "db.run('RETURN 1 AS x').data()"
_PROGRAMS = {  # title -> the module it needs, and the program
    "Python": ("sys", "pass"),
    "import numpy": ("numpy", "import numpy"),
    "Hoplite": ("hoplite", f"import hoplite; db = hoplite.open(); {_ASK}"),
    "hoplite query": ("hoplite", "from hoplite.cli import main; main(['query', 'RETURN 1 AS x'])"),
    "sqlite3": ("sqlite3", "import sqlite3; sqlite3.connect(':memory:').execute('SELECT 1').fetchall()"),
    "kglite": ("kglite", "import kglite; kglite.KnowledgeGraph().cypher('RETURN 1 AS x').to_list()"),
    "Ladybug": ("ladybug", "import ladybug as l; l.Connection(l.Database()).execute('RETURN 1 AS x').get_all()"),
    "Kuzu": ("kuzu", "import kuzu as k; k.Connection(k.Database()).execute('RETURN 1 AS x').get_all()"),
    "DuckDB": ("duckdb", "import duckdb; duckdb.connect().execute('SELECT 1').fetchall()"),
    "import neo4j": ("neo4j", "import neo4j"),
}


def make_folder(path: Path, relationships: int) -> None:
    """A database on disk with random relationships, ten for each node."""
    nodes = max(relationships // 10, 1)
    random = np.random.default_rng(1)
    ends = {side: random.integers(0, nodes, relationships) for side in ("start", "end")}
    with hoplite.open(path) as db:
        db.load(nodes={"N": {"id": np.arange(nodes)}}, relationships={("N", "R", "N"): ends})


def cpu_seconds(program: str, environment: Mapping[str, str]) -> float:
    """CPU time of a fresh process that runs a program."""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"this program failed: {program}")
    return used.ru_utime + used.ru_stime


def measure(programs: Mapping[str, str], rounds: int, bytecode: str) -> dict[str, float]:
    """The minimum CPU time of each program; a first round, which compiles, does not count."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    least = dict.fromkeys(programs, float("inf"))
    for number in range(rounds + 1):
        for title, program in programs.items():
            seconds = cpu_seconds(program, environment)
            if number:
                least[title] = min(least[title], seconds)
    return least


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--relationships", type=int, default=10_000_000, help="in a folder; 0: none")
    options = parser.parse_args()
    programs = {title: program for title, (module, program) in _PROGRAMS.items() if find_spec(module) is not None}
    with tempfile.TemporaryDirectory() as scratch:
        if options.relationships:
            folder = Path(scratch) / "graph.hop"
            make_folder(folder, options.relationships)
            programs[f"Hoplite, {options.relationships:,} relationships on disk"] = (
                f"import hoplite; db = hoplite.open({str(folder)!r}); {_ASK}; db.close()"
            )
        found = measure(programs, options.rounds, str(Path(scratch) / "bytecode"))
    print("| | CPU ms | of import numpy |\n|---|---|---|")
    for title, seconds in found.items():
        print(f"| {title} | {seconds * 1000:.0f} | {seconds / found['import numpy']:.2f} |")


if __name__ == "__main__":
    main()
