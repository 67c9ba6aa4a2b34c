"""Syntax errors: the token, the place and what was expected, as Neo4j says it."""

from __future__ import annotations

import pytest

from tests.grammar.reading import first_line, refusal

CLAUSES = (
    "'CALL', 'CREATE', 'LOAD CSV', 'DELETE', 'DETACH', 'FINISH', 'INSERT', 'LIMIT', 'MATCH', 'MERGE', 'NODETACH', "
    "'OFFSET', 'OPTIONAL', 'REMOVE', 'RETURN', 'SET', 'SKIP'"
)


def test_the_message_ends_in_the_line_and_a_caret() -> None:
    error = refusal("MATCH (n)\nRETURN n.name n  \n")
    assert error.code == "Neo.ClientError.Statement.SyntaxError"
    assert error.message == (
        f"Invalid input 'n': expected an expression, 'FOREACH', ',', 'AS', 'ORDER BY', {CLAUSES}, 'UNION', 'UNWIND', "
        "'USE', 'WITH' or <EOF> (line 2, column 15 (offset: 24))\n"
        '"RETURN n.name n"\n'
        "               ^"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MATCH (n) WHERE RETURN n", "Invalid input 'n': expected an expression, 'FOREACH', 'ORDER BY', "),
        ("RETURN 1 +", "Invalid input '': expected an expression (line 1, column 11 (offset: 10))"),
        ("RETURN a == b", "Invalid input '=': expected an expression (line 1, column 11 (offset: 10))"),
        ("MATCH n RETURN n", "Invalid input 'RETURN': expected a graph pattern (line 1, column 9 (offset: 8))"),
        ("RETURN", "Invalid input '': expected an expression, '*' or 'DISTINCT' (line 1, column 7 (offset: 6))"),
        ("MATCH (n:)", "Invalid input ')': expected a node label/relationship type name, '$', '%' or '(' ("),
        ("MATCH (n:A B)", "Invalid input 'B': expected a parameter, '&', ')', ':', 'WHERE', '{' or '|' ("),
        ("MATCH (n)-[r", "Invalid input '': expected a parameter, '*', ':', 'IS', 'WHERE', ']' or '{' ("),
        ("MATCH (n)-[r]{1}", "Invalid input '{': expected '-' ("),
        ("RETURN {a: 1, }", "Invalid input '}': expected an identifier ("),
        ("RETURN n {.a b}", "Invalid input 'b': expected ',' or '}' ("),
        ("UNWIND [1] x", "Invalid input 'x': expected an expression or 'AS' ("),
        ("RETURN filter(x IN [1] WHERE x)", "Invalid input 'WHERE': expected an expression, ')' or ',' ("),
        ("RETURN collect(.x)", "Invalid input '(': expected an expression, 'FOREACH', ',', 'AS', "),
        ("RETURN CASE WHEN a THEN 1 b END", "Invalid input 'WHEN': expected an expression, 'FOREACH', ',', 'AS', "),
        ("RETURN x IS NOT NUL", "Invalid input 'NUL': expected '::', 'NFC', 'NFD', 'NFKC', 'NFKD', 'NORMALIZED', "),
        ("OPTIONAL (n)", "Invalid input '(': expected 'CALL' or 'MATCH' ("),
        (
            "SELECT 1",
            "Invalid input 'SELECT': expected 'FOREACH', 'ALTER', 'ORDER BY', 'CALL', 'USING PERIODIC COMMIT'",
        ),
        ("RETURN --x", "Invalid input 'x': expected a number (line 1, column 10 (offset: 9))"),
        ("MATCH ()-[*$p", "Invalid input '': expected 'WHERE' or ']' ("),
    ],
)
def test_what_was_expected(text: str, message: str) -> None:
    assert first_line(text).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RETURN 'abc", "Failed to parse string literal. The query must contain an even number of non-escaped quotes."),
        ("RETURN 1 /* a", "Failed to parse comment. A comment starting on `/*` must have a closing `*/`."),
        (
            "RETURN 1 != 2",
            "Unknown operation '!=' (you probably meant to use '<>', which is the operator for inequality",
        ),
        ("RETURN 1; RETURN 2", "Expected exactly one statement per query but got: 2 (line 0, column 0 (offset: 0))"),
        ("", "Unexpected end of input: expected CYPHER, EXPLAIN, PROFILE or Query (line 0, column 0 (offset: 1))"),
        (r"RETURN '\u00g'", "Invalid input '00g'': expected four hexadecimal digits specifying a unicode character"),
        (
            "CREATE INDEX ON :A(x)",
            "Invalid create index syntax, use `CREATE INDEX FOR ...` instead. (line 1, column 14",
        ),
        ("CREATE INDEX FOR (n:A) ON (m.x)", "Variable `m` not defined (line 1, column 28 (offset: 27))"),
    ],
)
def test_special_messages(text: str, message: str) -> None:
    assert first_line(text).startswith(message)


def test_a_wrong_token_goes_before_a_number_that_is_too_large() -> None:
    assert first_line("RETURN 9223372036854775808 AND").startswith("Invalid input ''")


def test_positions_count_utf_16_units() -> None:
    assert first_line("RETURN '😀' 1").endswith("(line 1, column 13 (offset: 12))")
