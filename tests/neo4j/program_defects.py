"""Why Neo4j 5.26.12 and Hoplite differ in a random program where Neo4j is at fault. Each with its evidence.

An aggregation inside a subquery is taken for one of the clause around it: WITH 1 AS k RETURN size(COLLECT { RETURN 1 AS
x }) + k answers, RETURN size(COLLECT { RETURN count(*) AS x }) + k is a SyntaxError about the implicit grouping key k.

A property of FOREACH's variable that is read twice is read once for all elements: with (:B {id: 3}) and (:B {id: 4}),
MATCH (b:B) WITH collect(b) AS l FOREACH (f IN l | CREATE (:A {i: f.id}), (:D {i: f.id})) makes two (:A {i: 3}). Read as
properties(f).id it is read for each: a program is explained by this where both sides agree once it reads them so.

What the values of SET read of patterns is read while rows that come later have yet to write: with (a)-[:S]->(b) and
(b)-[:S]->(a), MATCH (x)-[:S]->(y) CREATE (x)-[:T]->(x) SET y.d = COUNT { (y)--() } counts 2 for one of them and 3 for
the other, where CREATE (x)-[:T]->(x) WITH y, COUNT { (y)--() } AS d counts 3 for both: there is an Eager before WITH,
and none before SET. A program is explained by this where both sides agree once rows are sorted before each SET.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from neo4j import Driver
from neo4j.exceptions import Neo4jError

AGGREGATION_WITHIN = "known defect of Neo4j: an aggregation in a subquery is taken for the clause's"
INTERNAL_ERROR = "known defect of Neo4j: an internal error"
FOREACH_CACHE = "known defect of Neo4j: a property of FOREACH's variable is read once for all elements"
NO_EAGER = "known defect of Neo4j: SET reads patterns before all rows are written"
_ORDERED = re.compile(r"ORDER BY ([\w., ]+?) (?=[A-Z])")
_FOREACH = re.compile(r"FOREACH \((\w+) IN")

Outcomes: TypeAlias = Sequence[tuple[str, ...]]


def explained(
    driver: Driver,
    program: Sequence[str],
    ours: Outcomes,
    theirs: Outcomes,
    again: Callable[[Sequence[str]], tuple[Outcomes, Outcomes]],
) -> str | None:
    """The defect behind the first difference; None where somebody must find out. `again` runs a program on both."""
    place = next((n for n, (mine, other) in enumerate(zip(ours, theirs, strict=True)) if mine != other), None)
    if place is None:
        return None
    if place == len(ours) - 1:
        for change, defect in ((_without_cache, FOREACH_CACHE), (_with_barriers, NO_EAGER)):
            changed = change(program[place - 1])
            if changed != program[place - 1]:
                mine, other = again([*program[: place - 1], changed])
                if mine == other:
                    return defect
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


def _without_cache(statement: str) -> str:
    """The statement with what it reads of FOREACH's variables read in a way that Neo4j does not remember."""
    for name in _FOREACH.findall(statement):
        statement = re.sub(rf"\b{name}\.(\w+)\b(?! = )", rf"properties({name}).\1", statement)
    return statement


def _with_barriers(statement: str) -> str:
    """The statement with its rows sorted, one way and back, before each SET: no row gets there before all have come."""
    ordered = _ORDERED.search(statement)
    if ordered is None:
        return statement
    keys = ordered[1].split(", ")
    barrier = f"WITH * ORDER BY {keys[0]} DESC WITH * ORDER BY {', '.join(keys)} "
    pieces, depth, begin = [], 0, 0
    for place, character in enumerate(statement):
        depth += (character in "([{") - (character in ")]}")
        if (
            not depth
            and statement.startswith("SET ", place)
            and not statement[:place].endswith((" CREATE ", " MATCH "))
        ):
            pieces += [statement[begin:place], barrier]
            begin = place
    return "".join([*pieces, statement[begin:]])
