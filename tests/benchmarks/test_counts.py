"""The counts of the benchmark: Cypher and SQL mean the same, and what is wrong with an answer is said."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.counts import Measured, tables, verdict
from benchmarks.counts_engines import HopliteCounter
from benchmarks.counts_graph import Graph, forum_graph, real_graph
from benchmarks.counts_patterns import PATTERNS, SMALL

_SECONDS = 60.0


@pytest.fixture(scope="module")
def graph() -> Graph:
    return forum_graph(0.002)


@pytest.fixture(scope="module")
def counter(graph: Graph) -> Iterator[HopliteCounter]:
    counter = HopliteCounter()
    counter.load(graph)
    yield counter
    counter.close()


@pytest.fixture(scope="module")
def connection(graph: Graph) -> Iterator[sqlite3.Connection]:
    with sqlite3.connect(":memory:") as connection:
        types: dict[str, list[str]] = {}
        for ends, (start, end) in graph.relationships.items():
            name = "_".join(ends).lower()
            types.setdefault(ends[1].lower(), []).append(name)
            connection.execute(f"CREATE TABLE {name}(a, b)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", zip(start.tolist(), end.tolist(), strict=True))
            connection.execute(f"CREATE INDEX {name}_a ON {name}(a, b)")
            connection.execute(f"CREATE INDEX {name}_b ON {name}(b, a)")
        for name, parts in types.items():
            turned = " UNION ALL SELECT b, a FROM person_knows_person" if name == "knows" else ""
            every = " UNION ALL ".join(f"SELECT a, b FROM {part}" for part in parts)
            connection.execute(f"CREATE TABLE {name} AS {every}{turned}")
            connection.execute(f"CREATE INDEX {name}_a ON {name}(a, b)")
            connection.execute(f"CREATE INDEX {name}_b ON {name}(b, a)")
        yield connection


@pytest.mark.parametrize("key", PATTERNS)
def test_cypher_and_sql_count_the_same(key: str, counter: HopliteCounter, connection: sqlite3.Connection) -> None:
    (expected,) = connection.execute(PATTERNS[key].sql).fetchone()
    assert counter.count(PATTERNS[key], _SECONDS) == expected
    assert expected > 0 or key in ("q2", "q3")


def test_files_of_lsqb_are_read(tmp_path: Path) -> None:
    files = {
        "Country": ["0"],
        "City": ["7", "8"],
        "Tag": ["0", "1"],
        "Person": ["100", "200", "300"],
        "City_isPartOf_Country": ["7|0", "8|0"],
        "Person_isLocatedIn_City": ["100|7", "200|7", "300|8"],
        "Person_knows_Person": ["100|200", "200|300", "300|100"],
        "Person_hasInterest_Tag": ["100|1", "300|0"],
    }
    for name, lines in files.items():
        with gzip.open(tmp_path / f"{name}.csv.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(["a header", *lines]) + "\n")
    counter = HopliteCounter()
    counter.load(real_graph(tmp_path))
    # Three persons who know each other in one country: six ways round; six ways to a friend's friend, of whom two have
    # an interest.
    assert [counter.count(PATTERNS[key], _SECONDS) for key in SMALL] == [6, 4, 0]
    counter.close()


def test_counts_that_differ_are_said() -> None:
    found = Measured("a graph", "")
    found.counts = {"hoplite": {"q1": 3, "q2": "TimeoutError: late"}, "duckdb": {"q1": 4, "q2": 7}}
    found.rounds = {"hoplite": {"q1": [0.1, 0.2, 0.3]}, "duckdb": {"q1": [0.1], "q2": [0.5]}}
    found.first = {"hoplite": {"q1": 1.0}, "duckdb": {}}
    assert len(found.differing()) == 2
    assert verdict(found).startswith("Counts differ")
    medians, first = tables(found)
    assert [row[1:] for row in medians.rows] == [
        ["200", "100", "DuckDB, SQL 0.50x"],
        ["-", "500", "-"],
        ["200", "600", "-"],
    ]
    assert [row[1:] for row in first.rows] == [["1,000", "-"], ["-", "-"]]
