"""Points from maps, their fields, distances and boxes."""

from __future__ import annotations

from typing import Any

import pytest

from hoplite.errors import CypherError
from hoplite.values.render import describe
from hoplite.values.spatial import Point, distance, make_point, point_component, within_bounding_box


def _point(**fields: Any) -> Point:
    point = make_point(fields, describe)
    assert point is not None
    return point


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"x": 1, "y": 2}, "point({x: 1.0, y: 2.0, crs: 'cartesian'})"),
        ({"X": 1, "Y": 2}, "point({x: 1.0, y: 2.0, crs: 'cartesian'})"),
        ({"x": 1, "y": 2, "z": 3}, "point({x: 1.0, y: 2.0, z: 3.0, crs: 'cartesian-3d'})"),
        ({"longitude": 1, "latitude": 2}, "point({x: 1.0, y: 2.0, crs: 'wgs-84'})"),
        ({"longitude": 181, "latitude": 2}, "point({x: -179.0, y: 2.0, crs: 'wgs-84'})"),
        ({"longitude": 540, "latitude": 2}, "point({x: 180.0, y: 2.0, crs: 'wgs-84'})"),
        ({"longitude": 1, "latitude": 2, "height": 3}, "point({x: 1.0, y: 2.0, z: 3.0, crs: 'wgs-84-3d'})"),
        ({"x": 1, "y": 2, "crs": "WGS-84"}, "point({x: 1.0, y: 2.0, crs: 'wgs-84'})"),
        ({"x": 1, "y": 2, "srid": 4326}, "point({x: 1.0, y: 2.0, crs: 'wgs-84'})"),
    ],
)
def test_points(fields: dict[str, Any], text: str) -> None:
    assert str(_point(**fields)) == text


def test_a_null_makes_no_point() -> None:
    assert make_point({"x": 1, "y": None}, describe) is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"x": 1}, "A point must contain either 'x' and 'y' or 'latitude' and 'longitude'"),
        ({"x": 1, "srid": 7203}, "A cartesian point must contain 'x' and 'y'"),
        ({"x": "a", "y": 1}, "Cannot assign String(\"a\") to field 'a'"),
        ({"x": 1, "y": 2, "crs": "cartesian", "srid": 7203}, "Cannot specify both CRS and SRID"),
        ({"x": 1, "y": 2, "crs": "nope"}, "Unknown coordinate reference system: nope"),
        (
            {"longitude": 1, "latitude": 91},
            "Cannot create WGS84 point with invalid coordinate: [1.0, 91.0]. "
            "Valid range for Y coordinate is [-90, 90].",
        ),
        ({"x": float("inf"), "y": 1}, "Cannot create a point with non-finite coordinate values: [Infinity, 1.0]"),
    ],
)
def test_what_is_no_point(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(CypherError) as raised:
        make_point(fields, describe)
    assert raised.value.message == message


def test_fields() -> None:
    place = _point(longitude=12.5, latitude=55.5)
    assert (point_component(place, "longitude"), point_component(place, "y")) == (12.5, 55.5)
    assert (point_component(place, "crs"), point_component(place, "SRID")) == ("wgs-84", 4326)
    with pytest.raises(CypherError, match="Field: height is not available on point"):
        point_component(place, "height")
    with pytest.raises(CypherError, match="Field: latitude is not available on cartesian point"):
        point_component(_point(x=1, y=2), "latitude")


def test_distances() -> None:
    assert distance(_point(x=0, y=0), _point(x=3, y=4)) == 5.0
    assert distance(_point(x=0, y=0), _point(longitude=0, latitude=0)) is None
    north = _point(longitude=12.78, latitude=56.7)
    south = _point(longitude=12.78, latitude=-56.7)
    assert distance(north, south) == pytest.approx(12623636.19356734)
    low = _point(longitude=12.78, latitude=56.7, height=100)
    high = _point(longitude=13.78, latitude=56.7, height=200)
    assert distance(low, high) == pytest.approx(61117.94651321808)


def test_boxes_may_cross_the_date_line() -> None:
    west, east = _point(longitude=170, latitude=0), _point(longitude=-170, latitude=5)
    assert within_bounding_box(_point(longitude=180, latitude=2), west, east) is True
    assert within_bounding_box(_point(longitude=10, latitude=2), west, east) is False
    assert within_bounding_box(_point(x=1, y=1), _point(x=2, y=0), _point(x=0, y=2)) is False
    assert within_bounding_box(_point(x=1, y=1), west, east) is None
