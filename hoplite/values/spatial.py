"""Points: two or three coordinates in one of four coordinate reference systems.

    srid 4326 wgs-84      longitude and latitude in degrees
    srid 4979 wgs-84-3d   the same with a height in metres
    srid 7203 cartesian   x and y
    srid 9157 cartesian-3d

`make_point` turns a map into a Point; distances and bounding boxes take two or three points and know nothing about
graphs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from hoplite.errors import CypherError, argument_error
from hoplite.gql_status import because
from hoplite.lazy_dataclass import dataclass
from hoplite.values.floats import float_text
from hoplite.values.java_angles import atan2

WGS_84 = 4326
WGS_84_3D = 4979
CARTESIAN = 7203
CARTESIAN_3D = 9157

_NAMES = {
    WGS_84: "wgs-84",
    WGS_84_3D: "wgs-84-3d",
    CARTESIAN: "cartesian",
    CARTESIAN_3D: "cartesian-3d",
}
_SRIDS = {name: srid for srid, name in _NAMES.items()}
DIMENSIONS = {WGS_84: 2, WGS_84_3D: 3, CARTESIAN: 2, CARTESIAN_3D: 3}
_WANTED = {
    WGS_84: "'latitude' and 'longitude'",
    WGS_84_3D: "'latitude', 'longitude' and 'height'",
    CARTESIAN: "'x' and 'y'",
    CARTESIAN_3D: "'x', 'y' and 'z'",
}
GEOGRAPHIC = {WGS_84, WGS_84_3D}

# The sphere that Neo4j measures on.
EARTH_RADIUS_METRES = 6378140.0


@dataclass(frozen=True, slots=True)
class Point:
    """A point that has passed `checked_point`."""

    srid: int
    coordinates: tuple[float, ...]

    @property
    def crs(self) -> str:
        """The name of the coordinate reference system."""
        return _NAMES[self.srid]

    @property
    def is_geographic(self) -> bool:
        """Whether the coordinates are longitude and latitude."""
        return self.srid in GEOGRAPHIC

    def __str__(self) -> str:
        axes = ", ".join(
            f"{axis}: {float_text(coordinate)}" for axis, coordinate in zip("xyz", self.coordinates, strict=False)
        )
        return f"point({{{axes}, crs: '{self.crs}'}})"


def checked_point(srid: int, coordinates: tuple[float, ...]) -> Point:
    """A point whose coordinates are finite; longitudes wrap around, latitudes end at the poles."""
    if not all(map(math.isfinite, coordinates)):
        raise argument_error(
            f"Cannot create a point with non-finite coordinate values: {_listed(coordinates)}",
            because("22N24", _listed(coordinates)),
        )
    if srid in GEOGRAPHIC:
        longitude, latitude, *height = coordinates
        if not -90 <= latitude <= 90:
            raise argument_error(
                f"Cannot create WGS84 point with invalid coordinate: {_listed(coordinates)}. "
                "Valid range for Y coordinate is [-90, 90].",
                because("22N23", _listed(coordinates)),
            )
        coordinates = (_wrapped_longitude(longitude), latitude, *height)
    return Point(srid, coordinates)


def _wrapped_longitude(longitude: float) -> float:
    """Degrees from -180 to 180; 180 and -180 both stay, and so do full turns that end on them."""
    if -180 <= longitude <= 180:
        return longitude
    wrapped = math.fmod(longitude, 360)
    if longitude > 180:
        return wrapped - 360 if wrapped > 180 else wrapped
    return wrapped + 360 if wrapped < -180 else wrapped


def _listed(coordinates: tuple[float, ...]) -> str:
    return f"[{', '.join(map(float_text, coordinates))}]"


def make_point(fields: Mapping[str, Any], describe: Callable[[Any], str]) -> Point | None:
    """The point of a map such as `{longitude: 12.5, latitude: 55.6}`; None if a value is null.

    Keys are case-insensitive; unknown ones are ignored. `describe` renders an unusable value for the message.
    """
    if any(value is None for value in fields.values()):
        return None
    given: dict[str, Any] = {}
    for key, value in fields.items():
        _check_field(key.lower(), value, describe)
        given[key.lower()] = value
    if "crs" in given and "srid" in given:
        raise argument_error("Cannot specify both CRS and SRID", because("22N22"))
    srid = _given_srid(given)
    if "x" in given and "y" in given:
        keys = ("x", "y", "z") if "z" in given else ("x", "y")
        if srid is None:
            srid = CARTESIAN if len(keys) == 2 else CARTESIAN_3D
    elif "latitude" in given and "longitude" in given:
        height = ("z",) if "z" in given else ("height",) if "height" in given else ()
        keys = ("longitude", "latitude", *height)
        if srid is None:
            srid = WGS_84 if len(keys) == 2 else WGS_84_3D
        if srid not in GEOGRAPHIC:
            raise argument_error(
                f"Geographic points does not support coordinate reference system: {_NAMES[srid]}."
                "This is set either in the csv header or the actual data column"
            )
    else:
        raise _incomplete(srid)
    if len(keys) != DIMENSIONS[srid]:
        wrong, right = ("2D", "3D") if len(keys) == 3 else ("3D", "2D")
        raise argument_error(
            f"Cannot create point with {wrong} coordinate reference system and {len(keys)} "
            f"coordinates. Please consider using equivalent {right} coordinate reference system",
            because("22N20", wrong, len(keys), right),
        )
    return checked_point(srid, tuple(float(given[key]) for key in keys))


def _incomplete(srid: int | None) -> CypherError:
    if srid is None:
        message = "A point must contain either 'x' and 'y' or 'latitude' and 'longitude'"
        return argument_error(message, because("22N19"))
    name, wanted = _NAMES[srid], _WANTED[srid]
    return argument_error(f"A {name} point must contain {wanted}", because("22N18", name, wanted))


def _check_field(key: str, value: Any, describe: Callable[[Any], str]) -> None:
    if key in ("x", "y", "z", "longitude", "latitude", "height"):
        wanted, fits = "FLOAT or INTEGER", isinstance(value, int | float) and not isinstance(value, bool)
    elif key == "crs":
        wanted, fits = "STRING", isinstance(value, str)
    elif key == "srid":
        wanted, fits = "INTEGER", isinstance(value, int) and not isinstance(value, bool)
    else:
        return
    if fits:
        return
    if isinstance(value, str):
        written = f"'{value}'"
    elif isinstance(value, bool):
        written = str(value).lower()
    elif isinstance(value, int):
        written = str(value)
    else:
        written = float_text(value) if isinstance(value, float) else describe(value)
    # Neo4j does not say which function it is about.
    cause = because("22N27", key, "$context", wanted)
    raise argument_error(f"Cannot assign {describe(value)} to field {written}", cause)


def _given_srid(given: Mapping[str, Any]) -> int | None:
    if "crs" in given:
        srid = _SRIDS.get(given["crs"].lower())
        if srid is None:
            raise argument_error(f"Unknown coordinate reference system: {given['crs']}")
        return srid
    if "srid" in given:
        if given["srid"] not in _NAMES:
            raise argument_error(f"Unknown coordinate reference system: code={given['srid']}")
        return int(given["srid"])
    return None


# Field in lower case -> the axis it reads, and whether only geographic points have it.
_AXES = {
    "x": (0, False),
    "y": (1, False),
    "z": (2, False),
    "longitude": (0, True),
    "latitude": (1, True),
    "height": (2, True),
}


def point_component(point: Point, name: str) -> float | int | str:
    """`point.x`, `point.crs` and so on, case-insensitive."""
    key = name.lower()
    if key == "crs":
        return point.crs
    if key == "srid":
        return point.srid
    if key not in _AXES:
        raise argument_error(f"No such field: {name}")
    axis, geographic = _AXES[key]
    if geographic and not point.is_geographic:
        raise argument_error(f"Field: {key} is not available on cartesian point: {point}")
    if axis >= len(point.coordinates):
        raise argument_error(f"Field: {key} is not available on point: {point}")
    return point.coordinates[axis]


def distance(first: Point, second: Point) -> float | None:
    """Metres along the earth, or the length of the line; None between different systems."""
    if first.srid != second.srid:
        return None
    if not first.is_geographic:
        steps = (b - a for a, b in zip(first.coordinates, second.coordinates, strict=True))
        return math.sqrt(sum(step * step for step in steps))  # a power would raise where a product is infinite
    angle = _angle(first, second)
    if len(first.coordinates) == 2:
        return EARTH_RADIUS_METRES * angle
    low, high = first.coordinates[2], second.coordinates[2]
    along = (EARTH_RADIUS_METRES + (low + high) / 2) * angle
    return math.sqrt(along * along + (high - low) * (high - low))


def _angle(first: Point, second: Point) -> float:
    """The angle between two points as seen from the centre of the earth (haversine)."""
    longitude_1, latitude_1 = map(math.radians, first.coordinates[:2])
    longitude_2, latitude_2 = map(math.radians, second.coordinates[:2])
    half = (
        math.sin((latitude_2 - latitude_1) / 2) ** 2
        + math.cos(latitude_1) * math.cos(latitude_2) * math.sin((longitude_2 - longitude_1) / 2) ** 2
    )
    return 2 * atan2(math.sqrt(half), math.sqrt(1 - half))


def within_bounding_box(point: Point, lower_left: Point, upper_right: Point) -> bool | None:
    """Whether a box contains a point; a geographic box may cross the 180th meridian."""
    if not point.srid == lower_left.srid == upper_right.srid:
        return None
    axes = list(zip(point.coordinates, lower_left.coordinates, upper_right.coordinates, strict=True))
    if point.is_geographic:
        longitude, west, east = axes.pop(0)
        crosses = west > east
        if crosses and east < longitude < west:
            return False
        if not crosses and not west <= longitude <= east:
            return False
    return all(low <= value <= high for value, low, high in axes)
