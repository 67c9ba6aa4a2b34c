"""Arguments of procedures and of APOC's functions, coerced to their declared types as Neo4j does it.

A value in, the value as the argument's type out: `2.9` is the INTEGER 2, a path is the LIST of its nodes and
relationships, a map a LIST of one, null is anything. What cannot be coerced is a TypeError: `Can't coerce `Long(1)` to
String`.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from hoplite.engine.functions.arguments import is_number, long_of
from hoplite.errors import type_error
from hoplite.planner.types import Accepted, CypherType
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.render import describe
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

_CLASSES: dict[str, tuple[type, ...]] = {
    "Boolean": (bool,),
    "String": (str,),
    "Map": (dict, NodeRef, RelationshipRef),
    "List": (list, bytes),
    "Node": (NodeRef,),
    "Relationship": (RelationshipRef,),
    "Path": (PathValue,),
    "Point": (Point,),
    "Date": (Date,),
    "Time": (Time,),
    "LocalTime": (LocalTime,),
    "DateTime": (DateTime,),
    "LocalDateTime": (LocalDateTime,),
    "Duration": (Duration,),
}


def coerced(value: Any, types: Accepted) -> Any:
    """The value as an argument of one of these types."""
    if value is None:
        return None
    if len(types) == 1:
        return _coerced(value, types[0])
    if any(_has_type(value, type) for type in types):
        return value
    raise _impossible(value, types[0])


def _coerced(value: Any, wanted: CypherType) -> Any:
    name = wanted.name
    if name == "Any":
        return value
    if name == "Integer" and type(value) is float:
        return long_of(value)
    if name == "Float" and type(value) is int:
        return float(value)
    if name == "List" and isinstance(value, PathValue) and _of_anything(wanted):
        return _elements(value)
    if name == "List" and isinstance(value, dict):
        value = [value]
    if not _has_type(value, wanted):
        raise _impossible(value, wanted)
    if isinstance(value, list) and not _of_anything(wanted):
        inner = wanted.inner
        assert inner is not None
        return [None if item is None else _coerced(item, inner) for item in value]
    return value


def _has_type(value: Any, wanted: CypherType) -> bool:
    match wanted.name:
        case "Any":
            return True
        case "Integer":
            return type(value) is int
        case "Float":
            return type(value) is float
        case "Number":
            return is_number(value)
        case name:
            return isinstance(value, _CLASSES[name])


def _of_anything(wanted: CypherType) -> bool:
    return wanted.inner is None or wanted.inner.name == "Any"


def _elements(path: PathValue) -> list[NodeRef | RelationshipRef]:
    """The nodes and relationships of a path in turn."""
    both = zip_longest(path.node_refs(), path.relationship_refs())
    return [element for pair in both for element in pair if element is not None]


def _impossible(value: Any, wanted: CypherType) -> Exception:
    return type_error(f"Can't coerce `{describe(value)}` to {wanted.name}")
