"""The names of value types in Neo4j's run-time messages: `Long`, `org.neo4j.values.storable.LongValue`."""

from __future__ import annotations

from typing import Any

from hoplite.errors import CypherError, type_error
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualPath, VirtualRelationship
from hoplite.values.render import describe
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time
from hoplite.values.value_types import wrong_value

_STORABLE, _VIRTUAL = "org.neo4j.values.storable.", "org.neo4j.values.virtual."

# Python class -> short name, full name.
_NAMES: dict[type, tuple[str, str]] = {
    int: ("Long", _STORABLE + "LongValue"),
    float: ("Double", _STORABLE + "DoubleValue"),
    str: ("String", _STORABLE + "StringWrappingStringValue"),
    bool: ("Boolean", _STORABLE + "BooleanValue"),
    bytes: ("ByteArray", _STORABLE + "ByteArray"),
    list: ("List", _VIRTUAL + "ListValue$ArrayListValue"),
    dict: ("Map", _VIRTUAL + "MapValue$MapWrappingMapValue"),
    Point: ("Point", _STORABLE + "PointValue"),
    Date: ("Date", _STORABLE + "DateValue"),
    Time: ("Time", _STORABLE + "TimeValue"),
    LocalTime: ("LocalTime", _STORABLE + "LocalTimeValue"),
    DateTime: ("DateTime", _STORABLE + "DateTimeValue"),
    LocalDateTime: ("LocalDateTime", _STORABLE + "LocalDateTimeValue"),
    Duration: ("Duration", _STORABLE + "DurationValue"),
    NodeRef: ("NodeIdReference", _VIRTUAL + "NodeIdReference"),
    RelationshipRef: ("RelationshipReference", _VIRTUAL + "RelationshipReference"),
    VirtualNode: ("Node", _VIRTUAL + "NodeEntityWrappingNodeValue"),
    VirtualRelationship: ("Relationship", _VIRTUAL + "RelationshipEntityWrappingValue"),
    VirtualPath: ("Path", _VIRTUAL + "PathWrappingPathValue"),
    PathValue: ("Path", _VIRTUAL + "PathReference$PathReferenceReferences"),
    type(None): ("NO_VALUE", _STORABLE + "NoValue"),
}
TEXT_VALUE = _STORABLE + "TextValue"
NUMBER_VALUE = _STORABLE + "NumberValue"
ENTITY = "Node or Relationship"
_TYPES = {
    TEXT_VALUE: "STRING",
    NUMBER_VALUE: "INTEGER or FLOAT",
    ENTITY: "NODE or RELATIONSHIP",
}  # the Cypher types of such classes


def type_name(value: Any) -> str:
    """`Long` for 1, as in "Cannot add `Long` and `Map`"."""
    return _NAMES[type(value)][0]


def class_name(value: Any) -> str:
    """`org.neo4j.values.storable.LongValue` for 1."""
    full = _NAMES[type(value)][1]
    return f"{full}${1 if value else 2}" if isinstance(value, bool) else full


def expected(what: str, value: Any, before: str = "", wanted: str | None = None) -> CypherError:
    """`Expected Long(1) to be a Node or Relationship, but it was a org.neo4j.values.storable.LongValue`

    `wanted` is the type in the GQL status, if it is not that of the class.
    """
    found = f"Expected {describe(value)} to be a {what}, but it was a {class_name(value)}"
    return type_error(before + found, wrong_value(value, wanted or _TYPES[what]))
