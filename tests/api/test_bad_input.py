"""Bad input gives one clear error, with a position if there is one, and leaves the database unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError, CypherSyntaxError, Neo4jError

import hoplite


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as db:
        db.run("CREATE (:A {n: 1})-[:R]->(:B)").consume()
        yield db
        assert db.run("MATCH (n) RETURN count(n)").value() == [2]
        assert db.run("MATCH ()-[r]->() RETURN count(r)").value() == [1]


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("MATCH (n RETURN n", ["(line 1, column 10 (offset: 9))", '"MATCH (n RETURN n"', "\n          ^"]),
        ("MATCH (n)\nRETURN foo(n)", ["Unknown function 'foo'", "(line 2, column 8 (offset: 17))"]),
        ("MATCH (n) RETURN m", ["Variable `m` not defined", "(line 1, column 18 (offset: 17))"]),
    ],
)
def test_a_mistake_in_a_query_is_shown_where_it_is(db: hoplite.Database, query: str, parts: list[str]) -> None:
    with pytest.raises(CypherSyntaxError) as raised:
        db.run(query)
    for part in parts:
        assert part in (raised.value.message or "")


@pytest.mark.parametrize("query", [None, 7, b"RETURN 1"])
def test_a_query_that_is_not_text_is_refused(db: hoplite.Database, query: Any) -> None:
    with pytest.raises(TypeError, match="a query is text, not"):
        db.run(query)
    answer = db.run_untrusted(query)
    assert answer.error is not None and "a query is text" in answer.error["message"]


def test_a_missing_parameter_is_named(db: hoplite.Database) -> None:
    with pytest.raises(ClientError) as raised:
        db.run("CREATE (:C {x: $x, y: $y})", y=1)
    assert raised.value.code == "Neo.ClientError.Statement.ParameterMissing"
    assert raised.value.message == "Expected parameter(s): x"


NODE = '{"type": "node", "id": 1, "labels": ["C"], "properties": {}}\n'


@pytest.mark.parametrize(
    "line",
    [
        "{not json",
        "[1, 2]",
        '{"type": "planet", "id": 2}',
        '{"type": "relationship", "id": 1, "label": "R", "start": 1, "end": 99, "properties": {}}',
        '{"type": "node", "id": 2, "labels": ["C"], "properties": {"m": {"nested": 1}}}',
    ],
)
def test_a_corrupt_line_is_named_and_nothing_is_imported(db: hoplite.Database, tmp_path: Path, line: str) -> None:
    path = tmp_path / "graph.jsonl"
    path.write_text(NODE + line + "\n")
    with pytest.raises(Neo4jError) as raised:
        db.import_jsonl(path)
    assert "graph.jsonl, line 2" in (raised.value.message or "")


def test_a_corrupt_triple_is_named_and_nothing_is_imported(db: hoplite.Database, tmp_path: Path) -> None:
    path = tmp_path / "triples.tsv"
    path.write_text("a\tR\tb\na\tR\n")
    with pytest.raises(Neo4jError) as raised:
        db.import_triples(path)
    assert "triples.tsv, line 2" in (raised.value.message or "")


def test_a_missing_file_is_named(db: hoplite.Database, tmp_path: Path) -> None:
    for importer in (db.import_jsonl, db.import_triples):
        with pytest.raises(Neo4jError) as raised:
            importer(tmp_path / "missing.jsonl")
        assert "missing.jsonl" in (raised.value.message or "")


@pytest.mark.parametrize(
    "tables",
    [
        {"nodes": {"C": {"name": ["x"]}}},
        {"nodes": {"C": {"id": [1, 1]}}},
        {"nodes": {"C": {"id": [1, 2], "name": ["x"]}}},
        {"nodes": {"C": {"id": [1]}}, "relationships": {("C", "R", "C"): {"start": [1], "end": [2]}}},
        {"nodes": {"C": {"id": [1]}}, "relationships": {("C", "R", "C"): {"start": [1]}}},
    ],
)
def test_a_table_that_does_not_fit_is_refused(db: hoplite.Database, tables: dict[str, Any]) -> None:
    with pytest.raises(Neo4jError):
        db.load(**tables)


@pytest.mark.parametrize("value", [object(), {1: 2}, 2**63])
def test_a_parameter_of_no_cypher_type_is_refused(db: hoplite.Database, value: Any) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError, Neo4jError)):
        db.run("RETURN $x", x=value).values()
