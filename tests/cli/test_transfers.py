"""`hoplite import` and `hoplite export`: every format in both directions, bad rows, and wrong usage."""

from __future__ import annotations

from pathlib import Path

import pytest

import hoplite
from hoplite.cli import main


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("jsonl", "g.jsonl.gz"),
        ("csv", "csv"),
        ("parquet", "parquet"),
        ("cypher", "g.cypher"),
        ("ntriples", "g.nt.gz"),
    ],
)
def test_a_graph_there_and_back(kind: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(tmp_path / target)
    assert main(["export", kind, ":memory:", place, "--sample"]) == 0
    assert "nodes and" in capsys.readouterr().out
    assert main(["import", kind, place, "--query", "MATCH (n:Drug) RETURN count(n) > 0 AS found"]) == 0
    assert "true" in capsys.readouterr().out.lower()


def test_csv_files_by_name_with_bad_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes, edges = tmp_path / "n.csv", tmp_path / "r.csv"
    nodes.write_text("id:ID|x:int\n1|2\n2|z\n3|4\n", encoding="utf-8")
    edges.write_text(":START_ID|:END_ID\n1|3\n1|2\n", encoding="utf-8")
    arguments = ["import", "csv", "--nodes", f"A:B={nodes}", "--relationships", f"R={edges}", "--delimiter", "|"]
    assert main(arguments) == 1
    assert f"{nodes}, line 3: 'z' is not a valid int" in capsys.readouterr().err
    assert main([*arguments, "--on-error", "report"]) == 0
    shown = capsys.readouterr()
    assert "2 nodes, 1 relationship" in shown.out
    assert f"{edges}, line 3: there is no node with id 2" in shown.err
    assert "2 rows left out" in shown.err
    assert main([*arguments, "--on-error", "skip"]) == 0
    assert "line 3" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["csv"], "What is to be imported?"),
        (["jsonl", "--nodes", "x.csv"], "are for CSV"),
        (["csv", "folder", "db", "--nodes", "x.csv"], "Give either a folder or --nodes"),
        (["parquet", "folder", "--on-error", "skip"], "--on-error is for forms with rows"),
        (["neo4j", "bolt://localhost", "--on-error", "skip"], "--on-error is for forms with rows"),
        (["jsonl", "a.jsonl", "one", "--to", "two"], "Give the database once"),
        (["csv", "--nodes", "x.csv", "--delimiter", ""], "The delimiter of CSV files is one character, not ''"),
        (["csv", "--nodes", "x.csv", "--array-delimiter", "||"], "The array delimiter of CSV files is one character"),
        (["csv", "--nodes", "x.csv", "--quote", ","], "The quote of CSV files cannot be a delimiter as well: ','"),
        (["table", "x.csv", "--delimiter", "U+ZZ"], "'U+ZZ' is not a character: write its number in hexadecimal"),
        (["jsonl", "a.jsonl", "kg", "--key", "id", "--upsert"], "--key is for table, not for jsonl"),
        (["triples", "a.tsv", "--upsert"], "--upsert is for table, not for triples"),
        (["jsonl", "a.jsonl", "--label", "A"], "--label is for table and neo4j, not for jsonl"),
        (["table", "a.csv", "--type", "R"], "--type is for neo4j, not for table"),
        (["table", "a.csv", "--quote", "'"], "--quote is for csv, not for table"),
        (["parquet", "folder", "--database", "neo4j"], "--database is for neo4j, not for parquet"),
        (["mapping", "a.json", "--delimiter", "TAB"], "--delimiter is for csv and table, not for mapping"),
        (["csv", "folder", "--delimiter", "TAB"], "--delimiter is for --nodes and --relationships"),
        (["table", "a.csv", "--start", "from"], "--start and --end are for rows that are relationships"),
    ],
)
def test_what_is_asked_for_wrongly(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["import", *arguments]) == 1
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_ends_have_keys_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(tmp_path / "kg.hop")
    for name, text in {
        "Person": "person_id,name\n1,Keanu\n2,Carrie\n",
        "Movie": "movie_id,title\n1,The Matrix\n",
        "roles": "start,end,role\n1,1,Neo\n2,1,Trinity\n",
    }.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    assert main(["import", "table", str(tmp_path / "Person.csv"), place, "--key", "Person=person_id"]) == 0
    assert main(["import", "table", str(tmp_path / "Movie.csv"), place, "--key", "movie_id"]) == 0
    roles = ["import", "table", str(tmp_path / "roles.csv"), place, "--relationship"]
    people, movies = ["--key", "Person=person_id"], ["--key", "Movie=movie_id"]
    assert main([*roles, "Person:ACTED_IN:Movie", *people, *movies]) == 0
    shown = capsys.readouterr()
    assert "(:Person {person_id: start})-[:ACTED_IN]->(:Movie {movie_id: end})" in shown.err
    assert main([*roles, "Movie:STARS:Person", "--start", "end", "--end", "start", *people, "--key", "movie_id"]) == 0
    assert "│ ACTED_IN │" in capsys.readouterr().out
    with hoplite.open(place, read_only=True) as db:
        found = "MATCH (p)-[r:ACTED_IN]->(m)-[:STARS]->(p) RETURN p.name, r.role, m.title ORDER BY p.name"
        assert db.run(found).values() == [["Carrie", "Trinity", "The Matrix"], ["Keanu", "Neo", "The Matrix"]]
    assert main([*roles, "Person:ACTED_IN:Movie", *people, "--key", "Film=id"]) == 1
    assert "key['Film']: there is no such table" in capsys.readouterr().err
    for wrong in ([*people, *people], ["--key", "a", "--key", "b"]):
        assert main([*roles, "Person:ACTED_IN:Movie", *wrong]) == 1
        assert "Give --key once for each label" in capsys.readouterr().err
    assert main(["import", "table", str(tmp_path / "Movie.csv"), place, "--key", "a", "--key", "Movie=b"]) == 1
    assert "Give --key once for a file of nodes" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*roles, "Person:ACTED_IN:Movie", "--key", "Person="])
    assert "'Person=' is not of the form NAME or LABEL=NAME" in capsys.readouterr().err


def test_an_import_into_an_existing_database_adds_to_it(tmp_path: Path) -> None:
    people, place = tmp_path / "Person.csv", str(tmp_path / "kg.hop")
    for text, status, expected in [("id\n1\n", 0, [1]), ("id\n2\n1\n", 1, [1]), ("id\n2\n", 0, [1, 2])]:
        people.write_text(text, encoding="utf-8")
        assert main(["import", "table", str(people), place, "--key", "id"]) == status
        with hoplite.open(place, read_only=True) as db:
            assert db.run("MATCH (n:Person) RETURN n.id ORDER BY n.id").value() == expected


def test_a_new_database_has_its_name_once_it_is_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, place, unfinished = tmp_path / "g.jsonl", tmp_path / "kg.hop", tmp_path / "kg.hop.importing"
    assert main(["export", "jsonl", ":memory:", str(graph), "--sample"]) == 0
    with hoplite.open(unfinished) as db:
        db.run("CREATE (:Left {by: 'a process that was killed'})")
        assert main(["import", "jsonl", str(graph), str(place)]) == 1
        assert "is open for writing" in capsys.readouterr().err
        assert not place.exists()
    assert main(["import", "jsonl", str(graph), str(place), "--query", "MATCH (n:Left) RETURN count(n) AS left"]) == 0
    assert "│    0" in capsys.readouterr().out
    assert place.exists() and not unfinished.exists()


def test_an_import_that_fails_leaves_no_database(tmp_path: Path) -> None:
    graph = tmp_path / "g.jsonl"
    graph.write_text("no JSON\n", encoding="utf-8")
    assert main(["import", "jsonl", str(graph), str(tmp_path / "kg.hop")]) == 1
    assert list(tmp_path.iterdir()) == [graph]


def test_a_folder_of_others_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "kg.hop.importing" / "notes.txt"
    mine.parent.mkdir()
    mine.write_text("mine", encoding="utf-8")
    graph = tmp_path / "g.jsonl"
    graph.write_text("", encoding="utf-8")
    assert main(["import", "jsonl", str(graph), str(tmp_path / "kg.hop")]) == 1
    assert "is not a database (notes.txt is in it)" in capsys.readouterr().err
    assert mine.read_text(encoding="utf-8") == "mine"


def test_the_options_of_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people, knows, place = tmp_path / "people.csv", tmp_path / "knows.csv", str(tmp_path / "kg.hop")
    people.write_text("id|name\n1|Ada\n2|Bea\n", encoding="utf-8")
    knows.write_text("from,to\n1,2\n", encoding="utf-8")
    arguments = ["import", "table", str(people), place, "--label", "Person", "--key", "id", "--delimiter", "|"]
    assert main(arguments) == 0
    assert main([*arguments, "--upsert"]) == 0
    pattern = ["--relationship", "Person:KNOWS:Person", "--start", "from", "--end", "to"]
    assert main(["import", "table", str(knows), place, *pattern]) == 0
    with hoplite.open(place) as db:
        assert db.run("MATCH (a:Person)-[:KNOWS]->(b) RETURN a.name, b.name").values() == [["Ada", "Bea"]]
