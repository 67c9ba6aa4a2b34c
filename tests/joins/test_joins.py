"""Patterns of several MATCH clauses give what the plain matcher finds, with the rewrite rules and without them."""

from __future__ import annotations

import random

import pytest

from tests.joins import matcher
from tests.joins.matcher import answer
from tests.joins.patterns import random_graph, random_query
from tests.joins.run import counted, database, differences, got, without_rules


@pytest.mark.parametrize("seed", range(30))
def test_random_joins(seed: int) -> None:
    assert differences(seed)[0] == []


@pytest.mark.parametrize("seed", range(1000, 1005))
def test_random_joins_without_rules(seed: int) -> None:
    with without_rules():
        assert differences(seed)[0] == []


def test_queries_with_too_many_rows_for_the_matcher_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matcher, "_MOST_ROWS", 0)
    found, skipped = differences(7)
    assert found == []
    assert skipped > 0


def test_the_matcher_tells_right_from_wrong() -> None:
    """A query and an answer that is off by one row differ: the comparison is not blind."""
    source = random.Random(7)
    graph = random_graph(source)
    with database(graph, 7) as db:
        query = next(q for q in (random_query(source) for _ in range(1000)) if len(answer(graph, q)) > 1)
        assert got(db, query) == counted(iter(answer(graph, query)))
        assert got(db, query) != counted(iter(answer(graph, query)[1:]))
