"""Plain CSV files: inferred types are reported before anything is written, and lose nothing."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError, DriverError, Neo4jError
from neo4j.time import Date, DateTime, Time

import hoplite
from hoplite.cli import main

MOVIES = "id,title,released\n1,The Matrix,1999\n2,Up,2009\n3,Untitled,\n"


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as opened:
        yield opened


def file(folder: Path, text: str, name: str = "movies.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def constraints(db: hoplite.Database) -> list[Any]:
    return db.run("SHOW CONSTRAINTS YIELD labelsOrTypes, properties").values()


def test_what_is_inferred_is_told_before_it_is_written(db: hoplite.Database, tmp_path: Path) -> None:
    told: list[str] = []

    def tell(text: str) -> None:
        assert db.run("MATCH (n) RETURN count(n)").value() == [0]
        told.append(text)

    made = db.load_csv(file(tmp_path, MOVIES), "Movie", key="id", tell=tell)
    assert told == [
        "movies.csv: 3 rows; id integer, title text, released integer (1 empty)",
        "nodes (:Movie), identified by id, are added; id becomes unique",
    ]
    assert made == {"nodes": 3, "relationships": 0}
    assert made.constraints == (("Movie", "id"),)
    assert constraints(db) == [[["Movie"], ["id"]]]
    assert db.run("MATCH (n:Movie) RETURN n.title, n.released, keys(n) ORDER BY n.id").values()[2] == [
        "Untitled",
        None,
        ["id", "title"],
    ]


def test_without_a_key_there_is_no_constraint_and_the_label_is_named_after_the_file(
    db: hoplite.Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db.load_csv(file(tmp_path, MOVIES, "movie_stars.2024.csv"))
    assert "nodes (:MovieStars) are added\n" in capsys.readouterr().out
    assert constraints(db) == []
    assert db.run("MATCH (n:MovieStars) RETURN count(n)").value() == [3]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (["1", "-20", ""], [1, -20, None]),
        (["1", "2.5", "1e3"], [1.0, 2.5, 1000.0]),
        (["true", "FALSE"], [True, False]),
        (["007", "1"], ["007", "1"]),
        (["9223372036854775807"], [9223372036854775807]),
        (["9223372036854775808", "1"], ["9223372036854775808", "1"]),
        (["12345678901234567", "0.5"], ["12345678901234567", "0.5"]),
        (["1", "x"], ["1", "x"]),
        (["1e400", "1.5"], ["1e400", "1.5"]),
        (["1e-400"], ["1e-400"]),
        (["3e-324"], ["3e-324"]),
        (["1e-99999999999999999999", "1.5"], ["1e-99999999999999999999", "1.5"]),
        (["1e99999999999999999999", "1.5"], ["1e99999999999999999999", "1.5"]),
        (["0.00000000000000000", "0e999", "1e+022", "1E22"], [0.0, 0.0, 1e22, 1e22]),
        (["5e-324", "0.0", "1.7976931348623157e308"], [5e-324, 0.0, 1.7976931348623157e308]),
        (["0.12345678901234567890"], ["0.12345678901234567890"]),
        (["12345678901234567890.5"], ["12345678901234567890.5"]),
        (["9007199254740993.0"], ["9007199254740993.0"]),
        (["0.30000000000000004", "0.10000000000000001", "-2.5"], [0.1 + 0.2, 0.1, -2.5]),
        (["1.000000000000000056e-01", "5.000000000000000000e-01"], [0.1, 0.5]),
        (["1.10", "1.1"], [1.1, 1.1]),
        (["-0", "1"], ["-0", "1"]),
        (["-0", "0.5"], [-0.0, 0.5]),
        (["NA", "null", "NaN"], ["NA", "null", "NaN"]),
        (["2024-02-29"], [Date(2024, 2, 29)]),
        (["2024-02-30"], ["2024-02-30"]),
        (
            ["2024-05-01T10:00:00.5", "2024-05-01 11:00"],
            [DateTime(2024, 5, 1, 10, 0, 0, 500_000_000), DateTime(2024, 5, 1, 11)],
        ),
        (["2024-05-01T10:00:00.123456789"], [DateTime(2024, 5, 1, 10, 0, 0, 123_456_789)]),
        (["3024-05-01T10:00"], [DateTime(3024, 5, 1, 10)]),
        (["10:30:00", "23:59:59.5"], [Time(10, 30), Time(23, 59, 59, 500_000_000)]),
        (["25:00:00"], ["25:00:00"]),
        (["2024-05-01T10:00:00+02:00"], ["2024-05-01T10:00:00+02:00"]),
        (['"a\nb"', '"say ""hi"", then go"'], ["a\nb", 'say "hi", then go']),
        (["", ""], [None, None]),
    ],
)
def test_a_column_is_what_all_of_its_values_are(
    db: hoplite.Database, tmp_path: Path, fields: list[str], expected: list[Any]
) -> None:
    rows = "".join(f"{place},{field}\n" for place, field in enumerate(fields))
    db.load_csv(file(tmp_path, "place,x\n" + rows), "R", tell=None)
    found = db.run("MATCH (n:R) RETURN n.x AS x ORDER BY n.place").value()
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["1.10", "1.1", "1.2"], ["1.10", "1.1", "1.2"]),
        (["1.10", "1.2"], ["1.10", "1.2"]),
        (["1.0", "2.0"], [1.0, 2.0]),
        (["1.0", "1"], ["1.0", "1"]),
        (["true", "TRUE"], ["true", "TRUE"]),
        (["10", "20"], [10, 20]),
    ],
)
def test_keys_that_differ_stay_different(
    db: hoplite.Database, tmp_path: Path, keys: list[str], expected: list[Any]
) -> None:
    rows = "".join(f"{place},{key}\n" for place, key in enumerate(keys))
    db.load_csv(file(tmp_path, "place,version\n" + rows), "R", key="version", tell=None)
    assert db.run("MATCH (n:R) RETURN n.version ORDER BY n.place").value() == expected


def test_a_point_in_time_of_utc_is_one(db: hoplite.Database, tmp_path: Path) -> None:
    db.load_csv(file(tmp_path, "x\n2024-05-01T10:00:00Z\n"), "R", tell=None)
    assert db.run("MATCH (n:R) RETURN toString(n.x)").value() == ["2024-05-01T10:00:00Z"]


def test_what_a_column_holds_can_be_said_beforehand(db: hoplite.Database, tmp_path: Path) -> None:
    path = file(tmp_path, "zip,x\n123,1\n")
    db.load_csv(path, "R", types={"zip": "text", "x": "float"}, tell=None)
    assert db.run("MATCH (n:R) RETURN n.zip, n.x").values() == [["123", 1.0]]
    with pytest.raises(Neo4jError, match="there is no column 'zap'; the columns are zip, x"):
        db.load_csv(path, "R", types={"zap": "text"}, tell=None)
    with pytest.raises(Neo4jError, match="one of these kinds: boolean, integer"):
        db.load_csv(path, "R", types={"zip": "number"}, tell=None)
    with pytest.raises(Neo4jError, match="line 2: zip: '123' is not a boolean"):
        db.load_csv(path, "R", types={"zip": "boolean"}, tell=None)


def test_upsert_changes_what_is_there_and_adds_the_rest(db: hoplite.Database, tmp_path: Path) -> None:
    db.load_csv(file(tmp_path, MOVIES), "Movie", key="id", tell=None)
    changes = file(tmp_path, "id,title,stars\n1,,5\n4,Heat,4\n", "changes.csv")
    told: list[str] = []
    made = db.load_csv(changes, "Movie", key="id", upsert=True, tell=told.append)
    assert told[1] == "nodes (:Movie), identified by id, are added or changed; id becomes unique"
    assert made == {"nodes": 1, "relationships": 0, "changed": 1}
    assert made.constraints == ()
    assert db.run(
        "MATCH (n:Movie) WHERE n.stars IS NOT NULL RETURN n.id, n.title, n.released ORDER BY n.id"
    ).values() == [
        [1, "The Matrix", 1999],
        [4, "Heat", None],
    ]
    with pytest.raises(ClientError, match="upsert needs a key"):
        db.load_csv(changes, "Movie", upsert=True, tell=None)


def test_upsert_finds_nodes_that_have_only_the_first_label(db: hoplite.Database, tmp_path: Path) -> None:
    db.load({"A": {"id": [1]}})
    made = db.load_csv(file(tmp_path, "id,x\n1,2\n2,3\n"), ("A", "B"), key="id", upsert=True, tell=None)
    assert made == {"nodes": 1, "relationships": 0, "changed": 1}
    assert db.run("MATCH (n:A:B) RETURN n.id, n.x ORDER BY n.id").values() == [[1, 2], [2, 3]]


def test_keys_are_read_in_the_type_of_those_that_exist(db: hoplite.Database, tmp_path: Path) -> None:
    db.load({"M": {"id": [1, 2]}})
    path = file(tmp_path, "id,t\n1,new\nunknown,c\n2.0,d\n")
    told: list[str] = []
    with pytest.raises(
        Neo4jError, match=r"line 3: id: 'unknown' is not an integer, but all stored values of :M\.id are"
    ):
        db.load_csv(path, "M", key="id", upsert=True, tell=told.append)
    made = db.load_csv(path, "M", key="id", upsert=True, on_error="report", tell=told.append)
    assert told[0] == "movies.csv: 2 rows; id integer (as stored in :M.id), t text"
    assert (made["nodes"], made["changed"], made["skipped"]) == (0, 2, 1)
    assert db.run("MATCH (n:M) RETURN n.id, n.t ORDER BY n.id").values() == [[1, "new"], [2, "d"]]


@pytest.mark.parametrize(
    ("ids", "fields", "kind"),
    [
        (["1", "2"], ["1", "2"], "text"),
        ([1.0, 2.5], ["1", "2.5"], "float"),
        ([True, False], ["TRUE", "false"], "boolean"),
        ([Date(2024, 1, 1), Date(2024, 1, 2)], ["2024-01-01", "2024-01-02"], "date"),
        ([Time(10, 0, 0), Time(11, 0, 0)], ["10:00:00", "11:00:00"], "local time"),
        ([DateTime(2024, 1, 1), DateTime(2024, 1, 2)], ["2024-01-01T00:00:00", "2024-01-02 00:00"], "local datetime"),
    ],
)
def test_ends_are_read_in_the_type_of_keys(
    db: hoplite.Database, tmp_path: Path, ids: list[Any], fields: list[str], kind: str
) -> None:
    db.run("UNWIND $ids AS id CREATE (:P {id: id})", ids=ids).consume()
    one, other = fields
    path = file(tmp_path, f"start,end\n{one},{other}\n{other},{one}\n{one},elsewhere\n,{one}\n")
    told: list[str] = []
    made = db.load_csv(path, relationship=("P", "R", "P"), on_error="report", tell=told.append)
    assert f"start {kind} (as stored in :P.id, 1 empty)" in told[0]
    assert made["relationships"] == 2 and made["skipped"] == 2
    assert "movies.csv, line 4: end: " in made["problems"][0] and "'elsewhere'" in made["problems"][0]
    assert made["problems"][1] == "movies.csv, line 5: start: it is null"


def test_a_given_type_comes_before_that_of_existing_keys(db: hoplite.Database, tmp_path: Path) -> None:
    db.load({"P": {"id": [1, 2]}})
    path = file(tmp_path, "start,end\n1,2\n")
    expected = (
        r"movies\.csv, line 2: start: no node with label 'P' has 'id' = '1', which is a text;"
        " the values of these nodes are of the type integer"
    )
    with pytest.raises(Neo4jError, match=expected):
        db.load_csv(path, relationship=("P", "R", "P"), types={"start": "text"}, tell=None)
    with pytest.raises(Neo4jError, match="start: no node has the label 'Q' and a property 'id'"):
        db.load_csv(path, relationship=("Q", "R", "P"), tell=None)


def test_keys_of_several_types_leave_the_type_to_the_file(db: hoplite.Database, tmp_path: Path) -> None:
    db.run("CREATE (:P {id: 1}), (:P {id: 'x'}), (:P)").consume()
    told: list[str] = []
    db.load_csv(file(tmp_path, "id,n\n1,a\n2,b\n"), "P", key="id", upsert=True, tell=told.append)
    assert told[0] == "movies.csv: 2 rows; id integer, n text"
    assert db.run("MATCH (p:P) RETURN count(p)").value() == [4]


def test_rows_become_relationships(db: hoplite.Database, tmp_path: Path) -> None:
    db.load_csv(file(tmp_path, MOVIES), "Movie", key="id", tell=None)
    db.load_csv(file(tmp_path, "name\nKeanu\n"), "Person", key="name", tell=None)
    told: list[str] = []
    roles = file(tmp_path, "who,movie,role\nKeanu,1,Neo\nCarl,2,Ed\n")
    named: Any = {"relationship": ("Person", "ACTED_IN", "Movie"), "start": "who", "end": "movie"}
    keys = {"Person": "name"}
    with pytest.raises(ClientError, match=r"movies\.csv, line 3: who: no node with label 'Person' has 'name' = 'Carl'"):
        db.load_csv(roles, key=keys, tell=None, **named)
    made = db.load_csv(roles, key=keys, on_error="report", tell=told.append, **named)
    assert told[1] == "relationships (:Person {name: who})-[:ACTED_IN]->(:Movie {id: movie})"
    assert made["relationships"] == 1 and made["skipped"] == 1 and "'Carl'" in made["problems"][0]
    assert db.run("MATCH (p)-[r:ACTED_IN]->(m) RETURN p.name, r.role, m.title").values() == [
        ["Keanu", "Neo", "The Matrix"]
    ]
    with pytest.raises(ClientError, match="not of relationships"):
        db.load_csv(roles, "Movie", relationship=("A", "B", "C"), tell=None)


def test_rows_that_do_not_fit_the_first_line_fail_or_are_left_out(db: hoplite.Database, tmp_path: Path) -> None:
    path = file(tmp_path, "a,b\n1,2\n1\n3,4\n")
    with pytest.raises(Neo4jError, match=r"movies\.csv, line 3: 1 field, where the first line has 2"):
        db.load_csv(path, "R", tell=None)
    made = db.load_csv(path, "R", on_error="report", tell=None)
    assert made["nodes"] == 2
    assert made["problems"] == ["movies.csv, line 3: 1 field, where the first line has 2"]


def test_gzip_marks_of_order_and_other_separators(db: hoplite.Database, tmp_path: Path) -> None:
    path = tmp_path / "movies.csv.gz"
    path.write_bytes(gzip.compress("\ufeffa;b\n1;x,y\n".encode()))
    db.load_csv(path, "R", delimiter=";", tell=None)
    assert db.run("MATCH (n:R) RETURN n.a, n.b").values() == [[1, "x,y"]]


def test_nothing_is_written_where_a_file_cannot_be_read(db: hoplite.Database, tmp_path: Path) -> None:
    with pytest.raises((OSError, Neo4jError, DriverError)):
        db.load_csv(tmp_path / "gone.csv", "R", tell=None)
    with pytest.raises(Neo4jError, match="a name occurs twice"):
        db.load_csv(file(tmp_path, "a,a\n1,2\n"), "R", tell=None)
    with pytest.raises(Neo4jError):
        db.load_csv(file(tmp_path, ""), "R", tell=None)
    assert db.run("MATCH (n) RETURN count(n)").value() == [0]


def test_the_command_line_says_what_it_infers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, place = str(file(tmp_path, MOVIES)), str(tmp_path / "kg.hop")
    assert main(["import", "table", path, place, "--label", "Movie", "--key", "id", "--column", "released=text"]) == 0
    shown = capsys.readouterr()
    assert "hoplite: movies.csv: 3 rows; id integer, title text, released text (1 empty)" in shown.err
    assert "Movie" in shown.out
    assert main(["import", "table", path, place, "--label", "Movie", "--key", "id", "--upsert"]) == 0
    assert main(["query", place, "MATCH (n:Movie) RETURN count(n) AS n, max(n.released) AS r", "--format", "csv"]) == 0
    assert capsys.readouterr().out.endswith("n,r\n3,2009\n")
    assert main(["import", "table", path, place, "--label", "Movie", "--key", "id"]) == 1
    assert "already exists" in capsys.readouterr().err
