"""Whatever the text, the parser returns a statement or raises a CypherError."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoplite.errors import CypherError
from hoplite.grammar.parse import parse
from hoplite.grammar.statement import Statement

TEXTS = [
    "MATCH (n:A {x: 1})-[r:R|S*1..2]->(m) WHERE n.x IN [1, 2] AND NOT (n)-->(m) RETURN n.x AS x ORDER BY x LIMIT 3",
    "WITH [x IN range(1, 3) WHERE x > 1 | x * 2] AS xs UNWIND xs AS x RETURN CASE x WHEN 1, > 2 THEN 'a' ELSE 'b' END",
    "MATCH p = SHORTEST 2 GROUPS (a)((b)-[s]->(c) WHERE b.v < 3){1,}(d) RETURN [q IN nodes(p) | q {.*, k: 1}]",
    "MERGE (n:A {k: $k}) ON CREATE SET n.x = 1, n += {y: 2} ON MATCH SET n:B FOREACH (x IN [1] | CREATE (:C {v: x}))",
    "CALL (n) { RETURN COUNT { (n)-->() } AS c } IN TRANSACTIONS OF 10 ROWS ON ERROR FAIL RETURN c, 1.5e3, '\\u0041'",
    "CREATE CONSTRAINT c IF NOT EXISTS FOR (n:A) REQUIRE (n.x, n.y) IS NODE KEY OPTIONS {}",
    "SHOW INDEXES YIELD name, type WHERE type = 'RANGE' RETURN count(*) AS c",
]


def outcome(text: str) -> object:
    try:
        return parse(text)
    except CypherError as error:
        return error


@pytest.mark.parametrize("text", TEXTS)
def test_damaged_queries(text: str) -> None:
    assert isinstance(outcome(text), Statement)
    chance = random.Random(text)
    pieces = text.split(" ")
    for _ in range(150):
        damaged = list(pieces)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(damaged))
            action = chance.randrange(4)
            if action == 0:
                damaged[at] = ""
            elif action == 1:
                damaged.insert(at, chance.choice(pieces))
            elif action == 2:
                damaged[at] = damaged[at][: chance.randint(0, len(damaged[at]))]
            else:
                other = chance.randrange(len(damaged))
                damaged[at], damaged[other] = damaged[other], damaged[at]
        assert isinstance(outcome(" ".join(damaged)), Statement | CypherError)


@settings(max_examples=300)
@given(st.text(alphabet="abn:(){}[]<>-=|.,*+'\"`$\\/ 01xRETURNMATCHWHEREIS\n", max_size=40))
def test_any_text(text: str) -> None:
    assert isinstance(outcome(text), Statement | CypherError)
    assert isinstance(outcome("RETURN " + text), Statement | CypherError)
