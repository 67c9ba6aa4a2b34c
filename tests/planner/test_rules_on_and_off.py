"""Queries with every rule of the planner, and with none but those that they cannot run without; with every choice of a
physical operator, with each one taken away, and with none.
"""

from __future__ import annotations

import random

import pytest

import hoplite
from hoplite.planner import choose, optimise
from hoplite.planner.plan_tree import every_operator

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
    monkeypatch.setattr(choose, "CHOICES", ())
    for query, ours, plain in zip(queries, by_rules, answers(graph, queries, 1), strict=True):
        assert ours == plain, f"{query}\n{graph}"


_PARAMETERS = {"ids": [0, 1, 1, 3, None, 99], "id": 1}
_CHOSEN = (
    "MATCH (a:A {i: $id}) RETURN a.x",
    "CALL { MATCH (a:A {i: $id}) RETURN a } RETURN a.s",
    "UNWIND [1, 2] AS u CALL (u) { MATCH (a:A {i: $id}) RETURN a.x + u AS y } RETURN y",
    "UNWIND $ids AS id MATCH (a:A {i: id})-[:T*1..3]->(b) RETURN count(DISTINCT b)",
    "UNWIND $ids AS id MATCH (a:A {i: id})-[:T|S*0..2]-(b) RETURN DISTINCT b.i",
    "UNWIND $ids AS id MATCH (a:A {i: id})-[*1..2]-(b) RETURN DISTINCT b.x",
    "MATCH (c) RETURN c.i, COUNT { UNWIND $ids AS id MATCH (a:A {i: id})-[:T*1..3]->(b) RETURN DISTINCT b }",
    "MATCH (c) CALL (c) { MATCH (a:A)-[:T*1..3]->(b) RETURN count(DISTINCT b) AS n } RETURN c.i, n",
    "MATCH (a:A)-[:T]->()-[:S]->(b) RETURN a.x, count(DISTINCT b.s)",
    "MATCH (a:A)-[:T]-()-[:S]-(b) RETURN b.x, count(DISTINCT a.s)",
    "MATCH (c) CALL (c) { MATCH (a)-[:T]-()-[:S]-(b) RETURN b.x AS x, count(DISTINCT a.s) AS n } RETURN c.i, x, n",
    "MATCH (a) WITH a ORDER BY a.i SKIP 1 LIMIT 2 RETURN a.i",
    "UNWIND [1, 2, 3, 4] AS u WITH u SKIP 1 LIMIT 2 RETURN u",
    "UNWIND range(1, 5, 2) AS n UNWIND range(n, 3) AS m RETURN n, m",
    "MATCH (a) WITH a.x AS x, a.s AS s RETURN s, x",
    "MATCH (a) WITH DISTINCT a.x AS x RETURN x",
    "MATCH (a) WITH a.x AS x, count(*) AS n RETURN n, x",
    "MATCH (a) SET a.y = 1, a.z = 2 MERGE (m:M {x: a.i % 2}) ON CREATE SET m.n = 1 ON MATCH SET m.n = m.n + 1 "
    "CREATE (a)-[:L]->(m) REMOVE a.y FOREACH (k IN [1, 2] | CREATE (:K {k: k})) RETURN a.z, m.n",
    "MATCH (a) RETURN count(a.y), count(a.z)",
    "MATCH (k:K) RETURN k.k",
)


@pytest.mark.parametrize("seed", range(6))
def test_answers_do_not_depend_on_which_operators_are_chosen(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each choice is taken away alone, and then all of them."""
    graph = random_graph(random.Random(seed))

    def found() -> list[list[str]]:
        with hoplite.open() as db:
            db.run("CREATE INDEX FOR (a:A) ON (a.i)").consume()
            db.run(graph).consume()
            return [sorted(map(repr, db.run(query, _PARAMETERS).data())) for query in _CHOSEN]

    by_choices, every = found(), choose.CHOICES
    for left in [*(tuple(c for c in every if c is not without) for without in every), ()]:
        monkeypatch.setattr(choose, "CHOICES", left)
        for query, ours, plain in zip(_CHOSEN, by_choices, found(), strict=True):
            assert ours == plain, f"{query}\n{graph}"


def test_the_queries_above_ask_for_every_choice() -> None:
    with hoplite.open() as db:
        db.run("CREATE INDEX FOR (a:A) ON (a.i)").consume()
        asked: set[str] = set()
        for query in _CHOSEN:
            plan = db._preparer.prepare(query, db._graph.snapshot(), _PARAMETERS).plan
            assert plan is not None
            asked |= {type(node).__name__ for node in every_operator(plan)}
    special = {"ParameterSeek", "ElementsSeek", "CountEnds", "DistinctEnds", "CountPairs", "Cut", "UnwindRange"}
    assert special <= asked
