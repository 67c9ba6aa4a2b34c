"""Evaluation: measures on small lists, and a whole run over recorded answers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import hoplite
from hoplite.cli import main
from hoplite.models.evaluate import Evaluation, Question, named_model, read_questions, recorded_model, table
from hoplite.models.evaluate_metrics import comparable, is_nothing, jaccard, ranked, same_bag, same_text, spread
from hoplite.sample import load_sample


def test_rows_are_compared_as_bags_with_columns_in_any_order() -> None:
    assert comparable([1, "a"]) == comparable(["a", 1])
    assert comparable([0.1 + 0.2]) == comparable([0.3])
    assert comparable([1]) != comparable([True])
    assert comparable([[2, 1]]) == comparable([[1, 2]])
    node = {"$type": "Node", "elementId": "4:x:1", "labels": ["A"], "properties": {"k": 1}}
    assert comparable([node]) == comparable(["4:x:1"])
    assert same_bag(["a", "b", "a"], ["a", "a", "b"])
    assert not same_bag(["a", "b"], ["a", "a", "b"])
    assert is_nothing([]) and is_nothing([[None, 0], [[], None]]) and not is_nothing([[0, 1]])


@pytest.mark.parametrize(
    ("found", "wanted", "cut", "expected"),
    [
        ("ab", "ab", 1, (1, 1 / 2, 2 / 3, 1, 1)),
        ("xab", "ab", 1, (0, 0, 0, 0, 0)),
        ("xab", "ab", 5, (2 / 3, 1, 0.8, 1, 1 / 2)),
        ("aab", "ab", 5, (1, 1, 1, 1, 1)),  # a row counts once
        ("a", "abcd", 5, (1, 1 / 4, 2 / 5, 1, 1)),
        ("xy", "ab", 10, (0, 0, 0, 0, 0)),
        ("", "ab", 10, (0, 0, 0, 0, 0)),
        ("", "", 10, (1, 1, 1, 1, 1)),
        ("a", "", 10, (0, 0, 0, 0, 0)),
    ],
)
def test_rankings(found: str, wanted: str, cut: int, expected: tuple[float, ...]) -> None:
    assert tuple(ranked(list(found), list(wanted), cut).values()) == pytest.approx(expected)


def test_texts_and_sets_and_intervals() -> None:
    assert same_text("MATCH (n)\n  return n;", "match (n) RETURN n")
    assert not same_text("RETURN 'A'", "RETURN 'a'")
    assert jaccard(frozenset("ab"), frozenset("bc")) == pytest.approx(1 / 3)
    assert jaccard(frozenset(), frozenset()) == 1.0
    values = spread([0.0, 1.0] * 50)
    assert values["mean"] == 0.5 and values["low"] < 0.5 < values["high"]
    assert spread([0.0, 1.0] * 50) == values
    assert spread([]) == {}


GOLD = "MATCH (d:Drug {name: 'Aspirin'})-[:TREATS]->(x:Disease) RETURN x.name"
WRITTEN = {
    "right": "MATCH (x:Disease)<-[:TREATS]-(:Drug {name: 'Aspirin'}) RETURN x.name AS disease",
    "backwards": "MATCH (d:Drug {name: 'Aspirin'})<-[:TREATS]-(x:Disease) RETURN x.name",
    "wrong": "MATCH (d:Drug {name: 'Ibuprofen'})-[:TREATS]->(x:Disease) RETURN x.name",
    "broken": "MATCH (d:Drug RETURN d",
    "writes": "MATCH (d:Drug) SET d.x = 1 RETURN d",
}


@pytest.fixture(scope="module")
def sample() -> hoplite.Database:
    return load_sample()


def test_models_are_measured_before_and_after_repair(sample: hoplite.Database) -> None:
    question = Question("q1", "What does aspirin treat?", GOLD, models=WRITTEN)
    failing = Question("q2", "?", "RETURN oops", models=WRITTEN)
    evaluation = Evaluation(lambda graph: sample)
    results = evaluation.run([question, failing], {name: named_model(name) for name in WRITTEN})
    assert evaluation.skipped == 1
    verdicts = {
        name: max(one.before.verdicts, key=lambda key: one.before.verdicts[key]) for name, one in results.items()
    }
    assert verdicts == {"right": "right", "backwards": "empty", "wrong": "wrong", "broken": "error", "writes": "error"}
    assert (results["backwards"].mended, results["right"].spoiled) == (1, 0)
    assert results["right"].before.evidence == [1.0]
    assert results["backwards"].before.evidence == [0.0] and results["backwards"].after.evidence == [1.0]
    assert 0.0 <= results["wrong"].before.evidence[0] < 1.0
    text = table(results)
    assert "execution accuracy" in text and "backwards: 1 mended, 0 spoiled" in text
    json.dumps({name: one.to_dict() for name, one in results.items()}, allow_nan=False)


def test_the_command_reads_recorded_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions, answers, report = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl", tmp_path / "report.json"
    questions.write_text(json.dumps({"id": "q", "question": "What does aspirin treat?", "gold": GOLD}) + "\n")
    answers.write_text(json.dumps({"id": "q", "query": WRITTEN["backwards"], "seconds": 0.5}) + "\n")
    assert [question.gold for question in read_questions(questions)] == [GOLD]
    generated = recorded_model(answers)(Question("q", "", GOLD))
    assert generated is not None and generated.seconds == 0.5
    assert main(["eval", str(questions), "--sample", "--model", str(answers), "--json", str(report)]) == 0
    assert "1 mended, 0 spoiled" in capsys.readouterr().out
    measured = json.loads(report.read_text())[str(answers)]
    assert measured["after"]["execution_accuracy"]["mean"] == 1.0
    assert measured["before"]["generation_seconds"]["mean"] == 0.5
    assert main(["eval", str(questions), "--sample"]) == 1
    assert "name a model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("questions", "answers", "said"),
    [
        ("nothing\n", "", "questions.jsonl, line 1: not JSON"),
        ('\n{"question": "?"}\n', "", "questions.jsonl, line 2: not an object with question and gold"),
        ('{"question": "?", "gold": "RETURN 1"}\n', '{"id": 1}\n', "answers.jsonl, line 1: not an object with query"),
    ],
)
def test_the_command_says_which_line_it_cannot_read(
    questions: str, answers: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "questions.jsonl").write_text(questions)
    (tmp_path / "answers.jsonl").write_text(answers)
    files = [str(tmp_path / name) for name in ("questions.jsonl", "answers.jsonl")]
    assert main(["eval", files[0], "--sample", "--model", files[1]]) == 1
    assert said in capsys.readouterr().err


def test_a_sample_of_the_recorded_answers_is_not_spoiled() -> None:
    data = Path(os.environ.get("HOPLITE_DATA", "../shared"))
    path = data / "repair" / "questions.jsonl.gz"
    if not path.is_file():
        pytest.skip("no recorded questions at HOPLITE_DATA/repair")
    questions = list(read_questions(path, every=400))
    graphs = {graph: hoplite.open() for graph in {question.graph for question in questions}}
    for name, db in graphs.items():
        db.import_jsonl(data / "demo" / str(name) / "graph.jsonl.gz")
    models = {name: named_model(name) for name in sorted({name for one in questions for name in one.models})}
    results = Evaluation(lambda graph: graphs[graph], evidence=False).run(questions, models)
    assert sum(one.before.count for one in results.values()) >= len(questions)
    assert sum(one.spoiled for one in results.values()) == 0
    assert sum(one.mended for one in results.values()) > 0
