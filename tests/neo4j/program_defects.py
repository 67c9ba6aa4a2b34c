"""Why Neo4j 5.26.12 and Hoplite differ in a random program where Neo4j is at fault. Each with its evidence.

An aggregation inside a subquery is taken for one of the clause around it: WITH 1 AS k RETURN size(COLLECT { RETURN 1 AS
x }) + k answers, RETURN size(COLLECT { RETURN count(*) AS x }) + k is a SyntaxError about the implicit grouping key k.

A property of FOREACH's variable that is read twice is read once for all elements: with (:B {id: 3}) and (:B {id: 4}),
MATCH (b:B) WITH collect(b) AS l FOREACH (f IN l | CREATE (:A {i: f.id}), (:D {i: f.id})) makes two (:A {i: 3}).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from neo4j import Driver
from neo4j.exceptions import Neo4jError

AGGREGATION_WITHIN = "known defect of Neo4j: an aggregation in a subquery is taken for the clause's"
INTERNAL_ERROR = "known defect of Neo4j: an internal error"
FOREACH_CACHE = "known defect of Neo4j: a property of FOREACH's variable is read once for all elements"
_FOREACH = re.compile(r"FOREACH \((\w+) IN")


def explained(
    driver: Driver, program: Sequence[str], ours: Sequence[tuple[str, ...]], theirs: Sequence[tuple[str, ...]]
) -> str | None:
    """The defect behind the first difference; None where somebody must find out."""
    place = next((n for n, (mine, other) in enumerate(zip(ours, theirs, strict=True)) if mine != other), None)
    if place is None:
        return None
    if place == len(ours) - 1:
        statement = program[place - 1]
        names = _FOREACH.findall(statement)
        return FOREACH_CACHE if any(statement.count(f"{name}.") > 1 for name in names) else None
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
