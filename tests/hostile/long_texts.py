"""Long and deep texts: operators, lists, clauses and patterns, chained and nested thousands of times."""

from __future__ import annotations

from collections.abc import Callable

from tests.hostile.statement import Hostile

SIZES = (1_000, 10_000, 100_000, 1_000_000)

_SHAPES: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: f"RETURN {'(' * n}1{')' * n} AS x",
    "lists in lists": lambda n: f"RETURN {'[' * n}1{']' * n} AS x",
    "NOT": lambda n: f"RETURN {'NOT ' * n}true AS x",
    "AND": lambda n: f"MATCH (n) WHERE {' AND '.join(['n.x = 1'] * n)} RETURN n",
    "plus": lambda n: f"RETURN {'+'.join(['1'] * n)} AS x",
}

STATEMENTS = [
    Hostile(f"{shape} {size}", lambda make=make, size=size: make(size), sample=size == 1_000)  # type: ignore[misc]
    for shape, make in _SHAPES.items()
    for size in SIZES
]
