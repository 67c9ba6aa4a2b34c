"""Counters of a summary that are not obvious, as Neo4j counts."""

from __future__ import annotations

import pytest

import hoplite


@pytest.mark.parametrize(
    ("statement", "properties_set"),
    [
        ("MATCH (n:X) SET n.never = null", 0),
        ("MATCH (n:X) SET n += {never: null}", 1),
        ("MATCH (n:X) SET n = {never: null, other: 1}", 2),
        ("MATCH (n:X) SET n.never = null, n.fresh = 1", 2),
        ("MATCH (n:X) SET n.z = 1, n.z = null", 1),
        ("MATCH (n:X) SET n.known = null", 0),
        ("MATCH (n:X) SET n += {known: null}", 1),
        ("MATCH (n:X) SET n = {known: null}", 1),
        ("MATCH ()-[r]->() SET r += {known: null, never: null}", 2),
    ],
)
def test_a_null_counts_where_several_properties_are_set_at_once(statement: str, properties_set: int) -> None:
    with hoplite.open() as db:
        db.run("CREATE (:X)-[:R]->(:Y {known: 1})").consume()
        assert db.run(statement).consume().counters.properties_set == properties_set
