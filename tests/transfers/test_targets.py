"""What an export does with the place it is written to: links and pipes stay what they are."""

from __future__ import annotations

import gzip
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import hoplite
from hoplite.cli import main


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as db:
        db.run("CREATE (:Drug {id: 'aspirin'})-[:TREATS]->(:Disease {id: 'fever'})").consume()
        yield db


FILES = ("jsonl", "cypher", "triples", "ntriples")


@pytest.mark.parametrize("kind", FILES)
def test_a_link_still_leads_to_the_file_it_led_to(kind: str, db: hoplite.Database, tmp_path: Path) -> None:
    file, link = tmp_path / "there" / "graph", tmp_path / "link"
    file.parent.mkdir()
    file.write_text("old", encoding="utf-8")
    link.symlink_to(file)
    getattr(db, f"export_{kind}")(link)
    assert link.is_symlink() and link.readlink() == file
    assert "aspirin" in file.read_text(encoding="utf-8")
    assert [path.name for path in file.parent.iterdir()] == ["graph"]


def test_a_link_to_nothing_is_where_the_new_file_goes(db: hoplite.Database, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("new.jsonl")
    db.export_jsonl(link)
    assert link.is_symlink() and "aspirin" in (tmp_path / "new.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_links_in_a_folder_stay_links(kind: str, db: hoplite.Database, tmp_path: Path) -> None:
    folder, kept = tmp_path / "folder", tmp_path / "kept"
    kept.mkdir()
    export = getattr(db, f"export_{kind}")
    export(folder)
    files = sorted(folder.iterdir())
    for file in files:
        file.unlink()
        file.symlink_to(kept / file.name)
    export(folder)
    assert len(files) > 1 and sorted(folder.iterdir()) == files and all(file.is_symlink() for file in files)
    assert sorted(path.name for path in kept.iterdir()) == [file.name for file in files]


def _read_into(pipe: Path, found: list[bytes]) -> threading.Thread:
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    return reader


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are POSIX")
@pytest.mark.parametrize("name", ["pipe", "pipe.gz"])
def test_a_pipe_is_written_to(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / name
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = _read_into(pipe, found)
    assert main(["export", "jsonl", ":memory:", str(pipe), "--sample"]) == 0
    reader.join(timeout=30)
    assert stat.S_ISFIFO(pipe.stat().st_mode) and list(tmp_path.iterdir()) == [pipe]
    text = gzip.decompress(found[0]) if name.endswith(".gz") else found[0]
    assert text.count(b"\n") == 811 + 2338
    shown = capsys.readouterr()
    assert shown.out == "" and "811 nodes and 2,338 relationships written" in shown.err


def test_a_folder_is_not_a_file(db: hoplite.Database, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        db.export_jsonl(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_export_that_fails_leaves_the_old_file(
    db: hoplite.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, link = tmp_path / "graph.jsonl", tmp_path / "link.jsonl"
    file.write_text("old", encoding="utf-8")
    link.symlink_to(file)

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("hoplite.storage.exporters.jsonl.node_rows", fail)
    with pytest.raises(OSError, match="the disk is full"):
        db.export_jsonl(link)
    assert file.read_text(encoding="utf-8") == "old" and sorted(tmp_path.iterdir()) == [file, link]
