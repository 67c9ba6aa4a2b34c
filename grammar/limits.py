"""How long a text may be, and how deeply it may be nested.

Recursive functions process the tree, so its depth must be bounded. So must the number of tokens: each takes about a
kilobyte until the statement is planned.
"""

from __future__ import annotations

from hoplite.errors import SYNTAX_ERROR, CypherError, position_of, with_position
from hoplite.gql_status import status
from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TextLimits:
    """Settings of a database. A long list of constants is one token, whatever its length.

    A level is an expression, pattern or subquery inside another. A chain of operators is one level.
    """

    max_text_length: int = 20_000_000
    max_tokens: int = 200_000
    max_nesting: int = 150


class TextLimitReached(CypherError):
    """A text that exceeds one of the limits."""


def too_long(text: str, limits: TextLimits) -> TextLimitReached:
    """More characters than `max_text_length`."""
    limit = limits.max_text_length
    return _reached(f"The statement has {len(text):,} characters; `max_text_length` is {limit:,}", text, limit)


def too_many_tokens(text: str, offset: int, limits: TextLimits) -> TextLimitReached:
    """More tokens than `max_tokens`."""
    return _reached(f"The statement has too many tokens; `max_tokens` is {limits.max_tokens:,}", text, offset)


def too_deep(text: str, offset: int, limits: TextLimits) -> TextLimitReached:
    """More levels than `max_nesting`."""
    return _reached(f"The statement is nested too deeply; `max_nesting` is {limits.max_nesting:,}", text, offset)


def _reached(message: str, text: str, offset: int) -> TextLimitReached:
    shown = with_position(f"{message}. Split the statement, or use lists and parameters.", text, offset)
    return TextLimitReached(SYNTAX_ERROR, shown, status("42001"), position_of(text, offset))
