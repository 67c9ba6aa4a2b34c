"""Queries whose answers differ from Neo4j's, or from its recorded ones, for a reason that is known.

Each class is described in docs/COMPATIBILITY.md, under "Machine-written queries".
"""

from __future__ import annotations

from hoplite.differ.compare import Comparison, Verdict

ROUNDED_KEY = "an average as a grouping key"
"""avg() of one set of values differs in its last digits with the order of rows, so that groups fall apart."""

LISTED_KEYS = "lists from keys() as values"
"""The same keys in another order are another list; Neo4j's order follows the order in which properties were stored."""

EXPLAINED: dict[str, str] = {
    "graph-data-science q07febcd0193e07": ROUNDED_KEY,
    "pole qdf4d93615cc48b": ROUNDED_KEY,
    "star-wars q38e87c6a475a0c": ROUNDED_KEY,
    "openstreetmap q7b6e3a032547d9": LISTED_KEYS,
}

ORDER_OF_EVALUATION = "an error in a query without rows"
"""Which part of a pattern is matched first is the planner's choice. Where one part has no match, the query has no rows,
and an expression that fails in another part is met by the planner that begins there, and not by the other."""


def fails_on_the_way_to_nothing(result: Comparison) -> bool:
    """Whether one side has no rows, and the other failed while it ran a query of several parts."""
    sides = (result.hoplite, result.neo4j)
    failures = [side.failure for side in sides if side.failure is not None]
    if result.verdict is not Verdict.ONE_ERROR or len(failures) != 1 or failures[0].code.endswith("SyntaxError"):
        return False
    has_parts = "]-" in result.query or "), " in result.query or result.query.count("MATCH") > 1
    return has_parts and not any(side.rows for side in sides)
