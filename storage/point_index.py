"""Points by position: those that may be near another, or within a box.

For each coordinate reference system the points are sorted by y (latitude), with arrays of x and y; a search takes the
band of y that can hold an answer, and narrows it by x unless x is a longitude, which wraps around at 180 degrees. The
result may contain too many points but never too few: the caller tests the points themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import Int64s
from hoplite.values.spatial import EARTH_RADIUS_METRES, GEOGRAPHIC, Point

_NOBODY: Int64s = np.zeros(0, np.int64)
_MARGIN = 1e-9  # for values computed differently from the distance


@dataclass(frozen=True, slots=True, eq=False)
class _System:
    """The points of one coordinate reference system, ascending by y; `z` of those that have three coordinates."""

    srid: int
    positions: Int64s
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64] | None

    def __post_init__(self) -> None:
        coordinates = [self.x, self.y] if self.z is None else [self.x, self.y, self.z]
        if {len(array) for array in coordinates} != {len(self.positions)} or not len(self.positions):
            raise ValueError("arrays that do not fit each other")

    @property
    def is_geographic(self) -> bool:
        return self.srid in GEOGRAPHIC

    @property
    def is_flat(self) -> bool:
        return self.z is None

    def points(self) -> list[Point]:
        coordinates = [self.x, self.y] if self.z is None else [self.x, self.y, self.z]
        return [Point(self.srid, values) for values in zip(*(array.tolist() for array in coordinates), strict=True)]

    def band(self, low: Point | tuple[float, float], high: Point | tuple[float, float]) -> Int64s:
        (left, bottom), (right, top) = _corner(low), _corner(high)
        if bottom > top:
            return self.positions
        first, last = np.searchsorted(self.y, bottom, "left"), np.searchsorted(self.y, top, "right")
        positions = self.positions[first:last]
        if self.is_geographic or left > right:
            return positions
        x = self.x[first:last]
        kept: Int64s = positions[(x >= left) & (x <= right)]
        return kept


def _corner(corner: Point | tuple[float, float]) -> tuple[float, float]:
    if isinstance(corner, Point):
        return corner.coordinates[0], corner.coordinates[1]
    return corner


class PointIndex:
    """Positions of points."""

    def __init__(self, systems: Mapping[int, _System]) -> None:
        self._systems = systems

    @staticmethod
    def of(positions: Int64s, values: NDArray[np.object_]) -> PointIndex:
        """Of the points among these values."""
        rows: dict[int, list[int]] = {}
        for row, value in enumerate(values):
            if isinstance(value, Point):
                rows.setdefault(value.srid, []).append(row)
        systems = {srid: _system(positions, values, np.array(some, np.int64)) for srid, some in rows.items()}
        return PointIndex(systems)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, by name."""
        found: dict[str, NDArray[Any]] = {}
        for srid, system in self._systems.items():
            found |= {f"positions-{srid}": system.positions, f"x-{srid}": system.x, f"y-{srid}": system.y}
            if system.z is not None:
                found[f"z-{srid}"] = system.z
        return found

    @staticmethod
    def of_arrays(arrays: Mapping[str, NDArray[Any]]) -> PointIndex:
        """The same index again. Raises ValueError where the arrays do not fit each other, KeyError where one is
        missing."""
        systems = {}
        for name, positions in arrays.items():
            what, _, srid = name.partition("-")
            if what == "positions":
                systems[int(srid)] = _System(
                    int(srid), positions, arrays[f"x-{srid}"], arrays[f"y-{srid}"], arrays.get(f"z-{srid}")
                )
        return PointIndex(systems)

    @property
    def positions(self) -> Int64s:
        """All of them, in the order of `points`."""
        return np.concatenate([_NOBODY, *(system.positions for system in self._systems.values())])

    @property
    def is_ordered(self) -> bool:
        """Whether the points are in the order that they are searched in."""
        return all(bool((system.y[1:] >= system.y[:-1]).all()) for system in self._systems.values())

    def points(self) -> list[Point]:
        """The points themselves."""
        return [point for system in self._systems.values() for point in system.points()]

    def near(self, centre: Any, radius: Any) -> Int64s:
        """The points that may be within a distance of another."""
        system = self._systems.get(centre.srid) if isinstance(centre, Point) else None
        if system is None or isinstance(radius, bool) or not isinstance(radius, int | float):
            return _NOBODY
        reach = abs(float(radius))
        if system.is_geographic:
            if not system.is_flat:  # heights change the radius of the sphere that is measured on
                return system.positions
            reach = math.degrees(reach / EARTH_RADIUS_METRES)
        if not math.isfinite(reach):
            return system.positions
        x, y = _corner(centre)
        reach += _MARGIN * (reach + abs(x) + abs(y) + 1)
        return system.band((x - reach, y - reach), (x + reach, y + reach))

    def within(self, low: Any, high: Any) -> Int64s:
        """The points that may be in the box between two others."""
        system = self._systems.get(low.srid) if isinstance(low, Point) else None
        if system is None or not isinstance(high, Point) or high.srid != low.srid:
            return _NOBODY
        return system.band(low, high)


def _system(positions: Int64s, values: NDArray[np.object_], rows: Int64s) -> _System:
    points = [values[row] for row in rows.tolist()]
    table = np.array([point.coordinates for point in points], np.float64)
    order = np.argsort(table[:, 1], kind="stable")
    table = table[order]
    z = np.ascontiguousarray(table[:, 2]) if table.shape[1] > 2 else None
    x, y = np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])
    return _System(points[0].srid, positions[rows[order]], x, y, z)
