"""APOC's procedures and functions compared with a live Neo4j."""

from __future__ import annotations

import pytest
from neo4j import Driver

import hoplite
from tests.neo4j.apoc_queries import GRAPH, GROUPS, REFUSED


@pytest.mark.neo4j
@pytest.mark.parametrize("group", GROUPS)
def test_apoc_answers_as_on_a_server(empty: Driver, group: str) -> None:
    empty.execute_query(GRAPH)
    with hoplite.import_neo4j(empty) as db:
        report = hoplite.diff(db, empty, GROUPS[group])
    found = [f"{one.query}\n  {one.reason}\n  {one.only_hoplite}\n  {one.only_neo4j}" for one in report.differences]
    assert not found, "\n".join(found)
    assert report.counts()["equal"] >= 0.7 * len(GROUPS[group])


@pytest.mark.neo4j
@pytest.mark.parametrize("group", REFUSED)
def test_what_apoc_refuses_is_refused_as_on_a_server(empty: Driver, group: str) -> None:
    empty.execute_query(GRAPH)
    with hoplite.import_neo4j(empty) as db:
        report = hoplite.diff(db, empty, REFUSED[group])
    assert not report.differences, report.differences
    assert report.counts()["both error"] == len(REFUSED[group])
