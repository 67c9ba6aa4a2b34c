"""A graph into an empty database through plain Cypher, keeping track of which entity is which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

BATCH_ROWS = 10_000

NodeRow = tuple[int, list[str], dict[str, Any]]  # key, labels, properties
RelationshipRow = tuple[int, str, int, int, dict[str, Any]]  # key, type, key of the start, key of the end, properties


def load_graph(db: Any, nodes: Iterable[NodeRow], relationships: Iterable[RelationshipRow]) -> dict[str, str]:
    """Element id -> `n12` for the node with key 12, `r7` for the relationship with key 7."""
    names: dict[str, str] = {}
    elements: dict[int, str] = {}
    by_labels: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key, labels, properties in nodes:
        by_labels["".join(f":`{label}`" for label in labels)].append({"key": key, "properties": properties})
    for labels_text, rows in by_labels.items():
        create = f"UNWIND $rows AS row CREATE (n{labels_text}) SET n = row.properties RETURN row.key, elementId(n)"
        for key, element in _in_batches(db, create, rows):
            elements[key], names[element] = element, f"n{key}"

    by_type: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key, type_, start, end, properties in relationships:
        row = {"key": key, "start": elements[start], "end": elements[end], "properties": properties}
        by_type[type_].append(row)
    for type_, rows in by_type.items():
        create = (
            "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row.start MATCH (b) WHERE elementId(b) = row.end "
            f"CREATE (a)-[r:`{type_}`]->(b) SET r = row.properties RETURN row.key, elementId(r)"
        )
        for key, element in _in_batches(db, create, rows):
            names[element] = f"r{key}"
    return names


def _in_batches(db: Any, query: str, rows: list[dict[str, Any]]) -> Iterable[list[Any]]:
    for start in range(0, len(rows), BATCH_ROWS):
        batch = rows[start : start + BATCH_ROWS]
        answers = [list(record.values()) for record in db.run(query, rows=batch)]
        if len(answers) != len(batch):
            raise RuntimeError(f"{len(batch)} rows went in, {len(answers)} came out: {query}")
        yield from answers
