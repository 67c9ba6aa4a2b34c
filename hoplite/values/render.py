"""Values as text: `toString()`, and Java's words for values and types in messages.

to_string(1e7)         1.0E7
describe([1, 'a'])     List{Long(1), String("a")}
type_name(1.5)         Double         as in "Cannot add `Duration` and `Double`"
class_name(1.5)        DoubleValue    as in "must be an integer value, but was a DoubleValue"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualPath, VirtualRelationship
from hoplite.values.floats import float_description, float_text
from hoplite.values.spatial import Point
from hoplite.values.temporal import (
    Date,
    DateTime,
    Duration,
    LocalDateTime,
    LocalTime,
    Time,
)

PublicId: TypeAlias = Callable[[int], int]
_LONGEST = 1 << 16  # characters of a value in a message


def _same(position: int) -> int:
    return position


# Python type -> the Neo4j class that holds such a value.
_CLASSES: dict[type, str] = {
    bool: "",  # Neo4j's boolean classes are anonymous
    str: "UTF8StringValue",
    int: "LongValue",
    float: "DoubleValue",
    Date: "DateValue",
    LocalTime: "LocalTimeValue",
    Time: "TimeValue",
    LocalDateTime: "LocalDateTimeValue",
    DateTime: "DateTimeValue",
    Duration: "DurationValue",
    Point: "PointValue",
    NodeRef: "NodeReference",
    RelationshipRef: "RelationshipReference",
    VirtualNode: "NodeEntityWrappingNodeValue",
    VirtualRelationship: "RelationshipEntityWrappingValue",
    dict: "MapWrappingMapValue",
    list: "ArrayListValue",
    PathValue: "PathReference",
    VirtualPath: "PathWrappingPathValue",
    bytes: "ByteArray",
    type(None): "NoValue",
}


def to_string(value: Any) -> str:
    """Cypher's `toString` for scalars, temporal values and points."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value)
    return str(value)


def describe(value: Any, node_id: PublicId = _same, relationship_id: PublicId = _same) -> str:
    """A value as messages write it: `Map{a -> Long(1)}`, `List{String("x"), NO_VALUE}`, `(12)` for a node.

    A value with shared parts may be far larger when written out: a long text ends in dots.
    """
    pieces: list[str] = []
    room = _LONGEST
    for piece in _described(value, node_id, relationship_id):
        pieces.append(piece)
        room -= len(piece)
        if room < 0:
            pieces.append("...")
            break
    return "".join(pieces)


def _described(value: Any, node_id: PublicId, relationship_id: PublicId) -> Iterator[str]:
    match value:
        case None:
            yield "NO_VALUE"
        case bool():
            yield f"Boolean('{str(value).lower()}')"
        case int():
            yield f"Long({value})"
        case float():
            yield f"Double({float_description(value)})"
        case str():
            yield f'String("{value}")'
        case bytes():
            signed = (byte - 256 if byte > 127 else byte for byte in value)
            yield f"ByteArray[{', '.join(map(str, signed))}]"
        case list() | tuple():
            yield "List{"
            for place, item in enumerate(value):
                yield ", " if place else ""
                yield from _described(item, node_id, relationship_id)
            yield "}"
        case dict():
            yield "Map{"
            for place, (key, item) in enumerate(value.items()):
                yield f"{', ' if place else ''}{key} -> "
                yield from _described(item, node_id, relationship_id)
            yield "}"
        case NodeRef():
            yield f"({node_id(value.position)})"
        case RelationshipRef():
            yield f"-[{relationship_id(value.position)}]-"
        case PathValue(nodes=nodes, relationships=relationships):
            yield f"Path{{({node_id(nodes[0])})"
            for relationship, node in zip(relationships, nodes[1:], strict=True):
                yield f"-[{relationship_id(relationship)}]-({node_id(node)})"
            yield "}"
        case _:
            yield str(value)


def class_name(value: Any) -> str:
    """The name of the class of such a value in Neo4j's runtime."""
    return _CLASSES[type(value)]
