"""apoc.algo.aStar*, guided by coordinates, and apoc.spatial.sortByDistance."""

from __future__ import annotations

import heapq
import math
import sys
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import held_by
from hoplite.engine.functions.entities import element_id
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure, illegal_argument
from hoplite.engine.procedures.traversal import Neighbours, Step, parse_sides
from hoplite.lazy_dataclass import dataclass
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.spatial import Point

Config = dict[str, Any] | None
_EARTH_METRES = 6_371_000.0


@dataclass(frozen=True, slots=True)
class _Names:
    """The properties that a search reads; without a default, every relationship needs its weight."""

    procedure: str
    weight: str
    latitude: str
    longitude: str
    point: str | None = None
    default: float | None = None


def _property(context: Execution, entity: NodeRef | RelationshipRef, names: _Names, key: str) -> Any:
    value = held_by(context, entity).get(key)
    if value is None:
        raise call_failed(names.procedure, "org.neo4j.graphdb.NotFoundException", f"No such property, '{key}'.")
    return value


def _place(context: Execution, node: NodeRef, names: _Names) -> tuple[float, float, float]:
    """Where a node is on a sphere of the size of the earth."""
    if names.point is not None:
        held = _property(context, node, names, names.point)
        if not isinstance(held, Point):
            raise illegal_argument(names.procedure, f"The property '{names.point}' is not a point")
        longitude, latitude = (math.radians(value) for value in held.coordinates[:2])
    else:
        latitude = math.radians(float(_property(context, node, names, names.latitude)))
        longitude = math.radians(float(_property(context, node, names, names.longitude)))
    across = _EARTH_METRES * math.cos(latitude)
    return across * math.cos(longitude), across * math.sin(longitude), _EARTH_METRES * math.sin(latitude)


def _guided(
    context: Execution, start: NodeRef | None, end: NodeRef | None, types: str | None, names: _Names
) -> Iterator[Row]:
    """The first path to arrive, by its weight so far and the straight line in metres that remains.

    Where weights are less than the distances they stand for, it need not be the lightest.
    """
    if start is None or end is None:
        raise call_failed(names.procedure, "java.lang.NullPointerException", "a node to search between is null")
    goal = _place(context, end, names)
    sides, neighbours, order = parse_sides(types), Neighbours(context), count()

    def remains(node: int) -> float:
        return math.dist(_place(context, NodeRef(node), names), goal)

    weigh = _weigher(context, names)
    waiting: list[tuple[float, int, float, Step]] = [(0.0, next(order), 0.0, Step(start.position))]
    visited: set[int] = set()
    while waiting:
        _, _, cost, step = heapq.heappop(waiting)
        context.check_time()
        if step.node in visited:
            continue
        if step.node == end.position:
            yield step.path(), cost
            return
        visited.add(step.node)
        for edge, node in neighbours.of(step.node, sides):
            if node not in visited:
                further = cost + weigh(edge)
                onward = Step(node, edge, step, step.length + 1)
                heapq.heappush(waiting, (further + remains(node), next(order), further, onward))


def _weigher(context: Execution, names: _Names) -> Callable[[int], float]:
    def weigh(edge: int) -> float:
        relationship = RelationshipRef(edge)
        if names.default is None:
            return float(_property(context, relationship, names, names.weight))
        return float(held_by(context, relationship).get(names.weight, names.default))

    return weigh


@cypher_procedure(
    "apoc.algo.aStar(startNode :: NODE, endNode :: NODE, relTypesAndDirections :: STRING, weightPropertyName :: "
    "STRING, latPropertyName :: STRING, lonPropertyName :: STRING) :: (path :: PATH, weight :: FLOAT)",
    mode="DEFAULT",
    description="Returns a path between two nodes, by its weight and the distance that remains.",
    works_on_system=False,
)
def a_star(
    context: Execution, start: NodeRef, end: NodeRef, types: str, weight: str, latitude: str, longitude: str
) -> Iterator[Row]:
    """One row, or none."""
    return _guided(context, start, end, types, _Names("apoc.algo.aStar", weight, latitude, longitude))


@cypher_procedure(
    "apoc.algo.aStarConfig(startNode :: NODE, endNode :: NODE, relTypesAndDirections :: STRING, config :: MAP) :: "
    "(path :: PATH, weight :: FLOAT)",
    mode="DEFAULT",
    description="Returns a path between two nodes, by its weight and the distance that remains.",
    works_on_system=False,
)
def a_star_config(context: Execution, start: NodeRef, end: NodeRef, types: str, config: Config) -> Iterator[Row]:
    """One row, or none. `config` names the properties: weight, x, y or pointPropName, and a default weight."""
    given = config or {}
    names = _Names(
        "apoc.algo.aStarConfig",
        str(given.get("weight") or "distance"),
        str(given.get("y") or "latitude"),
        str(given.get("x") or "longitude"),
        given.get("pointPropName"),
        float(given.get("default", sys.float_info.max)),
    )
    return _guided(context, start, end, types, names)


# --- lengths of paths ------------------------------------------------------------------------------------------------


def _coordinates(context: Execution, node: NodeRef) -> tuple[float, float]:
    held = held_by(context, node)
    latitude, longitude = held.get("latitude"), held.get("longitude")
    if not isinstance(latitude, int | float) or not isinstance(longitude, int | float):
        message = f"Node with id {element_id(context, node)} has invalid geo properties"
        raise illegal_argument("apoc.spatial.sortByDistance", message)
    return math.radians(latitude), math.radians(longitude)


def _kilometres(first: tuple[float, float], second: tuple[float, float]) -> float:
    along = math.cos(first[0]) * math.cos(second[0]) * math.cos(first[1] - second[1])
    angle = math.acos(max(-1.0, min(1.0, math.sin(first[0]) * math.sin(second[0]) + along)))
    # Degrees to nautical miles, miles and kilometres, one after the other, for the last digit to be APOC's.
    return angle * 180.0 / math.pi * 60 * 1.1515 * 1.609344


@cypher_procedure(
    "apoc.spatial.sortByDistance(paths :: LIST<PATH>) :: (path :: PATH, distance :: FLOAT)",
    mode="DEFAULT",
    description="Sorts paths by their length in kilometres, from the latitude and longitude of their nodes.",
    works_on_system=False,
)
def sort_by_distance(context: Execution, paths: list[PathValue] | None) -> Iterator[Row]:
    """The shortest path first."""
    if paths is None:
        message = 'Cannot invoke "java.util.List.size()" because "paths" is null'
        raise call_failed("apoc.spatial.sortByDistance", "java.lang.NullPointerException", message)
    measured = []
    for path in paths:
        context.check_time()
        places = [_coordinates(context, node) for node in path.node_refs()]
        measured.append((path, sum((_kilometres(*ends) for ends in pairwise(places)), 0.0)))
    yield from sorted(measured, key=lambda row: row[1])
