"""Virtual entities given to procedures that work on stored ones: nothing stored may be taken for them."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j.exceptions import ClientError

import hoplite
from hoplite import Database

PICTURE = "CALL apoc.meta.graph() YIELD nodes, relationships WITH nodes[0] AS v, relationships[0] AS vr "


@pytest.fixture
def db() -> Database:
    """Large enough that most of it is in arrays, where a negative number is a place, too."""
    found = hoplite.open()
    found.run("UNWIND range(1, 1500) AS i CREATE (:A {id: i})-[:R {w: i}]->(:B {id: i})").consume()
    return found


def _content(db: Database) -> list[Any]:
    nodes = "MATCH (n) RETURN count(n), sum(n.id), count(n.x), count { (:A) }, count { (:B) }"
    relationships = "MATCH (:A)-[r:R]->(:B) RETURN count(r), sum(r.w), count(r.x), count { ()-->() }"
    return [tuple(record) for query in (nodes, relationships) for record in db.run(query)]


@pytest.mark.parametrize(
    "call",
    [
        "apoc.nodes.delete([v], 1) YIELD value",
        "apoc.nodes.link([v, v], 'R')",
        "apoc.refactor.cloneNodes([v], true) YIELD output",
        "apoc.refactor.cloneSubgraphFromPaths([apoc.path.create(v, [vr])]) YIELD output",
        "apoc.refactor.collapseNode([v], 'R') YIELD output",
        "apoc.refactor.deleteAndReconnect(apoc.path.create(v, [vr]), [v]) YIELD nodes",
        "apoc.refactor.extractNode([vr], ['L'], 'a', 'b') YIELD output",
        "apoc.refactor.mergeNodes([v, v]) YIELD node",
        "apoc.refactor.invert(vr) YIELD output",
        "apoc.create.setProperty(v, 'x', 1) YIELD node",
        "apoc.create.setRelProperty(vr, 'x', 1) YIELD rel",
        "apoc.merge.relationship(v, 'R', {}, {}, v) YIELD rel",
        "apoc.path.expand(v, '', '', 1, 2) YIELD path",
        "apoc.path.subgraphNodes(v, {}) YIELD node",
        "apoc.algo.dijkstra(v, v, 'R', 'w') YIELD path",
        "apoc.algo.cover([v]) YIELD rel",
        "hop.within(v, 2) YIELD node",
    ],
)
def test_no_stored_entity_is_taken_for_a_virtual_one(db: Database, call: str) -> None:
    before = _content(db)
    with pytest.raises(ClientError, match=r"NotFoundException: (Node|Relationship) -\d+ not found"):
        list(db.run(f"{PICTURE} CALL {call} RETURN count(*)"))
    assert _content(db) == before


def test_a_relationship_from_a_virtual_node_is_virtual(db: Database) -> None:
    before = _content(db)
    made = db.run(
        f"{PICTURE} MATCH (a:A {{id: 1}}) CALL apoc.create.relationship(v, 'Z', {{x: 1}}, a) YIELD rel RETURN rel"
    )
    (record,) = made
    assert record["rel"].type == "Z" and dict(record["rel"]) == {"x": 1} and record["rel"].end_node["id"] == 1
    with pytest.raises(ClientError, match="cannot be used to create a relationship"):
        list(
            db.run(
                f"{PICTURE} MATCH (a:A {{id: 1}}) CALL apoc.create.relationship(a, 'Z', {{}}, v) YIELD rel RETURN rel"
            )
        )
    assert _content(db) == before
