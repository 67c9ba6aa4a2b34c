"""User-defined procedures and functions; bulk loading."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from neo4j.exceptions import ClientError

import hoplite


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as db:
        yield db


def test_a_procedure_of_rows_yields_those_whose_inputs_match(db: hoplite.Database) -> None:
    rows = [{"name": "Ann", "city": "Oslo"}, {"name": "Bob", "city": "Rome"}, {"name": "Ann", "city": "Bern"}]
    db.register_procedure("test.cities(name :: STRING?) :: (city :: STRING?)", rows)
    assert sorted(db.run("CALL test.cities('Ann') YIELD city RETURN city").value()) == ["Bern", "Oslo"]
    assert db.run("UNWIND ['Bob', 'Cid'] AS n CALL test.cities(n) YIELD city RETURN n, city").values() == [
        ["Bob", "Rome"]
    ]
    with pytest.raises(ClientError):
        db.run("CALL test.cities()")


def test_a_procedure_of_a_function(db: hoplite.Database) -> None:
    def upto(n: int) -> Iterator[dict[str, Any]]:
        yield from ({"i": i, "square": i * i} for i in range(n))

    db.register_procedure("my.upto(n :: INTEGER) :: (i :: INTEGER, square :: INTEGER)", upto)
    assert db.run("CALL my.upto(3) YIELD i, square RETURN i, square").values() == [[0, 0], [1, 1], [2, 4]]


def test_a_function_of_ones_own(db: hoplite.Database) -> None:
    db.register_function("my.shout(text :: STRING) :: STRING", lambda text: text.upper() + "!")
    assert db.run("UNWIND ['a', 'b'] AS x RETURN my.shout(x)").value() == ["A!", "B!"]


@pytest.mark.parametrize(
    "table",
    [
        {"id": [1, 2], "name": ["x", None]},
        {"id": np.array([1, 2]), "name": np.array(["x", None], dtype=object)},
        pd.DataFrame({"id": [1, 2], "name": ["x", None]}),
        pa.table({"id": [1, 2], "name": ["x", None]}),
    ],
    ids=["lists", "numpy", "pandas", "arrow"],
)
def test_tables_of_every_kind_are_loaded(db: hoplite.Database, table: Any) -> None:
    ends = {"start": [1, 2], "end": [2, 2], "w": [0.5, 1.5]}
    loaded = db.load(nodes={("P", "Q"): table}, relationships={("P", "R", "P"): ends}, key="id")
    assert loaded == {"nodes": 2, "relationships": 2}
    rows = db.run("MATCH (n:P:Q) RETURN n.id, n.name, properties(n) ORDER BY n.id").values()
    assert rows == [[1, "x", {"id": 1, "name": "x"}], [2, None, {"id": 2}]]
    hops = db.run("MATCH (a)-[r:R]->(b) RETURN a.id, r.w, b.id ORDER BY a.id").values()
    assert hops == [[1, 0.5, 2], [2, 1.5, 2]]


def test_schema_counts_labels_types_and_connections(db: hoplite.Database) -> None:
    db.run("CREATE (:A {x: 1})-[:R {y: 2}]->(:B), (:A)").consume()
    schema = db.schema()
    assert schema["labels"] == {"A": 2, "B": 1} and schema["relationship_types"] == {"R": 1}
    assert sorted(schema["property_keys"]) == ["x", "y"] and schema["connections"] == [("A", "R", "B", 1)]


def test_profile_counts_rows(db: hoplite.Database) -> None:
    db.run("UNWIND range(1, 7) AS i CREATE (:A {i: i})").consume()
    assert "7" in db.profile("MATCH (a:A) RETURN a")


def test_a_registered_function_is_called_for_every_row_unless_it_is_said_to_be_deterministic() -> None:
    with hoplite.open() as db:
        db.run("CREATE (a:A), (b:B) WITH a, b UNWIND range(1, 5) AS i CREATE (a)-[:R]->(b)").consume()
        calls = itertools.count()
        query = "MATCH (a:A)-[:R]->(b) WITH DISTINCT a, my.next() AS n RETURN count(*)"
        db.register_function("my.next() :: INTEGER", lambda: next(calls))
        assert db.run(query).value() == [5]
        db.register_function("my.next() :: INTEGER", lambda: next(calls), deterministic=True)
        assert db.run(query).value() == [1]
