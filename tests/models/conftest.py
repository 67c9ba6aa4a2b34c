"""The sample graph that ships, for checks and repairs."""

from __future__ import annotations

import pytest

from hoplite import Database
from hoplite.sample import load_sample


@pytest.fixture(scope="module")
def db() -> Database:
    """The sample graph; tests here only read it."""
    return load_sample()
