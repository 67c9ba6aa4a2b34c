"""A database that stays at one version of its folder, whatever others write to it, as in all processes of a cluster."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hoplite.api.database import Database
from hoplite.api.limits import Limits
from hoplite.engine.batch import Batch
from hoplite.engine.build.operators import OperatorBuilder
from hoplite.engine.context import Execution
from hoplite.engine.prepare import Prepared
from hoplite.engine.procedures.registry import Procedure
from hoplite.errors import driver_errors
from hoplite.storage.disk.graph import Durability, Version
from hoplite.storage.disk.sharing import Lease, lease_separate
from hoplite.storage.snapshot import Snapshot


class PinnedDatabase(Database):
    """Opened for reading, separate from other users of the folder in this process."""

    def __init__(self, path: str | os.PathLike[str], *, at: Version | None = None, **settings: Any) -> None:
        self._at = at
        super().__init__(path, read_only=True, **settings)

    def _open_folder(
        self,
        path: str | os.PathLike[str],
        read_only: bool,
        partitions: int | None,
        memory: str | int | None,
        durability: Durability | None,
    ) -> Lease:
        with driver_errors():
            return lease_separate(Path(path), at=self._at, memory=memory)

    @property
    def version(self) -> Version:
        """The version it stays at."""
        assert self._lease is not None
        return self._lease.graph.version

    def snapshot(self) -> Snapshot:
        """The graph."""
        return self._graph.snapshot()

    def builders(self) -> tuple[OperatorBuilder, Mapping[str, Procedure]]:
        """What turns a plan into a statement."""
        return self._preparer.operators, self._procedures

    def start(
        self, prepared: Prepared, parameters: Mapping[str, Any], limits: Limits, stop: threading.Event
    ) -> tuple[Execution, Iterator[Batch]]:
        """Start a statement; returns its rows to come. `stop` ends it."""
        execution = self.execution(parameters, limits, stop)
        return execution, self._batches(prepared, execution)

    def execution(self, parameters: Mapping[str, Any], limits: Limits, stop: threading.Event) -> Execution:
        """The context of a statement that reads."""
        limits = replace(limits, stop=stop)
        return self._execution(self.snapshot(), parameters, None, limits, limits.allowance())
