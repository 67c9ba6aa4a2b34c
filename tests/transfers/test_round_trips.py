"""What is exported and imported again is the same graph, whatever the form."""

from __future__ import annotations

from pathlib import Path

import pytest
from neo4j.exceptions import ClientError

import hoplite
from hoplite.sample import load_sample
from tests.suites.data import data_folder
from tests.transfers.every_graph import outcomes
from tests.transfers.graphs import canonical, fill
from tests.transfers.trips import (
    TRIPS,
    Trip,
    through_csv,
    through_cypher,
    through_jsonl,
    through_ntriples,
    through_parquet,
)


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


@pytest.mark.parametrize("trip", [through_jsonl, through_parquet, through_ntriples])
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


def test_resources_of_others_keep_their_names(tmp_path: Path) -> None:
    source, target = hoplite.open(), hoplite.open()
    (tmp_path / "in.nt").write_text(
        "<http://ex.org/a> <http://ex.org/knows> _:b0 .\n"
        "<http://ex.org/a> <http://ex.org/knows> _:b0 .\n"
        '<http://ex.org/a> <http://ex.org/name> "x" .\n'
        "_:b0 <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://ex.org/Thing> .\n",
        "utf-8",
    )
    source.import_ntriples(tmp_path / "in.nt")
    assert source.export_ntriples(tmp_path / "out.nt.gz") == {"nodes": 2, "relationships": 2, "notes": []}
    target.import_ntriples(tmp_path / "out.nt.gz")
    assert canonical(target) == canonical(source)
    source.run(
        "CREATE (:Resource {uri: 'no iri'}), (:Resource {uri: 'urn:hoplite:node/0'}), (:Resource), ({uri: 'a:b'})"
    )
    source.export_ntriples(tmp_path / "more.nt")
    mixed = hoplite.open()
    mixed.import_ntriples(tmp_path / "more.nt")
    assert canonical(mixed) == canonical(source)


def test_ntriples_are_what_the_standard_says(tmp_path: Path) -> None:
    db = hoplite.open()
    db.run(
        "CREATE (a:`Odd label` {name: 'é \"x\" \\n', age: 7, tags: ['b', 'a'], one: ['a'], at: localtime('10:20'),"
        " inf: Infinity})-[:`is a` {since: date('2020-01-02')}]->(b)"
    )
    db.export_ntriples(tmp_path / "g.nt")
    rdf, xsd = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2001/XMLSchema#"
    expected = [
        f"<urn:hoplite:node/0> <{rdf}type> <urn:hoplite:label/Odd%20label> .",
        r'<urn:hoplite:node/0> <urn:hoplite:key/name> "é \"x\" \n" .',
        f'<urn:hoplite:node/0> <urn:hoplite:key/age> "7"^^<{xsd}integer> .',
        '<urn:hoplite:node/0> <urn:hoplite:key/tags> "b" .',
        '<urn:hoplite:node/0> <urn:hoplite:key/tags> "a" .',
        r'<urn:hoplite:node/0> <urn:hoplite:key/one> "[\"a\"]"^^<urn:hoplite:json> .',
        f'<urn:hoplite:node/0> <urn:hoplite:key/at> "10:20:00"^^<{xsd}time> .',
        f'<urn:hoplite:node/0> <urn:hoplite:key/inf> "INF"^^<{xsd}double> .',
        f"<urn:hoplite:node/1> <{rdf}type> <urn:hoplite:node> .",
        "<urn:hoplite:node/0> <urn:hoplite:type/is%20a> <urn:hoplite:node/1> .",
        f"<urn:hoplite:relationship/0> <{rdf}type> <{rdf}Statement> .",
        f"<urn:hoplite:relationship/0> <{rdf}subject> <urn:hoplite:node/0> .",
        f"<urn:hoplite:relationship/0> <{rdf}predicate> <urn:hoplite:type/is%20a> .",
        f"<urn:hoplite:relationship/0> <{rdf}object> <urn:hoplite:node/1> .",
        f'<urn:hoplite:relationship/0> <urn:hoplite:key/since> "2020-01-02"^^<{xsd}date> .',
    ]
    assert sorted((tmp_path / "g.nt").read_text("utf-8").splitlines()) == sorted(expected)


def test_a_statement_about_nothing_is_refused(tmp_path: Path) -> None:
    db = hoplite.open()
    (tmp_path / "g.nt").write_text('<urn:hoplite:relationship/0> <urn:hoplite:key/x> "1" .\n', "utf-8")
    with pytest.raises(ClientError, match=r"g\.nt: <urn:hoplite:relationship/0> is not about a triple"):
        db.import_ntriples(tmp_path / "g.nt")
    assert db.run("MATCH (n) RETURN count(n) AS n").data() == [{"n": 0}]


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
    with pytest.raises(ClientError, match="has a tab or the end of a line in it"):
        db.export_triples(tmp_path / "u.tsv")
    assert not (tmp_path / "u.tsv").exists()
