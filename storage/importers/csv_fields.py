"""Columns of CSV files for `neo4j-admin database import`: a header describes each one, texts become values.

personId:ID(Person){id-type:int}   name   born:date   scores:float[]   place:point{crs:WGS-84}   :LABEL   :IGNORE
:START_ID(Person)   :END_ID(Movie)   :TYPE   since:int
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.importers.json_values import stored_value
from hoplite.values.temporal_parse import (
    parse_date,
    parse_date_time,
    parse_duration,
    parse_local_date_time,
    parse_local_time,
    parse_time,
)
from hoplite.values.zones import parse_zone

_ROLES = ("ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE")
_COLUMN = lazy_pattern(
    r"(?P<untyped>[^:]*)\Z"
    r"|(?P<name>.*?)"  # may contain colons: the last one begins the type
    r":(?P<kind>[A-Za-z_]+)(?P<array>\[\])?(?:\((?P<group>[^)]*)\))?(?:\{(?P<options>[^}]*)\})?\Z",
    re.DOTALL,
)
_POINT_PART = lazy_pattern(r"\s*(\w+)\s*:\s*\"?([^,\"]+?)\"?\s*(?:,|\Z)")
_INTEGER_RANGES = {"byte": 2**7, "short": 2**15, "int": 2**31, "long": 2**63}


@dataclass(frozen=True, slots=True)
class Field:
    """One column. `role` is one of the roles above, or PROPERTY; `group` names the id space."""

    role: str
    name: str = ""
    kind: str = "string"
    is_array: bool = False
    group: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    def reader(self, array_delimiter: str) -> Callable[[str], Any]:
        """The function that converts a text that is present."""
        read = _scalar_reader(self.kind, self.options)
        if not self.is_array:
            return read
        if self.kind == "byte":
            return lambda text: bytes(int(item) % 256 for item in text.split(array_delimiter)) if text else b""
        return lambda text: [read(item) for item in text.split(array_delimiter)] if text else []


def read_header(columns: Sequence[str | None]) -> list[Field]:
    """The columns that a header line names; raises ValueError for an invalid one."""
    return [read_column(column or "") for column in columns]


def read_column(text: str) -> Field:
    """`age:int` as a field."""
    found = _COLUMN.match(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a column: expected name:type, such as age:int, or :ID, :LABEL, :START_ID")
    name, kind, array = found["name"] or found["untyped"] or "", found["kind"], found["array"]
    group, options = found["group"] or "", _options(found["options"])
    if kind is not None and kind.upper() in _ROLES:
        id_kind = options.get("id-type", "string").lower()
        return Field(kind.upper(), name, id_kind if kind.upper() == "ID" else "string", False, group, options)
    if not name:
        raise ValueError(f"{text!r} has neither a name nor a role")
    kind = "string" if kind is None else kind.lower()
    if kind not in _KINDS:
        raise ValueError(f"{kind!r} is not a column type: expected one of {', '.join(_KINDS)}")
    return Field("PROPERTY", name, kind, array is not None, "", options)


def _options(text: str | None) -> dict[str, str]:
    if not text:
        return {}
    pairs = (part.partition(":") for part in text.split(","))
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _scalar_reader(kind: str, options: Mapping[str, str]) -> Callable[[str], Any]:
    if kind in _INTEGER_RANGES:
        return lambda text: _integer(text, kind)
    if kind in ("time", "datetime"):
        zone = parse_zone(options["timezone"]) if "timezone" in options else 0
        parse = parse_time if kind == "time" else parse_date_time
        return lambda text: parse(text.strip(), zone)
    if kind == "point":
        return lambda text: _point(text, options.get("crs"))
    return _KINDS[kind]


def _integer(text: str, kind: str) -> int:
    try:
        number = int(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a valid {kind}") from None
    if not -_INTEGER_RANGES[kind] <= number < _INTEGER_RANGES[kind]:
        raise ValueError(f"{number} is out of the range of {kind}")
    return number


def _float(text: str) -> float:
    try:
        return float(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


def _boolean(text: str) -> bool:
    return text.strip().lower() == "true"  # anything else is false, as in neo4j-admin


def _char(text: str) -> str:
    if len(text) != 1:
        raise ValueError(f"{text!r} is not one character")
    return text


def _point(text: str, crs: str | None) -> Any:
    """`{latitude: 55.6, longitude: 12.5}`, `{x: 1, y: 2, crs: cartesian}`"""
    inner = text.strip().removeprefix("{").removesuffix("}")
    parts: dict[str, Any] = {}
    for name, value in _POINT_PART.findall(inner):
        parts[name.lower()] = value if name.lower() in ("crs", "srid") else _float(value)
    if not parts:
        raise ValueError(f"{text!r} is not a point: expected {{x: 1, y: 2}} or {{latitude: 1, longitude: 2}}")
    given = parts.pop("crs", crs)
    if given is None:
        given = "wgs-84" if "latitude" in parts or "longitude" in parts else "cartesian"
    given = given.lower()
    if len(parts) == 3 and not given.endswith("-3d"):
        given += "-3d"
    return stored_value({"crs": given, **parts})


_KINDS: dict[str, Callable[[str], Any]] = {
    "string": str,
    "int": lambda text: _integer(text, "int"),
    "long": lambda text: _integer(text, "long"),
    "short": lambda text: _integer(text, "short"),
    "byte": lambda text: _integer(text, "byte"),
    "float": _float,
    "double": _float,
    "boolean": _boolean,
    "char": _char,
    "date": lambda text: parse_date(text.strip()),
    "localtime": lambda text: parse_local_time(text.strip()),
    "time": lambda text: parse_time(text.strip(), 0),
    "localdatetime": lambda text: parse_local_date_time(text.strip()),
    "datetime": lambda text: parse_date_time(text.strip(), 0),
    "duration": lambda text: parse_duration(text.strip()),
    "point": lambda text: _point(text, None),
}
