"""Random hops with conditions on their nodes and relationships, over `graphs.random_folder`: those that owners can
evaluate, some that only the leading process can, and some that fail."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, TypeVar

from neo4j.exceptions import Neo4jError, TransientError

import hoplite
from hoplite.cluster.pool import WORKER_LOST

T = TypeVar("T")

# {v}: a node, or a relationship for the second half
_OF_NODES = (
    "{v}:N",
    "{v}:N|M",
    "NOT {v}:M",
    "{v}.x > 1",
    "{v}.x <= $p",
    "{v}.x <> {v}.id",
    "{v}.id % 3 = $p",
    "{v}.id IN $list",
    "{v}.name IN ['n1', 'n3', null]",
    "{v}.name STARTS WITH 'n'",
    "{v}.name CONTAINS $text OR {v}.x = 0",
    "{v}.name ENDS WITH '5'",
    "{v}.name =~ 'n[0-4]'",
    "{v}.missing IS NULL",
    "{v}.missing IS NOT NULL",
    "{v}.missing > 1 OR {v}.x > 0",
    "toUpper({v}.name) < 'N4' AND size({v}.name) = 2",
    "coalesce({v}.missing, {v}.x, 7) < 2",
    "any(y IN [1, 2] WHERE {v}.x = y)",
    "'x' IN keys({v}) XOR {v}.id > $p",
    "labels({v}) = ['N']",
    "date({{year: 2000 + {v}.x}}) < date('2002-01-01')",
    "datetime() > datetime({{year: 2000 + {v}.x}})",
    "{v}[$key] > 1",
    "CASE {v}.x WHEN 1 THEN true WHEN 2 THEN null ELSE false END",
    "{v}.x > 0 OR rand() < 0",
    "{v}.x > COUNT {{ ({v})-[:S]->() }}",
    "EXISTS {{ ({v})-[:S]->() }}",
    "{v}.id <> a.id",
)
_FAILING = (
    "1 / {v}.x > 0",
    "{v}.name + {v}.x > 1",
    "toInteger([{v}.x]) = 1",
    "{v}.x > 1 AND 10 / ({v}.x - 2) > 1",
    "{v}.name",
    "date({v}.name) IS NULL",
)
_OF_RELATIONSHIPS = (
    "{v}.w > 1",
    "{v}.w IN $list",
    "{v}.w = $p OR type({v}) = 'R'",
    "{v}.missing IS NULL AND {v}.w < 4",
    "type({v}) IN ['R', 'T']",
    "startNode({v}).x > 0",
    "4 / {v}.w > 1",
    "{v}.w % 2 = 0",
)
_ENDS = (
    "count(DISTINCT b) AS c",
    "DISTINCT b.id AS c ORDER BY c",
    "DISTINCT b.name AS c, b.x AS d ORDER BY c, d",
    "b.name AS c, count(DISTINCT b) AS d ORDER BY c",
    "sum(DISTINCT b.id) AS c, max(b.name) AS d, collect(DISTINCT b.missing) AS e",
    "DISTINCT b ORDER BY b.id",
    "DISTINCT toUpper(b.name) + b.x AS c ORDER BY c",
)
_LENGTHS = ("*1..3", "*0..2", "*2..3", "*1..4", "*")


def random_parameters(rng: random.Random) -> dict[str, Any]:
    """The parameters of every query."""
    return {
        "i": rng.randrange(50),
        "j": rng.randrange(50),
        "p": rng.choice((0, 1, 2, 17, None, "n")),
        "list": rng.choice(([], [1, 2], list(range(0, 60, 2)), [None, 3], ["n"])),
        "text": rng.choice(("1", "n", "", None)),
        "key": rng.choice(("x", "id", "missing")),
    }


def random_query(rng: random.Random) -> str:
    """A statement that reads hops with conditions."""
    types, left, right = rng.choice(("", ":R", ":R|S")), *rng.choice((("-", "->"), ("<-", "-"), ("-", "-")))

    def condition(variable: str, kinds: tuple[str, ...] = _OF_NODES) -> str:
        return rng.choice(kinds + (_FAILING if rng.random() < 0.15 else ())).format(v=variable)

    match rng.randrange(7):
        case 0 | 1:  # conditions on the ends of a search
            where = rng.choice((" AND ", " OR ")).join(condition("b") for _ in range(rng.randrange(1, 4)))
            follows_trails = "a.id" in where or "rand" in where or "COUNT" in where  # not only the ends count
            length = rng.choice(_LENGTHS[: -1 if follows_trails else None])
            hop = f"(a:N {{id: $i}}){left}[{types}{length}]{right}(b)"
            return f"MATCH {hop} WHERE {where} RETURN {rng.choice(_ENDS[:3])}"
        case 2:  # on each relationship
            where = f"all(r IN rs WHERE {condition('r', _OF_RELATIONSHIPS)})"
            hop = f"(a:N {{id: $i}}){left}[rs{types}{rng.choice(_LENGTHS[:-2])}]{right}(b)"
            return f"MATCH {hop} WHERE {where} RETURN {rng.choice(_ENDS)}"
        case 3:  # on each step of a quantified pattern
            inner = " AND ".join((condition("r", _OF_RELATIONSHIPS), condition(rng.choice("xy"))))
            hop = f"(a:N {{id: $i}}) ((x){left}[r{types}]{right}(y) WHERE {inner.replace('a.id', 'x.id')}){{1,3}} (b)"
            return f"MATCH {hop} RETURN {rng.choice(_ENDS)}"
        case 4:  # on a shortest path's relationships
            where = f"all(r IN relationships(p) WHERE {condition('r', _OF_RELATIONSHIPS)})"
            hop = f"(a:N {{id: $i}}){left}[{types}*..5]{right}(b:N {{id: $j}})"
            return f"MATCH p = shortestPath({hop}) WHERE {where} RETURN length(p) AS c"
        case 5:  # on a single hop behind a search
            where = " AND ".join((condition("r", _OF_RELATIONSHIPS), condition("b")))
            hops = f"MATCH (a:N {{id: $i}})-[*1..2]-(m) WITH DISTINCT a, m MATCH (m){left}[r{types}]{right}(b)"
            return f"{hops} WHERE {where} RETURN {rng.choice(_ENDS)}"
        case _:  # on all nodes and what is next to them
            where = " AND ".join((condition("a"), condition("b"))).replace("a.id <> a.id", "a.id <> b.id")
            return f"MATCH (a:N){left}[r{types}]{right}(b) WHERE {where} RETURN {rng.choice(_ENDS)}"


def outcome(db: hoplite.Database, query: str, parameters: dict[str, Any]) -> Any:
    """The rows of a statement, or its error. Which of several rows fails first, and so the message, depends on their
    order."""
    try:
        rows = retried(lambda: [comparable(record.values()) for record in db.run(query, parameters)])
    except Neo4jError as error:
        return error.code, error.gql_status
    return rows if "ORDER BY" in query else sorted(rows, key=str)


def comparable(value: Any) -> Any:
    """Entities by what they are made of: each process makes its own."""
    if isinstance(value, list):
        return [comparable(item) for item in value]
    if hasattr(value, "nodes") and hasattr(value, "relationships") and hasattr(value, "start_node"):
        return [comparable(list(value.nodes)), comparable(list(value.relationships))]
    if hasattr(value, "element_id"):
        return value.element_id, dict(value.items())
    return value


def retried(run: Callable[[], T]) -> T:
    """Run something until no worker is lost on the way, as drivers do."""
    while True:
        try:
            return run()
        except TransientError as error:
            if error.code != WORKER_LOST:
                raise
