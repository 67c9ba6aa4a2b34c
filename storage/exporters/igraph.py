"""An igraph Graph: vertices in the order of their ids, with labels and properties as attributes."""

from __future__ import annotations

from typing import Any

from hoplite.extras import optional
from hoplite.storage.exporters.networkx import attributes_of
from hoplite.storage.exporters.rows import node_rows, relationship_rows
from hoplite.storage.snapshot import Snapshot


def to_igraph(snapshot: Snapshot) -> Any:
    """A directed graph. Vertices have `labels`, edges a `type`; a missing attribute is None."""
    with optional("to_igraph"):
        import igraph  # type: ignore[import-untyped]

    numbers: dict[int, int] = {}
    vertices: list[dict[str, Any]] = []
    for node in node_rows(snapshot):
        numbers[node.id] = len(numbers)
        vertices.append({**attributes_of(node.properties), "labels": list(node.labels)})
    ends: list[tuple[int, int]] = []
    edges: list[dict[str, Any]] = []
    for row in relationship_rows(snapshot):
        ends.append((numbers[row.start], numbers[row.end]))
        edges.append({**attributes_of(row.properties), "type": row.type})
    return igraph.Graph(
        n=len(vertices), edges=ends, directed=True, vertex_attrs=_columns(vertices), edge_attrs=_columns(edges)
    )


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for number, row in enumerate(rows):
        for key, value in row.items():
            if key not in columns:
                columns[key] = [None] * len(rows)
            columns[key][number] = value
    return columns
