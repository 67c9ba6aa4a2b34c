"""Patterns of several MATCH clauses give what the plain matcher finds, with the rewrite rules and without them."""

from __future__ import annotations

import random

import pytest

from hoplite.planner import optimise
from tests.joins.matcher import answer
from tests.joins.patterns import random_graph, random_query
from tests.joins.run import counted, database, differences, got
from tests.planner.test_rules_on_and_off import NEEDED


@pytest.mark.parametrize("seed", range(30))
def test_random_joins(seed: int) -> None:
    assert differences(seed) == []


@pytest.mark.parametrize("seed", range(1000, 1005))
def test_random_joins_without_rules(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimise, "RULES", tuple(rule for rule in optimise.RULES if rule.__name__ in NEEDED))
    assert differences(seed) == []


def test_the_matcher_tells_right_from_wrong() -> None:
    """A query and an answer that is off by one row differ: the comparison is not blind."""
    source = random.Random(7)
    graph = random_graph(source)
    with database(graph, 7) as db:
        query = next(q for q in (random_query(source) for _ in range(1000)) if len(answer(graph, q)) > 1)
        assert got(db, query) == counted(iter(answer(graph, query)))
        assert got(db, query) != counted(iter(answer(graph, query)[1:]))
