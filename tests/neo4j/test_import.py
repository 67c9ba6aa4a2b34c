"""Importing the graph of a live Neo4j."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import AuthError, ClientError

import hoplite
from hoplite.cli import main
from tests.neo4j import server
from tests.neo4j.graphs import equal_graphs
from tests.neo4j.proxy import Proxy
from tests.neo4j.server import running

pytestmark = pytest.mark.neo4j

EVERY_TYPE = """
CREATE (:Value {
  boolean: true, integer: 9223372036854775807, float: -0.0, nan: 0.0 / 0.0, text: 'ä😀\\n', empty: '',
  booleans: [true, false], integers: [1, 2], floats: [1.5, -1e300], texts: ['a', ''], nothing: [],
  date: date('2024-02-29'), far: date('+12345-01-01'), ago: localdatetime('-2000-01-01T10:00'),
  local: localtime('10:20:30.123456789'), time: time('10:20+05:30'),
  localdatetime: localdatetime('2024-01-01T00:00:01'),
  offset: datetime('2024-01-01T00:00:01.000000001-07:00'), zoned: datetime('2024-07-01T00:00[Europe/Rome]'),
  old: datetime('1890-01-01T00:00[Europe/Amsterdam]'), faraway: [datetime('+20000-01-01T00:00Z')],
  duration: duration('P1Y2M3DT-4.5S'), durations: [duration('P1D'), duration('PT24H')], dates: [date('2020-01-01')],
  point: point({x: 1, y: -2}), space: point({x: 1, y: 2, z: 3}), place: point({longitude: 12, latitude: 55}),
  height: point({longitude: 12, latitude: 55, height: 7}), points: [point({x: 1, y: 2})], bytes: $bytes})
"""


def value(db: hoplite.Database, query: str) -> Any:
    """The one value that a query gives."""
    (record,) = db.run(query)
    return record[0]


def fill(driver: Driver, nodes: int = 200) -> None:
    driver.execute_query(
        "UNWIND range(1, $nodes) AS i CREATE (n:Item {number: i}) WITH collect(n) AS items "
        "UNWIND range(0, size(items) - 1) AS i WITH items[i] AS a, items[(i * 7) % size(items)] AS b, i "
        "CREATE (a)-[:NEXT {step: i}]->(b), (a)-[:NEXT]->(b)",
        nodes=nodes,
    )
    driver.execute_query("CREATE (:Odd:Item {number: 0}), ()")
    driver.execute_query("MATCH (a:Odd), (b:Item {number: 3}) CREATE (a)-[:SELF]->(a), (a)-[:SELF]->(b)")


def test_every_property_type_arrives(empty: Driver) -> None:
    empty.execute_query(EVERY_TYPE, bytes=b"\x00\xff")
    db = hoplite.import_neo4j(empty)
    query = (
        "MATCH (n) UNWIND keys(n) AS key RETURN key, valueType(n[key]) AS type, CASE WHEN key IN ['bytes', 'place', "
        "'point', 'space', 'height', 'points'] THEN n[key] WHEN valueType(n[key]) STARTS WITH 'LIST' THEN "
        "toStringList(n[key]) ELSE toString(n[key]) END AS value ORDER BY key"
    )
    assert [r.data() for r in db.run(query)] == [r.data() for r in empty.execute_query(query).records]


def test_graphs_are_equal_whatever_the_batch(empty: Driver) -> None:
    fill(empty)
    for batch in (1, 64, 10_000):
        db = hoplite.open()
        done = db.import_neo4j(empty, batch=batch)
        assert (done.nodes, done.relationships, done.changes) == (202, 402, ())
        assert equal_graphs(db, empty) == []


def test_source_ids_lead_back_to_the_server(empty: Driver) -> None:
    fill(empty, 20)
    empty.execute_query("MATCH (n:Item) WHERE n.number % 3 = 1 DETACH DELETE n")  # leaves gaps in the numbers
    db = hoplite.open()
    db.run("CREATE (:Before)-[:BEFORE]->(:Before)")
    db.import_neo4j(empty)
    assert db.source_ids is not None
    for query, read in (
        ("MATCH (n:Item) RETURN n.number AS key, n AS entity", "MATCH (n:Item) RETURN n.number, elementId(n)"),
        ("MATCH ()-[r]->() WHERE r.step >= 0 RETURN r.step AS key, r AS entity",
         "MATCH ()-[r]->() WHERE r.step >= 0 RETURN r.step, elementId(r)"),
    ):  # fmt: skip
        ours = {record["key"]: db.source_ids.of(record["entity"]) for record in db.run(query)}
        assert ours == {record[0]: record[1] for record in empty.execute_query(read).records}
    before = value(db, "MATCH (n:Before) RETURN n LIMIT 1")
    assert db.source_ids.of(before) is None


def test_labels_and_types_choose_a_part(empty: Driver) -> None:
    fill(empty)
    db = hoplite.open()
    done = db.import_neo4j(empty, labels=["Odd"], types=["SELF", "No such"])
    assert (done.nodes, done.relationships) == (1, 1)
    assert value(db, "MATCH (a)-[r]->(b) RETURN a = b AS loop") is True


def test_indexes_and_constraints_come_along(empty: Driver) -> None:
    fill(empty, 5)
    for command in (
        "CREATE CONSTRAINT number FOR (n:Item) REQUIRE n.number IS UNIQUE",
        "CREATE CONSTRAINT step FOR ()-[r:NEXT]-() REQUIRE (r.step, r.other) IS UNIQUE",
        "CREATE INDEX composite FOR (n:Odd) ON (n.a, n.b)",
        "CREATE TEXT INDEX words FOR (n:Odd) ON (n.text)",
        "CREATE POINT INDEX places FOR ()-[r:SELF]-() ON (r.place)",
        "CREATE FULLTEXT INDEX search FOR (n:Odd|Item) ON EACH [n.title, n.body]",
        "CREATE VECTOR INDEX near FOR (n:Odd) ON (n.embedding) OPTIONS {indexConfig: {`vector.dimensions`: 3}}",
    ):
        empty.execute_query(command)
    db = hoplite.open()
    done = db.import_neo4j(empty)
    assert (done.indexes, done.constraints, done.skipped_rules) == (5, 2, ())
    for query in (
        "SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, options, owningConstraint "
        "WHERE type <> 'LOOKUP' RETURN * ORDER BY name",
        "SHOW CONSTRAINTS YIELD name, type, entityType, labelsOrTypes, properties RETURN * ORDER BY name",
    ):
        assert db.run(query).data() == [record.data() for record in empty.execute_query(query).records]


def test_progress_counts_nodes_and_relationships(empty: Driver) -> None:
    fill(empty)
    seen: list[tuple[int, int | None]] = []
    hoplite.open().import_neo4j(empty, batch=100, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (604, 604)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_change_while_reading_is_reported(empty: Driver) -> None:
    fill(empty)
    changed: list[bool] = []

    def change(done: int, total: int | None) -> None:
        if not changed:
            changed.append(True)
            empty.execute_query("MATCH (n:Item {number: 200}) DETACH DELETE n")
            empty.execute_query("CREATE (:New), (:New), (:New)")

    done = hoplite.open().import_neo4j(empty, batch=50, progress=change)
    assert done.changes[0] == "202 nodes before the import, 204 after it, 201 imported"
    assert done.changes[1].startswith("402 relationships before the import")


def test_a_connection_that_breaks_is_taken_up_again(empty: Driver, neo4j_uri: str) -> None:
    fill(empty)
    with Proxy(neo4j_uri, cut_after_bytes=12_000) as proxy:
        db = hoplite.open()
        done = db.import_neo4j(proxy.uri, batch=20)
    assert proxy.cuts == 1
    assert done.changes == ()
    assert equal_graphs(db, empty) == []


def test_a_server_that_restarts_half_way_is_waited_for(neo4j_uri: str, tmp_path: Path) -> None:
    """A server of its own, so that none but this test misses it."""
    first = server.start(tmp_path, heap="512m")
    port = int(first.uri.rpartition(":")[2])
    restarted: list[int] = []

    def restart(done: int, total: int | None) -> None:
        if not restarted:
            restarted.append(done)
            server.stop(tmp_path)
            server.start(tmp_path, port, heap="512m")

    try:
        with GraphDatabase.driver(first.uri) as driver:
            fill(driver)
        db = hoplite.open()
        done = db.import_neo4j(first.uri, batch=50, progress=restart, patience_seconds=60)
        assert restarted == [50] and done.changes == ()
        with GraphDatabase.driver(first.uri) as driver:
            assert equal_graphs(db, driver) == []
    finally:
        server.stop(tmp_path)


def test_the_command_fills_a_folder_or_leaves_none(empty: Driver, neo4j_uri: str, tmp_path: Path) -> None:
    fill(empty)
    folder = tmp_path / "kg.hop"
    assert main(["import", "neo4j", "bolt://127.0.0.1:1", str(folder)]) != 0
    assert not folder.exists()
    assert main(["import", "neo4j", neo4j_uri, str(folder)]) == 0
    with hoplite.open(folder) as db:
        assert value(db, "MATCH (n) RETURN count(n) AS n") == 202
        assert value(db, "MATCH ()-[r]->() RETURN count(r) AS n") == 402


def test_a_server_that_stays_away_leaves_nothing_behind(empty: Driver, neo4j_uri: str) -> None:
    fill(empty)
    db = hoplite.open()
    with (
        Proxy(neo4j_uri, cut_after_bytes=12_000, stay_away=True) as proxy,
        pytest.raises(ClientError, match=r"went away halfway(?s:.*)Nothing was imported"),
    ):
        db.import_neo4j(proxy.uri, batch=20, patience_seconds=1)
    assert proxy.cuts == 1
    assert value(db, "MATCH (n) RETURN count(n) AS n") == 0
    db.run("CREATE (:Still {usable: true})")


def test_a_server_that_comes_back_later_is_asked_for_the_rest(empty: Driver, neo4j_uri: str, tmp_path: Path) -> None:
    fill(empty)
    empty.execute_query(EVERY_TYPE, bytes=b"\x00\xff")
    with hoplite.open(tmp_path / "kg.hop") as db:
        with (
            Proxy(neo4j_uri, cut_after_bytes=12_000, stay_away=True) as proxy,
            pytest.raises(ClientError, match=r"went away halfway(?s:.*)What was fetched is kept in .*kg.hop.fetched"),
        ):
            db.import_neo4j(proxy.uri, batch=20, patience_seconds=1)
        assert value(db, "MATCH (n) RETURN count(n) AS n") == 0
    with hoplite.open(tmp_path / "kg.hop") as db, Proxy(neo4j_uri, port=int(proxy.uri.rpartition(":")[2])) as back:
        done = db.import_neo4j(back.uri, batch=20)
        assert 0 < done.fetched_batches < done.kept_batches + done.fetched_batches == 11 + 21
        assert (done.notes, done.changes) == ((), ())
        query = "MATCH (n:Value) UNWIND keys(n) AS key RETURN key, valueType(n[key]) AS type ORDER BY key"
        assert db.run(query).data() == [record.data() for record in empty.execute_query(query).records]
        empty.execute_query("MATCH (n:Value) DELETE n")  # has dates that the driver cannot compare
        db.run("MATCH (n:Value) DELETE n")
        assert equal_graphs(db, empty) == []
    assert not (tmp_path / "kg.hop.fetched").exists()


def test_a_command_that_was_killed_goes_on_where_it_stopped(
    empty: Driver, neo4j_uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(empty, 30_000)
    folder, fetched = tmp_path / "kg.hop", tmp_path / "kg.hop.fetched"
    arguments = ["import", "neo4j", neo4j_uri, str(folder)]
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; from hoplite.cli import main; sys.exit(main(sys.argv[1:]))", *arguments]
    )
    while process.poll() is None and (not fetched.exists() or fetched.stat().st_size < 400_000):
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kg.hop.fetched", "kg.hop.importing"]
    assert main(arguments) == 0
    told = re.search(r"(\d+) of 20 batches had been fetched before", capsys.readouterr().err)
    assert told is not None and 0 < int(told[1]) < 20
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kg.hop"]
    with hoplite.open(folder) as db:
        for query in (
            "MATCH (n) RETURN labels(n) AS labels, n.number AS number ORDER BY number, labels",
            "MATCH (a)-[r]->(b) RETURN a.number AS a, type(r) AS type, r.step AS step, b.number AS b "
            "ORDER BY a, type, step, b",
        ):
            assert db.run(query).data() == [record.data() for record in empty.execute_query(query).records]


def test_data_that_breaks_our_constraint_leaves_nothing_behind(empty: Driver) -> None:
    fill(empty, 5)
    db = hoplite.open()
    db.run("CREATE CONSTRAINT FOR (n:Item) REQUIRE n.number IS UNIQUE")
    db.run("CREATE (:Item {number: 3})")
    with pytest.raises(ClientError, match="already exists with label `Item`"):
        db.import_neo4j(empty)
    assert value(db, "MATCH (n) RETURN count(n) AS n") == 1


def test_an_unreachable_host_is_named() -> None:
    with pytest.raises(ClientError, match=r"bolt://127.0.0.1:1 cannot be reached(?s:.*)Nothing was imported"):
        hoplite.import_neo4j("bolt://127.0.0.1:1")


def test_an_address_that_is_none_is_named() -> None:
    with pytest.raises(ClientError, match="nonsense is not the address of a Neo4j server"):
        hoplite.import_neo4j("nonsense")


def test_a_wrong_password_is_refused(neo4j_uri: str, tmp_path: Path) -> None:
    with running(tmp_path, heap="512m", password="correct-password") as guarded:
        with pytest.raises(AuthError, match=r"refused the credentials(?s:.*)Nothing was imported"):
            hoplite.import_neo4j(guarded.uri, auth=("neo4j", "wrong-password"))
        assert hoplite.import_neo4j(guarded.uri, auth=("neo4j", "correct-password")).schema()["labels"] == {}
