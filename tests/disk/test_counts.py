"""Patterns that are counted in a graph on disk: over entries that are written down where the cache has room."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hoplite
from hoplite.engine.hops import numba_relations
from hoplite.engine.hops.graph_hops import hop_of
from hoplite.engine.hops.interface import Check, Hop, Side, unchecked
from hoplite.engine.hops.numba_relations import Relation

_CYCLES = "MATCH (a:N)-[:R]-(b)-[:R]-(c)-[:R]-(a) WHERE a <> c RETURN count(*)"
_CHAIN = "MATCH (a:N)-[:R]->(b)-[:R]->(c:N)-[:S]->(d) RETURN count(*)"


@pytest.mark.parametrize(
    ("partitions", "memory", "is_written"), [(1, 1 << 20, True), (3, 1 << 20, True), (1, 1, False), (3, 1, False)]
)
def test_entries_are_written_down_where_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partitions: int, memory: int, is_written: bool
) -> None:
    made: list[Hop] = []
    written = numba_relations.written

    def noted(hop: Hop, check: Check) -> Relation:
        made.append(hop)
        return written(hop, check)

    monkeypatch.setattr(numba_relations, "written", noted)
    with hoplite.open(tmp_path / "graph.hop", partitions=partitions) as db:
        db.run("UNWIND range(0, 299) AS i CREATE (:N {i: i})").consume()
        for kind, factors in (("R", (2, 3, 6)), ("S", (3,))):
            for factor in factors:
                pairs = "UNWIND range(0, 299) AS i MATCH (a:N {i: i}), (b:N {i: (i * $f + 1) % 60})"
                db.run(f"{pairs} CREATE (a)-[:{kind}]->(b)", f=factor).consume()
        expected = [[row[0] for row in db.run(query).values()] for query in (_CYCLES, _CHAIN)]
    made.clear()
    with hoplite.open(tmp_path / "graph.hop", partitions=partitions, backend="numba", memory=memory) as db:
        assert [[row[0] for row in db.run(query).values()] for query in (_CYCLES, _CHAIN)] == expected
        assert expected[0][0] > 0
        assert bool(made) == is_written
        count, before = len(made), db.stats()["cache"]
        assert [[row[0] for row in db.run(query).values()] for query in (_CYCLES, _CHAIN)] == expected
        assert len(made) == count
        if is_written:  # they count towards the budget
            assert before["used_bytes"] > sum(side.entry_count for hop in made for side in hop.sides) * 8
            db.run("MATCH (a:N {i: 0}), (b:N {i: 7}) CREATE (a)-[:R]->(b), (b)-[:S]->(a)").consume()
            changed = [[row[0] for row in db.run(query).values()] for query in (_CYCLES, _CHAIN)]
            db.checkpoint()
            assert [[row[0] for row in db.run(query).values()] for query in (_CYCLES, _CHAIN)] == changed
            assert changed[1][0] > expected[1][0]


def test_entries_make_room_for_others_and_are_written_again(tmp_path: Path) -> None:
    path = tmp_path / "graph.hop"
    numbers = np.arange(3_000)
    ends = {("N", kind, "N"): numbers * step % 3_000 for step, kind in enumerate("ABCDE", 2)}
    kinds = {kind: {"start": numbers, "end": end} for kind, end in ends.items()}
    types = ["|".join(some) for size in (1, 2, 3) for some in combinations("ABCDE", size)]
    texts = [f"MATCH (a:N)-[:{some}]-(b)-[:{some}]-(c)-[:{some}]-(d) WHERE a <> d RETURN count(*)" for some in types]
    with hoplite.open(path, partitions=1) as db:
        db.load(nodes={"N": {"id": numbers}}, relationships=kinds)
        expected = [db.run(text).value() for text in texts]
    # Room for a few of them: with two entries for each relationship, they take 60 to 160 kB each.
    with hoplite.open(path, partitions=1, backend="numba", memory=1_100_000) as db:
        for _ in range(2):
            assert [db.run(text).value() for text in texts] == expected
        cache = db.stats()["cache"]
        assert cache["evictions"] > 10
        assert cache["used_bytes"] <= 1_100_000


@pytest.mark.parametrize("partitions", [1, 3])
def test_the_cache_holds_the_entries_of_each_hop(tmp_path: Path, partitions: int) -> None:
    """By side and by types, the same as in memory."""
    chance = np.random.default_rng(5)
    tables: dict[str, Any] = {
        "nodes": {"N": {"id": np.arange(50)}},
        "relationships": {
            ("N", kind, "N"): {"start": chance.integers(0, 50, 200), "end": chance.integers(0, 50, 200)}
            for kind in "RST"
        },
    }
    with hoplite.open() as memory, hoplite.open(tmp_path / "graph.hop", partitions=partitions) as folder:
        for db in (memory, folder):
            db.load(**tables)
        snapshots = [db._graph.snapshot() for db in (memory, folder)]
        for _ in range(2):
            for types in (None, ["R"], ["S"], ["R", "T"]):
                for side in Side:
                    held, stored = (
                        numba_relations.wide_relation_of(hop_of(snapshot, side, types), unchecked)
                        for snapshot in snapshots
                    )
                    assert held is not None and stored is not None
                    assert held.begins.tolist() == stored.begins.tolist()
                    assert held.neighbours.tolist() == stored.neighbours.tolist()
                    assert len(held.relationships) == len(stored.relationships) > 0
        before = folder.stats()["cache"]
        for snapshot in snapshots:
            hop_of(snapshot, Side.OUTGOING, ["R"]).prepared.clear()
        assert numba_relations.known_relation(hop_of(snapshots[1], Side.OUTGOING, ["R"])) is not None
        assert folder.stats()["cache"]["used_bytes"] == before["used_bytes"]
        folder.run("CREATE (:N {id: 50})").consume()
        longer = numba_relations.wide_relation_of(hop_of(folder._graph.snapshot(), Side.OUTGOING, ["R"]), unchecked)
        assert longer is not None and len(longer.begins) == 52


@pytest.mark.parametrize("partitions", [1, 3])
def test_counts_follow_every_kind_of_write(tmp_path: Path, partitions: int) -> None:
    """Entries of the partitions do not stand for what was written since, nor for another snapshot."""
    numbers = np.arange(300)
    ends = np.concatenate([(numbers * factor + 1) % 60 for factor in (2, 3, 6)])
    relationships = {
        ("N", "R", "N"): {"start": np.tile(numbers, 3), "end": ends},
        ("N", "S", "N"): {"start": numbers, "end": numbers * 3 % 60},
    }
    writes = [
        "CREATE (:N {id: 1000})",
        "MATCH (a:N {id: 5})-[r:R]->() DELETE r",
        "MATCH (a:N {id: 1000}), (b:N {id: 3}) CREATE (a)-[:R]->(b), (b)-[:R]->(a), (b)-[:S]->(b)",
        "MATCH (a:N {id: 7}) DETACH DELETE a",
    ]
    with (
        hoplite.open() as memory,
        hoplite.open(tmp_path / "graph.hop", partitions=partitions, backend="numba") as folder,
    ):
        for db in (memory, folder):
            db.load(nodes={"N": {"id": numbers}}, relationships=relationships)
        for number, write in enumerate(["RETURN 1", *writes]):
            begun = folder.begin()
            before = [begun.run(query).value() for query in (_CYCLES, _CHAIN)]
            for db in (memory, folder):
                db.run(write).consume()
            for _ in range(2):
                counts = [[db.run(query).value() for query in (_CYCLES, _CHAIN)] for db in (memory, folder)]
                assert counts[0] == counts[1], write
                assert min(counts[0]) > [0]
            if number % 2:
                folder.checkpoint()
                assert [folder.run(query).value() for query in (_CYCLES, _CHAIN)] == counts[0]
            assert [begun.run(query).value() for query in (_CYCLES, _CHAIN)] == before
            begun.rollback()
