"""What lies around the seeds of each question, ranked, and the paths that lead there: one search for all questions.

    question   int64[n]     ascending
    nodes      int64[n]     ids; each node of a question once
    distance   int64[n]     relationships from the nearest seed, which is at 0
    scores     float64[n]   the higher, the better

Paths are read off the distances, from the nodes that were kept back to a seed: what a ranking drops costs no path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine import hops
from hoplite.engine.hops import Hop, Side, Steps
from hoplite.engine.hops.select import backend_named
from hoplite.engine.khop import SIDES
from hoplite.errors import driver_errors
from hoplite.retrieval.sets import Direction, NodeSets, positions_of
from hoplite.values.columns import Int64s, Paths, ragged_take

if TYPE_CHECKING:
    from neo4j.graph import Path

    from hoplite.api.database import Database
    from hoplite.storage.snapshot import Snapshot

Scores = NDArray[np.float64]

_PAIR = 4  # steps that may be made in the time that looking for one between two nodes takes


def neighbourhood(
    db: Database,
    seeds: NodeSets | Sequence[Any],
    hops_away: int,
    *,
    direction: Direction = "both",
    types: Sequence[str] | None = None,
) -> Neighbourhood:
    """The nodes up to `hops_away` hops from the seeds of each question, seeds included, scored by how near and special
    they are: 1 / (1 + distance) / log2(2 + relationships)."""
    sets = seeds if isinstance(seeds, NodeSets) else NodeSets.of(seeds)
    if direction not in SIDES:
        raise ValueError(f"direction is 'out', 'in' or 'both', not {direction!r}")
    if hops_away < 0:
        raise ValueError(f"hops_away is a number of hops, 0 or more, not {hops_away}")
    with driver_errors():
        graph, check = db._graph.snapshot(), db._deadline()
        hop = hops.hop_of(graph, SIDES[direction], types)
        sources = positions_of(graph, sets.nodes)
        found = backend_named(db._backend).bfs_levels(
            hop, sets.questions, sources, hops_away, mark_starts=True, check=check
        )
        order = np.lexsort((found.nodes, found.group))
        span = hop.node_count
        at_seeds = found.level == 0
        starts = NodeSets.from_rows(found.group[at_seeds], found.nodes[at_seeds], len(sets))
        keys = (found.group * span + found.nodes)[order]
        search = _Search(graph, hop, db._backend, check, keys, found.level[order], starts)
        every = hops.hop_of(graph, Side.BOTH, None)
        degrees = hops.degrees(every, found.nodes, check=check, backend=db._backend)
    scores = 1 / (1 + found.level) / np.log2(2 + degrees)
    return Neighbourhood(found.group, graph.node_ids(found.nodes), found.level, scores, search, found.nodes)


@dataclass(frozen=True, slots=True)
class _Search:
    """What paths are read off: the distance of every pair of a question and a node, as one ascending number each; and
    where each question starts."""

    graph: Snapshot
    hop: Hop
    backend: hops.BackendName
    check: hops.Check
    keys: Int64s
    level: Int64s
    seeds: NodeSets  # positions

    def distances(self, question: Int64s, nodes: Int64s) -> Int64s:
        """How far nodes are from the seeds of a question; -1: farther than was searched."""
        if not len(self.keys):
            return np.full(len(nodes), -1, np.int64)
        asked = question * self.hop.node_count + nodes
        place = np.minimum(np.searchsorted(self.keys, asked), len(self.keys) - 1)
        return np.where(self.keys[place] == asked, self.level[place], -1)

    def nearer(self, question: Int64s, nodes: Int64s, level: int) -> Steps:
        """The steps by which nodes are entered from those at a level, which is one less than theirs."""
        turned = self.hop.turned()
        if level == 0 and len(nodes):
            # A node next to a seed may have very many neighbours: to look for the seeds among them is cheaper.
            offsets, items = ragged_take(self.seeds.offsets, question)
            if _PAIR * len(items) < hops.degrees(turned, nodes, backend=self.backend).sum():
                row, seeds = np.repeat(np.arange(len(nodes)), np.diff(offsets)), self.seeds.nodes[items]
                found = hops.expand_into(self.hop, seeds, nodes[row], check=self.check)
                return Steps(row[found.row], found.relationships, seeds[found.row])
        steps = hops.expand(turned, nodes, backend=self.backend)
        kept = self.distances(question[steps.row], steps.neighbours) == level
        return Steps(steps.row[kept], steps.relationships[kept], steps.neighbours[kept])


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Nodes around the seeds of each question. It holds the version of the graph that it was found in."""

    question: Int64s
    nodes: Int64s
    distance: Int64s
    scores: Scores
    _search: _Search = field(repr=False)
    _positions: Int64s = field(repr=False)

    def __len__(self) -> int:
        return len(self.nodes)

    def take(self, which: NDArray[Any]) -> Neighbourhood:
        """Only these rows: their numbers, or a flag for each."""
        return replace(
            self,
            question=self.question[which],
            nodes=self.nodes[which],
            distance=self.distance[which],
            scores=self.scores[which],
            _positions=self._positions[which],
        )

    def scored(self, scores: NDArray[Any]) -> Neighbourhood:
        """With other scores, one for each row."""
        if np.shape(scores) != self.scores.shape:
            raise ValueError(f"There are {len(self)} rows, and scores of the shape {np.shape(scores)}")
        return replace(self, scores=np.asarray(scores, np.float64))

    def with_label(self, label: str) -> Neighbourhood:
        """Only nodes with a label."""
        return self.take(self._search.graph.has_label(self._positions, label))

    def among(self, targets: NodeSets) -> Neighbourhood:
        """Only the nodes that are targets of their question."""
        span = int(max(self.nodes.max(initial=0), targets.nodes.max(initial=0))) + 1
        return self.take(np.isin(self.question * span + self.nodes, targets.questions * span + targets.nodes))

    def best(self, most: int) -> Neighbourhood:
        """The highest scores of each question, the best first; equal ones by distance, then by id."""
        order = np.lexsort((self.nodes, self.distance, -self.scores, self.question))
        return self.take(order[_places(self.question[order]) < most])

    def sets(self) -> NodeSets:
        """The nodes of each question, in the order of the rows."""
        return NodeSets.from_rows(self.question, self.nodes, len(self._search.seeds))

    def paths(self, each: int = 1) -> EvidencePaths:
        """Shortest paths from a seed to each node that is not one, up to `each` of them, in the order of the rows."""
        search = self._search
        pieces = []
        for length in np.unique(self.distance).tolist():
            if length:
                rows = np.flatnonzero(self.distance == length)
                pieces.append(_ways_back(search, self.question, rows, self._positions[rows], length, each))
        target = np.concatenate([np.zeros(0, np.int64), *(piece[0] for piece in pieces)])
        lengths = np.concatenate(
            [np.zeros(0, np.int64), *(np.full(len(p[0]), p[2].shape[1], np.int64) for p in pieces)]
        )
        starts = np.concatenate([np.zeros(0, np.int64), *(piece[1][:, 0] for piece in pieces)])
        nodes = np.concatenate([np.zeros(0, np.int64), *(piece[1][:, 1:].reshape(-1) for piece in pieces)])
        relationships = np.concatenate([np.zeros(0, np.int64), *(piece[2].reshape(-1) for piece in pieces)])
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        made = EvidencePaths(
            self.question[target], self.scores[target], Paths(starts, offsets, relationships, nodes), search.graph
        )
        return made.take(np.argsort(target, kind="stable"))


def _ways_back(
    search: _Search, questions: Int64s, rows: Int64s, ends: Int64s, length: int, each: int
) -> tuple[Int64s, Int64s, Int64s]:
    """Paths of one length that end in some nodes: whose they are, their nodes and their relationships, a row each."""
    target, nodes = rows, ends[:, None]
    relationships = np.zeros((len(rows), 0), np.int64)
    for level in range(length - 1, -1, -1):
        search.check()
        row, via, before = search.nearer(questions[target], nodes[:, 0], level)
        # Every way back leads to a seed, so that no more of them are followed than are wanted.
        kept = _places(target[row]) < each
        row, via, before = row[kept], via[kept], before[kept]
        target = target[row]
        nodes = np.concatenate((before[:, None], nodes[row]), axis=1)
        relationships = np.concatenate((via[:, None], relationships[row]), axis=1)
    return target, nodes, relationships


def _places(groups: Int64s) -> Int64s:
    """The place of each row within its run of equal numbers."""
    if not len(groups):
        return groups
    first = np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))
    return np.arange(len(groups)) - np.repeat(first, np.diff(np.concatenate((first, [len(groups)]))))


@dataclass(frozen=True, slots=True)
class EvidencePaths:
    """Paths, each for a question and with a score; `columns` has positions of one version of the graph."""

    question: Int64s
    scores: Scores
    columns: Paths = field(repr=False)
    graph: Snapshot = field(repr=False)

    def __len__(self) -> int:
        return len(self.question)

    def __iter__(self) -> Iterator[Path]:
        """As the driver's paths."""
        from hoplite.api.hydrate import Hydrator

        yield from Hydrator(self.graph).column(self.columns)

    @property
    def lengths(self) -> Int64s:
        """How many relationships each path has."""
        return np.diff(self.columns.offsets)

    def take(self, which: NDArray[Any]) -> EvidencePaths:
        """Only these paths: their numbers, or a flag for each."""
        rows = np.flatnonzero(which) if which.dtype == np.bool_ else which
        offsets, items = ragged_take(self.columns.offsets, rows)
        held = self.columns
        columns = Paths(held.starts[rows], offsets, held.relationships[items], held.nodes[items])
        return EvidencePaths(self.question[rows], self.scores[rows], columns, self.graph)

    def best(self, most: int) -> EvidencePaths:
        """The highest scores of each question, the best first; equal ones by length, then as they came."""
        order = np.lexsort((self.lengths, -self.scores, self.question))
        return self.take(order[_places(self.question[order]) < most])

    @property
    def relationships(self) -> Int64s:
        """The ids of all relationships, path after path."""
        return self.graph.relationship_ids(self.columns.relationships)
