"""The `hoplite` command: what it prints, and that a mistake gives one clear message and exit status 1."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import hoplite
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


def test_options_may_stand_between_the_database_and_the_query(
    tmp_path: Path, graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "kg.hop")
    assert main(["import", "jsonl", graph, "--on-error", "fail", place]) == 0
    capsys.readouterr()
    assert main(["query", place, "--format", "csv", "MATCH (d:Drug) RETURN count(d) AS drugs"]) == 0
    assert main(["query", "--format", "csv", place, "MATCH (d:Drug) RETURN count(d) AS drugs", "--max-rows", "5"]) == 0
    assert capsys.readouterr().out == "drugs\n2\n" * 2


def test_files_of_csv_by_name_and_then_the_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes, edges, place = tmp_path / "n.csv", tmp_path / "r.csv", tmp_path / "kg.hop"
    nodes.write_text("id:ID\n1\n2\n", encoding="utf-8")
    edges.write_text(":START_ID,:END_ID\n1,2\n", encoding="utf-8")
    assert main(["import", "csv", "--nodes", f"A={nodes}", "--relationships", f"R={edges}", str(place)]) == 0
    assert "2 nodes, 1 relationship" in capsys.readouterr().out
    assert place.is_dir()


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"hoplite {hoplite.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["querry", "RETURN 1"]])
def test_without_a_command_the_commands_are_listed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    shown = capsys.readouterr()
    assert "query" in shown.out + shown.err and "COMMAND" in shown.out + shown.err


def test_explain_prints_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "--sample", "EXPLAIN MATCH (d:Drug) RETURN d"]) == 0
    assert "NodeByLabelScan" in capsys.readouterr().out
    assert main(["query", "--sample", "PROFILE MATCH (d:Drug {name: 'Aspirin'}) RETURN d.name", "--format", "csv"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "d.name\nAspirin\n" and "DB Hits" in shown.err
    assert main(["query", "--sample", "EXPLAIN MATCH (d:Drug) RETURN d", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["operatorType"] == "ProduceResults@neo4j"


@pytest.mark.parametrize("mode", ["EXPLAIN", "PROFILE"])
def test_a_plan_says_how_operators_are_computed(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    query = "MATCH (d:Drug {name: 'Aspirin'})-[:INTERACTS_WITH*1..3]->(e) RETURN count(DISTINCT e)"
    assert main(["query", "--sample", f"{mode} {query}"]) == 0
    out = capsys.readouterr().out
    table = [line.split(" | ") for line in out.splitlines() if line.startswith("| ")]
    assert [name.strip() for name in table[0]][3:5] == ["Computed by", "Estimated Rows" + " |" * (mode == "EXPLAIN")]
    assert any("frontier" in row[3] for row in table[1:]) and len({len(row) for row in table}) == 1
    assert "Hops run in: " in out and "Total database accesses" in out


TIMES = {
    "date('-0044-03-15')": "-0044-03-15",
    "date('+12345-01-01')": "+12345-01-01",
    "localdatetime('-0001-12-31T23:59:59.5')": "-0001-12-31T23:59:59.5",
    "datetime('2024-07-01T12:00:00[Europe/Berlin]')": "2024-07-01T12:00:00+02:00[Europe/Berlin]",
    "datetime('+12345-01-01T00:00:00Z')": "+12345-01-01T00:00:00Z",
    "time('12:30:00+01:00')": "12:30:00+01:00",
    "duration('P14M3DT5S')": "P1Y2M3DT5S",
}


@pytest.mark.parametrize("expression", TIMES)
def test_times_are_written_as_neo4j_does(expression: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = TIMES[expression]
    query = f"WITH {expression} AS t CREATE (n:Event {{at: t}}) RETURN t, n, [t] AS list, {{t: t}} AS map"
    assert main(["query", query]) == 0
    shown = capsys.readouterr().out
    assert all(part in shown for part in (f"│ {text} ", f"at: {text}}}", f"[{text}]", f"{{t: {text}}}"))
    assert main(["query", query, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["t"], row["n"]["properties"], row["list"], row["map"]) == (text, {"at": text}, [text], {"t": text})
    assert main(["query", f"RETURN {expression} AS t", "--format", "csv"]) == 0
    assert capsys.readouterr().out == f"t\n{text}\n"


def test_notifications_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "--sample", "MATCH (d:Durg) RETURN d.name AS name", "--format", "csv"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "name\n"
    assert "warning: " in shown.err and "Durg" in shown.err and "(line 1, column 10)" in shown.err


def test_load_csv_reads_from_the_folder_that_was_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "drugs.csv").write_text("name\nAspirin\n", encoding="utf-8")
    query = "LOAD CSV WITH HEADERS FROM 'file:///drugs.csv' AS row RETURN row.name AS name"
    assert main(["query", query, "--format", "csv", "--import-folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "name\nAspirin\n"
    capsys.readouterr()
    assert main(["query", query, "--sample", "--format", "csv", "--import-folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "name\nAspirin\n"
    for call in (query, "CALL apoc.load.json('drugs.json') YIELD value RETURN value"):
        assert main(["query", call]) == 1
        error = capsys.readouterr().err
        assert "--import-folder on the command line" in error and "()" not in error.partition("import_folder")[2]


def test_what_is_counted_once_is_in_the_singular(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = tmp_path / "one.jsonl"
    one.write_text(GRAPH.splitlines()[0] + "\n", encoding="utf-8")
    assert main(["import", "jsonl", str(one)]) == 0
    assert "1 node, 0 relationships" in capsys.readouterr().out
    assert main(["export", "jsonl", ":memory:", str(tmp_path / "out.jsonl"), "--import", str(one)]) == 0
    assert "1 node and 0 relationships written" in capsys.readouterr().out


def test_a_graph_is_exported_to_standard_output(capsys: pytest.CaptureFixture[str], graph: str) -> None:
    assert main(["export", "jsonl", ":memory:", "-", "--import", graph]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["type"] for line in lines] == ["node", "node", "relationship"]
    assert main(["export", "parquet", ":memory:", "-", "--sample"]) == 1
    assert "name one instead of -" in capsys.readouterr().err


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
        (["query", "--sample", "--import", "x.jsonl", "RETURN 1"], "--sample opens a separate database in memory"),
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


@pytest.mark.parametrize("command", ["query", "shell", "serve", "mcp"])
def test_a_graph_for_memory_is_not_loaded_into_a_database_on_disk(
    command: str, tmp_path: Path, graph: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "kg.hop")
    with hoplite.open(place) as db:
        db.run("CREATE (:Old)").consume()
    arguments = [place, "CREATE (:New)"] if command == "query" else [place]
    assert main([command, "--import", graph, *arguments]) == 1
    assert "--import loads a graph into memory: do not give a path with it." in capsys.readouterr().err
    with hoplite.open(place) as db:
        assert db.run("MATCH (n) RETURN labels(n)").value() == [["Old"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["query", "RETURN 1", "--max-rows", "-1"], "--max-rows: '-1' is not a whole number of 0 or more"),
        (["shell", "--timeout", "-1"], "--timeout: '-1' is not a number of seconds"),
        (["query", "RETURN 1", "--timeout", "nan"], "--timeout: 'nan' is not a number of seconds"),
        (["mcp", "--max-rows", "few"], "--max-rows: 'few' is not a whole number"),
        (["mcp", "--http", "localhost:70000"], "'70000' is not a whole number from 0 to 65,535"),
        (["serve", "--max-connections", "0"], "--max-connections: '0' is not a whole number of 1 or more"),
        (["query", "RETURN $x", "--param", "x=12345678901234567890"],
         "--param: $x: Integer 12345678901234567890 out of range"),
        (["query", "RETURN $x", "--param", 'x=["\\ud800"]'], "--param: $x: "),
        (["query", "RETURN $x", "--param", f"x={'[' * 99_999}"], "--param: $x: lists and maps are nested too"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_refused_before_anything_runs(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    captured = capsys.readouterr()
    assert message in captured.err and "Traceback" not in captured.err and captured.out == ""


def test_a_corrupt_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(GRAPH + "{not json\n")
    assert main(["import", "jsonl", str(path)]) == 1
    error = capsys.readouterr().err
    assert "bad.jsonl" in error and "4" in error and "Traceback" not in error


def test_a_query_after_an_import_shows_times_of_any_year(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "jsonl", graph, "--query", "RETURN date('-0044-03-15') AS ides"]) == 0
    assert "-0044-03-15" in capsys.readouterr().out


def test_import_says_what_was_loaded(graph: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "jsonl", graph, "--query", "MATCH (d:Drug) RETURN count(d) AS drugs"]) == 0
    out = capsys.readouterr().out
    assert "2 nodes, 1 relationship" in out and "INTERACTS_WITH" in out and "drugs" in out


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


def test_a_reader_that_stops_reading_is_not_a_failure() -> None:
    query = "UNWIND range(1, 200000) AS x RETURN x"
    program = "from hoplite.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", program, "query", query, "--format", "csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "x\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "hoplite", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("hoplite ")
