"""Question answering with evidence on the graph that ships: names, questions, the stand-in, and the stages."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import hoplite
from examples.datasets.plain_graph import PlainGraph
from examples.evidence_qa.__main__ import main
from examples.evidence_qa.medical_graph import (
    LABELS,
    add_synonyms,
    medical_sample,
    pathways_by_genes,
    synonyms_of,
)
from examples.evidence_qa.pipeline import STAGES, Names, Pipeline
from examples.evidence_qa.stand_in import FAULTS, fault_of, question_in, record, recorded_answers, write_query
from examples.evidence_qa.templates import TEMPLATES, Asked, make_questions, misspelt
from hoplite.models.ask import query_in
from hoplite.models.evaluate import Evaluation, named_model, read_questions


@pytest.fixture(scope="module")
def graph() -> PlainGraph:
    return medical_sample()


@pytest.fixture(scope="module")
def db(graph: PlainGraph) -> Iterator[hoplite.Database]:
    with graph.database() as made:
        add_synonyms(made, synonyms_of(graph))
        yield made


@pytest.fixture(scope="module")
def names(db: hoplite.Database) -> Names:
    return Names(db, LABELS, [template.text for template in TEMPLATES])


@pytest.fixture(scope="module")
def questions(db: hoplite.Database, graph: PlainGraph) -> list[Asked]:
    return make_questions(db, graph, synonyms_of(graph), each=20)


def test_the_graph_has_five_labels_and_provenance_everywhere(db: hoplite.Database) -> None:
    assert set(db.schema()["labels"]) == set(LABELS)
    assert db.run("MATCH ()-[r]->() WHERE r.source IS NULL RETURN count(r)").value() == [0]
    derived = db.run("MATCH (:Disease)-[r:INVOLVES_PATHWAY]->(:Pathway) RETURN count(r), count(r.via)").values()[0]
    assert derived[0] == derived[1] > 0


def test_a_pathway_needs_enough_genes_and_names_them() -> None:
    genes = {f"g{number}": (f"GENE{number}", "Gene") for number in range(7)}
    nodes = {"d": ("gout", "Disease"), "p": ("glycolysis", "Pathway"), "q": ("apoptosis", "Pathway"), **genes}
    edges = [("d", "DaG", gene) for gene in genes] + [(gene, "GpPW", "p") for gene in genes] + [("g0", "GpPW", "q")]
    found = pathways_by_genes(PlainGraph(nodes, edges, {}), "DaG", "GpPW", "new", 2)
    assert found == {("d", "new", "p"): "GENE0, GENE1, GENE2, GENE3, GENE4 and 2 more"}


def test_synonyms_belong_to_one_disease_only(graph: PlainGraph) -> None:
    synonyms = synonyms_of(graph)
    by_name = {graph.nodes[id][0]: names for id, names in synonyms.items()}
    assert by_name["Systemic lupus erythematosus"] == ["SLE"]
    every = Counter(name.lower() for names in synonyms.values() for name in names)
    assert set(every.values()) == {1}
    assert not every.keys() & {name.lower() for name, label in graph.nodes.values() if label == "Disease"}


def test_questions_have_answers_of_one_two_and_three_hops(questions: list[Asked], db: hoplite.Database) -> None:
    assert Counter(one.hops for one in questions) == {1: 20, 2: 20, 3: 20}
    assert len({one.text for one in questions}) == len(questions)
    for one in questions:
        assert one.answers and tuple(db.run(one.gold).value()) == one.answers
        assert one.template.mention(one.text) is not None
    assert {one.form for one in questions} == {"exact", "other case", "misspelt", "synonym"}


def test_a_name_with_quotes_is_written_as_it_is() -> None:
    query = TEMPLATES[0].query("Crohn's \\ disease")
    with hoplite.open() as db:
        db.run("CREATE (:Drug {name: 'A'})-[:TREATS]->(:Disease {name: $name})", name="Crohn's \\ disease")
        assert db.run(query).value() == ["A"]


def test_a_misspelt_name_differs_by_one_letter_or_two_that_changed_places() -> None:
    rng = random.Random(1)
    for _ in range(50):
        wrong = misspelt(rng, "psoriatic arthritis")
        assert wrong.count(" ") == 1
        assert len(wrong) == 18 or sorted(wrong) == sorted("psoriatic arthritis")
    assert misspelt(rng, "gout") == "gout"


@pytest.mark.parametrize(
    ("written", "own"),
    [
        ("Which drugs treat gout?", "Which drugs treat Gout?"),
        ("Which drugs treat Rheumatoid artritis?", "Which drugs treat Rheumatoid arthritis?"),
        ("Which drugs treat SLE?", "Which drugs treat Systemic lupus erythematosus?"),
        ("Which drugs treat diseases that involve nothing whatsoever?", None),
    ],
)
def test_the_graphs_own_name_is_put_into_the_question(names: Names, written: str, own: str | None) -> None:
    assert names.normalised(written) == (own or written)


def test_the_stand_in_makes_the_mistakes_that_it_should(questions: list[Asked]) -> None:
    drawn = Counter(fault_of(f"Which drugs treat disease number {number}?") for number in range(5_000))
    assert {fault: pytest.approx(50 * share, rel=0.2) for fault, share in FAULTS.items()} == drawn
    for one in questions:
        written = query_in(write_query(f"Schema\nQuestion: {one.text}\n"))
        asked = one.template.query(one.template.mention(one.text) or "")
        harmless = one.hops == 1 and fault_of(one.text) == "a hop left out"  # there is none to leave out
        assert (written == asked) == (harmless or fault_of(one.text) == "none")
    assert write_query("Question: How are you?") == "I do not know."


def test_normalising_and_repair_each_mend_something_and_both_most(
    db: hoplite.Database, names: Names, questions: list[Asked]
) -> None:
    pipeline = Pipeline(db, write_query, names)
    answers = [(one, pipeline.four_ways(one.text)) for one in questions]
    exact = {
        way: sum(set(ways[way].rows) == set(one.answers) for one, ways in answers)
        for way in ("as written", "with repair", "with names", "with both")
    }
    assert exact["as written"] < exact["with repair"] < exact["with both"]
    assert exact["as written"] < exact["with names"] < exact["with both"]
    assert exact["with both"] > 0.8 * len(questions)
    for _, ways in answers:
        best = ways["with both"]
        assert tuple(best.seconds) == STAGES
        assert best.error or not best.rows or best.evidence.relationships
        assert not ways["as written"].evidence.nodes


def test_recorded_answers_hold_for_questions_with_other_names(tmp_path: Path, names: Names) -> None:
    path = tmp_path / "answers.jsonl"
    entry = {"question": "Which drugs treat gout?", "query": "RETURN 1"}
    path.write_text(json.dumps(entry) + "\n", encoding="utf-8")
    model = recorded_answers(path, names)
    assert model("Question: Which drugs treat gout?\n") == model("Question: Which drugs treat Gout?") == "RETURN 1"
    assert model("Question: Which drugs treat Malaria?") == ""
    assert question_in("Question: one\nMATCH\n\nQuestion: two\n\nYour last query was wrong") == "two"


def test_what_is_written_down_can_be_evaluated(tmp_path: Path, db: hoplite.Database, questions: list[Asked]) -> None:
    path = tmp_path / "questions.jsonl"
    record(path, questions)
    found = Evaluation(lambda _: db, evidence=False).run(read_questions(path), {"stand-in": named_model("stand-in")})
    assert found["stand-in"].before.count == len(questions)
    assert found["stand-in"].spoiled == 0 < found["stand-in"].mended


def test_without_data_the_program_runs_on_the_sample_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOPLITE_DATA", str(tmp_path))
    main(["--out", str(tmp_path / "out"), "--each", "5", "--save", str(tmp_path / "kept.hop")])
    shown = capsys.readouterr().out
    assert "set HOPLITE_DATA to the folder that holds kg/hetionet" in shown
    assert "no model was asked" in shown and "together" in shown and "[source: " in shown
    assert (tmp_path / "out" / "evidence_qa.svg").exists()
    with hoplite.open(tmp_path / "kept.hop", read_only=True) as kept:
        assert kept.run("MATCH (:Drug)-[:TREATS]->(:Disease) RETURN count(*) > 0").value() == [True]
