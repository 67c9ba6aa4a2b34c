"""The parse table is that of the grammar, and is read without what made it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hoplite.grammar import table
from hoplite.grammar.build import action
from hoplite.grammar.make_table import table_text
from hoplite.grammar.parse import parse

GRAMMAR = Path(table.__file__).parent


def test_the_table_is_that_of_the_grammar() -> None:
    grammar = (GRAMMAR / "cypher.lark").read_text("utf-8")
    assert (GRAMMAR / "cypher.table").read_text("utf-8") == table_text(grammar), "python -m hoplite.grammar.make_table"


def test_a_table_of_another_grammar_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cypher.lark", "cypher.table"):
        (tmp_path / name).write_text((GRAMMAR / name).read_text("utf-8"), "utf-8")
    monkeypatch.setattr(table, "__file__", str(tmp_path / "table.py"))
    assert table.load_table().actions[0]
    (tmp_path / "cypher.lark").write_text("start: A", "utf-8")
    with pytest.raises(RuntimeError, match="make_table"):
        table.load_table()


def test_every_rule_has_what_builds_it() -> None:
    loaded = table.load_table()
    count = int((GRAMMAR / "cypher.table").read_text("utf-8").splitlines()[1].split()[2])
    assert count > 500
    for number in range(count):
        rule = loaded.rules[number]
        assert callable(action(rule.action)) if rule.action else rule.makes_list or rule.size


def test_states_are_read_when_they_are_met() -> None:
    loaded = table.load_table()
    assert not loaded.actions and not loaded.rules
    assert loaded.actions[loaded.start]
    assert list(loaded.actions) == [loaded.start]
    assert parse("RETURN 1")


def test_parsing_loads_neither_lark_nor_the_driver() -> None:
    program = (
        "import sys; from hoplite.grammar.parse import parse; parse('RETURN 1'); "
        "print('lark' in sys.modules, 'neo4j' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["False", "False"]
