"""Two-round diagnosis on a small graph, its scores and stand-ins, and the published shape where the data is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from examples.datasets import data_folder
from examples.datasets.plain_graph import PlainGraph
from examples.diagnosis.__main__ import main, steps
from examples.diagnosis.predictors import ModelPredictor, NoisyPredictor, RecordedPredictor, record
from examples.diagnosis.rounds import Clinic, Refinement
from examples.diagnosis.scores import Score, mean_score, pooled_score, score
from examples.diagnosis.worlds import Case, World, confusable, hetionet, make_cases
from hoplite.retrieval import hashed_words

# Two diseases by the fever, a third two hops further by a gene, a fourth that nothing leads to.
_NAMES = {"flu": "influenza", "cold": "common cold", "mal": "malaria", "gout": "gout"}
_GRAPH = PlainGraph(
    {id: (name, "Disease") for id, name in _NAMES.items()}
    | {"s1": ("fever", "Symptom"), "s2": ("cough", "Symptom"), "s3": ("chills", "Symptom"), "g": ("HBB", "Gene")},
    [
        ("flu", "PRESENTS", "s1"),
        ("cold", "PRESENTS", "s1"),
        ("flu", "PRESENTS", "s2"),
        ("mal", "PRESENTS", "s3"),
        ("flu", "ASSOCIATES", "g"),
        ("mal", "ASSOCIATES", "g"),
    ],
    {"PRESENTS": ("PRESENTS", "MEDLINE"), "ASSOCIATES": ("ASSOCIATES", "GWAS")},
)
_CASE = Case("1", "Findings on admission: fever; Cough.", ("s1", "s2"), frozenset({"flu", "cold"}))


class _Says:
    """Predicts and selects what it was told to; remembers what it was offered."""

    def __init__(self, predicted: list[str], selected: list[str]) -> None:
        self._predicted, self._selected = predicted, selected
        self.offered: dict[str, str] = {}

    def predict(self, case: Case) -> list[str]:
        return self._predicted

    def select(self, case: Case, candidates: Mapping[str, str]) -> list[str]:
        self.offered = dict(candidates)
        return [one for one in self._selected if one in candidates]


@pytest.fixture(scope="module")
def clinic() -> Clinic:
    return Clinic(_GRAPH.database(), "Disease", hashed_words(256))


def test_round_one_keeps_what_is_within_reach_and_round_two_adds_what_is_selected(clinic: Clinic) -> None:
    says = _Says(["flu", "gout"], ["cold", "gout"])
    reach = clinic.reach(clinic.entities([_CASE]), 1)
    (found,) = clinic.diagnose([_CASE], says, reach, Refinement())
    assert found.predicted == {"flu", "gout"}
    assert found.kept == {"flu"}
    assert says.offered == {"cold": "common cold presents fever [source: MEDLINE]"}
    assert found.final == {"flu", "cold"}


@pytest.mark.parametrize(
    ("k", "exact", "wanted"),
    [(1, False, {"flu", "cold"}), (2, True, set()), (3, True, {"mal"}), (3, False, {"flu", "cold", "mal"})],
)
def test_reach_is_within_or_at_exactly_k_hops(clinic: Clinic, k: int, exact: bool, wanted: set[str]) -> None:
    reach = clinic.reach(clinic.entities([_CASE]), k, exact=exact)
    (found,) = clinic.diagnose([_CASE], _Says([], []), reach, Refinement())
    assert found.evidence.keys() == wanted


def test_evidence_is_the_path_with_its_sources(clinic: Clinic) -> None:
    case = Case("2", "Findings on admission: cough.", ("s2",), frozenset({"mal"}))
    (found,) = clinic.diagnose([case], _Says([], []), clinic.reach(clinic.entities([case]), 3), Refinement())
    assert found.evidence["mal"] == (
        "influenza presents cough [source: MEDLINE]; influenza associates HBB [source: GWAS]; "
        "malaria associates HBB [source: GWAS]"
    )


def test_candidates_are_cut_by_similarity_or_by_number(clinic: Clinic) -> None:
    reach = clinic.reach(clinic.entities([_CASE]), 3)
    offered = {}
    for refinement in (Refinement(), Refinement(top=1), Refinement(tau=0.0), Refinement(tau=1.0)):
        (found,) = clinic.diagnose([_CASE], _Says([], []), reach, refinement)
        offered[str(refinement)] = found.candidates
    assert len(offered["all"]) == 3
    assert offered["tau 0"] == offered["all"]
    assert offered["top 1"] == offered["tau 1"] == ("flu",)  # the note has both of its findings


def test_scores_of_a_case_of_the_mean_and_pooled() -> None:
    pairs = [({"a", "b"}, {"a"}), ({"c"}, {"c", "d", "e"}), (set[str](), {"f"})]
    assert score({"a", "b"}, {"a"}) == Score(0.5, 1.0, 2 / 3)
    mean, pooled = mean_score(pairs), pooled_score(pairs)
    assert (mean.precision, mean.recall, mean.f1) == pytest.approx((0.5, 4 / 9, (2 / 3 + 0.5) / 3))
    assert (pooled.precision, pooled.recall, pooled.f1) == pytest.approx((2 / 3, 0.4, 0.5))


def test_the_stand_in_has_the_precision_and_recall_that_it_should() -> None:
    diseases = [f"d{number}" for number in range(100)]
    cases = [Case(str(n), "", (), frozenset(diseases[n % 90 : n % 90 + 3])) for n in range(2_000)]
    for precision, recall in ((0.5, 0.6), (0.8, 0.3)):
        noisy = NoisyPredictor(diseases, precision, recall)
        found = pooled_score([(noisy.predict(case), case.gold) for case in cases])
        assert found.precision == pytest.approx(precision, abs=0.02)
        assert found.recall == pytest.approx(recall, abs=0.02)
    chosen = [noisy.select(case, dict.fromkeys(diseases, "")) for case in cases]
    right = sum(len(case.gold.intersection(some)) for case, some in zip(cases, chosen, strict=True)) / 6_000
    assert right == pytest.approx(noisy.selecting, abs=0.02)
    wrong = (sum(map(len, chosen)) - right * 6_000) / (97 * 2_000)
    assert wrong == pytest.approx(noisy.mistaking, abs=0.005)


def test_what_is_recorded_is_said_again(tmp_path: Path) -> None:
    path = tmp_path / "recorded.jsonl"
    noisy = NoisyPredictor(list(_NAMES), selecting=1.0)
    record(path, noisy, [_CASE], _NAMES)
    again = RecordedPredictor(path)
    assert again.predict(_CASE) == noisy.predict(_CASE)
    assert again.select(_CASE, {"cold": ""}) == ["cold"]
    assert again.predict(Case("unknown", "", (), frozenset())) == []


def test_a_model_is_shown_the_note_and_the_evidence_of_candidates(clinic: Clinic) -> None:
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return 'They have:\n["Influenza", "Common Cold", "plague"]'

    model = ModelPredictor(ask, _NAMES)
    reach = clinic.reach(clinic.entities([_CASE]), 1)
    (found,) = clinic.diagnose([_CASE], model, reach, Refinement())
    assert found.final == {"flu", "cold"}
    assert len(prompts) == 1  # both are predicted: there is nothing to choose from
    model.select(_CASE, {"cold": "common cold presents fever"})
    assert "- common cold: common cold presents fever" in prompts[1] and _CASE.note in prompts[1]
    assert ModelPredictor(lambda _: "[broken", _NAMES).predict(_CASE) == []


def test_notes_mention_findings_and_held_out_ones_are_not_in_the_graph() -> None:
    edges = [(f"d{n}", "PRESENTS", f"s{(n * 7 + i) % 40}") for n in range(20) for i in range(8)]
    nodes = {f"d{n}": (f"disease {n}", "Disease") for n in range(20)} | {
        f"s{n}": (f"sign {n}", "Sign") for n in range(40)
    }
    world = World("made", PlainGraph(nodes, edges, {"PRESENTS": ("PRESENTS", "made")}), "Disease", ("PRESENTS",))
    held_out, cases = make_cases(world, 50)
    assert (held_out, cases) == make_cases(world, 50)
    assert 0.2 < len(held_out) / len(edges) < 0.4
    known = set(edges)
    assert all(any((d, "PRESENTS", s) in known for d in case.gold) for case in cases for s in case.findings)
    assert any((d, "PRESENTS", s) in held_out for case in cases for d in case.gold for s in case.findings)
    left = world.graph.database(held_out).run("MATCH ()-[r]->() RETURN count(r)").value()
    assert left == [len(edges) - len(held_out)]
    assert confusable(world)["d0"]


def test_without_data_the_program_runs_on_the_sample_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOPLITE_DATA", str(tmp_path))
    path = tmp_path / "recorded.jsonl"
    path.write_text(json.dumps({"case": "sample-0", "predicted": [], "selected": []}) + "\n")
    main(["--out", str(tmp_path), "--cases", "20"])
    main(["--out", str(tmp_path), "--cases", "2", "--world", "sample", "--recorded", str(path)])
    shown = capsys.readouterr().out
    assert "hetionet is left out" in shown and "set HOPLITE_DATA" in shown
    assert "sample: 20 cases" in shown and "answers recorded in" in shown
    assert (tmp_path / "diagnosis.svg").exists()


@pytest.mark.skipif(not (data_folder() / "kg" / "hetionet").exists(), reason="Hetionet is not there (HOPLITE_DATA)")
def test_round_one_raises_precision_and_costs_recall_and_round_two_raises_recall() -> None:
    world = hetionet()
    held_out, cases = make_cases(world, 100)
    clinic = Clinic(world.graph.database(held_out), world.label, hashed_words(1_024))
    diseases = sorted(id for id, (_, label) in world.graph.nodes.items() if label == "Disease")
    reach = clinic.reach(clinic.entities(cases), 1)
    pooled = steps(clinic.diagnose(cases, NoisyPredictor(diseases), reach, Refinement(top=20))).pooled
    assert pooled["round 1"].precision > pooled["predicted"].precision + 0.1
    assert pooled["round 1"].recall < pooled["predicted"].recall
    assert pooled["round 2"].recall > pooled["predicted"].recall
    assert pooled["round 2"].f1 > pooled["predicted"].f1
