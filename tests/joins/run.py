"""Random joins in any number: `python -m tests.joins.run --count 20000 [--seed 1]`.

Every query is compared with the plain matcher, those of one graph in five without the rewrite rules. Graphs are small,
so what is meant for large ones is made to begin early: sums for all nodes, compiled loops, several threads.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import hoplite
from hoplite.engine.hops import numba_matches, numba_relations, threads
from hoplite.engine.operators import branches, guided, matches
from hoplite.planner import optimise
from tests.joins.matcher import TooMany, answer
from tests.joins.patterns import Graph, Query, random_graph, random_query
from tests.planner.test_rules_on_and_off import NEEDED

_QUERIES_A_GRAPH = 20


@contextmanager
def as_if_large(seed: int) -> Iterator[None]:
    """Small graphs are treated as large ones are."""
    with (
        patch.object(branches, "_FEW_NODES", 1),
        patch.object(guided, "_FEW_STEPS", 1 + seed % 3),
        patch.object(matches, "_FEW_NODES", 0),
        patch.object(matches, "_LONG_WAY", 2),
        patch.object(numba_matches, "_ALONE", 16),
        patch.object(numba_matches, "_FIRST_ROWS", 2),
        patch.object(numba_matches, "_FIRST_ROWS_BY_END", 2),
        patch.object(numba_matches, "_PAIRS_AT_ONCE", seed % 4),
        patch.object(numba_relations, "_NODES", 8),
        patch.object(threads, "thread_count", lambda: 1 + seed % 3),
    ):
        yield


@contextmanager
def without_rules() -> Iterator[None]:
    """Plans keep what rewrite rules would change."""
    with patch.object(optimise, "RULES", tuple(rule for rule in optimise.RULES if rule.__name__ in NEEDED)):
        yield


def database(graph: Graph, seed: int) -> hoplite.Database:
    """The graph in memory: in one partition or several, folded or partly in a delta, hops compiled or not."""
    db = hoplite.open(partitions=(1, 1, 3)[seed % 3], backend=("auto", "auto", "numba", "numba")[seed % 4])
    if seed % 2:
        db.run("CREATE INDEX FOR (n:A) ON (n.i)").consume()
    for number, node in enumerate(graph.nodes):
        labels = "".join(":" + label for label in sorted(node.labels))
        db.run(f"CREATE ({labels} {{i: $i, x: $x}})", i=number, x=node.x).consume()
    half = len(graph.relationships) // 2 * (seed % 2)
    for part in (graph.relationships[:half], graph.relationships[half:]):
        for relationship in part:
            db.run(
                f"MATCH (a {{i: $a}}), (b {{i: $b}}) CREATE (a)-[:{relationship.type}]->(b)",
                a=relationship.start,
                b=relationship.end,
            ).consume()
        db.checkpoint()
    return db


def got(db: hoplite.Database, query: Query) -> Counter[tuple[Any, ...]]:
    return counted(tuple(row) for row in db.run(query.text()).values())


def counted(rows: Iterator[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """How often each row occurs."""
    return Counter(tuple(map(_comparable, row)) for row in rows)


def _comparable(value: Any) -> Any:
    """Lists in any order; no integer is equal to a float; the last digits of an average depend on the order of rows."""
    if isinstance(value, list):
        return tuple(sorted(value))
    return type(value), float(f"{value:.13g}") if isinstance(value, float) else value


def differences(seed: int) -> tuple[list[str], int]:
    """What differs among the queries of one random graph, and how many have too many rows for the matcher."""
    source = random.Random(seed)
    graph = random_graph(source)
    found, skipped = [], 0
    with as_if_large(seed), database(graph, seed) as db:
        for _ in range(_QUERIES_A_GRAPH):
            query = random_query(source)
            try:
                want = counted(iter(answer(graph, query)))
            except TooMany:
                skipped += 1
                continue
            have = got(db, query)
            if want != have:
                found.append(f"seed {seed}: {query.text()}\n  {graph}\n  want {want}\n  got  {have}")
    return found, skipped


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    compared = wrong = skipped = 0
    for seed in range(options.seed, options.seed + -(-options.count // _QUERIES_A_GRAPH)):
        with without_rules() if seed % 5 == 0 else nullcontext():
            found, beyond = differences(seed)
        for difference in found:
            print(difference, flush=True)
        wrong, skipped, compared = wrong + len(found), skipped + beyond, compared + _QUERIES_A_GRAPH - beyond
        if seed % 50 == 0:
            print(f"up to seed {seed}: {compared} compared, {skipped} skipped, {wrong} differences", flush=True)
    print(f"{wrong} differences in {compared} queries; {skipped} have too many rows for the matcher")
    return min(wrong, 1)


if __name__ == "__main__":
    raise SystemExit(main())
