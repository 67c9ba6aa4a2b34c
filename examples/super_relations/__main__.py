"""Super-relations on MetaQA: `python -m examples.super_relations`. README.md says what is measured."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from examples.datasets import MissingData
from examples.figures import line_chart, text_table
from examples.super_relations.measure import TITLES, MakeScorer, Measured, measure
from examples.super_relations.questions import Quiz, metaqa, sample_quiz
from examples.super_relations.scorers import Asked, Oracle, Similarity, model_named
from examples.super_relations.search import Settings
from hoplite.retrieval import (
    Embed,
    SuperRelation,
    by_meaning,
    hashed_words,
    one_each,
    random_groups,
    remembered,
    sentence_model,
)

WIDTHS = (1, 2, 3, 4, 5)
NOISE = 0.5  # standard deviation of the errors of the noisy oracle
_SEEDS = (0, 1, 2)  # of random groups


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables and write the plot."""
    began = time.perf_counter()
    options = _arguments(arguments)
    quiz = _quiz(options.questions)
    title, embed = _embedding(options.embedding)
    groups = by_meaning(quiz.types, embed, options.groups)
    count = len(quiz.questions[3])
    print(f"Super-relations: {quiz.title}, {count} questions of each number of hops, embeddings: {title}\n")
    for group in groups:
        print(f"  {group.name}: {', '.join(group.types)}")
    bench = _Bench(quiz, groups, embed, title, options.model)
    print(f"\nN = 3, L = 3; embeddings are told the number of hops\n\n{bench.scorers()}\n")
    widths, table = bench.widths()
    print(f"Three hops: the width N\n\n{table}\n")
    print(f"Three hops: the length L\n\n{bench.lengths()}\n")
    if options.model is None:
        print("No model was asked (--model NAME@URL, or a file of recorded answers).")
    path = options.out / "super_relations.svg"
    line_chart(path, f"Three hops: questions with a right entity ({title})", widths, "paths kept (N)", "share")
    print(f"Plot: {path}    {time.perf_counter() - began:.0f} s in all")


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.super_relations", description=__doc__)
    parser.add_argument("--questions", type=int, default=300, help="of each number of hops, at random; 0: all")
    parser.add_argument("--groups", type=int, default=5, help="super-relations that the types are grouped into")
    parser.add_argument("--embedding", choices=("best", "model", "hashed"), default="best", help="what makes vectors")
    parser.add_argument("--model", help="NAME@URL of an OpenAI-compatible endpoint, or a file of recorded answers")
    parser.add_argument("--out", type=Path, default=Path("build/examples"), help="folder of the plot")
    return parser.parse_args(arguments)


def _quiz(count: int) -> Quiz:
    try:
        return metaqa(count or None)
    except MissingData as missing:
        print(f"{missing} Until then, questions made for the sample graph.\n")
        return sample_quiz(min(count or 100, 100))


def _embedding(kind: str) -> tuple[str, Embed]:
    """The sentence model where its files are installed, or else hashed words: spelling without meaning."""
    if kind != "hashed":
        try:
            return "all-MiniLM-L6-v2", remembered(sentence_model())
        except ModuleNotFoundError as missing:
            if kind == "model":
                raise SystemExit(str(missing)) from None
            print(f"{missing} Until then, hashed words stand in, which know no meaning.\n")
    return "hashed words", remembered(hashed_words())


class _Bench:
    """The searches that are compared."""

    def __init__(
        self, quiz: Quiz, groups: Sequence[SuperRelation], embed: Embed, title: str, model: str | None
    ) -> None:
        self._quiz = quiz
        self._embed = embed
        self._ways = {
            "super-relations": (groups, Settings()),
            "relation by relation": (one_each(quiz.types), Settings(together=False)),
        }
        self._sizes = [len(group.types) for group in groups]
        self._title = title
        self._model = None if model is None else model_named(model)

    def scorers(self) -> str:
        """Each scorer, with super-relations and relation by relation, for each number of hops."""
        rows: list[list[object]] = []
        for hops in self._quiz.questions:
            for name, make in self._scorers(hops).items():
                for way, (groups, settings) in self._ways.items():
                    fitting = replace(settings, length=hops if name == self._title else settings.length)
                    rows.append([hops, name, way, *self._measure(hops, groups, make, fitting).row()])
        return text_table(["hops", "scorer", "search", *TITLES], rows)

    def widths(self) -> tuple[dict[str, list[tuple[float, float]]], str]:
        """How many paths are kept; random groups of the same sizes are the control."""
        rows: list[list[object]] = []
        lines: dict[str, list[tuple[float, float]]] = {}
        scorers = self._scorers(3)
        for name in (self._title, f"oracle, noise {NOISE}"):
            for width in WIDTHS:
                for way, (groups, settings) in self._ways.items():
                    found = self._measure(3, groups, scorers[name], replace(settings, width=width))
                    rows.append([name, way, width, *found.row()])
                    if name == self._title:
                        lines.setdefault(way, []).append((width, found.retrieved))
                control = self._random(scorers[name], Settings(width=width))
                rows.append([name, "random groups", width, *control.row()])
                if name == self._title:
                    lines.setdefault("random groups", []).append((width, control.retrieved))
        return lines, text_table(["scorer", "search", "N", *TITLES], rows)

    def lengths(self) -> str:
        """How long paths may become; what is three hops away is not found by less."""
        rows: list[list[object]] = []
        groups, settings = self._ways["super-relations"]
        for name in ("oracle", self._title):
            for length in (1, 2, 3):
                make = self._scorers(length)[name]
                found = self._measure(3, groups, make, replace(settings, length=length))
                rows.append([name, length, *found.row()])
        return text_table(["scorer", "L", *TITLES], rows)

    def _scorers(self, hops: int) -> dict[str, MakeScorer]:
        made: dict[str, MakeScorer] = {
            "oracle": Oracle,
            f"oracle, noise {NOISE}": lambda questions: Oracle(questions, NOISE),
            self._title: lambda questions: Similarity(questions, self._embed, hops),
        }
        if self._model is not None:
            asked = self._model
            made["model"] = lambda questions: Asked(questions, asked)
        return made

    def _random(self, make: MakeScorer, settings: Settings) -> Measured:
        """The mean over several ways of dealing the types out."""
        found = [
            self._measure(3, random_groups(self._quiz.types, self._sizes, seed), make, settings) for seed in _SEEDS
        ]
        return Measured(*(fmean(column) for column in zip(*(one.figures() for one in found), strict=True)))

    def _measure(self, hops: int, groups: Sequence[SuperRelation], make: MakeScorer, settings: Settings) -> Measured:
        return measure(self._quiz, hops, groups, make, settings)


if __name__ == "__main__":
    main()
