"""Mistakes planted into right queries on the sample graph: every flip is found, and most names are put right."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from hoplite import Database
from hoplite.models.facts import Facts
from tests.models.planting import Planted, flips, misspellings

QUERIES = [
    "MATCH (d:Drug)-[t:TREATS]->(x:Disease) WHERE t.evidence = 'approved' RETURN d.name, x.name",
    "MATCH (d:Drug {name: 'Metformin'})-[:TREATS]->(x:Disease)-[:HAS_SYMPTOM]->(s:Symptom) RETURN DISTINCT s.name",
    "MATCH (d:Drug)-[c:CAUSES]->(s:SideEffect) WITH d, count(s) AS effects, collect(c.frequency) AS often "
    "WHERE effects > 3 RETURN d.name, effects, often ORDER BY effects DESC LIMIT 5",
    "MATCH (g:Gene)<-[:TARGETS]-(d:Drug)-[:IS_A]->(k:DrugClass) RETURN k.name, count(DISTINCT g.chromosome)",
    "MATCH (g:Gene)-[:ASSOCIATED_WITH]->(x:Disease) WHERE x.chronic AND toLower(g.description) CONTAINS 'kinase' "
    "RETURN g.name, x.icd10",
    "MATCH (d:Drug)-[:AFFECTS_PATHWAY]->(p:Pathway)<-[:PARTICIPATES_IN]-(g:Gene) RETURN p.name, d.route",
    "MATCH (x:Disease) OPTIONAL MATCH (x)<-[:CONTRAINDICATED_IN]-(d:Drug) RETURN x.name, avg(d.half_life_hours)",
    "MATCH (a:Drug)-[i:INTERACTS_WITH]-(b:Drug) WHERE i.severity = 'major' RETURN a.name, b.name, i.effect",
    "MATCH (d:Drug) WHERE EXISTS { (d)-[:TREATS]->(:Disease {name: 'Asthma'}) } RETURN d.name",
]


@pytest.mark.parametrize("query", QUERIES)
def test_every_flip_that_the_schema_decides_is_found(db: Database, query: str) -> None:
    assert db.check(query).ok
    planted = list(flips(query, Facts(db._graph.snapshot())))
    for mistake in planted:
        assert [problem.kind for problem in db.check(mistake.query).problems] == ["direction"], mistake.query
        assert db.repair(mistake.query).query == query


def test_the_first_suggestion_is_right_for_nine_misspellings_in_ten(db: Database) -> None:
    chance = random.Random(1)
    planted = [mistake for _ in range(7) for query in QUERIES for mistake in misspellings(query, chance)]
    right = Counter(mistake.kind for mistake in planted if _first_is_right(db, mistake))
    asked = Counter(mistake.kind for mistake in planted)
    assert len(planted) > 300
    assert {kind: right[kind] >= 0.9 * asked[kind] for kind in asked} == dict.fromkeys(asked, True), (right, asked)


def _first_is_right(db: Database, mistake: Planted) -> bool:
    firsts = [name for problem in db.check(mistake.query).problems for name in problem.suggestions[:1]]
    return any(map(mistake.is_named_by, firsts))
