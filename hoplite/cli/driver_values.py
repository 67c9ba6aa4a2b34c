"""The driver's values as text and JSON: entities, times, points. `render.py` loads this only when it needs one of
them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

CAPTION_KEYS = ("name", "title", "label", "id")


def caption(node: Node) -> str:
    """The caption of a node in a drawing: its name or title, else its labels."""
    for key in CAPTION_KEYS:
        if key in node:
            return str(node[key])
    return "".join(f":{label}" for label in sorted(node.labels))


def driver_text(value: Any, of_part: Callable[[Any], str]) -> str:
    """A value as Cypher would write it; `of_part` does the same for its parts."""
    match value:
        case Node():
            labels = "".join(f":{label}" for label in sorted(value.labels))
            return f"({labels}{_properties(value, of_part)})"
        case Relationship():
            return f"[:{value.type}{_properties(value, of_part)}]"
        case Path():
            drawing = f"({caption(value.nodes[0])})"
            for before, hop, after in zip(value.nodes, value.relationships, value.nodes[1:], strict=False):
                arrow = f"-[:{hop.type}]->" if hop.start_node == before else f"<-[:{hop.type}]-"
                drawing += f"{arrow}({caption(after)})"
            return drawing
        case Date() | DateTime() | Time() | Duration():
            return value.iso_format()
        case Point():
            return f"point({', '.join(map(str, value))})"
        case tuple():
            return f"[{', '.join(map(of_part, value))}]"
        case _:
            return str(value)


def _properties(entity: Node | Relationship, of_part: Callable[[Any], str]) -> str:
    return " " + of_part(dict(entity.items())) if len(entity) else ""


def driver_json(value: Any, of_part: Callable[[Any], Any]) -> Any:
    """A value for JSON; `of_part` does the same for its parts."""
    match value:
        case Node():
            return {
                "elementId": value.element_id,
                "labels": sorted(value.labels),
                "properties": of_part(dict(value.items())),
            }
        case Relationship():
            return {
                "elementId": value.element_id,
                "type": value.type,
                "startNodeElementId": _element_id(value.start_node),
                "endNodeElementId": _element_id(value.end_node),
                "properties": of_part(dict(value.items())),
            }
        case Path():
            return {
                "nodes": [of_part(node) for node in value.nodes],
                "relationships": [of_part(hop) for hop in value.relationships],
            }
        case Point():
            return {"srid": value.srid, "coordinates": list(value)}
        case Date() | DateTime() | Time() | Duration():
            return value.iso_format()
        case tuple():
            return [of_part(item) for item in value]
        case _:
            return str(value)


def _element_id(node: Node | None) -> str | None:
    return None if node is None else node.element_id


def driver_style(value: Any) -> str:
    """The colour of a cell."""
    match value:
        case Path():
            return "green"
        case Node() | Relationship():
            return "cyan"
        case _:
            return ""
