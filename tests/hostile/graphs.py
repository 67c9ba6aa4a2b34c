"""The graphs that hostile statements run on, by name."""

from __future__ import annotations

from collections.abc import Callable

from hoplite import Database


def empty(db: Database) -> None:
    """Nothing at all."""


def small(db: Database) -> None:
    """Three nodes, five relationships, properties of several types."""
    db.run(
        "CREATE (a:A {id: 1, k: 1, s: 'x', d: date('2020-01-31')}), (b:B {id: 2, k: 2.5}), (c:A:B {id: 3, l: [1, 2]}), "
        "(a)-[:R {w: 1}]->(b), (b)-[:R {w: 2}]->(c), (c)-[:S]->(a), (a)-[:S]->(a), (a)-[:R]->(b)"
    )


def complete(db: Database) -> None:
    """50 nodes, every one with a relationship to every other."""
    db.run("UNWIND range(1, 50) AS i CREATE (:K {id: i})")
    db.run("MATCH (a:K), (b:K) WHERE a.id <> b.id CREATE (a)-[:R]->(b)")


def grid(db: Database) -> None:
    """40 by 40 nodes with relationships to the right and down: exponentially many paths from corner to corner."""
    db.run("UNWIND range(0, 39) AS x UNWIND range(0, 39) AS y CREATE (:P {x: x, y: y})")
    db.run("MATCH (a:P), (b:P) WHERE b.x = a.x + 1 AND b.y = a.y OR b.x = a.x AND b.y = a.y + 1 CREATE (a)-[:R]->(b)")


def many(db: Database) -> None:
    """15,000 nodes with a text and a number each, in a ring."""
    db.run("UNWIND range(1, 15000) AS i CREATE (:N {id: i, name: 'node ' + i})")
    db.run("MATCH (a:N) WITH a, (a.id % 15000) + 1 AS next MATCH (b:N {id: next}) CREATE (a)-[:R]->(b)")


def ring(db: Database) -> None:
    """Five relationships in a cycle."""
    db.run("CREATE (a:C)-[:R]->(:C)-[:R]->(:C)-[:R]->(:C)-[:R]->(:C)-[:R]->(a)")


GRAPHS: dict[str, Callable[[Database], None]] = {
    function.__name__: function for function in (empty, small, complete, grid, many, ring)
}
