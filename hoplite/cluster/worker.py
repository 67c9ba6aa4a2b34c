"""What runs in a worker: a version of the database, opened for reading, and the kernels and plans it is asked to run.

A worker keeps nothing between calls but the open database and the rest of results that are being read, so a call can be
repeated after a restart, until some rows of its result have been used.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hoplite.api.limits import Limits
from hoplite.cluster.packing import Packed, pack, portable, unpack
from hoplite.cluster.pinned import PinnedDatabase
from hoplite.cluster.pool import Check
from hoplite.engine.batch import Batch
from hoplite.engine.guard import Guarded
from hoplite.engine.hops.interface import (
    Excluded,
    Hop,
    NodeBatch,
    Positions,
    SearchLevels,
    Side,
    Steps,
    TrailBatch,
)
from hoplite.engine.hops.scratch import borrowed
from hoplite.engine.hops.select import anticipate, backend_named
from hoplite.engine.prepare import Prepared
from hoplite.engine.read_plans import prepare_plan
from hoplite.errors import CypherError, transaction_terminated
from hoplite.storage.disk.graph import Version

# How many built plans are kept, by their text; and how many calls that were cancelled before they began.
_KEPT_PLANS, _KEPT_STOPS = 256, 1024
# A piece of a result ends with this many rows, or after this many seconds if there are some.
_PIECE_ROWS, _PIECE_S = 32_768, 0.05


class HopOf(NamedTuple):
    """A hop without its arrays: every process has the same version of the graph, and so the same codes of types."""

    side: str
    types: tuple[int, ...] | None


class Entered(NamedTuple):
    """Distinct nodes one hop from others: each, the node that it was entered from, and the relationship."""

    nodes: NDArray[np.int32] | Positions
    owners: NDArray[np.int32] | Positions
    relationships: Positions


class Bounds(NamedTuple):
    """What a statement may use in a worker."""

    seconds: float | None
    memory_bytes: int | None


class Failed(NamedTuple):
    """A Cypher error on its way to the calling process."""

    error: CypherError


class Work(NamedTuple):
    """What a call cost the worker."""

    seconds: float
    items: int


class Piece(NamedTuple):
    """Some of what a method yields; `Worker.more` has the rest, unless this is the last."""

    items: list[Any]
    is_last: bool
    work: Work


class Worker:
    """Created once in each process of a cluster."""

    def __init__(self, path: str, version: Version, memory: str | int | None) -> None:
        self._database = PinnedDatabase(path, at=version, memory=memory)
        self._graph = self._database.snapshot()
        self._hops: dict[HopOf, Hop] = {}
        self._plans: OrderedDict[str, Prepared] = OrderedDict()
        self._stops: OrderedDict[int, threading.Event] = OrderedDict()  # of calls that run, or were stopped before
        self._open: dict[int, Iterator[Any]] = {}  # results of which some pieces have been asked for
        self._changing = threading.Lock()
        anticipate("auto")

    def ready(self) -> bool:
        """Whether it can take calls."""
        return True

    def echo(self, content: Any) -> Any:
        """Return what was sent, to measure the connection."""
        return content

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def stop(self, call: int) -> None:
        """End a call that is running or has not started, and forget the rest of its result."""
        with self._changing:
            self._open.pop(call, None)
            self._stops.setdefault(call, threading.Event()).set()
            while len(self._stops) > _KEPT_STOPS:
                self._stops.popitem(last=False)

    def loads(self) -> dict[str, Any]:
        """The cache's counters, and the number of the process."""
        return {**self._database.stats(), "process": os.getpid()}

    # --- hops ---

    def neighbours(self, call: int, of: HopOf, frontier: Packed) -> tuple[Packed, Work]:
        """The distinct nodes one hop from those of a frontier."""
        begin = time.perf_counter()
        nodes = unpack(frontier)
        hop = self._hop(of)
        with self._running(call) as check:
            found = backend_named("auto").bfs_nodes(hop, nodes, 1, mark_starts=False, check=check)
        return pack(found, hop.node_count), Work(time.perf_counter() - begin, len(nodes))

    def searches(
        self, call: int, of: HopOf, offsets: Positions, sources: Positions, upper: int | None, mark_starts: bool
    ) -> tuple[NodeBatch, Work]:
        """Whole searches, one for each group of sources."""
        begin = time.perf_counter()
        kernels, hop = backend_named("auto"), self._hop(of)
        with self._running(call) as check:
            if len(offsets) == 2:
                nodes = kernels.bfs_nodes(hop, sources, upper, mark_starts=mark_starts, check=check)
                found = NodeBatch(np.array((0, len(nodes)), np.int64), _narrow(nodes, hop.node_count))
            else:
                found = kernels.bfs_batch(hop, offsets, sources, upper, mark_starts=mark_starts, check=check)
        return found, Work(time.perf_counter() - begin, len(sources))

    def levels(
        self, call: int, of: HopOf, groups: Positions, sources: Positions, upper: int | None, mark_starts: bool
    ) -> tuple[SearchLevels, Work]:
        """The same with the distance of each node."""
        begin = time.perf_counter()
        with self._running(call) as check:
            found = backend_named("auto").bfs_levels(
                self._hop(of), groups, sources, upper, mark_starts=mark_starts, check=check
            )
        return found, Work(time.perf_counter() - begin, len(sources))

    def steps(self, call: int, of: HopOf, nodes: Positions) -> tuple[Steps, Work]:
        """One hop from each node."""
        begin = time.perf_counter()
        found = backend_named("auto").expand(self._hop(of), nodes)
        return found, Work(time.perf_counter() - begin, len(nodes))

    def count_trails(
        self, call: int, of: HopOf, sources: Positions, lower: int, upper: int | None
    ) -> tuple[Positions, Work]:
        """How many trails there are from each source."""
        begin = time.perf_counter()
        with self._running(call) as check:
            counts = backend_named("auto").count_trails(self._hop(of), sources, lower, upper, check=check)
        return counts, Work(time.perf_counter() - begin, len(sources))

    def entered(self, call: int, of: HopOf, frontier: Packed) -> tuple[Entered, Work]:
        """The distinct nodes one hop from those of a frontier, none of these, and how each is entered."""
        begin = time.perf_counter()
        nodes = unpack(frontier)
        hop = self._hop(of)
        with self._running(call) as check, borrowed(hop.node_count) as scratch:
            search = backend_named("auto").search(hop, nodes, scratch)
            found = search.step(check).astype(np.int64)
            owners, relationships = scratch.owner[found], scratch.label[found]
            search.clear()
        count = hop.node_count
        answer = Entered(_narrow(found, count), _narrow(owners, count), relationships)
        return answer, Work(time.perf_counter() - begin, len(nodes))

    # --- results in pieces ---

    def begin(self, call: int, method: str, arguments: tuple[Any, ...]) -> Piece:
        """The first piece of what `trails` or `run` yields."""
        made: dict[str, Callable[..., Iterator[Any]]] = {"trails": self._trails, "run": self._run}
        return self._piece(call, made[method](call, *arguments))

    def more(self, call: int) -> Piece | None:
        """The next piece; None if this worker did not begin it: it was restarted."""
        with self._changing:
            coming = self._open.pop(call, None)
        return None if coming is None else self._piece(call, coming)

    def run_several(
        self, call: int, plan: str, parameter_sets: Sequence[Mapping[str, Any]], bounds: Bounds
    ) -> list[Piece]:
        """The results of a plan for several sets of parameters, or for the first of them: not many more rows than
        those of a piece. Only the last result may be incomplete."""
        pieces: list[Piece] = []
        rows = 0
        for parameters in parameter_sets:
            stop = self._stop_of(call)
            piece = self._piece(call, self._run(call, plan, parameters, bounds))
            pieces.append(piece)
            rows += piece.work.items
            has_failed = bool(piece.items) and isinstance(piece.items[-1], Failed)
            if has_failed or not piece.is_last or rows >= _PIECE_ROWS or stop.is_set():
                break
        return pieces

    def _piece(self, call: int, coming: Iterator[Any]) -> Piece:
        begin = time.perf_counter()
        items: list[Any] = []
        rows, is_last = 0, False
        while rows < _PIECE_ROWS and not (items and time.perf_counter() - begin > _PIECE_S):
            one = next(coming, None)
            if one is None:
                is_last = True
                break
            items.append(one)
            rows += one.row_count if isinstance(one, Batch) else len(one.row) if isinstance(one, TrailBatch) else 0
        with self._changing:
            if is_last:
                self._stops.pop(call, None)
            elif call not in self._stops or not self._stops[call].is_set():
                self._open[call] = coming
        return Piece(items, is_last, Work(time.perf_counter() - begin, rows))

    def _trails(
        self, call: int, of: HopOf, sources: Positions, lower: int, upper: int | None, excluded: Excluded, chunk: int
    ) -> Iterator[TrailBatch]:
        """The trails from each source in batches."""
        check = _checked(self._stop_of(call))
        return backend_named("auto").trails(
            self._hop(of), sources, lower, upper, excluded=excluded, chunk=chunk, check=check
        )

    def _run(self, call: int, plan: str, parameters: Mapping[str, Any], bounds: Bounds) -> Iterator[Batch | Failed]:
        """The rows of a plan in batches; an error ends it."""
        limits = Limits(timeout=bounds.seconds, memory_bytes=bounds.memory_bytes, read_only=True)
        try:
            execution, batches = self._database.start(self._prepared(plan), parameters, limits, self._stop_of(call))
            while True:
                with Guarded(execution):
                    batch = next(batches, None)
                    sent = None if batch is None else portable(batch)
                if sent is None:
                    return
                yield sent
        except CypherError as error:
            yield Failed(error)

    # --- inside ---

    def _prepared(self, plan: str) -> Prepared:
        known = self._plans.get(plan)
        if known is None:
            known = self._plans[plan] = prepare_plan(plan, *self._database.builders())
            if len(self._plans) > _KEPT_PLANS:
                self._plans.popitem(last=False)
        return known

    def _hop(self, of: HopOf) -> Hop:
        hop = self._hops.get(of)
        if hop is None:
            types = None if of.types is None else np.array(of.types, np.int32)
            hop = Hop(Side(of.side), self._graph.adjacency(True), self._graph.adjacency(False), types)
            self._hops[of] = hop
        return hop

    def _stop_of(self, call: int) -> threading.Event:
        with self._changing:
            return self._stops.setdefault(call, threading.Event())

    @contextmanager
    def _running(self, call: int) -> Iterator[Check]:
        """While a call runs: the check that ends it when it is stopped."""
        try:
            yield _checked(self._stop_of(call))
        finally:
            with self._changing:
                self._stops.pop(call, None)


def _checked(stop: threading.Event) -> Check:
    def check() -> None:
        if stop.is_set():
            raise transaction_terminated()

    return check


def _narrow(nodes: Positions, node_count: int) -> NDArray[np.int32] | Positions:
    return nodes.astype(np.int32) if node_count < 2**31 else nodes
