"""What the shell does with a line."""

from __future__ import annotations

import pytest

from hoplite.cli.statements import Entry, is_finished, script_entries
from hoplite.grammar.statements import statement_end


@pytest.mark.parametrize("text", ["", "  ", ":help", ":explain MATCH (n)", "RETURN 1;", "RETURN 1; // done;\n;"])
def test_enter_runs_what_is_finished(text: str) -> None:
    assert is_finished(text)


@pytest.mark.parametrize("text", ["MATCH (n)", "RETURN ';", "RETURN 1; MATCH (n)", "RETURN 1 /* ;"])
def test_enter_begins_a_new_line_otherwise(text: str) -> None:
    assert not is_finished(text)


def test_a_script_is_taken_apart() -> None:
    script = """// what follows
:param x => 'it;'
/* a
comment */ RETURN 1; RETURN ';'
// ;
AS x; :mode csv
exit
RETURN
  3
"""
    assert list(script_entries(script)) == [
        Entry(":param x => 'it;'", 2),
        Entry("RETURN 1", 4),
        Entry("RETURN ';'\n// ;\nAS x", 4),
        Entry(":mode csv", 6),
        Entry("exit", 7),
        Entry("RETURN\n  3", 8),
    ]


@pytest.mark.parametrize("script", ["", " \n", ";;\n;", "// only a comment", "/* only\na comment */\n"])
def test_a_script_of_nothing_has_no_entries(script: str) -> None:
    assert list(script_entries(script)) == []


@pytest.mark.parametrize(
    ("opening", "what"), [("'", "string"), ('"', "string"), ("`", "quoted name"), ("/*", "comment")]
)
def test_what_is_not_closed_is_named(opening: str, what: str) -> None:
    found = list(script_entries(f"RETURN 1;\n\nRETURN 2,\n 3 {opening} ; RETURN 4;\n"))
    assert [(entry.line, entry.unclosed) for entry in found] == [(1, ""), (3, f"the {what} that opens in line 4")]


def test_the_text_of_a_long_statement_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from hoplite.cli import statements

    looked: list[int] = []

    def counted(text: str, begin: int) -> tuple[int, int | None]:
        looked.append(begin)
        return statement_end(text, begin)

    monkeypatch.setattr(statements, "statement_end", counted)
    entries = list(script_entries("RETURN [\n" + "'a;',\n" * 4000 + "1];\nRETURN 2;"))
    assert len(entries) == len(looked) == 2
