"""Nodes, relationships and paths on their way out: as the driver's objects and as Arrow arrays."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import neo4j.graph
import pytest

import hoplite

QUERIES = (
    "MATCH (n) RETURN n",
    "MATCH ()-[r]->() RETURN r",
    "MATCH p = (a)-[*0..3]-(b) RETURN p",
    "MATCH p = (a) RETURN p",
    "MATCH (a)-[rs*0..2]->(b) RETURN rs, a, b",
    "MATCH (a) OPTIONAL MATCH p = (a)-[rs:R*1..2]->(b) RETURN rs, a, p",
    "MATCH (a) ((x)-[r]->(y)){0,2} (b) RETURN x, r, y",
    "OPTIONAL MATCH p = (a)-[rs*0..2]->(b:Missing) RETURN rs, a, p",
)


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as db:
        db.run(
            "CREATE (a:A:B {x: 1, s: 't', d: date('2020-01-01'), l: [1, 2]})-[:R {w: 1.5}]->(b:C {y: true})-[:S]->(c), "
            "(c)-[:R]->(a), (b)-[:T]->(b)"
        ).consume()
        yield db


def without_nulls(value: Any) -> Any:
    """Arrow fills the fields that a struct does not have with nulls."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("query", QUERIES)
def test_arrays_hold_what_the_objects_hold(db: hoplite.Database, query: str) -> None:
    by_columns = db.run(query).to_arrow()
    result = db.run(query)
    result.detach()
    by_objects = result.to_arrow()
    assert without_nulls(by_columns.to_pylist()) == without_nulls(by_objects.to_pylist())


def test_objects_are_as_the_driver_makes_them(db: hoplite.Database) -> None:
    for record in db.run("MATCH p = (a)-[*0..3]-(b) RETURN p, nodes(p) AS ns, relationships(p) AS rs"):
        path = record["p"]
        made = neo4j.graph.Path(path.start_node, *path.relationships)
        assert path == made and hash(path) == hash(made) and vars(path).keys() == vars(made).keys()
        assert path.nodes == made.nodes == tuple(record["ns"]) and path.relationships == tuple(record["rs"])
        assert [type(r).__name__ for r in path] == [r.type for r in path.relationships]
        for node in path.nodes:
            made_node = neo4j.graph.Node(node.graph, node.element_id, node._id, node.labels, dict(node))
            assert vars(node) == vars(made_node) and node is path.graph.nodes[node.element_id]
        again = pickle.loads(pickle.dumps(path))
        assert [n.labels for n in again.nodes] == [n.labels for n in path.nodes]
