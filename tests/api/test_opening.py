"""What `hoplite.open` accepts, and what the package exports."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from neo4j.exceptions import Neo4jError

import hoplite


def test_open_takes_what_a_database_takes() -> None:
    opened = inspect.signature(hoplite.open).parameters.values()
    made = list(inspect.signature(hoplite.Database.__init__).parameters.values())[1:]
    assert [(p.name, p.kind, p.default, p.annotation) for p in opened] == [
        (p.name, p.kind, p.default, p.annotation) for p in made
    ]


def test_every_setting_is_documented_and_handed_on() -> None:
    assert hoplite.open.__doc__ is not None
    for name in inspect.signature(hoplite.open).parameters:
        assert name in hoplite.open.__doc__
    with hoplite.open(max_rows=1) as db, pytest.raises(Exception, match="more than the 1 rows"):
        db.run("UNWIND [1, 2] AS x RETURN x").data()


def test_a_misspelt_setting_is_an_error() -> None:
    """For `mypy --strict`, too: it would complain of an ignore that nothing needs."""
    with pytest.raises(TypeError, match="max_row"):
        hoplite.open(max_row=1)  # type: ignore[call-arg]
    with pytest.raises(Neo4jError, match="backend is one of"):
        hoplite.open(backend="nunba")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "kind", "reason"),
    [
        ({"timeout": "5"}, TypeError, "timeout='5' is not a number of seconds"),
        ({"timeout": True}, TypeError, "timeout=True is not"),
        ({"timeout": -1}, ValueError, "timeout=-1: it must be 0 or more"),
        ({"timeout": float("nan")}, ValueError, "timeout=nan"),
        ({"max_rows": "x"}, TypeError, "max_rows='x' is not a number of rows"),
        ({"max_rows": 1.5}, TypeError, "max_rows=1.5"),
        ({"max_rows": -1}, ValueError, "max_rows=-1"),
        ({"partitions": 0}, ValueError, "partitions=0: it must be 1 or more"),
        ({"partitions": -2}, ValueError, "partitions=-2"),
        ({"memory": "12XB"}, ValueError, "memory='12XB' is not a size"),
        ({"durability": "x"}, ValueError, "durability='x': it is 'full' or 'relaxed'"),
        ({"max_text_length": None}, TypeError, "max_text_length=None"),
        ({"max_tokens": "a"}, TypeError, "max_tokens='a' is not a number of tokens"),
        ({"max_nesting": -1}, ValueError, "max_nesting=-1"),
    ],
)
@pytest.mark.parametrize("in_folder", [False, True])
def test_a_setting_that_makes_no_sense_is_refused_at_once(
    settings: dict[str, Any], kind: type[Exception], reason: str, in_folder: bool, tmp_path: Path
) -> None:
    path = tmp_path / "graph.hop" if in_folder else None
    with pytest.raises(kind, match=re.escape(reason)):
        hoplite.open(path, **settings)
    assert not (tmp_path / "graph.hop").exists()


def test_limits_of_sessions_and_transactions_are_checked_too() -> None:
    with hoplite.open() as db:
        with pytest.raises(TypeError, match="timeout='x' is not"):
            db.session(timeout="x")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="max_rows=-3"):
            db.begin(max_rows=-3)
        numbers: dict[str, Any] = {"timeout": np.int64(5), "max_rows": np.int64(1)}
        with db.session(**numbers) as session:
            assert session.run("RETURN 1").value() == [1]


def test_memory_is_spelt_as_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with hoplite.open(":memory:") as db:
        db.run("CREATE (:N)").consume()
    assert not list(tmp_path.iterdir())


def test_the_package_shows_what_there_is() -> None:
    assert set(hoplite.__all__) <= set(dir(hoplite))
