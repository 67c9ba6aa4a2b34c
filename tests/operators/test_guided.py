"""Chains guided to their ends give what following every relationship gives."""

from __future__ import annotations

import pytest

import hoplite
from hoplite.engine.operators import guided

_CHAIN = "MATCH (a:N {i: 0})-[:T]->(b)-[:T]->(c)-[:T]->(d:N {i: $end}) "


@pytest.fixture
def db(monkeypatch: pytest.MonkeyPatch) -> hoplite.Database:
    """From 0 over 1 to 6 to 7, and from there to 8; 9 is not reached."""
    monkeypatch.setattr(guided, "_FEW_STEPS", 1)
    db = hoplite.open()
    db.run("CREATE INDEX FOR (n:N) ON (n.i)").consume()
    db.run("UNWIND range(0, 9) AS i CREATE (:N {i: i, zero: 0})").consume()
    db.run(
        "MATCH (a:N {i: 0}), (b:N), (c:N {i: 7}), (d:N {i: 8}) WHERE 1 <= b.i <= 6 "
        "CREATE (a)-[:T]->(b)-[:T]->(c) MERGE (c)-[:T]->(d)"
    ).consume()
    db.checkpoint()
    return db


def test_rows_lead_to_the_end(db: hoplite.Database) -> None:
    assert "Expand(Guided)" in db.explain(_CHAIN + "RETURN b.i", end=8)
    found = db.run(_CHAIN + "RETURN b.i AS b, c.i AS c, d.i AS d ORDER BY b", end=8).values()
    assert found == [[b, 7, 8] for b in range(1, 7)]
    assert db.run(_CHAIN + "RETURN b.i", end=9).values() == []


def test_a_condition_that_fails_on_an_end_without_a_match_is_not_seen(db: hoplite.Database) -> None:
    """The guide asks it of every end that an index finds; where it fails, rows are made without one."""
    fails = _CHAIN.replace("{i: $end}", "") + "WHERE d.i IN $ends AND d.i % (9 - d.i) = 0 RETURN count(b) AS n, b.zero"
    assert db.run(fails, ends=[8, 9]).values() == [[6, 0]]
    failing = _CHAIN + "WHERE d.i / d.zero = 1 RETURN b.i"
    assert db.run(failing, end=9).values() == []
    with pytest.raises(Exception, match="by zero"):
        db.run(failing, end=8).values()


def test_a_chain_sees_what_its_statement_wrote(db: hoplite.Database) -> None:
    written = "MATCH (x:N {i: 7}), (y:N {i: 9}) CREATE (x)-[:T]->(y) WITH DISTINCT x "
    assert db.run(written + _CHAIN + "RETURN count(*) AS n, b.zero", end=9).values() == [[6, 0]]


def test_null_and_missing_ends(db: hoplite.Database) -> None:
    assert db.run(_CHAIN + "RETURN b.i", end=None).values() == []
    query = (
        "UNWIND [0, 1, 99] AS i OPTIONAL MATCH (a:N {i: i}) OPTIONAL MATCH (d:N {i: 8}) "
        "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(d) RETURN i, count(*)"
    )
    assert db.run(query).values() == [[0, 6]]
