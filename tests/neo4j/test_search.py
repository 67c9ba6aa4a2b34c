# ruff: noqa: RUF001
"""Full-text and vector indexes compared with a live Neo4j: the same entities with the same scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from neo4j import Driver
from neo4j.exceptions import Neo4jError

import hoplite
from hoplite.storage.search.analyzers import analyzer
from tests.neo4j.random_searches import FORMS, RandomSearches

Answers = dict[int, float] | str
_CLOSE = 2e-6


def _asked(ask: Callable[[str, dict[str, Any]], Any], text: str, parameters: dict[str, Any]) -> Answers:
    try:
        return {record["i"]: record["score"] for record in ask(text, parameters)}
    except Neo4jError as error:
        return str(error.code)


def _on(server: Driver) -> Callable[[str, dict[str, Any]], Any]:
    return lambda text, parameters: server.execute_query(cast(Any, text), parameters).records


def _is_same(mine: Answers, theirs: Answers) -> bool:
    if isinstance(mine, str) or isinstance(theirs, str):
        return mine == theirs
    return mine.keys() == theirs.keys() and all(
        abs(score - theirs[entity]) <= _CLOSE * max(1, score) for entity, score in mine.items()
    )


@pytest.mark.neo4j
@pytest.mark.parametrize(
    ("analyzer", "count"),
    [("standard-no-stop-words", 250), ("english", 100), ("standard", 40), ("keyword", 20), ("cjk", 20), ("german", 40)],
)
def test_full_text_answers_and_scores_are_those_of_a_server(empty: Driver, analyzer: str, count: int) -> None:
    choices = RandomSearches(17)
    config = f"OPTIONS {{indexConfig: {{`fulltext.analyzer`: '{analyzer}'}}}}"
    statements = [
        (f"CREATE FULLTEXT INDEX one FOR (n:D) ON EACH [n.t] {config}", {}),
        (f"CREATE FULLTEXT INDEX two FOR (n:D) ON EACH [n.t, n.u] {config}", {}),
        ("CALL db.awaitIndexes()", {}),
        *(("CREATE (n:D {i: $i}) SET n.t = $t, n.u = $u", choices.document(number)) for number in range(120)),
    ]
    differences = []
    on_server = _on(empty)
    with hoplite.Database() as database:
        for statement, parameters in statements:
            empty.execute_query(statement, parameters)
            database.run(statement, **parameters).consume()
        for query in [*FORMS, *(choices.query() for _ in range(count))]:
            for index in ("one", "two"):
                text = (
                    f"CALL db.index.fulltext.queryNodes('{index}', $query) YIELD node, score RETURN node.i AS i, score"
                )
                theirs = _asked(on_server, text, {"query": query})
                mine = _asked(database.run, text, {"query": query})
                if not _is_same(mine, theirs):
                    differences.append((index, query, mine, theirs))
    assert not differences, differences[:5]


_SENTENCES = {
    "arabic": "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق وقد وهبوا عقلاً وضميراً ١٩٤٨",
    "brazilian": "Todas as pessoas nascem livres e iguais em dignidade e direitos; nações, tecnologias, viúva",
    "bulgarian": "Всички хора се раждат свободни и равни по достойнство и права; градовете, столовете, езиците, ръцете",
    "czech": "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv, knihami, městech, matčin, otcův",
    "dutch": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren; lichamelijke kinderen; ei, kind",
    "galician": "Tódolos seres humanos nacen libres e iguais en dignidade e dereitos; capitães, camiñando",
    "greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια· καθεστώτος, άρχοντας, ομορφότερος",
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है १९४८ लड़कियाँ संख्याे",
    "indonesian": "Semua orang dilahirkan merdeka dan mempunyai martabat dan hak yang sama; mempengaruhi pekerjaan",
    "irish": "Saolaítear na daoine uile saor agus comhionann ina ndínit agus ina gcearta; nAthair t-athair d'fhear",
    "latvian": "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās; grāmatām, lāčiem, kokšu, ļaužu",
    "persian": "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند ۱۹۴۸",
    "sorani": "ھەموو مرۆڤەکان ئازاد و یەکسان لە کەرامەت و ماف دێنە ژیانەوە؛ پیاوێکی كوردستان، رۆژه\u200cكانیان",
    "turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar; İstanbul'da KIZLAR kitaplarımızdan",
    "url": "See http://example.org/a?b=c#d, mail John.Doe@Example.com example.comx, 192.168.0.1:80 [::1]/x",
}  # fmt: skip


@pytest.mark.neo4j
@pytest.mark.parametrize("name", _SENTENCES)
def test_words_of_languages_are_those_of_a_server(empty: Driver, name: str) -> None:
    """A word of ours, asked for as it stands, finds the document whose text it was made of."""
    texts = _SENTENCES[name].split()
    made = [analyzer(name).words(text) for text in texts]
    config = f"OPTIONS {{indexConfig: {{`fulltext.analyzer`: '{name}'}}}}"
    empty.execute_query(f"CREATE FULLTEXT INDEX w FOR (n:W) ON EACH [n.t] {config}")
    rows = [{"i": number, "t": text} for number, text in enumerate(texts)]
    empty.execute_query("UNWIND $rows AS row CREATE (n:W) SET n = row", rows=rows)
    empty.execute_query("CALL db.awaitIndexes()")
    ask = "CALL db.index.fulltext.queryNodes('w', $word, {analyzer: 'keyword'}) YIELD node RETURN node.i AS i"
    for number, words in enumerate(made):
        for word in filter(None, words):
            found = [record["i"] for record in empty.execute_query(ask, word=f'"{word}"').records]
            assert number in found, (texts[number], word)
    listed = {
        record["analyzer"]: record["stopwords"]
        for record in empty.execute_query("CALL db.index.fulltext.listAvailableAnalyzers()").records
    }
    assert sorted(listed[name]) == list(analyzer(name).listed_stop_words)


@pytest.mark.neo4j
@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_vector_answers_and_scores_are_those_of_a_server(empty: Driver, similarity: str) -> None:
    choices = RandomSearches(5)
    config = (
        f"`vector.similarity_function`: '{similarity}', `vector.quantization.enabled`: false, `vector.dimensions`: 8"
    )
    index = f"CREATE VECTOR INDEX v FOR (n:D) ON (n.e) OPTIONS {{indexConfig: {{{config}}}}}"
    rows = [{"i": number, "e": choices.vector(8)} for number in range(300)]
    ask = "CALL db.index.vector.queryNodes('v', $count, $query) YIELD node, score RETURN node.i AS i, score"
    on_server = _on(empty)
    with hoplite.Database() as database:
        for statement in (index, "UNWIND $rows AS row CREATE (n:D) SET n = row"):
            empty.execute_query(statement, {"rows": rows})
            database.run(statement, rows=rows).consume()
        empty.execute_query("CALL db.awaitIndexes()")
        missed = 0
        for number in range(250):
            given = {"query": choices.vector(8), "count": 1 + number % 20}
            theirs = _asked(on_server, ask, given)
            mine = _asked(database.run, ask, given)
            assert not isinstance(mine, str) and not isinstance(theirs, str)
            nearest, found = sorted(mine.values(), reverse=True), sorted(theirs.values(), reverse=True)
            assert len(nearest) == len(found), given
            for one, other in zip(nearest, found, strict=True):  # a server's graph may miss some
                assert one >= other - _CLOSE, given
            missed += len(mine.keys() - theirs.keys())
            for entity in mine.keys() & theirs.keys():
                assert mine[entity] == pytest.approx(theirs[entity], abs=1e-6), given
        assert missed <= 0.02 * sum(1 + number % 20 for number in range(250))
