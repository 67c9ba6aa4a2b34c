"""Random small multigraphs, each as a graph for the oracle and as adjacencies in one of several layouts.

With so few nodes, self-loops, parallel relationships and cycles are common. The layouts: one plain partition; several
partitions with the nodes distributed; a snapshot with newer relationships in a delta, some removed, and nodes that it
has no row for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray

from hoplite.storage.incidence import Adjacency, Incidence
from tests.oracle import Graph, Relationship

Triple = tuple[int, int, int]
Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Sample:
    """The same graph twice; relationship ids of the oracle are positions."""

    graph: Graph
    outgoing: Adjacency
    incoming: Adjacency
    layout: str


@st.composite
def samples(
    draw: DrawFn, most_relationships: int = 10, layouts: tuple[str, ...] = ("plain", "parts", "delta")
) -> Sample:
    layout = draw(st.sampled_from(layouts))
    node_count = draw(st.integers(1, 6))
    node = st.integers(0, node_count - 1)
    triple = st.tuples(node, st.integers(0, 2), node)
    triples = draw(st.lists(triple, max_size=most_relationships))
    partitions = draw(st.integers(1, 3)) if layout == "parts" or (layout == "delta" and draw(st.booleans())) else 1
    if layout != "delta":
        return build(node_count, triples, [], [], partitions, layout, routed=layout == "parts")
    delta = draw(st.integers(0, len(triples)))
    removed = [number for number in range(len(triples)) if draw(st.integers(0, 3)) == 0]
    return build(node_count, triples[delta:], triples[:delta], removed, partitions, layout, routed=partitions > 1)


def build(
    node_count: int,
    snapshot: list[Triple],
    delta: list[Triple],
    removed: list[int],
    partitions: int,
    layout: str,
    *,
    routed: bool,
) -> Sample:
    """Relationships (start, type, end) of a snapshot in partitions, with a delta above it; `removed` by position."""
    known = 1 + max((max(start, end) for start, _, end in snapshot), default=-1) if layout == "delta" else node_count
    # A subject's relationships live in one partition; positions follow (partition, subject, type, object).
    ordered = sorted(snapshot, key=lambda triple: (triple[0] % partitions, triple))
    positions = [*ordered, *sorted(delta)]
    first_of_delta = len(ordered)
    adjacencies = []
    for ends in ((0, 2), (2, 0)):
        near, far = ends
        entries = [(triple[near], triple[1], triple[far], number) for number, triple in enumerate(positions)]
        held = []
        for partition in range(partitions):
            rows = [node for node in range(known) if node % partitions == partition]
            mine = [entry for entry in entries[:first_of_delta] if entry[0] % partitions == partition]
            implicit = near == 0
            first = min((entry[3] for entry in mine), default=0)
            held.append(_incidence(rows, sorted(mine), first if implicit else None))
        newer = sorted(entries[first_of_delta:])
        delta_rows = sorted({entry[0] for entry in newer})
        adjacencies.append(
            Adjacency(
                node_count,
                tuple(held),
                partition_of=np.arange(known, dtype=np.int32) % partitions if routed else None,
                row_of=np.arange(known, dtype=np.int32) // partitions if routed else None,
                delta=_incidence(delta_rows, newer, None) if delta else None,
                delta_rows=np.array(delta_rows, dtype=np.int64) if delta else None,
                removed=np.array(sorted(removed), dtype=np.int64) if removed else None,
            )
        )
    graph = Graph(
        list(range(node_count)),
        [Relationship(number, *triple) for number, triple in enumerate(positions) if number not in removed],
    )
    return Sample(graph, adjacencies[0], adjacencies[1], layout)


def _incidence(rows: list[int], entries: list[tuple[int, int, int, int]], first: int | None) -> Incidence:
    """Rows of entries (node, type, neighbour, relationship); implicit relationship numbers if `first` is given."""
    counts = [sum(entry[0] == node for entry in entries) for node in rows]
    return Incidence(
        indptr=np.concatenate(([0], np.cumsum(counts, dtype=np.int64))).astype(np.int64),
        neighbours=np.array([entry[2] for entry in entries], dtype=np.int32),
        types=np.array([entry[1] for entry in entries], dtype=np.int32),
        relationships=None if first is not None else np.array([entry[3] for entry in entries], dtype=np.int64),
        first_relationship=first or 0,
    )
