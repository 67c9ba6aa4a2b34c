"""Points by position: those that may be near another, or within a box.

For each coordinate reference system the points are sorted by y (latitude), with arrays of x and y; a search takes the
band of y that can hold an answer, and narrows it by x unless x is a longitude, which wraps around at 180 degrees. The
result may contain too many points but never too few: the caller tests the points themselves.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import Int64s
from hoplite.values.spatial import EARTH_RADIUS_METRES, Point

_NOBODY: Int64s = np.zeros(0, np.int64)
_MARGIN = 1e-9  # for values computed differently from the distance


@dataclass(frozen=True, slots=True, eq=False)
class _System:
    """The points of one coordinate reference system, ascending by y."""

    positions: Int64s
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    is_geographic: bool
    is_flat: bool

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

    def __init__(self, positions: Int64s, values: NDArray[np.object_]) -> None:
        rows: dict[int, list[int]] = {}
        for row, value in enumerate(values):
            if isinstance(value, Point):
                rows.setdefault(value.srid, []).append(row)
        self._systems = {srid: _system(positions, values, np.array(some, np.int64)) for srid, some in rows.items()}

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
    x, y = (np.array([point.coordinates[axis] for point in points], np.float64) for axis in (0, 1))
    order = np.argsort(y, kind="stable")
    first = points[0]
    return _System(positions[rows[order]], x[order], y[order], first.is_geographic, len(first.coordinates) == 2)
