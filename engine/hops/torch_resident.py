"""Adjacencies on a device: NumPy arrays go in once, tensors come out and stay as long as the arrays live.

The partitions of a graph are joined on the device into single arrays with a row for every node: they are separate only
to bound the host's memory. What was written since (a delta, removed relationships) is not copied at every commit: hops
over it run in NumPy.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hoplite.engine.hops.interface import Hop, Positions
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.incidence import Adjacency, Incidence

# Entries of a node that one program of a kernel handles.
SEGMENT = 256


@dataclass(eq=False)
class Resident:
    """One side of a graph on the device; see `Incidence` for the arrays."""

    indptr: torch.Tensor  # int64[nodes + 1]
    neighbours: torch.Tensor  # int32[m]
    types: torch.Tensor  # int32[m]
    relationships: torch.Tensor | None  # int64[m]; None: entry e is relationship first_relationship + e
    first_relationship: int
    _segments: tuple[torch.Tensor, torch.Tensor] | None = None

    def segments(self) -> tuple[torch.Tensor, torch.Tensor]:
        """(node, first entry) of every run of up to SEGMENT entries of a node: hubs are split to share the work."""
        if self._segments is None:
            counts = self.indptr[1:] - self.indptr[:-1]
            pieces = (counts + (SEGMENT - 1)) // SEGMENT
            node = torch.repeat_interleave(pieces)
            number = torch.arange(len(node), device=node.device) - (pieces.cumsum(0) - pieces)[node]
            self._segments = node.to(torch.int32), self.indptr[node] + number * SEGMENT
        return self._segments


def can_reside(hop: Hop) -> bool:
    """Whether all relationships of a hop are in arrays that can be copied to a device."""
    return (
        not hop.has_mask
        and hop.node_count < 2**31  # nodes are int32 on the device
        and all(side.delta is None and side.removed is None for side in hop.sides)
    )


_kept: dict[tuple[int, int, str], Resident] = {}
_making = Lock()


def resident(adjacency: Adjacency, device: torch.device) -> Resident:
    """The adjacency on the device, copied there on first use."""
    owner: NDArray[Any]
    other: object
    if adjacency.partition_of is None:
        incidence = adjacency.partitions[0]
        owner, other = incidence.indptr, incidence.neighbours
    else:
        # Both sides share the map of nodes to partitions; the sequence of partitions tells them apart.
        owner, other = adjacency.partition_of, adjacency.partitions
    key = (id(owner), id(other), str(device))
    with _making:
        found = _kept.get(key)
        if found is None:
            found = _kept[key] = _copied(_whole(adjacency), device)
            weakref.finalize(owner, _kept.pop, key, None)
    return found


def _copied(incidence: Incidence, device: torch.device) -> Resident:
    def tensor(array: NDArray[Any], kind: type) -> torch.Tensor:
        # A copy: arrays of a file are read-only, which Torch warns about, and may be unmapped.
        return torch.from_numpy(np.array(array, kind)).to(device)

    relationships = incidence.relationships
    return Resident(
        tensor(incidence.indptr, np.int64),
        tensor(incidence.neighbours, np.int32),
        tensor(incidence.types, np.int32),
        None if relationships is None else tensor(relationships, np.int64),
        incidence.first_relationship,
    )


def _whole(adjacency: Adjacency) -> Incidence:
    """One incidence with a row for each node."""
    n = adjacency.node_count
    if adjacency.partition_of is None:
        incidence = adjacency.partitions[0]
        missing = n + 1 - len(incidence.indptr)
        if missing <= 0:
            return incidence
        # Nodes newer than these arrays have no entries here.
        indptr = np.concatenate((incidence.indptr, np.full(missing, incidence.indptr[-1])))
        return Incidence(
            indptr, incidence.neighbours, incidence.types, incidence.relationships, incidence.first_relationship
        )
    counts = np.zeros(n, np.int64)
    for incidence, nodes, rows in _parts(adjacency):
        counts[nodes] = incidence.indptr[rows + 1] - incidence.indptr[rows]
    indptr = np.concatenate(([0], np.cumsum(counts)))
    neighbours, types = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int32)
    relationships = np.empty(indptr[-1], np.int64)
    for incidence, nodes, rows in _parts(adjacency):
        count = counts[nodes]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        entries = within + np.repeat(incidence.indptr[rows], count)
        places = within + np.repeat(indptr[nodes], count)
        neighbours[places] = incidence.neighbours[entries]
        types[places] = incidence.types[entries]
        own = incidence.relationships
        relationships[places] = incidence.first_relationship + entries if own is None else own[entries]
    return Incidence(indptr, neighbours, types, relationships)


def _parts(adjacency: Adjacency) -> Iterator[tuple[Incidence, Positions, Positions]]:
    """(arrays, nodes, the row of each) of every partition."""
    assert adjacency.partition_of is not None and adjacency.row_of is not None
    covered = min(adjacency.node_count, len(adjacency.partition_of))
    for number in range(len(adjacency.partitions)):
        incidence = adjacency.partitions[number]
        nodes = np.flatnonzero(adjacency.partition_of[:covered] == number)
        rows = adjacency.row_of[nodes].astype(np.int64)
        inside = rows < len(incidence.indptr) - 1
        yield incidence, nodes[inside], rows[inside]
