"""apoc.merge.*WithStats and apoc.schema.*Exists, with the answers of APOC core 5.26."""

from __future__ import annotations

from typing import Any

import pytest

import hoplite


def changes(db: hoplite.Database, call: str) -> list[dict[str, int]]:
    """What each row says was changed, zeros aside."""
    rows = db.run(f"{call} YIELD stats RETURN stats")
    return [{key: count for key, count in row["stats"].items() if count} for row in rows]


def test_a_merge_says_what_it_changed() -> None:
    db = hoplite.open()
    made = changes(db, "CALL apoc.merge.nodeWithStats(['A', 'B'], {id: 1}, {c: 1}, {m: 1})")
    assert made == [{"nodesCreated": 1, "labelsAdded": 2, "propertiesSet": 2}]
    assert changes(db, "CALL apoc.merge.nodeWithStats(['A'], {id: 1}, {c: 1}, {m: 1})") == [{"propertiesSet": 1}]
    assert changes(db, "CALL apoc.merge.nodeWithStats(['A'], {id: 1})") == [{}]
    db.run("CREATE (:A {id: 1})")
    found = changes(db, "CALL apoc.merge.nodeWithStats.eager(['A'], {id: 1}, {}, {x: 1, y: 2})")
    assert found == [{"propertiesSet": 4}, {"propertiesSet": 4}]
    relationship = "MATCH (a:A:B) CALL apoc.merge.relationshipWithStats(a, 'R', {k: 1}, {c: 1}, a, {m: 2})"
    assert changes(db, relationship) == [{"relationshipsCreated": 1, "propertiesSet": 2}]
    assert changes(db, relationship) == [{"propertiesSet": 1}]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("node.indexExists('A', ['x'])", True),
        ("node.indexExists('A', ['y', 'z'])", True),
        ("node.indexExists('A', ['z', 'y'])", False),
        ("node.indexExists('B', ['id'])", True),
        ("node.constraintExists('B', ['id'])", True),
        ("node.constraintExists('A', ['x'])", False),
        ("relationship.indexExists('R', ['w'])", True),
        ("relationship.constraintExists('R', ['w'])", False),
        ("node.indexExists('A', null)", False),
    ],
)
def test_indexes_and_constraints_are_found(call: str, expected: Any) -> None:
    db = hoplite.open()
    db.run("CREATE INDEX FOR (n:A) ON (n.x)")
    db.run("CREATE INDEX FOR (n:A) ON (n.y, n.z)")
    db.run("CREATE CONSTRAINT FOR (n:B) REQUIRE n.id IS UNIQUE")
    db.run("CREATE INDEX FOR ()-[r:R]-() ON (r.w)")
    (record,) = db.run(f"RETURN apoc.schema.{call} AS found")
    assert record["found"] is expected
