"""Why Neo4j 5.26.12 and Hoplite differ in a random program where Neo4j is at fault. Each with its evidence.

An aggregation inside a subquery is taken for one of the clause around it: WITH 1 AS k RETURN size(COLLECT { RETURN 1 AS
x }) + k answers, RETURN size(COLLECT { RETURN count(*) AS x }) + k is a SyntaxError about the implicit grouping key k.
"""

from __future__ import annotations

from collections.abc import Sequence

from neo4j import Driver
from neo4j.exceptions import Neo4jError

AGGREGATION_WITHIN = "known defect of Neo4j: an aggregation in a subquery is taken for the clause's"
INTERNAL_ERROR = "known defect of Neo4j: an internal error"


def explained(
    driver: Driver, program: Sequence[str], ours: Sequence[tuple[str, ...]], theirs: Sequence[tuple[str, ...]]
) -> str | None:
    """The defect behind the first difference; None where somebody must find out."""
    place = next((n for n, (mine, other) in enumerate(zip(ours, theirs, strict=True)) if mine != other), None)
    if place is None or place == len(ours) - 1:
        return None
    code = theirs[place][0]
    if code.startswith("Neo.DatabaseError.") and not ours[place][0].startswith("Neo."):
        return INTERNAL_ERROR
    if code == "Neo.ClientError.Statement.SyntaxError" and "count(*)" in program[place] and "{" in program[place]:
        try:
            driver.execute_query("EXPLAIN " + program[place])
        except Neo4jError as error:
            told = "Aggregation column contains implicit grouping expressions"
            return AGGREGATION_WITHIN if (error.message or "").startswith(told) else None
    return None
