"""A cluster as a database: `run`, `khop`, `session`, `explain` and `profile` on the one version that it has open."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

from hoplite.api.result import Result
from hoplite.cluster.backend import ClusterBackend
from hoplite.cluster.pinned import PinnedDatabase
from hoplite.cluster.placing import Place, Split, place_of, seeds_of
from hoplite.cluster.pool import Pool
from hoplite.cluster.worker import Bounds, Failed
from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.hops.select import register, unregister
from hoplite.engine.prepare import Prepared
from hoplite.errors import driver_errors
from hoplite.planner.explain import PlanFormat

_clusters = count(1)


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
            self._start()
        except BaseException:
            pool.close()
            raise

    def _start(self) -> None:
        with driver_errors():
            self._pool.start(str(self._folder), self.version, self._worker_memory)
        self._hops = ClusterBackend(self._pool, self.snapshot(), self._split)
        register(self._name, self._hops)
        self._backend = self._name  # type: ignore[assignment]  # a name that no user can ask for

    def refresh(self) -> None:
        """Move to the newest version of the folder. Results that are still being read keep theirs."""
        assert self._lease is not None
        before = self._lease
        self._at = None
        self._lease = self._open_folder(self._folder, True, None, None, None)
        self._held_graph = self._lease.graph
        self._forget_statements()
        self._start()
        before.close()

    def run_many(self, query: str, parameter_sets: Iterable[Mapping[str, Any]]) -> list[Result]:
        """Run a statement once for each set of parameters, as many at a time as there are workers; returns the results
        in that order. Each goes to the worker that owns its start nodes, so that a partition is read by one worker."""
        sets = list(parameter_sets)

        def run(parameters: Mapping[str, Any]) -> Result:
            result = self.run(query, parameters)
            result.detach()
            return result

        with ThreadPoolExecutor(self._pool.size) as threads:
            return list(threads.map(run, sets))

    def explain(
        self, query: str, parameters: Mapping[str, Any] | None = None, /, *, format: PlanFormat = "text", **params: Any
    ) -> str:
        """The plan of a query, and where it runs."""
        said = super().explain(query, parameters, format=format, **params)
        if format != "text" or not said:
            return said
        with driver_errors():
            prepared = self._prepare(query, self.snapshot(), {}, self._limits.allowance(), check_parameters=False)
            place = self._place(prepared)
        return f"{said}\nRuns: {_described(place, self._pool.size)}"

    def profile(self, query: str, parameters: Mapping[str, Any] | None = None, /, **params: Any) -> str:
        """Run a statement in this process with its hops on workers, and report what each operator and each worker
        did."""
        before = self._hops.tally.copy()
        return f"{super().profile(query, parameters, **params)}\n\n{self._hops.tally.since(before)}"

    def workers(self) -> str:
        """What each worker has done so far, as a table."""
        return str(self._hops.tally)

    def close(self) -> None:
        """Stop the workers."""
        if not self._closed:
            super().close()
            unregister(self._name)
            self._pool.close()

    # --- inside ---

    def _place(self, prepared: Prepared) -> Place:
        if prepared.plan is None or prepared.writes or prepared.mode == "PROFILE":
            return Place("here", "it is a command, or is being profiled")
        if self._functions.maps[0] or self._procedures.maps[0]:
            return Place("here", "functions and procedures were added in this process")
        return place_of(prepared.plan, self.snapshot(), self._split)

    def _batches(self, prepared: Prepared, execution: Execution) -> Iterator[Batch]:
        if self._place(prepared).where != "one worker":
            return super()._batches(prepared, execution)
        return self._elsewhere(prepared, execution)

    def _elsewhere(self, prepared: Prepared, execution: Execution) -> Iterator[Batch]:
        """The rows of a plan that runs on one worker."""
        assert prepared.plan is not None
        seeds = seeds_of(prepared.plan, execution.graph, execution.parameters)
        if seeds is None or not len(seeds):
            worker = next(self._turn) % self._pool.size
        else:
            worker = int(self._hops.owners.of(seeds[:1])[0])
        bounds = Bounds(execution.seconds_left(), self._limits.memory_bytes)
        arguments = prepared.as_json(), dict(execution.parameters), bounds
        for one in self._hops.run(worker, arguments, execution.check_time):
            if isinstance(one, Failed):
                raise one.error
            yield one


def _described(place: Place, workers: int) -> str:
    where = {"here": "in this process", "one worker": "whole on one worker"}.get(
        place.where, f"with its hops across {workers} workers"
    )
    return f"{where} ({place.reason})"
