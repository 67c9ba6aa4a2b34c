"""Property values as JSON, in the form that `storage/importers/json_values.py` reads."""

from __future__ import annotations

import math
from base64 import b64encode
from typing import Any

from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

_TAGS = {
    Date: "$date",
    LocalTime: "$localtime",
    Time: "$time",
    LocalDateTime: "$localdatetime",
    DateTime: "$datetime",
}


def json_value(value: Any) -> Any:
    """What `json.dumps` takes."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return value if math.isfinite(value) else {"$float": str(value)}
        case list():
            return [json_value(item) for item in value]
        case bytes():
            return {"$bytes": b64encode(value).decode("ascii")}
        case Duration():
            parts = (value.months, value.days, value.seconds, value.nanoseconds)
            return {"$duration": dict(zip(("months", "days", "seconds", "nanoseconds"), parts, strict=True))}
        case Point():
            return {"$point": list(value.coordinates), "crs": value.crs}
    return {_TAGS[type(value)]: str(value)}
