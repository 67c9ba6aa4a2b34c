"""How many relationships match a pattern, asked between writes of every kind."""

from __future__ import annotations

from itertools import product

import hoplite

WRITES = (
    "CREATE (:A {i: 1})-[:R]->(:B {i: 2})-[:S]->(:A:B {i: 3})",
    "MATCH (a:A), (b:B) CREATE (a)-[:R]->(b)",
    "MATCH (n {i: 1}) SET n:B",
    "MATCH (:B)-[r:S]->() DELETE r",
    "MATCH (n:A:B {i: 3}) REMOVE n:A",
    "CREATE (:C)-[:R]->(:C)",
    "MATCH (n {i: 2}) DETACH DELETE n",
)


def test_counts_follow_every_write() -> None:
    db = hoplite.open()
    for write in WRITES:
        db.run(write)
        graph = db._graph.snapshot()
        occurring = {}
        for start, type, end in product((None, "A", "B", "C"), ("R", "S"), (None, "A", "B", "C")):
            pattern = f"({'' if start is None else ':' + start})-[r:{type}]->({'' if end is None else ':' + end})"
            (count,) = db.run(f"MATCH {pattern} WITH collect(r) AS all RETURN size(all)").value()
            assert graph.pattern_count(start, type, end) == count, (write, pattern)
            if count and start and end:
                occurring[start, type, end] = count
        assert graph.patterns() == occurring, write
