"""Search and hops in one query: hits of an index, then their neighbourhood, in columns."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import hoplite

_VECTORS = "CALL db.index.vector.queryNodes('v', 5, $given) YIELD node, score"
_WORDS = "CALL db.index.fulltext.queryNodes('t', $given, {limit: 5}) YIELD node, score"
_HOPS = "MATCH (node)-[:R]->(x) RETURN node.id AS hit, x.id AS found, score"
_NODES = 400


def _filled(database: Any, neighbours: int) -> Any:
    """Every node has so many neighbours: those that follow it."""
    choose = np.random.default_rng(1)
    starts = np.repeat(np.arange(_NODES), neighbours)
    ends = (starts + np.tile(np.arange(1, neighbours + 1), _NODES)) % _NODES
    texts = [f"word{number % 9} of {number}" for number in range(_NODES)]
    nodes = {"D": {"id": np.arange(_NODES), "e": choose.standard_normal((_NODES, 4)), "t": texts}}
    database.load(nodes=nodes, relationships={("D", "R", "D"): {"start": starts, "end": ends}})
    database.run("CREATE VECTOR INDEX v FOR (n:D) ON (n.e)").consume()
    database.run("CREATE FULLTEXT INDEX t FOR (n:D) ON EACH [n.t]").consume()
    return database


@pytest.mark.parametrize(("search", "given"), [(_VECTORS, [1.0, 0.5, 0.0, -1.0]), (_WORDS, "word3")])
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_hits_and_their_neighbours_come_in_one_query(search: str, given: Any, where: str, tmp_path: Path) -> None:
    path = tmp_path / "kg.hop" if where == "disk" else None
    with hoplite.open(path) as database:
        _filled(database, 3)
        hits = {row["hit"]: row["score"] for row in database.run(f"{search} RETURN node.id AS hit, score", given=given)}
        assert len(hits) == 5
        rows = [tuple(row) for row in database.run(f"{search} {_HOPS}", given=given)]
        expected = [(hit, (hit + step) % _NODES, score) for hit, score in hits.items() for step in (1, 2, 3)]
        assert sorted(rows) == sorted(expected)
        far = f"{search} MATCH (node)-[:R*1..2]->(x) RETURN node.id AS hit, count(DISTINCT x) AS found"
        assert {row["hit"]: row["found"] for row in database.run(far, given=given)} == dict.fromkeys(hits, 6)


@pytest.mark.parametrize(("search", "given"), [(_VECTORS, [1.0, 0.5, 0.0, -1.0]), (_WORDS, "word3")])
def test_no_call_of_python_is_made_for_a_row(search: str, given: Any) -> None:
    counts = []
    for neighbours in (2, 200):
        with hoplite.Database(backend="numpy") as database:
            _filled(database, neighbours)
            for _ in range(2):  # the first run makes what is made once
                calls = [0]

                def count(_frame: FrameType, event: str, _: Any, calls: list[int] = calls) -> None:
                    calls[0] += event == "call"

                result = database.run(f"{search} {_HOPS}", given=given)
                sys.setprofile(count)
                try:
                    table = result.to_arrow()
                finally:
                    sys.setprofile(None)
            assert table.num_rows == 5 * neighbours
            counts.append(calls[0])
    assert counts[1] < counts[0] + 100, counts  # for 990 rows more
