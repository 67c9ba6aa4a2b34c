"""The parse table: cached by content, rebuilt when the cache is damaged, usable without one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hoplite.grammar import table


def test_a_damaged_or_missing_cache_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPLITE_CACHE", str(tmp_path))
    made = table.load_table()
    (file,) = tmp_path.iterdir()
    assert table.load_table() == made
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    assert table.load_table().vocabulary == made.vocabulary
    assert len(file.read_bytes()) > len(whole) // 2


def test_without_a_place_to_write_the_table_is_still_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("HOPLITE_CACHE", str(blocked / "below"))
    assert table.load_table().actions


def test_parsing_loads_neither_lark_nor_the_driver() -> None:
    table.load_table()
    program = (
        "import sys; from hoplite.grammar.parse import parse; parse('RETURN 1'); "
        "print('lark' in sys.modules, 'neo4j' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["False", "False"]
