"""A cluster as a database: `run`, `khop`, `session`, `explain` and `profile` on the one version that it has open."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hoplite.api.result import Result
from hoplite.cluster.backend import ClusterBackend
from hoplite.cluster.building import OwnersBuilder
from hoplite.cluster.pinned import PinnedDatabase
from hoplite.cluster.placing import Place, Seeds, Split, place_of, seeds_of
from hoplite.cluster.pool import Pool
from hoplite.cluster.routed import Routed, shared_out
from hoplite.cluster.worker import Bounds, Failed
from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.hops.select import register, unregister
from hoplite.engine.prepare import Prepared
from hoplite.errors import driver_errors
from hoplite.planner import physical as pp
from hoplite.planner.explain import PlanFormat
from hoplite.values.driver import from_parameters

_clusters = count(1)


_KEPT_ROUTES = 1024


class Route(NamedTuple):
    """Where a statement runs, its plan as JSON and how it finds its start nodes; and what that was decided for."""

    place: Place
    text: str = ""
    seeds: Seeds | None = None
    plan: pp.Plan | None = None
    split: Split | None = None


class Cluster(PinnedDatabase):
    """Reads one version of a database folder, on workers that have it open too. May be used from several threads."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        pool: Pool,
        *,
        worker_memory: str | int | None = None,
        split: Split = "auto",
        **settings: Any,
    ) -> None:
        if split not in ("auto", "never", "always"):
            raise ValueError(f"split is 'auto', 'never' or 'always', not {split!r}")
        self._pool = pool
        self._split: Split = split
        self._folder = Path(path).resolve()
        self._worker_memory = worker_memory
        self._turn = count()
        self._name = f"cluster {next(_clusters)}"
        try:
            super().__init__(self._folder, **settings)
            self._preparer.operators = OwnersBuilder(self._functions)
            self._start()
        except BaseException:
            pool.close()
            raise

    def _start(self) -> None:
        with driver_errors():
            self._pool.start(str(self._folder), self.version, self._worker_memory)
        self._hops = ClusterBackend(self._pool, self.snapshot(), self._split, self._holds_all())
        register(self._name, self._hops)
        self._routes: dict[int, Route] = {}
        self._backend = self._name  # type: ignore[assignment]  # a name that no user can ask for
        vars(self).pop("_setting", None)  # it names the previous backend

    def _holds_all(self) -> bool:
        """Whether this process may hold the whole database."""
        stats = self.stats()
        budget = stats["cache"]["budget_bytes"]
        return budget is None or stats["snapshot_bytes"] <= budget

    def refresh(self) -> None:
        """Move to the newest version of the folder. A result that is still being read from a worker fails with an error
        to retry; others keep their version."""
        assert self._lease is not None
        before = self._lease
        self._at = None
        self._lease = self._open_folder(self._folder, True, None, None, None)
        self._held_graph = self._lease.graph
        self._forget_statements()
        self._start()
        before.close()

    def run_many(self, query: str, parameter_sets: Iterable[Mapping[str, Any]]) -> list[Result]:
        """Run a statement once for each set of parameters; returns the results in that order. Each runs on the worker
        that owns its start nodes, those of a partition after one another, so that a partition is read by one worker."""
        given = [dict(parameters) for parameters in parameter_sets]
        with driver_errors():
            groups = self._prepared_sets(query, given)
        results: list[Result | None] = [None] * len(given)
        for prepared, sets in groups:
            route = self._route(prepared)
            is_whole = route.place.where == "one worker" or (self._split == "auto" and len(sets) >= self._pool.size)
            if route.place.where == "here" or not is_whole or prepared.mode == "EXPLAIN":
                for number, _ in sets:
                    results[number] = self.run(query, given[number])
            else:
                for (number, parameters), batches in zip(sets, self._answers(route, sets), strict=True):
                    results[number] = self._result(prepared, parameters, given[number], batches)
        for result in results:
            assert result is not None
            result.detach()
        return results  # type: ignore[return-value]  # every number is in a group

    def _prepared_sets(
        self, query: str, given: Sequence[Mapping[str, Any]]
    ) -> list[tuple[Prepared, list[tuple[int, dict[str, Any]]]]]:
        """The numbers and the values of those sets of parameters that have the same plan, which depends on types."""
        groups: dict[int, tuple[Prepared, list[tuple[int, dict[str, Any]]]]] = {}
        allowance = self._limits.allowance()
        for number, parameters in enumerate(given):
            converted = from_parameters(parameters, allowance)
            prepared = self._prepare(query, self.snapshot(), converted, allowance)
            groups.setdefault(id(prepared.plan), (prepared, []))[1].append((number, converted))
        return list(groups.values())

    def _answers(self, route: Route, sets: Sequence[tuple[int, dict[str, Any]]]) -> list[list[Batch]]:
        """The rows of a plan for each set of parameters."""
        parameter_sets = [parameters for _, parameters in sets]
        seeds = None if route.seeds is None else route.seeds.of_each(self.snapshot(), parameter_sets)
        shares = shared_out(seeds, self._hops.owners, len(sets))
        bounds = Bounds(self._limits.timeout, self._limits.memory_bytes)
        with driver_errors():
            return Routed(self._hops.calls, route.text, parameter_sets, bounds).run(shares)

    def _result(
        self, prepared: Prepared, parameters: Mapping[str, Any], given: Mapping[str, Any], batches: list[Batch]
    ) -> Result:
        limits = self._limits
        execution = self._execution(self.snapshot(), parameters, None, limits, limits.allowance())
        return Result(prepared, iter(batches), execution, given, limits.max_rows, hydrator=limits.hydrator)

    def explain(
        self, query: str, parameters: Mapping[str, Any] | None = None, /, *, format: PlanFormat = "text", **params: Any
    ) -> str:
        """The plan of a query, and where it runs."""
        said = super().explain(query, parameters, format=format, **params)
        if format != "text" or not said:
            return said
        with driver_errors():
            prepared = self._prepare(query, self.snapshot(), {}, self._limits.allowance(), check_parameters=False)
            place = self._route(prepared).place
            plan = None if place.where == "one worker" else prepared.plan
            terms = () if plan is None else tuple(self._hops.terms_described(plan, self._functions))
        return "\n  ".join((f"{said}\nRuns: {_described(place, self._pool.size)}", *terms))

    def profile(self, query: str, parameters: Mapping[str, Any] | None = None, /, **params: Any) -> str:
        """Run a statement in this process with its hops on workers, and report what each operator and each worker
        did."""
        before = self._hops.calls.tally.copy()
        return f"{super().profile(query, parameters, **params)}\n\n{self._hops.calls.tally.since(before)}"

    def workers(self) -> str:
        """What each worker has done so far, as a table."""
        return str(self._hops.calls.tally)

    def close(self) -> None:
        """Stop the workers."""
        if not self._closed:
            super().close()
            unregister(self._name)
            self._pool.close()

    # --- inside ---

    def _route(self, prepared: Prepared) -> Route:
        """Where a statement runs; known for a text that ran before."""
        plan = prepared.plan
        if plan is None or prepared.writes or prepared.mode == "PROFILE":
            return Route(Place("here", "it is a command, or is being profiled"))
        if self._functions.has_own or self._procedures.has_own:
            return Route(Place("here", "functions and procedures were added in this process"))
        known = self._routes.get(id(plan))
        if known is None or known.split != self._split:
            place = place_of(plan, self.snapshot(), self._split, self._functions)
            known = Route(place) if place.where == "here" else Route(place, prepared.as_json(), seeds_of(plan))
            known = known._replace(plan=plan, split=self._split)
            if len(self._routes) >= _KEPT_ROUTES:
                self._routes.clear()
            self._routes[id(plan)] = known
        return known

    def _batches(self, prepared: Prepared, execution: Execution) -> Iterator[Batch]:
        route = self._route(prepared)
        if route.place.where != "one worker":
            return super()._batches(prepared, execution)
        return self._elsewhere(route, execution)

    def _elsewhere(self, route: Route, execution: Execution) -> Iterator[Batch]:
        """The rows of a plan that runs on one worker."""
        parameters = dict(execution.parameters)
        seed = -1 if route.seeds is None else int(route.seeds.of_each(execution.graph, [parameters])[0])
        worker = next(self._turn) % self._pool.size if seed < 0 else int(self._hops.owners.of(np.array([seed]))[0])
        bounds = Bounds(execution.seconds_left(), self._limits.memory_bytes)
        for one in self._hops.calls.stream(worker, "run", (route.text, parameters, bounds), execution.check_time):
            if isinstance(one, Failed):
                raise one.error
            yield one


def _described(place: Place, workers: int) -> str:
    where = {"here": "in this process", "one worker": "whole on one worker"}.get(
        place.where, f"with its hops across {workers} workers"
    )
    return f"{where} ({place.reason})"
