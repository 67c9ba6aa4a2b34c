"""Keywords are names wherever no keyword fits."""

from __future__ import annotations

import pytest

from hoplite.grammar.parse import parse
from hoplite.grammar.table import load_table

KEYWORDS = sorted(load_table().vocabulary.keywords)


@pytest.mark.parametrize("word", KEYWORDS)
def test_a_keyword_names_variables_labels_types_and_keys(word: str) -> None:
    for name in (word, word.lower()):
        parse(f"MATCH ({name}:A)-[r:R {{{name}: 1}}]->() RETURN {name}.{name} AS {name}, {{{name}: 1}}.{name}")
        if word not in ("NULL", "TRUE", "FALSE", "INF", "INFINITY", "NAN"):  # these are their values
            parse(f"WITH 1 AS {name} RETURN {name}, [{name}], {name} + 1 ORDER BY {name} DESC LIMIT 1")
        if not word.startswith(("NOT", "NULL", "TYPED", "NORMALIZED", "NF")):
            parse(f"MATCH (:{name})-[:{name}|{name}]->(n:A&{name}) SET n:{name} RETURN n {{.{name}}}")


@pytest.mark.parametrize(
    "text",
    [
        "MATCH any = (a)-->(b) RETURN any",
        "MATCH (all) WHERE all.x > 1 RETURN count(all), avg(all.x), collect(DISTINCT all)",
        "WITH [1] AS in RETURN 1 IN in, [in IN in | in]",
        "WITH true AS not RETURN not, NOT not",
        "WITH 1 AS case RETURN case, CASE case WHEN case THEN case ELSE case END",
        "WITH 'a' AS starts RETURN starts STARTS WITH starts",
        "WITH 1 AS is RETURN is IS NULL",
        "WITH 1 AS order ORDER BY order RETURN order",
        "WITH 1 AS distinct RETURN DISTINCT distinct",
        "MATCH (where) RETURN where",
        "MATCH (where WHERE where.x) RETURN where",
        "MATCH (is IS A) RETURN is",
        "RETURN exists(n.x), single(1), none, left('abc', 1), point({x: 1, y: 2}), null(1)",
        "WITH 1 AS reduce, 2 AS shortestPath, 3 AS count RETURN reduce, shortestPath, count",
    ],
)
def test_words_that_need_a_look_ahead(text: str) -> None:
    parse(text)
