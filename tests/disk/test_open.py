"""Opening, closing, reopening; who may write; what a checkpoint does; what the user is told."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError, DatabaseError, Neo4jError, TransactionError

import hoplite
from hoplite.storage.disk.graph import DiskGraph
from tests.disk.faults import QuickFiles

GRAPH = """
CREATE (a:Drug:Old {name: 'Aspirin', weight: 180.16, doses: [75, 100], approved: date('1899-03-06'), rx: false})
CREATE (b:Disease {name: 'Headache', where: point({longitude: 12.5, latitude: 55.6}), raw: null})
CREATE (a)-[:TREATS {since: datetime('2020-01-02T03:04:05.000000006[Europe/Berlin]'), for: duration('P1M2DT3S')}]->(b)
CREATE (b)-[:LIKE]->(b)
"""
EVERYTHING = "MATCH (n) OPTIONAL MATCH (n)-[r]->(m) RETURN n, r, m, id(n), elementId(n), id(r) ORDER BY id(n), id(r)"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kg.hop"


def contents(db: hoplite.Database) -> list[Any]:
    return [[str(value) for value in record.values()] for record in db.run(EVERYTHING)]


def test_a_graph_is_there_again_after_closing(path: Path) -> None:
    with hoplite.open(path) as db:
        db.run(GRAPH)
        db.run("CREATE CONSTRAINT names FOR (d:Drug) REQUIRE d.name IS UNIQUE")
        db.run("CREATE INDEX FOR ()-[r:TREATS]-() ON (r.since)")
        db.run(
            "CREATE POINT INDEX places FOR (d:Disease) ON (d.where) "
            "OPTIONS {indexConfig: {`spatial.cartesian.max`: [1.0, 2.0]}}"
        )
        before, rules = contents(db), db.run("SHOW INDEXES").data()
    with hoplite.open(path) as db:
        assert contents(db) == before
        assert db.run("SHOW INDEXES").data() == rules
        with pytest.raises(ClientError, match="already exists with label `Drug`"):
            db.run("CREATE (:Drug {name: 'Aspirin'})")
        assert db.stats()["log_bytes"] == 0
        assert db.verify() == []


def test_a_graph_is_there_again_after_a_process_that_never_closed_it(path: Path) -> None:
    program = f"import hoplite; db = hoplite.open({str(path)!r}); db.run({GRAPH!r}); import os; os._exit(0)"
    subprocess.run([sys.executable, "-c", program], check=True)
    with hoplite.open() as memory, hoplite.open(path) as db:
        memory.run(GRAPH)
        assert db.stats()["log_bytes"] > 0
        assert [row[:3] for row in contents(db)] != [] and len(contents(db)) == len(contents(memory))
        assert (
            db.run("MATCH (a)-[r]->(b) RETURN a.name, type(r), r.for, b.where ORDER BY type(r)").values()
            == memory.run("MATCH (a)-[r]->(b) RETURN a.name, type(r), r.for, b.where ORDER BY type(r)").values()
        )


def test_ids_are_kept_and_not_given_again(path: Path) -> None:
    with hoplite.open(path) as db:
        db.run("UNWIND range(0, 9) AS i CREATE (:N {i: i})")
        db.run("MATCH (n:N) WHERE n.i IN [3, 9] DELETE n")
        ids = dict(db.run("MATCH (n:N) RETURN n.i, elementId(n)").values())
        db.checkpoint()
        assert dict(db.run("MATCH (n:N) RETURN n.i, elementId(n)").values()) == ids
    with hoplite.open(path) as db:
        assert dict(db.run("MATCH (n:N) RETURN n.i, elementId(n)").values()) == ids
        assert db.run("CREATE (n:N) RETURN id(n)").value() == [10]
        assert db.run("MATCH (n) WHERE elementId(n) = $id RETURN n.i", id=ids[5]).value() == [5]


def test_there_is_one_writer_and_readers_may_open_beside_it(path: Path) -> None:
    with hoplite.open(path) as db:
        db.run("CREATE (:N)")
        program = f"import hoplite; hoplite.open({str(path)!r})"
        other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert f"open for writing by process {os.getpid()}" in other.stderr
    with hoplite.open(path, read_only=True) as reader, hoplite.open(path) as db:
        assert reader.run("MATCH (n) RETURN count(*)").value() == [1]
        db.run("CREATE (:N)")
        db.checkpoint()
        db.run("CREATE (:N)")
        db.checkpoint()
        assert reader.run("MATCH (n) RETURN count(*)").value() == [1]  # as of when it was opened
        assert reader.run("MATCH (n:N) RETURN count(n)").value() == [1]
        with pytest.raises(ClientError, match="read access mode"):
            reader.run("CREATE (:N)")
        with pytest.raises(ClientError, match="read access mode"):
            reader.checkpoint()
        assert reader.run("SHOW INDEXES").data()
        with hoplite.open(path, read_only=True) as reader:
            assert reader.run("MATCH (n) RETURN count(*)").value() == [3]
    hoplite.open(path).close()


def test_a_reader_keeps_its_snapshot_from_being_removed(path: Path) -> None:
    db = hoplite.open(path)
    db.run("CREATE (:N {name: 'a'})")
    db.close()
    reader = hoplite.open(path, read_only=True)
    db = hoplite.open(path)
    db.run("CREATE (:N {name: 'b'})")
    db.close()
    assert len(list(path.glob("snapshot-*"))) == 2
    assert reader.run("MATCH (n:N) RETURN n.name").value() == ["a"]
    reader.close()
    hoplite.open(path).close()
    assert len(list(path.glob("snapshot-*"))) == len(list(path.glob("wal-*"))) == 1


def test_a_reader_in_the_process_keeps_its_version_over_checkpoints(path: Path) -> None:
    db = hoplite.open(path, memory=1)
    db.run("UNWIND range(1, 5000) AS i CREATE (:N {i: i, name: 'n' + i})")
    db.checkpoint()
    rows: Iterator[Any] = iter(db.run("MATCH (n:N) RETURN n.i AS i, n.name AS name"))
    first = next(rows)
    db.run("MATCH (n:N) SET n.i = 0, n.name = 'x'")
    db.checkpoint()
    db.run("MATCH (n:N) DELETE n")
    db.checkpoint()
    assert len({record["i"] for record in (first, *rows)}) == 5000
    assert db.run("MATCH (n:N) RETURN count(n)").value() == [0]
    db.close()


def test_a_long_log_leads_to_a_checkpoint_beside_the_writer(tmp_path: Path) -> None:
    graph = DiskGraph(tmp_path / "kg.hop", files=QuickFiles(), log_limit_bytes=2_000)
    for number in range(400):
        with graph.begin() as tx:
            tx.create_node(["N"], {"i": number})
    del tx  # it reads from the snapshot that it began with
    assert graph._background is not None
    graph._background.join()
    assert graph.statistics()["checkpoints"] >= 1 and graph.statistics()["checkpoint_error"] is None
    snapshot = graph.snapshot()
    assert sorted(snapshot.node_property(snapshot.nodes(), "i").objects().tolist()) == list(range(400))
    del snapshot
    graph.close()
    assert len(list((tmp_path / "kg.hop").glob("snapshot-*"))) == 1


def test_threads_read_while_one_writes_and_checkpoints_are_made(tmp_path: Path) -> None:
    graph = DiskGraph(tmp_path / "kg.hop", files=QuickFiles(), log_limit_bytes=500, memory=1, partitions=2)
    stop, problems = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            snapshot = graph.snapshot()
            nodes = snapshot.nodes_with_label("N")
            counts = snapshot.node_property(nodes, "i").objects().tolist()
            if sorted(counts) != list(range(len(counts))) or snapshot.relationship_count != len(counts):
                problems.append(counts)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(150):
        with graph.begin() as tx:
            node = tx.create_node(["N"], {"i": number})
            tx.create_relationship(node, node, "R", {})
    stop.set()
    for reader in readers:
        reader.join()
    graph.close()
    assert problems == []


def test_bulk_loads_are_on_disk_at_once(path: Path) -> None:
    db = hoplite.open(path)
    db.run("CREATE (:Drug {id: 'old'})")
    db.load(
        nodes={"Drug": {"id": ["a", "b"]}, "Disease": {"id": [1, 2]}},
        relationships={("Drug", "TREATS", "Disease"): {"start": ["a", "b"], "end": [2, 1], "w": [0.5, None]}},
    )
    assert db.stats()["log_bytes"] == 0
    db._graph._let_go()  # type: ignore[attr-defined]
    with hoplite.open(path) as db:
        assert sorted(db.run("MATCH (d:Drug) RETURN d.id").value()) == ["a", "b", "old"]
        rows = db.run("MATCH (d:Drug)-[r:TREATS]->(x) RETURN d.id, x.id, r.w ORDER BY d.id").values()
        assert rows == [["a", 2, 0.5], ["b", 1, None]]
        with pytest.raises(Neo4jError):
            db.load(nodes={"Drug": {"id": ["c", "a"]}})
        assert len(db.run("MATCH (d:Drug) RETURN d").data()) == 3
    with hoplite.open(path) as db:
        assert len(db.run("MATCH (d:Drug) RETURN d").data()) == 3


def test_calls_in_transactions_commit_batch_by_batch(path: Path) -> None:
    with hoplite.open(path) as db:
        db.run("UNWIND range(1, 10) AS i CALL { WITH i CREATE (:N {i: i}) } IN TRANSACTIONS OF 3 ROWS")
        assert db.stats()["commits"] == 4
        db._graph._let_go()  # type: ignore[attr-defined]
    with hoplite.open(path) as db:
        assert db.run("MATCH (n:N) RETURN sum(n.i)").value() == [55]


def test_rolled_back_transactions_leave_nothing(path: Path) -> None:
    with hoplite.open(path) as db:
        with db.begin() as tx:
            tx.run("CREATE (:Gone {k: 1})")
            tx.rollback()
        db.run("CREATE (:Kept {k: 2})")
        db._graph._let_go()  # type: ignore[attr-defined]
    with hoplite.open(path) as db:
        assert db.run("MATCH (n) RETURN labels(n), n.k, id(n)").values() == [[["Kept"], 2, 0]]


def test_relaxed_commits_are_there_after_a_killed_process(path: Path) -> None:
    with hoplite.open(path, durability="relaxed") as db:
        db.run("CREATE (:N)")
        db._graph._let_go()  # type: ignore[attr-defined]
    with hoplite.open(path, durability="relaxed") as db:
        assert db.run("MATCH (n:N) RETURN count(n)").value() == [1]
    with pytest.raises(ValueError, match="durability='none'"):
        hoplite.open(path, durability="none")  # type: ignore[arg-type]


def test_mistakes_are_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(DatabaseError, match="a database is a folder"):
        hoplite.open(file)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "notes.txt").write_text("x")
    with pytest.raises(DatabaseError, match=r"not a database \(notes.txt is in it\)"):
        hoplite.open(folder)
    with pytest.raises(DatabaseError, match="there is no database here"):
        hoplite.open(tmp_path / "nowhere", read_only=True)
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(DatabaseError, match="No such file"):
        hoplite.open(tmp_path / "no" / "parent")
    with pytest.raises(ValueError, match="'a lot' is not a size"):
        hoplite.open(tmp_path / "kg.hop", memory="a lot")


def test_a_database_that_lost_its_manifest_is_not_taken_for_a_new_one(path: Path) -> None:
    with hoplite.open(path) as db:
        db.run("CREATE (:N)")
    (path / "manifest.json").unlink()
    with pytest.raises(DatabaseError, match=r"manifest\.json: it is missing"):
        hoplite.open(path)


def test_an_empty_folder_becomes_a_database(path: Path) -> None:
    path.mkdir()
    with hoplite.open(path) as db:
        db.run("CREATE (:N)")
    with hoplite.open(str(path)) as db:
        assert db.run("MATCH (n) RETURN count(n)").value() == [1]


def test_a_closed_database_refuses_writes(path: Path) -> None:
    db = hoplite.open(path)
    transaction = db.begin()
    transaction.run("CREATE (:N)")
    db.close()
    with pytest.raises(TransactionError, match="database was closed"):
        transaction.commit()
    with hoplite.open(path) as db:
        assert db.run("MATCH (n) RETURN count(n)").value() == [0]


def test_a_database_that_was_forgotten_keeps_nobody_out(path: Path) -> None:
    hoplite.open(path).run("CREATE (:N)")
    with hoplite.open(path) as db:
        assert db.run("MATCH (n:N) RETURN count(n)").value() == [1]


def test_a_profile_says_what_was_loaded(path: Path) -> None:
    with hoplite.open(path) as db:
        db.run("CREATE (:N {name: 'a'})-[:R]->(:N {name: 'b'})")
        assert "Loaded from disk: 0, evicted: 0" in db.profile("MATCH (n:N) RETURN n.name")
        db.checkpoint()
        assert "Loaded from disk: 1, evicted: 0" in db.profile("MATCH (n:N) RETURN n.name")
    with hoplite.open() as db:
        assert "Loaded from disk" not in db.profile("MATCH (n:N) RETURN n.name")


def test_strings_that_no_unicode_file_can_hold_are_kept(path: Path) -> None:
    with hoplite.open(path) as db, db._graph.begin() as tx:  # no statement makes one, and the driver cannot send it
        tx.create_node(["N"], {"s": "a\ud800b"})
        tx.create_node(["N"], {"s": "é"})
    with hoplite.open(path) as db:
        assert sorted(db.run("MATCH (n:N) RETURN n.s").value()) == ["a\ud800b", "é"]


def test_values_of_every_type_survive(path: Path) -> None:
    values = [
        "true", "-9223372036854775808", "1.0e308", "-0.0", "0.0/0.0", "''", "'\\u0000 ✓'", "[]", "[1, 2]", "[1.5]",
        "['a', '']", "[true, false]", "date('2020-02-29')", "localtime('12:00')", "time('12:00+01:00')",
        "localdatetime('2020-01-01T00:00')", "datetime('2020-01-01T00:00[Europe/Paris]')", "datetime('2020-01-01T00Z')",
        "duration('P1Y2M3DT4.5S')",
        "point({x: 1, y: 2, z: 3})", "[point({latitude: 1, longitude: 2})]", "[date('2020-01-01'), date('2021-01-01')]",
    ]  # fmt: skip
    program = "CREATE " + ", ".join(f"(:V {{i: {i}, v: {value}, w{i}: {value}}})" for i, value in enumerate(values))
    ask = "MATCH (n:V) RETURN n.i, n.v, properties(n) ORDER BY n.i"
    with hoplite.open() as memory, hoplite.open(path) as db:
        for graph in (memory, db):
            graph.run(program)
        expected = repr(memory.run(ask).values())
        assert repr(db.run(ask).values()) == expected
        db._graph._let_go()  # type: ignore[attr-defined]
    for _ in range(2):  # from the log, then from a snapshot
        with hoplite.open(path) as db:
            assert repr(db.run(ask).values()) == expected
