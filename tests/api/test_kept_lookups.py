"""What a version of the graph keeps between statements (`Snapshot.keep`) never outlives the version."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from neo4j.exceptions import ClientError

import hoplite
from hoplite import Database
from hoplite.engine.hops.select import backend_named

BALL = "UNWIND $seeds AS x MATCH (a:N {id: x})-[:E*0..2]->(b) RETURN DISTINCT b.id AS id"
ONE = "MATCH (a:N {id: $seed}) RETURN count(a) AS c"


@pytest.fixture(params=["memory", "folder", "short of memory"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    backend_named("numba")  # compiled searches are what is kept
    settings: dict[str, Any] = {"memory": 1, "partitions": 1} if request.param == "short of memory" else {}
    path = None if request.param == "memory" else tmp_path / "graph.hop"
    with hoplite.open(path, backend="numba", **settings) as found:
        found.load(
            nodes={"N": {"id": np.arange(50)}},
            relationships={("N", "E", "N"): {"start": np.arange(49), "end": np.arange(1, 50)}},
        )
        yield found


def evicts(db: Database) -> bool:
    """Whether there was too little memory to keep anything."""
    return bool(db.stats().get("cache", {}).get("evictions"))


def ball(edges: set[tuple[int, int]], present: set[int], seeds: list[int]) -> list[int]:
    reached = set(seeds) & present
    for _ in range(2):
        reached |= {end for start, end in edges if start in reached}
    return sorted(reached)


def ids(result: hoplite.Result) -> list[int]:
    found: list[int] = np.sort(np.asarray(result.to_arrow()["id"])).tolist()
    return found


def asked(db: Database, seeds: list[int]) -> list[int]:
    """What it answers, when everything is looked up and when nothing is."""
    answers = [ids(db.run(BALL, seeds=seeds)) for _ in range(3)]
    assert all(answer == answers[0] for answer in answers)
    return answers[0]


@pytest.mark.parametrize("seed", range(5))
def test_answers_follow_every_kind_of_write(db: Database, seed: int) -> None:
    chance = random.Random(seed)
    edges = {(start, start + 1) for start in range(49)}
    present = set(range(50))
    for turn in range(25):
        start, end = chance.choice(sorted(present)), chance.choice(sorted(present))
        given = {"start": start, "end": end, "fresh": 100 + turn}
        match chance.randrange(5):
            case 0:
                db.run("MATCH (a:N {id: $start}), (b:N {id: $end}) MERGE (a)-[:E]->(b)", given)
                edges.add((start, end))
            case 1:
                db.run("MATCH (a:N {id: $start})-[r:E]->() DELETE r", given)
                edges = {edge for edge in edges if edge[0] != start}
            case 2:
                db.run("MATCH (a:N {id: $start}) CREATE (a)-[:E]->(:N {id: $fresh})", given)
                present.add(given["fresh"])
                edges.add((start, given["fresh"]))
            case 3:
                db.run("MATCH (a:N {id: $start}) DETACH DELETE a", given)
                present.remove(start)
                edges = {edge for edge in edges if start not in edge}
            case _:
                db.run("MATCH (a:N {id: $start}) SET a.id = $fresh", given)
                present = present - {start} | {given["fresh"]}
                edges = {tuple(given["fresh"] if n == start else n for n in edge) for edge in edges}  # type: ignore[misc]
        seeds = chance.sample(sorted(present | {7, 999}), 3)
        assert asked(db, seeds) == ball(edges, present, seeds)
        assert db.run(ONE, seed=seeds[0]).value() == [int(seeds[0] in present)]


@pytest.mark.parametrize("seeds", [[-1], [50], [0, -1], [49, 50], [2**63 - 1], [True], [3.0, 4], [None, 3], ["3"], []])
def test_values_that_no_node_has_are_found_nowhere(db: Database, seeds: list[object]) -> None:
    numbers = [int(seed) for seed in seeds if isinstance(seed, int | float) and seed is not True]
    expected = ball({(start, start + 1) for start in range(49)}, set(range(50)), numbers)
    assert [sorted(db.run(BALL, seeds=seeds).value()) for _ in range(3)] == [expected] * 3
    for seed in seeds:
        assert db.run(ONE, seed=seed).value() == [int(seed in expected and seed is not True)]


def test_nodes_without_a_value_that_came_later_are_null(db: Database) -> None:
    asked(db, [3])
    db.run("MATCH (a:N {id: 4}) CREATE (a)-[:E]->(:N), (a)-[:E]->(:Other)").consume()
    for _ in range(3):
        assert sorted(db.run(BALL, seeds=[3]).value(), key=str) == [3, 4, 5, None]


def test_a_result_reads_the_version_that_it_began_with(db: Database) -> None:
    asked(db, [3])
    before = db.run(BALL, seeds=[3])
    db.run("MATCH (a:N {id: 3})-[r:E]->() DELETE r")
    assert ids(before) == [3, 4, 5]
    assert asked(db, [3]) == [3]


def test_a_transaction_sees_its_own_writes(db: Database) -> None:
    asked(db, [3])
    with db.begin() as transaction:
        for _ in range(2):
            assert sorted(transaction.run(BALL, seeds=[3]).value()) == [3, 4, 5]
        transaction.run("MATCH (a:N {id: 3})-[r:E]->() DELETE r").consume()
        for _ in range(2):
            assert transaction.run(BALL, seeds=[3]).value() == [3]
        transaction.rollback()
    assert asked(db, [3]) == [3, 4, 5]


def test_no_version_outlives_the_next_write(db: Database) -> None:
    """Not even until the garbage is collected: the writer would have to copy."""
    write = "CREATE (:Other {name: $id})"
    for number in (1000, 1001):  # the names that the first one adds make a new plan necessary
        db.run(write, id=number).consume()
    asked(db, [3])
    gc.collect()  # planning leaves cycles behind
    version = db._graph.snapshot()
    assert bool(version.kept) != evicts(db)
    seen = weakref.ref(version)
    del version
    gc.disable()
    try:
        db.run(write, id=1002).consume()
        assert seen() is None
    finally:
        gc.enable()


def test_what_is_kept_is_bounded(db: Database) -> None:
    for number in range(1200):
        db.run(f"MATCH (a:N {{id: $x}}) RETURN a.id + {number}", x=3).value()
    count = len(db._graph.snapshot().kept)
    assert count == 0 if evicts(db) else 0 < count <= 1024


def test_a_statement_is_reused_only_as_it_would_be_prepared_again(db: Database) -> None:
    preparer, text = db._preparer, "MATCH (a:N) WHERE a.id = $x RETURN count(a)"

    def is_reused(text: str, **parameters: object) -> bool:
        return preparer.latest(text, db._graph.snapshot(), parameters) is not None

    assert not is_reused(text, x=1)
    for _ in range(2):
        db.run(text, x=1).consume()
    assert is_reused(text, x=2)
    assert not is_reused(text, x="a")
    assert not is_reused(text)
    assert not is_reused(text, x=1, y=1)
    for _ in range(3):
        with pytest.raises(ClientError, match="Expected parameter"):
            db.run(text)
    db.run("CREATE INDEX FOR (a:N) ON (a.name)").consume()
    assert not is_reused(text, x=1)
    told = "MATCH (a:Nobody) RETURN count(a)"
    for _ in range(3):
        statuses = [one.gql_status for one in db.run(told).consume().gql_status_objects]
        assert "01N50" in statuses  # each time: the label does not exist
    assert not is_reused(told)
