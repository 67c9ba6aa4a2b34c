"""The incidence matrices of a partition, seen from one side.

SUB and OBJ of the design, for the relationships that one partition holds. On the outgoing side relationships
are numbered in the order (subject, type, object), so SUB is one `indptr` array and the relationship numbers are
implicit; the incoming side lists them. Row r of the arrays is the r-th subject (object) of the partition.

    indptr         int64[rows + 1]   row r has entries indptr[r] .. indptr[r + 1]
    neighbours     int32/int64[m]    the node at the other end, by position
    types          int32[m]          type codes, ascending within a row
    relationships  int64[m] or None  positions; None: entry e is relationship first_relationship + e
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Incidence:
    """One partition's relationships, row by row."""

    indptr: NDArray[np.int64]
    neighbours: NDArray[Any]
    types: NDArray[np.int32]
    relationships: NDArray[np.int64] | None
    first_relationship: int = 0


class Partitions(Protocol):
    """The partitions of one side, by number: a tuple, or a sequence that loads each one when it is asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> Incidence: ...

    def __iter__(self) -> Iterator[Incidence]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Adjacency:
    """A whole graph seen from one side: its partitions, and where each node's row is.

    `partition_of` and `row_of` are int32[nodes]; both are None for a single partition whose row r is node r. A
    partition may cover fewer rows than there are nodes (a node made after it): such a node has no entries in
    it. `delta` holds what was written since the partitions were made, with `delta_rows` (sorted node positions,
    one for each of its rows). `removed` are the sorted positions of relationships that no longer exist, to be
    dropped from whatever a hop finds.
    """

    node_count: int
    partitions: Partitions
    partition_of: NDArray[np.int32] | None = None
    row_of: NDArray[np.int32] | None = None
    delta: Incidence | None = None
    delta_rows: NDArray[np.int64] | None = None
    removed: NDArray[np.int64] | None = None

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
