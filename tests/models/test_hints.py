"""What errors and notifications say beside Neo4j's words."""

from __future__ import annotations

import pytest
from neo4j.exceptions import CypherSyntaxError, Neo4jError

import hoplite
from hoplite import Database


def test_an_error_carries_hints_and_keeps_its_message(db: Database) -> None:
    with pytest.raises(CypherSyntaxError) as raised:
        db.run("MATCH (d:Drug) RETURN average(d.half_life_hours)")
    message = raised.value.message
    assert message is not None
    assert message.startswith("Unknown function 'average'")
    assert "avg(d.half_life_hours)" in next(iter(raised.value.hints))


def test_an_error_while_running_has_no_hints(db: Database) -> None:
    with pytest.raises(Neo4jError) as raised:
        db.run("UNWIND [1, 0] AS x RETURN 1 / x").values()
    assert list(raised.value.hints) == []


def test_a_warning_about_a_name_carries_hints(db: Database) -> None:
    summary = db.run("MATCH (d:Drugs) RETURN d").consume()
    records = [status.diagnostic_record for status in summary.gql_status_objects]
    hints = [record["_hints"] for record in records if "_hints" in record]
    assert hints == [["No node has the label Drugs. Perhaps: Drug, DrugClass."]]


def test_hints_of_a_closed_database_are_empty() -> None:
    db = hoplite.open()
    with pytest.raises(CypherSyntaxError) as raised:
        db.run("RETURN x")
    db.close()
    assert list(raised.value.hints) == []
