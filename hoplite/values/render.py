"""Values as text: `toString()`, and Java's words for values and types in messages.

to_string(1e7)         1.0E7
describe([1, 'a'])     List{Long(1), String("a")}
type_name(1.5)         Double         as in "Cannot add `Duration` and `Double`"
class_name(1.5)        DoubleValue    as in "must be an integer value, but was a DoubleValue"
"""

from __future__ import annotations

from typing import Any

from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualRelationship
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

# Python type -> the class of Neo4j that holds such a value.
_CLASSES: dict[type, str] = {
    bool: "",  # Java's booleans are classes without a name
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
    bytes: "ByteArray",
    type(None): "NoValue",
}


def to_string(value: Any) -> str:
    """Cypher's `toString` of a value that it takes: scalars, temporal values and points."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value)
    return str(value)


def describe(value: Any) -> str:
    """A value as messages write it."""
    if value is None:
        return "NO_VALUE"
    if isinstance(value, bool):
        return f"Boolean('{str(value).lower()}')"
    if isinstance(value, int):
        return f"Long({value})"
    if isinstance(value, float):
        return f"Double({float_description(value)})"
    if isinstance(value, str):
        return f'String("{value}")'
    if isinstance(value, bytes):
        signed = (byte - 256 if byte > 127 else byte for byte in value)
        return f"ByteArray[{', '.join(map(str, signed))}]"
    if isinstance(value, list):
        return f"List{{{', '.join(map(describe, value))}}}"
    if isinstance(value, dict):
        entries = (f"{key} -> {describe(item)}" for key, item in value.items())
        return f"Map{{{', '.join(entries)}}}"
    if isinstance(value, NodeRef):
        return f"({value.id})"
    if isinstance(value, RelationshipRef):
        return f"-[{value.id}]-"
    if isinstance(value, PathValue):
        steps = zip(value.relationships, value.nodes[1:], strict=True)
        rest = "".join(f"-[{relationship}]-({node})" for relationship, node in steps)
        return f"Path{{({value.nodes[0]}){rest}}}"
    return str(value)


def class_name(value: Any) -> str:
    """The name of the class that holds such a value in Neo4j's runtime."""
    return _CLASSES[type(value)]
