"""Driver values in a canonical form: equal answers of two databases give equal tuples, whatever their ids.

Each value is a tuple of a tag and its content, so that 1, 1.0 and true differ. Entities that both databases know are
identified by one name; others (created by the query, or loaded without a map of ids) by their labels or type and
properties.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

Canonical: TypeAlias = tuple[Any, ...]
Name: TypeAlias = Callable[[Any], str | None]
"""The name by which both databases know a node or relationship; None if they do not."""


def canonical(value: Any, name: Name) -> Canonical:
    """The canonical form of a driver value."""
    match value:
        case None:
            return ("null",)
        case bool():
            return ("boolean", value)
        case int():
            return ("integer", value)
        case float():
            return ("float", "NaN") if math.isnan(value) else ("float", value)
        case str():
            return ("string", value)
        case bytes() | bytearray():
            return ("bytes", bytes(value))
        case Node():
            return _node(value, name)
        case Relationship():
            return _relationship(value, name)
        case Path():
            steps = [canonical(step, name) for step in value.relationships]
            return ("path", canonical(value.start_node, name), *steps)
        case Point():
            return ("point", value.srid, *map(float, value))
        case Duration():
            return ("duration", value.months, value.days, value.seconds, value.nanoseconds)
        case DateTime() | Time():
            zone = getattr(value.tzinfo, "zone", None)
            return (type(value).__name__.lower(), value.iso_format(), zone)
        case Date():
            return ("date", value.iso_format())
        case list() | tuple():
            return ("list", *(canonical(item, name) for item in value))
        case dict():
            return ("map", *((key, canonical(value[key], name)) for key in sorted(value)))
    return ("broken", type(value).__name__)  # a value that the driver cannot read represents itself


def _node(node: Node, name: Name) -> Canonical:
    known = name(node)
    return ("node", known) if known is not None else ("node", *sorted(node.labels), _properties(node, name))


def _relationship(relationship: Relationship, name: Name) -> Canonical:
    known = name(relationship)
    if known is not None:
        return ("relationship", known)
    # Without its ends, which Neo4j sends by id only.
    return ("relationship", relationship.type, _properties(relationship, name))


def _properties(entity: Any, name: Name) -> Canonical:
    return canonical(dict(entity.items()), name)


def loose(value: Canonical) -> Canonical:
    """The form in which lists are equal whatever their order."""
    if value and value[0] == "list":
        return ("list", *sorted((loose(item) for item in value[1:]), key=repr))
    return tuple(loose(part) if isinstance(part, tuple) else part for part in value)


def without_number_types(value: Canonical) -> Canonical:
    """The form in which 1 and 1.0 are equal."""
    if len(value) == 2 and value[0] in ("integer", "float") and not isinstance(value[1], str):
        return ("number", float(value[1]))
    return tuple(without_number_types(part) if isinstance(part, tuple) else part for part in value)


def close(left: Any, right: Any, tolerance: float) -> bool:
    """Whether two canonical values are equal except for the last digits of floats."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(close(a, b, tolerance) for a, b in zip(left, right, strict=True))
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=tolerance, abs_tol=tolerance)
    return bool(left == right and type(left) is type(right))


def written(value: Canonical) -> str:
    """A canonical value in readable form."""
    tag, *parts = value
    match tag:
        case "null":
            return "null"
        case "boolean":
            return str(parts[0]).lower()
        case "string":
            return repr(parts[0])
        case "list":
            return "[" + ", ".join(map(written, parts)) + "]"
        case "map":
            return "{" + ", ".join(f"{key}: {written(item)}" for key, item in parts) + "}"
        case "node":
            return "(" + _entity_text(parts) + ")"
        case "relationship":
            return "[" + _entity_text(parts) + "]"
        case "path":
            return "<" + "-".join(map(written, parts)) + ">"
        case "integer" | "float":
            return str(parts[0])
    return f"{tag}({', '.join(map(str, parts))})"


def _entity_text(parts: list[Any]) -> str:
    return " ".join(written(part) if isinstance(part, tuple) else str(part) for part in parts)
