"""A short run of random programs that write; `python -m tests.neo4j.programs` for longer ones."""

from __future__ import annotations

import random

import pytest
from neo4j import Driver

from hoplite.grammar.parse import parse
from tests.neo4j.choices import Choices
from tests.neo4j.programs import compare_programs
from tests.neo4j.random_programs import random_program

SEED = 20_260_000
COUNT = 200


@pytest.mark.neo4j
def test_random_programs_leave_the_same_graphs(empty: Driver) -> None:
    found, counts = compare_programs(empty, range(SEED, SEED + COUNT), fast=True)
    assert not found, "\n\n".join(map(str, found))
    assert counts["equal"] > COUNT / 2


def test_choices_played_again_make_the_same_program() -> None:
    for seed in range(50):
        choices = Choices(random.Random(seed))
        assert random_program(Choices(choices.made)) == random_program(Choices(choices.made)) != ()


def test_every_program_parses() -> None:
    for seed in range(200):
        for statement in random_program(Choices(random.Random(seed))):
            parse(statement)
