"""Random joins in any number: `python -m tests.joins.run --count 20000 [--seed 1]`."""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import hoplite
from tests.joins.matcher import answer
from tests.joins.patterns import Graph, Query, random_graph, random_query

_QUERIES_A_GRAPH = 20


def database(graph: Graph, seed: int) -> hoplite.Database:
    """The graph in memory: in one partition or several, folded or partly in a delta, hops compiled or not."""
    db = hoplite.open(partitions=(1, 1, 3)[seed % 3], backend=("auto", "auto", "numba", "numba")[seed % 4])
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
    return Counter(tuple(tuple(sorted(v)) if isinstance(v, list) else v for v in row) for row in rows)


def differences(seed: int) -> list[str]:
    """What differs among the queries of one random graph."""
    source = random.Random(seed)
    graph = random_graph(source)
    found = []
    with database(graph, seed) as db:
        for _ in range(_QUERIES_A_GRAPH):
            query = random_query(source)
            want, have = counted(iter(answer(graph, query))), got(db, query)
            if want != have:
                found.append(f"seed {seed}: {query.text()}\n  {graph}\n  want {want}\n  got  {have}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong = 0
    for seed in range(options.seed, options.seed + -(-options.count // _QUERIES_A_GRAPH)):
        for difference in differences(seed):
            wrong += 1
            print(difference, flush=True)
        if seed % 50 == 0:
            print(f"up to seed {seed}: {wrong} differences", flush=True)
    print(f"{wrong} differences in {options.count} queries")
    return min(wrong, 1)


if __name__ == "__main__":
    raise SystemExit(main())
