"""Defects of Neo4j 5.26.12 that fuzzing has met: answers that contradict Neo4j's own rules. Each with its evidence."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from hoplite.differ.compare import Comparison


@dataclass(frozen=True, slots=True)
class Defect:
    """`applies` tells whether a difference has this cause; `evidence` shows that Neo4j is wrong, not us."""

    name: str
    evidence: str
    applies: Callable[[str, Comparison], bool]


def _planner_assertion(query: str, comparison: Comparison) -> bool:
    failure = comparison.neo4j.failure
    return failure is not None and failure.message.startswith("Expected: \nRegularSinglePlannerQuery")


def _degree_of_text(query: str, comparison: Comparison) -> bool:
    failure = comparison.neo4j.failure
    return failure is not None and failure.message.startswith("Expected a numeric value but got:")


def _path_after_distinct(query: str, comparison: Comparison) -> bool:
    failure = comparison.neo4j.failure
    told = "In a WITH/RETURN with DISTINCT or an aggregation, it is not possible to access variables declared before"
    return failure is not None and comparison.hoplite.failure is None and failure.message.startswith(told)


def _reverse_of_stored(query: str, comparison: Comparison) -> bool:
    failure = comparison.neo4j.failure
    told = "Invalid input for function 'reverse()': Expected a string or a list"
    return failure is not None and comparison.hoplite.failure is None and failure.message.startswith(told)


def _rows_lost_to_delete(query: str, comparison: Comparison) -> bool:
    if "DETACH DELETE" not in query or comparison.hoplite.failure is not None or comparison.neo4j.failure is not None:
        return False
    ours, theirs = comparison.hoplite.counters or {}, comparison.neo4j.counters or {}
    return ours != theirs and all(theirs.get(name, 0) <= count for name, count in ours.items())


_TWICE_THE_TYPE = re.compile(r":(\w+)\|\1\b")


def _type_twice(query: str, comparison: Comparison) -> bool:
    return _TWICE_THE_TYPE.search(query) is not None


def _nan_groups(query: str, comparison: Comparison) -> bool:
    rows = (*comparison.only_hoplite, *comparison.only_neo4j)
    return bool(rows) and all(("float", "NaN") in row for row in rows)


DEFECTS: tuple[Defect, ...] = (
    Defect(
        "NaN is one group or many",
        "NaN equals nothing, and UNWIND [NaN, NaN] AS x RETURN x, count(*) gives two rows; but where rows share the"
        " value itself they fall into one group: WITH NaN AS x UNWIND [1, 2] AS i RETURN x, count(*) gives one row.",
        _nan_groups,
    ),
    Defect(
        "a stored list cannot be reversed",
        "CREATE (:X {l: [1, 2]}), then MATCH (n:X) RETURN reverse(n.l) is a TypeError (Expected a string or a list),"
        " where reverse([1, 2]), reverse(n.l + []) and tail(n.l) answer.",
        _reverse_of_stored,
    ),
    Defect(
        "rows are lost when DETACH DELETE removes what is still being read",
        "CREATE (n) WITH n UNWIND range(1, 7) AS i CREATE (n)-[:R]->(n), then MATCH ()<-[:R]-(n) RETURN count(*) gives"
        " 7, but MATCH ()<-[:R]-(n) DETACH DELETE n RETURN count(*) gives 2: no Eager stands between them.",
        _rows_lost_to_delete,
    ),
    Defect(
        "a degree compared with what is not a number",
        "CREATE (:X {m: 'a'}), then MATCH (n:X) RETURN n.m < COUNT { (n)-->() } is a TypeError (Expected a numeric"
        " value but got: String), where n.m < 0 is null.",
        _degree_of_text,
    ),
    Defect(
        "cannot filter by a path after DISTINCT",
        "MATCH p = (a)-->(b) WITH DISTINCT p WHERE length(p) = 1 RETURN p is a SyntaxError about `a`, which stands only"
        " in the pattern; WITH DISTINCT p WITH p WHERE length(p) = 1 is none.",
        _path_after_distinct,
    ),
    Defect(
        "a type that is named twice is counted twice",
        "CREATE (:X)-[:S]->(), then MATCH (n:X)-[r:S|S]->() RETURN r gives one row, RETURN count(r) gives 2, and"
        " so does MATCH (n:X) RETURN COUNT { (n)-[:S|S]->() }.",
        _type_twice,
    ),
    Defect(
        "a plan that the planner itself refuses",
        "MATCH (n)-->(m) OPTIONAL MATCH SHORTEST 1 GROUPS (c:C)-[]->{1,3}(d:C) RETURN DISTINCT d.id fails with"
        " DatabaseError.Statement.ExecutionFailed and a dump of two query graphs that differ in one variable;"
        " without DISTINCT it answers.",
        _planner_assertion,
    ),
)


def known_defect(query: str, comparison: Comparison) -> str | None:
    """The defect behind a difference; None if it is not known."""
    return next((defect.name for defect in DEFECTS if defect.applies(query, comparison)), None)
