"""Long lists in many rows: sliced and shared, they give the same results."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import hoplite
from hoplite.engine.expressions import lists
from hoplite.engine.expressions.regex_work import MOST_WAYS, ways
from hoplite.values import columns

_QUERIES = (
    "UNWIND range(1, 9) AS i RETURN [x IN range(1, i) WHERE x % 2 = 1 | x * i] AS l",
    "UNWIND [null, [], [1, null, 2], [3]] AS l RETURN [x IN l | x + 1] AS l, any(x IN l WHERE x > 2) AS a",
    "UNWIND range(0, 9) AS i RETURN all(x IN range(0, i) WHERE x < 5) AS a, single(x IN range(0, i) WHERE x = 5) AS s",
    "UNWIND range(0, 9) AS i RETURN reduce(t = i, x IN range(1, i) | t + x) AS t",
    "MATCH (n:N) WITH collect(n) AS ns RETURN [x IN ns | [y IN ns WHERE y.i > x.i | y.i]] AS l",
    "MATCH (n:N) WITH collect(n) AS ns UNWIND ns AS n RETURN n.i AS i, size(ns) AS s, ns[0].i AS f, n IN ns AS has",
    "MATCH p = (:N {i: 0})-->()-->() WITH collect(p) AS ps UNWIND ps AS p UNWIND [1, 2] AS k RETURN length(p) AS l",
    "MATCH p = (:N)-->()-->() UNWIND range(1, 5) AS k RETURN k, length(p) AS l, [n IN nodes(p) | n.i] AS ids",
    "MATCH (a:N)-[r*2]->(b) UNWIND [1, 2, 3] AS k RETURN k, [x IN r | startNode(x).i] AS l",
)


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as db:
        db.run("UNWIND range(0, 6) AS i CREATE (:N {i: i})").consume()
        db.run("MATCH (a:N), (b:N) WHERE b.i IN [a.i + 1, a.i + 2] CREATE (a)-[:R]->(b)").consume()
        yield db


@pytest.mark.parametrize("query", _QUERIES)
def test_slices_and_shared_values_change_nothing(
    db: hoplite.Database, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    expected = db.run(query).values()
    monkeypatch.setattr(lists, "_SLICE", 3)
    monkeypatch.setattr(lists, "_PIECE", 2)
    monkeypatch.setattr(columns, "_COPIED", 4)
    assert db.run(query).values() == expected


def test_an_error_in_a_later_slice_names_the_row_before_which_rows_are_handed_on(
    db: hoplite.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "_SLICE", 3)
    query = "UNWIND range(1, 9) AS i RETURN [x IN range(0, i) | 10 / (7 - x)][0] AS x LIMIT 6"
    assert db.run(query).values() == [[1]] * 6


@pytest.mark.parametrize(
    ("pattern", "length", "expected"),
    [
        ("abc", 1000, 1),
        ("a|bc", 1000, 2),
        ("[^x]*x", 10, 11),
        ("(ab)*", 10, 6),
        ("a?b?", 10, 4),
        ("(a?){30}", 10, MOST_WAYS),
        ("(a+)+", 40, MOST_WAYS),
        ("(ab|c)(ab|c)", 10, 4),
        ("a{3,7}", 100, 5),
    ],
)
def test_ways_that_a_pattern_may_be_tried(pattern: str, length: int, expected: int) -> None:
    assert ways(pattern, length) == expected
