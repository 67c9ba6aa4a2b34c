"""What SET, REMOVE and MERGE assign."""

from __future__ import annotations

from typing import TypeAlias

from hoplite.engine.operators.row_values import RowValue
from hoplite.lazy_dataclass import dataclass


@dataclass(slots=True, eq=False)
class PropertyAssignment:
    """`subject.key = value`, or its removal if there is no value."""

    subject: RowValue
    key: str | RowValue
    value: RowValue | None


@dataclass(slots=True, eq=False)
class EntityAssignments:
    """`n.a = 1, n.b = n.a`: several properties of one entity, all values computed before any is set."""

    subject: RowValue
    entries: tuple[tuple[str | RowValue, RowValue], ...]


@dataclass(slots=True, eq=False)
class MapAssignment:
    """`variable = map` or `variable += map`."""

    variable: str
    value: RowValue
    merge: bool
    written: str | None = None  # the value, if it is a parameter


@dataclass(slots=True, eq=False)
class LabelAssignment:
    """`variable:A:B`, or their removal."""

    variable: str
    labels: tuple[str | RowValue, ...]
    remove: bool


Assignment: TypeAlias = PropertyAssignment | EntityAssignments | MapAssignment | LabelAssignment
