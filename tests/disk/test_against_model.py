"""The random writes of tests/storage on a database on disk, with checkpoints, crashes and reopening in between."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from hoplite.storage.disk.graph import DiskGraph
from tests.disk.faults import QuickFiles
from tests.storage.model import Model, assert_same
from tests.storage.test_against_model import GraphMachine


class DiskMachine(GraphMachine):
    """The graph in a folder, and the model."""

    @initialize(
        partitions=st.integers(1, 4),
        fold_minimum=st.sampled_from([1, 5, 1000]),
        memory=st.sampled_from([1, 10**9]),
        log_limit=st.sampled_from([0, 300, 10**9]),
    )
    def start(self, partitions: int, fold_minimum: int, memory: int = 1, log_limit: int = 0) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hoplite-"))
        self.settings = {
            "partitions": partitions,
            "fold_minimum": fold_minimum,
            "memory": memory,
            "log_limit_bytes": log_limit,
        }
        self.graph: DiskGraph = self.opened()
        self.committed = Model()
        self.model = Model()
        self.transaction = None
        self.savepoints = []
        self.readers = []

    def opened(self) -> DiskGraph:
        settings: dict[str, Any] = self.settings
        return DiskGraph(self.folder / "graph.hop", files=QuickFiles(), fold_share=1000, lock_timeout_s=0.2, **settings)

    @precondition(lambda self: self.transaction is None)
    @rule()
    def close_and_reopen(self) -> None:
        self.readers = []
        self.graph.close()
        self.graph = self.opened()
        assert_same(self.graph.snapshot(), self.committed)

    @rule()
    def die_and_reopen(self) -> None:
        """What a process that ends at this point leaves behind, perhaps within a transaction."""
        self.readers, self.transaction, self.savepoints = [], None, []
        if self.graph._background is not None:
            self.graph._background.join()
        self.graph._let_go()
        self.graph = self.opened()
        self.model = self.committed.copy()
        assert_same(self.graph.snapshot(), self.committed)

    @rule()
    def read_beside_the_writer(self) -> None:
        reader = DiskGraph(self.folder / "graph.hop", read_only=True)
        assert_same(reader.snapshot(), self.committed)
        reader.close()

    @precondition(lambda self: self.transaction is None)
    @rule()
    def verify(self) -> None:
        assert self.graph.verify() == []

    def teardown(self) -> None:
        self.readers, self.transaction = [], None
        if hasattr(self, "graph"):
            if self.graph._background is not None:
                self.graph._background.join()
            self.graph._let_go()
            shutil.rmtree(self.folder)


DiskMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=30)


TestDiskAgainstModel = DiskMachine.TestCase
