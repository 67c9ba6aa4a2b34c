"""Fixtures for pytest: `hoplite_uri` is a server with an empty graph, for one test.

    def test_the_importer(hoplite_uri):
        with neo4j.GraphDatabase.driver(hoplite_uri) as driver: ...

A module of its own, so that pytest loads nothing of Hoplite where no test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def hoplite_uri() -> Iterator[str]:
    """The `bolt://` address of a server with an empty graph, which is gone after the test."""
    import hoplite

    with hoplite.serve() as uri:
        yield uri
