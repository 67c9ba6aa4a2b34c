"""The shell: statements and commands, from a prompt that is fed keys, and from standard input."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

import hoplite
from hoplite.cli import main
from hoplite.cli.shell import Shell, prompt_session
from hoplite.cli.shown_values import showing_session


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as db:
        db.run("CREATE (:Drug {name: 'Aspirin'})-[:TREATS]->(:Disease {name: 'Fever'})").consume()
        yield db


def shell_of(db: hoplite.Database, **limits: Any) -> tuple[Shell, io.StringIO]:
    out = io.StringIO()
    shell = Shell(db, showing_session(db, **limits))
    shell.console = shell.errors = Console(file=out, width=120)
    return shell, out


def test_a_statement_prints_rows_and_time(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    assert shell.run_text("MATCH (d:Drug) RETURN d.name;")
    assert "Aspirin" in out.getvalue() and "1 row," in out.getvalue() and " ms" in out.getvalue()


def test_a_write_says_what_it_changed(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    shell.run_text("CREATE (:Drug {name: 'Digoxin'});")
    assert "nodes created: 1" in out.getvalue()


def test_an_error_is_printed_and_the_shell_goes_on(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    assert shell.run_text("RETURN x;")
    assert "Variable `x` not defined" in out.getvalue()


def test_commands(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    assert shell.run_text(":schema") and "TREATS" in out.getvalue()
    assert shell.run_text(":explain MATCH (d:Drug) RETURN d") and "NodeByLabelScan" in out.getvalue()
    assert shell.run_text(":nothing") and "There is no :nothing" in out.getvalue()
    assert shell.run_text(":explain") and "needs a query" in out.getvalue()
    assert not shell.run_text(":quit")


def test_explain_and_profile_show_their_plans(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    shell.run_text("EXPLAIN MATCH (d:Drug) RETURN d;")
    assert "NodeByLabelScan" in out.getvalue() and "Aspirin" not in out.getvalue()
    shell.run_text("PROFILE MATCH (d:Drug) RETURN d;")
    assert "Aspirin" in out.getvalue() and "DB Hits" in out.getvalue()


def test_plans_are_of_the_session(db: hoplite.Database) -> None:
    shell, out = shell_of(db, read_only=True)
    shell.run_text(":profile CREATE (:X)")
    assert "AccessMode" in out.getvalue() and shell.failures == 1
    assert db.run("MATCH (n:X) RETURN count(n)").value() == [0]
    shell, out = shell_of(db, max_rows=10)
    shell.run_text(":profile UNWIND range(1, 20) AS x RETURN x")
    assert "more than the 10 rows" in out.getvalue()
    shell, out = shell_of(db, timeout=0.01)
    shell.run_text(":profile UNWIND range(1, 100000000) AS x RETURN sum(x)")
    assert "TransactionTimedOut" in out.getvalue()


def test_plans_are_of_the_transaction(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    for line in (":begin", "CREATE (:Left);", ":profile MATCH (n:Left) RETURN n", ":explain MATCH (n:Left) RETURN n"):
        shell.run_text(line)
    shell.run_text(":param found => COUNT { MATCH (:Left) }")
    assert shell.parameters == {"found": 1}
    lines = [line.split("|") for line in out.getvalue().splitlines() if "NodeByLabelScan" in line]
    assert [cell.strip() for cell in lines[0][6:8]] == ["1", "1"]  # rows and accesses
    assert "warning" not in out.getvalue() and shell.failures == 0  # the label exists there
    shell.run_text(":profile CREATE (:Left)")
    shell.run_text(":rollback")
    assert db.run("MATCH (n:Left) RETURN count(n)").value() == [0]


@pytest.mark.parametrize("query", ["MATCH (d)-->() RETURN d", "explain MATCH (d)-->() RETURN d"])
def test_a_plan_says_how_it_is_computed(db: hoplite.Database, query: str) -> None:
    for text in (f":explain {query}", f":profile {query}", f"EXPLAIN {query.removeprefix('explain ')};"):
        shell, out = shell_of(db)
        shell.run_text(text)
        assert "| Computed by" in out.getvalue() and "Hops run in: " in out.getvalue() and shell.failures == 0


def test_a_misspelt_label_is_pointed_out(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    shell.run_text("MATCH (d:Durg) RETURN d;")
    assert "the missing label name is: Durg" in out.getvalue()


def test_parameters_are_cypher_values(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    shell.run_text(":param day => date('2024-02-29')")
    shell.run_text(":param {n: 20 + 1, name: 'Aspirin'}")
    shell.run_text(":param twice => $n * 2")
    shell.run_text("MATCH (d {name: $name}) RETURN d.name, $twice, $day + duration('P1D') AS next;")
    assert all(word in out.getvalue() for word in ("Aspirin", "42", "2024-03-01"))
    shell.run_text(":param")
    assert ':param name => "Aspirin"' in out.getvalue()
    shell.run_text(":param clear")
    shell.run_text("RETURN $n;")
    assert "ParameterMissing" in out.getvalue()
    assert shell.run_text(":param x") and "Write :param NAME => VALUE" in out.getvalue()


def test_transactions_are_begun_and_ended(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    for line in (":begin", "CREATE (:Left);", ":rollback", ":begin", "CREATE (:Kept);", ":begin", ":commit", ":commit"):
        shell.run_text(line)
    assert db.run("MATCH (n:Left|Kept) RETURN labels(n)").value() == [["Kept"]]
    assert "A transaction is already open" in out.getvalue()
    assert "There is no open transaction" in out.getvalue()


def test_leaving_rolls_an_open_transaction_back(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    assert shell.run_script(":begin\nCREATE (:Left);\n:quit\n") == 1
    assert "was rolled back" in out.getvalue()
    assert db.run("MATCH (n:Left) RETURN count(n)").value() == [0]


def test_a_file_is_run_until_a_statement_fails(db: hoplite.Database, tmp_path: Path) -> None:
    file = tmp_path / "some statements.cypher"
    file.write_text(
        "CREATE (:One);\n:param n => 2\nCREATE (:Two {n: $n}); RETURN x; CREATE (:Three);", encoding="utf-8"
    )
    shell, out = shell_of(db)
    shell.run_text(f":source {file}")
    assert db.run("MATCH (n:One|Two|Three) RETURN count(n)").value() == [2]
    assert "Variable `x` not defined" in out.getvalue()
    shell.run_text(f":source {tmp_path / 'missing'}")
    assert "No such file" in out.getvalue()


UNCLOSED = "CREATE (:One);\n\nCREATE (:Two {name: 'its});\nCREATE (:Three);\n"


def test_a_quote_that_is_not_closed_is_an_error_of_a_script(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("RETURN 'abc;\n"))
    assert main(["shell"]) == 1
    shown = capsys.readouterr()
    assert "Line 1: the statement that begins here is not complete" in shown.out + shown.err


def test_a_quote_that_is_not_closed_is_an_error_of_a_file(db: hoplite.Database, tmp_path: Path) -> None:
    file = tmp_path / "broken.cypher"
    file.write_text(UNCLOSED, encoding="utf-8")
    shell, out = shell_of(db)
    assert shell.run_script(f":source {file}\nCREATE (:Four);") == 1
    assert f"{file}, line 3: the statement that begins here is not complete: the string that opens in line 3" in (
        out.getvalue()
    )
    assert db.run("MATCH (n:One|Two|Three|Four) RETURN labels(n)[0]").value() == ["One"]


def test_a_file_does_not_read_itself(db: hoplite.Database, tmp_path: Path) -> None:
    one, two = tmp_path / "one.cypher", tmp_path / "two.cypher"
    one.write_text(f"CREATE (:One);\n:source {two}\n", encoding="utf-8")
    two.write_text(f":source {one}\nCREATE (:Two);\n", encoding="utf-8")
    shell, out = shell_of(db)
    assert shell.run_script(f":source {one}") == 1
    assert f"{one} is being read already" in out.getvalue()
    assert db.run("MATCH (n:One|Two) RETURN labels(n)[0]").value() == ["One"]
    two.write_text("CREATE (:Two);\n", encoding="utf-8")
    shell, out = shell_of(db)
    assert shell.run_script(f":source {one}\n:source {one}\n:source {two}") == 0  # again, but not within itself
    assert db.run("MATCH (n:Two) RETURN count(n)").value() == [3]


def test_quit_in_a_file_leaves_the_shell(db: hoplite.Database, tmp_path: Path) -> None:
    file = tmp_path / "some.cypher"
    file.write_text("CREATE (:One);\n:quit\nCREATE (:Two);", encoding="utf-8")
    shell, _ = shell_of(db)
    assert shell.run_script(f":source {file}\nCREATE (:Three);") == 0
    assert db.run("MATCH (n:One|Two|Three) RETURN labels(n)[0]").value() == ["One"]
    assert not shell_of(db)[0].run_text(f":source {file}")


def test_comments_stand_before_commands_and_at_the_end(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    assert shell.run_script("// a parameter\n:param x => 41\nRETURN $x + 1 AS x;\n// it's the end\n") == 0
    assert "42" in out.getvalue()


def test_modes_and_limits(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    for line in (":mode csv", ":limit 2", "UNWIND range(7, 9) AS x RETURN x;"):
        shell.run_text(line)
    assert out.getvalue().splitlines()[:3] == ["x", "7", "8"]
    assert "3 rows (the first 2 are shown)" in out.getvalue()
    for line in (":mode table", ":limit 1", "UNWIND range(7, 9) AS x RETURN x;"):
        shell.run_text(line)
    assert "3 rows (the first is shown)" in out.getvalue()
    for line, complaint in ((":mode xml", "table, json"), (":limit some", "a number"), (":pager maybe", "on or off")):
        shell.run_text(line)
        assert complaint in out.getvalue()


MANY = "UNWIND range(1, 1000) AS x RETURN x, 'a\\tb' AS y;"


def read(form: str, text: str) -> list[Any]:
    if form == "csv":
        return [{"x": int(row["x"]), "y": row["y"]} for row in csv.DictReader(io.StringIO(text))]
    rows: list[Any] = json.loads(text) if form == "json" else [json.loads(line) for line in text.splitlines()]
    return rows


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_a_piped_shell_prints_what_programs_can_read(
    form: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f":mode {form}\nCREATE (:X);\n{MANY}"))
    assert main(["shell"]) == 0
    shown = capsys.readouterr()
    assert read(form, shown.out) == [{"x": x, "y": "a\tb"} for x in range(1, 1001)]
    assert shown.err == ""
    monkeypatch.setattr("sys.stdin", io.StringIO(f":mode {form}\n:limit 3\n{MANY}"))
    assert main(["shell"]) == 0
    shown = capsys.readouterr()
    assert len(read(form, shown.out)) == 3 and "1,000 rows (the first 3 are shown)" in shown.err


def test_what_is_not_an_answer_goes_to_standard_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for script, told in (
        ("RETURN y;", "Variable `y` not defined"),
        (":mode xml", ":mode takes table"),
        (":nothing", "There is no :nothing"),
        (":mode csv\nMATCH (n:Nothing) RETURN n.x AS x;", "Nothing"),
        (":begin\n:mode csv\nRETURN 1 AS x;", "was rolled back"),
        (":mode csv\nPROFILE RETURN 1 AS x;", "DB Hits"),
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO(script))
        main(["shell"])
        shown = capsys.readouterr()
        assert told in shown.err and shown.out in ("", "x\n", "x\n1\n")


def test_a_plan_in_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(":mode json\nEXPLAIN RETURN 1 AS x;"))
    assert main(["shell"]) == 0
    assert json.loads(capsys.readouterr().out)["operatorType"] == "ProduceResults@neo4j"


def on_a_screen(db: hoplite.Database, monkeypatch: pytest.MonkeyPatch, pager: str) -> tuple[Shell, io.StringIO]:
    shell, out = shell_of(db)
    shell.console = shell.errors = Console(file=out, width=80, height=25, force_terminal=True, color_system=None)
    monkeypatch.delenv("MANPAGER", raising=False)
    monkeypatch.setenv("PAGER", pager)
    monkeypatch.setattr("hoplite.cli.shell.page", lambda text: out.write(f"paged\n{text}"))
    return shell, out


def test_tables_on_a_screen_end_after_200_rows(db: hoplite.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    shell, out = on_a_screen(db, monkeypatch, "cat")
    shell.run_text(MANY)
    assert "1,000 rows (the first 200 are shown)" in out.getvalue() and "│  200 │" not in out.getvalue()
    assert "│ 200 │" in out.getvalue() and "201" not in out.getvalue()
    shell.run_text(":limit 0")
    shell.run_text(MANY)
    assert "│ 1000 │" in out.getvalue()
    shell, out = on_a_screen(db, monkeypatch, "cat")
    shell.run_text(":mode csv")
    shell.run_text(MANY)
    assert "1000,a" in out.getvalue() and "1,000 rows, " in out.getvalue()


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
def test_answers_longer_than_the_screen_are_paged(
    form: str, db: hoplite.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for query, is_paged in (
        ("UNWIND range(1, 3) AS x RETURN x;", False),
        ("UNWIND range(1, 80) AS x RETURN x;", True),
        (f"RETURN '{'long ' * 500}' AS x;", True),  # one row, of many lines
    ):
        shell, out = on_a_screen(db, monkeypatch, "cat")
        shell.run_text(f":mode {form}")
        shell.run_text(query)
        assert ("paged" in out.getvalue()) is is_paged
        shell.run_text(":pager off")
        out.seek(0)
        out.truncate()
        shell.run_text(query)
        assert "paged" not in out.getvalue() and len(out.getvalue().splitlines()) > 1


def test_without_its_pager_an_answer_is_printed(db: hoplite.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    shell, out = on_a_screen(db, monkeypatch, "no-such-pager -R")
    shell.run_text("UNWIND range(1, 80) AS x RETURN x;")
    assert "The pager no-such-pager -R is not installed" in out.getvalue()
    assert "paged" not in out.getvalue() and "│ 80 │" in out.getvalue() and shell.failures == 0


@pytest.mark.parametrize("text", [":param  => 1", ":param x =>", ":param `` => 1"])
def test_a_parameter_has_a_name_and_a_value(text: str, db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    shell.run_text(text)
    assert "Write :param NAME => VALUE" in out.getvalue() and shell.parameters == {}


def test_parameters_in_braces_are_a_map(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    shell.run_text(":param {a: 1}.a")
    assert "a map of parameters" in out.getvalue() and shell.parameters == {}


def test_times_of_any_year_are_shown(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    shell.run_text(":param ides => date('-0044-03-15')")
    shell.run_text("RETURN $ides AS ides, date('+12345-01-01') AS late;")
    assert "-0044-03-15" in out.getvalue() and "+12345-01-01" in out.getvalue() and shell.failures == 0


def test_many_columns_become_records(db: hoplite.Database) -> None:
    shell, out = shell_of(db)
    shell.run_text("RETURN " + ", ".join(f"{n} AS column{n}" for n in range(40)) + ";")
    assert all(f"column{n} " in out.getvalue() for n in range(40))


@pytest.mark.parametrize("word", ["exit", "quit", "exit;", ":q", ":quit", "EXIT"])
def test_people_leave_in_many_ways(db: hoplite.Database, word: str) -> None:
    shell, _ = shell_of(db)
    assert not shell.run_text(word)


def test_the_prompt_takes_lines_until_a_semicolon(
    db: hoplite.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with create_pipe_input() as keys:
        session = prompt_session(db, input=keys, output=DummyOutput())
        keys.send_text("MATCH (n)\rRETURN n;\r")
        assert session.prompt("> ") == "MATCH (n)\nRETURN n;"
    assert "RETURN n;" in (tmp_path / "hoplite" / "history").read_text()


def test_standard_input_is_a_script(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("RETURN 1 AS one; RETURN y; RETURN 3 AS three;"))
    assert main(["shell"]) == 1
    shown = capsys.readouterr()
    assert "one" in shown.out and "Variable `y` not defined" in shown.err and "three" not in shown.out
