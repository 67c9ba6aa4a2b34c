"""What is exported and imported again is the same graph, whatever the form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import hoplite
from tests.suites.data import data_folder
from tests.transfers.graphs import canonical, fill

Trip = Callable[[hoplite.Database, hoplite.Database, Path], object]


def through_jsonl(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    source.export_jsonl(folder / "graph.jsonl.gz")
    return target.import_jsonl(folder / "graph.jsonl.gz")


def through_csv(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    source.export_csv(folder / "csv")
    return target.import_csv_folder(folder / "csv")


def through_gzipped_csv(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    source.export_csv(folder / "csv", compress=True)
    return target.import_csv_folder(folder / "csv")


def through_parquet(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    source.export_parquet(folder / "parquet")
    return target.import_parquet(folder / "parquet")


def through_cypher(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    source.export_cypher(folder / "graph.cypher")
    return target.import_cypher(folder / "graph.cypher")


def through_networkx(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    return target.import_networkx(source.to_networkx(), key=None)


TRIPS = (through_jsonl, through_csv, through_gzipped_csv, through_parquet, through_cypher, through_networkx)


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


@pytest.mark.parametrize("name", ["movies", "star-wars", "wwc2019"])
def test_demo_graphs(name: str, tmp_path: Path) -> None:
    path = data_folder() / "demo" / name / "graph.jsonl.gz"
    if not path.exists():
        pytest.skip("needs HOPLITE_DATA")
    source = hoplite.open()
    source.import_jsonl(path)
    for trip in (through_jsonl, through_csv, through_parquet, through_networkx):
        target = hoplite.open()
        trip(source, target, tmp_path)
        assert canonical(target) == canonical(source), trip.__name__
