"""The arrays of an adjacency as compiled kernels take them: a hop goes in, tuples of arrays come out."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops.expansion import type_flags
from hoplite.engine.hops.interface import Booleans, Excluded, Hop, Side
from hoplite.engine.hops.numba_bfs import Entries, Fused, NarrowEntries
from hoplite.engine.hops.numba_kernels import IncidenceArrays, Lists, NarrowIncidenceArrays, Plain
from hoplite.storage.incidence import Adjacency, Incidence
from hoplite.storage.value_index import NO_POSITIONS

NO_FLAGS: Booleans = np.zeros(0, dtype=np.bool_)
_USUAL = (np.int64, np.int32, np.int32, np.int64)
_NARROW = (np.int32, np.int32, np.uint8, np.int32)
NO_LISTS = Lists(NO_POSITIONS, NO_POSITIONS)


def plain_arrays(hop: Hop) -> Plain | None:
    """The arguments that most kernels begin with; None if the hop is not plain."""
    known = hop.prepared.get("numba", False)
    if known is False:
        known = None
        if hop.is_plain and all(_fits(side) for side in hop.sides):
            sides = [incidence_arrays(side.partitions[0]) for side in hop.sides]
            follows = np.array((hop.side is not Side.INCOMING, hop.side is not Side.OUTGOING))
            known = Plain(sides[0], sides[-1], follows, flags_of(hop))
        hop.prepared["numba"] = known
    return cast(Plain | None, known)


def fused_arrays(hop: Hop) -> Fused | None:
    """The hop as the search in `numba_bfs.py` takes it; None if it is not plain."""
    known: Any = hop.prepared.get("numba fused", False)
    if known is False:
        known = None
        if hop.is_plain and all(_fits(side) for side in hop.sides):
            sides = [_entries(side.partitions[0]) for side in hop.sides]
            both = hop.side is Side.BOTH
            can_pull = both and hop.types is None
            other = hop.incoming if hop.side is Side.OUTGOING else hop.outgoing
            # Only if the other side is already in memory: loading it would cost more than pulling saves.
            at_hand = other is not None and isinstance(other.partitions, tuple) and other.is_plain
            if not both and hop.types is None and other is not None and at_hand and _fits(other):
                sides, can_pull = [*sides, _entries(other.partitions[0])], True
            near, far = sides[0], sides[-1]
            if near is not None and far is not None:
                known = Fused(near, far, np.array((both, can_pull)), flags_of(hop))
        hop.prepared["numba fused"] = known
    fused: Fused | None = known
    return fused


def lists_of(excluded: Excluded | None) -> Lists:
    """The relationships that each group excludes, as kernels take them."""
    return NO_LISTS if excluded is None else Lists(as_compiled(excluded.offsets), as_compiled(excluded.relationships))


def flags_of(hop: Hop) -> Booleans:
    """Whether each type code may be followed; empty: any may."""
    return NO_FLAGS if hop.types is None else type_flags(hop.types)


def _fits(side: Adjacency) -> bool:
    return side.dtype_of("neighbours") == np.int32


def incidence_arrays(incidence: Incidence) -> IncidenceArrays:
    """An incidence whose neighbours fit 32 bits. Kernels also take the smaller integers of large graphs."""
    known = incidence.prepared.get("numba")
    if known is not None:
        return cast(IncidenceArrays, known)
    first = np.array((incidence.first_relationship,), dtype=np.int64)
    parts = incidence.indptr, incidence.neighbours, incidence.types, incidence.relationships
    kinds = _NARROW if is_narrow(incidence) else _USUAL
    form: Any = NarrowIncidenceArrays if kinds is _NARROW else IncidenceArrays
    if kinds is _NARROW:
        _load_narrow_kernels()
    arrays = [
        np.zeros(0, dtype=kind) if part is None else as_compiled(part.astype(kind, copy=False))
        for part, kind in zip(parts, kinds, strict=True)
    ]
    found = form(*arrays, first)
    # Copies are made anew: whoever holds the arrays has not counted them.
    if all(part is None or np.may_share_memory(part, array) for part, array in zip(parts, arrays, strict=True)):
        incidence.prepared["numba"] = found
    return cast(IncidenceArrays, found)


def _entries(incidence: Incidence) -> Entries | None:
    """The same for the search in `numba_bfs.py`, which takes offsets of 32 bits; None if there are more entries."""
    arrays: Any = incidence_arrays(incidence)
    if len(arrays.neighbours) >= 2**31:
        return None
    if isinstance(arrays, NarrowIncidenceArrays):
        return cast(Entries, NarrowEntries(arrays.indptr, arrays.neighbours, arrays.types))
    indptr = incidence.prepared.get("offsets of 32 bits")
    if indptr is None:
        indptr = incidence.prepared["offsets of 32 bits"] = arrays.indptr.astype(np.int32)
    return Entries(cast(Any, indptr), arrays.neighbours, arrays.types)


@cache
def _load_narrow_kernels() -> None:
    """Load these kernels when a large graph is first met: most processes never see one."""
    from hoplite.engine.hops.numba_backend import load_kernels

    load_kernels(is_narrow=True)


def is_narrow(incidence: Incidence) -> bool:
    """Whether kernels read the arrays of an incidence in their narrow form."""
    parts = incidence.indptr, incidence.neighbours, incidence.types, incidence.relationships
    return all(part is None or part.dtype == kind for part, kind in zip(parts, _NARROW, strict=True))


class _Unlocked:
    """The memory of an array without its flags (read-only, memory-mapped): kernels take plain arrays."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.__array_interface__ = array.__array_interface__ | {"data": (array.ctypes.data, False)}


def as_compiled(array: NDArray[Any]) -> NDArray[Any]:
    """A view of a type that kernels are compiled for. They never write to it."""
    if type(array) is np.ndarray and array.flags.writeable and array.flags.c_contiguous:
        return array
    return np.asarray(_Unlocked(np.ascontiguousarray(array)))
