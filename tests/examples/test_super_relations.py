"""The search over super-relations on a small film graph, with every scorer; the program itself; MetaQA where it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import hoplite
from examples.datasets import data_folder
from examples.super_relations.__main__ import main
from examples.super_relations.measure import measure
from examples.super_relations.questions import Question, Quiz, chain_of, metaqa, sample_quiz
from examples.super_relations.scorers import Asked, Oracle, Similarity, model_named
from examples.super_relations.search import Found, Settings, moves_of, search
from hoplite.retrieval import Step, SuperRelation, follow, hashed_words, one_each

_PEOPLE = SuperRelation("people", ("directed_by", "written_by", "starred_actors"))
_GROUPS = [_PEOPLE, SuperRelation("genre", ("has_genre",)), SuperRelation("year", ("release_year",))]


@pytest.fixture
def quiz() -> Iterator[Quiz]:
    """Ann directed both films and wrote the first; Bob plays in both."""
    with hoplite.open() as db:
        db.run("""CREATE (f:Entity {id: 'Fog'}), (g:Entity {id: 'Gale'}), (a:Entity {id: 'Ann'}),
            (b:Entity {id: 'Bob'}), (f)-[:directed_by]->(a), (g)-[:directed_by]->(a), (f)-[:written_by]->(a),
            (f)-[:starred_actors]->(b), (g)-[:starred_actors]->(b), (f)-[:has_genre]->(:Entity {id: 'Drama'}),
            (g)-[:has_genre]->(:Entity {id: 'Horror'}), (g)-[:release_year]->(:Entity {id: '1999'})""")
        text = "the films that share directors with the film [Fog] were in which genres"
        three = Question(text, "Fog", chain_of("movie_to_director_to_movie_to_genre"), frozenset({"Horror"}))
        one = Question("who wrote [Fog]", "Fog", chain_of("movie_to_writer"), frozenset({"Ann"}))
        yield Quiz("films", db, "id", {1: [one], 3: [three]})


def found_by(quiz: Quiz, hops: int, settings: Settings, groups: list[SuperRelation] = _GROUPS) -> Found:
    questions = quiz.questions[hops]
    (found,) = search(quiz.db, quiz.seeds(questions), moves_of(groups), Oracle(questions), settings)
    return found


def test_kinds_of_questions_are_chains() -> None:
    assert chain_of("movie_to_actor_to_movie") == (Step(("starred_actors",), "out"), Step(("starred_actors",), "in"))


@pytest.mark.parametrize("width", [1, 2, 5])
def test_calls_are_two_for_each_step_and_one_whatever_the_width(quiz: Quiz, width: int) -> None:
    assert (found_by(quiz, 3, Settings(width)).steps, found_by(quiz, 3, Settings(width)).calls) == (3, 7)
    assert (found_by(quiz, 1, Settings(width)).steps, found_by(quiz, 1, Settings(width)).calls) == (1, 3)


def test_a_search_relation_by_relation_asks_for_each_path(quiz: Quiz) -> None:
    found = found_by(quiz, 3, Settings(3, together=False), one_each(quiz.types))
    assert found.calls == 1 + 3 + 3 + 3 + 1  # one for the topic, three paths at two steps, three looks, one choice


def test_answers_are_those_of_paths_that_take_no_relationship_twice(quiz: Quiz) -> None:
    found = found_by(quiz, 3, Settings())
    assert [quiz.names[node] for node in found.answers] == ["Horror"]  # and not Drama, which is back at the topic
    assert {quiz.names[node] for node in found.reached} >= {"Ann", "Gale", "Drama", "Horror"}
    assert found.chain == quiz.questions[3][0].chain


def test_what_is_farther_than_the_length_is_not_reached(quiz: Quiz) -> None:
    assert "Horror" not in {quiz.names[node] for node in found_by(quiz, 3, Settings(length=2)).reached}


def test_a_question_about_nothing_known_has_no_answer(quiz: Quiz) -> None:
    asked = [
        Question(f"who wrote [{name}]", name, chain_of("movie_to_writer"), frozenset()) for name in ("Ann", "Snow")
    ]
    for found in search(quiz.db, quiz.seeds(asked), moves_of(_GROUPS[1:]), Oracle(asked), Settings()):
        assert (found.answers, found.reached, found.calls) == ([], set(), 0)


def test_similar_words_lead_the_way(quiz: Quiz) -> None:
    found = measure(
        quiz, 1, one_each(quiz.types), lambda some: Similarity(some, hashed_words(), 1), Settings(width=2, length=1)
    )
    assert (found.hits, found.calls) == (1.0, 3.0)


def test_a_model_is_asked_in_words_and_its_answers_can_be_recorded(quiz: Quiz, tmp_path: Path) -> None:
    questions = quiz.questions[1]
    lines: list[str] = []

    def says(prompt: str) -> str:
        answer = "Yes." if "Say yes or no" in prompt else json.dumps(["wri" in line for line in prompt.split("\n")[2:]])
        answer = answer.replace("true", "0.9").replace("false", "0.1")
        lines.append(json.dumps({"prompt": prompt, "answer": f"Here: {answer}"}))
        return f"Here: {answer}" if answer != "Yes." else answer

    groups = moves_of(one_each(quiz.types))
    (asked,) = search(quiz.db, quiz.seeds(questions), groups, Asked(questions, says), Settings())
    assert [quiz.names[node] for node in asked.answers] == ["Ann"]
    assert (asked.calls, len(lines)) == (3, 3)
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(lines).replace("Here: Yes.", "Yes."))
    recorded = Asked(questions, model_named(str(file)))
    assert search(quiz.db, quiz.seeds(questions), groups, recorded, Settings()) == [asked]
    with pytest.raises(KeyError, match="has no answer to this prompt"):
        model_named(str(file))("something else")


def test_what_a_model_says_beside_the_point_counts_as_nothing(quiz: Quiz) -> None:
    questions = quiz.questions[1]
    for said in ("I do not know", "[1, 2]", '["a"]', "[0.5"):
        scorer = Asked(questions, lambda prompt, said=said: said)  # type: ignore[misc]
        assert scorer.choose(0, [questions[0].chain]) == [0.0] or said == "[1, 2]"


def test_the_program_runs_on_the_sample_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOPLITE_DATA", str(tmp_path / "nowhere"))
    main(["--questions", "8", "--embedding", "hashed", "--out", str(tmp_path)])
    shown = capsys.readouterr().out
    assert "set HOPLITE_DATA" in shown
    assert "relation by relation" in shown
    assert "random groups" in shown
    assert "<svg" in (tmp_path / "super_relations.svg").read_text()


def test_questions_of_the_sample_graph_have_the_answers_that_follow_finds() -> None:
    quiz = sample_quiz(40)
    for questions in quiz.questions.values():
        seeds = quiz.seeds(questions)
        ends = follow(quiz.db, seeds, [one.chain for one in questions])
        for number, asked in enumerate(questions):
            found = {quiz.names[node] for node in ends[number].tolist()}
            assert found - {asked.topic} == asked.answers


@pytest.mark.skipif(not (data_folder() / "kg" / "metaqa").exists(), reason="MetaQA is not there (HOPLITE_DATA)")
def test_gold_of_all_questions_over_two_and_three_hops_is_what_follow_finds() -> None:
    quiz = metaqa()
    for hops, count in ((2, 14_872), (3, 14_274)):
        questions = quiz.questions[hops]
        ends = follow(quiz.db, quiz.seeds(questions), [one.chain for one in questions])
        right = 0
        for number, asked in enumerate(questions):
            found = {quiz.names[node] for node in ends[number].tolist()}
            right += asked.answers == (found - {asked.topic} if hops == 2 else found)
        assert right == len(questions) == count
