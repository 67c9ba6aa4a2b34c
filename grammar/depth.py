"""How deep a syntax tree is."""

from __future__ import annotations

from typing import Any

from hoplite.grammar import ast
from hoplite.grammar.limits import TextLimits, too_deep
from hoplite.grammar.statement import Statement
from hoplite.grammar.tree import children


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
