"""A few hundred damaged queries with every run of the tests; `make fuzz` tries many more."""

from __future__ import annotations

import random

import pytest
from neo4j.exceptions import BrokenRecordError, Neo4jError

import hoplite
from tests.fuzz.run import GRAPH, mutated, parameters, seeds


def test_damaged_queries_end_in_an_answer_or_a_cypher_error() -> None:
    texts = seeds()
    assert len(texts) > 50
    db = hoplite.open(timeout=2.0, max_rows=100_000)
    db.run(GRAPH)
    answers = errors = 0
    for number in range(400):
        chance = random.Random(number)
        query, given = mutated(texts, chance), parameters(chance)
        try:
            with db.begin() as transaction:
                transaction.run(query, given).values()
                transaction.rollback()
            answers += 1
        except (Neo4jError, BrokenRecordError):
            errors += 1
        except Exception as problem:
            pytest.fail(f"{query!r} {given}: {problem!r}")
    assert answers > 50
    assert errors > 50
