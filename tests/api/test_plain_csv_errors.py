"""Plain CSV files that cannot be read, wholly or in part: errors name the file, the line and the reason."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ConstraintError, Neo4jError

import hoplite
from hoplite.cli import main


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as opened:
        yield opened


def file(folder: Path, text: str | bytes, name: str = "f.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def message(db: hoplite.Database, path: Path, label: str | None = "R", **how: Any) -> str:
    """What the error says; nothing was written."""
    with pytest.raises(Neo4jError) as caught:
        db.load_csv(path, label, tell=None, **how)
    return str(caught.value.message)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('id,name\n1,"abc\n2,d\n', 2),
        ('id,name\n1,a\n\n2,"b\nc"\n3,"d""\n4,e\n', 6),
        ('id,"name\n1,2\n', 1),
        ('id,name\n1,5" pipe\n2,"\n', 3),
    ],
)
def test_a_quote_that_is_never_closed_is_an_error(db: hoplite.Database, tmp_path: Path, text: str, line: int) -> None:
    path = file(tmp_path, text)
    for on_error in ("fail", "report"):
        said = message(db, path, on_error=on_error)
        assert said == f"f.csv, line {line}: a quote that is never closed opens a field here"
    assert db.run("MATCH (n) RETURN count(n)").value() == [0]


def test_quotes_within_a_field_are_part_of_it(db: hoplite.Database, tmp_path: Path) -> None:
    db.load_csv(file(tmp_path, 'id,name\n1,5" pipe\n2,6" pipe\n3,"a"b\n'), "R", tell=None)
    assert db.run("MATCH (n:R) RETURN n.name ORDER BY n.id").value() == ['5" pipe', '6" pipe', "ab"]


def test_the_command_line_fails_at_an_open_quote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "table", str(file(tmp_path, 'id,name\n1,"abc\n2,d\n'))]) == 1
    assert "f.csv, line 2: a quote that is never closed" in capsys.readouterr().err


def test_a_column_without_a_name_is_refused(db: hoplite.Database, tmp_path: Path) -> None:
    said = message(db, file(tmp_path, "name,,x\na,1,2\n"))
    assert said.startswith("f.csv: column 2 has no name: give it one in the first line, or leave the column out")


@pytest.mark.parametrize("delimiter", ["||", "", "\n", '"', "é"])
def test_a_delimiter_is_one_character(
    db: hoplite.Database, tmp_path: Path, delimiter: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file(tmp_path, "a,b\n1,2\n")
    assert "the delimiter is one ASCII character" in message(db, path, delimiter=delimiter)
    assert main(["import", "table", str(path), "--delimiter", delimiter]) == 1
    assert "the delimiter is one ASCII character" in capsys.readouterr().err


def test_what_is_not_utf8_is_named(db: hoplite.Database, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = message(db, file(tmp_path, "a,b\n1,2\n1,caf\u00e9\n".encode("latin-1")))
    assert said == "f.csv, line 3: the byte 0xe9 is not UTF-8; convert the file to UTF-8 first"
    assert message(db, file(tmp_path, "pr\u00e9nom,b\n1,2\n".encode("latin-1"))).startswith(
        "f.csv, line 1: the byte 0xe9"
    )
    junk = bytes(range(256)).replace(b'"', b"") * 20
    assert "is not UTF-8" in message(db, file(tmp_path, b"a,b\n" + junk), on_error="report")
    assert capfd.readouterr() == ("", "")


def test_names_may_have_any_character(db: hoplite.Database, tmp_path: Path) -> None:
    db.load_csv(file(tmp_path, "a\u2028b,c\x0bd\n1,2\n"), "R", tell=None)
    assert db.run("MATCH (n:R) RETURN properties(n)").value() == [{"a\u2028b": 1, "c\x0bd": 2}]


def test_a_field_may_be_longer_than_a_block(db: hoplite.Database, tmp_path: Path) -> None:
    long = "x" * 3_000_000
    text = f'id,text\n1,a\n2,"{long}\n"\n3,{long}\n4\n'
    made = db.load_csv(file(tmp_path, text), "R", on_error="report", tell=None)
    assert made["problems"] == ["f.csv, line 6: 1 field, where the first line has 2"]
    assert db.run("MATCH (n:R) RETURN size(n.text) ORDER BY n.id").value() == [1, 3_000_001, 3_000_000]


def test_files_that_are_missing_broken_or_empty_are_named(db: hoplite.Database, tmp_path: Path) -> None:
    gone = tmp_path / "gone.csv"
    assert message(db, gone) == f"{gone}: No such file or directory"
    assert message(db, tmp_path) == f"{tmp_path}: this is a folder, not a file"
    whole = gzip.compress(b"a,b\n1,2\n" * 1000)
    for data in (b"nonsense", whole[:-12]):
        path = file(tmp_path, data, "f.csv.gz")
        assert message(db, path).startswith(f"{path}: cannot be read: ")
    assert message(db, file(tmp_path, "\n\n")) == "f.csv: the file is empty: its first line should name the columns"


@pytest.mark.parametrize("text", ["id,name", "id,name\n", "\ufeffid,name\r\n\r\n"])
def test_a_file_of_names_has_no_rows(db: hoplite.Database, tmp_path: Path, text: str) -> None:
    told: list[str] = []
    assert db.load_csv(file(tmp_path, text), "R", key="id", tell=told.append) == {"nodes": 0, "relationships": 0}
    assert told[0] == "f.csv: 0 rows; id text, name text"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_can_be_read_and_its_lines_are_known(db: hoplite.Database, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=('id,x\n1,"a\nb"\n,c\n',))
    writer.start()
    made = db.load_csv(pipe, "R", key="id", on_error="report", tell=None)
    writer.join()
    assert made["nodes"] == 1 and made["problems"] == ["pipe, line 4: the key 'id' is null"]


def test_gzip_is_recognised_without_its_name(db: hoplite.Database, tmp_path: Path) -> None:
    db.load_csv(file(tmp_path, gzip.compress(b"a\n1\n")), "R", tell=None)
    assert db.run("MATCH (n:R) RETURN n.a").value() == [1]


LINES = 'id,name\n1,"a\nb"\n\n2\n3,"c\r\nd\re"\n4,x,y\n,z\n6,z\n'


def test_bad_rows_have_the_line_on_which_they_begin(db: hoplite.Database, tmp_path: Path) -> None:
    path = file(tmp_path, LINES)
    assert message(db, path) == "f.csv, line 5: 1 field, where the first line has 2"
    made = db.load_csv(path, "R", key="id", on_error="report", tell=None)
    assert made["problems"] == [
        "f.csv, line 5: 1 field, where the first line has 2",
        "f.csv, line 9: 3 fields, where the first line has 2",
        "f.csv, line 10: the key 'id' is null",
    ]
    assert db.run("MATCH (n:R) RETURN n.id ORDER BY n.id").value() == [1, 3, 6]
    again = db.load_csv(path, "R", key="id", upsert=True, on_error="report", tell=None)
    assert again["problems"] == made["problems"]


def test_values_of_another_type_than_told_are_bad_rows(db: hoplite.Database, tmp_path: Path) -> None:
    path = file(tmp_path, 'id,year,when\n1,"19\n99",\n2,2000,2024-02-30\n3,x,y\n4,2001,2024-02-29\n,5,\n')
    types = {"year": "integer", "when": "date"}
    assert message(db, path, types=types) == "f.csv, line 2: year: '19\\n99' is not an integer"
    made = db.load_csv(path, "R", key="id", types=types, on_error="report", tell=None)
    assert made["problems"] == [
        "f.csv, line 2: year: '19\\n99' is not an integer",
        "f.csv, line 4: when: '2024-02-30' is not a date",
        "f.csv, line 5: year: 'x' is not an integer",
        "f.csv, line 7: the key 'id' is null",
    ]
    assert db.run("MATCH (n:R) RETURN n.id, n.year, toString(n.when)").values() == [[4, 2001, "2024-02-29"]]


def test_missing_ends_have_a_line(db: hoplite.Database, tmp_path: Path) -> None:
    db.load({"P": {"id": ["a", "b"]}})
    path = file(tmp_path, 'start,note,end\na,"x\ny",b\na,z,c\n')
    said = message(db, path, None, relationship=("P", "R", "P"))
    assert said == "f.csv, line 4: end: no node with label 'P' has 'id' = 'c'"


def test_keys_that_occur_twice_or_exist_have_a_line(db: hoplite.Database, tmp_path: Path) -> None:
    path = file(tmp_path, 'id,x\n1,"a\nb"\n2,c\n1,d\n')
    with pytest.raises(ConstraintError) as caught:
        db.load_csv(path, "R", key="id", tell=None)
    assert caught.value.message == "f.csv, line 5: a node with label 'R' and 'id' = 1 is also in f.csv, line 2"
    db.load({"R": {"id": [2]}})
    assert message(db, path, key="id") == "f.csv, line 4: a node with label 'R' and 'id' = 2 already exists"


def test_columns_that_are_needed_are_missed_in_the_file(db: hoplite.Database, tmp_path: Path) -> None:
    path = file(tmp_path, "a,b\n1,2\n")
    expected = "f.csv: there is no column 'id'; the columns are a, b"
    assert message(db, path, key="id") == expected
    assert message(db, path, key="id", upsert=True) == expected
    said = message(db, path, None, relationship=("P", "R", "P"), start="a")
    assert said == "f.csv: there is no column 'end'; the columns are a, b"


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"relationship": ("A", "R")}, "needs a label, a type and a label"),
        ({"relationship": ("A", "", "B")}, "needs a label, a type and a label"),
        ({"label": ""}, "needs a label, or a tuple of labels, none of them empty"),
        ({"label": ("A", "")}, "needs a label, or a tuple of labels, none of them empty"),
        ({"label": "A", "key": ["a"]}, "key must be the name of a column"),
        ({"label": "A", "key": {"B": "a"}}, "there is no such table"),
    ],
)
def test_wrong_arguments_are_explained(
    db: hoplite.Database, tmp_path: Path, how: dict[str, Any], expected: str
) -> None:
    how = {"label": None, **how}
    assert expected in message(db, file(tmp_path, "a,b\n1,2\n"), **how)
