"""The type of any Cypher value as the engine holds it.

None, bool, int (64 bits), float, str, bytes, list, dict with string keys,
Date, LocalTime, Time, LocalDateTime, DateTime, Duration, Point,
NodeRef, RelationshipRef, PathValue
"""

from __future__ import annotations

from typing import Any, TypeAlias

from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.spatial import Point
from hoplite.values.temporal import Temporal

Value: TypeAlias = (
    bool
    | int
    | float
    | str
    | bytes
    | list[Any]
    | dict[str, Any]
    | Temporal
    | Point
    | NodeRef
    | RelationshipRef
    | PathValue
    | None
)
