"""The demo graphs into a live Neo4j, back over Bolt into Hoplite, and machine-written queries on both.

    python -m tests.neo4j.roundtrip --uri bolt://localhost:7687 [--graph movies] [--limit 50] [--outcomes FILE]

Needs the recorded suites (HOPLITE_DATA). Each answer is compared with the other side's and with the recorded one.
Prints a line for each graph, tables by graph and by class, and what is not explained; the exit status is 0 if graphs
are equal and nothing is left unexplained. With --outcomes an interrupted run continues where it stopped. The server's
database is emptied.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from neo4j import Driver, GraphDatabase

import hoplite
from hoplite.differ.answers import Answer, Failure, HopliteSide, Limits, Neo4jSide, Side
from hoplite.differ.compare import Comparison, compare
from hoplite.differ.report import Report
from tests.golden.corpus import EXPLAIN, demo_rows, judge_error, judge_rows, not_comparable, recorded_entity
from tests.neo4j.graphs import equal_graphs, load_into
from tests.neo4j.outcomes import AGREES, NOT_RECORDED, Outcome, OutcomeFile, outcome_of, print_table, unexplained
from tests.suites.data import data_path, json_lines

LIMITS = Limits(timeout=60.0, max_rows=50_000, keep_records=True)
HARD_SECONDS = 180.0  # many times what a query of the suite takes
PROGRESS_SECONDS = 30.0


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """A machine-written query and what was recorded for it."""

    name: str
    text: str
    recorded: Mapping[str, Any]


def read_asked() -> dict[str, list[Asked]]:
    """The queries of every demo graph, also of those that have none."""
    graphs = sorted(path.name for path in data_path("demo").iterdir() if path.is_dir())
    asked: dict[str, list[Asked]] = {graph: [] for graph in graphs}
    recorded = {
        graph: {line["id"]: line for line in json_lines(path)}
        for graph in graphs
        if (path := data_path("golden", "llm") / f"{graph}.jsonl.gz").exists()
    }
    for line in json_lines(data_path("cypher", "llm_queries.jsonl.gz")):
        graph = line["graph"] or EXPLAIN
        if graph != EXPLAIN:
            asked[graph].append(Asked(f"{graph} {line['id']}", line["cypher"], recorded[graph][line["id"]]))
    return asked


class Run:
    """Graph after graph through one server."""

    def __init__(self, driver: Driver, outcomes: OutcomeFile) -> None:
        self._driver = driver
        self._outcomes = outcomes
        self.graphs_equal = True
        self.differences: list[Comparison] = []

    def graph(self, graph: str, asked: list[Asked]) -> list[Outcome]:
        """Send a graph there and back, and ask what has no outcome yet."""
        open_ones = [one for one in asked if one.name not in self._outcomes.kept]
        with self._driver.session() as session:
            session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 20000 ROWS").consume()
        names = load_into(self._driver, *demo_rows(graph))
        with hoplite.open() as db:
            done = db.import_neo4j(self._driver)
            unequal = equal_graphs(db, self._driver)
            self.graphs_equal &= not unequal and not done.changes
            state = f"{len(unequal)} entities differ, such as {unequal[0]}" if unequal else "equal there and back"
            print(f"{graph}: {done.nodes} nodes, {done.relationships} relationships, {state}", flush=True)
            self._ask(graph, db, names, open_ones)
        return [self._outcomes.kept[one.name] for one in asked]

    def _ask(self, graph: str, db: hoplite.Database, names: Mapping[str, str], asked: list[Asked]) -> None:
        assert db.source_ids is not None
        source = db.source_ids.of
        sides = _Watched(HopliteSide(db)), Neo4jSide(self._driver, None, db)
        told = time.monotonic()
        for number, one in enumerate(asked, 1):
            compared = compare(*sides, one.name, one.text, {}, LIMITS)
            here = _recorded(one, compared.hoplite, lambda entity: names.get(source(entity) or ""))
            there = _recorded(one, compared.neo4j, lambda entity: names.get(entity.element_id))
            outcome = outcome_of(compared, graph, here, there)
            self._outcomes.append(outcome)
            if outcome.is_unexplained:
                self.differences.append(_without_records(compared))
            if time.monotonic() > told + PROGRESS_SECONDS:
                told = time.monotonic()
                print(f"  {number} of {len(asked)}, {len(self.differences)} unexplained so far", flush=True)


def _recorded(asked: Asked, answer: Answer, name: Callable[[Any], str | None]) -> str:
    """How an answer relates to the recorded one, in a few words."""
    wanted = dict(asked.recorded)
    if not_comparable(wanted) or (answer.failure is not None and answer.failure.is_limit):
        return NOT_RECORDED
    if answer.failure is not None:
        verdict = judge_error(wanted, answer.failure.code, answer.failure.message)
    else:
        verdict = judge_rows(
            wanted,
            asked.text,
            answer.columns,
            answer.records,
            answer.counters or {},
            lambda entity: recorded_entity(entity, name(entity)),
        )
    return AGREES if verdict.outcome == "passed" else verdict.kind


def _without_records(compared: Comparison) -> Comparison:
    bare = {side: dataclasses.replace(getattr(compared, side), records=(), rows=()) for side in ("hoplite", "neo4j")}
    return dataclasses.replace(compared, **bare)


class _Watched:
    """Hoplite under an additional deadline of the operating system: a query that ignores both is an error."""

    def __init__(self, side: Side) -> None:
        self._side = side

    def answer(self, query: str, parameters: Mapping[str, Any], limits: Limits) -> Answer:
        began = time.perf_counter()
        try:
            with _alarm(HARD_SECONDS):
                return self._side.answer(query, parameters, limits)
        except Exception as error:  # whatever leaves the engine as no Cypher error is a defect
            failure = Failure(type(error).__name__, f"{error}\n{traceback.format_exc(limit=-4)}")
            return Answer(failure=failure, seconds=time.perf_counter() - began)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise TimeoutError(f"no end after {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uri", required=True)
    parser.add_argument("--graph", action="append", help="only this one; may be repeated")
    parser.add_argument(
        "--only", action="append", help="only this query, as it is named in the report; may be repeated"
    )
    parser.add_argument("--limit", type=int, help="so many queries of each graph, always the same ones")
    parser.add_argument("--outcomes", type=Path, help="keep outcomes in this file, and go on from those in it")
    parser.add_argument("--html", type=Path, help="write a report of what is unexplained, with rows side by side")
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    with TemporaryDirectory() as folder, GraphDatabase.driver(options.uri, notifications_min_severity="OFF") as driver:
        run = Run(driver, OutcomeFile(options.outcomes or Path(folder) / "outcomes.jsonl"))
        for graph, asked in read_asked().items():
            if options.limit is not None:
                asked = random.Random(graph).sample(asked, min(options.limit, len(asked)))
            if options.only:
                asked = [one for one in asked if one.name in options.only]
            if (options.graph and graph not in options.graph) or (options.only and not asked):
                continue
            outcomes += run.graph(graph, asked)
    print_table(outcomes, sys.stdout)
    if options.html:
        options.html.write_text(Report(tuple(run.differences)).to_html(), encoding="utf-8")
    left = unexplained(outcomes)
    print(f"\n{len(outcomes)} queries, {len(left)} unexplained; graphs {'equal' if run.graphs_equal else 'UNEQUAL'}")
    return 0 if run.graphs_equal and not left else 1


if __name__ == "__main__":
    sys.exit(main())
