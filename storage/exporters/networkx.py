"""A NetworkX graph: a MultiDiGraph whose nodes and edges carry labels or types and properties as attributes."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from hoplite.extras import optional
from hoplite.storage.exporters.rows import node_rows, relationship_rows
from hoplite.storage.snapshot import Snapshot
from hoplite.values.driver import to_driver
from hoplite.values.temporal import DateTime

PREFIX = "property:"


def to_networkx(snapshot: Snapshot) -> Any:
    """Nodes are keyed by id and have `labels`, edges are keyed by id and have a `type`; values are the driver's."""
    with optional("to_networkx"):
        import networkx  # type: ignore[import-untyped]

    network = networkx.MultiDiGraph()
    for node in node_rows(snapshot):
        network.add_node(node.id, **{**attributes_of(node.properties), "labels": node.labels})
    for row in relationship_rows(snapshot):
        attributes = {**attributes_of(row.properties), "type": row.type}
        network.add_edge(row.start, row.end, key=row.id, **attributes)
    return network


def attributes_of(properties: dict[str, Any]) -> dict[str, Any]:
    """Properties as attributes; one named like a reserved attribute gets a prefix."""
    return {attribute_name(key): _value(value) for key, value in properties.items()}


def attribute_name(key: str) -> str:
    """The attribute that a property becomes."""
    return f"{PREFIX}{key}" if key in ("labels", "type") else key


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return [_value(item) for item in value]
    made = to_driver(value)
    if type(made).__name__ == "BrokenHydrationObject":
        # The driver has no value for years beyond 9999 and some zones: ours is better than a marker.
        return value
    if isinstance(value, DateTime) and value.region is None and value.offset_seconds == 0:
        # The driver names the zone of the offset Z UTC, like the region; Python's has no name that could be confused
        # with it.
        return made.replace(tzinfo=UTC)
    return made
