"""All that needs a live Neo4j, on one server: the marked tests, then the demo graphs there and back with their queries.

    python -m tests.neo4j.everything [--limit 40]

NEO4J_URI names the server (its database is emptied); without it one is started. Where none can be had, this says why,
and fails on CI only.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.neo4j.server import Unavailable, running
from tests.suites.data import data_folder

LIMIT = 40


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=LIMIT, help=f"queries of each demo graph; {LIMIT}")
    limit = parser.parse_args().limit
    if uri := os.environ.get("NEO4J_URI"):
        return _run(uri, limit)
    with tempfile.TemporaryDirectory() as folder:
        try:
            with running(Path(folder)) as server:
                return _run(server.uri, limit)
        except Unavailable as error:
            print(f"No live Neo4j, so nothing was compared: {error}", file=sys.stderr)
            return 1 if os.environ.get("CI") == "true" else 0


def _run(uri: str, limit: int) -> int:
    settings = {**os.environ, "NEO4J_URI": uri}
    tests = [sys.executable, "-m", "pytest", "-q", "-m", "neo4j", "tests/neo4j"]
    status = subprocess.run(tests, env=settings, check=False).returncode
    if not (data_folder() / "demo").is_dir():
        print("No demo graphs (HOPLITE_DATA): the round trip and its queries were not run.")
        return status
    roundtrip = [sys.executable, "-m", "tests.neo4j.roundtrip", "--uri", uri, "--limit", str(limit)]
    return subprocess.run(roundtrip, env=settings, check=False).returncode or status


if __name__ == "__main__":
    sys.exit(main())
