"""Bars: what is read, how much of it in which unit."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from hoplite.cli import main
from hoplite.cli.progress import BYTES, over_files, progress_bar


def screen() -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, width=150, force_terminal=True, color_system=None), out


def test_a_bar_tells_its_unit() -> None:
    console, out = screen()
    with progress_bar("Importing [a].csv", "rows", console) as progress:
        progress(50_000, 200_000)
    assert "Importing [a].csv" in out.getvalue() and "50,000 of 200,000 rows" in out.getvalue()
    console, out = screen()
    with progress_bar("Importing a.jsonl", BYTES, console) as progress:
        progress(1_500_000, 3_000_000)
        progress(2_000_000, 3_000_000, what="Importing b.jsonl")
    assert "1.5/3.0 MB" in out.getvalue() or "2.0/3.0 MB" in out.getvalue()
    assert "Importing b.jsonl" in out.getvalue()


def test_files_are_named_while_they_are_read(tmp_path: Path) -> None:
    sizes = {"a.csv": 5, "b.csv": 5, "empty.csv": 0, "c.csv": 7}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b"x" * size)
    seen: list[tuple[int, int | None, str | None]] = []

    def bar(done: int, total: int | None = None, /, *, what: str | None = None) -> None:
        seen.append((done, total, what))

    progress = over_files(bar, [tmp_path / name for name in sizes])
    for done, total in ((3, 5), (5, 5), (2, 5), (5, 5), (0, 0), (7, 7)):
        progress(done, total)
    assert seen == [
        (3, 17, "Importing a.csv (1 of 4)"),
        (5, 17, "Importing a.csv (1 of 4)"),
        (7, 17, "Importing b.csv (2 of 4)"),
        (10, 17, "Importing b.csv (2 of 4)"),
        (10, 17, "Importing empty.csv (3 of 4)"),
        (17, 17, "Importing c.csv (4 of 4)"),
    ]


def test_an_import_of_csv_names_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    console, out = screen()
    monkeypatch.setattr("hoplite.cli.importing.progress_bar", partial(progress_bar, console=console))
    assert main(["export", "csv", ":memory:", str(tmp_path / "folder"), "--sample"]) == 0
    assert main(["import", "csv", str(tmp_path / "folder")]) == 0
    drawn = [line for line in out.getvalue().splitlines() if "Importing " in line]
    assert any(".csv (" in line and "kB" in line for line in drawn)


@pytest.mark.parametrize("more", [[], ["--upsert"]])
def test_an_import_of_a_table_counts_rows(more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    console, out = screen()
    monkeypatch.setattr("hoplite.cli.importing.progress_bar", partial(progress_bar, console=console))
    file = tmp_path / "people.csv"
    file.write_text("id\n" + "".join(f"{number}\n" for number in range(1500)), encoding="utf-8")
    assert main(["import", "table", str(file), "--key", "id", *more]) == 0
    assert "Importing people.csv" in out.getvalue() and "1,500 of 1,500 rows" in out.getvalue()
