"""The types of parameter values, as far as the compile-time check knows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hoplite.planner import types as t
from hoplite.planner.types import CypherType
from hoplite.values import temporal
from hoplite.values.spatial import Point

_SIMPLE: dict[type, CypherType] = {
    bool: t.BOOLEAN,
    int: t.INTEGER,
    str: t.STRING,
    dict: t.MAP,
    temporal.Date: t.DATE,
    temporal.Time: t.TIME,
    temporal.LocalTime: t.LOCAL_TIME,
    temporal.DateTime: t.DATE_TIME,
    temporal.LocalDateTime: t.LOCAL_DATE_TIME,
    temporal.Duration: t.DURATION,
    Point: t.POINT,
}


_LISTS = (list, tuple)  # made once: every query passes through here
_ONLY_STRINGS = {str}
_STRINGS = t.list_of(t.STRING)  # the only lists whose elements Neo4j checks


def parameter_types(parameters: Mapping[str, Any]) -> dict[str, CypherType | None]:
    """The type of each parameter by name; None for null and floats, which Neo4j lets pass."""
    types: dict[str, CypherType | None] = {}
    for name, value in parameters.items():
        if not isinstance(value, _LISTS):
            types[name] = _SIMPLE.get(type(value))
        elif value and type(value[0]) is str and set(map(type, value)) == _ONLY_STRINGS:
            types[name] = _STRINGS
        else:
            types[name] = t.LIST
    return types
