"""Two-round diagnosis with k-hop evidence: `python -m examples.diagnosis`. README.md says what is measured."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from examples.datasets import MissingData
from examples.diagnosis.notes import WRITINGS
from examples.diagnosis.predictors import ModelPredictor, NoisyPredictor, Predictor, RecordedPredictor
from examples.diagnosis.rounds import Clinic, Diagnosis, Refinement
from examples.diagnosis.scores import Score, mean_score, pooled_score
from examples.diagnosis.worlds import WORLDS, Case, World, confusable, make_cases
from examples.figures import bar_chart, text_table
from hoplite.models.ask_endpoint import Decoding, endpoint
from hoplite.retrieval import Embed, NodeSets, hashed_words, sentence_model

REFINEMENTS = (
    Refinement(),
    *(Refinement(tau=tau) for tau in (0.7, 0.8, 0.9)),
    *(Refinement(top=top) for top in (10, 20, 30)),
)
EMBEDDINGS: Mapping[str, Callable[[], Embed]] = {"hashed": lambda: hashed_words(2_048), "model": sentence_model}
_REACHES = ((1, False), (2, False), (2, True), (3, False))  # k, and whether exactly k
_STEPS: dict[str, Callable[[Diagnosis], frozenset[str]]] = {
    "predicted": lambda one: one.predicted,
    "round 1": lambda one: one.kept,
    "round 2": lambda one: one.final,
}


@dataclass(frozen=True, slots=True)
class Steps:
    """The scores after each step, in the mean over cases and pooled."""

    mean: dict[str, Score]
    pooled: dict[str, Score]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every graph that is there."""
    options = _arguments(arguments)
    names = options.world or [name for name in WORLDS if name != "sample"]
    worlds = _worlds(names) or _worlds(["sample"])
    drawn: dict[str, Steps] = {}
    for world in worlds:
        drawn[world.name] = report(world, options)
    path = options.out / "diagnosis.svg"
    groups = [f"{name}, {measure}" for name in drawn for measure in ("P", "R", "F1")]
    series = {step: [value for steps in drawn.values() for value in _three(steps.pooled[step])] for step in _STEPS}
    bar_chart(path, f"Pooled scores, k = {options.k}, {Refinement(top=20)}", groups, series)
    print(f"Plot: {path}")


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.diagnosis", description=__doc__)
    parser.add_argument(
        "--world", action="append", choices=tuple(WORLDS), help="a graph; all that are there by default"
    )
    parser.add_argument("--cases", type=int, default=300, help="cases of each graph")
    parser.add_argument("--k", type=int, default=1, help="hops of the tables for refinements and controls")
    parser.add_argument("--embedding", choices=tuple(EMBEDDINGS), default="hashed", help="what makes vectors of texts")
    parser.add_argument("--model", help="NAME@URL of an OpenAI-compatible endpoint")
    parser.add_argument("--recorded", type=Path, help="a file of recorded answers")
    parser.add_argument("--out", type=Path, default=Path("build/examples"), help="folder of the plot")
    return parser.parse_args(arguments)


def _worlds(names: Sequence[str]) -> list[World]:
    found = []
    for name in names:
        try:
            found.append(WORLDS[name]())
        except MissingData as missing:
            print(f"{name} is left out. {missing}")
    return found


def report(world: World, options: argparse.Namespace) -> Steps:
    """The tables of one graph; what comes back is drawn."""
    held_out, cases = make_cases(world, options.cases)
    clinic = Clinic(world.graph.database(held_out), world.label, EMBEDDINGS[options.embedding]())
    diseases = sorted(id for id, (_, label) in world.graph.nodes.items() if label == world.label)
    predictor, who = _predictor(options, world, diseases)
    seeds = clinic.entities(cases)
    linked = int(seeds.sizes.sum()) / sum(len(case.findings) for case in cases)
    print(
        f"{world.name}: {len(cases)} cases, {len(diseases)} diseases, {len(held_out):,} relationships held out, "
        f"{100 * linked:.1f}% of findings linked; {who}\n"
    )
    print(f"Reach\n\n{reach_table(clinic, cases, predictor)}\n")
    print(f"Refinement of round 2, k = {options.k}\n\n{refinement_table(clinic, cases, predictor, options.k)}\n")
    reach, top = clinic.reach(seeds, options.k), Refinement(top=20)
    drawn = steps(clinic.diagnose(cases, predictor, reach, top))
    others = clinic.reach(NodeSets.of(seeds[number - 1] for number in range(len(cases))), options.k)
    compared = {"as above": drawn, "another case's note": steps(clinic.diagnose(cases, predictor, others, top))}
    if isinstance(predictor, NoisyPredictor):
        careful = NoisyPredictor(diseases, confusable=confusable(world))
        compared["similar diseases mistaken"] = steps(clinic.diagnose(cases, careful, reach, top))
    print(f"Controls, k = {options.k}, {top}\n\n{control_table(compared)}\n")
    print(f"Notes, k = {options.k}, {top}\n\n{note_table(world, clinic, predictor, options)}\n")
    return drawn


def _predictor(options: argparse.Namespace, world: World, diseases: Sequence[str]) -> tuple[Predictor, str]:
    if options.recorded:
        return RecordedPredictor(options.recorded), f"answers recorded in {options.recorded}"
    if options.model:
        names = {id: world.graph.nodes[id][0] for id in diseases}
        return ModelPredictor(endpoint(options.model, Decoding(temperature=0.0, seed=0)), names), options.model
    made = NoisyPredictor(diseases)
    return made, f"a stand-in with precision {made.precision:g} and recall {made.recall:g}, no model"


def steps(diagnoses: Sequence[Diagnosis]) -> Steps:
    """The scores after each step."""
    pairs = {name: [(found(one), one.case.gold) for one in diagnoses] for name, found in _STEPS.items()}
    return Steps(
        {name: mean_score(some) for name, some in pairs.items()},
        {name: pooled_score(some) for name, some in pairs.items()},
    )


def reach_table(clinic: Clinic, cases: Sequence[Case], predictor: Predictor) -> str:
    """How far k hops lead, and what that does to the two rounds."""
    seeds = clinic.entities(cases)
    rows: list[Sequence[object]] = []
    for k, exact in _REACHES:
        reach = clinic.reach(seeds, k, exact=exact)
        found = clinic.diagnose(cases, predictor, reach, Refinement(top=20))
        gold = sum(len(one.case.gold & one.evidence.keys()) for one in found) / sum(len(case.gold) for case in cases)
        scores = steps(found)
        before = scores.pooled["predicted"]
        if not rows:
            rows.append(("predicted", "", "", *_three(scores.mean["predicted"]), *_three(before)))
        near = float(np.bincount(reach.question, minlength=len(cases)).mean())
        for name in ("round 1", "round 2"):
            title = f"{name}, k {'=' if exact else '<='} {k}"
            rows.append((title, f"{near:.1f}", f"{gold:.3f}", *_three(scores.mean[name]), *_three(scores.pooled[name])))
    return text_table(("", "within reach", "of the right", "P", "R", "F1", "pooled P", "pooled R", "pooled F1"), rows)


def refinement_table(clinic: Clinic, cases: Sequence[Case], predictor: Predictor, k: int) -> str:
    """What round 2 offers and gains by each refinement."""
    reach = clinic.reach(clinic.entities(cases), k)
    rows = []
    for refinement in REFINEMENTS:
        found = clinic.diagnose(cases, predictor, reach, refinement)
        offered = sum(len(one.candidates) for one in found) / len(found)
        missed = sum(len(one.case.gold - one.kept) for one in found)
        right = sum(len(one.case.gold.intersection(one.candidates)) for one in found)
        pooled = steps(found).pooled["round 2"]
        rows.append((str(refinement), offered, right / max(missed, 1), *_three(pooled)))
    return text_table(("offered", "candidates", "of the missed", "pooled P", "pooled R", "pooled F1"), rows)


def control_table(compared: Mapping[str, Steps]) -> str:
    """The steps side by side: with a note that has nothing to do with the case, and with mistakes that are likely."""
    rows = [
        (f"{title}: {name}", *_three(some.mean[name]), *_three(some.pooled[name]))
        for title, some in compared.items()
        for name in _STEPS
    ]
    return text_table(("", "P", "R", "F1", "pooled P", "pooled R", "pooled F1"), rows)


def note_table(world: World, clinic: Clinic, predictor: Predictor, options: argparse.Namespace) -> str:
    """Notes as lists and in sentences: how well their entities are found, and what the two rounds make of them."""
    rows = []
    for name, writing in WRITINGS.items():
        _, cases = make_cases(world, options.cases, writing)
        seeds = clinic.entities(cases, writing)
        linked = pooled_score([(found, case.findings) for found, case in zip(clinic.names(seeds), cases, strict=True)])
        found = steps(clinic.diagnose(cases, predictor, clinic.reach(seeds, options.k), Refinement(top=20))).pooled
        rows.append((f"as a {name}" if name == "list" else f"in {name}", linked.precision, linked.recall,
                     *_three(found["round 1"]), *_three(found["round 2"])))  # fmt: skip
    titles = ("", "entities P", "R", "round 1 P", "R", "F1", "round 2 P", "R", "F1")
    return text_table(titles, rows)


def _three(one: Score) -> tuple[float, float, float]:
    return one.precision, one.recall, one.f1


if __name__ == "__main__":
    main()
