"""The shell: statements and commands, from a prompt that is fed keys, and from standard input."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

import hoplite
from hoplite.cli import main
from hoplite.cli.shell import Shell, prompt_session


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as db:
        db.run("CREATE (:Drug {name: 'Aspirin'})-[:TREATS]->(:Disease {name: 'Fever'})").consume()
        yield db


def shell_of(db: hoplite.Database) -> tuple[Shell, io.StringIO]:
    out = io.StringIO()
    shell = Shell(db, {"timeout": None, "max_rows": None, "read_only": False})
    shell.console = Console(file=out, width=120)
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
    out = capsys.readouterr().out
    assert "one" in out and "Variable `y` not defined" in out and "three" not in out
