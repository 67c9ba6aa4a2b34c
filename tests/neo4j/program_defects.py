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

A count of all relationships of a node is a degree, and for Neo4j's planner a degree that is asked inside an operator
that writes reads nothing: MATCH (a) CALL (a) { CREATE (a)-[:T {w: COUNT { (a)--() }}]->(a) } counts the relationship
that is being made and those of the rows before, in CALL (a) { WITH a CREATE ... } it does not, and neither does a
count of (a)--(:A). Also in FOREACH, in MERGE and in SET before a CREATE. A program is explained by this where both
sides agree once its counts are not degrees.

MERGE goes on matching while ON MATCH writes: with two loops at (:A {x: 2}), MATCH (a) MERGE (a)-[:T]->(n {x: 2}) ON
MATCH SET n.x = 1 matches one of them, and MATCH (a)-[:T]->(n {x: 2}) two. A program is explained by this where both
sides agree once ON MATCH writes another key.

OPTIONAL MATCH of one relationship from a node that was deleted loses the row: MATCH (a:A) DETACH DELETE a WITH a
OPTIONAL MATCH (a)-->(m) has no rows, and OPTIONAL MATCH (a)-->(m)-->(k) one. A program is explained by this where
both sides agree once it asks for paths of length one.

A difference that is not Neo4j's: CALL (*) inside COLLECT imports no names from around COLLECT. One of them that is
declared again in an expression inside the CALL is refused as shadowing where COLLECT itself has named it in a pattern;
Hoplite takes it for a new one.
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
DEGREES = "known defect of Neo4j: a degree inside a clause that writes is read too late"
LOST_ROWS = "known defect of Neo4j: OPTIONAL MATCH of one relationship from a deleted node loses the row"
OTHER_ERROR = "both fail, Neo4j with an error of another row: it goes row by row, Hoplite clause by clause"
SHADOWING = "known difference: a name that CALL (*) leaves out is declared again inside it"
LAZY_MERGE = "known defect of Neo4j: MERGE matches on while ON MATCH writes"
_SYNTAX = "Neo.ClientError.Statement.SyntaxError"
_ORDERED = re.compile(r"ORDER BY ([\w., ]+?) (?=[A-Z])")
_FOREACH = re.compile(r"FOREACH \((\w+) IN")
_SIZE = re.compile(r"size\(\[\((\w+)\)--\(z\) \| z\]\)")
_EXISTS = re.compile(r"EXISTS \{ \((\w+)\)-\[:(\w+)\]->\(\) \}")
_OPTIONAL = re.compile(r"(OPTIONAL MATCH \(\w+\))(?:-\[:(\w+)\]-(>?)|--(>?))(\(\w+\))")
_ON_MATCH = re.compile(r"(ON MATCH SET \w+\.)x = ")

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
    statement = min(place, len(ours) - 2)  # where only the graph differs, the one that made it
    for changes, defect in _REMEDIES:
        changed = program[statement]
        for change in changes:
            changed = change(changed)
        if changed != program[statement]:
            mine, other = again([*program[:statement], changed])
            if mine == other:
                return defect
    if place == len(ours) - 1:
        return None
    code = theirs[place][0]
    if code.startswith("Neo.DatabaseError.") and not ours[place][0].startswith("Neo."):
        return INTERNAL_ERROR
    if code.startswith("Neo.") and ours[place][0].startswith("Neo.") and _SYNTAX not in (code, ours[place][0]):
        return OTHER_ERROR  # nothing is written, and the same rows fail
    if code == _SYNTAX and "{" in program[place]:
        try:
            driver.execute_query("EXPLAIN " + program[place])
        except Neo4jError as error:
            told = error.message or ""
            if told.startswith("Aggregation column contains implicit grouping expressions"):
                return AGGREGATION_WITHIN
            if (
                "is shadowing a variable with the same name from the outer scope" in told
                and "CALL (*)" in program[place]
            ):
                return SHADOWING
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


def _without_degrees(statement: str) -> str:
    """The statement with counts that Neo4j does not answer by degrees."""
    statement = _SIZE.sub(r"size([(\1)--(z) WHERE coalesce(z.id, 0) >= 0 | z])", statement)
    return _EXISTS.sub(r"EXISTS { (\1)-[:\2]->(z) WHERE coalesce(z.id, 0) >= 0 }", statement)


def _with_other_key(statement: str) -> str:
    """The statement with ON MATCH writing a key that MERGE does not look for."""
    return _ON_MATCH.sub(r"\1p9 = ", statement)


def _with_lengths(statement: str) -> str:
    """The statement with optional relationships as paths of one, which Neo4j expands by another operator."""
    return _OPTIONAL.sub(
        lambda found: (
            f"{found[1]}-[{f':{found[2]}' if found[2] else ''}*1..1]-{found[3] or ''}{found[4] or ''}{found[5]}"
        ),
        statement,
    )


_REMEDIES = (
    ((_without_cache,), FOREACH_CACHE),
    ((_with_barriers,), NO_EAGER),
    ((_without_degrees,), DEGREES),
    ((_with_other_key,), LAZY_MERGE),
    ((_with_lengths,), LOST_ROWS),
    ((_without_degrees, _with_barriers), DEGREES),
)
