"""An import from a server that is interrupted and given again. The server is a Hoplite behind its driver; the same with
a live Neo4j and a process that is killed is in `tests/neo4j/test_import.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver
from neo4j.exceptions import ClientError

import hoplite
from tests.transfers.graphs import EVERY_KIND, canonical

BATCH = 20
ALL_BATCHES = 6 + 10  # of 104 nodes and 193 relationships


@pytest.fixture
def server() -> Iterator[Driver]:
    with hoplite.GraphDatabase.driver("hoplite://memory") as driver:
        driver.execute_query(EVERY_KIND)
        driver.execute_query(
            "UNWIND range(1, 100) AS i CREATE (n:Item {number: i}) WITH collect(n) AS items "
            "UNWIND range(1, 189) AS i WITH items[i % 100] AS a, items[i * 7 % 100] AS b, i "
            "CREATE (a)-[:NEXT {i: i}]->(b)"
        )
        yield driver


class Interrupted(Exception):
    """In place of a signal."""


def interrupt(db: hoplite.Database, server: Driver, batches: int, **settings: Any) -> None:
    """An import that ends after a number of batches."""
    seen: list[int] = []

    def progress(done: int, total: int | None) -> None:
        seen.append(done)
        if len(seen) == batches:
            raise Interrupted

    with pytest.raises(Interrupted):
        db.import_neo4j(server, batch=BATCH, progress=progress, **settings)


def count(db: hoplite.Database) -> int:
    (record,) = db.run("MATCH (n) RETURN count(n)")
    return int(record[0])


@pytest.mark.parametrize("batches", [1, 5, 6, 7, 15])
def test_it_goes_on_where_it_stopped(server: Driver, batches: int, tmp_path: Path) -> None:
    with hoplite.open(tmp_path / "kg.hop") as db:
        interrupt(db, server, batches)
        assert count(db) == 0
    assert (tmp_path / "kg.hop.fetched").exists()
    with hoplite.open(tmp_path / "kg.hop") as db:
        done = db.import_neo4j(server, batch=BATCH)
        assert (done.kept_batches, done.fetched_batches) == (batches, ALL_BATCHES - batches)
        assert (done.nodes, done.relationships, done.changes, done.notes) == (104, 193, (), ())
        assert canonical(db) == canonical(hoplite.import_neo4j(server))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kg.hop"]


def test_it_may_be_interrupted_again_and_take_other_batches(server: Driver, tmp_path: Path) -> None:
    staging = tmp_path / "kept"
    interrupt(hoplite.open(), server, 4, staging=staging)
    interrupt(hoplite.open(), server, 9, staging=staging)
    db = hoplite.open()
    done = db.import_neo4j(server, batch=7, staging=staging)
    assert done.kept_batches == 9
    assert canonical(db) == canonical(hoplite.import_neo4j(server))
    assert not staging.exists()


def test_progress_counts_what_is_kept(server: Driver, tmp_path: Path) -> None:
    staging = tmp_path / "kept"
    interrupt(hoplite.open(), server, 8, staging=staging)
    seen: list[tuple[int, int | None]] = []
    hoplite.open().import_neo4j(server, staging=staging, progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (20, 297) and seen[-1] == (297, 297)


def test_in_memory_nothing_is_kept_unless_asked_for(server: Driver, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    interrupt(hoplite.open(), server, 4)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("write", "told"),
    [
        ("CREATE (:Item)", "another `nodes` (104 then, 105 now)"),
        ("MATCH (n:Item {number: 3}) DETACH DELETE n", "another `nodes` (104 then, 103 now)"),
        ("MATCH ()-[r:NEXT {i: 3}]->() DELETE r CREATE (:Item)", "another `nodes` (104 then, 105 now)"),
        ("MATCH ()-[r:NEXT {i: 3}]->() DELETE r", "another `relationships` (193 then, 192 now)"),
        ("MATCH (a)-[r:NEXT {i: 3}]->(b) DELETE r CREATE (a)-[:NEXT {i: 3}]->(b)", "another `relationships` (193 then"),
    ],
)
def test_another_graph_starts_over_and_says_so(server: Driver, write: str, told: str, tmp_path: Path) -> None:
    staging = tmp_path / "kept"
    interrupt(hoplite.open(), server, 8, staging=staging)
    server.execute_query(write)
    db = hoplite.open()
    done = db.import_neo4j(server, staging=staging)
    assert done.kept_batches == 0
    (note,) = done.notes
    assert note.startswith(f"started over: {staging} kept an import") and told in note
    assert done.changes == ()
    assert canonical(db) == canonical(hoplite.import_neo4j(server))


@pytest.mark.parametrize("part", [{"labels": ["Item"]}, {"types": ["NEXT"]}, {"database": "neo4j"}])
def test_another_part_starts_over(server: Driver, part: dict[str, Any], tmp_path: Path) -> None:
    staging = tmp_path / "kept"
    interrupt(hoplite.open(), server, 8, staging=staging)
    done = hoplite.open().import_neo4j(server, staging=staging, **part)
    assert done.kept_batches == 0
    assert f"another `{next(iter(part))}`" in done.notes[0]


def test_the_same_labels_in_another_order_go_on(server: Driver, tmp_path: Path) -> None:
    staging = tmp_path / "kept"
    interrupt(hoplite.open(), server, 2, staging=staging, labels=["Item", "Value"])
    assert hoplite.open().import_neo4j(server, staging=staging, labels=["Value", "Item"]).kept_batches == 2


def test_another_server_starts_over_and_warns(server: Driver, tmp_path: Path) -> None:
    staging = tmp_path / "kept"
    interrupt(hoplite.open(), server, 2, staging=staging)
    with hoplite.GraphDatabase.driver("hoplite://memory") as other:
        other.execute_query("UNWIND range(1, 104) AS i CREATE (:Other)")
        with pytest.warns(UserWarning, match="started over: .* another `store`"):
            db = hoplite.import_neo4j(other, staging=staging)
        assert canonical(db) == canonical(hoplite.import_neo4j(other))


def test_properties_that_changed_meanwhile_are_reported(server: Driver, tmp_path: Path) -> None:
    staging = tmp_path / "kept"
    interrupt(hoplite.open(), server, 2, staging=staging)
    server.execute_query("MATCH (n:Item) SET n.number = 0")
    done = hoplite.open().import_neo4j(server, staging=staging)
    assert done.kept_batches == 2
    assert done.changes == (
        "the server was written to since the import began: what was kept may be older than the rest",
    )


def test_damage_is_fetched_again_and_told(server: Driver, tmp_path: Path) -> None:
    staging = tmp_path / "kept"
    interrupt(hoplite.open(), server, 8, staging=staging)
    data = bytearray(staging.read_bytes())
    data[len(data) // 2] ^= 1
    staging.write_bytes(data)
    db = hoplite.open()
    done = db.import_neo4j(server, batch=BATCH, staging=staging)
    assert 0 < done.kept_batches < 8
    assert done.kept_batches + done.fetched_batches == ALL_BATCHES
    assert "damaged at byte" in done.notes[0]
    assert canonical(db) == canonical(hoplite.import_neo4j(server))


def test_what_breaks_a_constraint_is_kept_until_that_is_gone(server: Driver, tmp_path: Path) -> None:
    with hoplite.open(tmp_path / "kg.hop") as db:
        db.run("CREATE CONSTRAINT only FOR (n:Item) REQUIRE n.number IS UNIQUE")
        db.run("CREATE (:Item {number: 3})")
        with pytest.raises(ClientError, match="already exists with label `Item`"):
            db.import_neo4j(server, batch=BATCH)
        assert count(db) == 1
        db.run("DROP CONSTRAINT only")
        done = db.import_neo4j(server, batch=BATCH)
        assert (done.kept_batches, done.fetched_batches) == (ALL_BATCHES - 1, 1)
        assert count(db) == 105


def test_an_import_that_may_be_complete_is_not_done_twice(server: Driver, tmp_path: Path) -> None:
    """A process can be killed after the commit and before the file is removed."""
    place = tmp_path / "kg.hop"
    staging = tmp_path / "kg.hop.fetched"
    with hoplite.open(place) as db:
        interrupt(db, server, ALL_BATCHES)
        whole = staging.read_bytes()
        db.import_neo4j(server)
    staging.write_bytes(whole)
    with hoplite.open(place) as db:
        with pytest.raises(ClientError, match=r"may have been completed.\nNothing was imported"):
            db.import_neo4j(server)
        assert count(db) == 104
        staging.unlink()
        db.import_neo4j(server)
        assert count(db) == 208


def test_an_interrupted_import_of_everything_is_committed_by_the_next(server: Driver, tmp_path: Path) -> None:
    place = tmp_path / "kg.hop"
    with hoplite.open(place) as db:
        interrupt(db, server, ALL_BATCHES)
    with hoplite.open(place) as db:
        done = db.import_neo4j(server)
        assert (done.kept_batches, done.fetched_batches) == (ALL_BATCHES, 0)
        assert canonical(db) == canonical(hoplite.import_neo4j(server))
