"""Changed bytes, missing and truncated files: damage is named, and damaged data never used."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hoplite.errors import CypherError
from hoplite.storage.disk.graph import DiskGraph
from hoplite.storage.disk.manifest import read_manifest, write_manifest
from hoplite.storage.disk.verify import problems_of
from tests.disk.faults import QuickFiles
from tests.disk.script import STEPS, state_after, state_of

DAMAGED = "Neo.DatabaseError.General.StorageDamageDetected"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with two partitions, every kind of column, and commits in its log."""
    path = tmp_path_factory.mktemp("sound") / "graph.hop"
    graph = DiskGraph(path, files=QuickFiles(), partitions=2)
    for step in STEPS:
        step(graph)
    with graph.begin() as tx:
        tx.create_node([], {"flag": True, "weight": 1.5})
    graph.checkpoint()
    with graph.begin() as tx:
        tx.create_node(["Person"], {"name": "Eve"})
    with graph.begin() as tx:
        tx.create_node(["Person"], {"name": "Gil"})
    graph._let_go()
    DiskGraph(path, files=QuickFiles())._let_go()  # removes the snapshots that `tx` kept alive
    return path


def files_of(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file() and file.name != "lock")


def is_second_manifest(file: Path) -> bool:
    """The copy of the manifest, which only `recover` reads."""
    return file.name == "manifest.json" and file.parent.name.startswith("snapshot-")


def read_everything(path: Path) -> None:
    graph = DiskGraph(path, read_only=True)
    try:
        snapshot = graph.snapshot()
        state_of(snapshot)
        for rule in snapshot.schema.constraints:
            snapshot.seek_nodes(rule.labels[0], rule.keys[0], [1])
        for outgoing in (True, False):
            for partition in snapshot.adjacency(outgoing).partitions:
                assert len(partition.indptr)
    finally:
        graph.close()


def test_the_database_is_sound_and_has_every_kind_of_file(sound: Path) -> None:
    read_everything(sound)
    assert problems_of(sound) == []
    kinds = {file.suffix or file.name for file in files_of(sound)}
    assert kinds == {".json", ".log", ".bin", ".out", ".in", ".arrow", "checksums"}


def test_every_byte_that_changes_is_noticed(sound: Path, tmp_path: Path) -> None:
    moments = random.Random(7)
    for file in files_of(sound):
        content = file.read_bytes()
        places = range(len(content)) if len(content) < 30 else sorted(moments.sample(range(len(content)), 30))
        for place in places:
            copy = tmp_path / "graph.hop"
            shutil.copytree(sound, copy)
            damaged = copy / file.relative_to(sound)
            changed = bytearray(content)
            changed[place] ^= 1 << moments.randrange(8)
            damaged.write_bytes(changed)
            problems = problems_of(copy)
            assert problems and damaged.name in problems[0], (file.name, place, problems)
            if is_second_manifest(file):
                shutil.rmtree(copy)
                continue
            with pytest.raises(CypherError) as raised:
                read_everything(copy)
            assert raised.value.code in (DAMAGED, "Neo.DatabaseError.Database.UnableToStartDatabase")
            assert damaged.name in raised.value.message or file.name == "manifest.json"
            shutil.rmtree(copy)


@pytest.mark.parametrize("what", ["missing", "short", "long"])
def test_files_that_are_missing_short_or_long_are_noticed(sound: Path, tmp_path: Path, what: str) -> None:
    for file in files_of(sound):
        if (what == "short" and (file.suffix == ".log" or not file.stat().st_size)) or (
            what == "long" and file.suffix == ".log"
        ):
            continue  # a log may end in an unfinished record
        copy = tmp_path / "graph.hop"
        shutil.copytree(sound, copy)
        damaged = copy / file.relative_to(sound)
        if what == "missing":
            damaged.unlink()
        elif what == "short":
            damaged.write_bytes(file.read_bytes()[:-1])
        else:
            damaged.write_bytes(file.read_bytes() + b"\0")
        problems = problems_of(copy)
        assert problems and damaged.name in problems[0], (file.name, problems)
        if is_second_manifest(file):
            shutil.rmtree(copy)
            continue
        with pytest.raises(CypherError) as raised:
            DiskGraph(copy, files=QuickFiles()).snapshot()
            read_everything(copy)
        assert damaged.name in raised.value.message or file.name == "manifest.json"
        shutil.rmtree(copy)


def test_all_damage_is_told_at_once(sound: Path, tmp_path: Path) -> None:
    copy = tmp_path / "graph.hop"
    shutil.copytree(sound, copy)
    (copy / next(sound.rglob("checksums")).relative_to(sound)).unlink()
    next(copy.glob("wal-*.log")).write_bytes(b"x" * 64)
    next(copy.glob("snapshot-*/manifest.json")).unlink()
    problems = problems_of(copy)
    assert len(problems) == 3
    assert all(name in problem for name, problem in zip(("checksums", "manifest", "wal"), problems, strict=True))


def test_damage_in_one_column_leaves_the_rest_readable(sound: Path, tmp_path: Path) -> None:
    copy = tmp_path / "graph.hop"
    shutil.copytree(sound, copy)
    column = min(copy.rglob("node-*.arrow"))  # of the key that came first
    content = bytearray(column.read_bytes())
    content[len(content) // 2] ^= 1
    column.write_bytes(content)
    graph = DiskGraph(copy, read_only=True)
    snapshot = graph.snapshot()
    assert len(snapshot.nodes_with_label("City")) == 2
    with pytest.raises(CypherError, match=column.name):
        snapshot.node_property(snapshot.nodes(), "name")
    graph.close()


def test_the_end_of_a_log_may_be_missing_anywhere_in_its_last_record(sound: Path, tmp_path: Path) -> None:
    (log,) = sound.glob("*.log")
    content = log.read_bytes()
    last = content.rindex(b"\x8dHWR")
    for end in range(last, len(content)):
        copy = tmp_path / "graph.hop"
        shutil.copytree(sound, copy)
        (copy / log.name).write_bytes(content[:end])
        graph = DiskGraph(copy, files=QuickFiles(), partitions=2)
        assert graph._log is not None and graph._log.commits == graph._manifest.commits + 1
        with graph.begin() as tx:
            tx.create_node(["Person"], {"name": "Gus"})
        graph._let_go()
        assert problems_of(copy) == []
        shutil.rmtree(copy)


def test_a_newer_format_is_refused_by_name(sound: Path, tmp_path: Path) -> None:
    copy = tmp_path / "graph.hop"
    shutil.copytree(sound, copy)
    manifest = copy / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"version": 3', '"version": 4', 1))
    with pytest.raises(CypherError, match="format 4, and this version of Hoplite reads formats up to 3"):
        DiskGraph(copy)
    assert "format 4" in problems_of(copy)[0]


def test_an_older_format_is_read(sound: Path, tmp_path: Path) -> None:
    copy = tmp_path / "graph.hop"
    shutil.copytree(sound, copy)
    manifest = read_manifest(copy)
    assert manifest is not None
    write_manifest(QuickFiles(), copy, replace(manifest, version=1, has_copy=False))
    graph, as_written = DiskGraph(copy, files=QuickFiles()), DiskGraph(sound, read_only=True)
    assert state_of(graph.snapshot()) == state_of(as_written.snapshot())
    assert graph.statistics()["format"] == 1 and problems_of(copy) == []
    graph.close()
    as_written.close()


def test_a_snapshot_of_another_database_is_noticed(sound: Path, tmp_path: Path) -> None:
    copy, other = tmp_path / "graph.hop", tmp_path / "other.hop"
    shutil.copytree(sound, copy)
    graph = DiskGraph(other, files=QuickFiles())
    graph.close()
    (log,) = copy.glob("*.log")
    shutil.copy(next(other.glob("*.log")), log)
    with pytest.raises(CypherError, match="header"):
        DiskGraph(copy)


def test_what_the_steps_lead_to_is_what_is_there(sound: Path) -> None:
    graph = DiskGraph(sound, read_only=True)
    assert len(state_of(graph.snapshot())) == len(state_after(STEPS)) + 3
    graph.close()
