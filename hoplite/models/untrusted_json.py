"""The driver's values as JSON without loss: what JSON cannot express is an object with its type.

    null, true, 1, 1.5, "text", [1, 2], {"key": 1}   as they are
    {"$type": "Float", "value": "NaN"}               NaN, Infinity, -Infinity
    {"$type": "Date", "value": "2024-02-29"}         also Time, LocalTime, DateTime, LocalDateTime, Duration
    {"$type": "Point", "srid": 7203, "coordinates": [1.0, 2.0]}
    {"$type": "ByteArray", "value": "AQI="}
    {"$type": "Node", "elementId": "4:...:1", "labels": ["A"], "properties": {...}}
    {"$type": "Relationship", "elementId": "5:...:1", "type": "R", "startNodeElementId": ..., "endNodeElementId": ...,
     "properties": {...}}
    {"$type": "Path", "nodes": [...], "relationships": [...]}
    {"$type": "Map", "value": {...}}                 a map with the key "$type"

A value may be far larger than its memory, because its parts may be shared. The caller says how many bytes it may take,
and work stops there.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

_DEEPEST = 200
_TYPE = "$type"


class TooLarge(Exception):
    """A value takes more bytes than allowed, or is nested too deeply to be written."""


class JsonValues:
    """Makes JSON values until a number of bytes is used up."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes

    def of(self, value: Any, depth: int = 0) -> Any:
        """The value in JSON's types."""
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise TooLarge
        # Nodes are mappings too, and points and durations are tuples.
        match value:
            case None | bool() | int():
                return value
            case str():
                self._left -= len(value)
                return value
            case float():
                return value if math.isfinite(value) else _typed("Float", _float_name(value))
            case Node() | Relationship() | Path():
                return self._entity(value, depth)
            case Date() | Time() | DateTime() | Duration() | Point() | bytes() | bytearray():
                return self._scalar(value)
            case list() | tuple():
                return [self.of(item, depth + 1) for item in value]
            case Mapping():
                entries = self._map(value, depth)
                return _typed("Map", entries) if _TYPE in entries else entries
            case _:
                raise TypeError(f"{type(value).__name__} is not a type that Cypher has")

    def _map(self, entries: Any, depth: int) -> dict[str, Any]:
        found = {}
        for key, value in entries.items():
            self._left -= len(key)
            found[key] = self.of(value, depth + 1)
        return found

    def _entity(self, value: Node | Relationship | Path, depth: int) -> dict[str, Any]:
        match value:
            case Node():
                labels = sorted(value.labels)
                properties = self._map(value, depth)
                return {_TYPE: "Node", "elementId": value.element_id, "labels": labels, "properties": properties}
            case Relationship():
                return self._relationship(value, depth)
            case Path():
                return {
                    _TYPE: "Path",
                    "nodes": [self.of(node, depth + 1) for node in value.nodes],
                    "relationships": [self.of(one, depth + 1) for one in value.relationships],
                }

    def _scalar(self, value: Any) -> dict[str, Any]:
        match value:
            case Point():
                return {_TYPE: "Point", "srid": value.srid, "coordinates": [self.of(part) for part in value]}
            case Date() | Duration():
                return _typed(type(value).__name__, value.iso_format())
            case bytes() | bytearray():
                self._left -= len(value)
                return _typed("ByteArray", base64.b64encode(value).decode())
            case _:
                local = "" if value.tzinfo is not None else "Local"
                return _typed(local + type(value).__name__, _moment(value))

    def _relationship(self, value: Relationship, depth: int) -> dict[str, Any]:
        start, end = value.start_node, value.end_node
        return {
            _TYPE: "Relationship",
            "elementId": value.element_id,
            "type": value.type,
            "startNodeElementId": None if start is None else start.element_id,
            "endNodeElementId": None if end is None else end.element_id,
            "properties": self._map(value, depth),
        }


def _typed(name: str, value: Any) -> dict[str, Any]:
    return {_TYPE: name, "value": value}


def _float_name(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _moment(value: Any) -> str:
    """ISO 8601, followed by the name of the zone as Cypher writes it."""
    zone = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None)
    text = str(value.iso_format())
    return f"{text}[{zone}]" if zone and zone not in ("UTC", "Etc/UTC") else text
