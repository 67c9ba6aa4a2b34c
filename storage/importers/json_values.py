"""Property values in JSON: plain values directly, the others as small objects.

{"$date": "2020-01-31"}, and likewise $time, $localtime, $datetime, $localdatetime
{"$duration": "P1M2D"}, {"$duration": {"months": 1, "days": 2, "seconds": 0, "nanos": 0}}
{"$point": [12.5, 55.6], "crs": "wgs-84"}
{"crs": "wgs-84", "latitude": 55.6, "longitude": 12.5, "height": null}, as APOC writes points
{"$float": "NaN"}, {"$bytes": "AP8="} in base 64
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any

from hoplite.storage.property_values import storable
from hoplite.values.render import describe
from hoplite.values.spatial import make_point
from hoplite.values.temporal import Duration
from hoplite.values.temporal_parse import (
    parse_date,
    parse_date_time,
    parse_duration,
    parse_local_date_time,
    parse_local_time,
    parse_time,
)

_READERS: Mapping[str, Callable[[Any], Any]] = {
    "$date": parse_date,
    "$time": lambda text: parse_time(text, 0),
    "$localtime": parse_local_time,
    "$datetime": lambda text: parse_date_time(text, 0),
    "$localdatetime": parse_local_date_time,
    "$duration": lambda value: _duration(value),
    "$float": float,
    "$bytes": lambda text: b64decode(text, validate=True),
}
_AXES = ("x", "y", "z")


def stored_value(value: Any) -> Any:
    """A JSON value as a property; raises ValueError or CypherError if a property cannot hold it."""
    kind = type(value)
    if kind is str or kind is float or kind is bool or value is None:
        return value
    if kind is int:
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{value} is beyond 64 bits")
        return value
    if kind is list:
        return storable([stored_value(item) for item in value])
    return _special(value)


def _special(value: dict[str, Any]) -> Any:
    for name, read in _READERS.items():
        if name in value:
            return read(value[name])
    if "$point" in value:
        fields = dict(zip(_AXES, value["$point"], strict=False))
        return make_point({"crs": value.get("crs", "cartesian"), **fields}, describe)
    if "crs" in value:
        return make_point({name: field for name, field in value.items() if field is not None}, describe)
    raise ValueError(f"a map cannot be a property: {value}")


def _duration(value: Any) -> Duration:
    """An ISO text, or the four parts by name."""
    if isinstance(value, str):
        return parse_duration(value)
    months, days, seconds = (int(value.get(part, 0)) for part in ("months", "days", "seconds"))
    carried, nanoseconds = divmod(int(value.get("nanoseconds", value.get("nanos", 0))), 10**9)
    return Duration(months, days, seconds + carried, nanoseconds)
