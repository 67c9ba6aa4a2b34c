"""Queries as models write them, and what they become."""

from __future__ import annotations

import pytest

import hoplite
from hoplite import Database

RIGHT = [
    "MATCH (d:Drug)-[:TREATS]->(x:Disease) RETURN d.name, x.name",
    "MATCH (x:Disease)<-[:TREATS]-(d:Drug {name: 'Metformin'}) RETURN x.name",
    "MATCH (d:Drug)-[t:TREATS]-(x) WHERE t.evidence = 'approved' RETURN DISTINCT x.name ORDER BY x.name LIMIT 3",
    "MATCH (d:Drug) OPTIONAL MATCH (d)-[:CAUSES]->(s:SideEffect) WITH d, count(s) AS n WHERE n > 3 RETURN d.name, n",
    "MATCH (c:DrugClass)<-[:IS_A*1..3]-(d:Drug) RETURN c.name, count(*)",
    "MATCH (d:Drug) WHERE NOT (d)-[:CAUSES]->(:SideEffect) RETURN d.name",
    "MATCH (d:Drug) WHERE d.name = 'No such drug' RETURN d",
    "MATCH (d) WHERE d.colour IS NULL RETURN count(d)",
    "MATCH (d:Drug) RETURN coalesce(d.title, d.name)",
    "CREATE (:Planet {mass: 1})-[:ORBITS]->(:Star)",
    "MERGE (p:Plant {latin: 'Salix alba'}) RETURN p.latin",
    "MATCH (d:Drug) SET d.approved = true",
    "UNWIND [1, 2] AS x RETURN x",
    "CALL db.labels() YIELD label RETURN label",
    "SHOW INDEXES",
]

WRONG = [
    # patterns
    ("MATCH (d:Disease)-[:TREATS]->(x:Drug) RETURN d.name", "MATCH (d:Disease)<-[:TREATS]-(x:Drug) RETURN d.name"),
    ("MATCH (d:Drug)<-[:TREATS]-(x) RETURN x.name", "MATCH (d:Drug)-[:TREATS]->(x) RETURN x.name"),
    ("MATCH (d:Drugs {name: 'Aspirin'}) RETURN d", "MATCH (d:Drug {name: 'Aspirin'}) RETURN d"),
    ("MATCH (:drug_class)<-[:IS_A]-(d) RETURN d", "MATCH (:DrugClass)<-[:IS_A]-(d) RETURN d"),
    ("MATCH (d:Drug)-[:treat]->(x:Disease) RETURN x", "MATCH (d:Drug)-[:TREATS]->(x:Disease) RETURN x"),
    ("MATCH (g:Gene)<-[:BINDS]-(d:Drug) RETURN d.name", "MATCH (g:Gene)<-[:TARGETS]-(d:Drug) RETURN d.name"),
    ("MATCH (g:Gene)-[:BINDS]->(d:Drug) RETURN d.name", "MATCH (g:Gene)<-[:TARGETS]-(d:Drug) RETURN d.name"),
    # properties and values
    ("MATCH (d:Drug {name: 'metformin'}) RETURN d", "MATCH (d:Drug {name: 'Metformin'}) RETURN d"),
    ("MATCH (d:Drug {title: 'Metformin'}) RETURN d", "MATCH (d:Drug {name: 'Metformin'}) RETURN d"),
    ("MATCH (d:Drug) RETURN d.halfLifeHours", "MATCH (d:Drug) RETURN d.half_life_hours"),
    ("MATCH (d:Drug) RETURN d {.nmae}", "MATCH (d:Drug) RETURN d {.name}"),
    (
        "MATCH (d:Drug)-[:CAUSES]->(s:SideEffect) WHERE s.frequency = 'common' RETURN d.name",
        "MATCH (d:Drug)-[r:CAUSES]->(s:SideEffect) WHERE r.frequency = 'common' RETURN d.name",
    ),
    (
        "MATCH (d:Drug)-[c:CAUSES]->(s:SideEffect {frequency: 'common'}) RETURN d.name",
        "MATCH (d:Drug)-[c:CAUSES {frequency: 'common'}]->(s:SideEffect) RETURN d.name",
    ),
    # properties of neighbours
    (
        "MATCH (d:Drug {name: 'Aspirin'}) RETURN d.chromosome AS c ORDER BY d.chromosome",
        "MATCH (d:Drug {name: 'Aspirin'}) MATCH (d)-[:TARGETS]->(x:Gene) RETURN x.chromosome AS c "
        "ORDER BY x.chromosome",
    ),
    (
        "MATCH (x:Drug) WITH x RETURN x.Pathway",
        "MATCH (x:Drug) WITH x MATCH (x)-[:AFFECTS_PATHWAY]->(x1:Pathway) RETURN x1.name",
    ),
    (
        "MATCH (d:Drug) WHERE d.gene = 'PTGS1' RETURN d.name",
        "MATCH (d:Drug) WHERE EXISTS { (d)-[:TARGETS]->(x:Gene) WHERE x.name = 'PTGS1' } RETURN d.name",
    ),
    (
        "MATCH (d:Drug {gene: 'PTGS1', route: 'oral'}) RETURN d.name",
        "MATCH (d:Drug {route: 'oral'} WHERE EXISTS { (d)-[:TARGETS]->(:Gene {name: 'PTGS1'}) }) RETURN d.name",
    ),
    (
        "MATCH (g:Gene {drug: 'Aspirin'}) RETURN g.name",
        "MATCH (g:Gene WHERE EXISTS { (g)<-[:TARGETS]-(:Drug {name: 'Aspirin'}) }) RETURN g.name",
    ),
    ("MATCH (d:Drug)-[:TARGETS]->(g:Gene) RETURN d.gene", "MATCH (d:Drug)-[:TARGETS]->(g:Gene) RETURN g.name"),
    ("MATCH (d:Drug) WHERE d.half_life_hours > '6' RETURN d", "MATCH (d:Drug) WHERE d.half_life_hours > 6 RETURN d"),
    # scope
    (
        "MATCH (d:Drug)-[c:CAUSES]->(s) WITH d RETURN d.name, c.frequency",
        "MATCH (d:Drug)-[c:CAUSES]->(s) WITH d, c RETURN d.name, c.frequency",
    ),
    (
        "MATCH (d:Drug)-[:TREATS]->(x:Disease) WITH d, count(x) AS n WHERE x.name = 'Asthma' RETURN d.name, n",
        "MATCH (d:Drug)-[:TREATS]->(x:Disease) WHERE x.name = 'Asthma' WITH d, count(x) AS n RETURN d.name, n",
    ),
    (
        "MATCH (d:Drug)-[:TREATS]->(x) WITH d, count(x) AS n RETURN d.name, n, collect(x.name)",
        "MATCH (d:Drug)-[:TREATS]->(x) WITH d, count(x) AS n, collect(x.name) AS collect_name "
        "RETURN d.name, n, collect_name",
    ),
    ("MATCH (d:Drug) WHERE name = 'Metformin' RETURN d", "MATCH (d:Drug) WHERE d.name = 'Metformin' RETURN d"),
    ("MATCH (d:Drug) RETURN D.name", "MATCH (d:Drug) RETURN d.name"),
    ("MATCH (d:Drug) RETURN d.name, d.name", "MATCH (d:Drug) RETURN d.name"),
    (
        "MATCH (d:Drug) RETURN d.name UNION MATCH (x:Disease) RETURN x.name",
        "MATCH (d:Drug) RETURN d.name UNION MATCH (x:Disease) RETURN x.name AS `d.name`",
    ),
    # functions
    (
        "MATCH (d:Drug) WHERE startsWith(d.name, 'M') RETURN d",
        "MATCH (d:Drug) WHERE d.name STARTS WITH 'M' RETURN d",
    ),
    ("MATCH (d:Drug) RETURN average(d.half_life_hours)", "MATCH (d:Drug) RETURN avg(d.half_life_hours)"),
    ("RETURN year(date())", "RETURN date().year"),
    ("RETURN toUper('x')", "RETURN toUpper('x')"),
    # syntax
    (
        "MATCH (d:Drug)-[:TREATS]->(x) RETURN d.name WHERE x.name = 'Asthma'",
        "MATCH (d:Drug)-[:TREATS]->(x) WHERE x.name = 'Asthma' RETURN d.name",
    ),
    (
        "MATCH (d:Drug)-[:TREATS]->(x) RETURN d.name, count(x) AS n WHERE n > 3",
        "MATCH (d:Drug)-[:TREATS]->(x) WITH d.name AS `d.name`, count(x) AS n WHERE n > 3 RETURN `d.name`, n",
    ),
    (
        "MATCH (d:Drug)-[:TREATS]->(x) RETURN count(x) GROUP BY d.name",
        "MATCH (d:Drug)-[:TREATS]->(x) RETURN d.name, count(x)",
    ),
    (
        "MATCH (d:Drug)-[:TREATS]->(x) RETURN d.name, count(x) GROUP BY d.name",
        "MATCH (d:Drug)-[:TREATS]->(x) RETURN d.name, count(x)",
    ),
    (
        "MATCH (d:Drug)-[:TREATS]->(x) WITH d, count(x) AS n HAVING n > 3 RETURN d.name",
        "MATCH (d:Drug)-[:TREATS]->(x) WITH d, count(x) AS n WHERE n > 3 RETURN d.name",
    ),
    ("MATCH (d:Drug) WHERE d.name != 'A' RETURN d", "MATCH (d:Drug) WHERE d.name <> 'A' RETURN d"),
    ("MATCH (d:Drug) WHERE d.name == 'Aspirin' RETURN d", "MATCH (d:Drug) WHERE d.name = 'Aspirin' RETURN d"),
    ("MATCH (d:Drug) WHERE d.name LIKE '%in%' RETURN d", "MATCH (d:Drug) WHERE d.name CONTAINS 'in' RETURN d"),
    (
        "MATCH (d:Drug) WHERE d.name IN ('Aspirin', 'Metformin') RETURN d",
        "MATCH (d:Drug) WHERE d.name IN ['Aspirin', 'Metformin'] RETURN d",
    ),
    ("MATCH (d:Drug) WHERE d.name NOT IN ['A'] RETURN d", "MATCH (d:Drug) WHERE NOT d.name IN ['A'] RETURN d"),
    ("MATCH (d:Drug {name: {drug}}) RETURN d", "MATCH (d:Drug {name: $drug}) RETURN d"),
    (
        "MATCH (d:Drug {half_life_hours > 6}) RETURN d",
        "MATCH (d:Drug WHERE d.half_life_hours > 6) RETURN d",
    ),
    ("MATCH (d Drug) RETURN d.name", "MATCH (d:Drug) RETURN d.name"),
    ("MATCH (d:Drug) WHERE d.\"name\" = 'A' RETURN d", "MATCH (d:Drug) WHERE d.name = 'A' RETURN d"),
    (
        "MATCH (d:Drug)-[:TREATS]->(x) RETURN d.name, DISTINCT x.name",
        "MATCH (d:Drug)-[:TREATS]->(x) RETURN DISTINCT d.name, x.name",
    ),
    ("Here you are:\n```cypher\nMATCH (d:Drug) RETURN d\n```\nAll drugs.", "MATCH (d:Drug) RETURN d\n"),
    ("MATCH (d:Drug) RETURN d.name\n\nThis returns all drugs.", "MATCH (d:Drug) RETURN d.name"),
    ("MATCH (d:Drug RETURN d.name", "MATCH (d:Drug) RETURN d.name"),
    ("MATCH (d:Drug), RETURN d.name", "MATCH (d:Drug) RETURN d.name"),
    ("MATCH (d:Drug) WERE d.name = 'Aspirin' RETURN d", "MATCH (d:Drug) WHERE d.name = 'Aspirin' RETURN d"),
    (
        "MATCH (d:Drug {name: 'Aspirin', half_life_hours: {$gt: 3}}) RETURN d",
        "MATCH (d:Drug {name: 'Aspirin'} WHERE d.half_life_hours > 3) RETURN d",
    ),
    (
        "MATCH (d:Drug) WHERE d.half_life_hours BETWEEN 3 AND 6 RETURN d",
        "MATCH (d:Drug) WHERE 3 <= d.half_life_hours <= 6 RETURN d",
    ),
    (
        "MATCH (d:Drug)-[:TREATS]->(x) GROUP BY x.name RETURN x.name, count(d)",
        "MATCH (d:Drug)-[:TREATS]->(x) RETURN x.name, count(d)",
    ),
    ("MATCH (d:Drug) RETURN d LIMIT 5 ORDER BY d.name", "MATCH (d:Drug) RETURN d ORDER BY d.name LIMIT 5"),
    ("MATCH (d:Drug) WHERE exists(d.name) RETURN d", "MATCH (d:Drug) WHERE d.name IS NOT NULL RETURN d"),
    (
        "MATCH (d:Drug) WHERE size((d)-[:CAUSES]->()) > 2 RETURN d",
        "MATCH (d:Drug) WHERE COUNT { (d)-[:CAUSES]->() } > 2 RETURN d",
    ),
    (
        "MATCH (d:Drug)-[:TREATS]->(x) WHERE d.route = 'oral' AND count(x) > 3 RETURN d.name",
        "MATCH (d:Drug)-[:TREATS]->(x) WHERE d.route = 'oral' WITH d, count(x) AS total WHERE total > 3 RETURN d.name",
    ),
    # several at once
    (
        "MATCH (x:Diseases)-[:TREAT]->(d:Drug) WITH x RETURN x.nmae, average(d.half_life_hours) GROUP BY x.nmae",
        "MATCH (x:Disease)<-[:TREATS]-(d:Drug) WITH x, d RETURN x.name, avg(d.half_life_hours)",
    ),
]


@pytest.mark.parametrize("query", RIGHT)
def test_a_right_query_is_left_to_the_letter(db: Database, query: str) -> None:
    repair = db.repair(query)
    assert (repair.query, repair.changes, repair.problems) == (query, (), ())
    assert db.check(query).ok


@pytest.mark.parametrize(("query", "expected"), WRONG)
def test_what_fails_or_finds_nothing_is_mended(db: Database, query: str, expected: str) -> None:
    repair = db.repair(query)
    assert repair.query == expected
    assert repair.changes
    assert all(change.reason.endswith(".") for change in repair.changes)
    assert not db.check(query).ok


@pytest.mark.parametrize("query", [case[0] for case in WRONG])
def test_a_change_says_where_in_the_given_text_it_was_made(db: Database, query: str) -> None:
    changes = db.repair(query).changes
    for number, change in enumerate(changes):
        start, end = change.span.start, change.span.end
        # Unless an earlier change wrote it: then it came from what that one replaced.
        written = any(before.span.start <= start and end <= before.span.end for before in changes[:number])
        assert written or query[start:end] == change.before


def test_a_change_after_others_says_where_it_was_in_the_given_text(db: Database) -> None:
    query = "MATCH (d:Drug)-[:TREATS]->(x) RETURN x.name, average(d.half_life_hours) GROUP BY x.name"
    spans = {query[change.span.start : change.span.end] for change in db.repair(query).changes}
    assert spans == {" GROUP BY x.name", "average(d.half_life_hours)"}
    query = "SELECT d.name FROM Drug d WHERE d.nmae = 'Aspirin'"
    assert {query[change.span.start : change.span.end] for change in db.repair(query).changes} == {query}


def test_a_count_of_nothing_may_be_the_truth(db: Database) -> None:
    repair = db.repair("MATCH (d:Disease)-[:TREATS]->(x:Drugs) RETURN count(x)")
    assert repair.query == "MATCH (d:Disease)-[:TREATS]->(x:Drug) RETURN count(x)"
    assert [(problem.kind, problem.suggestions) for problem in repair.problems] == [("direction", ("<-[:TREATS]-",))]


def test_a_column_of_nulls_beside_others_is_left_alone(db: Database) -> None:
    assert db.check("MATCH (d:Drug)-[:CAUSES]->(s:SideEffect) RETURN s.name, s.frequency").ok
    assert not db.check("MATCH (d:Drug)-[:CAUSES]->(s:SideEffect) RETURN s.frequency").ok


def test_a_problem_that_is_left_alone_comes_with_suggestions(db: Database) -> None:
    repair = db.repair("MATCH (d:Drug)-[:CURES_OR_CAUSES]->(x) RETURN x")
    assert repair.query == repair.original
    assert [problem.kind for problem in repair.problems] == ["unknown type"]
    assert "CAUSES" in repair.problems[0].suggestions
    assert "CURES_OR_CAUSES" in str(db.check(repair.original))


def test_a_text_that_nobody_understands_is_left_alone(db: Database) -> None:
    for text in ("", "I do not know.", "SELECT 1", "MATCH", "}{", "'"):
        assert db.repair(text).query == text
        assert not db.check(text).ok


def test_facts_follow_what_is_written() -> None:
    with hoplite.open() as db:
        db.run("CREATE (:Person {name: 'Ann'})-[:KNOWS]->(:Person {name: 'Ben'})")
        assert db.repair("MATCH (p:Persons) RETURN p").query == "MATCH (p:Person) RETURN p"
        db.run("CREATE (:Persons {nickname: 'all'})")
        assert db.repair("MATCH (p:Persons) RETURN p.nickname").query == "MATCH (p:Persons) RETURN p.nickname"
        db.run("MATCH (p:Person {name: 'Ann'}) SET p:Author, p.pen_name = 'A.'")
        assert db.check("MATCH (a:Author)-[:KNOWS]->(b) RETURN a.pen_name, b.name").ok


def test_results_are_ready_for_json(db: Database) -> None:
    import json

    repair = db.repair("MATCH (d:Drugs) RETURN d.colour_of_it, d.nmae")
    found = json.loads(json.dumps(repair.as_dict()))
    assert found["query"] == repair.query
    assert found["changes"][0]["before"] == "Drugs"
    problems = json.loads(json.dumps(db.check("MATCH (d:Drugs) RETURN d").as_dict()))["problems"]
    assert [problem["suggestions"][0] for problem in problems] == ["Drug"]


def test_what_was_found_right_is_asked_anew_when_functions_change() -> None:
    with hoplite.open() as db:
        db.run("CREATE (:Person {name: 'Ann'})")
        db.register_function("own.shout(text :: STRING) :: STRING", str.upper)
        query = "MATCH (p:Person) RETURN own.shout(p.name) AS name"
        assert db.check(query).ok
        assert db.check(query).ok
        db.register_function("own.shout(text :: STRING, times :: INTEGER) :: STRING", lambda text, times: text * times)
        assert not db.check(query).ok


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (
            "SELECT d.name FROM Drug d WHERE d.route = 'oral' ORDER BY d.name LIMIT 3",
            "MATCH (d:Drug) WHERE d.route = 'oral' RETURN d.name ORDER BY d.name LIMIT 3",
        ),
        (
            "SELECT name AS title, toUpper(route) FROM Drug WHERE route = 'name' LIMIT 2",
            "MATCH (n:Drug) WHERE n.route = 'name' RETURN n.name AS title, toUpper(n.route) LIMIT 2",
        ),
        ("SELECT * FROM Gene AS g", "MATCH (g:Gene) RETURN g"),
        (
            "SELECT d.name FROM (d:Drug)-[:TREATS]->(x:Disease) WHERE x.name = 'Asthma'",
            "MATCH (d:Drug)-[:TREATS]->(x:Disease) WHERE x.name = 'Asthma' RETURN d.name",
        ),
        ("MATCH (d:Drug) RETURN d.*", "MATCH (d:Drug) RETURN d"),
        ("MATCH (d:Drug) RETURN {d.name, d.route}", "MATCH (d:Drug) RETURN d.name, d.route"),
        ("MATCH (d:Drug) RETURN ORDER BY d.name DESC", "MATCH (d:Drug) RETURN d.name ORDER BY d.name DESC"),
        (
            "MATCH (d:Drug)-[r:Drug.TREATS]->(x:Disease) RETURN x.name",
            "MATCH (d:Drug)-[r:TREATS]->(x:Disease) RETURN x.name",
        ),
        ("MATCH (d:Drug) WHERE d.name = 13 94-6 RETURN d", "MATCH (d:Drug) WHERE d.name = '13 94-6' RETURN d"),
        ("MATCH (d:Drug {route: ?}) RETURN d.name", "MATCH (d:Drug) RETURN d.name"),
        ("MATCH (d:Drug {name: 'Aspirin', route: ?x}) RETURN d", "MATCH (d:Drug {name: 'Aspirin'}) RETURN d"),
        ("MATCH (d:Drug {route: <value>, name: 'Aspirin'}) RETURN d", "MATCH (d:Drug {name: 'Aspirin'}) RETURN d"),
        ("MATCH (d:Drug)-[:TREATS] RETURN d.name", "MATCH (d:Drug)-[:TREATS]->() RETURN d.name"),
        ("MATCH (x:Disease)<-[:TREATS] RETURN x.name", "MATCH (x:Disease)<-[:TREATS]-() RETURN x.name"),
        ("MATCH (d:Drug)-(x:Disease) RETURN d.name", "MATCH (d:Drug)--(x:Disease) RETURN d.name"),
        ("MATCH (d:Drug {name: 'Aspirin'})", "MATCH (d:Drug {name: 'Aspirin'}) RETURN *"),
        ("MATCH (d:Drug) WITH d.name AS n LIMIT 2", "MATCH (d:Drug) RETURN d.name AS n LIMIT 2"),
        ("MATCH (d:Drug) WITH d WHERE d.name = 'Aspirin'", "MATCH (d:Drug) WITH d WHERE d.name = 'Aspirin' RETURN *"),
        ("CALL { MATCH (d:Drug) RETURN count(d) AS n }", "CALL { MATCH (d:Drug) RETURN count(d) AS n } RETURN *"),
    ],
)
def test_selections_and_missing_ends_are_completed(db: Database, written: str, meant: str) -> None:
    assert db.repair(written).query == meant


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (d:Drug) RETURN d.name, d.pathway",  # the other column has values, so nulls may be intended
        "MATCH (d:Drug) WHERE d.disease = 'Asthma' RETURN d.name",  # two types lead from drugs to diseases
        "MATCH (g:Gene) RETURN g.frequency",  # no neighbour has it
        "MATCH (d:Drug) WHERE d.gene = 'No such gene' RETURN d.name",
    ],
)
def test_no_hop_is_added_if_it_is_not_the_only_choice(db: Database, text: str) -> None:
    assert db.repair(text).query == text
