"""The shortest trails between pairs of nodes, in order of their length.

One length at a time, beginning with the shortest, until enough are found:

    one shortest path     read off a breadth-first search: every node remembers how it was first entered. Between two
                          given nodes the search runs from both ends until they meet; from one node to many, a single
                          search serves them all, and yields the paths of each level before it continues.
    all shortest paths    the steps from each level of the search to the next form an acyclic graph in which every way
                          back from a node of level l has length l and ends in the source. Its trails are the answer.
    longer ones           a depth-first search back from the target for trails of exactly the wanted length, cut off
                          where the source is too far away. What is cut off tells the next length that may have any,
                          so that lengths without trails are skipped.

A shortest walk between two different nodes is a trail. From a node to itself it need not be (undirected: out and back
over one relationship), nor with a lower bound above the distance, so these cases begin with the third method.

Masks may be asked only about steps reached from the source: a hop with masks is searched only from there, and the way
back asks only about steps that the search has made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import TypeAlias

import numpy as np

from hoplite.engine.hops.expansion import in_sorted
from hoplite.engine.hops.interface import (
    UNLIMITED,
    Backend,
    Booleans,
    Check,
    Guide,
    Hop,
    Positions,
    Side,
    TrailBatch,
    TrailQuota,
    unchecked,
)
from hoplite.engine.hops.numpy_trails import picked, turned_round
from hoplite.engine.hops.scratch import borrowed
from hoplite.engine.hops.search import Search
from hoplite.engine.hops.select import BackendName, backend_named
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.incidence import Adjacency, Incidence

# From this many targets of one source on, a single search from the source serves them all.
_MANY_TARGETS = 8
# Nodes whose paths are gathered before the first batch is yielded; later batches double.
_FIRST_NODES = 64

_Steps: TypeAlias = tuple[Positions, Positions, Positions]  # from, relationships, to

# Which trails of a batch may be chosen; asked in order of length.
Keep: TypeAlias = Callable[[TrailBatch], Booleans]


@dataclass(frozen=True, slots=True)
class Choice:
    """How many trails between two nodes are wanted: a number of `paths`, or all of the `lengths` shortest lengths."""

    paths: int | None = None
    lengths: int | None = None


def shortest_trails(
    hop: Hop,
    sources: Positions,
    targets: Positions | None,
    lower: int,
    upper: int | None,
    choice: Choice,
    *,
    keep: Keep | None = None,
    chunk: int = 1 << 16,
    check: Check = unchecked,
    backend: BackendName = "auto",
) -> Iterator[TrailBatch]:
    """The shortest trails of lower .. upper relationships for each row: from its source to its target or, without
    targets, to every node. Trails that `keep` rejects do not count. Rows come in any order."""
    assert hop.can_turn, "Shortest paths are followed back from their ends, so the hop must be reversible."
    if upper is not None and upper < lower:
        return
    chooser = _Chooser(backend_named(backend), hop, lower, upper, choice, keep, chunk, check)
    if targets is None:
        for row in np.flatnonzero(sources >= 0).tolist():
            yield from chooser.to_all(int(sources[row]), row)
        return
    rows = np.flatnonzero((sources >= 0) & (targets >= 0))
    if not hop.has_mask and keep is None and len(np.unique(targets[rows])) < len(np.unique(sources[rows])):
        # One search serves all sources of a target.
        chooser = replace(chooser, hop=hop.turned())
        for batch in chooser.to_given(targets, sources, rows):
            yield turned_round(batch, targets[batch.row])
        return
    yield from chooser.to_given(sources, targets, rows)


def shortest_paths(
    hop: Hop,
    sources: Positions,
    targets: Positions,
    lower: int,
    upper: int | None,
    *,
    every: bool,
    check: Check = unchecked,
    backend: BackendName = "auto",
) -> Iterator[TrailBatch]:
    """One shortest path for each row, or with `every` all of them; with lower 1, a node has none to itself."""
    goals = np.where(sources == targets, -1, targets) if lower else targets
    choice = Choice(lengths=1) if every else Choice(paths=1)
    return shortest_trails(hop, sources, goals, lower, upper, choice, check=check, backend=backend)


@dataclass(slots=True, eq=False)
class _Wants:
    """The targets of one source: the row of each, how many more trails or lengths it wants, and the length to try
    next."""

    rows: Positions
    goals: Positions
    left: Positions
    length: Positions

    def take(self, numbers: Positions) -> _Wants:
        return _Wants(self.rows[numbers], self.goals[numbers], self.left[numbers], self.length[numbers])


@dataclass(slots=True, eq=False)
class _Chooser:
    """Finds the trails of one choice."""

    backend: Backend
    hop: Hop
    lower: int
    upper: int | None
    choice: Choice
    keep: Keep | None
    chunk: int
    check: Check

    turned: Hop = field(init=False)

    def __post_init__(self) -> None:
        self.turned = self.hop.turned()

    @property
    def limit(self) -> int:
        return UNLIMITED if self.upper is None else self.upper

    @property
    def takes_first(self) -> bool:
        """Whether any one shortest path will do."""
        return self.choice.paths == 1 and self.keep is None

    def to_given(self, sources: Positions, targets: Positions, rows: Positions) -> Iterator[TrailBatch]:
        """Between the nodes of each row."""
        order = rows[np.argsort(sources[rows], kind="stable")]
        begins = np.flatnonzero(np.diff(sources[order], prepend=-1))
        for first, last in zip(begins, np.append(begins, len(order))[1:], strict=True):
            source, together = int(sources[order[first]]), order[first:last]
            if self.hop.has_mask or len(together) >= _MANY_TARGETS:
                yield from self.to_each(source, self.wants(together, targets[together]))
            else:
                for row in together:
                    yield from self.between(source, int(row), int(targets[row]))

    def wants(self, rows: Positions, goals: Positions) -> _Wants:
        share = self.choice.paths if self.choice.paths is not None else self.choice.lengths
        assert share is not None
        return _Wants(rows, goals, np.full(len(rows), share, np.int64), np.full(len(rows), self.lower, np.int64))

    # --- the first length --------------------------------------------------------------------------------------

    def between(self, source: int, row: int, target: int) -> Iterator[TrailBatch]:
        """Between two nodes: search from both ends until they meet."""
        wants = self.wants(np.array([row], dtype=np.int64), np.array([target], dtype=np.int64))
        if source == target:
            yield from self.longer(source, wants)
            return
        with borrowed(self.hop.node_count) as near, borrowed(self.hop.node_count) as far:
            forwards = self.backend.search(self.hop, source, near)
            backwards = self.backend.search(self.turned, target, far)
            meeting = self._meeting(forwards, backwards)
            length = forwards.depth + backwards.depth
            found: list[TrailBatch] = []
            ways: Iterator[TrailBatch] = iter(())
            if len(meeting) and length >= self.lower:
                if self.takes_first:
                    found = [_joined(forwards, backwards, meeting[:1], row)]
                else:
                    steps = self._steps_through(forwards, backwards, meeting)
                    ways = self.through(_Ways(steps), source, wants, np.array([length], dtype=np.int64))
            forwards.clear()
            backwards.clear()
        if not len(meeting):
            return
        yield from found
        yield from ways
        if not found:
            wants.length[:] = max(length + 1, self.lower)
            yield from self.longer(source, wants)

    def _meeting(self, forwards: Search, backwards: Search) -> Positions:
        """The nodes where the two searches first meet; none if there is no path of an allowed length."""
        while len(forwards.frontier) and len(backwards.frontier) and forwards.depth + backwards.depth < self.limit:
            search, other = forwards, backwards
            if backwards.breadth() < forwards.breadth():
                search, other = backwards, forwards
            entered = search.step(self.check)
            meeting: Positions = entered[other.scratch.mark[entered] == 1]
            if len(meeting):
                return meeting
        return forwards.frontier[:0]

    def to_each(self, source: int, wants: _Wants) -> Iterator[TrailBatch]:
        """To the given targets of one source."""
        goals = np.unique(wants.goals[wants.goals != source])
        with borrowed(self.hop.node_count) as scratch:
            search = self.backend.search(self.hop, source, scratch)
            missing = len(goals)
            for entered in self._levels(search):
                missing -= int(np.isin(entered, goals, assume_unique=True).sum())
                if not missing:
                    break
            reached = scratch.mark[wants.goals] == 1
            wants = wants.take(np.flatnonzero(reached))
            levels = scratch.level[wants.goals].astype(np.int64)
            first = (levels >= self.lower) & (levels > 0)
            batches = list(self.at_first_length(search, source, wants, levels, first)) if self.takes_first else []
            ways = None if self.takes_first else self._ways_to(search, wants.goals[first])
            search.clear()
        yield from batches
        if ways is not None:
            yield from self.through(ways, source, wants, np.where(first, levels, -1))
        yield from self.rest(source, wants, levels, first)

    def to_all(self, source: int, row: int) -> Iterator[TrailBatch]:
        """To every node that can be reached, level by level."""
        most = _FIRST_NODES
        behind: list[_Wants] = []
        with borrowed(self.hop.node_count) as scratch:
            search = self.backend.search(self.hop, source, scratch)
            held = [search.frontier]
            levels = self._levels(search)
            while True:
                entered = next(levels, None)
                if entered is not None:
                    held.append(entered)
                    if sum(map(len, held)) < most:
                        continue
                nodes = np.concatenate(held)
                wants = self.wants(np.full(len(nodes), row, np.int64), nodes)
                reached = scratch.level[nodes].astype(np.int64)
                first = (reached >= self.lower) & (reached > 0)
                if self.takes_first:
                    yield from self.at_first_length(search, source, wants, reached, first)
                elif (ways := self._ways_to(search, nodes[first])) is not None:
                    yield from self.through(ways, source, wants, np.where(first, reached, -1))
                wants.length = np.where(first, reached + 1, np.maximum(reached, self.lower))
                behind.append(wants.take(np.flatnonzero(wants.left > 0)))
                held, most = [], 2 * most
                if entered is None:
                    break
            search.clear()
        for wants in behind:
            yield from self.longer(source, wants)

    def _levels(self, search: Search) -> Iterator[Positions]:
        """The nodes of each further level within the upper bound."""
        while len(search.frontier) and search.depth < self.limit:
            entered = search.step(self.check)
            if len(entered):
                yield entered

    def at_first_length(
        self, search: Search, source: int, wants: _Wants, levels: Positions, first: Booleans
    ) -> Iterator[TrailBatch]:
        """One path for each target whose distance is long enough."""
        for level in np.unique(levels[first]).tolist():
            numbers = np.flatnonzero(first & (levels == level))
            size = max(self.chunk // level, 1)
            for begin in range(0, len(numbers), size):
                self.check()
                part = numbers[begin : begin + size]
                relationships, nodes = search.paths_to(wants.goals[part], level)
                offsets = np.arange(len(part) + 1, dtype=np.int64) * level
                yield TrailBatch(wants.rows[part], offsets, relationships.reshape(-1), nodes.reshape(-1))
        wants.left[first] = 0

    def through(self, ways: _Ways, source: int, wants: _Wants, lengths: Positions) -> Iterator[TrailBatch]:
        """All ways of an acyclic graph that lead back from each target; a length of -1 leaves a target out."""
        for length in np.unique(lengths[lengths >= 0]).tolist():
            numbers = np.flatnonzero(lengths == length)
            starts = np.searchsorted(ways.names, wants.goals[numbers]).astype(np.int64)
            yield from self.of_length(ways.hop, starts, wants, numbers, length, None, ways.names)

    def _ways_to(self, search: Search, goals: Positions) -> _Ways | None:
        """The steps of all shortest paths to the goals; None if there are no goals."""
        if not len(goals):
            return None
        levels = search.scratch.level[goals]
        steps: list[_Steps] = []
        wanted = goals[:0]
        for level in range(int(levels.max()), 0, -1):
            self.check()
            wanted = np.unique(np.concatenate((wanted, goals[levels == level])))
            steps.append(self._steps_into(search, self.turned, wanted, level))
            wanted = steps[-1][0]
        return _Ways(steps)

    def _steps_into(self, search: Search, turned: Hop, nodes: Positions, level: int) -> _Steps:
        """The steps into nodes of a level from the level before. The search has made them all: masks may be asked."""
        steps = self.backend.expand(turned, nodes)
        marks, levels = search.scratch.mark, search.scratch.level
        before = (marks[steps.neighbours] == 1) & (levels[steps.neighbours] == level - 1)
        from_nodes, relationships = steps.neighbours[before], steps.relationships[before]
        to_nodes = nodes[steps.row[before]]
        if search.hop.relationship_mask is not None:
            kept = search.hop.relationship_mask(relationships, from_nodes, to_nodes)
            from_nodes, relationships, to_nodes = from_nodes[kept], relationships[kept], to_nodes[kept]
        return from_nodes, relationships, to_nodes

    def _steps_through(self, forwards: Search, backwards: Search, meeting: Positions) -> list[_Steps]:
        """The steps of all shortest paths between the sources of two searches that have met."""
        steps: list[_Steps] = []
        wanted = np.unique(meeting)
        for level in range(forwards.depth, 0, -1):
            steps.append(self._steps_into(forwards, self.turned, wanted, level))
            wanted = np.unique(steps[-1][0])
        wanted = np.unique(meeting)
        for level in range(backwards.depth, 0, -1):
            # The search from the target made these steps the other way.
            ahead, relationships, before = self._steps_into(backwards, self.hop, wanted, level)
            steps.append((before, relationships, ahead))
            wanted = np.unique(ahead)
        return steps

    # --- longer ones -------------------------------------------------------------------------------------------

    def rest(self, source: int, wants: _Wants, levels: Positions, first: Booleans) -> Iterator[TrailBatch]:
        wants.length = np.where(first, levels + 1, np.maximum(levels, self.lower))
        yield from self.longer(source, wants)

    def longer(self, source: int, wants: _Wants) -> Iterator[TrailBatch]:
        """Longer trails to the targets that want more, found from the targets back."""
        back = self.hop
        guide: Guide | None = None
        while True:
            pending = np.flatnonzero((wants.left > 0) & (wants.length <= self.limit))
            if not len(pending):
                return
            length = int(wants.length[pending].min())
            numbers = pending[wants.length[pending] == length]
            if guide is None or length > guide.depth:
                back, guide = self._way_back(source, min(2 * length, self.limit))
            table = np.zeros(len(numbers), dtype=np.int64)
            yield from self.of_length(
                back, wants.goals[numbers], wants, numbers, length, replace(guide, table=table), None
            )

    def of_length(
        self,
        back: Hop,
        starts: Positions,
        wants: _Wants,
        numbers: Positions,
        length: int,
        guide: Guide | None,
        names: Positions | None,
    ) -> Iterator[TrailBatch]:
        """The trails of one length for some of the targets. Their next length is noted."""
        by_paths = self.choice.paths is not None
        if by_paths and self.keep is not None and len(numbers) > 1:
            # How many trails of a target were kept is known only when its search is over.
            for place in range(len(numbers)):
                one = slice(place, place + 1)
                led = None if guide is None else replace(guide, table=guide.table[one])
                yield from self.of_length(back, starts[one], wants, numbers[one], length, led, names)
            return
        counted = by_paths and self.keep is None
        quota = TrailQuota(
            wants.left[numbers] if counted else np.full(len(numbers), UNLIMITED, np.int64),
            np.full(len(numbers), UNLIMITED, np.int64),
        )
        had = np.zeros(len(numbers), dtype=np.bool_)
        found = self.backend.trails(
            back, starts, length, length, guide=guide, quota=quota, chunk=self.chunk, check=self.check
        )
        for batch in found:
            number = batch.row
            nodes = batch.nodes if names is None else names[batch.nodes]
            trails = turned_round(
                TrailBatch(wants.rows[numbers[number]], batch.offsets, batch.relationships, nodes),
                wants.goals[numbers[number]],
            )
            if self.keep is not None:
                kept = self.keep(trails)
                if by_paths:
                    kept &= self._within(number, kept, wants.left[numbers])
                chosen = np.flatnonzero(kept)
                trails, number = picked(trails, chosen), number[chosen]
                if by_paths:
                    np.subtract.at(wants.left, numbers[number], 1)
            had[number] = True
            if len(number):
                yield trails
            if by_paths and not counted and not (wants.left[numbers] > 0).any():
                break
        if counted:
            wants.left[numbers] = quota.left
        elif not by_paths:
            wants.left[numbers[had]] -= 1
        if guide is not None:
            wants.length[numbers] = np.maximum(quota.beyond, length + 1)

    @staticmethod
    def _within(number: Positions, kept: Booleans, left: Positions) -> Booleans:
        """Which of the kept trails their targets still want."""
        before: Positions = np.cumsum(kept) - kept
        first = np.searchsorted(number, number)
        within: Booleans = before - before[first] < left[number]
        return within

    def _way_back(self, source: int, depth: int) -> tuple[Hop, Guide]:
        """The hop from the targets back, and the distances to the source up to `depth`."""
        start = np.array([source], dtype=np.int64)
        found = self.backend.bfs_levels(self.hop, start * 0, start, depth, mark_starts=True, check=self.check)
        order = np.argsort(found.nodes)
        nodes, levels = found.nodes[order], found.level[order].astype(np.int64)
        guide = Guide(self.hop.node_count, start * 0, nodes, levels, found.depth)
        if not self.hop.has_mask:
            return self.turned, guide
        made = nodes[levels < found.depth]
        hop = self.hop

        def allowed(relationships: Positions, to_nodes: Positions, from_nodes: Positions) -> Booleans:
            # A step that the search did not reach is let through: the guide knows that it leads too far.
            kept = np.ones(len(relationships), dtype=np.bool_)
            some = np.flatnonzero(in_sorted(from_nodes, made))
            if hop.relationship_mask is not None and len(some):
                kept[some] = hop.relationship_mask(relationships[some], from_nodes[some], to_nodes[some])
            some = some[kept[some]]
            if hop.node_mask is not None and len(some):
                kept[some] = hop.node_mask(to_nodes[some])
            return kept

        return replace(self.turned, relationship_mask=allowed), guide


class _Ways:
    """Steps (from, relationship, to) that lead from one level to the next, as a graph to be followed back."""

    def __init__(self, steps: list[_Steps]) -> None:
        from_nodes, relationships, to_nodes = (np.concatenate(column) for column in zip(*steps, strict=True))
        self.names = np.unique(np.concatenate((from_nodes, to_nodes)))
        order = np.argsort(to_nodes, kind="stable")
        incidence = Incidence(
            indptr=np.searchsorted(to_nodes[order], np.append(self.names, self.names[-1] + 1)).astype(np.int64),
            neighbours=np.searchsorted(self.names, from_nodes[order]).astype(np.int32),
            types=np.zeros(len(order), dtype=np.int32),
            relationships=relationships[order],
        )
        self.hop = Hop(Side.OUTGOING, outgoing=Adjacency(len(self.names), (incidence,)))


def _joined(forwards: Search, backwards: Search, meeting: Positions, row: int) -> TrailBatch:
    """One path through a node where two searches met."""
    relationships, nodes = (part[0] for part in forwards.paths_to(meeting, forwards.depth))
    after, before = (part[0][::-1] for part in backwards.paths_to(meeting, backwards.depth))
    # Backwards, a node comes after the relationship that leads on from it.
    ahead = np.append(before[1:], backwards.levels[0]) if len(before) else before
    length = forwards.depth + backwards.depth
    return TrailBatch(
        np.array([row], dtype=np.int64),
        np.array([0, length], dtype=np.int64),
        np.concatenate((relationships, after)),
        np.concatenate((nodes, ahead)),
    )
