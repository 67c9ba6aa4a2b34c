"""Which values a property may hold, and how Neo4j's messages write a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from hoplite.errors import CypherError, type_error
from hoplite.gql_status import because
from hoplite.values.columns import Int64s
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualPath
from hoplite.values.floats import float_text
from hoplite.values.render import describe
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time
from hoplite.values.value_types import status_text, value_type

SCALARS = (bool, int, float, str, Date, DateTime, Duration, LocalDateTime, LocalTime, Time, Point)
_MIXED = (
    "Neo4j only supports a subset of Cypher types for storage as singleton or array properties. "
    "Please refer to section cypher/syntax/values of the manual for more details."
)


class PublicIds(Protocol):
    """Gives positions their public ids: a snapshot."""

    def node_ids(self, nodes: Int64s) -> Int64s: ...

    def relationship_ids(self, relationships: Int64s) -> Int64s: ...


_STORABLE_TYPES = (
    "BOOLEAN, STRING, INTEGER, FLOAT, DATE, LOCAL TIME, ZONED TIME, LOCAL DATETIME, ZONED DATETIME, DURATION, POINT, "
    "NODE or RELATIONSHIP"
)  # Neo4j names entities too


_SCALAR_TYPES = {type(None), bytes, *SCALARS}


def are_scalars(values: Iterable[Any]) -> bool:
    """Whether all values are stored as they are: null, and everything but lists."""
    return _SCALAR_TYPES.issuperset(map(type, values))


def storable(value: Any, ids: PublicIds | None = None) -> Any:
    """The value as it is stored: itself, or a list whose integers became floats because other items are. Raises for
    what no property can hold; `ids` then says how to name nodes and relationships."""
    if value is None or isinstance(value, (*SCALARS, bytes)):
        return value
    if isinstance(value, list | tuple):
        return _storable_list(list(value), ids)
    raise _not_storable(value, ids)


def _storable_list(items: list[Any], ids: PublicIds | None) -> list[Any]:
    kind: type | None = None
    mixed_numbers = False
    for item in items:
        if item is None:
            raise type_error("Collections containing null values can not be stored in properties.")
        if isinstance(item, list | tuple | bytes):
            raise type_error("Collections containing collections can not be stored in properties.")
        if kind is None:
            if not isinstance(item, SCALARS):
                raise _not_storable(item, ids, in_list=True)
            kind = type(item)
        elif type(item) is not kind:
            if not {kind, type(item)} <= {int, float}:
                raise type_error(_MIXED)
            mixed_numbers = True
            kind = float if type(items[0]) is int else kind
        elif isinstance(item, Point) and item.srid != items[0].srid:
            raise type_error("Collections containing point values with different CRS can not be stored in properties.")
    if mixed_numbers or (kind is float and any(type(item) is int for item in items)):
        return [float(item) for item in items]
    return items


_NAMES_IN_LISTS = {
    dict: "MAP",
    NodeRef: "NODEIDREFERENCE",
    RelationshipRef: "RELATIONSHIPREFERENCE",
    PathValue: "PATH",
    VirtualPath: "PATH",
}


def _not_storable(value: Any, ids: PublicIds | None, *, in_list: bool = False) -> CypherError:
    found = java_text(value, ids)
    kind = _NAMES_IN_LISTS.get(type(value), value_type(value)) if in_list else value_type(value)
    return type_error(
        f"Property values can only be of primitive types or arrays thereof. Encountered: {found}.",
        because("22N01", found, _STORABLE_TYPES, kind),
    )


def java_text(value: Any, ids: PublicIds | None = None) -> str:
    """A value as Java's toString writes it, entities by the ids that users see."""
    if ids is None:
        return describe(value)
    return describe(value, _one_by_one(ids.node_ids), _one_by_one(ids.relationship_ids))


def _one_by_one(ids: Callable[[Int64s], Int64s]) -> Callable[[int], int]:
    return lambda position: int(ids(np.array([position], np.int64))[0])


def shown(value: Any) -> str:
    """A value as messages about constraints print it: `'Ann'`, `1.0`, `[1, 2]`."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f"'{value}'"
        case float():
            return float_text(value)
        case list():
            return "[" + ", ".join(shown(item) for item in value) + "]"
        case Point():
            return status_text(value)
    return str(value)
