"""Relationships found by their ids, held against a scan: `id(r) + 0` cannot be looked up."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import hoplite

ARROWS = ("-[r{}]->", "<-[r{}]-", "-[r{}]-")
VALUES = [0, 7, 11, 59, 60, 10**6, -1, 3.0, 3.5, None, "7", True, 2**63 - 1]


def filled(path: Path | None, seed: int) -> hoplite.Database:
    """A multigraph with loops and parallel relationships; some are written after the load, some are gone."""
    dice = random.Random(seed)
    db = hoplite.open(path)
    db.run("UNWIND range(0, 11) AS i CREATE (n:N {i: i}) FOREACH (_ IN CASE WHEN i % 3 = 0 THEN [1] END | SET n:M)")
    for _ in range(60):
        ends = {"a": dice.randrange(12), "b": dice.randrange(12)}
        db.run(f"MATCH (a:N {{i: $a}}), (b:N {{i: $b}}) CREATE (a)-[:{dice.choice('RST')}]->(b)", ends)
    if path is not None:
        db.checkpoint()
    db.run("MATCH (a:N {i: 1}) CREATE (a)-[:R]->(a), (a)-[:S]->(:N {i: 12})")
    db.run("MATCH ()-[r]->() WHERE id(r) IN [7, 20] DELETE r")
    return db


def rows(source: hoplite.Database | hoplite.Transaction, text: str, **parameters: object) -> list[list[object]]:
    return sorted(source.run(text, parameters).values(), key=repr)


@pytest.mark.parametrize("in_folder", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_the_same_are_found_as_by_a_scan(in_folder: bool, seed: int, tmp_path: Path) -> None:
    with filled(tmp_path / "graph.hop" if in_folder else None, seed) as db:
        every = [identity for (identity,) in rows(db, "MATCH ()-[r]->() RETURN id(r)")]
        for arrow in ARROWS:
            for types in ("", ":R", ":R|S", ":Absent"):
                for left, right in (("(a)", "(b)"), ("(a:M)", "(b)"), ("(a:N)", "(b:M)")):
                    pattern = f"MATCH {left}{arrow.format(types)}{right} WHERE "
                    shown = " RETURN id(r), a.i, b.i"
                    by_scan = pattern + "id(r) + 0 IN $x" + shown
                    assert rows(db, pattern + "id(r) IN $x" + shown, x=every) == rows(db, by_scan, x=every)
                    for value in VALUES:
                        scanned = rows(db, pattern + "id(r) + 0 = $x" + shown, x=value)
                        assert rows(db, pattern + "id(r) = $x" + shown, x=value) == scanned
                        listed = [value, value, 11, 11.0]  # the last two are one id
                        scanned = rows(db, by_scan, x=listed)
                        assert rows(db, pattern + "id(r) IN $x" + shown, x=listed) == scanned


def test_element_ids_name_a_relationship_of_this_database() -> None:
    with filled(None, 1) as db:
        found = "MATCH (a)-[r]->(b) WHERE elementId(r) = $x RETURN id(r), a.i, b.i"
        every = rows(db, "MATCH (a)-[r]->(b) RETURN id(r), a.i, b.i, elementId(r)")
        for *row, name in every:
            assert rows(db, found, x=name) == [row]
        (of_node,) = rows(db, "MATCH (n:N {i: 5}) RETURN elementId(n)")[0]
        name = str(every[0][-1])
        for wrong in (of_node, name[:-1] + "x", name + "0000", "5:" + name, "", None, 3, name.replace("5:", "4:", 1)):
            assert rows(db, found, x=wrong) == []


def test_ids_come_from_rows_and_writes_of_the_transaction_count() -> None:
    with filled(None, 2) as db, db.begin() as transaction:
        text = "UNWIND $x AS x MATCH (a)-[r]->(b)-[s]->(c) WHERE {} = x RETURN x, id(r), id(s), a.i, b.i, c.i"
        for numbers in ([0, 1, 1, 30], [], [None, "a"]):
            sought = rows(transaction, text.format("id(r)"), x=numbers)
            assert sought == rows(transaction, text.format("id(r) + 0"), x=numbers)
        made = transaction.run("MATCH (a:N {i: 3}) CREATE (a)-[r:New {v: 1}]->(a) RETURN id(r)").single()
        assert made is not None
        change = "MATCH ()-[r]-() WHERE id(r) = $x SET r.v = r.v + 1 RETURN r.v"
        assert rows(transaction, change, x=made[0]) == [[2]]  # a loop once
        transaction.run("MATCH ()-[r]->() WHERE id(r) = $x DELETE r", x=made[0]).consume()
        assert rows(transaction, "MATCH ()-[r]->() WHERE id(r) = $x RETURN r", x=made[0]) == []


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("MATCH ()-[r]->() WHERE id(r) = 3 RETURN r", "DirectedRelationshipByIdSeek"),
        ("MATCH (a:N)<-[r:R]-(b) WHERE 3 = id(r) RETURN a", "DirectedRelationshipByIdSeek"),
        ("MATCH (a)-[r]-(b) WHERE elementId(r) IN $x RETURN a", "UndirectedRelationshipByElementIdSeek"),
        ("MATCH (a)-[r]->(b)-->(c)-->(d)-->(e) WHERE id(r) = 3 RETURN e", "DirectedRelationshipByIdSeek"),
        ("MATCH (a)-[r]->(b) WHERE id(r) = a.i RETURN b", "Filter"),
        ("MATCH (a)-[r]->(b) WHERE id(r) = 3 OR a.i = 1 RETURN b", "Filter"),
        ("MATCH (a)-[r*1..2]->(b) WHERE id(r[0]) = 3 RETURN b", "Filter"),
    ],
)
def test_the_plan_begins_with_them(text: str, operator: str) -> None:
    with filled(None, 1) as db:
        plan = db.explain(text)
        assert f"+{operator} " in plan
        assert ("ByIdSeek" in plan or "ByElementIdSeek" in plan) == (operator != "Filter")
