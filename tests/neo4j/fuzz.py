"""Differential fuzzing: random queries on random graphs, answered by Hoplite and by a live Neo4j.

    python -m tests.neo4j.fuzz --uri bolt://localhost:7687 --seed 7 --count 1000

Each difference is shrunk to a small graph and query, and printed as a case for tests/queries. The server's database is
emptied and filled again and again: Neo4j reads what a transaction itself has made in other ways (and less rightly:
a scan over relationships of its own transaction misses some where they are deleted meanwhile), so graphs are committed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neo4j import Driver, GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

import hoplite
from hoplite.differ.answers import Answer, Limits, failed_answer, read_answer
from hoplite.differ.compare import DISTINCT_LISTS, EQUAL_NUMBERS, Comparison, Verdict, compare
from hoplite.differ.report import shown_rows
from hoplite.differ.shape import IN_THE_MIDDLE
from tests.neo4j.choices import Choices, shrunk
from tests.neo4j.explained import ORDER_OF_EVALUATION, fails_on_the_way_to_nothing
from tests.neo4j.known_defects import known_defect
from tests.neo4j.random_graphs import RandomGraph, random_graph
from tests.neo4j.random_queries import random_query

LIMITS = Limits(timeout=5.0, max_rows=20_000)
SHRINK_ATTEMPTS = 250
QUERIES_PER_GRAPH = 10
PROGRESS_SECONDS = 60.0
_LOAD = (
    "MATCH (n) DETACH DELETE n",
    "UNWIND $nodes AS row CREATE (n:$(row.labels)) SET n = row.properties",
    "UNWIND $relationships AS row MATCH (a {id: row.start}) MATCH (b {id: row.end}) "
    "CREATE (a)-[r:$(row.type)]->(b) SET r = row.properties",
)


# A null for a key is counted where the database has ever had the key. A server remembers those of all earlier graphs.
_KNOWN_KEYS = "CREATE (n {id: 0, x: 0, s: 0, l: 0, m: 0, d: 0, y: 0, z: 0, w: 0, nope: 0}) DELETE n"


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference, as small as it was made."""

    seed: int
    graph: RandomGraph
    query: str
    comparison: Comparison
    first: Comparison  # before it was made small

    def __str__(self) -> str:
        lines = [f"seed {self.seed}: {self.comparison.verdict.value}: {self.comparison.reason[:300]}"]
        if self.comparison.verdict is not self.first.verdict:  # it did not come again
            lines += [f"  at first: {self.first.verdict.value}: {self.first.reason[:300]}", self.first.query]
        lines += [f"  {self.graph.create_statement() or 'an empty graph'}", *(f"  {q}" for q in self.query.split("\n"))]
        for side, rows in (("Hoplite", self.comparison.only_hoplite), ("Neo4j", self.comparison.only_neo4j)):
            lines += [f"    only {side}: {' | '.join(row)}" for row in shown_rows(rows)]
        return "\n".join(lines)


def fuzz(driver: Driver, seeds: Sequence[int], report: Any = None) -> tuple[list[Finding], dict[str, int]]:
    """The differences found, and how many cases had which verdict. A case is its seed."""
    found: list[Finding] = []
    counts: dict[str, int] = {}
    server = _Server(driver)
    told = time.monotonic()
    for number, seed in enumerate(seeds):
        if report is not None and time.monotonic() > told + PROGRESS_SECONDS:
            told = time.monotonic()
            report(f"{number} of {len(seeds)}, {len(found)} unexplained")
        graph_choices, query_choices = choices_of(seed)
        graph, query = random_graph(graph_choices), random_query(query_choices)
        result = _compare(server, graph, query.text)
        verdict = result.verdict.value
        failure = result.hoplite.failure
        if failure is not None and failure.is_limit:  # a walk over every trail of a dense graph, here or there
            verdict = "out of time"
        elif _differs(result) and (cause := _known_cause(result)):
            verdict = cause
        elif _differs(result):
            verdict = "unexplained"
            finding = _shrink(server, seed, graph_choices.made, query_choices.made, result)
            found.append(finding)
            if report is not None:
                report(finding)
        counts[verdict] = counts.get(verdict, 0) + 1
    return found, counts


def _differs(result: Comparison) -> bool:
    """What the differ takes for open, it takes so by its looks; random queries leave open a LIMIT at the end only, and
    which of several equal rows stands for them, where lists have no order or 1 equals 1.0."""
    if result.verdict is Verdict.NONDETERMINISTIC and result.reason not in (DISTINCT_LISTS, EQUAL_NUMBERS):
        return not result.reason.startswith("LIMIT or SKIP") or result.reason == IN_THE_MIDDLE
    return result.verdict.is_difference


def _known_cause(result: Comparison) -> str | None:
    """Why the two may differ, or Neo4j is wrong; None where somebody must find out."""
    if defect := known_defect(result.query, result):
        return f"known defect of Neo4j: {defect}"
    return ORDER_OF_EVALUATION if fails_on_the_way_to_nothing(result) else None


def choices_of(seed: int) -> tuple[Choices, Choices]:
    """Those of the graph, which a few cases share, and those of the query."""
    return Choices(random.Random(seed // QUERIES_PER_GRAPH)), Choices(random.Random(seed))


def _compare(server: _Server, graph: RandomGraph, query: str) -> Comparison:
    server.hold(graph)
    with hoplite.open(partitions=1 + len(graph.relationships) % 3) as db:
        db.run(_KNOWN_KEYS).consume()
        if statement := graph.create_statement():
            db.run(statement).consume()
        return compare(_Here(db), server, "", query, {}, LIMITS)


def _shrink(
    server: _Server, seed: int, graph_made: Sequence[int], query_made: Sequence[int], first: Comparison
) -> Finding:
    def differs(graph_list: Sequence[int], query_list: Sequence[int]) -> bool:
        result = _compare(server, random_graph(Choices(graph_list)), random_query(Choices(query_list)).text)
        same = result.verdict is first.verdict and _differs(result)
        return same and _known_cause(result) is None

    graph_made = shrunk(graph_made, lambda made: differs(made, query_made), SHRINK_ATTEMPTS // 4)
    query_made = shrunk(query_made, lambda made: differs(graph_made, made), SHRINK_ATTEMPTS // 2)
    graph_made = shrunk(graph_made, lambda made: differs(made, query_made), SHRINK_ATTEMPTS // 4)
    graph, query = random_graph(Choices(graph_made)), random_query(Choices(query_made)).text
    return Finding(seed, graph, query, _compare(server, graph, query), first)


def _name(entity: Any) -> str | None:
    number = entity.get("id")
    return None if number is None else f"id {number}"


class _Here:
    """Hoplite with the graph in it."""

    def __init__(self, db: hoplite.Database) -> None:
        self._db = db

    def answer(self, query: str, parameters: Mapping[str, Any], limits: Limits) -> Answer:
        began = time.perf_counter()
        transaction = self._db.begin(timeout=limits.timeout, max_rows=limits.max_rows)
        try:
            return read_answer(transaction.run(query), lambda text: transaction.run(text), _name, limits, began)
        except (Neo4jError, DriverError) as error:
            return failed_answer(error, began)
        except Exception as error:  # whatever else leaves the engine is a defect, too
            return failed_answer(Neo4jError(f"{type(error).__name__}: {error}"), began)
        finally:
            transaction.rollback()


class _Server:
    """A Neo4j that holds one graph after the other."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._held: str | None = None
        driver.execute_query(_KNOWN_KEYS)

    def hold(self, graph: RandomGraph) -> None:
        """Put this graph into the database in place of what is there."""
        wanted = repr(graph)
        if wanted == self._held:
            return
        nodes = [{"labels": list(labels), "properties": held} for labels, held in graph.nodes]
        relationships = [
            {"start": start, "type": kind, "end": end, "properties": held}
            for start, kind, end, held in graph.relationships
        ]
        with self._driver.session() as session, session.begin_transaction() as transaction:
            for query in _LOAD:
                transaction.run(query, nodes=nodes, relationships=relationships).consume()
            transaction.commit()
        self._held = wanted

    def answer(self, query: str, parameters: Mapping[str, Any], limits: Limits) -> Answer:
        began = time.perf_counter()
        with (
            self._driver.session() as session,
            session.begin_transaction(timeout=limits.timeout) as transaction,
        ):
            try:
                return read_answer(transaction.run(query), lambda text: transaction.run(text), _name, limits, began)
            except (Neo4jError, DriverError) as error:
                return failed_answer(error, began)
            finally:
                transaction.rollback()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uri", default="bolt://localhost:7687")
    parser.add_argument("--seed", type=int, default=0, help="of the first case; those after it count on")
    parser.add_argument("--count", type=int, default=300)
    options = parser.parse_args()
    began = time.perf_counter()
    with GraphDatabase.driver(options.uri, notifications_min_severity="OFF") as driver:
        seeds = range(options.seed, options.seed + options.count)
        found, counts = fuzz(
            driver, seeds, lambda told: print(told, end="\n\n" * isinstance(told, Finding) or "\n", flush=True)
        )
    shown = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    print(f"{options.count} cases from seed {options.seed} in {time.perf_counter() - began:.0f} s: {shown}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
