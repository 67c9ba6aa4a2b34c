"""Full-text indexes give what an index made at once gives, whatever was written, folded and reopened between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hoplite
from hoplite.storage.search import tokenizers
from hoplite.storage.search.analyzers import ANALYZERS, Analyzer, analyzer
from tests.neo4j.random_searches import FORMS, RandomSearches

_INDEX = "CREATE FULLTEXT INDEX f FOR (n:D) ON EACH [n.t, n.u]"
_ASK = "CALL db.index.fulltext.queryNodes('f', $query) YIELD node, score RETURN node.i AS i, score"


def _scores(database: Any, query: str) -> Any:
    try:
        return {record["i"]: record["score"] for record in database.run(_ASK, query=query)}
    except Exception as error:
        return getattr(error, "code", None) or str(error)


def _made_at_once(database: Any) -> Any:
    fresh = hoplite.Database()
    documents = [r.data() for r in database.run("MATCH (n:D) RETURN n.i AS i, n.t AS t, n.u AS u")]
    fresh.run("UNWIND $documents AS d CREATE (n:D {i: d.i}) SET n.t = d.t, n.u = d.u", documents=documents).consume()
    fresh.checkpoint()
    fresh.run(_INDEX).consume()
    return fresh


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_answers_follow_what_is_written(where: str, seed: int, tmp_path: Path) -> None:
    choices = RandomSearches(seed)
    choose = choices._choose
    database = hoplite.Database(tmp_path / "kg.hop") if where == "disk" else hoplite.Database()
    database.run(_INDEX).consume()
    for step in range(90):
        some = choose.randrange(40)
        match choose.randrange(6):
            case 0 | 1 | 2:
                database.run("MERGE (n:D {i: $i}) SET n.t = $t, n.u = $u", **choices.document(some)).consume()
            case 3:
                database.run("MATCH (n:D {i: $i}) DELETE n", i=some).consume()
            case 4:
                database.run("MATCH (n:D {i: $i}) REMOVE n:D SET n:E", i=some).consume()
            case 5:
                database.run("MATCH (n:E {i: $i}) WHERE NOT EXISTS {(:D {i: $i})} REMOVE n:E SET n:D", i=some).consume()
        if step % 2:  # a search looks at what was written since the last one
            _scores(database, choices.query())
        if step % 40 == 27:
            database.checkpoint()
        if step % 45 == 33 and where == "disk":
            database.close()
            database = hoplite.Database(tmp_path / "kg.hop")
        if step % 15 == 14:
            with _made_at_once(database) as fresh:
                for query in [*FORMS[::4], *(choices.query() for _ in range(8))]:
                    assert _scores(database, query) == pytest.approx(_scores(fresh, query), abs=1e-6), query
    if where == "disk":
        database.checkpoint()
        assert not database.verify()
    database.close()


def test_documents_may_all_be_gone_again() -> None:
    with hoplite.Database() as database:
        database.run(_INDEX).consume()
        for number in range(60):
            database.run("CREATE (:D {i: $i, t: 'here and gone'})", i=number).consume()
            assert _scores(database, "gone").keys() == {number}
            database.run("MATCH (n:D) DELETE n").consume()
            assert _scores(database, "gone") == {}


def test_the_words_of_relationships_are_found() -> None:
    with hoplite.Database() as database:
        database.run("CREATE FULLTEXT INDEX r FOR ()-[n:R|S]-() ON EACH [n.t]").consume()
        database.run("CREATE ()-[:R {t: 'one two'}]->(), ()-[:S {t: 'two'}]->(), ()-[:T {t: 'two'}]->()").consume()
        ask = "CALL db.index.fulltext.queryRelationships('r', 'two') YIELD relationship RETURN type(relationship) AS t"
        assert [record["t"] for record in database.run(ask)] == ["S", "R"]
        database.checkpoint()
        database.run("MATCH ()-[r:S]->() DELETE r").consume()
        assert [record["t"] for record in database.run(ask)] == ["R"]


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_a_load_only_takes_new_texts_apart(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    words = Analyzer.words

    def counted(self: Analyzer, text: str) -> list[str | None]:
        taken.append(text)
        return words(self, text)

    with hoplite.Database(tmp_path / "kg.hop") if where == "disk" else hoplite.Database() as database:
        database.run(_INDEX).consume()
        database.load(nodes={"D": {"id": [1, 2], "i": [1, 2], "t": ["one word", "two words"]}})
        database.run("MATCH (n:D {i: 1}) SET n.t = 'another word'").consume()
        assert set(_scores(database, "word")) == {1}
        database.checkpoint()
        monkeypatch.setattr(Analyzer, "words", counted)
        database.load(
            nodes={"D": {"id": [3], "i": [3], "t": ["a third word"]}, "E": {"id": [4], "i": [4], "t": ["no word"]}}
        )
        assert taken == ["a third word"]
        assert set(_scores(database, "word")) == {1, 3}
        with _made_at_once(database) as fresh:
            assert _scores(database, "word") == pytest.approx(_scores(fresh, "word"), abs=1e-6)


def test_an_index_is_mapped_when_it_is_opened(tmp_path: Path) -> None:
    with hoplite.Database(tmp_path / "kg.hop") as database:
        database.run(_INDEX).consume()
        database.run("UNWIND range(1, 50) AS i CREATE (:D {i: i, t: 'word ' + i})").consume()
    with hoplite.Database(tmp_path / "kg.hop") as database:
        assert len(_scores(database, "word")) == 50
        assert not database._graph.snapshot()._delta.base._search_indexes  # nothing was made


_TAKEN_APART = {
    "standard-no-stop-words": (
        "The 1,000 日本語 foo_bar a.b x:y can't AT&T",
        "the 1,000 日 本 語 foo_bar a.b x:y can't at t",
    ),
    "standard": ("The fox and the dog", "_ fox _ _ dog"),
    "standard-folding": ("Ünïcödé Straße", "unicode strasse"),
    "simple": ("it's 3 o'Clock", "it s o clock"),
    "stop": ("this fox", "_ fox"),
    "whitespace": ("A b-C  d", "A b-C d"),
    "unicode_whitespace": ("A\u00a0b", "A b"),
    "keyword": ("One Word", "One Word"),
    "classic": ("I.B.M. foo@bar.com O'Neil's", "ibm foo@bar.com o'neil"),
    "cjk": ("日本語テキスト hello", "日本 本語 語テ テキ キス スト hello"),
    "english": ("The dog's running happily", "_ dog run happili"),
    "german": ("Die Häuser und Straßen", "_ haus _ strass"),
    "french": ("l'amour des chevaux", "amou _ cheval"),
    "italian": ("dell'amico le macchine", "amico _ macchin"),
    "spanish": ("las canciones veces", "_ cancion vez"),
    "portuguese": ("as canções felizmente", "_ canca feliz"),
    "bulgarian": ("Столовете и градовете", "стол _ град"),
    "czech": ("Knihami o městech", "knih _ měst"),
    "latvian": ("Grāmatām un lācis", "grāmat _ lāc"),
    "indonesian": ("Pekerjaan dan mempengaruhi", "kerja _ ngaruh"),
    "arabic": ("والكتاب في المدارس ١٢", "كتاب _ مدارس 12"),
    "persian": ("می\u200cخواهم کتاب", "_ خواهم كتاب"),  # noqa: RUF001
    "hindi": ("किताबें और लड़कियाँ", "किताब _ लडक"),
    "brazilian": ("as nações rapidamente tecnologias cantariam", "_ naco rapid tecnolog cant"),
    "galician": ("capitães cansadísimos rapazas facilmente", "capiton cans rapaz fac"),
    "greek": ("Άρχοντας και ΟΜΟΡΦΌΤΕΡΟΣ καθεστώτος παιδιών κρέοντας", "αρχοντ _ ομορφ καθεστ παιδ κρεωντ"),
    "sorani": ("مرۆڤەکان لە رۆژه\u200cكانیان", "مرۆڤ _ ڕۆژە"),  # noqa: RUF001
    "url": (
        "See http://a.org/b?c=d#e, John.Doe@Example.com. or Example.co.uk. example.comx [::1]:80 1.2.3.4",
        "see http://a.org/b?c=d#e, john.doe@example.com. _ example.co.uk. example.comx [::1]:80 1.2.3.4",
    ),
    "email": ("user1.com.comx [::1]x a@[1] end.com.", "user1.com comx 1 x a@[1] end.com"),
}


@pytest.mark.parametrize("name", _TAKEN_APART)
def test_texts_are_taken_apart_as_lucene_does(name: str) -> None:
    text, expected = _TAKEN_APART[name]
    words = analyzer(name).words(text)
    assert " ".join("_" if word is None else word for word in words) == expected


def test_languages_of_snowball_have_their_stems() -> None:
    pytest.importorskip("snowballstemmer")
    assert analyzer("russian").words("книги") == ["книг"]
    assert analyzer("finnish").words("taloissa") == ["talo"]
    assert analyzer("dutch").words("De lichamelijke kinderen, ei") == [None, "licham", "kinder", "eier"]
    assert analyzer("irish").words("d'fhear nAthair t-athair") == ["fear", "athair", None, "athair"]
    assert analyzer("turkish").words("İstanbul'da KIZLAR") == ["istanbul", "kız"]  # noqa: RUF001
    for name in ANALYZERS:
        assert analyzer(name).words("Word")


def test_long_words_are_cut() -> None:
    assert [len(word) for word in tokenizers.standard("a" * 600)] == [255, 255, 90]


def test_an_analyzer_that_is_not_there_is_refused() -> None:
    with hoplite.Database() as database:
        for name, message in (("thai", "not available"), ("none", "No such full-text analyzer")):
            options = f"OPTIONS {{indexConfig: {{`fulltext.analyzer`: '{name}'}}}}"
            with pytest.raises(Exception, match=message):
                database.run(f"CREATE FULLTEXT INDEX x FOR (n:D) ON EACH [n.t] {options}").consume()


def test_a_search_may_use_another_analyzer() -> None:
    with hoplite.Database() as database:
        database.run(_INDEX).consume()
        database.run("CREATE (:D {i: 1, t: 'a-b'})").consume()
        text = "CALL db.index.fulltext.queryNodes('f', 'a-b', {analyzer: $name}) YIELD node RETURN count(*) AS n"
        found = {name: next(iter(database.run(text, name=name)))["n"] for name in ("keyword", "standard-no-stop-words")}
        assert found == {"keyword": 0, "standard-no-stop-words": 1}
