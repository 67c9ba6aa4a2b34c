"""Hops over workers: a single search runs level by level, many searches each run on the worker that owns their sources.

For a wide level, the nodes of the frontier go to their owners, each finds the distinct neighbours of its share, and
those not seen before are the next frontier. Narrow levels are taken in this process over the same files, and so are
searches with bounds, exclusions, or masks that workers cannot evaluate. Whatever fails in a worker is done again here,
where it fails as it would without workers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hoplite.cluster.calls import Calls
from hoplite.cluster.owned import described
from hoplite.cluster.owners import Owners
from hoplite.cluster.packing import (
    Packed,
    are_shorter_as_bits,
    as_bits,
    enter_all,
    narrow,
    pack,
    unpack_all,
    unpack_column,
)
from hoplite.cluster.placing import WIDE_STEPS, Split, likely_steps
from hoplite.cluster.pool import Check, Pool
from hoplite.cluster.search import SharedSearch
from hoplite.cluster.steps import StepMask
from hoplite.cluster.worker import Asked, Entered, Failed, HopOf, Kept, Setting
from hoplite.engine.functions.registry import Function
from hoplite.engine.hops.interface import (
    UNLIMITED,
    Excluded,
    Guide,
    Hop,
    NodeBatch,
    Positions,
    SearchLevels,
    SettledSearch,
    Steps,
    TrailBatch,
    TrailQuota,
    unchecked,
)
from hoplite.engine.hops.masks import RememberedRelationships
from hoplite.engine.hops.scratch import Scratch, borrowed
from hoplite.engine.hops.search import Search
from hoplite.engine.hops.select import AutoBackend
from hoplite.engine.hops.spread import Spread
from hoplite.errors import CypherError
from hoplite.planner import physical as pp
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.transaction import Transaction
from hoplite.values.columns import Column, concatenate

# From this many likely steps, a level of a search is worth a message to each worker.
_SHARED_STEPS = 100_000
# A search from this many nodes is left to this process up to three levels, less if more steps than these are likely.
_FEW_SOURCES, _MOST_HERE, _FEW_STEPS = 16, 3, 1_000
# From this many nodes, a single hop is worth one.
_FEWEST_ROWS = 4096
# Sources whose first steps are taken together.
_ROWS_AT_ONCE = 4096


class FailedElsewhere(Exception):
    """An expression failed in a worker."""

    def __init__(self, error: CypherError) -> None:
        super().__init__(error)
        self.error = error


class Levelled(NamedTuple):
    """The nodes that a search entered, by level, and how many each level has. `is_open`: there may be more beyond the
    last."""

    nodes: Positions
    counts: Positions
    is_open: bool


class ClusterBackend(AutoBackend):
    """The workers of one cluster, over one version of the graph."""

    name = "cluster"

    def __init__(self, pool: Pool, graph: Snapshot, split: Split, holds_all: bool = True) -> None:
        """`holds_all`: whether this process may hold the whole database."""
        super().__init__()
        self._holds_all = holds_all
        self.calls = Calls(pool)
        self._workers = pool.size
        self._split = split
        self._adjacencies = graph.adjacency(True), graph.adjacency(False)
        self._relationship_count = graph.relationship_count
        self.owners = Owners(self._adjacencies[0], pool.size)

    # --- the operations of a backend ---

    def expand(self, hop: Hop, nodes: Positions) -> Steps:
        if not self._is_ours(hop) or len(nodes) < _FEWEST_ROWS:
            return super().expand(hop, nodes)
        of = _hop_of(hop)
        shares = self._shares(nodes)
        try:
            found = self._ask("steps", [(worker, (of, nodes[rows])) for worker, rows in shares], unchecked)
        except FailedElsewhere:
            return super().expand(hop, nodes)
        steps = Steps(
            np.concatenate([rows[one.row] for (_, rows), one in zip(shares, found, strict=True)]),
            np.concatenate([one.relationships for one in found]),
            np.concatenate([one.neighbours for one in found]),
        )
        order = np.argsort(steps.row, kind="stable")
        return Steps(*(column[order] for column in steps))

    def bfs_nodes(
        self, hop: Hop, sources: Positions, upper: int | None, *, mark_starts: bool, check: Check = unchecked
    ) -> Positions:
        if not self._is_ours(hop) or not len(sources):
            return super().bfs_nodes(hop, sources, upper, mark_starts=mark_starts, check=check)
        if upper is not None and upper <= self._levels_here(hop, sources):
            return super().bfs_nodes(hop, sources, upper, mark_starts=mark_starts, check=check)
        if self._split != "never":
            try:
                return self._exchange(hop, sources, upper, mark_starts, check).nodes
            except FailedElsewhere:
                return super().bfs_nodes(hop, sources, upper, mark_starts=mark_starts, check=check)
        offsets = np.array((0, len(sources)), np.int64)
        return self.bfs_batch(hop, offsets, sources, upper, mark_starts=mark_starts, check=check).nodes.astype(np.int64)

    def settled_search(self, hop: Hop, upper: int | None, mark_starts: bool) -> SettledSearch | None:
        return None  # the sources decide who searches

    def bfs_levels(
        self,
        hop: Hop,
        groups: Positions,
        sources: Positions,
        upper: int | None,
        *,
        mark_starts: bool,
        excluded: Excluded | None = None,
        budget: int | None = None,
        check: Check = unchecked,
    ) -> SearchLevels:
        if self._is_ours(hop) and len(groups) and excluded is None and budget is None:
            with suppress(FailedElsewhere):
                return self._shared_levels(hop, groups, sources, upper, mark_starts, check)
        return super().bfs_levels(
            hop, groups, sources, upper, mark_starts=mark_starts, excluded=excluded, budget=budget, check=check
        )

    def _shared_levels(
        self, hop: Hop, groups: Positions, sources: Positions, upper: int | None, mark_starts: bool, check: Check
    ) -> SearchLevels:
        if groups[0] == groups[-1] and self._split != "never":
            nodes, counts, is_open = self._exchange(hop, sources, upper, mark_starts, check)
            level = np.repeat(np.arange(len(counts)), counts)
            reached = len(counts) - 1 if is_open else UNLIMITED
            return SearchLevels(np.full(len(nodes), groups[0], np.int64), nodes, level, reached)
        of = _hop_of(hop)
        shares = self._group_shares(groups, sources)
        asked = [(worker, (of, groups[rows], sources[rows], upper, mark_starts)) for worker, rows in shares]
        answers = self._ask("levels", asked, check)
        group, nodes, level = (np.concatenate([one[part] for one in answers]) for part in range(3))
        order = np.argsort(group, kind="stable")
        return SearchLevels(group[order], nodes[order], level[order], min(one.depth for one in answers))

    def bfs_batch(
        self,
        hop: Hop,
        offsets: Positions,
        sources: Positions,
        upper: int | None,
        *,
        mark_starts: bool,
        check: Check = unchecked,
    ) -> NodeBatch:
        if self._is_ours(hop) and len(sources):
            with suppress(FailedElsewhere):
                return self._shared_searches(hop, offsets, sources, upper, mark_starts, check)
        return super().bfs_batch(hop, offsets, sources, upper, mark_starts=mark_starts, check=check)

    def _shared_searches(
        self, hop: Hop, offsets: Positions, sources: Positions, upper: int | None, mark_starts: bool, check: Check
    ) -> NodeBatch:
        of = _hop_of(hop)
        sizes = np.diff(offsets)
        groups = np.repeat(np.arange(len(sizes)), sizes)
        shares = self._group_shares(groups, sources)
        asked = []
        for worker, rows in shares:
            counts = np.bincount(groups[rows], minlength=len(sizes))[_distinct_sorted(groups[rows])]
            asked.append((worker, (of, _offsets(counts), sources[rows], upper, mark_starts)))
        answers = self._ask("searches", asked, check)
        counts = np.zeros(len(sizes), np.int64)
        for (_, rows), one in zip(shares, answers, strict=True):
            counts[_distinct_sorted(groups[rows])] = np.diff(one.offsets)
        ends = _offsets(counts)
        nodes = np.empty(ends[-1], np.int32 if all(one.nodes.dtype == np.int32 for one in answers) else np.int64)
        for (_, rows), one in zip(shares, answers, strict=True):
            for number, group in enumerate(_distinct_sorted(groups[rows]).tolist()):
                nodes[ends[group] : ends[group + 1]] = one.nodes[one.offsets[number] : one.offsets[number + 1]]
        return NodeBatch(ends, nodes)

    def count_trails(
        self,
        hop: Hop,
        sources: Positions,
        lower: int,
        upper: int | None,
        *,
        excluded: Excluded | None = None,
        check: Check = unchecked,
    ) -> Positions:
        if not self._is_ours(hop) or excluded is not None or len(sources) < _FEWEST_ROWS:
            return super().count_trails(hop, sources, lower, upper, excluded=excluded, check=check)
        of = _hop_of(hop)
        shares = self._shares(sources)
        asked = [(worker, (of, sources[rows], lower, upper)) for worker, rows in shares]
        try:
            found = self._ask("count_trails", asked, check)
        except FailedElsewhere:
            return super().count_trails(hop, sources, lower, upper, excluded=excluded, check=check)
        counts = np.empty(len(sources), np.int64)
        for (_, rows), one in zip(shares, found, strict=True):
            counts[rows] = one
        return counts

    def trails(
        self,
        hop: Hop,
        sources: Positions,
        lower: int,
        upper: int | None,
        *,
        guide: Guide | None = None,
        excluded: Excluded | None = None,
        quota: TrailQuota | None = None,
        chunk: int = 4096,
        check: Check = unchecked,
    ) -> Iterator[TrailBatch]:
        is_free = guide is None and quota is None and (upper is None or upper > 1)
        if not is_free or not self._is_ours(hop) or not len(sources) or not self._is_wide(sources, upper):
            return super().trails(
                hop, sources, lower, upper, guide=guide, excluded=excluded, quota=quota, chunk=chunk, check=check
            )
        return self._shared_trails(hop, sources, lower, upper, excluded, chunk, check)

    def search(self, hop: Hop, source: int | Positions, scratch: Scratch) -> Search:
        return SharedSearch(self, hop, source, scratch) if self._is_ours(hop) else super().search(hop, source, scratch)

    # --- trails across workers ---

    def _shared_trails(
        self,
        hop: Hop,
        sources: Positions,
        lower: int,
        upper: int | None,
        excluded: Excluded | None,
        chunk: int,
        check: Check,
    ) -> Iterator[TrailBatch]:
        """The first step is taken here; the owner of the node it leads to continues without its relationship. If a
        condition fails there, all trails are followed here, for its error."""
        try:
            yield from self._trails_by_owners(hop, sources, lower, upper, excluded, chunk, check)
        except FailedElsewhere as failure:
            for _ in super().trails(hop, sources, lower, upper, excluded=excluded, chunk=chunk, check=check):
                check()
            raise failure.error from None

    def _trails_by_owners(
        self,
        hop: Hop,
        sources: Positions,
        lower: int,
        upper: int | None,
        excluded: Excluded | None,
        chunk: int,
        check: Check,
    ) -> Iterator[TrailBatch]:
        nothing = sources[:0]
        if lower == 0:
            count = len(sources)
            yield TrailBatch(np.arange(count), np.zeros(count + 1, np.int64), nothing, nothing)
        for begin in range(0, len(sources), _ROWS_AT_ONCE):
            check()
            first = self.expand(hop, sources[begin : begin + _ROWS_AT_ONCE])
            first = first._replace(row=first.row + begin)
            if excluded is not None:
                allowed = ~excluded.contains(first.row, first.relationships)
                first = Steps(*(column[allowed] for column in first))
            if lower <= 1:
                yield TrailBatch(
                    first.row, np.arange(len(first.row) + 1, dtype=np.int64), first.relationships, first.neighbours
                )
            longer = max(lower - 1, 1), None if upper is None else upper - 1
            yield from self._continued(_hop_of(hop), first, longer, excluded, chunk, check)

    def _continued(
        self,
        of: HopOf,
        first: Steps,
        bounds: tuple[int, int | None],
        excluded: Excluded | None,
        chunk: int,
        check: Check,
    ) -> Iterator[TrailBatch]:
        """The trails that begin with the given steps and have this many more."""
        used = Excluded(np.arange(len(first.row) + 1, dtype=np.int64), first.relationships)
        if excluded is not None:
            used = _both(used, excluded.take(first.row))
        shares = self._shares(first.neighbours)
        streams = deque(
            (
                rows,
                self.calls.stream(
                    worker, "trails", (of, first.neighbours[rows], *bounds, used.take(rows), chunk), check
                ),
            )
            for worker, rows in shares
        )
        while streams:
            rows, coming = streams.popleft()
            batch = next(coming, None)
            if isinstance(batch, Failed):
                raise FailedElsewhere(batch.error)
            if batch is not None:
                begun = rows[batch.row]
                yield _behind(batch, first.row[begun], first.relationships[begun], first.neighbours[begun])
                streams.append((rows, coming))

    # --- a search across workers ---

    @property
    def mean_degree(self) -> float:
        return self._relationship_count / max(self._adjacencies[0].node_count, 1)

    def shares_level(self, hop: Hop, frontier: NDArray[np.int32] | Positions) -> bool:
        if self._split != "auto":
            return self._split == "always"
        return len(frontier) * len(hop.sides) * max(self.mean_degree, 1.0) >= _SHARED_STEPS

    def entered(self, hop: Hop, frontier: Positions, check: Check) -> Sequence[Entered] | None:
        of = _hop_of(hop)
        shares = [(worker, (of, pack(frontier[rows], hop.node_count))) for worker, rows in self._shares(frontier)]
        try:
            return self._ask("entered", shares, check)
        except FailedElsewhere:
            return None

    def _exchange(self, hop: Hop, sources: Positions, upper: int | None, mark_starts: bool, check: Check) -> Levelled:
        """The nodes that a search enters, by level; level 0 has the sources if they count as entered."""
        with borrowed(hop.node_count) as scratch:
            entered = self.spread(hop, scratch)
            frontier: NDArray[np.int32] | Positions = sources
            if mark_starts:
                entered.enter(sources)
                frontier = entered.queue
            ends = [entered.count]
            while len(frontier) and (upper is None or len(ends) <= upper):
                check()
                self._take_level(entered, frontier, check)
                frontier = entered.queue[ends[-1] :]
                ends.append(entered.count)
            found = Levelled(entered.queue.astype(np.int64), np.diff(ends, prepend=0), is_open=bool(len(frontier)))
            entered.clear()
        return found

    def _levels_here(self, hop: Hop, sources: Positions) -> int:
        """How many levels of a search are likely to be narrow: one that ends with them is left to one process."""
        if self._split != "auto" or len(sources) > _FEW_SOURCES:
            return 0
        degree = max(len(hop.sides) * self.mean_degree, 1.0)
        return next(
            level for level in range(_MOST_HERE + 1) if level == _MOST_HERE or degree ** (level + 1) > _FEW_STEPS
        )

    def _take_level(self, entered: Spread, frontier: NDArray[np.int32] | Positions, check: Check) -> None:
        """Enter the nodes one hop from a frontier, with the help of the workers if there are many."""
        hop = entered.hop
        if not self.shares_level(hop, frontier):
            entered.step(frontier, check)
            return
        of = _hop_of(hop)
        asked = [(worker, (of, share)) for worker, share in self._packed_shares(frontier, hop.node_count)]
        enter_all(entered, self._ask("neighbours", asked, check))

    def _packed_shares(self, nodes: NDArray[np.int32] | Positions, node_count: int) -> list[tuple[int, Packed]]:
        """(worker, the nodes it owns) for each worker that owns some."""
        if are_shorter_as_bits(len(nodes) // self._workers, node_count):
            bits = as_bits(nodes, node_count)
            shares = [(worker, bits & self.owners.bits(worker, node_count)) for worker in range(self._workers)]
            return [(worker, Packed(share, True)) for worker, share in shares if share.any()]
        return [(worker, pack(nodes.take(rows), node_count)) for worker, rows in self._shares(nodes)]

    # --- conditions and values ---

    def asks_owners(self, graph: Snapshot | Transaction, rows: int, is_condition: bool) -> bool:
        """Whether owners evaluate an expression for this many nodes or relationships of a graph, which must be their
        version. Values, which take more to send than to read, are asked for only if this process cannot hold the
        database."""
        if graph.adjacency(True) is not self._adjacencies[0]:
            return False
        if self._split != "auto":
            return self._split == "always" and rows > 0
        return rows >= _FEWEST_ROWS and (is_condition or not self._holds_all)

    def terms_described(self, plan: pp.Plan, functions: Mapping[str, Function]) -> Iterator[str]:
        """Who evaluates the expressions of a plan that runs in this process."""
        fewest = {"always": 1, "auto": _FEWEST_ROWS, "never": None}[self._split]
        return described(plan, functions, fewest, self._split == "always" or not self._holds_all)

    def values(self, asked: Asked, positions: Positions, setting: Setting, check: Check) -> Column | None:
        """The value of an expression for each node or relationship; None if it fails for one of them."""
        known = np.maximum(positions, 0)  # any worker knows what a null is
        owner = self.owners.of(known) if asked.of_nodes else self.owners.of_relationships(known)
        shares = self._rows_by_worker(owner)
        sent = [(worker, (asked, narrow(positions[rows]), setting)) for worker, rows in shares]
        try:
            answers = self._ask("values", sent, check)
        except FailedElsewhere:
            return None
        found = concatenate([unpack_column(answer) for answer in answers])
        if len(shares) == 1:
            return found
        place = np.empty(len(positions), np.int64)
        place[np.concatenate([rows for _, rows in shares])] = np.arange(len(positions))
        return found.take(place)

    def kept(self, asked: Sequence[Asked], nodes: Positions, setting: Setting, check: Check) -> Kept[Positions] | None:
        """Those of distinct nodes that meet some conditions; None if one of them fails."""
        node_count = self._adjacencies[0].node_count
        sent = [(worker, (asked, share, setting)) for worker, share in self._packed_shares(nodes, node_count)]
        try:
            answers = self._ask("kept", sent, check)
        except FailedElsewhere:
            return None
        return Kept(unpack_all([answer.nodes for answer in answers]), sum(answer.counts for answer in answers))

    def _ask(self, method: str, asked: Sequence[tuple[int, tuple[Any, ...]]], check: Check) -> list[Any]:
        """The answers of several workers; `FailedElsewhere` if an expression failed in one of them."""
        answers = self.calls.ask(method, asked, check)
        for answer in answers:
            if isinstance(answer, Failed):
                raise FailedElsewhere(answer.error)
        return answers

    # --- whose ---

    def _is_ours(self, hop: Hop) -> bool:
        """Whether workers have the arrays of this hop, and can evaluate the condition on each step if there is one."""
        ours = {None, *map(id, self._adjacencies)}
        return (not hop.has_mask or _mask_of(hop) is not None) and {id(side) for side in hop.sides} <= ours

    def _is_wide(self, sources: Positions, upper: int | None) -> bool:
        if self._split != "auto":
            return self._split == "always"
        return len(sources) * likely_steps(self.mean_degree, upper, self._relationship_count) >= WIDE_STEPS

    def _shares(self, nodes: NDArray[np.int32] | Positions) -> list[tuple[int, Positions]]:
        """(worker, which of the nodes it owns) for each worker that owns some."""
        return self._rows_by_worker(self.owners.of(nodes))

    def _rows_by_worker(self, owner: Positions) -> list[tuple[int, Positions]]:
        return [(worker, rows) for worker in range(self._workers) if len(rows := np.flatnonzero(owner == worker))]

    def _group_shares(self, groups: Positions, sources: Positions) -> list[tuple[int, Positions]]:
        """The same by whole groups, each with the owner of its first source; no worker gets far more than its share."""
        firsts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
        owner = self.owners.of(sources[firsts])
        most = -(-len(firsts) * 5 // (4 * self._workers))
        for worker in range(self._workers):
            beyond = np.flatnonzero(owner == worker)[most:]
            if len(beyond):
                order = np.argsort(np.bincount(owner, minlength=self._workers), kind="stable")
                others = order[order != worker]
                owner[beyond] = others[np.arange(len(beyond)) % len(others)] if len(others) else worker
        of_row = np.repeat(owner, np.diff(np.append(firsts, len(groups))))
        return self._rows_by_worker(of_row)


def _hop_of(hop: Hop) -> HopOf:
    mask = _mask_of(hop)
    types = None if hop.types is None else tuple(hop.types.tolist())
    return HopOf(hop.side.value, types, None if mask is None else mask.sent())


def _mask_of(hop: Hop) -> StepMask | None:
    """The condition on each step, if workers can evaluate it."""
    known = hop.relationship_mask
    if hop.node_mask is None and isinstance(known, RememberedRelationships) and isinstance(known.mask, StepMask):
        return known.mask
    return None


def _behind(batch: TrailBatch, rows: Positions, relationships: Positions, nodes: Positions) -> TrailBatch:
    """Trails with one more step at the start."""
    starts = batch.offsets[:-1]
    return TrailBatch(
        rows,
        batch.offsets + np.arange(len(batch.offsets)),
        np.insert(batch.relationships, starts, relationships),
        np.insert(batch.nodes, starts, nodes),
    )


def _both(one: Excluded, other: Excluded) -> Excluded:
    """What either excludes, for each row."""
    counts = np.diff(one.offsets), np.diff(other.offsets)
    rows = np.concatenate([np.repeat(np.arange(len(each)), each) for each in counts])
    order = np.argsort(rows, kind="stable")
    relationships = np.concatenate((one.relationships, other.relationships))[order]
    return Excluded.of_lists(_offsets(counts[0] + counts[1]), relationships)


def _offsets(counts: Positions) -> Positions:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _distinct_sorted(groups: Positions) -> Positions:
    return groups[np.flatnonzero(np.diff(groups, prepend=-1))]
