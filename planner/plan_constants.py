"""Constants of every Cypher type as JSON, and back.

true, 'a', null, 7            themselves
1.5, NaN                      {"float": "1.5"}, {"float": "nan"}
9007199254740993              {"integer": "9007199254740993"}, where a double could not hold it
[1, 2], {a: 1}                [1, 2], {"map": {"a": 1}}
a byte array                  {"bytes": "AAEC"}, in Base64
date('2024-02-29')            {"date": [19782]}; temporal values and points are lists of their parts
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import fields
from typing import Any
from zoneinfo import ZoneInfo

from hoplite.errors import CypherError
from hoplite.values.spatial import DIMENSIONS, Point, checked_point
from hoplite.values.temporal import TEMPORAL_FUNCTIONS

_EXACT = 1 << 53
_MOST_DIGITS = 400
_DAY = 86_400_000_000_000
_LONG = 1 << 63
_MOST_DAYS = 366 * 1_000_000_000
_TEMPORAL: dict[str, Any] = {name: kind for kind, name in TEMPORAL_FUNCTIONS.items()}
_RANGES = {  # of the parts of temporal values: the lowest, and one past the highest
    "epoch_day": (-_MOST_DAYS, _MOST_DAYS),
    "nanosecond_of_day": (0, _DAY),
    "offset_seconds": (-64_800, 64_801),
    "epoch_second": (-_MOST_DAYS * 86_400, _MOST_DAYS * 86_400),
    "nanosecond": (0, 1_000_000_000),
}


def written_constant(value: Any) -> Any:
    """A value as JSON."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if -_EXACT <= value <= _EXACT else {"integer": str(value)}
        case float():
            return {"float": repr(value)}
        case list() | tuple():
            return [written_constant(item) for item in value]
        case dict():
            return {"map": {key: written_constant(item) for key, item in value.items()}}
        case bytes() | bytearray():
            return {"bytes": base64.b64encode(value).decode("ascii")}
        case Point(srid=srid, coordinates=coordinates):
            return {"point": [srid, *map(repr, coordinates)]}
        case _:
            return {TEMPORAL_FUNCTIONS[type(value)]: [getattr(value, field.name) for field in fields(value)]}


def read_constant(found: Any) -> Any:
    """The value that some JSON stands for; `ValueError` if it is not a constant."""
    match found:
        case None | bool() | str():
            return found
        case int() if -_EXACT <= found <= _EXACT:
            return found
        case list():
            return [read_constant(item) for item in found]
        case {"integer": str(digits), **others} if not others and len(digits) <= _MOST_DIGITS:
            return int(digits)
        case {"float": str(digits), **others} if not others and len(digits) <= _MOST_DIGITS:
            return float(digits)
        case {"map": dict(entries), **others} if not others:
            return {key: read_constant(item) for key, item in entries.items()}
        case {"bytes": str(text), **others} if not others:
            return _bytes(text)
        case {"point": [int(srid), *coordinates], **others} if not others and srid in DIMENSIONS:
            return _point(srid, coordinates)
        case dict() if len(found) == 1:
            ((name, parts),) = found.items()
            if name in _TEMPORAL and isinstance(parts, list):
                return _temporal(_TEMPORAL[name], parts)
    raise ValueError("no such constant")


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def _point(srid: int, coordinates: list[Any]) -> Point:
    if len(coordinates) != DIMENSIONS[srid] or not all(isinstance(text, str) for text in coordinates):
        raise ValueError("not the coordinates of a point")
    try:
        return checked_point(srid, tuple(map(float, coordinates)))
    except CypherError as error:
        raise ValueError(error.message) from None


def _temporal(kind: type[Any], parts: list[Any]) -> Any:
    names = [field.name for field in fields(kind)]
    if len(parts) != len(names):
        raise ValueError(f"{len(names)} parts are needed")
    for name, part in zip(names, parts, strict=True):
        if name == "region":
            if part is not None:
                _check_region(part)
            continue
        low, high = _RANGES.get(name, (-_LONG, _LONG))
        if type(part) is not int or not low <= part < high:
            raise ValueError(f"{name} is out of range")
    return kind(*parts)


def _check_region(name: Any) -> None:
    if not isinstance(name, str):
        raise ValueError("a region is a name")
    try:
        ZoneInfo(name)
    except (OSError, LookupError) as error:
        raise ValueError(str(error)) from None
