"""Mentions to nodes by every way, and names that stand in a text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import hoplite
from hoplite.retrieval import Linker, hashed_words, neighbourhood, top_similar, unit_rows


@pytest.fixture(scope="module")
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as opened:
        opened.run("""CREATE (:Drug {name: 'Aspirin', synonyms: ['Acetylsalicylic acid', 'ASA']}),
            (:Drug {name: 'Naproxen'}), (:Disease {name: 'Ménière disease'}), (:Disease {name: 'Heart failure'}),
            (:Gene {name: 'ASA'}), (:Paper {text: 'Aspirin ' + reduce(t = '', i IN range(1, 60) | t + 'and more ')})""")
        opened.run("CREATE FULLTEXT INDEX names FOR (n:Drug|Disease) ON EACH [n.name]")
        yield opened


def ways(linker: Linker, mentions: list[str]) -> list[tuple[str, str] | None]:
    links = linker.link(mentions)
    return [(links[n][0].name, links[n][0].way) if links[n] else None for n in range(len(links))]


def test_each_way_finds_what_those_before_it_did_not(db: hoplite.Database) -> None:
    linker = Linker(db, embed=hashed_words())
    assert ways(linker, ["Aspirin", "aspirin", "Asprin", "meniere disease", "failure of the heart", "xyzzy"]) == [
        ("Aspirin", "exact"),
        ("Aspirin", "folded"),
        ("Aspirin", "similar"),
        ("Ménière disease", "folded"),
        ("Heart failure", "embedding"),
        None,
    ]


def test_a_full_text_index_is_asked_for_all_mentions_at_once(db: hoplite.Database) -> None:
    links = Linker(db, fulltext="names").link(["chronic failure", "aspirin tablet"], ways=["exact", "full text"])
    assert [links[0][0].name, links[1][0].name] == ["Heart failure", "Aspirin"]
    assert links.ways[0] == "full text"
    assert links.scores[0] == pytest.approx(0.9)


def test_synonyms_in_a_list_are_names_of_the_node(db: hoplite.Database) -> None:
    links = Linker(db, [("Drug", "name"), ("Drug", "synonyms"), ("Gene", "name")]).link(["ASA"])
    assert sorted(link.node for link in links[0]) == [0, 4]


def test_only_the_labels_that_are_named_are_searched(db: hoplite.Database) -> None:
    assert Linker(db, [("Disease", "name")]).link(["Aspirin"]).best().tolist() == [-1]
    assert Linker(db, [("Drug", "name")]).link(["Aspirin", "?", ""]).best().tolist() == [0, -1, -1]


def test_prose_is_not_a_name(db: hoplite.Database) -> None:
    linker = Linker(db)
    assert [link.node for link in linker.link(["Aspirin"])[0]] == [0]


def test_the_least_score_and_the_most_links_hold(db: hoplite.Database) -> None:
    linker = Linker(db)
    assert not linker.link(["Asprin"], least=0.95)[0]
    assert len(linker.link(["ASA"], most=1)[0]) == 1


def test_the_same_mention_twice_is_linked_twice(db: hoplite.Database) -> None:
    assert Linker(db).link(["Naproxen", "Aspirin", "Naproxen"]).best().tolist() == [1, 0, 1]


def test_the_seeds_of_what_was_not_found_are_an_empty_set(db: hoplite.Database) -> None:
    seeds = Linker(db).link(["?", "Naproxen", "Nothing at all", "Aspirin"]).seeds()
    assert [seeds[number].tolist() for number in range(4)] == [[], [1], [], [0]]
    assert neighbourhood(db, seeds, 1).question.min() == 1


def test_ways_need_what_they_work_with(db: hoplite.Database) -> None:
    with pytest.raises(ValueError, match="needs `fulltext`"):
        Linker(db).link(["a"], ways=["full text"])
    with pytest.raises(ValueError, match="needs `embed`"):
        Linker(db).link(["a"], ways=["embedding"])
    with pytest.raises(ValueError, match="'magic' is not a way"):
        Linker(db).link(["a"], ways=["magic"])  # type: ignore[list-item]


def test_names_in_a_text_are_spotted_longest_first(db: hoplite.Database) -> None:
    text = "Does ASPIRIN or acetylsalicylic-acid cause heart failure?"
    (found,) = Linker(db).spot([text])
    assert [text[one.start : one.end] for one in found] == ["ASPIRIN", "acetylsalicylic-acid", "heart failure"]


def test_names_of_many_words_and_with_accents_of_their_own_are_spotted() -> None:
    long = "Do you have pain somewhere, related to your reason for consulting?"
    with hoplite.open() as db:
        db.run("CREATE (:Sign {name: $long}), (:Sign {name: 'pain'}), (:Sign {name: 'Ménière disease'})", long=long)
        text = f"{long.upper()} Pain, and Me\u0301nie\u0300re disease. Do you have pain?"
        (found,) = Linker(db).spot([text])
    assert [one.text for one in found] == [long.upper()[:-1], "Pain", "Me\u0301nie\u0300re disease", "pain"]


def test_the_nearest_rows_come_by_their_cosine() -> None:
    dice = np.random.default_rng(0)
    asked, known = unit_rows(dice.normal(size=(7, 5))), unit_rows(dice.normal(size=(30, 5)))
    places, scores = top_similar(asked, known, 4)
    expected = np.argsort(-(asked @ known.T), axis=1)[:, :4]
    assert (places == expected).all()
    assert np.allclose(scores, np.take_along_axis(asked @ known.T, expected, axis=1))
    assert top_similar(asked, known[:2], 4)[0].shape == (7, 2)
    assert top_similar(asked, known, 0)[0].shape == (7, 0)


def test_hashed_words_are_close_where_they_share_spelling() -> None:
    one, other, far = hashed_words()(["heart failure", "failure of the heart", "migraine"])
    assert one @ other > 0.6 > abs(one @ far)
    assert not hashed_words()([""]).any()
