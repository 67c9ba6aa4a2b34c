"""Whether a value fits an argument's declared type, and coercion of list elements."""

from __future__ import annotations

from typing import Any

from hoplite.errors import type_error
from hoplite.planner.types import Accepted, CypherType
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.render import describe
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

CLASSES: dict[str, tuple[type, ...]] = {
    "Boolean": (bool,),
    "Integer": (int,),
    "Float": (float,),
    "Number": (int, float),
    "String": (str,),
    "Map": (dict, NodeRef, RelationshipRef),
    "List": (list,),
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


def fits(value: Any, name: str) -> bool:
    """Whether the value has the type of this name."""
    return isinstance(value, CLASSES[name]) and (name == "Boolean" or not isinstance(value, bool))


def element_type(types: Accepted) -> CypherType | None:
    """The type that a list's elements must have; None if they may be anything, or if no list is wanted."""
    inner = types[0].inner if len(types) == 1 and types[0].name == "List" else None
    return None if inner is None or inner.name in ("Any", "Number") else inner


def coerced_elements(value: Any, types: Accepted) -> Any:
    """A list with its elements coerced to the wanted type: integers to floats, and a `Can't coerce` error if
    impossible."""
    wanted = element_type(types)
    if wanted is None or not isinstance(value, list):
        return value
    if wanted.name == "Float" and any(type(item) is int for item in value):
        value = [float(item) if type(item) is int else item for item in value]
    for item in value:
        if item is not None and not fits(item, wanted.name):
            raise type_error(f"Can't coerce `{describe(item)}` to {wanted.name}")
    return value
