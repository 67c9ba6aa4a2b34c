"""Why programs differ: a difference is only Neo4j's where the evidence says so. Needs no server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from tests.neo4j.program_defects import DEGREES, FOREACH_CACHE, LAZY_MERGE, LOST_ROWS, OTHER_ERROR, explained

PROGRAM = [
    "CREATE (:B {id: 3})",
    "MATCH (b) WITH collect(b) AS l FOREACH (f IN l | CREATE (:A {i: f.id, j: f.id}) SET f.x = 1)",
]
SAME = ("", "")


def test_a_difference_that_goes_when_nothing_is_remembered_is_the_defect() -> None:
    asked: list[Sequence[str]] = []

    def again(program: Sequence[str]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        asked.append(program)
        return [SAME, SAME, ("graph", "")], [SAME, SAME, ("graph", "")]

    ours, theirs = [SAME, SAME, ("one", "")], [SAME, SAME, ("other", "")]
    assert explained(cast(Any, None), PROGRAM, ours, theirs, again) == FOREACH_CACHE
    assert asked[0][-1] == (
        "MATCH (b) WITH collect(b) AS l "
        "FOREACH (f IN l | CREATE (:A {i: properties(f).id, j: properties(f).id}) SET f.x = 1)"
    )


def test_a_difference_that_stays_is_not() -> None:
    ours, theirs = [SAME, SAME, ("one", "")], [SAME, SAME, ("other", "")]
    assert explained(cast(Any, None), PROGRAM, ours, theirs, lambda _: (ours, theirs)) is None


@pytest.mark.parametrize(
    ("statement", "changed", "defect"),
    [
        (
            "MATCH (a) CALL (a) { CREATE (a)-[:R {w: size([(a)--(z) | z])}]->(a) }",
            "MATCH (a) CALL (a) { CREATE (a)-[:R {w: size([(a)--(z) WHERE coalesce(z.id, 0) >= 0 | z])}]->(a) }",
            DEGREES,
        ),
        (
            "MATCH (a) CREATE (:A {w: EXISTS { (a)-[:S]->() }})",
            "MATCH (a) CREATE (:A {w: EXISTS { (a)-[:S]->(z) WHERE coalesce(z.id, 0) >= 0 }})",
            DEGREES,
        ),
        (
            "MATCH (a) MERGE (a)-[:S]->(n {x: 2}) ON MATCH SET n.x = 1",
            "MATCH (a) MERGE (a)-[:S]->(n {x: 2}) ON MATCH SET n.p9 = 1",
            LAZY_MERGE,
        ),
        (
            "MATCH (a) DETACH DELETE a WITH COUNT { OPTIONAL MATCH (a)-->(m) OPTIONAL MATCH (a)-[:R]-(k) } AS c FINISH",
            "MATCH (a) DETACH DELETE a "
            "WITH COUNT { OPTIONAL MATCH (a)-[*1..1]->(m) OPTIONAL MATCH (a)-[:R*1..1]-(k) } AS c FINISH",
            LOST_ROWS,
        ),
    ],
)
def test_a_statement_is_asked_again_without_what_a_defect_needs(statement: str, changed: str, defect: str) -> None:
    def again(program: Sequence[str]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        other = SAME if program[-1] == changed else ("differs", "")
        return [SAME, SAME], [other, SAME]

    ours, theirs = [("one", ""), SAME], [("other", ""), SAME]
    assert explained(cast(Any, None), [statement], ours, theirs, again) == defect


def test_another_error_is_no_difference_unless_one_side_does_not_run_at_all() -> None:
    def with_codes(mine: str, other: str) -> str | None:
        ours, theirs = [(f"Neo.{mine}", ""), SAME], [(f"Neo.{other}", ""), SAME]
        return explained(cast(Any, None), ["RETURN 1"], ours, theirs, lambda _: (ours, theirs))

    assert with_codes("DatabaseError.Statement.ExecutionFailed", "ClientError.Schema.Failed") == OTHER_ERROR
    assert with_codes("ClientError.Statement.SyntaxError", "ClientError.Schema.Failed") is None
