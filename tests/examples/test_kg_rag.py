"""KG-RAG: contexts over a small graph, and the counts of the recorded answers where the data is."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from examples.datasets import data_folder
from examples.datasets.plain_graph import PlainGraph
from examples.kg_rag.__main__ import main
from examples.kg_rag.builder import Builder, Built, answer
from examples.kg_rag.decompose import Entity, evident, gather, vote
from examples.kg_rag.facts import Fact, Facts, Pruning
from examples.kg_rag.modes import MODES, context, prompt, within
from examples.kg_rag.questions import RECORDED, Question, chosen, marks, mcnemar, read_answers, read_questions
from hoplite.retrieval import Linker, hashed_words

_BIOMIXQA = data_folder() / "kg" / "biomixqa"
_GRAPH = PlainGraph(
    {
        "d1": ("psoriasis", "Disease"),
        "d2": ("celiac disease", "Disease"),
        "d3": ("dermatitis", "Disease"),
        "g1": ("HLA-B", "Gene"),
        "g2": ("TNF", "Gene"),
        "g3": ("BRCA2", "Gene"),
        "g4": ("CHEK2", "Gene"),
        "s1": ("itching", "Symptom"),
    },
    [
        ("d1", "DaG", "g1"),
        ("d2", "DaG", "g1"),
        ("d1", "DaG", "g2"),
        ("d1", "DpS", "s1"),
        ("d1", "DrD", "d3"),
        ("d3", "DaG", "g4"),
    ],
    {"DaG": ("ASSOCIATES", "GWAS"), "DpS": ("PRESENTS", "MEDLINE"), "DrD": ("RESEMBLES", "MEDLINE")},
)
_OPTIONS = ("BRCA2", "HLA-B", "TNF", "CHEK2")
_TEXT = "Out of the given list, which Gene is associated with psoriasis and Celiac disease. Given list is: "
_QUESTION = Question(_TEXT + ", ".join(_OPTIONS), _OPTIONS, "HLA-B", ("psoriasis", "celiac disease"))
_KEPT = Pruning(percentile=0, least=-1)


@pytest.fixture(scope="module")
def builder() -> Builder:
    db = _GRAPH.database()
    return Builder(db, hashed_words(256), Linker(db, [("Disease", "name")]))


def _fact(end: str, start: str = "psoriasis") -> Fact:
    return Fact("Disease", start, "ASSOCIATES", "Gene", end, "GWAS")


# --- questions and answers ---


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ('{"answer": "HLA-B"}', "HLA-B"),
        ('```json\n{\n  "answer": "TNF"\n}\n```', "TNF"),
        ('{"answer": "HLA-B, TNF"}', "HLA-B, TNF"),
        ("It is HLA-B.", "HLA-B"),
        ("HLA-B27 is well known.", ""),
        ("HLA-B or TNF", ""),
        ('{"answer": broken', ""),
        ("", ""),
    ],
)
def test_the_choice_is_read_from_what_a_model_says(said: str, wanted: str) -> None:
    assert chosen(said, _OPTIONS) == wanted


def test_mcnemar_looks_at_what_only_one_has_right() -> None:
    first, second = [True] * 8 + [False] * 2 + [True] * 5, [False] * 8 + [True] * 2 + [True] * 5
    outcome = mcnemar(first, second)
    assert (outcome.only_first, outcome.only_second) == (8, 2)
    # the two tails of ten tosses of a coin: 2 * (1 + 10 + 45) / 1024
    assert math.isclose(outcome.p_value, 0.109375)
    assert mcnemar(first, first).p_value == 1.0


@pytest.mark.skipif(not _BIOMIXQA.exists(), reason="BiomixQA is not there (HOPLITE_DATA)")
def test_the_recorded_answers_have_the_published_counts() -> None:
    questions = read_questions(_BIOMIXQA)
    counts = {
        name: sum(marks(questions, read_answers(_BIOMIXQA / "recorded" / f"{name}_mcq.csv.gz"))) for name in RECORDED
    }
    assert len(questions) == 306
    assert counts == {"gpt4_kgrag": 227, "gpt4_prompt": 209, "gpt35_kgrag": 243, "gpt35_prompt": 193}


# --- contexts ---


def test_facts_are_kept_above_the_percentile_and_the_least_cosine() -> None:
    cosines = np.array([0.1, 0.9, 0.5, 0.7, 0.3], np.float32)
    assert Pruning(percentile=0, least=-1, most=100).keep(cosines, 1).tolist() == [1, 3, 2, 4, 0]
    assert Pruning(percentile=75, least=-1, most=100).keep(cosines, 1).tolist() == [1, 3]
    assert Pruning(percentile=0, least=0.4, most=100).keep(cosines, 1).tolist() == [1, 3, 2]
    assert Pruning(percentile=0, least=-1, most=4).keep(cosines, 2).tolist() == [1, 3]


def test_entities_are_found_in_another_case_and_options_are_not_entities(builder: Builder) -> None:
    named, mentions = builder.entities([_QUESTION])
    assert [one.name for one in named[0]] == ["psoriasis", "celiac disease"]
    assert mentions == [["psoriasis", "Celiac disease"]]


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_has_the_answer_with_its_source(builder: Builder, mode: int) -> None:
    (built,) = builder.build(mode, [_QUESTION], pruning=_KEPT)
    assert built.has_gold
    assert built.answers_it == "HLA-B"
    assert "HLA-B" in built.text and "GWAS" in built.text
    assert built.prompt.endswith(_QUESTION.text)
    assert ("Prior knowledge" in built.prompt) == (mode in (2, 3, 30))


def test_every_raw_sentence_says_where_it_comes_from(builder: Builder) -> None:
    (built,) = builder.build(0, [_QUESTION], pruning=_KEPT)
    assert "Disease psoriasis associates Gene HLA-B (source: GWAS)." in built.text.splitlines()
    assert all("(source: " in line for line in built.text.splitlines())


def test_nested_facts_are_the_same_facts() -> None:
    facts = [_fact("HLA-B"), _fact("TNF"), _fact("HLA-B", "celiac disease")]
    assert json.loads(context(3, facts)) == {
        "Disease psoriasis": {"ASSOCIATES Gene": {"source: GWAS": ["HLA-B", "TNF"]}},
        "Disease celiac disease": {"ASSOCIATES Gene": {"source: GWAS": ["HLA-B"]}},
    }
    assert [row["object"] for row in json.loads(context(1, facts))] == ["Gene HLA-B", "Gene TNF", "Gene HLA-B"]


def test_a_budget_keeps_the_longest_beginning_that_fits() -> None:
    facts = [_fact(name) for name in "ABCDEFGH"]
    for mode in MODES:
        for budget in (0, 40, 90, 200, 10_000):
            kept = within(mode, facts, budget, len)
            assert kept == facts[: len(kept)]
            assert not kept or len(context(mode, kept)) <= budget
            assert len(kept) == len(facts) or len(context(mode, facts[: len(kept) + 1])) > budget


# --- mode 30 ---


def test_each_strategy_adds_what_the_others_do_not_have() -> None:
    db = _GRAPH.database()
    facts = Facts(db, hashed_words(256))
    nodes = dict(db.run("MATCH (d:Disease) RETURN d.name, id(d)").values())
    both = [Entity(nodes[name], name) for name in ("psoriasis", "celiac disease")]
    gathered = gather(facts, both, 2, _OPTIONS, _KEPT)
    found = {(fact.start, fact.end) for fact in gathered.facts}
    assert ("dermatitis", "CHEK2") in found  # two relationships from psoriasis to an option
    assert ("psoriasis", "itching") in found  # similar
    assert gathered.added == {"direct": 3, "shared": 0, "similar": 2, "paths": 1}
    assert gathered.quality == 1.0 and "take the answer from it" in gathered.advice
    poor = gather(facts, [], 2, _OPTIONS, _KEPT)
    assert poor.facts == [] and poor.quality == 0.0 and "answer from what you know" in poor.advice


def test_an_option_stands_out_only_if_no_other_has_as_much_support() -> None:
    entities = ["psoriasis", "celiac disease"]
    assert evident([_fact("HLA-B"), _fact("TNF"), _fact("HLA-B", "celiac disease")], entities, _OPTIONS) == "HLA-B"
    assert evident([_fact("HLA-B"), _fact("TNF")], entities, _OPTIONS) == ""
    assert evident([], entities, _OPTIONS) == ""


def test_the_vote_goes_to_the_majority_and_a_tie_to_the_lowest_temperature() -> None:
    says = {name: (lambda _, name=name: json.dumps({"answer": name})) for name in _OPTIONS}
    assert vote("", [says["TNF"], says["HLA-B"], says["HLA-B"]], _OPTIONS) == "HLA-B"
    assert vote("", [says["TNF"], says["HLA-B"]], _OPTIONS) == "TNF"
    assert vote("", [lambda _: "I do not know", says["TNF"]], _OPTIONS) == "TNF"
    assert vote("", [], _OPTIONS) == ""


def test_a_model_is_asked_once_but_in_mode_30_at_every_temperature() -> None:
    asked: list[str] = []

    def model(text: str) -> str:
        asked.append(text)
        return '{"answer": "HLA-B"}'

    contexts = [Built(mode, _QUESTION, (), [_fact("HLA-B")]) for mode in (0, 30)]
    for one in contexts:
        assert answer([one], [model, model, model]) == {_QUESTION.text: "HLA-B"}
    assert asked == [prompt(0, _QUESTION.text, contexts[0].facts), *[prompt(30, _QUESTION.text, contexts[1].facts)] * 3]


def test_without_data_the_program_runs_on_the_sample_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOPLITE_DATA", str(tmp_path))
    main(["--out", str(tmp_path / "out")])
    shown = capsys.readouterr().out
    assert "set HOPLITE_DATA to the folder that holds kg/biomixqa" in shown
    assert "sample graph, 40 questions" in shown
    assert (tmp_path / "out" / "kg_rag.svg").exists()
