"""What procedures need from the database that runs them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hoplite.allowance import Allowance
from hoplite.api.jobs import Job, held_weakly
from hoplite.api.limits import Limits
from hoplite.engine.commands import run_command
from hoplite.engine.context import Execution
from hoplite.engine.guard import Stopped
from hoplite.engine.prepare import Prepared
from hoplite.errors import Refused
from hoplite.storage.snapshot import Snapshot

if TYPE_CHECKING:
    from hoplite.api.database import Database
    from hoplite.engine.collected_queries import QueryCollector
    from hoplite.values.temporal import DateTime


class DatabaseServices:
    """What the procedures of one statement may use: see `Services` in `engine/context.py`."""

    __slots__ = ("_allowance", "_database", "_limits", "_metadata")

    def __init__(self, database: Database, allowance: Allowance, limits: Limits) -> None:
        self._database = database
        self._allowance = allowance
        self._metadata = limits.metadata
        self._limits = limits

    @property
    def is_read_only(self) -> bool:
        return self._limits.read_only

    @property
    def timeout(self) -> float | None:
        return self._limits.timeout

    @property
    def is_system(self) -> bool:
        return self._database._is_system

    @property
    def opened(self) -> DateTime:
        return self._database._opened

    @property
    def transaction_metadata(self) -> dict[str, Any]:
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    def prepare(self, text: str, graph: Snapshot, parameters: Mapping[str, Any]) -> Prepared:
        try:
            return self._database._prepare(text, graph, parameters, self._allowance, judge=self._limits.judge)
        except Refused as refused:
            raise Stopped.by(refused) from None  # no procedure may mistake it for a failure that it can continue after

    def run_command(self, prepared: Prepared, context: Execution) -> None:
        run_command(prepared, context)

    def start_job(
        self, name: str, text: str, parameters: Mapping[str, Any], delay: int, rate: int, counts_down: bool
    ) -> None:
        limits = replace(self._limits, metadata=None)

        def run(database: Database, stop: threading.Event) -> Any:
            rows = database._run_alone(text, {}, replace(limits, stop=stop), parameters).values()
            return rows[0][0] if rows and rows[0] else None

        run_weakly = held_weakly(self._database, run)
        self._database._jobs.start(name, run_weakly, delay=delay, rate=rate, counts_down=counts_down)

    def cancel_job(self, name: str) -> bool:
        return self._database._jobs.cancel(name) is not None

    def jobs(self) -> list[Job]:
        return self._database._jobs.known()

    def clear_plan_cache(self) -> int:
        return max(self._database._preparer.forget() - 1, 0)

    def query_collector(self, make: bool) -> QueryCollector | None:
        if make and self._database._collector is None:
            from hoplite.engine.collected_queries import QueryCollector

            self._database._collector = QueryCollector()
        return self._database._collector
