"""How deep a syntax tree is, and how deep that of some tokens can be at most."""

from __future__ import annotations

from typing import Any

from hoplite.grammar import ast
from hoplite.grammar.limits import TextLimits, too_deep
from hoplite.grammar.statement import Statement
from hoplite.grammar.tokens import Token
from hoplite.grammar.tree import children

_LEVELS_FOR_BRACKET = 20  # upper bound: a subquery's clauses, items, and an operator of each precedence in another
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
# What makes a tree deeper without a bracket around it: operators before and after their operand, and lists of types.
_DEEPENING = frozenset([".", "[", "+", "-", "!", ":", "::", "<", "NOT", "IS", "LIST", "ARRAY"])


def most_levels(tokens: list[Token]) -> int:
    """An upper bound for the depth of a tree of these tokens, found without looking at it."""
    opened = deepest = cases = others = 0
    for token in tokens:
        word = token.word
        if word in _DEEPENING:
            others += 1
        if word in _OPENING:
            opened += 1
            deepest = max(deepest, opened)
        elif word in _CLOSING:
            opened -= 1
        elif word == "CASE":
            cases += 1
    return _LEVELS_FOR_BRACKET * (1 + deepest + cases) + others


def check_depth(statement: Statement, text: str, limits: TextLimits) -> None:
    """Raise if the tree is deeper than a statement may be.

    The left side of an operator counts as no deeper than the operator: chains lean to the left and are handled as
    lists.
    """
    limit, place = limits.max_nesting, 0
    waiting: list[tuple[Any, int]] = [(statement, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > limit:
            raise too_deep(text, place, limits)
        below = children(node)
        if below:
            place = node.span.start
        if isinstance(node, ast.Binary):
            waiting.append((node.left, depth if isinstance(node.left, ast.Binary) else depth + 1))
            waiting.append((node.right, depth + 1))
        else:
            waiting += [(child, depth + 1) for child in below]
