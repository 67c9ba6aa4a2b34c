"""Patterns that are counted in a graph on disk: over entries that are written down where they are small."""

from __future__ import annotations

from pathlib import Path

import pytest

import hoplite
from hoplite.engine.hops import numba_relations
from hoplite.engine.hops.interface import Check, Hop
from hoplite.engine.hops.numba_relations import Relation

_CYCLES = "MATCH (a:N)-[:R]-(b)-[:R]-(c)-[:R]-(a) WHERE a <> c RETURN count(*)"
_CHAIN = "MATCH (a:N)-[:R]->(b)-[:R]->(c:N)-[:S]->(d) RETURN count(*)"


@pytest.mark.parametrize(
    ("partitions", "most_bytes", "is_written"), [(1, 1 << 20, True), (3, 1 << 20, True), (1, 0, False), (3, 0, False)]
)
def test_entries_are_written_down_where_they_are_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partitions: int, most_bytes: int, is_written: bool
) -> None:
    made: list[Hop] = []
    written = numba_relations.written

    def noted(hop: Hop, check: Check) -> Relation:
        made.append(hop)
        return written(hop, check)

    monkeypatch.setattr(numba_relations, "written", noted)
    monkeypatch.setattr(numba_relations, "_MOST_FROM_DISK", most_bytes)
    with hoplite.open(tmp_path / "graph.hop", partitions=partitions) as db:
        db.run("UNWIND range(0, 299) AS i CREATE (:N {i: i})").consume()
        for kind, factors in (("R", (2, 3, 6)), ("S", (3,))):
            for factor in factors:
                pairs = "UNWIND range(0, 299) AS i MATCH (a:N {i: i}), (b:N {i: (i * $f + 1) % 60})"
                db.run(f"{pairs} CREATE (a)-[:{kind}]->(b)", f=factor).consume()
        expected = [[row[0] for row in db.run(query).values()] for query in (_CYCLES, _CHAIN)]
    made.clear()
    with hoplite.open(tmp_path / "graph.hop", partitions=partitions, backend="numba") as db:
        assert [[row[0] for row in db.run(query).values()] for query in (_CYCLES, _CHAIN)] == expected
    assert expected[0][0] > 0
    assert bool(made) == is_written
