"""What runs in a worker: a version of the database, opened for reading, and the kernels and plans it is asked to run.

A worker keeps nothing between calls that it could not make again but the rest of results that are being read, so a call
can be repeated after a restart, until some rows of its result have been used.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hoplite.api.limits import Limits
from hoplite.cluster.packing import Packed, PackedBooleans, narrow, pack, pack_column, pack_entered, portable, unpack
from hoplite.cluster.pinned import PinnedDatabase
from hoplite.cluster.pool import Check
from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.logic import as_predicate
from hoplite.engine.guard import Guarded
from hoplite.engine.hops.interface import (
    Booleans,
    Excluded,
    Hop,
    NodeBatch,
    Positions,
    RelationshipMask,
    SearchLevels,
    Side,
    Steps,
    TrailBatch,
)
from hoplite.engine.hops.masks import RememberedRelationships, remember_relationships
from hoplite.engine.hops.scratch import borrowed
from hoplite.engine.hops.select import anticipate, backend_named
from hoplite.engine.operators.base import LARGEST_BATCH, Evaluator
from hoplite.engine.operators.expand import StepPredicate
from hoplite.engine.prepare import Prepared
from hoplite.engine.read_plans import prepare_plan
from hoplite.errors import CypherError, transaction_terminated
from hoplite.planner import physical as pp
from hoplite.planner.plan_json import plan_from_json
from hoplite.storage.disk.graph import Version
from hoplite.values.columns import Column, Nodes, Relationships

T = TypeVar("T")

# How many built plans and expressions are kept, by their text; and how many calls that were cancelled before they
# began.
_KEPT_PLANS, _KEPT_STOPS = 256, 1024
# How many searches with a condition on their steps are remembered.
_KEPT_MASKS = 8
# A piece of a result ends with this many rows, or after this many seconds if there are some.
_PIECE_ROWS, _PIECE_S = 32_768, 0.05


class Bounds(NamedTuple):
    """What a statement may use in a worker."""

    seconds: float | None
    memory_bytes: int | None


class Setting(NamedTuple):
    """What the expressions of a statement depend on besides the graph; `clock` is when the statement and its
    transaction began, and the time zone."""

    parameters: Mapping[str, Any]
    clock: tuple[int, int | None, str]
    bounds: Bounds


class Asked(NamedTuple):
    """An expression about one variable, as `owned.as_text` writes it, which stands for nodes or for relationships."""

    text: str
    variable: str
    of_nodes: bool

    def rows(self, positions: Positions) -> Batch:
        """What it is evaluated over."""
        return Batch({self.variable: (Nodes if self.of_nodes else Relationships)(positions)}, len(positions))


class Kept(NamedTuple, Generic[T]):
    """Nodes that meet some conditions, and how many met each condition and those before it."""

    nodes: T
    counts: Positions


class StepOf(NamedTuple):
    """A condition on each step of a search; it has a number for each run of a statement. The names are those of the
    node stepped from, the relationship and the node stepped to."""

    number: int
    text: str
    names: tuple[str, str, str]
    setting: Setting


class HopOf(NamedTuple):
    """A hop without its arrays: every process has the same version of the graph, and so the same codes of types."""

    side: str
    types: tuple[int, ...] | None
    step: StepOf | None = None


class Entered(NamedTuple):
    """Distinct nodes one hop from others: each, the node that it was entered from, and the relationship."""

    nodes: NDArray[np.int32] | Positions
    owners: NDArray[np.int32] | Positions
    relationships: Positions


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
        self._hops: dict[tuple[str, tuple[int, ...] | None], Hop] = {}
        self._evaluators: OrderedDict[str, Evaluator] = OrderedDict()
        self._masks: OrderedDict[int, RememberedRelationships] = OrderedDict()
        self._plans: OrderedDict[str, Prepared] = OrderedDict()
        self._stops: OrderedDict[int, threading.Event] = OrderedDict()  # of calls that run, or were stopped before
        self._open: dict[int, Iterator[Any]] = {}  # results of which some pieces have been asked for
        self._changing = threading.Lock()
        anticipate("auto", at_once=True)

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

    def neighbours(self, call: int, of: HopOf, frontier: Packed) -> tuple[Packed | Failed, Work]:
        """The distinct nodes one hop from those of a frontier."""
        nodes = unpack(frontier)

        def found(hop: Hop, check: Check) -> Packed:
            with borrowed(hop.node_count) as scratch:
                entered = backend_named("auto").spread(hop, scratch)
                entered.step(nodes, check)
                answer = pack_entered(entered)
                entered.clear()
            return answer

        return self._answered(call, of, found, len(nodes))

    def searches(
        self, call: int, of: HopOf, offsets: Positions, sources: Positions, upper: int | None, mark_starts: bool
    ) -> tuple[NodeBatch | Failed, Work]:
        """Whole searches, one for each group of sources."""

        def found(hop: Hop, check: Check) -> NodeBatch:
            kernels = backend_named("auto")
            if len(offsets) > 2:
                return kernels.bfs_batch(hop, offsets, sources, upper, mark_starts=mark_starts, check=check)
            nodes = kernels.bfs_nodes(hop, sources, upper, mark_starts=mark_starts, check=check)
            return NodeBatch(np.array((0, len(nodes)), np.int64), narrow(nodes, hop.node_count))

        return self._answered(call, of, found, len(sources))

    def levels(
        self, call: int, of: HopOf, groups: Positions, sources: Positions, upper: int | None, mark_starts: bool
    ) -> tuple[SearchLevels | Failed, Work]:
        """The same with the distance of each node."""

        def found(hop: Hop, check: Check) -> SearchLevels:
            kernels = backend_named("auto")
            return kernels.bfs_levels(hop, groups, sources, upper, mark_starts=mark_starts, check=check)

        return self._answered(call, of, found, len(sources))

    def steps(self, call: int, of: HopOf, nodes: Positions) -> tuple[Steps | Failed, Work]:
        """One hop from each node."""
        return self._answered(call, of, lambda hop, _: backend_named("auto").expand(hop, nodes), len(nodes))

    def count_trails(
        self, call: int, of: HopOf, sources: Positions, lower: int, upper: int | None
    ) -> tuple[Positions | Failed, Work]:
        """How many trails there are from each source."""

        def found(hop: Hop, check: Check) -> Positions:
            return backend_named("auto").count_trails(hop, sources, lower, upper, check=check)

        return self._answered(call, of, found, len(sources))

    def entered(self, call: int, of: HopOf, frontier: Packed) -> tuple[Entered | Failed, Work]:
        """The distinct nodes one hop from those of a frontier, none of these, and how each is entered."""
        nodes = unpack(frontier)

        def found(hop: Hop, check: Check) -> Entered:
            with borrowed(hop.node_count) as scratch:
                search = backend_named("auto").search(hop, nodes, scratch)
                new = search.step(check).astype(np.int64)
                owners, relationships = scratch.owner[new], scratch.label[new]
                search.clear()
            return Entered(narrow(new, hop.node_count), narrow(owners, hop.node_count), relationships)

        return self._answered(call, of, found, len(nodes))

    def _answered(self, call: int, of: HopOf, found: Callable[[Hop, Check], T], items: int) -> tuple[T | Failed, Work]:
        """What is found over a hop, or how a condition on its steps failed. A call that is stopped fails, unheard."""
        begin = time.perf_counter()
        answer: T | Failed
        with self._running(call) as check:
            try:
                answer = found(self._hop(of, self._stop_of(call)), check)
            except CypherError as error:
                answer = Failed(error)
        return answer, Work(time.perf_counter() - begin, items)

    # --- conditions and values ---

    def values(
        self, call: int, asked: Asked, positions: NDArray[np.int32] | Positions, setting: Setting
    ) -> tuple[Column | PackedBooleans | Failed, Work]:
        """The value of an expression for each of some nodes or relationships."""

        def found(execution: Execution) -> Column | PackedBooleans:
            rows = asked.rows(positions.astype(np.int64))
            return pack_column(self._evaluator(asked.text)(rows, execution))

        return self._evaluated(call, setting, found, len(positions))

    def kept(
        self, call: int, asked: Sequence[Asked], nodes: Packed, setting: Setting
    ) -> tuple[Kept[Packed] | Failed, Work]:
        """The nodes that meet several conditions, each asked about those that met the ones before it."""
        every = unpack(nodes)

        def found(execution: Execution) -> Kept[Packed]:
            counts = np.zeros(len(asked), np.int64)
            kept = []
            for begin in range(0, len(every), LARGEST_BATCH):
                execution.check_time()
                some = every[begin : begin + LARGEST_BATCH]
                for number, condition in enumerate(asked):
                    column = self._evaluator(condition.text)(condition.rows(some), execution)
                    some = some[as_predicate(column).true_rows()]
                    counts[number] += len(some)
                kept.append(some)
            return Kept(pack(np.concatenate(kept), self._graph.adjacency(True).node_count), counts)

        return self._evaluated(call, setting, found, len(every))

    def _evaluated(
        self, call: int, setting: Setting, found: Callable[[Execution], T], items: int
    ) -> tuple[T | Failed, Work]:
        """What is found in the setting of a statement, or how that failed."""
        begin = time.perf_counter()
        answer: T | Failed
        with self._running(call):
            execution = self._setting(setting, self._stop_of(call))
            try:
                with Guarded(execution):
                    answer = found(execution)
            except RowError as failure:
                answer = Failed(failure.error)
            except CypherError as error:
                answer = Failed(error)
        return answer, Work(time.perf_counter() - begin, items)

    def _setting(self, setting: Setting, stop: threading.Event) -> Execution:
        """The context of the leading process, as far as expressions can tell."""
        bounds = setting.bounds
        limits = Limits(timeout=bounds.seconds, memory_bytes=bounds.memory_bytes, read_only=True)
        execution = self._database.execution(setting.parameters, limits, stop)
        execution.began, execution.transaction_began, execution.default_zone = setting.clock
        return execution

    def _evaluator(self, text: str) -> Evaluator:
        known = self._evaluators.get(text)
        if known is None:
            plan = plan_from_json(text)
            assert isinstance(plan, pp.Project)
            known = self._evaluators[text] = self._database.builders()[0].term(plan.items[0][1])
            if len(self._evaluators) > _KEPT_PLANS:
                self._evaluators.popitem(last=False)
        return known

    def _mask(self, step: StepOf, stop: threading.Event) -> RelationshipMask:
        """The condition on steps; what it answered to earlier calls of the same search is remembered."""
        execution = self._setting(step.setting, stop)
        predicate = StepPredicate(*step.names, self._evaluator(step.text)).mask(execution)

        def allowed(relationships: Positions, from_nodes: Positions, to_nodes: Positions) -> Booleans:
            with Guarded(execution):
                return predicate(relationships, from_nodes, to_nodes)

        with self._changing:
            known = self._masks.pop(step.number, None)
            if known is None:
                known = remember_relationships(allowed)
            self._masks[step.number] = known
            if len(self._masks) > _KEPT_MASKS:
                self._masks.popitem(last=False)
        known.mask = allowed
        return known

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
    ) -> Iterator[TrailBatch | Failed]:
        """The trails from each source in batches."""
        stop = self._stop_of(call)
        try:
            yield from backend_named("auto").trails(
                self._hop(of, stop), sources, lower, upper, excluded=excluded, chunk=chunk, check=_checked(stop)
            )
        except CypherError as error:
            yield Failed(error)

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

    def _hop(self, of: HopOf, stop: threading.Event) -> Hop:
        hop = self._hops.get((of.side, of.types))
        if hop is None:
            types = None if of.types is None else np.array(of.types, np.int32)
            hop = Hop(Side(of.side), self._graph.adjacency(True), self._graph.adjacency(False), types)
            self._hops[of.side, of.types] = hop
        return hop if of.step is None else replace(hop, relationship_mask=self._mask(of.step, stop))

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
