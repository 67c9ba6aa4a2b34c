"""Runs a search over questions and says how well it did."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from examples.super_relations.questions import Question, Quiz
from examples.super_relations.search import Found, Move, Path, Scorer, Settings, moves_of, search
from hoplite.retrieval import Step, SuperRelation

_AT_ONCE = 250  # questions whose entities are held at once

T = TypeVar("T")
MakeScorer = Callable[[Sequence[Question]], Scorer]


@dataclass(frozen=True, slots=True)
class Measured:
    """Over all questions: the share whose first answer is right, the share with a right entity among all that were
    reached, how many of these there are, calls for each question, and milliseconds of CPU for each question, without
    what the scorer takes."""

    hits: float
    retrieved: float
    entities: float
    calls: float
    ms: float

    def figures(self) -> tuple[float, float, float, float, float]:
        """All of them."""
        return self.hits, self.retrieved, self.entities, self.calls, self.ms

    def row(self) -> list[object]:
        """As cells of a table."""
        return [self.hits, self.retrieved, round(self.entities), round(self.calls, 2), round(self.ms, 2)]


TITLES = ["Hits@1", "retrieved", "entities", "calls", "ms"]


def measure(
    quiz: Quiz, hops: int, groups: Sequence[SuperRelation], make_scorer: MakeScorer, settings: Settings
) -> Measured:
    """Search for the answers to all questions of some hops."""
    questions = quiz.questions[hops]
    seeds, names, moves = quiz.seeds(questions), quiz.names, moves_of(groups)
    found: list[Found] = []
    scoring = 0.0
    began = time.process_time()
    for first in range(0, len(questions), _AT_ONCE):
        some = np.arange(first, min(first + _AT_ONCE, len(questions)), dtype=np.int64)
        scorer = _Timed(make_scorer, [questions[number] for number in some.tolist()])
        found += search(quiz.db, seeds[some], moves, scorer, settings)
        scoring += scorer.seconds
    passed = time.process_time() - began - scoring
    hits = [bool(one.answers) and names[one.answers[0]] in asked.answers for one, asked in _pairs(found, questions)]
    retrieved = [any(names[node] in asked.answers for node in one.reached) for one, asked in _pairs(found, questions)]
    return Measured(
        float(np.mean(hits)),
        float(np.mean(retrieved)),
        float(np.mean([len(one.reached) for one in found])),
        float(np.mean([one.calls for one in found])),
        1000 * passed / len(questions),
    )


class _Timed:
    """A scorer that knows how long it took."""

    def __init__(self, make: MakeScorer, questions: Sequence[Question]) -> None:
        self.seconds = 0.0
        self._scorer = self._run(lambda: make(questions))

    def score(self, question: int, paths: Sequence[tuple[Move, ...]]) -> Sequence[float]:
        """As the scorer has it."""
        return self._run(lambda: self._scorer.score(question, paths))

    def enough(self, question: int, paths: Sequence[Path]) -> bool:
        """As the scorer has it."""
        return self._run(lambda: self._scorer.enough(question, paths))

    def choose(self, question: int, chains: Sequence[tuple[Step, ...]]) -> Sequence[float]:
        """As the scorer has it."""
        return self._run(lambda: self._scorer.choose(question, chains))

    def _run(self, call: Callable[[], T]) -> T:
        began = time.process_time()
        made = call()
        self.seconds += time.process_time() - began
        return made


def _pairs(found: Sequence[Found], questions: Sequence[Question]) -> zip[tuple[Found, Question]]:
    return zip(found, questions, strict=True)
