"""Habits of models: words, signs and endings of SQL and of other languages, each of which Cypher has something for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import hoplite
from hoplite import Database

GRAPH = """
CREATE (k:Person {name: 'Keanu Reeves', born: 1964}), (c:Person {name: 'Carrie-Anne Moss'}),
    (m:Movie {title: 'The Matrix', released: 1999}), (s:Movie {title: 'Speed', released: 1994}),
    (k)-[:ACTED_IN {roles: ['Neo']}]->(m), (c)-[:ACTED_IN {roles: ['Trinity']}]->(m),
    (k)-[:ACTED_IN {roles: ['Jack']}]->(s), (k)-[:LIKES]->(c)
"""

ACTED = "MATCH (p:Person)-[:ACTED_IN]->(m:Movie)"

HABITS = [
    (
        f"{ACTED} WITH p, count(m) AS n WHERE n > 1 RETURN p.name, m.title",
        f"{ACTED} WITH p, count(m) AS n, collect(m) AS ms WHERE n > 1 UNWIND ms AS m RETURN p.name, m.title",
    ),
    (
        f"{ACTED} WITH p, count(m) AS n RETURN p.name, n, m.title",
        f"{ACTED} WITH p, count(m) AS n, collect(m) AS ms UNWIND ms AS m RETURN p.name, n, m.title",
    ),
    (
        "MATCH (m:Movie) WITH m, date('1999-01-01') AS day WHERE day YEAR = 1999 RETURN m.title",
        "MATCH (m:Movie) WITH m, date('1999-01-01') AS day WHERE day.YEAR = 1999 RETURN m.title",
    ),
    (
        f"{ACTED} RETURN p.name, count(m) AS n GROUP BY p.name HAVING n > 1 ORDER BY n DESC LIMIT 5",
        f"{ACTED} WITH p.name AS `p.name`, count(m) AS n WHERE n > 1 RETURN `p.name`, n ORDER BY n DESC LIMIT 5",
    ),
    (
        "MATCH (m:Movie) RETURN m.title LIMIT 5 ORDER BY m.released",
        "MATCH (m:Movie) RETURN m.title ORDER BY m.released LIMIT 5",
    ),
    ("MATCH (m:Movie) RETURN m.title LIMIT 5 SKIP 1", "MATCH (m:Movie) RETURN m.title SKIP 1 LIMIT 5"),
    ("MATCH (m:Movie) RETURN m.title LIMIT 1, 5", "MATCH (m:Movie) RETURN m.title SKIP 1 LIMIT 5"),
    ("MATCH (m:Movie) RETURN TOP 5 m.title", "MATCH (m:Movie) RETURN m.title LIMIT 5"),
    ("MATCH (m:Movie) RETURN m.title FETCH FIRST 5 ROWS ONLY", "MATCH (m:Movie) RETURN m.title LIMIT 5"),
    (
        "MATCH (m:Movie) RETURN m.title ORDER BY m.released DESC NULLS LAST LIMIT 1",
        "MATCH (m:Movie) RETURN m.title ORDER BY m.released IS NULL, m.released DESC LIMIT 1",
    ),
    (
        "MATCH (m:Movie) RETURN m.title ORDER BY m.released NULLS LAST",
        "MATCH (m:Movie) RETURN m.title ORDER BY m.released",
    ),
    ("MATCH (m:Movie) RETURN m.title ORDERBY m.title", "MATCH (m:Movie) RETURN m.title ORDER BY m.title"),
    ("MATCH (m:Movie) RETURN m.title ORDER m.title", "MATCH (m:Movie) RETURN m.title ORDER BY m.title"),
    ("MATCH (m:Movie) RETURN m.title SORT BY m.title DECS", "MATCH (m:Movie) RETURN m.title ORDER BY m.title DESC"),
    (
        "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p.name ORDER BY count(m) DESC LIMIT 1",
        f"{ACTED} WITH p.name AS `p.name`, count(m) AS total ORDER BY total DESC LIMIT 1 RETURN `p.name`",
    ),
    (
        "MATCH (m:Movie) WHERE m.released IN (1999) RETURN m.title",
        "MATCH (m:Movie) WHERE m.released IN ([1999]) RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE m.title IN 'Speed' RETURN m.released",
        "MATCH (m:Movie) WHERE m.title IN ['Speed'] RETURN m.released",
    ),
    (
        "MATCH (m:Movie) WHERE m.released IN ['1999', '1994'] RETURN m.title",
        "MATCH (m:Movie) WHERE m.released IN [1999, 1994] RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE m.released > 1995 || m.released < 1980 RETURN m.title",
        "MATCH (m:Movie) WHERE m.released > 1995 OR m.released < 1980 RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE !(m.released > 1995) RETURN m.title",
        "MATCH (m:Movie) WHERE NOT (m.released > 1995) RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE m.released => 1995 RETURN m.title",
        "MATCH (m:Movie) WHERE m.released >= 1995 RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE m.released =< 1995 RETURN m.title",
        "MATCH (m:Movie) WHERE m.released <= 1995 RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE m.released >= 1990 AND <= 1995 RETURN m.title",
        "MATCH (m:Movie) WHERE m.released >= 1990 AND m.released <= 1995 RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE m.released > 1990, m.title CONTAINS 'S' RETURN m.title",
        "MATCH (m:Movie) WHERE m.released > 1990 AND m.title CONTAINS 'S' RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE m.title STARTSWITH 'The' RETURN m.title",
        "MATCH (m:Movie) WHERE m.title STARTS WITH 'The' RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE m.title STARTS 'The' RETURN m.title",
        "MATCH (m:Movie) WHERE m.title STARTS WITH 'The' RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE m.title REGEXP 'The.*' RETURN m.title",
        "MATCH (m:Movie) WHERE m.title =~ 'The.*' RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE m.title ~ 'The.*' RETURN m.title",
        "MATCH (m:Movie) WHERE m.title =~ 'The.*' RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE m.title IS 'Speed' RETURN m.released",
        "MATCH (m:Movie) WHERE m.title = 'Speed' RETURN m.released",
    ),
    (
        "MATCH (m:Movie) WHERE m.title IS NOT 'Speed' RETURN m.released",
        "MATCH (m:Movie) WHERE m.title <> 'Speed' RETURN m.released",
    ),
    (
        "MATCH (m:Movie) WHERE m.title = The Matrix RETURN m.released",
        'MATCH (m:Movie) WHERE m.title = "The Matrix" RETURN m.released',
    ),
    (
        "MATCH (m:Movie) WHERE m.title = 'Speed' AND RETURN m.released",
        "MATCH (m:Movie) WHERE m.title = 'Speed'  RETURN m.released",
    ),
    ("MATCH (m:Movie) RETURN m.title -- all titles", "MATCH (m:Movie) RETURN m.title "),
    ("MATCH (m:Movie) -- movies\nRETURN m.title", "MATCH (m:Movie) \nRETURN m.title"),
    ("# movies\nMATCH (m:Movie) RETURN m.title", "MATCH (m:Movie) RETURN m.title"),
    ('"MATCH (m:Movie) RETURN m.title"', "MATCH (m:Movie) RETURN m.title"),
    ("`MATCH (m:Movie) RETURN m.title`", "MATCH (m:Movie) RETURN m.title"),
    ("<cypher>MATCH (m:Movie) RETURN m.title</cypher>", "MATCH (m:Movie) RETURN m.title"),
    ("```cypher\nMATCH (m:Movie) RETURN m.title\n```\nThis returns all titles.", "MATCH (m:Movie) RETURN m.title\n"),
    ("<think>Titles, then.</think>\nMATCH (m:Movie) RETURN m.title", "MATCH (m:Movie) RETURN m.title"),
    (
        "MATCH (p:Person) RETURN p.name, length((p)-[:ACTED_IN]->()) AS n",
        "MATCH (p:Person) RETURN p.name, COUNT { (p)-[:ACTED_IN]->() } AS n",
    ),
    ("MATCH (m:Movie) RETURN length(m.title) AS n", "MATCH (m:Movie) RETURN size(m.title) AS n"),
    ("MATCH (p:Person) WHERE has(p.born) RETURN p.name", "MATCH (p:Person) WHERE p.born IS NOT NULL RETURN p.name"),
    ("MATCH (p:Person) WHERE isNull(p.born) RETURN p.name", "MATCH (p:Person) WHERE p.born IS NULL RETURN p.name"),
    ("MATCH (p:Person) WHERE p.born <> NULL RETURN p.name", "MATCH (p:Person) WHERE p.born IS NOT NULL RETURN p.name"),
    ("MATCH (p:Person) WHERE p.born = NULL RETURN p.name", "MATCH (p:Person) WHERE p.born IS NULL RETURN p.name"),
    (
        "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p.name AS 'an actor'",
        "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p.name AS `an actor`",
    ),
    (
        "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p.name AS an actor",
        "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p.name AS `an actor`",
    ),
    (
        "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p.name actor",
        "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p.name AS actor",
    ),
    ("MATCH (m:Movie) RETURN count(m) AS count(m)", "MATCH (m:Movie) RETURN count(m) AS `count(m)`"),
    ("MATCH (m:Movie) RETURN m.title m.released", "MATCH (m:Movie) RETURN m.title, m.released"),
    (
        "MATCH (p:Person)-[:ACTED_IN, LIKES]->(x) RETURN p.name",
        "MATCH (p:Person)-[:ACTED_IN| LIKES]->(x) RETURN p.name",
    ),
    (
        "MATCH (p:Person)-[:ACTED_IN OR LIKES]->(x) RETURN p.name",
        "MATCH (p:Person)-[:ACTED_IN | LIKES]->(x) RETURN p.name",
    ),
    ("MATCH (p:Person)->(m:Movie) RETURN p.name", "MATCH (p:Person)-->(m:Movie) RETURN p.name"),
    ("MATCH (m:Movie)<-(p:Person) RETURN p.name", "MATCH (m:Movie)<--(p:Person) RETURN p.name"),
    ("MATCH (p:Person)-ACTED_IN->(m:Movie) RETURN p.name", "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p.name"),
    (
        "MATCH (a:Person)-[:ACTED_IN]{2}-(b:Person) RETURN a.name",
        "MATCH (a:Person)-[:ACTED_IN*2]-(b:Person) RETURN a.name",
    ),
    (
        "MATCH p = shortest_path((a:Person)-[*]-(b:Movie)) RETURN length(p)",
        "MATCH p = shortestPath((a:Person)-[*]-(b:Movie)) RETURN length(p)",
    ),
    ("MATCH (m:Movie) RETURN CAST(m.released AS STRING)", "MATCH (m:Movie) RETURN toString(m.released)"),
    (
        "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p.name, string_agg(m.title, ', ')",
        "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p.name, apoc.text.join(collect(m.title), ', ')",
    ),
    (
        "MATCH (m:Movie) WHERE regexp_match(m.title, 'The.*') RETURN m.title",
        "MATCH (m:Movie) WHERE m.title =~ 'The.*' RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE year(m.released) = 1999 RETURN m.title",
        "MATCH (m:Movie) WHERE m.released = 1999 RETURN m.title",
    ),
    (
        "MATCH (m:Movie) WHERE date(m.released).year > 1995 RETURN m.title",
        "MATCH (m:Movie) WHERE m.released > 1995 RETURN m.title",
    ),
    (
        "MATCH (p:Person)-[r:ACTED_IN]->() WHERE r.roles = 'Neo' RETURN p.name",
        "MATCH (p:Person)-[r:ACTED_IN]->() WHERE 'Neo' IN r.roles RETURN p.name",
    ),
    (
        "MATCH (p:Person)-[r:ACTED_IN]->() WHERE r.roles CONTAINS 'Neo' RETURN p.name",
        "MATCH (p:Person)-[r:ACTED_IN]->() WHERE 'Neo' IN r.roles RETURN p.name",
    ),
    ("FIND (m:Movie) RETURN m.title", "MATCH (m:Movie) RETURN m.title"),
    ("MATCH (m:Movie) SELECT m.title", "MATCH (m:Movie) RETURN m.title"),
    ("SELECT title FROM movies", "MATCH (n:Movie) RETURN n.title"),
]

RIGHT = [
    "MATCH (a:Person)-[:ACTED_IN*2]-(b:Person) RETURN a.name, b.name",
    "MATCH (p:Person) WHERE p.born IS NULL OR p.born = null RETURN p.name",
    "MATCH (p:Person)-[r:ACTED_IN]->() WHERE r.roles = ['Neo'] RETURN p.name",
    "MATCH (p:Person) RETURN p.name || '!' AS name",
    "MATCH (m:Movie) WITH m SKIP 1 LIMIT 5 RETURN m.title ORDER BY m.title",
    "MATCH (m:Movie) RETURN CASE WHEN m.released = null THEN 1 ELSE 2 END AS known",
]


@pytest.fixture(scope="module")
def movies() -> Iterator[Database]:
    with hoplite.open() as db:
        db.run(GRAPH)
        yield db


@pytest.mark.parametrize(("query", "expected"), HABITS)
def test_habits_of_other_languages_become_cypher(movies: Database, query: str, expected: str) -> None:
    assert movies.repair(query).query == expected
    assert movies.run(expected).values()


@pytest.mark.parametrize("query", RIGHT)
def test_what_only_looks_like_a_habit_is_left_alone(movies: Database, query: str) -> None:
    assert movies.run(query).values()
    assert (movies.repair(query).query, movies.check(query).problems) == (query, ())


JOINED = "SELECT m.title, p.name FROM movies m JOIN people p ON m.director = p.id"


def test_a_statement_of_which_half_would_be_lost_is_left_alone(movies: Database) -> None:
    for query in ("MATCH (m:Movie) RETURN m.title OVER (PARTITION BY m.released)", JOINED):
        repair = movies.repair(query)
        assert (repair.query, repair.changes) == (query, ())
        assert repair.problems
