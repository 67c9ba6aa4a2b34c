"""The arrays of an adjacency as compiled kernels take them: a hop goes in, tuples of arrays come out."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops.expansion import type_flags
from hoplite.engine.hops.interface import Booleans, Hop, Positions, Side
from hoplite.engine.hops.numba_ball import Int32s
from hoplite.engine.hops.numba_kernels import Ints, SideArrays
from hoplite.engine.hops.numba_trails import Arrays
from hoplite.storage.incidence import Adjacency, Incidence

NO_POSITIONS: Positions = np.zeros(0, dtype=np.int64)
NO_FLAGS: Booleans = np.zeros(0, dtype=np.bool_)
BallArrays: TypeAlias = tuple[Ints, Int32s, Int32s, Ints, Int32s, Int32s, bool, Booleans, bool]


def plain_arrays(hop: Hop) -> Arrays | None:
    """What most kernels begin with: the arrays of both sides (one that is not read is stood in for by the other), which
    of them are read, and the types. None where the hop is not plain."""
    known = hop.prepared.get("numba", False)
    if known is False:
        known = None
        if hop.is_plain and all(_is_narrow(side) for side in hop.sides):
            sides = [side_arrays(side.partitions[0]) for side in hop.sides]
            known = sides[0], sides[-1], hop.side is not Side.INCOMING, hop.side is not Side.OUTGOING, flags_of(hop)
        _keep(hop, "numba", known)
    return cast(Arrays | None, known)


def ball_arrays(hop: Hop) -> BallArrays | None:
    """What the search of `numba_ball.py` begins with: indptr, neighbours and types of the side that is followed and of
    the other, whether both are followed, flags, and whether a level may be pulled. None where the hop is not plain."""
    known = hop.prepared.get("numba ball", False)
    if known is False:
        known = None
        arrays = plain_arrays(hop)
        if arrays is not None:
            near, far = arrays[0], arrays[1]
            both = hop.side is Side.BOTH
            can_pull = both and hop.types is None
            other = hop.incoming if hop.side is Side.OUTGOING else hop.outgoing
            # Only where the other side is in memory already: to load it would cost more than pulling saves.
            at_hand = other is not None and isinstance(other.partitions, tuple) and other.is_plain
            if not both and hop.types is None and other is not None and at_hand and _is_narrow(other):
                far, can_pull = side_arrays(other.partitions[0]), True
            known = (*near[:3], *far[:3], both, arrays[4], can_pull)
        _keep(hop, "numba ball", known)
    return cast(BallArrays | None, known)


def _keep(hop: Hop, name: str, arrays: object) -> None:
    """Arrays on disk belong to a cache with a budget: a hop, which may live long, does not hold on to them."""
    if all(isinstance(side.partitions, tuple) for side in hop.sides):
        hop.prepared[name] = arrays


def flags_of(hop: Hop) -> Booleans:
    """By type code whether it may be followed; empty: any."""
    return NO_FLAGS if hop.types is None else type_flags(hop.types)


def _is_narrow(side: Adjacency) -> bool:
    return bool(side.partitions[0].neighbours.dtype == np.int32)


def side_arrays(incidence: Incidence) -> SideArrays:
    """One incidence; its neighbours fit 32 bits."""
    relationships = incidence.relationships
    return (
        as_compiled(incidence.indptr),
        as_compiled(incidence.neighbours.astype(np.int32, copy=False)),
        as_compiled(incidence.types),
        NO_POSITIONS if relationships is None else as_compiled(relationships),
        incidence.first_relationship,
    )


class _Unlocked:
    """The memory of an array, without its marks (read-only, memory-mapped): each would be compiled for anew."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.__array_interface__ = array.__array_interface__ | {"data": (array.ctypes.data, False)}


def as_compiled(array: NDArray[Any]) -> NDArray[Any]:
    """A view that the kernels are compiled for. They never write to it."""
    if type(array) is np.ndarray and array.flags.writeable and array.flags.c_contiguous:
        return array
    return np.asarray(_Unlocked(np.ascontiguousarray(array)))
