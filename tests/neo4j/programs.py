"""Random programs that write, on Hoplite and on a live Neo4j: rows, counters, errors and the graphs afterwards.

    python -m tests.neo4j.programs --uri bolt://localhost:7687 --seed 1 --count 5000

A program is its seed: a statement that makes a graph and five that change it (`random_programs.py`). Each statement is
committed. A difference is made small by shortening its list of choices. The server's database is emptied.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from neo4j import Driver, GraphDatabase, Query, Session
from neo4j.exceptions import Neo4jError

import hoplite
from tests.neo4j.choices import Choices, shrunk
from tests.neo4j.program_defects import explained
from tests.neo4j.random_programs import CONSTRAINTS, random_program
from tests.tck.values import render

SHRINK_ATTEMPTS = 150
PROGRESS_SECONDS = 60.0
LOCKED_SECONDS = 10.0
_KEYS = ("id", "x", "y", "s", "k", "j", "w", "l", "p3", "p4", "p5", "p6", "p7", "p8", "p9")
_KNOWN_KEYS = f"CREATE (n {{{', '.join(f'{key}: 0' for key in _KEYS)}}}) DELETE n"
_GRAPH = (
    "MATCH (n) RETURN COLLECT { UNWIND labels(n) AS l RETURN l ORDER BY l } AS labels, properties(n) AS held",
    "MATCH (a)-[r]->(b) RETURN properties(a) AS a, type(r) AS type, properties(r) AS held, properties(b) AS b",
)
# Rows of nodes, or relationships, that no order tells apart: from here on both may go their own ways.
_TIES = (
    "RETURN EXISTS { MATCH (n) WITH n.id AS id, count(*) AS c WHERE c > 1 } OR "
    "EXISTS { MATCH (a)-[r]->(b) WITH a, b, r.w AS w, count(*) AS c WHERE c > 1 } AS ties"
)
_COUNTED = (
    "nodes_created", "nodes_deleted", "relationships_created", "relationships_deleted", "properties_set",
    "labels_added", "labels_removed",
)  # fmt: skip

Runs = Callable[[str], Any]
Outcome = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A program whose outcomes differ."""

    seed: int
    program: tuple[str, ...]
    ours: list[Outcome]
    theirs: list[Outcome]

    def __str__(self) -> str:
        lines = [f"seed {self.seed}"]
        told = (*self.program[: len(self.ours) - 1], "the graph behind it")
        for statement, mine, other in zip(told, self.ours, self.theirs, strict=True):
            lines.append(f"  {'  ' if mine == other else '! '}{statement}")
            if mine != other:
                lines += [f"      Hoplite: {' '.join(mine)[:600]}", f"      Neo4j:   {' '.join(other)[:600]}"]
        return "\n".join(lines)


def compare_programs(
    driver: Driver, seeds: Sequence[int], report: Callable[[object], None] | None = None, *, fast: bool = False
) -> tuple[list[Finding], dict[str, int]]:
    """The differences found, and how many programs had which verdict; `fast` leaves programs as long as they are."""
    found: list[Finding] = []
    counts: dict[str, int] = {}
    told = time.monotonic()
    with driver.session() as session:
        for statement in (_KNOWN_KEYS, *CONSTRAINTS):
            session.run(statement).consume()
    for number, seed in enumerate(seeds):
        if report is not None and time.monotonic() > told + PROGRESS_SECONDS:
            told = time.monotonic()
            report(f"{number} of {len(seeds)}, {counts}")
        choices = Choices(random.Random(seed))
        program = random_program(choices)
        ours, theirs = outcomes(driver, program)
        verdict = "equal"
        if ours != theirs:
            verdict = explained(driver, program, ours, theirs, partial(outcomes, driver)) or "unexplained"
        if verdict == "unexplained":
            found.append(Finding(seed, program, ours, theirs) if fast else _shrink(driver, seed, choices.made))
            if report is not None:
                report(found[-1])
        counts[verdict] = counts.get(verdict, 0) + 1
    return found, counts


def outcomes(driver: Driver, program: Sequence[str]) -> tuple[list[Outcome], list[Outcome]]:
    """What both make of a program, statement by statement as long as they agree, and of the graph it leaves."""
    ours: list[Outcome] = []
    theirs: list[Outcome] = []
    with hoplite.open() as db, driver.session() as session:
        _empty(driver, session)
        for statement in (_KNOWN_KEYS, *CONSTRAINTS):
            db.run(statement).consume()
        for statement in program:
            ours.append(_outcome(db.run, statement))
            theirs.append(_outcome(session.run, statement))
            if theirs[-1][0].startswith("Neo.DatabaseError"):
                _end_leftovers(driver)
            mine, other = (_graph(run) for run in (db.run, session.run))
            if mine != other or ours[-1] != theirs[-1]:
                ours.append(mine)
                theirs.append(other)
                break
            if any(record["ties"] for record in db.run(_TIES)):
                break
    return ours, theirs


def _empty(driver: Driver, session: Session) -> None:
    """Delete everything."""
    try:
        session.run(Query("MATCH (n) DETACH DELETE n", timeout=LOCKED_SECONDS)).consume()
    except Neo4jError:
        _end_leftovers(driver)
        session.run("MATCH (n) DETACH DELETE n").consume()


def _end_leftovers(driver: Driver) -> None:
    """CALL IN TRANSACTIONS that ended in a DatabaseError may have left a transaction whose locks nobody releases."""
    driver.execute_query(
        "SHOW TRANSACTIONS YIELD transactionId AS t, currentQuery AS q WHERE q = '' "
        "TERMINATE TRANSACTIONS t YIELD message RETURN message"
    )


def _outcome(run: Runs, statement: str) -> Outcome:
    try:
        result = run(statement)
        rows = sorted(render(list(record.values())) for record in result)
        counters = result.consume().counters
        counted = [f"{name}={count}" for name in _COUNTED if (count := getattr(counters, name))]
        return ("; ".join(rows), ", ".join(counted))
    except Neo4jError as error:
        return (f"{error.code}", "")
    except Exception as error:
        return (f"{type(error).__name__}: {error}", "")


def _graph(run: Runs) -> Outcome:
    return tuple("; ".join(sorted(render(list(row.values())) for row in run(query))) for query in _GRAPH)


def _shrink(driver: Driver, seed: int, made: Sequence[int]) -> Finding:
    def differs(choices: Sequence[int]) -> bool:
        program = random_program(Choices(choices))
        ours, theirs = outcomes(driver, program)
        return ours != theirs and explained(driver, program, ours, theirs, partial(outcomes, driver)) is None

    program = random_program(Choices(shrunk(made, differs, SHRINK_ATTEMPTS)))
    return Finding(seed, program, *outcomes(driver, program))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uri", default="bolt://localhost:7687")
    parser.add_argument("--seed", type=int, default=0, help="of the first program; those after it count on")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--fast", action="store_true", help="do not make differences small")
    options = parser.parse_args()
    began = time.perf_counter()
    with GraphDatabase.driver(options.uri, notifications_min_severity="OFF") as driver:
        seeds = range(options.seed, options.seed + options.count)
        found, counts = compare_programs(driver, seeds, lambda told: print(told, flush=True), fast=options.fast)
    shown = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    print(f"{options.count} programs from seed {options.seed} in {time.perf_counter() - began:.0f} s: {shown}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
