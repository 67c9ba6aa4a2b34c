"""The incidence matrices of a partition, seen from one side.

SUB and OBJ of the design, for the relationships that one partition holds. On the outgoing side relationships
are numbered in the order (subject, type, object), so SUB is one `indptr` array and the relationship numbers are
implicit; the incoming side lists them. Row r of the arrays is the r-th subject (object) of the partition.

    indptr         int64[rows + 1]   row r has entries indptr[r] .. indptr[r + 1]
    neighbours     int32/int64[m]    the node at the other end, by position
    types          int32[m]          type codes, ascending within a row
    relationships  int64[m] or None  positions; None: entry e is relationship first_relationship + e

Large graphs have a layout with smaller integers wherever their counts allow: int32, int32, uint8, int32.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.type_ranges import TypeRanges

if TYPE_CHECKING:
    from hoplite.storage.disk.cache import Place

COMPACT_AT = 1 << 23
"""From this many relationships or nodes, arrays use the smallest integers that fit. Below, all graphs have
the same types, so that compiled kernels are compiled once."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The types of the arrays of an incidence."""

    indptr: type[np.int32] | type[np.int64]
    neighbours: type[np.int32] | type[np.int64]
    types: type[np.uint8] | type[np.int32]
    relationships: type[np.int32] | type[np.int64]


def layout_for(node_count: int, relationship_count: int, type_count: int) -> Layout:
    """How the relationships of a graph of this size are stored."""
    is_small = node_count < 2**31 and relationship_count < 2**31 and type_count <= 2**8
    if is_small and relationship_count >= COMPACT_AT:
        return Layout(np.int32, np.int32, np.uint8, np.int32)
    return Layout(np.int64, position_type(node_count), np.int32, np.int64)


def position_type(count: int) -> type[np.int32] | type[np.int64]:
    """Integers that can number this many nodes."""
    return np.int32 if count < 2**31 else np.int64


def label_type(node_count: int, label_set_count: int) -> type[np.uint8] | type[np.int32]:
    """Integers that can name the label sets of this many nodes."""
    return np.uint8 if node_count >= COMPACT_AT and label_set_count <= 2**8 else np.int32


@dataclass(frozen=True, slots=True, eq=False)
class Incidence:
    """One partition's relationships, row by row."""

    indptr: NDArray[Any]
    neighbours: NDArray[Any]
    types: NDArray[Any]
    relationships: NDArray[Any] | None
    first_relationship: int = 0
    ranges: TypeRanges = field(default_factory=TypeRanges)
    # Views of the arrays as backends take them, by name.
    prepared: dict[str, Any] = field(init=False, default_factory=dict)

    def relationships_in(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The relationships of some rows."""
        firsts = self.indptr[rows].astype(np.int64, copy=False)
        lengths = self.indptr[rows + 1] - firsts
        ends = np.cumsum(lengths)
        entries = np.repeat(firsts - ends + lengths, lengths) + np.arange(lengths.sum(), dtype=np.int64)
        if self.relationships is None:
            return entries + self.first_relationship
        found: NDArray[np.int64] = self.relationships[entries].astype(np.int64, copy=False)
        return found


class Partitions(Protocol):
    """The partitions of one side, by number: a tuple, or a sequence that loads each when it is first used."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> Incidence: ...

    def __iter__(self) -> Iterator[Incidence]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Adjacency:
    """A whole graph seen from one side: its partitions, and the row of each node.

    `partition_of` (uint8 or int32) and `row_of` (int32) have an entry for each node; both are None for a single
    partition whose row r is node r. A partition may cover fewer rows than there are nodes: a node created after it has
    no entries in it. `delta` holds what was written since the partitions were made, with `delta_rows` (sorted node
    positions, one for each of its rows). `removed` are the sorted positions of relationships that no longer exist, to
    be dropped from whatever a hop finds.
    """

    node_count: int
    partitions: Partitions
    partition_of: NDArray[Any] | None = None
    row_of: NDArray[np.int32] | None = None
    delta: Incidence | None = None
    delta_rows: NDArray[np.int64] | None = None
    removed: NDArray[np.int64] | None = None

    def dtype_of(self, array: str) -> np.dtype[Any]:
        """The type of one of the arrays of the partitions, without loading a partition to see it."""
        known: Callable[[str], np.dtype[Any]] | None = getattr(self.partitions, "dtype_of", None)
        if known is not None:
            return known(array)
        found: np.dtype[Any] = getattr(self.partitions[0], array).dtype
        return found

    def new_kept(self) -> dict[str, object]:
        """A dictionary for what is derived from the partitions. It may be empty the next time: where partitions are
        loaded, it must not hold what had to make room for others."""
        make: Callable[[], dict[str, object]] = getattr(self.partitions, "new_kept", dict)
        return make()

    def place_for(self, *about: Hashable) -> Place | None:
        """Where something large that is derived from all partitions is held; None if the caller keeps it."""
        place: Callable[..., Place] | None = getattr(self.partitions, "place_for", None)
        return None if place is None else place(*about)

    @property
    def entry_count(self) -> int:
        """The number of entries of all partitions, without loading any."""
        known: int | None = getattr(self.partitions, "entry_count", None)
        return sum(len(partition.neighbours) for partition in self.partitions) if known is None else known

    @property
    def is_plain(self) -> bool:
        """One partition and nothing above it: kernels may run over its arrays directly."""
        return (
            self.partition_of is None
            and len(self.partitions) == 1
            and self.delta is None
            and self.removed is None
            and len(self.partitions[0].indptr) == self.node_count + 1
        )
