"""`hoplite verify`, `stats`, `compact`, and databases on disk in the other commands."""

from __future__ import annotations

from pathlib import Path

import pytest

import hoplite
from hoplite.cli import main

GRAPH = """{"type":"node","id":"1","labels":["Drug"],"properties":{"name":"Aspirin"}}
{"type":"node","id":"2","labels":["Drug"],"properties":{"name":"Warfarin"}}
{"type":"relationship","id":"1","label":"INTERACTS_WITH","start":{"id":"1"},"end":{"id":"2"},"properties":{}}
"""


@pytest.fixture
def database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    (tmp_path / "graph.jsonl").write_text(GRAPH)
    path = str(tmp_path / "kg.hop")
    assert main(["import", "jsonl", str(tmp_path / "graph.jsonl"), path]) == 0
    assert "2 nodes, 1 relationship" in capsys.readouterr().out
    return path


def test_what_was_imported_is_there_in_the_next_command(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", database, "MATCH (a)-->(b) RETURN a.name, b.name", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines() == ["a.name,b.name", "Aspirin,Warfarin"]
    assert main(["query", database, "CREATE (:Drug {name: 'Insulin'})", "--format", "csv"]) == 0
    assert main(["query", database, "MATCH (d:Drug) RETURN count(d) AS n", "--format", "csv", "--read-only"]) == 0
    assert capsys.readouterr().out.split()[-1] == "3"


def test_verify_finds_nothing_or_names_the_file(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", database]) == 0
    assert "no damage found" in capsys.readouterr().out
    column = next(Path(database).rglob("node-0.*"))
    content = bytearray(column.read_bytes())
    content[-1] ^= 1
    column.write_bytes(content)
    assert main(["verify", database]) == 1
    assert column.name in capsys.readouterr().err
    assert main(["query", database, "MATCH (d:Drug) RETURN d.name"]) == 1
    assert "StorageDamageDetected" in capsys.readouterr().err


def test_stats_and_compact(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    db = hoplite.open(database)
    db.run("UNWIND range(1, 100) AS i CREATE (:N {i: i})")
    db._graph._let_go()  # type: ignore[attr-defined]
    assert main(["stats", database]) == 0
    shown = {line[:18].strip(): line[18:].strip() for line in capsys.readouterr().out.splitlines()}
    assert shown["nodes"] == "102" and shown["log bytes"] != "0"
    assert main(["compact", database, "--memory", "64MB"]) == 0
    capsys.readouterr()
    assert main(["stats", database]) == 0
    shown = {line[:18].strip(): line[18:].strip() for line in capsys.readouterr().out.splitlines()}
    assert shown["nodes"] == "102" and shown["log bytes"] == "0"


@pytest.mark.parametrize("command", ["verify", "stats", "compact"])
def test_a_database_that_is_not_there_is_not_made(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path / "nowhere.hop")]) == 1
    assert "there is no database here" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_import_that_fails_leaves_no_database_behind(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text('{"type": "node", "id": 1\n')
    assert main(["import", "jsonl", str(damaged), str(tmp_path / "kg.hop")]) != 0
    assert not (tmp_path / "kg.hop").exists()
