"""Short ways to look at what was parsed, for the tests of the grammar."""

from __future__ import annotations

from hoplite.errors import CypherError
from hoplite.grammar import ast
from hoplite.grammar.parse import parse


def query(text: str) -> ast.SingleQuery:
    """The only single query of a text."""
    body = parse(text).body
    assert isinstance(body, ast.SingleQuery)
    return body


def clause(text: str) -> ast.Clause:
    """The first clause of a text."""
    return query(text).clauses[0]


def expression(text: str) -> ast.Expression:
    """What `text` is as the only item of a RETURN."""
    only = clause(f"RETURN {text}")
    assert isinstance(only, ast.ReturnClause)
    return only.projection.items[0].expression


def element(text: str, index: int = 0) -> ast.NodePattern | ast.RelationshipPattern | ast.ParenthesizedPath:
    """One element of the pattern that `text` is in a MATCH."""
    match = clause(f"MATCH {text} RETURN 1")
    assert isinstance(match, ast.MatchClause)
    chain = match.patterns[0].pattern
    assert isinstance(chain, ast.PatternChain)
    return chain.elements[index]


def refusal(text: str) -> CypherError:
    """The error that a text gives."""
    try:
        parse(text)
    except CypherError as error:
        return error
    raise AssertionError(f"parsed: {text}")


def first_line(text: str) -> str:
    """The first line of the message that a text gives."""
    return refusal(text).message.split("\n")[0]
