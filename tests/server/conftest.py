"""Servers to talk to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from neo4j import Driver, GraphDatabase

import hoplite
from hoplite.server import Served


@pytest.fixture
def database() -> Iterator[hoplite.Database]:
    with hoplite.open() as db:
        yield db


@pytest.fixture
def served(database: hoplite.Database) -> Iterator[Served]:
    server = hoplite.serve(database, grace=5)
    yield server
    server.close()


@pytest.fixture
def driver(served: Served) -> Iterator[Driver]:
    with GraphDatabase.driver(served.uri) as opened:
        yield opened
