"""The types of values: the most precise type of a value, and the error if another was expected.

1            INTEGER NOT NULL
[1, 'a']     LIST<STRING NOT NULL | INTEGER NOT NULL> NOT NULL
[1, null]    LIST<INTEGER> NOT NULL
[]           LIST<NOTHING> NOT NULL
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hoplite.gql_status import GqlStatus, because
from hoplite.lazy_dataclass import dataclass
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualPath, VirtualRelationship
from hoplite.values.floats import float_text
from hoplite.values.render import describe
from hoplite.values.spatial import GEOGRAPHIC, Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

# In the order in which a union lists them.
TYPE_ORDER = (
    "NOTHING", "NULL", "BOOLEAN", "STRING", "INTEGER", "FLOAT", "DATE", "LOCAL TIME", "ZONED TIME", "LOCAL DATETIME",
    "ZONED DATETIME", "DURATION", "POINT", "NODE", "RELATIONSHIP", "MAP", "LIST", "PATH",
)  # fmt: skip
_RANK = {name: rank for rank, name in enumerate(TYPE_ORDER)}
TYPE_NAMES: dict[type, str] = {
    bool: "BOOLEAN",
    str: "STRING",
    int: "INTEGER",
    float: "FLOAT",
    Date: "DATE",
    LocalTime: "LOCAL TIME",
    Time: "ZONED TIME",
    LocalDateTime: "LOCAL DATETIME",
    DateTime: "ZONED DATETIME",
    Duration: "DURATION",
    Point: "POINT",
    NodeRef: "NODE",
    RelationshipRef: "RELATIONSHIP",
    VirtualNode: "NODE",
    VirtualRelationship: "RELATIONSHIP",
    dict: "MAP",
    PathValue: "PATH",
    VirtualPath: "PATH",
}


@dataclass(frozen=True, slots=True)
class _Type:
    """A type; a list has the types of its elements, in order. `nullable` is false for NOT NULL."""

    name: str
    nullable: bool
    elements: tuple[_Type, ...] = ()

    def __str__(self) -> str:
        inner = f"<{' | '.join(map(str, self.elements))}>" if self.name == "LIST" else ""
        bare = self.nullable or self.name == "NOTHING"
        return f"{self.name}{inner}" if bare else f"{self.name}{inner} NOT NULL"

    @property
    def rank(self) -> tuple[Any, ...]:
        """The sort key of types in a union."""
        return (_RANK[self.name], tuple(element.rank for element in self.elements), self.nullable)

    def covers(self, other: _Type) -> bool:
        """Whether every value of the other type also has this type."""
        if other.name == "NOTHING":
            return True
        if other.name != self.name or (other.nullable and not self.nullable):
            return False
        return all(any(mine.covers(theirs) for mine in self.elements) for theirs in other.elements)


def _type_of(value: Any) -> _Type:
    if value is None:
        return _Type("NULL", True)
    if isinstance(value, list | bytes):
        return _Type("LIST", False, _union(map(_type_of, value)))
    return _Type(TYPE_NAMES[type(value)], False)


def _union(members: Iterable[_Type]) -> tuple[_Type, ...]:
    """The fewest types that cover all members, sorted; null among them makes all of them nullable."""
    distinct = dict.fromkeys(members)
    if not distinct:
        return (_Type("NOTHING", True),)
    null = _Type("NULL", True)
    has_null = distinct.pop(null, distinct) is None
    if not distinct:
        return (null,)
    kept = [one for one in distinct if not any(other != one and other.covers(one) for other in distinct)]
    if has_null:
        kept = [_Type(one.name, True, one.elements) for one in kept]
    return tuple(sorted(kept, key=lambda one: one.rank))


def value_type(value: Any) -> str:
    """`value_type(1)` is `'INTEGER NOT NULL'`."""
    return str(_type_of(value))


def wrong_value(value: Any, wanted: str) -> GqlStatus:
    """The GQL status of a value that does not have the expected type."""
    return because("22N01", status_text(value), wanted, value_type(value))


def status_text(value: Any) -> str:
    """A value as GQL statuses write it: scalars plain, others as in messages."""
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, Point):
        return _geo_json(value)
    return str(value) if isinstance(value, int) else describe(value)


def _geo_json(point: Point) -> str:
    coordinates = ", ".join(map(float_text, point.coordinates))
    registry = "epsg" if point.srid in GEOGRAPHIC else "sr-org"
    link = f'href: "https://spatialreference.org/ref/{registry}/{point.srid}/", code: {point.srid}'
    crs = f"{{type: link, properties: {{{link}}}}}"
    return f'{{geometry: {{type: "Point", coordinates: [{coordinates}], crs: {crs}}}}}'
