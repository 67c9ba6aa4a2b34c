"""Families are loaded when one of their names is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hoplite.engine import homes
from hoplite.engine.families import Families
from hoplite.engine.functions.registry import AGGREGATES, FUNCTIONS
from hoplite.engine.make_homes import homes_text
from hoplite.engine.procedures.registry import PROCEDURES


def test_every_name_is_where_it_is_looked_for() -> None:
    assert Path(homes.__file__).read_text("utf-8") == homes_text(), "python -m hoplite.engine.make_homes"
    assert set(FUNCTIONS) == set(homes.FUNCTIONS)
    assert set(AGGREGATES) == set(homes.AGGREGATES)
    assert set(PROCEDURES) == set(homes.PROCEDURES)


def test_a_query_loads_the_families_that_it_names() -> None:
    program = """
import sys, hoplite
def families():
    return sorted(name for name in sys.modules if name.startswith("hoplite.engine.") and ".apoc_" in name)
db = hoplite.open()
db.run("RETURN 1").data()
print(families())
db.run("RETURN apoc.text.capitalize('a') AS x").data()
print(families())
print(len(db.run("SHOW FUNCTIONS").data()) > 300, len(families()) > 12)
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    first, second, last = out.stdout.splitlines()
    assert first == "[]"
    assert "hoplite.engine.functions.apoc_text_case" in second and "apoc_maps" not in second
    assert last == "True True"


def test_a_table_knows_names_before_it_loads_them() -> None:
    table: Families[object] = Families({"a": "missing"})
    assert "a" in table and "b" not in table
    assert table.get("b") is None
    with pytest.raises(KeyError):
        table["b"]
    with pytest.raises(ModuleNotFoundError):
        table["a"]
    table["c"] = 1
    assert table["c"] == 1
    with pytest.raises(TypeError):
        del table["c"]
