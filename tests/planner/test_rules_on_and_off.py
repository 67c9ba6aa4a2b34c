"""Random queries with every rule of the planner, and with none but those that a query cannot run without."""

from __future__ import annotations

import random

import pytest

import hoplite
from hoplite.planner import optimise

_TYPES = (":T", ":S", ":R", "", ":T|S", ":T*1..2", ":S*2", ":R*0..1")
_ARROWS = (("-", "->"), ("<-", "-"), ("-", "-"))
_NODES = ("", "", ":A", " {x: 1}")
_BEFORE = ("", "", "MATCH (z) OPTIONAL MATCH (z)-[:Q]->(a) ", "UNWIND [1, 1, 2] AS u ")
_BESIDE = ("", "", "", ", (a)-[:T]->(c)", ", (b)-[:S]-(c)", ", (c)-->(c)")
_WHERE = ("", " WHERE a.x > 0", " WHERE b.x = 1", " WHERE a.x = b.x")
_RETURN = (
    "count(*) AS c",
    "count(b) AS c",
    "a.x AS k, count(*) AS c",
    "b.x AS k, count(*) AS c",
    "b, count(*) AS c",
    "a, count(b.x) AS c",
    "a, b, count(*) AS c",
    "b, count(*) AS c, count(DISTINCT a.x) AS d",
    "a.x AS k, sum(b.x) AS s, count(*) AS c",
    "b.s AS k, count(DISTINCT a) AS c, max(b.x) AS m",
    "DISTINCT a.s, b.s",
    "DISTINCT b",
)
NEEDED = ("drop_unused_columns", "sort_and_limit_to_top", "small_pieces_below_limit")
_QUERIES = 8


def random_graph(chance: random.Random) -> str:
    """A statement that creates one, with loops, parallel relationships and cycles."""
    count = chance.randint(1, 7)
    parts = []
    for number in range(count):
        values = f"i: {number}, x: {chance.choice(('null', 0, 1, 2))}, s: {chance.choice((0, 1))}"
        parts.append(f"(n{number}{chance.choice(('', ':A'))} {{{values}}})")
    for _ in range(chance.randint(0, 14)):
        parts.append(f"(n{chance.randrange(count)})-[:{chance.choice('TSRQ')}]->(n{chance.randrange(count)})")
    return "CREATE " + ", ".join(parts)


def random_query(chance: random.Random) -> str:
    """A MATCH of one to three relationships, under an aggregation or DISTINCT."""
    pattern = f"(a{chance.choice(_NODES)})"
    length = chance.randint(1, 3)
    for number in range(length):
        left, right = chance.choice(_ARROWS)
        node = "b" if number == length - 1 else f"m{number}"
        pattern += f"{left}[{chance.choice(_TYPES)}]{right}({node}{chance.choice(_NODES)})"
    match = f"MATCH {pattern}{chance.choice(_BESIDE)}{chance.choice(_WHERE)}"
    return f"{chance.choice(_BEFORE)}{match} RETURN {chance.choice(_RETURN)}"


def answers(graph: str, queries: list[str], partitions: int) -> list[list[str]]:
    with hoplite.open(partitions=partitions) as db:
        db.run(graph).consume()
        return [sorted(map(repr, db.run(query).data())) for query in queries]


@pytest.mark.parametrize("seed", range(25))
def test_answers_do_not_depend_on_the_rules(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    graph, queries = random_graph(chance), [random_query(chance) for _ in range(_QUERIES)]
    by_rules = answers(graph, queries, 1 + seed % 3)
    needed = tuple(rule for rule in optimise.RULES if rule.__name__ in NEEDED)
    assert len(needed) == len(NEEDED)
    monkeypatch.setattr(optimise, "RULES", needed)
    for query, ours, plain in zip(queries, by_rules, answers(graph, queries, 1), strict=True):
        assert ours == plain, f"{query}\n{graph}"
