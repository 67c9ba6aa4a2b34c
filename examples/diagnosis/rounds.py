"""The two rounds.

    note ──linker──▶ entities ──k hops──▶ diseases within reach, each with a path
    round 1    of what was predicted, what is within reach stays, with its path as evidence
    round 2    what is within reach and was not predicted is ranked, cut, and offered; what is selected joins the rest

All cases go through one search (`hoplite.retrieval.neighbourhood`). Candidates are ranked by the cosine between the
note and what the graph says about a disease, in relation to the best candidate of the case, so that a threshold means
the same for every embedding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import hoplite
from examples.diagnosis.notes import WRITINGS, Writing
from examples.diagnosis.predictors import Predictor
from examples.diagnosis.worlds import Case
from hoplite.retrieval import Embed, Linker, Neighbourhood, NodeSets, Verbaliser, neighbourhood, unit_rows

_DESCRIBED = """
MATCH (d) WHERE id(d) IN $diseases
RETURN id(d), d.id, d.name + ': ' + reduce(text = '', one IN COLLECT {
  MATCH (d)--(n) WHERE NOT n:Gene RETURN n.name ORDER BY n.name } | text + one + ', ')"""


@dataclass(frozen=True, slots=True)
class Refinement:
    """Which candidates are offered: those with a similarity of at least tau, or the N best; else all."""

    tau: float | None = None
    top: int | None = None

    def __str__(self) -> str:
        if self.tau is not None:
            return f"tau {self.tau:g}"
        return "all" if self.top is None else f"top {self.top}"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What each step left, as ids of diseases; `evidence` has the path to each disease within reach, in words."""

    case: Case
    predicted: frozenset[str]
    kept: frozenset[str]
    candidates: tuple[str, ...]
    final: frozenset[str]
    evidence: Mapping[str, str]


class Clinic:
    """A graph with its diseases (a label), ready for cases."""

    def __init__(self, db: hoplite.Database, label: str, embed: Embed) -> None:
        self._db = db
        self._label = label
        self._embed = embed
        others = sorted(db.schema()["labels"].keys() - {label})  # a disease is not a finding of itself
        self._linker = Linker(db, [(other, "name") for other in others])
        nodes = db.run(f"MATCH (d:{label}) RETURN id(d)").value()
        rows = db.run(_DESCRIBED, diseases=nodes).values()
        self._id_of = {node: id for node, id, _ in rows}
        self._row_of = {node: row for row, (node, _, _) in enumerate(rows)}
        self._vectors = unit_rows(embed([text for _, _, text in rows]))
        self._notes: dict[str, NDArray[np.float32]] = {}  # vectors of those that were seen
        self._verbaliser = Verbaliser(provenance=("source",))

    def entities(self, cases: Sequence[Case], writing: Writing = WRITINGS["list"]) -> NodeSets:
        """The nodes that the notes name."""
        return NodeSets.of(writing.entities(self._linker, [case.note for case in cases]))

    def names(self, seeds: NodeSets) -> list[frozenset[str]]:
        """The ids of the nodes of each set, as cases have them."""
        nodes = sorted(set(seeds.nodes.tolist()))
        id_of = dict(self._db.run("MATCH (n) WHERE id(n) IN $nodes RETURN id(n), n.id", nodes=nodes).values())
        return [frozenset(id_of[node] for node in seeds[number].tolist()) for number in range(len(seeds))]

    def reach(self, seeds: NodeSets, k: int, *, exact: bool = False) -> Neighbourhood:
        """The diseases up to k hops from the seeds of each case, or at exactly k."""
        near = neighbourhood(self._db, seeds, k).with_label(self._label)
        return near.take(near.distance == k) if exact else near

    def diagnose(
        self, cases: Sequence[Case], predictor: Predictor, reach: Neighbourhood, refinement: Refinement
    ) -> list[Diagnosis]:
        """Both rounds for all cases."""
        near = reach.scored(self._similarity(cases, reach))
        order = np.lexsort((near.nodes, -near.scores, near.question))
        near = near.take(order)
        sentences = self._verbaliser.paths(near.paths())
        bounds = np.searchsorted(near.question, np.arange(len(cases) + 1)).tolist()
        ids = [self._id_of[node] for node in near.nodes.tolist()]
        made = []
        for case, first, last in zip(cases, bounds, bounds[1:], strict=False):
            evidence = dict(zip(ids[first:last], sentences[first:last], strict=True))
            predicted = frozenset(predictor.predict(case))
            kept = predicted & evidence.keys()
            offered = self._offered(ids[first:last], near.scores[first:last], predicted, refinement)
            selected = predictor.select(case, {one: evidence[one] for one in offered})
            made.append(Diagnosis(case, predicted, kept, tuple(offered), kept | frozenset(selected), evidence))
        return made

    def _similarity(self, cases: Sequence[Case], reach: Neighbourhood) -> NDArray[np.float64]:
        """The cosine of each disease with its note, in relation to the best of the case."""
        new = sorted({case.note for case in cases} - self._notes.keys())
        self._notes |= dict(zip(new, unit_rows(self._embed(new)), strict=True)) if new else {}
        notes = np.array([self._notes[case.note] for case in cases])
        rows = np.array([self._row_of[node] for node in reach.nodes.tolist()], np.int64)
        cosines = np.maximum(np.einsum("ij,ij->i", notes[reach.question], self._vectors[rows]), 0).astype(np.float64)
        best = np.zeros(len(cases))
        np.maximum.at(best, reach.question, cosines)
        relative: NDArray[np.float64] = cosines / np.where(best > 0, best, 1)[reach.question]
        return relative

    @staticmethod
    def _offered(
        ids: Sequence[str], scores: NDArray[np.float64], predicted: frozenset[str], refinement: Refinement
    ) -> list[str]:
        least = -1.0 if refinement.tau is None else refinement.tau
        offered = [id for id, score in zip(ids, scores.tolist(), strict=True) if id not in predicted and score >= least]
        return offered[: refinement.top]
