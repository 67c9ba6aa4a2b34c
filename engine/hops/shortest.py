"""Shortest paths between pairs: searched from both ends, then unrolled.

Each search keeps its layers: for every distance the steps (from, relationship, to) that first entered a node at that
distance, with every way of entering it. Where the two searches meet, the layers that lead through a meeting node form a
graph in which every way from the source has the same length and ends in the target; its trails are the answer.

Masks may be asked only about steps that are reached from the source, so a hop with masks is searched from there alone.
So are rows with one source and many targets: one search serves them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hoplite.engine.hops.expansion import breadth, chunked, concatenated_ranges, gather
from hoplite.engine.hops.interface import (
    UNLIMITED,
    Backend,
    Check,
    Hop,
    Positions,
    Side,
    TrailBatch,
    unchecked,
)
from hoplite.engine.hops.scratch import Scratch, borrowed
from hoplite.engine.hops.select import BackendName, backend_named
from hoplite.storage.incidence import Adjacency, Incidence

_PIECE = 1 << 18
# Targets of one source from which on a single search from the source serves them all.
_MANY_TARGETS = 8
_DEEPEST = 64


@dataclass(frozen=True, slots=True, eq=False)
class _Layer:
    """The steps that lead from one distance to the next, in the direction of the path.

    They are sorted by the node that the search entered: `to_nodes`, or `from_nodes` in a search from the target.
    """

    from_nodes: Positions
    relationships: Positions
    to_nodes: Positions

    def first(self) -> _Layer:
        return _Layer(self.from_nodes[:1], self.relationships[:1], self.to_nodes[:1])

    def entering(self, entered: Positions, wanted: Positions) -> _Layer:
        """The steps whose node in `entered` (one of the columns, ascending) is wanted."""
        wanted = np.unique(wanted)
        first = np.searchsorted(entered, wanted, side="left")
        steps = concatenated_ranges(first, np.searchsorted(entered, wanted, side="right") - first)
        return _Layer(self.from_nodes[steps], self.relationships[steps], self.to_nodes[steps])


@dataclass(slots=True, eq=False)
class _Search:
    """A breadth-first search from one end; `mark` of its scratch says what it has entered."""

    hop: Hop
    scratch: Scratch
    frontier: Positions
    backwards: bool
    layers: list[_Layer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scratch.mark[self.frontier] = 1

    def step(self, check: Check) -> None:
        """Enter the next distance."""
        mark = self.scratch.mark
        steps = []
        for piece in chunked(self.hop, self.frontier, _PIECE):
            check()
            found = gather(self.hop, self.frontier, piece.segments)
            new = mark[found.neighbours] == 0
            steps.append((self.frontier[found.row[new]], found.relationships[new], found.neighbours[new]))
        none = self.frontier[:0]
        near, relationships, far = (
            (np.concatenate(columns) for columns in zip(*steps, strict=True)) if steps else (none, none, none)
        )
        order = np.argsort(far, kind="stable")
        near, relationships, far = near[order], relationships[order], far[order]
        self.frontier = far[np.flatnonzero(np.diff(far, prepend=-1))]
        mark[self.frontier] = 1
        self.layers.append(_Layer(far, relationships, near) if self.backwards else _Layer(near, relationships, far))

    def clear(self, start: int) -> None:
        """Leave the scratch as it was lent."""
        self.scratch.mark[start] = 0
        for layer in self.layers:
            self.scratch.mark[layer.from_nodes if self.backwards else layer.to_nodes] = 0


def shortest_paths(
    hop: Hop,
    sources: Positions,
    targets: Positions,
    lower: int,
    upper: int | None,
    *,
    every: bool,
    chunk: int = 1 << 16,
    check: Check = unchecked,
    backend: BackendName = "auto",
) -> Iterator[TrailBatch]:
    """One of the shortest paths for each pair of source and target, or `every` one; `lower` is 0 or 1.

    From a node to itself it is the path without relationships with lower 0, and nothing with lower 1.
    """
    assert lower in (0, 1), "Shortest paths begin at length 0 or 1."
    kernels = backend_named(backend)
    rows = np.flatnonzero((sources >= 0) & (targets >= 0))
    runs = np.flatnonzero(np.diff(sources[rows], prepend=-1))
    for first, last in zip(runs, np.append(runs, len(rows))[1:], strict=True):
        source, together = int(sources[rows[first]]), rows[first:last]
        goals = targets[together]
        if len(together) >= _MANY_TARGETS and hop.can_turn:
            found = _layers_to_each(kernels, hop, source, goals, upper, every, check)
        else:
            found = _layers_between_pairs(hop, source, goals, upper, check)
        for row, goal, layers in zip(together, goals, found, strict=True):
            number = np.array([row], dtype=np.int64)
            if goal == source:
                if lower == 0:
                    yield TrailBatch(number, np.zeros(2, dtype=np.int64), number[:0], number[:0])
            elif layers and every:
                for batch in _unrolled(kernels, layers, source, chunk, check):
                    yield batch._replace(row=number.repeat(len(batch.row)))
            elif layers:
                yield TrailBatch(number, np.array([0, len(layers)], dtype=np.int64), *_one_path(layers, source))


def _layers_to_each(
    backend: Backend, hop: Hop, source: int, targets: Positions, upper: int | None, every: bool, check: Check
) -> Iterator[list[_Layer]]:
    """The steps of one or all shortest paths to each target: a single search from the source finds the levels, and the
    steps are followed back from each target to the level before."""
    turned = hop.turned()
    start = np.array([source], dtype=np.int64)
    bound: int | None = 2
    while True:
        # Deeper and deeper: the targets may all be near.
        bound = upper if bound is None or (upper is not None and bound >= upper) else bound
        found = backend.arrivals(hop, start * 0, start, bound, mark_starts=True, check=check)
        if found.depth == UNLIMITED or bound == upper or np.isin(targets, found.nodes).all():
            break
        assert bound is not None
        bound = 2 * bound if bound < _DEEPEST else None
    with borrowed(hop.node_count) as scratch:
        scratch.mark[found.nodes] = 1
        scratch.level[found.nodes] = found.level
        for target in targets.tolist():
            layers: list[_Layer] = []
            wanted = np.array([target], dtype=np.int64)
            for level in range(int(scratch.level[target]) if scratch.mark[target] else 0, 0, -1):
                steps = _steps_into(backend, hop, turned, wanted, level, scratch)
                layers.append(steps if every else steps.first())
                wanted = np.unique(layers[-1].from_nodes)
            yield layers[::-1]
        scratch.mark[found.nodes] = 0


def _steps_into(backend: Backend, hop: Hop, turned: Hop, nodes: Positions, level: int, scratch: Scratch) -> _Layer:
    """The steps into nodes of a level from the level before. The search has made them all, so masks may be asked."""
    steps = backend.expand(turned, nodes)
    before = (scratch.mark[steps.neighbours] == 1) & (scratch.level[steps.neighbours] == level - 1)
    from_nodes, relationships, to_nodes = (
        steps.neighbours[before],
        steps.relationships[before],
        nodes[steps.row[before]],
    )
    if hop.relationship_mask is not None:
        kept = hop.relationship_mask(relationships, from_nodes, to_nodes)
        from_nodes, relationships, to_nodes = from_nodes[kept], relationships[kept], to_nodes[kept]
    return _Layer(from_nodes, relationships, to_nodes)


def _layers_between_pairs(
    hop: Hop, source: int, targets: Positions, upper: int | None, check: Check
) -> Iterator[list[_Layer]]:
    """The steps of all shortest paths to each target, with a search for each."""
    for target in targets.tolist():
        yield [] if target == source else _layers_between(hop, source, target, upper, check)


def _layers_between(hop: Hop, source: int, target: int, upper: int | None, check: Check) -> list[_Layer]:
    """The steps of all shortest paths, layer by layer; none if there is no path."""
    with borrowed(hop.node_count) as near, borrowed(hop.node_count) as far:
        forwards = _Search(hop, near, np.array([source], dtype=np.int64), backwards=False)
        backwards = _Search(
            hop.turned() if hop.can_turn else hop, far, np.array([target], dtype=np.int64), backwards=True
        )
        from_both_ends = hop.can_turn and not hop.has_mask
        meeting = forwards.frontier[:0]
        length = 0
        while len(forwards.frontier) and len(backwards.frontier) and (upper is None or length < upper):
            other, search = backwards, forwards
            if from_both_ends and breadth(backwards.hop, backwards.frontier) < breadth(hop, forwards.frontier):
                other, search = forwards, backwards
            search.step(check)
            length += 1
            meeting = search.frontier[other.scratch.mark[search.frontier] == 1]
            if len(meeting):
                break
        layers = _through(forwards.layers, backwards.layers, meeting)
        forwards.clear(source)
        backwards.clear(target)
    return layers


def _through(forwards: list[_Layer], backwards: list[_Layer], meeting: Positions) -> list[_Layer]:
    """Of the layers of both searches, the steps that lead through a meeting node; nothing if there is none."""
    if not len(meeting):
        return []
    before: list[_Layer] = []
    wanted = meeting
    for layer in reversed(forwards):
        before.append(layer.entering(layer.to_nodes, wanted))
        wanted = before[-1].from_nodes
    after: list[_Layer] = []
    wanted = meeting
    for layer in reversed(backwards):
        after.append(layer.entering(layer.from_nodes, wanted))
        wanted = after[-1].to_nodes
    return before[::-1] + after


def _one_path(layers: list[_Layer], source: int) -> tuple[Positions, Positions]:
    """Relationships and nodes of one way through the layers."""
    relationships, nodes = [], []
    node = source
    for layer in layers:
        step = int(np.flatnonzero(layer.from_nodes == node)[0])
        node = int(layer.to_nodes[step])
        relationships.append(int(layer.relationships[step]))
        nodes.append(node)
    return np.array(relationships, dtype=np.int64), np.array(nodes, dtype=np.int64)


def _unrolled(backend: Backend, layers: list[_Layer], source: int, chunk: int, check: Check) -> Iterator[TrailBatch]:
    """All ways through the layers: the trails of a small graph of their steps."""
    from_nodes = np.concatenate([layer.from_nodes for layer in layers])
    to_nodes = np.concatenate([layer.to_nodes for layer in layers])
    relationships = np.concatenate([layer.relationships for layer in layers])
    names = np.unique(np.concatenate((from_nodes, to_nodes)))
    order = np.argsort(from_nodes, kind="stable")
    incidence = Incidence(
        indptr=np.searchsorted(from_nodes[order], np.append(names, names[-1] + 1)).astype(np.int64),
        neighbours=np.searchsorted(names, to_nodes[order]).astype(np.int32),
        types=np.zeros(len(order), dtype=np.int32),
        relationships=relationships[order],
    )
    hop = Hop(Side.OUTGOING, outgoing=Adjacency(len(names), (incidence,)))
    start = np.searchsorted(names, [source]).astype(np.int64)
    for batch in backend.trails(hop, start, len(layers), len(layers), chunk=chunk, check=check):
        yield batch._replace(nodes=names[batch.nodes])
