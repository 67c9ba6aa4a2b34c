"""What `hoplite.open` accepts, and what the package exports."""

from __future__ import annotations

import inspect

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


def test_the_package_shows_what_there_is() -> None:
    assert set(hoplite.__all__) <= set(dir(hoplite))
