"""The spatial functions: points, distances and bounding boxes, computed in `hoplite.values.spatial`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hoplite.engine.functions.entities import properties_of
from hoplite.engine.functions.registry import cypher_function, named
from hoplite.errors import type_error
from hoplite.planner.types import BOOLEAN, FLOAT, MAP, NODE, POINT, RELATIONSHIP
from hoplite.values import spatial
from hoplite.values.entities import NodeRef, RelationshipRef
from hoplite.values.render import describe
from hoplite.values.spatial import Point

if TYPE_CHECKING:
    from hoplite.engine.context import Execution

_POINT_DESCRIPTION = (
    "Returns a 2D or 3D point object, given two or respectively three coordinate values in the Cartesian coordinate "
    "system or WGS 84 geographic coordinate system."
)


@cypher_function(
    "point",
    args=(named("input", MAP, NODE, RELATIONSHIP),),
    returns=POINT,
    category="Spatial",
    description=_POINT_DESCRIPTION,
    needs_context=True,
    forms=(("point(input :: MAP) :: POINT", _POINT_DESCRIPTION),),
)
def point(context: Execution, fields: Any) -> Point | None:
    """`point({x: 1, y: 2})`; null if any value of the map is null."""
    if isinstance(fields, NodeRef | RelationshipRef):
        fields = properties_of(context, fields)
    if not isinstance(fields, dict):
        raise type_error(f"Invalid input for function 'point()': Expected a map but got {describe(fields)}")
    return spatial.make_point(fields, describe)


@cypher_function(
    "point.distance",
    args=(named("from", POINT), named("to", POINT)),
    returns=FLOAT,
    category="Spatial",
    description="Returns a `FLOAT` representing the distance between any two points in the same CRS. If the points are "
    "in the WGS 84 CRS, the function returns the geodesic distance (i.e., the shortest path along the curved surface "
    "of the Earth). If the points are in a Cartesian CRS, the function returns the Euclidean distance (i.e., the "
    "shortest straight-line distance in a flat, planar space).",
)
def distance(start: Any, end: Any) -> float | None:
    """Null for points of different coordinate systems, and for anything but a point."""
    if isinstance(start, Point) and isinstance(end, Point):
        return spatial.distance(start, end)
    return None


@cypher_function(
    "point.withinBBox",
    args=(named("point", POINT), named("lowerLeft", POINT), named("upperRight", POINT)),
    returns=BOOLEAN,
    category="Spatial",
    description="Returns true if the provided point is within the bounding box defined by the two provided points.",
)
def within_bounding_box(point: Any, lower_left: Any, upper_right: Any) -> bool | None:
    """Null for points of different coordinate systems, and for anything but a point."""
    if isinstance(point, Point) and isinstance(lower_left, Point) and isinstance(upper_right, Point):
        return spatial.within_bounding_box(point, lower_left, upper_right)
    return None
