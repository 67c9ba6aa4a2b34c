"""The `hoplite` command: what it prints, and that a mistake gives one clear message and exit status 1."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from hoplite.cli import main

GRAPH = """\
{"type": "node", "id": 0, "labels": ["Drug"], "properties": {"name": "Aspirin"}}
{"type": "node", "id": 1, "labels": ["Drug"], "properties": {"name": "Warfarin"}}
{"type": "relationship", "id": 0, "label": "INTERACTS_WITH", "start": 0, "end": 1, "properties": {"severity": "major"}}
"""


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "graph.jsonl"
    path.write_text(GRAPH)
    return str(path)


def test_query_prints_a_table(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "--import", graph, "MATCH p = (:Drug)-->() RETURN p"]) == 0
    assert "(Aspirin)-[:INTERACTS_WITH]->(Warfarin)" in capsys.readouterr().out


def test_query_takes_parameters_and_prints_json(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    query = "MATCH (d:Drug {name: $name}) RETURN d.name AS name, $n + 1 AS n"
    assert (
        main(["query", "--import", graph, query, "--param", "name=Aspirin", "--param", "n=1", "--format", "json"]) == 0
    )
    assert json.loads(capsys.readouterr().out) == [{"name": "Aspirin", "n": 2}]


def test_query_reads_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("RETURN 1 AS one"))
    assert main(["query", "-", "--format", "csv"]) == 0
    assert capsys.readouterr().out == "one\n1\n"


def test_the_sample_graph_answers(capsys: pytest.CaptureFixture[str]) -> None:
    query = "MATCH (d:Drug)-[:TREATS]->(:Disease {name: 'Gout'}) RETURN d.name ORDER BY d.name"
    assert main(["query", "--sample", query, "--format", "csv"]) == 0
    assert capsys.readouterr().out.split() == ["d.name", "Allopurinol", "Colchicine", "Naproxen"]


def test_limits_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "--sample", "MATCH (n) DETACH DELETE n", "--read-only"]) == 1
    assert "AccessMode" in capsys.readouterr().err
    assert main(["query", "--sample", "MATCH (n) RETURN n", "--max-rows", "10"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["query", "RETURN x"], "Variable `x` not defined"),
        (["query", "kg.hop", "RETURN 1"], "kg.hop: there is no database here"),
        (["query", "--import", "missing.jsonl", "RETURN 1"], "missing.jsonl"),
        (["query", "--sample", "--import", "x.jsonl", "RETURN 1"], "--sample is a database in memory of its own"),
        (["import", "jsonl", "missing.jsonl"], "missing.jsonl"),
    ],
)
def test_a_mistake_gives_one_clear_message(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert message in captured.err and "Traceback" not in captured.err
    assert captured.out == ""


def test_a_corrupt_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(GRAPH + "{not json\n")
    assert main(["import", "jsonl", str(path)]) == 1
    error = capsys.readouterr().err
    assert "bad.jsonl" in error and "4" in error and "Traceback" not in error


def test_import_says_what_was_loaded(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "jsonl", graph, "--query", "MATCH (d:Drug) RETURN count(d) AS drugs"]) == 0
    out = capsys.readouterr().out
    assert "2 nodes, 1 relationships" in out and "INTERACTS_WITH" in out and "drugs" in out


def test_triples_are_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "triples.tsv"
    path.write_text("a\tknows\tb\nb\tknows\tc\n")
    assert main(["import", "triples", str(path)]) == 0
    assert "3 nodes, 2 relationships" in capsys.readouterr().out


def test_the_demo_shows_its_six_parts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    for words in (
        "Polycystic ovary syndrome",
        "Antihypertensive",
        "(Fluoxetine)-[:INTERACTS_WITH]->(Phenytoin)",
        "k-hop",
        "not defined",
    ):
        assert words in out
