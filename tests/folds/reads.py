"""Everything that can be asked about a graph, in one form that is the same however the graph is held."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from neo4j.exceptions import Neo4jError
from neo4j.graph import Node, Relationship
from neo4j.graph import Path as GraphPath

from hoplite.api.database import Database
from tests.folds.programs import KEYS

Answer = Any

_OF_KEYS = ", ".join(f"{{0}}.{key}, {{0}}.{key} IS NULL, {{0}}.{key} = $p.v, {{0}}.{key} IN $p.vs" for key in KEYS)
_OF_ENTITY = (
    f"{{0}}, properties({{0}}) AS held, keys({{0}}) AS keys, {{0}} {{{{.*}}}} AS map, {_OF_KEYS}, "
    "coalesce({0}.s, {0}.t, 'none'), {0}['k'], size(keys({0})), valueType({0}.s), toString({0}.k) IS NULL"
).replace("toString({0}.k)", "toStringOrNull({0}.k)")

NODES = f"MATCH (n) RETURN id(n) AS id, labels(n) AS labels, {_OF_ENTITY.format('n')} ORDER BY id"
LINKS = (
    "MATCH (a)-[r]->(b) RETURN id(r) AS id, id(a) AS start, id(b) AS end, type(r) AS type, "
    f"{_OF_ENTITY.format('r')} ORDER BY id"
)
FEW = (
    f"MATCH (n) WHERE id(n) IN $p.ids RETURN id(n) AS id, labels(n) AS labels, {_OF_ENTITY.format('n')} ORDER BY id",
    "MATCH (a)-[r]->(b) WHERE id(r) IN $p.ids RETURN id(r) AS id, id(a) AS start, id(b) AS end, type(r) AS type, "
    f"{_OF_ENTITY.format('r')} ORDER BY id",
)
SEEKS = tuple(
    f"MATCH {pattern} WHERE {test} RETURN id(n) AS id ORDER BY id"
    for pattern, tests in (
        ("(n:A)", ("n.s = $p.v", "n.s IS NOT NULL", "n.s IN $p.vs", "n.s STARTS WITH 'a'", "n.s > $p.v", "n.t = $p.v")),
        ("(n:B)", ("n.k = $p.v", "n.t CONTAINS 'b'", "n.t IS NULL", "n.s = $p.v AND n.t = n.s")),
        ("(n)", ("n.s = $p.v", "n.k IS NULL", "n.t <> $p.v")),
        ("()-[n:R]->()", ("n.s = $p.v", "n.s IS NOT NULL", "n.t IN $p.vs")),
        ("()-[n]->()", ("n.k = $p.v", "n.s IS NULL")),
    )
    for test in tests
)
TABLES = (
    "MATCH (n) WITH n ORDER BY id(n) RETURN n.s AS s, count(*), count(n.t), count(DISTINCT n.k), collect(n.t),"
    " min(n.k), max(n.t)",
    "MATCH (n:A) WITH n ORDER BY id(n) RETURN count(n.s), count(DISTINCT n.s), collect(DISTINCT n.s), min(n.s)",
    "MATCH ()-[r]->() WITH r ORDER BY id(r) RETURN type(r), r.s AS s, count(*), count(r.t), collect(r.k)",
    "MATCH (n) RETURN id(n) ORDER BY n.s, n.t DESC, id(n)",
    "MATCH (n:B) RETURN id(n) ORDER BY n.k DESC, id(n) LIMIT 3",
    "MATCH (n:A) RETURN count(*) AS a",
    "MATCH (n:A:B) RETURN count(n) AS ab",
    "MATCH ()-[r:R]->() RETURN count(*) AS r",
    "MATCH (a:A)-[:R|S]-(b) RETURN id(a), count(b), count(DISTINCT b.k) ORDER BY id(a)",
    "MATCH (a:A)-[:R*1..2]->(b {t: $p.v}) RETURN id(a), id(b), count(*) ORDER BY id(a), id(b)",
)
LISTINGS = (
    "CALL db.labels()",
    "CALL db.relationshipTypes()",
    "CALL db.propertyKeys()",
    "CALL db.schema.nodeTypeProperties()",
    "CALL db.schema.relTypeProperties()",
    "CALL apoc.meta.stats() YIELD labels, relTypesCount, nodeCount, relCount, propertyKeyCount, labelCount",
    "SHOW INDEXES YIELD name, type, labelsOrTypes, properties",
)
_IN_ANY_ORDER = frozenset(("keys", "labels", "propertyTypes"))
_ORDERED = frozenset((NODES, LINKS, *FEW, *SEEKS, *(text for text in TABLES if "ORDER BY id" in text[-30:])))


def _number(entity: Any) -> int:
    """What id() gives: the last part of an element id, whose middle part differs between databases."""
    return int(entity.element_id.rpartition(":")[2])


def canonical(value: Any) -> Any:
    """A value as text or nested tuples that are equal only for the same value of the same type."""
    match value:
        case Node():
            return ("node", _number(value), tuple(sorted(value.labels)), canonical(dict(value)))
        case Relationship():
            assert value.start_node is not None and value.end_node is not None
            return ("link", _number(value), *map(_number, value.nodes), value.type, canonical(dict(value)))
        case GraphPath():
            return ("path", canonical(list(value.nodes)), canonical(list(value.relationships)))
        case dict():
            return tuple((key, canonical(value[key])) for key in sorted(value))
        case list() | tuple():
            return ("list", *map(canonical, value))
    return f"{type(value).__name__} {value!r}"


def answer(db: Any, text: str, given: dict[str, Any]) -> Answer:
    """The rows of a query, or the code of its error; for entities also what they say against themselves."""
    try:
        result = db.run(text, p=given)
        columns, rows = result.keys(), result.values()
    except Neo4jError as error:
        return f"error {error.code}"
    for place in (place for place, name in enumerate(columns) if name in _IN_ANY_ORDER):
        for row in rows:
            if isinstance(row[place], list):
                row[place] = sorted(row[place])
    found = [canonical(row) for row in rows]
    if "held" in columns:
        found += _contradictions(columns, rows)
    return found if text in _ORDERED else sorted(found, key=repr)


def reads(seed: int) -> tuple[str, ...]:
    """The queries after a program: all entities, and some of the others."""
    others = (*SEEKS, *TABLES, *LISTINGS)
    return (NODES, LINKS, *random.Random(seed).sample(others, len(others) // 7))


def exported(db: Database, folder: Path) -> list[Any]:
    """The graph as JSON lines, sorted."""
    path = folder / "export.jsonl"
    db.export_jsonl(path)
    return sorted((json.loads(line) for line in path.read_text().splitlines()), key=json.dumps)


def _contradictions(columns: tuple[str, ...], rows: list[list[Any]]) -> list[str]:
    found = []
    for row in rows:
        said = dict(zip(columns, row, strict=True))
        held = said["held"]
        entity = next(cell for cell in row if isinstance(cell, Node | Relationship))
        same = dict(entity).keys() == held.keys() == set(said["keys"]) == said["map"].keys()
        missing = {key for key in KEYS for name in "nr" if said.get(f"{name}.{key} IS NULL")}
        if not same or None in held.values() or missing != set(KEYS) - held.keys():
            found.append(f"{entity!r} contradicts itself: {said}")
    return found
