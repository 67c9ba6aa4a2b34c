"""Steps of the file system fail, in every way: nothing acknowledged is lost, nothing is half there.

With HOPLITE_EVERY_STEP=1 (`make crash`) every test goes through all steps; else one in 31, by turns.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from hoplite.errors import CypherError
from hoplite.storage.disk.graph import DiskGraph
from hoplite.storage.graph import Graph
from tests.disk.faults import Dead, DieAt, FailOnce, FullDisk, Kept, PowerCut, QuickFiles, StepFiles
from tests.disk.script import STEPS, checkpoint, run, state_after, state_of

Steps = list[Callable[[Graph], None]]

STRIDE = 1 if os.environ.get("HOPLITE_EVERY_STEP") else 31


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory if possible: this is about the order of steps, not about the disk."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="hoplite-", dir=shared if shared.is_dir() else None) as name:
        yield Path(name)


def opened(path: Path) -> DiskGraph:
    return DiskGraph(path, files=QuickFiles())


def count_steps(path: Path, *, to_the_end: bool = True) -> int:
    files = StepFiles()
    graph = DiskGraph(path, files=files)
    run(graph, [])
    if to_the_end:
        graph.close()
    return files.steps


def assert_holds(path: Path, acknowledged: Steps) -> None:
    """Exactly the steps that were acknowledged."""
    graph = opened(path)
    assert state_of(graph.snapshot()) == state_after(acknowledged)
    assert graph.verify() == []
    graph.close()


def assert_holds_at_least(path: Path, acknowledged: Steps, steps: Sequence[Callable[[Graph], None]] = STEPS) -> None:
    """The steps that were acknowledged, and perhaps the one after them, which was under way."""
    if not path.is_dir():
        assert not acknowledged
        return
    graph = opened(path)
    assert state_of(graph.snapshot()) in (state_after(acknowledged), state_after(steps[: len(acknowledged) + 1]))
    assert graph.verify() == []
    graph.close()


@pytest.mark.parametrize(("turn", "number"), [(1, errno.ENOSPC), (2, errno.EIO)])
def test_a_step_that_fails_costs_its_transaction_and_nothing_else(folder: Path, turn: int, number: int) -> None:
    steps = count_steps(folder / "counted.hop")
    refused = 0
    for step in range(turn, steps + 1, STRIDE):
        path = folder / f"{step}.hop"
        files = FailOnce(step, number)
        acknowledged: Steps = []
        errors: list[CypherError] = []
        try:
            graph = DiskGraph(path, files=files)
        except CypherError as error:
            assert error.code == "Neo.DatabaseError.Database.UnableToStartDatabase", files.failed
            graph = opened(path)
        run(graph, acknowledged, errors)
        if len(errors) > 1:
            # If it is not certain what is on disk, the database refuses to write until it is opened again.
            assert all("open it again" in error.message for error in errors[1:])
            refused += 1
        assert state_of(graph.snapshot()) == state_after(acknowledged), files.failed
        graph.close()
        assert_holds(path, acknowledged)
        shutil.rmtree(path)
    assert refused < steps / 10


def test_a_process_may_end_at_any_step(folder: Path) -> None:
    for step in range(3, count_steps(folder / "counted.hop") + 1, STRIDE):
        path = folder / f"{step}.hop"
        acknowledged: Steps = []
        graph = None
        try:
            graph = DiskGraph(path, files=DieAt(step))
            run(graph, acknowledged)
            graph.close()
        except Dead:
            pass
        if graph is not None:
            graph._let_go()
        assert_holds_at_least(path, acknowledged)
        shutil.rmtree(path, ignore_errors=True)


@pytest.mark.parametrize(("turn", "kept"), [(1, "nothing"), (2, "names"), (3, "manifest")])
def test_the_power_may_fail_at_any_step(folder: Path, turn: int, kept: Kept) -> None:
    for step in range(turn, count_steps(folder / "counted.hop") + 1, STRIDE):
        path, after = folder / f"{step}.hop", folder / f"{step}-after.hop"
        files = PowerCut(step)
        acknowledged: Steps = []
        graph = None
        try:
            graph = DiskGraph(path, files=files)
            run(graph, acknowledged)
            graph.close()
        except Dead:
            pass
        if graph is not None:
            graph._let_go()
        files.after(path, after, kept)
        assert_holds_at_least(after, acknowledged)
        shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(after)


@pytest.mark.parametrize("kept", ["nothing", "names", "manifest"])
def test_commits_beside_a_checkpoint_are_kept(folder: Path, kept: Kept) -> None:
    before, meanwhile, later = STEPS[:5], STEPS[6:11], STEPS[13:]
    acknowledged: Steps = []

    def commit(graph: DiskGraph, steps: Sequence[Callable[[Graph], None]]) -> None:
        for step in steps:
            step(graph)
            acknowledged.append(step)

    for last in itertools.count(3, STRIDE):
        acknowledged.clear()
        path, after = folder / f"{last}.hop", folder / f"{last}-after.hop"
        files = PowerCut(last)
        graph = None
        finished = False
        try:
            graph = DiskGraph(path, files=files)
            commit(graph, before)
            files.meanwhile = partial(commit, graph, meanwhile)
            graph.checkpoint()
            commit(graph, later)
            finished = True
        except Dead:
            pass
        if graph is not None:
            graph._let_go()
        files.after(path, after, kept)
        assert_holds_at_least(after, acknowledged, (*before, *meanwhile, *later))
        shutil.rmtree(after)
        shutil.rmtree(path, ignore_errors=True)
        if finished:
            assert acknowledged == [*before, *meanwhile, *later]
            return


def test_a_full_disk_loses_nothing_and_writing_goes_on_when_there_is_room(tmp_path: Path) -> None:
    files = FullDisk()
    graph = DiskGraph(tmp_path / "full.hop", files=files)
    acknowledged = list(STEPS[:5])
    for step in acknowledged:
        step(graph)
    files.is_full = True
    for step in (STEPS[6], checkpoint, STEPS[12]):
        with pytest.raises(CypherError) as raised:
            step(graph)
        assert "No space left on device" in raised.value.message
        assert state_of(graph.snapshot()) == state_after(acknowledged)
    files.is_full = False
    for step in STEPS[5:10]:
        step(graph)
        acknowledged.append(step)
    graph.close()
    assert_holds(tmp_path / "full.hop", acknowledged)


def test_a_file_system_that_cannot_be_written_to_opens_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "graph.hop"
    graph = opened(path)
    run(graph, [])
    graph.close()
    opening = os.open

    def read_only(name: str | Path, flags: int, *rest: int) -> int:
        if flags & (os.O_RDWR | os.O_CREAT) and path in Path(name).parents:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(name))
        return opening(name, flags, *rest)

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(CypherError, match=r"Read-only file system.*read_only=True"):
        opened(path)
    reader = DiskGraph(path, read_only=True)
    assert state_of(reader.snapshot()) == state_after(STEPS)
    reader.close()
