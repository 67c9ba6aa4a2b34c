"""The graphs, and notes about patients who do not exist, made from relationships that the graph is not shown.

A case has a few diseases, and a note that mentions a few findings of each. A finding is drawn from the relationships
that are held out or from those that the graph has, one as likely as the other, so that some diseases of a note have
nothing in the graph that leads to them directly.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from examples.datasets import data_path, rows_of
from examples.datasets.hetionet import read_hetionet
from examples.datasets.plain_graph import Edge, PlainGraph, sample_graph
from examples.diagnosis.notes import WRITINGS, Writing

_SEED = 20
_HELD_OUT = 0.3
_UMLS_TARGETS = (
    "disease_or_syndrome",
    "mental_or_behavioral_dysfunction",
    "neoplastic_process",
    "pathologic_function",
    "cell_or_molecular_dysfunction",
    "injury_or_poisoning",
    "congenital_abnormality",
    "acquired_abnormality",
    "anatomical_abnormality",
    "experimental_model_of_disease",
)


@dataclass(frozen=True, slots=True)
class World:
    """A graph, the label of what is to be found, and the relationships that notes are made from.

    `weights` say how likely a finding is, 1 where nothing is said; `held_out` is there where the data has a split.
    """

    name: str
    graph: PlainGraph
    label: str
    findings: Collection[str]
    weights: Mapping[Edge, float] = field(default_factory=dict)
    held_out: frozenset[Edge] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A note, the ids of the findings that it mentions, and of the diseases that are right."""

    id: str
    note: str
    findings: tuple[str, ...]
    gold: frozenset[str]


def hetionet() -> World:
    """Diseases by symptoms, anatomy and drugs; genes connect them."""
    graph = read_hetionet({"DpS", "DlA", "DrD", "DaG", "CtD", "CpD", "CbG"})
    return World("hetionet", graph, "Disease", ("DpS", "DlA", "CtD", "CpD"))


def umls_small() -> World:
    """The semantic network, with its own split: kinds of disorders by what they are related to."""
    folder = data_path("kg", "umls-small")
    parts = {name: [(a, b, c) for a, b, c in rows_of(folder / f"{name}.tsv.gz")] for name in ("train", "valid", "test")}
    edges = list(dict.fromkeys(edge for part in parts.values() for edge in part))
    ids = {id for start, _, end in edges for id in (start, end)}
    nodes = {id: (id.replace("_", " "), "Disorder" if id in _UMLS_TARGETS else "Concept") for id in sorted(ids)}
    kinds = {kind: (kind.upper(), "UMLS Semantic Network") for _, kind, _ in edges}
    return World(
        "umls-small",
        PlainGraph(nodes, edges, kinds),
        "Disorder",
        tuple(kinds),
        held_out=frozenset(parts["valid"]) | frozenset(parts["test"]),
    )


def ddxplus() -> World:
    """Conditions and evidences, joined where the evidence is seen in at least one in a hundred patients."""
    folder = data_path("kg", "ddxplus")
    probabilities = _json(folder / "symptom_condition_probs.json.gz")["probabilities"]
    questions = _json(folder / "release_evidences.json.gz")
    nodes = {condition: (condition, "Condition") for condition in probabilities}
    nodes |= {id: (one["question_en"], "Evidence") for id, one in questions.items()}
    weights = {
        (condition, "HAS_EVIDENCE", evidence): float(share)
        for condition, shares in probabilities.items()
        for evidence, share in shares.items()
        if share >= 0.01
    }
    kinds = {"HAS_EVIDENCE": ("HAS_EVIDENCE", "DDXPlus training patients")}
    return World("ddxplus", PlainGraph(nodes, list(weights), kinds), "Condition", ("HAS_EVIDENCE",), weights)


def sample() -> World:
    """The graph that ships."""
    return World("sample", sample_graph(), "Disease", ("HAS_SYMPTOM", "TREATS", "CONTRAINDICATED_IN"))


WORLDS: Mapping[str, Callable[[], World]] = {
    "hetionet": hetionet,
    "umls-small": umls_small,
    "ddxplus": ddxplus,
    "sample": sample,
}


def make_cases(
    world: World, count: int, writing: Writing = WRITINGS["list"], *, findings: int = 3, most_diseases: int = 3
) -> tuple[frozenset[Edge], list[Case]]:
    """The relationships that are held out, and `count` cases; the same in every run, however notes are written."""
    rng = random.Random(f"{_SEED} {world.name}")
    about: dict[str, list[Edge]] = {}
    for edge in world.graph.edges:
        ends = {end for end in (edge[0], edge[2]) if world.graph.nodes[end][1] == world.label}
        if edge[1] in world.findings and len(ends) == 1:  # a disease is not a finding of another
            (disease,) = ends
            about.setdefault(disease, []).append(edge)
    held_out = world.held_out
    if held_out is None:
        held_out = frozenset(edge for edges in about.values() for edge in edges if rng.random() < _HELD_OUT)
    usable = sorted(id for id, edges in about.items() if len(edges) >= findings and held_out.intersection(edges))
    every = sorted(
        {end for edges in about.values() for edge in edges for end in (edge[0], edge[2]) if end not in about}
    )
    cases = []
    for number in range(count):
        gold = rng.sample(usable, min(rng.randint(1, most_diseases), len(usable)))
        seen: dict[str, None] = {}
        for disease in gold:
            for edge in _drawn(rng, about[disease], held_out, world.weights, findings):
                seen[edge[2] if edge[0] == disease else edge[0]] = None
        mentioned = list(seen)
        rng.shuffle(mentioned)
        id = f"{world.name}-{number}"
        dice = random.Random(id)
        denied = dice.choice([one for one in every if one not in seen])
        note = writing.write(world.graph, mentioned, denied, dice)
        cases.append(Case(id, note, tuple(mentioned), frozenset(gold)))
    return held_out, cases


def confusable(world: World, most: int = 10) -> dict[str, list[str]]:
    """For each disease those that share the most findings with it: what somebody who knows medicine mixes up."""
    shown: dict[str, set[str]] = {}
    for start, kind, end in world.graph.edges:
        for disease, finding in ((start, end), (end, start)):
            if kind in world.findings and world.graph.nodes[disease][1] == world.label:
                shown.setdefault(disease, set()).add(finding)
    near = {}
    for disease, findings in shown.items():
        shared = {other: len(findings & own) / len(findings | own) for other, own in shown.items() if other != disease}
        near[disease] = sorted((other for other in shared if shared[other]), key=lambda o: (-shared[o], o))[:most]
    return near


def _drawn(
    rng: random.Random, edges: Sequence[Edge], held_out: frozenset[Edge], weights: Mapping[Edge, float], count: int
) -> list[Edge]:
    """Some different edges, each held out or not as a coin says, by their weights."""
    sides = [[edge for edge in edges if (edge in held_out) == held] for held in (False, True)]
    drawn = []
    for _ in range(count):
        side = sides[rng.random() < 0.5] or sides[0] or sides[1]
        edge = rng.choices(side, [weights.get(one, 1.0) for one in side])[0]
        side.remove(edge)
        drawn.append(edge)
    return drawn


def _json(path: object) -> Any:
    with gzip.open(str(path), "rt", encoding="utf-8") as file:
        return json.load(file)
