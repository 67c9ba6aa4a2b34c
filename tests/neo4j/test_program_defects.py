"""Why programs differ: a difference is only Neo4j's where the evidence says so. Needs no server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from tests.neo4j.program_defects import FOREACH_CACHE, explained

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
