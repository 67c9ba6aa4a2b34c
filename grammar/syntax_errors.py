"""The error for a token that does not fit, in Neo4j's words.

`Invalid input 'X': expected an expression, ',', 'AS' ... or <EOF>`: what could have stood there is asked of the parse
table, and the terminals that continue or begin an expression, a pattern or a name are summed up under that title.
"""

from __future__ import annotations

from hoplite.errors import CypherError, syntax_error
from hoplite.grammar.lookahead import can_shift, choose_kind
from hoplite.grammar.table import Table
from hoplite.grammar.tokens import END, Token


def unexpected(text: str, table: Table, tokens: list[Token], position: int) -> CypherError:
    """The error for the token at `position`, at which the machine stopped."""
    token = tokens[position]
    if token.text in ("'", '"'):
        return syntax_error(
            "Failed to parse string literal. The query must contain an even number of non-escaped quotes.",
            text,
            token.start,
        )
    if text[max(token.start - 1, 0) : token.start + 1] == "/*":
        return syntax_error(
            "Failed to parse comment. A comment starting on `/*` must have a closing `*/`.",
            text,
            token.start,
        )
    states = _replay(table, tokens[:position])
    expected = _expected(table, states)
    return syntax_error(f"Invalid input '{token.text}': expected {expected}", text, token.start)


def _replay(table: Table, tokens: list[Token]) -> list[int]:
    """The states of the machine after these tokens."""
    states = [table.start]
    for token in tokens:
        kind = choose_kind(table, states, token.kinds)
        while True:
            step = table.actions[states[-1]][kind]
            if step >= 0:
                states.append(step)
                break
            rule = table.rules[-1 - step]
            del states[-rule.size :]
            states.append(table.goto[states[-1]][rule.origin])
    return states


def _expected(table: Table, states: list[int]) -> str:
    kinds = [kind for kind in table.actions[states[-1]] if can_shift(table, states, kind)]
    words = sorted(kind for kind in kinds if kind != END)
    return " or ".join(words)
