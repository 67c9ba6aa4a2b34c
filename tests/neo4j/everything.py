"""Everything that needs a live Neo4j, on one server: the marked tests, then the demo graphs in both directions with
their queries.

    python -m tests.neo4j.everything [--limit 20] [--outcomes FILE]

NEO4J_URI names the server (its database is emptied); without it one is started. If there is none, this says why, and
fails only on CI. Without a limit every machine-written query runs, which takes half an hour or more; outcomes are kept,
and an interrupted run continues where it stopped as long as the code is the same.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.neo4j.server import Unavailable, running
from tests.suites.data import REPOSITORY, data_folder

OUTCOMES = REPOSITORY / "build" / "neo4j" / "outcomes.jsonl"
HEAP = "1g"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, help="queries of each demo graph; all of them")
    parser.add_argument("--outcomes", type=Path, default=OUTCOMES, help=f"{OUTCOMES.relative_to(REPOSITORY)}")
    options = parser.parse_args()
    if uri := os.environ.get("NEO4J_URI"):
        return _run(uri, options.limit, options.outcomes)
    with tempfile.TemporaryDirectory() as folder:
        try:
            with running(Path(folder), heap=HEAP) as server:
                return _run(server.uri, options.limit, options.outcomes)
        except Unavailable as error:
            print(f"No live Neo4j, so nothing was compared: {error}", file=sys.stderr)
            print("Set NEO4J_URI, or install Java 17 or newer and Maven.", file=sys.stderr)
            return 1 if _on_ci() else 0


def _on_ci() -> bool:
    return os.environ.get("CI") == "true"


def _run(uri: str, limit: int | None, outcomes: Path) -> int:
    settings = {**os.environ, "NEO4J_URI": uri}
    tests = [sys.executable, "-m", "pytest", "-q", "--durations=10", "-m", "neo4j", "tests/neo4j"]
    status = subprocess.run(tests, env=settings, cwd=REPOSITORY, check=False).returncode
    if not (data_folder() / "demo").is_dir():
        print("No demo graphs (HOPLITE_DATA): the round trip and its queries were not run.", file=sys.stderr)
        return status or int(_on_ci())
    roundtrip = [sys.executable, "-m", "tests.neo4j.roundtrip", "--uri", uri]
    roundtrip += ["--outcomes", str(outcomes)] if limit is None else ["--limit", str(limit)]
    return subprocess.run(roundtrip, env=settings, cwd=REPOSITORY, check=False).returncode or status


if __name__ == "__main__":
    sys.exit(main())
