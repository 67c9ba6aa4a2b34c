"""Graphs into a live Neo4j, and two graphs compared: one in Hoplite, one in Neo4j, with whatever ids."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from neo4j import Driver

import hoplite
from hoplite.values.driver import from_driver
from hoplite.values.order import group_key

BATCH_ROWS = 5_000
Rows = Iterable[Sequence[Any]]


def equal_graphs(db: hoplite.Database, driver: Driver) -> list[str]:
    """What differs, as lines; nodes are matched through the import's source ids."""
    assert db.source_ids is not None
    ours = _canonical(db.run("MATCH (n) RETURN n"), db.run("MATCH ()-[r]->() RETURN r"), db.source_ids.of)
    with driver.session() as session:
        theirs = _canonical(
            session.run("MATCH (n) RETURN n"), session.run("MATCH ()-[r]->() RETURN r"), lambda e: e.element_id
        )
    found = [f"only in Hoplite: {entity}" for entity in (ours - theirs)]
    return found + [f"only in Neo4j: {entity}" for entity in (theirs - ours)]


def _canonical(nodes: Iterable[Any], relationships: Iterable[Any], name: Any) -> Counter[Any]:
    entities: Counter[Any] = Counter()
    for (node,) in nodes:
        entities[name(node), tuple(sorted(node.labels)), _properties(node)] += 1
    for (relationship,) in relationships:
        ends = name(relationship.start_node), name(relationship.end_node)
        entities[name(relationship), ends, relationship.type, _properties(relationship)] += 1
    return entities


def _properties(entity: Mapping[str, Any]) -> Any:
    return tuple(sorted((key, repr(group_key(from_driver(value)))) for key, value in entity.items()))


def load_into(driver: Driver, nodes: Rows, relationships: Rows) -> dict[str, str]:
    """Nodes (key, labels, properties) and relationships (key, type, start, end, properties) into an empty server.

    Out comes the name of each by its element id: n and the key of a node, r and that of a relationship.
    """
    elements: dict[Any, str] = {}
    by_labels: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key, labels, properties in nodes:
        by_labels["".join(f":`{label}`" for label in labels)].append({"key": key, "properties": properties})
    for labels_text, rows in by_labels.items():
        create = f"UNWIND $rows AS row CREATE (n{labels_text}) SET n = row.properties RETURN row.key, elementId(n)"
        for key, element in _in_batches(driver, create, rows):
            elements[key] = element
    by_type: dict[str, list[dict[str, Any]]] = defaultdict(list)
    names = {element: f"n{key}" for key, element in elements.items()}
    for key, kind, start, end, properties in relationships:
        by_type[kind].append({"key": key, "start": elements[start], "end": elements[end], "properties": properties})
    for kind, rows in by_type.items():
        create = (
            "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row.start MATCH (b) WHERE elementId(b) = row.end "
            f"CREATE (a)-[r:`{kind}`]->(b) SET r = row.properties RETURN row.key, elementId(r)"
        )
        made = {element: f"r{key}" for key, element in _in_batches(driver, create, rows)}
        assert len(made) == len(rows)
        names |= made
    return names


def _in_batches(driver: Driver, query: str, rows: list[dict[str, Any]]) -> Iterable[list[Any]]:
    for first in range(0, len(rows), BATCH_ROWS):
        for record in driver.execute_query(query, rows=rows[first : first + BATCH_ROWS]).records:
            yield list(record.values())
