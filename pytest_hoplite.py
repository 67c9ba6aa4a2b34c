"""Fixtures for pytest: `hoplite_uri` is a server with an empty graph, for one test.

    def test_the_importer(hoplite_uri):
        with neo4j.GraphDatabase.driver(hoplite_uri) as driver: ...

A module of its own, so that pytest loads nothing of Hoplite where no test asks for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


def _load_hoplite_as_it_is() -> None:
    """Take Hoplite from what pytest rewrites.

    pytest rewrites the assertions of everything that is installed with a plugin, here the whole engine, so that a
    failing one shows its values. That takes seconds, and CPython 3.11 fails where two threads parse at once, while the
    engine loads its compiled loops in a thread of its own.
    """
    for finder in sys.meta_path:
        marked = getattr(finder, "_must_rewrite", None)
        if isinstance(marked, set):
            marked.discard("hoplite")


_load_hoplite_as_it_is()


@pytest.fixture
def hoplite_uri() -> Iterator[str]:
    """The `bolt://` address of a server with an empty graph, which is gone after the test."""
    import hoplite

    with hoplite.serve() as uri:
        yield uri
