"""Hops over workers: a single search runs level by level, many searches each run on the worker that owns their sources.

For a level, the nodes of the frontier go to their owners, each finds the distinct neighbours of its share, and those
not seen before are the next frontier. Searches with masks, bounds or exclusions run in this process, over the same
files.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np

from hoplite.cluster.owners import Owners
from hoplite.cluster.packing import Packed, pack, unpack
from hoplite.cluster.placing import WIDE_STEPS, Split, likely_steps
from hoplite.cluster.pool import Check, Lost, Pool, worker_lost
from hoplite.cluster.search import SharedSearch
from hoplite.cluster.worker import Entered, HopOf, Work
from hoplite.engine.hops.interface import (
    UNLIMITED,
    Excluded,
    Guide,
    Hop,
    NodeBatch,
    Positions,
    SearchLevels,
    Steps,
    TrailBatch,
    TrailQuota,
    unchecked,
)
from hoplite.engine.hops.numpy_backend import NumpyBackend
from hoplite.engine.hops.scratch import Scratch, borrowed, distinct
from hoplite.engine.hops.search import Search
from hoplite.storage.snapshot import Snapshot

# How often a call is repeated after its worker has died.
_ATTEMPTS = 4
# From this many nodes, a single hop is worth a message.
_FEWEST_ROWS = 4096
# Sources whose first steps are taken together.
_ROWS_AT_ONCE = 4096

_numbers = count(1)


class Tally:
    """What each worker has done: calls, items, seconds, and bytes sent and received."""

    def __init__(self, workers: int) -> None:
        self.table = np.zeros((workers, 5))

    def add(self, worker: int, work: Work, sent: int, received: int) -> None:
        """Count a call."""
        self.table[worker] += (1, work.items, work.seconds, sent, received)

    def since(self, before: Tally) -> Tally:
        """What has been done since a copy was made."""
        left = Tally(len(self.table))
        left.table = self.table - before.table
        return left

    def copy(self) -> Tally:
        """The current counts."""
        return self.since(Tally(len(self.table)))

    def __str__(self) -> str:
        lines = [f"{'Worker':>6} {'Calls':>6} {'Items':>12} {'ms':>10} {'Sent':>12} {'Received':>12}"]
        for worker, (calls, items, seconds, sent, received) in enumerate(self.table.tolist()):
            lines.append(
                f"{worker:>6} {calls:>6,.0f} {items:>12,.0f} {1000 * seconds:>10,.2f} {sent:>12,.0f} {received:>12,.0f}"
            )
        return "\n".join(lines)


class ClusterBackend(NumpyBackend):
    """The workers of one cluster, over one version of the graph."""

    name = "cluster"

    def __init__(self, pool: Pool, graph: Snapshot, split: Split) -> None:
        self._pool = pool
        self._split = split
        self._adjacencies = graph.adjacency(True), graph.adjacency(False)
        self._relationship_count = graph.relationship_count
        self.owners = Owners(self._adjacencies[0], pool.size)
        self.tally = Tally(pool.size)

    # --- the operations of a backend ---

    def expand(self, hop: Hop, nodes: Positions) -> Steps:
        if not self._is_ours(hop) or len(nodes) < _FEWEST_ROWS:
            return super().expand(hop, nodes)
        of = _hop_of(hop)
        shares = self._shares(nodes)
        found = self._ask("steps", [(worker, (of, nodes[rows])) for worker, rows in shares], unchecked)
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
        if self._is_wide(sources, upper):
            return self._exchange(hop, sources, upper, mark_starts, check).nodes
        offsets = np.array((0, len(sources)), np.int64)
        return self.bfs_batch(hop, offsets, sources, upper, mark_starts=mark_starts, check=check).nodes.astype(np.int64)

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
        if not self._is_ours(hop) or not len(groups) or excluded is not None or budget is not None:
            return super().bfs_levels(
                hop, groups, sources, upper, mark_starts=mark_starts, excluded=excluded, budget=budget, check=check
            )
        if groups[0] == groups[-1] and self._is_wide(sources, upper):
            found = self._exchange(hop, sources, upper, mark_starts, check)
            return found._replace(group=np.full(len(found.nodes), groups[0], np.int64))
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
        if not self._is_ours(hop) or not len(sources):
            return super().bfs_batch(hop, offsets, sources, upper, mark_starts=mark_starts, check=check)
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
        found = self._ask(
            "count_trails", [(worker, (of, sources[rows], lower, upper)) for worker, rows in shares], check
        )
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
        """The first step is taken here; the owner of the node it leads to continues without its relationship."""
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
            (rows, self._stream(worker, "trails", (of, first.neighbours[rows], *bounds, used.take(rows), chunk), check))
            for worker, rows in shares
        )
        while streams:
            rows, coming = streams.popleft()
            batch = next(coming, None)
            if batch is not None:
                begun = rows[batch.row]
                yield _behind(batch, first.row[begun], first.relationships[begun], first.neighbours[begun])
                streams.append((rows, coming))

    # --- a search across workers ---

    @property
    def mean_degree(self) -> float:
        return self._relationship_count / max(self._adjacencies[0].node_count, 1)

    def shares_level(self, node_count: int) -> bool:
        return node_count >= _FEWEST_ROWS if self._split == "auto" else self._split == "always"

    def entered(self, hop: Hop, frontier: Positions, check: Check) -> Sequence[Entered]:
        of = _hop_of(hop)
        shares = [(worker, (of, pack(frontier[rows], hop.node_count))) for worker, rows in self._shares(frontier)]
        return self._ask("entered", shares, check)

    def _exchange(
        self, hop: Hop, sources: Positions, upper: int | None, mark_starts: bool, check: Check
    ) -> SearchLevels:
        of, node_count = _hop_of(hop), hop.node_count
        nodes, levels = [sources[:0]], [sources[:0]]
        with borrowed(node_count) as scratch:
            mark = scratch.mark
            frontier = sources[distinct(sources, scratch.owner)]
            if mark_starts:
                mark[frontier] = 1
                nodes.append(frontier)
                levels.append(np.zeros(len(frontier), np.int64))
            level = 0
            try:
                while len(frontier) and (upper is None or level < upper):
                    level += 1
                    entered = [frontier[:0]]
                    for packed in self._neighbours(of, frontier, node_count, check):
                        found = unpack(packed)
                        new = found[mark[found] == 0]
                        mark[new] = 1
                        entered.append(new)
                    frontier = np.concatenate(entered)
                    nodes.append(frontier)
                    levels.append(np.full(len(frontier), level, np.int64))
            finally:
                every = np.concatenate(nodes)
                mark[every] = 0
        depth = level if len(frontier) else UNLIMITED
        return SearchLevels(np.zeros(len(every), np.int64), every, np.concatenate(levels), depth)

    def _neighbours(self, of: HopOf, frontier: Positions, node_count: int, check: Check) -> Sequence[Packed]:
        shares = [(worker, (of, pack(frontier[rows], node_count))) for worker, rows in self._shares(frontier)]
        return self._ask("neighbours", shares, check)

    # --- asking ---

    def run(self, worker: int, arguments: tuple[Any, ...], check: Check) -> Iterator[Any]:
        """What `Worker.run` yields."""
        return self._stream(worker, "run", arguments, check)

    def _stream(self, worker: int, method: str, arguments: tuple[Any, ...], check: Check) -> Iterator[Any]:
        """What a method of a worker yields; the call is repeated if the worker dies before its first result."""
        call = next(_numbers)
        begun = self._pool.stream(worker, method, (call, *arguments), check)
        return self._read(worker, method, arguments, check, call, begun)

    def _read(
        self, worker: int, method: str, arguments: tuple[Any, ...], check: Check, call: int, coming: Iterator[Any]
    ) -> Iterator[Any]:
        for attempt in range(_ATTEMPTS):
            has_begun = False
            try:
                if attempt:
                    call = next(_numbers)
                    coming = self._pool.stream(worker, method, (call, *arguments), check)
                for one in coming:
                    if isinstance(one, Work):
                        self.tally.add(worker, one, 0, 0)
                        return
                    has_begun = True
                    yield one
                return
            except Lost:
                if has_begun or attempt == _ATTEMPTS - 1:
                    raise worker_lost() from None
                self._await_return(check)
            except BaseException:
                self._pool.tell(worker, "stop", call)
                raise

    def _ask(self, method: str, asked: Sequence[tuple[int, tuple[Any, ...]]], check: Check) -> list[Any]:
        """The answers of several workers to their requests; a worker that dies is asked again."""
        for _ in range(_ATTEMPTS):
            call = next(_numbers)
            try:
                calls = [(worker, method, (call, *arguments)) for worker, arguments in asked]
                answers = self._pool.call_each(calls, check)
            except Lost:
                self._await_return(check)
                continue
            except BaseException:
                for worker, _ in asked:
                    self._pool.tell(worker, "stop", call)
                raise
            for (worker, arguments), (answer, work) in zip(asked, answers, strict=True):
                self.tally.add(worker, work, _byte_count(arguments), _byte_count(answer))
            return [answer for answer, _ in answers]
        raise worker_lost()

    def _await_return(self, check: Check) -> None:
        try:
            self._pool.await_return(check)
        except Lost:
            raise worker_lost() from None

    def _is_ours(self, hop: Hop) -> bool:
        """Whether workers have the arrays of this hop, and there is no condition on each step."""
        ours = {None, *map(id, self._adjacencies)}
        return not hop.has_mask and {id(side) for side in hop.sides} <= ours

    def _is_wide(self, sources: Positions, upper: int | None) -> bool:
        if self._split != "auto":
            return self._split == "always"
        return len(sources) * likely_steps(self.mean_degree, upper, self._relationship_count) >= WIDE_STEPS

    def _shares(self, nodes: Positions) -> list[tuple[int, Positions]]:
        """(worker, which of the nodes it owns) for each worker that owns some."""
        owner = self.owners.of(nodes)
        return [(worker, rows) for worker in range(self._pool.size) if len(rows := np.flatnonzero(owner == worker))]

    def _group_shares(self, groups: Positions, sources: Positions) -> list[tuple[int, Positions]]:
        """The same by whole groups, each with the owner of its first source; no worker gets far more than its share."""
        firsts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
        owner = self.owners.of(sources[firsts])
        most = -(-len(firsts) * 5 // (4 * self._pool.size))
        for worker in range(self._pool.size):
            beyond = np.flatnonzero(owner == worker)[most:]
            if len(beyond):
                order = np.argsort(np.bincount(owner, minlength=self._pool.size), kind="stable")
                others = order[order != worker]
                owner[beyond] = others[np.arange(len(beyond)) % len(others)] if len(others) else worker
        of_row = np.repeat(owner, np.diff(np.append(firsts, len(groups))))
        return [(worker, rows) for worker in range(self._pool.size) if len(rows := np.flatnonzero(of_row == worker))]


def _hop_of(hop: Hop) -> HopOf:
    return HopOf(hop.side.value, None if hop.types is None else tuple(hop.types.tolist()))


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


def _byte_count(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    return sum(map(_byte_count, value)) if isinstance(value, tuple) else 0
