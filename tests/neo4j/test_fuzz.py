"""A short run of differential fuzzing; `python -m tests.neo4j.fuzz` for longer ones."""

from __future__ import annotations

import random

import pytest
from neo4j import Driver

from hoplite.grammar.parse import parse
from tests.neo4j.choices import Choices, shrunk
from tests.neo4j.fuzz import choices_of, fuzz
from tests.neo4j.random_graphs import random_graph
from tests.neo4j.random_queries import random_query
from tests.neo4j.random_syntax import differences, random_statement, verdicts

SEED = 20_260_101
COUNT = 300


@pytest.mark.neo4j
def test_random_queries_have_the_same_answers(empty: Driver) -> None:
    found, counts = fuzz(empty, range(SEED, SEED + COUNT))
    assert not found, "\n\n".join(map(str, found))
    assert counts["equal"] > COUNT / 2


@pytest.mark.neo4j
def test_random_statements_are_taken_or_refused_alike(empty: Driver) -> None:
    every = list(verdicts(empty, range(SEED, SEED + COUNT)))
    found = differences(every)
    assert not found, "\n\n".join(map(str, found))
    assert sum(not one.theirs for one in every) > COUNT / 10


def test_choices_played_again_make_the_same_case() -> None:
    for seed in range(50):
        graph_choices, query_choices = choices_of(seed)
        graph, query = random_graph(graph_choices), random_query(query_choices)
        assert repr(random_graph(Choices(graph_choices.made))) == repr(graph)
        assert random_query(Choices(query_choices.made)) == query
        choices = Choices(random.Random(seed))
        statement = random_statement(choices)
        assert random_statement(Choices(choices.made)) == statement


def test_every_list_of_choices_makes_a_query_that_parses() -> None:
    for seed in range(200):
        source = random.Random(seed)
        parse(random_query(Choices([source.randrange(12) for _ in range(60)])).text)


def test_shrinking_finds_the_smallest_list() -> None:
    assert shrunk([9, 3, 70, 8, 55], lambda made: any(number > 50 for number in made), 200) == [51]
