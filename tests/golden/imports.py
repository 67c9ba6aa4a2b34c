"""`python -m tests.golden.imports`: every demo graph is imported; its counts must be those of graphs.json."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import hoplite
from tests.suites.data import data_path


def counts_of(db: hoplite.Database) -> dict[str, Any]:
    def pairs(query: str) -> dict[str, int]:
        return dict(db.run(query).values())

    return {
        "nodes": db.run("MATCH (n) RETURN count(n)").value()[0],
        "relationships": db.run("MATCH ()-[r]->() RETURN count(r)").value()[0],
        "labels": pairs("MATCH (n) UNWIND labels(n) AS label RETURN label, count(*)"),
        "types": pairs("MATCH ()-[r]->() RETURN type(r), count(*)"),
    }


def main() -> int:
    failed = 0
    expected = json.loads(data_path("demo", "graphs.json").read_text())
    for name, wanted in expected.items():
        began = time.perf_counter()
        with hoplite.open() as db:
            db.import_jsonl(data_path("demo", name, "graph.jsonl.gz"))
            seconds = time.perf_counter() - began
            got = counts_of(db)
        differing = [key for key in got if got[key] != wanted[key]]
        failed += bool(differing)
        verdict = f"differs in {', '.join(differing)}" if differing else "as in graphs.json"
        print(f"{name:22} {got['nodes']:7} nodes {got['relationships']:7} relationships  {seconds:5.1f} s  {verdict}")
    print(f"{len(expected) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
