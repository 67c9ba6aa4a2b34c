"""The live Neo4j of these tests: NEO4J_URI where it is set, else one that is started for the session."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from neo4j import Driver, GraphDatabase

from tests.neo4j.server import Unavailable, running


@pytest.fixture(scope="session")
def neo4j_uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Tests empty its database as they like."""
    if given := os.environ.get("NEO4J_URI"):
        yield given
        return
    try:
        with running(tmp_path_factory.mktemp("neo4j")) as server:
            yield server.uri
    except Unavailable as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def driver(neo4j_uri: str) -> Iterator[Driver]:
    """A driver of the live server; NEO4J_USER and NEO4J_PASSWORD say who asks."""
    password = os.environ.get("NEO4J_PASSWORD")
    auth = None if password is None else (os.environ.get("NEO4J_USER", "neo4j"), password)
    with GraphDatabase.driver(neo4j_uri, auth=auth, notifications_min_severity="OFF") as driver:
        yield driver


@pytest.fixture
def empty(driver: Driver) -> Driver:
    """The driver of a server without nodes, indexes and constraints."""
    driver.execute_query("MATCH (n) CALL (n) { DETACH DELETE n } FINISH")
    for kind, names in (
        ("CONSTRAINT", "SHOW CONSTRAINTS YIELD name"),
        ("INDEX", "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'"),
    ):
        for record in driver.execute_query(names).records:
            driver.execute_query(f"DROP {kind} `{record['name']}`")
    return driver
