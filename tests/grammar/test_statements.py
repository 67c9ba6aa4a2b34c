"""Where a statement ends."""

from __future__ import annotations

import pytest

from hoplite.grammar.statements import split_statements


@pytest.mark.parametrize(
    ("text", "statements", "rest"),
    [
        ("RETURN 1;", ["RETURN 1"], ""),
        ("RETURN 1; RETURN 2;", ["RETURN 1", "RETURN 2"], ""),
        ("RETURN ';'; MATCH (n)", ["RETURN ';'"], "MATCH (n)"),
        ('RETURN "\\";"', [], 'RETURN "\\";"'),
        ("RETURN `a;b`;", ["RETURN `a;b`"], ""),
        ("RETURN 1 // one; two\n;", ["RETURN 1 // one; two"], ""),
        ("RETURN /* ; */ 1;", ["RETURN /* ; */ 1"], ""),
        (";;", [], ""),
        ("RETURN 'open ;", [], "RETURN 'open ;"),
    ],
)
def test_a_semicolon_ends_a_statement_unless_it_is_quoted(text: str, statements: list[str], rest: str) -> None:
    assert split_statements(text) == (statements, rest)
