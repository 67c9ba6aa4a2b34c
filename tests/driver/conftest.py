"""A driver over an empty database in memory, for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from neo4j import Driver

from hoplite import GraphDatabase


@pytest.fixture
def driver() -> Iterator[Driver]:
    """Closed at the end of the test."""
    with GraphDatabase.driver("hoplite://memory") as driver:
        yield driver
