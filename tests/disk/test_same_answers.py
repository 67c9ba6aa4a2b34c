"""A database on disk answers like one in memory: every case of tests/queries on three partitions, with a cache that
holds one of them, after the graph has been closed and opened again.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hoplite
from tests.casefiles import Case
from tests.queries.test_queries import CASES, assert_answered

ONE_PARTITION = 1
"""A budget in bytes that nothing fits: the last thing loaded is held, and nothing else."""


@pytest.fixture(autouse=True)
def without_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.mark.parametrize("case", CASES)
def test_query(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "graph.hop"
    with hoplite.open(path, partitions=3, memory=ONE_PARTITION) as db:
        for statement in (*case.graph, *case.before):
            db.run(statement).consume()
    with hoplite.open(path, partitions=3, memory=ONE_PARTITION) as db:
        assert_answered(db, case)
        assert db.verify() == []
