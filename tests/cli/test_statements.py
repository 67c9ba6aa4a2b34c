"""What the shell does with a line."""

from __future__ import annotations

import pytest

from hoplite.cli.statements import is_finished


@pytest.mark.parametrize("text", ["", "  ", ":help", ":explain MATCH (n)", "RETURN 1;", "RETURN 1; // done;\n;"])
def test_enter_runs_what_is_finished(text: str) -> None:
    assert is_finished(text)


@pytest.mark.parametrize("text", ["MATCH (n)", "RETURN ';", "RETURN 1; MATCH (n)", "RETURN 1 /* ;"])
def test_enter_begins_a_new_line_otherwise(text: str) -> None:
    assert not is_finished(text)
