"""Columns of consecutive integers, which are computed and not read: the same values as any other column has."""

from __future__ import annotations

import numpy as np
import pytest

import hoplite


@pytest.mark.parametrize("first", [0, 7, -3])
def test_numbers_of_nodes_are_those_that_were_loaded(first: int) -> None:
    numbers = first + np.arange(50)
    with hoplite.open() as db:
        db.load(
            nodes={"N": {"id": numbers}}, relationships={("N", "E", "N"): {"start": numbers[:-1], "end": numbers[1:]}}
        )
        ball = "UNWIND $s AS x MATCH (a:N {id: x})-[:E*0..2]->(b) RETURN DISTINCT b.id AS id"
        assert db.run("MATCH (n:N) RETURN n.id AS id").to_arrow()["id"].to_pylist() == numbers.tolist()
        near = [first + 10, first + 11, first + 12]
        assert sorted(db.run(ball, s=[first + 10, first + 100]).value()) == near
        assert set(db.run(ball, s=[first + 48]).to_arrow()["id"].to_pylist()) == {first + 48, first + 49}
        assert db.run(ball, s=[first - 1, first + 50, True, 1.5]).value() == []

        db.run("MATCH (n:N {id: $x}) SET n.id = 1000", x=first + 11).consume()
        assert sorted(db.run(ball, s=[first + 10]).value()) == [first + 10, first + 12, 1000]
        db.run("MATCH (n:N {id: 1000}) REMOVE n.id CREATE (n)-[:E]->(:N {id: 2000})").consume()
        found = db.run(ball, s=[first + 10]).value()
        assert sorted(x for x in found if x is not None) == [first + 10, first + 12, 2000]
        assert found.count(None) == 1


def test_integers_with_a_gap_are_read() -> None:
    numbers = np.array([0, 1, 3, 2, 4])
    with hoplite.open() as db:
        db.load(nodes={"N": {"id": numbers}})
        assert db.run("MATCH (n:N) RETURN n.id").value() == numbers.tolist()
