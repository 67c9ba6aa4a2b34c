"""The offset that Neo4j reports for each kind of expression.

Most are reported where they start. Operators are at their sign, `x IS NULL` at the IS, `n {.a}` at the brace, and
`list[i]` at its index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hoplite.grammar import ast
from hoplite.lazy import lazy_pattern

_BETWEEN = lazy_pattern(r"(?:\s|,|\)|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_GAP = lazy_pattern(r"(?:\s|\)|//[^\n]*|/\*.*?\*/)*", re.DOTALL)


def position(expression: ast.Expression, text: str) -> int:
    """The offset that messages about an expression point to."""
    match expression:
        case ast.Binary(operator_span=span):
            return span.start
        case ast.Comparison(operator_spans=spans) if spans:
            return spans[0].start
        case ast.IsNull(operand=operand) | ast.IsType(operand=operand) | ast.IsNormalized(operand=operand):
            return after(operand.span.end, text)
        case ast.MapProjection(subject=subject):
            return after(subject.span.end, text)
        case ast.Index(index=index):
            return position(index, text)
        case ast.Slice(subject=subject):
            return after(subject.span.end, text)
        case ast.Property(subject=subject):
            return position(subject, text)
        case _:
            return expression.span.start


def key_offsets(literal: ast.MapLiteral, text: str) -> Iterator[tuple[str, int]]:
    """The keys of a map with their offsets, which the AST does not keep."""
    start = literal.span.start + 1
    for key, value in literal.entries:
        found = _BETWEEN.match(text, start)
        yield key, start if found is None else found.end()
        start = value.span.end


def after(offset: int, text: str) -> int:
    """The next character that is not whitespace, part of a comment or a closing parenthesis."""
    found = _GAP.match(text, offset)
    return offset if found is None else found.end()
