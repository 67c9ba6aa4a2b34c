"""Runs any tests on a partitioned store with a cache of one partition, instead of a graph in memory:

    pytest -p tests.disk.one_partition tests/queries tests/patterns

Every database opened without a path then is a folder of three partitions. Everything written is in files before it is
read, and only the last object loaded is held.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from hoplite.api import database
from hoplite.storage.disk.graph import DiskGraph
from hoplite.storage.graph import Graph
from hoplite.storage.snapshot import Snapshot
from tests.disk.faults import QuickFiles

PARTITIONS = 3
NOTHING_FITS = 1


class OnePartition(DiskGraph):
    """A graph in a folder that makes a checkpoint whenever it is read after a write."""

    def __init__(self, partitions: int = 1) -> None:
        folder = tempfile.mkdtemp(prefix="hoplite-one-partition-", dir=_fastest_folder())
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        super().__init__(
            Path(folder) / "graph.hop",
            files=QuickFiles(),
            memory=NOTHING_FITS,
            partitions=max(partitions, PARTITIONS),
            spill_bytes=0,
        )

    def snapshot(self, *, fold: bool = True) -> Snapshot:
        if fold and self._delta.size and self._changing is None and not self._writer._lock.locked():
            self.checkpoint()
        return super().snapshot(fold=fold)


def _fastest_folder() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _in_a_folder(partitions: int = 1) -> Graph:
    return OnePartition(partitions)


def pytest_configure() -> None:
    """Called by pytest when the plugin is loaded."""
    vars(database)["Graph"] = _in_a_folder
