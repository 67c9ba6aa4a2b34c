"""What is exported and imported again is the same graph, whatever the form."""

from __future__ import annotations

from pathlib import Path

import pytest

import hoplite
from hoplite.sample import load_sample
from tests.suites.data import data_folder
from tests.transfers.every_graph import outcomes
from tests.transfers.graphs import canonical, fill
from tests.transfers.trips import TRIPS, Trip, through_csv, through_cypher, through_jsonl, through_parquet


@pytest.mark.parametrize("trip", TRIPS)
def test_a_graph_with_every_kind_of_value(trip: Trip, tmp_path: Path) -> None:
    source, target = hoplite.open(), hoplite.open()
    fill(source, 500)
    assert trip(source, target, tmp_path) == {"nodes": 504, "relationships": 1004}
    assert canonical(target) == canonical(source)


@pytest.mark.parametrize("trip", TRIPS[:5])
def test_an_empty_graph(trip: Trip, tmp_path: Path) -> None:
    source, target = hoplite.open(), hoplite.open()
    if trip is through_parquet:
        pytest.skip("an empty graph has no files")
    trip(source, target, tmp_path)
    assert canonical(target) == canonical(source)


@pytest.mark.parametrize("trip", [through_jsonl, through_parquet])
def test_bytes_survive(trip: Trip, tmp_path: Path) -> None:
    source, target = hoplite.open(), hoplite.open()
    source.run("CREATE (:B {bytes: $bytes})", bytes=bytes(range(256)))
    trip(source, target, tmp_path)
    assert target.run("MATCH (n:B) RETURN n.bytes AS b").data() == [{"b": bytes(range(256))}]


def test_bytes_in_csv_are_arrays_of_bytes(tmp_path: Path) -> None:
    source, target = hoplite.open(), hoplite.open()
    source.run("CREATE (:B {bytes: $bytes})", bytes=bytes(range(256)))
    through_csv(source, target, tmp_path)
    assert canonical(target) == canonical(source)


def test_a_script_says_what_it_leaves_out(tmp_path: Path) -> None:
    db = hoplite.open()
    db.run("CREATE (:B {bytes: $bytes, x: 1})", bytes=b"abc")
    assert db.export_cypher(tmp_path / "s.cypher")["notes"] == ["bytes: Cypher has no literal for bytes"]


def test_a_script_brings_indexes_and_constraints(tmp_path: Path) -> None:
    source, target = hoplite.open(), hoplite.open()
    for command in (
        "CREATE CONSTRAINT c FOR (n:A) REQUIRE n.x IS UNIQUE",
        "CREATE INDEX i FOR ()-[r:R]-() ON (r.a, r.b)",
        "CREATE FULLTEXT INDEX f FOR (n:A|B) ON EACH [n.t]",
        "CREATE VECTOR INDEX v FOR (n:A) ON (n.e) OPTIONS {indexConfig: {`vector.dimensions`: 3}}",
    ):
        source.run(command)
    through_cypher(source, target, tmp_path)
    shown = "SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, options, owningConstraint"
    assert target.run(shown).data() == source.run(shown).data()


@pytest.mark.parametrize("trip", TRIPS)
def test_the_sample_graph_by_way_of_the_disk(trip: Trip, tmp_path: Path) -> None:
    sample, target = load_sample(), hoplite.open()
    sample.export_jsonl(tmp_path / "sample.jsonl")
    with hoplite.open(tmp_path / "sample.hop", partitions=3, memory=1) as source:
        source.import_jsonl(tmp_path / "sample.jsonl")
        trip(source, target, tmp_path)
    assert canonical(target) == canonical(sample)


@pytest.mark.parametrize("name", ["movies", "star-wars", "wwc2019"])
def test_demo_graphs(name: str, tmp_path: Path) -> None:
    """`python -m tests.transfers.every_graph` does so with all of them, and with Hetionet."""
    if not (data_folder() / "demo" / name).exists():
        pytest.skip("needs HOPLITE_DATA")
    assert [outcome.way for outcome in outcomes(name, tmp_path) if not outcome.is_equal] == []


def test_triples_come_back_as_they_were(tmp_path: Path) -> None:
    source, target = hoplite.open(), hoplite.open()
    (tmp_path / "in.tsv").write_text("a\tKNOWS\tb\nb\tKNOWS\ta\na\tKNOWS\tb\né\tis a\té\n", "utf-8")
    source.import_triples(tmp_path / "in.tsv")
    assert source.export_triples(tmp_path / "out.tsv.gz") == {"nodes": 3, "relationships": 4, "notes": []}
    target.import_triples(tmp_path / "out.tsv.gz")
    assert canonical(target) == canonical(source)


def test_triples_say_what_they_leave_out(tmp_path: Path) -> None:
    db = hoplite.open()
    db.run("CREATE (:A {id: 'a', x: 1})-[:R {w: 1}]->(:B {id: 'b'}), (:A {id: 'c'})")
    assert db.export_triples(tmp_path / "t.tsv")["notes"] == [
        "left out: the property x of nodes",
        "left out: the property w of relationships",
        "left out: 1 nodes without relationships",
        "left out: labels: there are several, or none",
    ]
    db.run("CREATE ({id: 'd\\te'})-[:R]->({id: 'f'})")
    with pytest.raises(Exception, match="has a tab or the end of a line in it"):
        db.export_triples(tmp_path / "u.tsv")
    assert not (tmp_path / "u.tsv").exists()
