"""The demo graphs into a live Neo4j, back over Bolt into Hoplite, and machine-written queries on both.

    python -m tests.neo4j.roundtrip --uri bolt://localhost:7687 [--graph movies] [--limit 50] [--html report.html]

Needs the recorded suites (HOPLITE_DATA). Prints a line for each graph and the differences; the exit status is 0 where
graphs are equal and no query differs. The server's database is emptied.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

from neo4j import Driver, GraphDatabase

import hoplite
from hoplite.differ.compare import Comparison
from hoplite.differ.queries import NamedQuery
from hoplite.differ.report import Report
from tests.golden.corpus import EXPLAIN, demo_rows
from tests.neo4j.graphs import equal_graphs, load_into
from tests.suites.data import data_path, json_lines

TIMEOUT_SECONDS = 10.0


def run(driver: Driver, graphs: list[str] | None, limit: int | None) -> tuple[bool, list[Comparison]]:
    """Whether all graphs came back equal, and the comparisons of all queries."""
    queries: dict[str, list[NamedQuery]] = {}
    for line in json_lines(data_path("cypher", "llm_queries.jsonl.gz")):
        graph = line["graph"] or EXPLAIN
        if graph != EXPLAIN and (not graphs or graph in graphs):
            queries.setdefault(graph, []).append(NamedQuery(f"{graph} {line['id']}", line["cypher"]))
    everything_equal, comparisons = True, list[Comparison]()
    for graph, asked in sorted(queries.items()):
        if limit is not None:
            asked = random.Random(graph).sample(asked, min(limit, len(asked)))
        driver.execute_query("MATCH (n) CALL (n) { DETACH DELETE n } FINISH")
        load_into(driver, *demo_rows(graph))
        with hoplite.open() as db:
            done = db.import_neo4j(driver)
            unequal = equal_graphs(db, driver)
            everything_equal &= not unequal and not done.changes
            report = hoplite.diff(db, driver, asked, timeout=TIMEOUT_SECONDS, max_rows=50_000)
        comparisons += report.comparisons
        state = f"{len(unequal)} entities differ, such as {unequal[0]}" if unequal else "equal"
        print(
            f"{graph}: {done.nodes} nodes, {done.relationships} relationships, {state}; {report.summary()}", flush=True
        )
    return everything_equal, comparisons


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uri", required=True)
    parser.add_argument("--graph", action="append", help="only this one; may be repeated")
    parser.add_argument("--limit", type=int, help="so many queries of each graph, always the same ones")
    parser.add_argument("--html", type=Path, help="write a report with rows side by side")
    options = parser.parse_args()
    with GraphDatabase.driver(options.uri, notifications_min_severity="OFF") as driver:
        equal, comparisons = run(driver, options.graph, options.limit)
    report = Report(tuple(comparisons))
    report.print(sys.stdout)
    if options.html:
        options.html.write_text(report.to_html(), encoding="utf-8")
    return 0 if equal and not report.differences else 1


if __name__ == "__main__":
    sys.exit(main())
