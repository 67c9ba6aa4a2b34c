"""Graphs of NetworkX and igraph: nodes with attributes, edges with attributes. Neither library is imported here.

Labels come from the attribute `labels` (a list) or `label`, types from `type` or `label`; the rest are properties. A
node's key (in igraph its `name`, else its number) becomes the property `key`, unless that is None. An undirected edge
is one relationship, starting at the end that comes first. `property:type` is a property named type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hoplite.errors import CypherError
from hoplite.storage.exporters.networkx import PREFIX
from hoplite.storage.graph import Graph
from hoplite.storage.importers.growing_load import GrowingLoad
from hoplite.storage.importers.problem import bad_table
from hoplite.storage.property_values import storable
from hoplite.values.driver import from_driver

NODE_LABEL, EDGE_TYPE = "Node", "RELATED"


def import_networkx(
    graph: Graph, network: Any, *, key: str | None = "id", label: str = NODE_LABEL, type: str = EDGE_TYPE
) -> dict[str, int]:
    """Add a NetworkX graph of any kind; returns how many nodes and relationships it had."""
    if not hasattr(network, "edges") or not hasattr(network, "nodes"):
        raise bad_table("network", f"expected a NetworkX graph, not {network.__class__.__name__}")
    edges = ((start, end, held) for start, end, held in network.edges(data=True))
    return _import(graph, network.nodes(data=True), edges, key, label, type)


def import_igraph(
    graph: Graph, network: Any, *, key: str | None = "id", label: str = NODE_LABEL, type: str = EDGE_TYPE
) -> dict[str, int]:
    """Add an igraph Graph; returns how many nodes and relationships it had."""
    if not hasattr(network, "vs") or not hasattr(network, "es"):
        raise bad_table("network", f"expected an igraph graph, not {network.__class__.__name__}")
    named = "name" in network.vs.attributes()
    vertices = ((v.index, {**v.attributes(), "name": v["name"]} if named else v.attributes()) for v in network.vs)
    edges = ((e.source, e.target, e.attributes()) for e in network.es)
    return _import(graph, vertices, edges, key, label, type, "name" if named else None)


def _import(
    graph: Graph,
    nodes: Iterable[tuple[Any, Mapping[str, Any]]],
    edges: Iterable[tuple[Any, Any, Mapping[str, Any]]],
    key: str | None,
    label: str,
    type: str,
    name_attribute: str | None = None,
) -> dict[str, int]:
    rows: dict[Any, int] = {}
    with graph.bulk() as load:
        growing = GrowingLoad(load)
        for node, attributes in nodes:
            held = dict(attributes)
            labels = _labels(held, label)
            if key is not None:
                held.setdefault(key, held.get(name_attribute, node) if name_attribute else node)
            rows[node] = growing.add_node(labels, _properties(held, f"node {node!r}"))
        for start, end, attributes in edges:
            held = dict(attributes)
            kind = held.pop("type", None) or held.pop("label", None) or type
            growing.add_relationship(str(kind), rows[start], rows[end], _properties(held, f"edge ({start!r}, {end!r})"))
        growing.finish()
        load.commit()
    return {"nodes": growing.node_count, "relationships": growing.relationship_count}


def _labels(held: dict[str, Any], default: str) -> tuple[str, ...]:
    if "labels" in held:
        return tuple(str(name) for name in held.pop("labels") or ())
    label = held.pop("label", None)
    return (default,) if label is None else (str(label),)


def _properties(held: Mapping[str, Any], place: str) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, value in held.items():
        try:
            properties[str(name).removeprefix(PREFIX)] = storable(from_driver(value))
        except (CypherError, TypeError, ValueError, OverflowError) as error:
            raise bad_table(place, f"{name}: {getattr(error, 'message', None) or error}") from error
    return properties
