"""What runs in a worker: a version of the database, opened for reading, and the kernels and plans it is asked to run.

A worker keeps nothing between calls but the open database, so a call can be repeated after a restart.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hoplite.api.limits import Limits
from hoplite.cluster.packing import Packed, pack, portable, unpack
from hoplite.cluster.pinned import PinnedDatabase
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

# How many built plans are kept, by their text; and how many cancelled calls a worker remembers.
_KEPT_PLANS, _KEPT_STOPS = 256, 1024


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


class Worker:
    """Created once in each process of a cluster."""

    def __init__(self, path: str, version: Version, memory: str | int | None) -> None:
        self._database = PinnedDatabase(path, at=version, memory=memory)
        self._graph = self._database.snapshot()
        self._hops: dict[HopOf, Hop] = {}
        self._plans: OrderedDict[str, Prepared] = OrderedDict()
        self._stops: OrderedDict[int, threading.Event] = OrderedDict()
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
        """End a call that is running, or has not started."""
        self._stop_of(call).set()

    def loads(self) -> dict[str, Any]:
        """The cache's counters."""
        return self._database.stats()

    # --- hops ---

    def neighbours(self, call: int, of: HopOf, frontier: Packed) -> tuple[Packed, Work]:
        """The distinct nodes one hop from those of a frontier."""
        begin = time.perf_counter()
        nodes = unpack(frontier)
        hop = self._hop(of)
        found = backend_named("auto").bfs_nodes(hop, nodes, 1, mark_starts=False, check=self._check(call))
        return pack(found, hop.node_count), Work(time.perf_counter() - begin, len(nodes))

    def searches(
        self, call: int, of: HopOf, offsets: Positions, sources: Positions, upper: int | None, mark_starts: bool
    ) -> tuple[NodeBatch, Work]:
        """Whole searches, one for each group of sources."""
        begin = time.perf_counter()
        kernels, hop, check = backend_named("auto"), self._hop(of), self._check(call)
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
        check = self._check(call)
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
        counts = backend_named("auto").count_trails(self._hop(of), sources, lower, upper, check=self._check(call))
        return counts, Work(time.perf_counter() - begin, len(sources))

    def entered(self, call: int, of: HopOf, frontier: Packed) -> tuple[Entered, Work]:
        """The distinct nodes one hop from those of a frontier, none of these, and how each is entered."""
        begin = time.perf_counter()
        nodes = unpack(frontier)
        hop = self._hop(of)
        with borrowed(hop.node_count) as scratch:
            search = backend_named("auto").search(hop, nodes, scratch)
            found = search.step(self._check(call)).astype(np.int64)
            owners, relationships = scratch.owner[found], scratch.label[found]
            search.clear()
        count = hop.node_count
        answer = Entered(_narrow(found, count), _narrow(owners, count), relationships)
        return answer, Work(time.perf_counter() - begin, len(nodes))

    def trails(
        self, call: int, of: HopOf, sources: Positions, lower: int, upper: int | None, excluded: Excluded, chunk: int
    ) -> Iterator[TrailBatch | Work]:
        """The trails from each source in batches, then what they cost."""
        begin = time.perf_counter()
        hop, check = self._hop(of), self._check(call)
        yield from backend_named("auto").trails(hop, sources, lower, upper, excluded=excluded, chunk=chunk, check=check)
        yield Work(time.perf_counter() - begin, len(sources))

    # --- statements ---

    def run(
        self, call: int, plan: str, parameters: Mapping[str, Any], bounds: Bounds
    ) -> Iterator[Batch | Failed | Work]:
        """The rows of a plan in batches, then its cost; an error ends it."""
        begin = time.perf_counter()
        limits = Limits(timeout=bounds.seconds, memory_bytes=bounds.memory_bytes, read_only=True)
        rows = 0
        try:
            execution, batches = self._database.start(self._prepared(plan), parameters, limits, self._stop_of(call))
            while True:
                with Guarded(execution):
                    batch = next(batches, None)
                    sent = None if batch is None else portable(batch)
                if sent is None:
                    break
                rows += sent.row_count
                yield sent
        except CypherError as error:
            yield Failed(error)
            return
        yield Work(time.perf_counter() - begin, rows)

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
            event = self._stops.setdefault(call, threading.Event())
            if len(self._stops) > _KEPT_STOPS:
                self._stops.popitem(last=False)
            return event

    def _check(self, call: int) -> Any:
        stop = self._stop_of(call)

        def check() -> None:
            if stop.is_set():
                raise transaction_terminated()

        return check


def _narrow(nodes: Positions, node_count: int) -> NDArray[np.int32] | Positions:
    return nodes.astype(np.int32) if node_count < 2**31 else nodes
